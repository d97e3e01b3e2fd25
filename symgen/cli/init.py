"""The command ``symgen init``."""

from typing import Any

import click

from symgen import output
from symgen.cli.options import with_options
from symgen.options import rows
from symgen.reading.options import XacroOptions


@click.command()
@click.argument("file", metavar="FILE", type=click.Path())
@click.option("-o", "--out", metavar="JOB.toml", help="The job file; ROBOT.toml here by default.")
@with_options(rows(XacroOptions))
def init(file: str, out: str | None, **options: Any) -> None:
    """Write a job file for a robot: every option with its default and what it means.

    Every command that takes FILE takes the job file in its place, with the options that it
    has; options on the command line come before those of the job file. An existing file is never
    replaced.

    \b
    symgen init robots/ur5.urdf -o ur5.toml
    symgen generate ur5.toml
    """
    from symgen.jobs.jobfile import init as run

    output.say(f"wrote {run(file, out, XacroOptions(**options))}")
