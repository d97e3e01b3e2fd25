"""The command ``symgen check``."""

from contextlib import suppress
from typing import Any

import click

from symgen.cli.options import FILE, ROBOT, VERBOSE, with_options
from symgen.cli.progress import say
from symgen.errors import Notice


@click.command()
@FILE
@with_options(ROBOT, VERBOSE)
def check(file: str, **options: Any) -> None:
    """Read a robot and judge it, without writing anything.

    Prints its joints, and for each body whether its inertia is one that a rigid body can have.
    Notes and warnings go to stderr, one a line; nothing is ever altered. Exit status 2 if the robot
    cannot be compiled."""
    from symgen.inspection.report import robot, warnings
    from symgen.jobs.job import Job, RefusedInertia
    from symgen.mechanics.consistency import judge

    job = Job.of(file, **options)
    loaded = job.load()
    verdicts = judge(loaded.model)
    hints: tuple[Notice, ...] = ()
    with suppress(RefusedInertia):  # which the verdicts tell
        hints = job.saving(loaded, job.module(loaded))
    say([*loaded.notices, *hints, *warnings(loaded, verdicts)])
    robot(loaded, verdicts)
