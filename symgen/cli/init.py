"""The command ``symgen init``."""

from typing import Any

import click

from symgen.cli.help import command
from symgen.cli.options import JSON, with_options
from symgen.cli.options import out as out_option
from symgen.cli.progress import say_written
from symgen.options import rows
from symgen.reading.options import SourceOptions


@command()
@click.argument("file", metavar="FILE", type=click.Path())
@out_option("JOB.toml", "Job file to write.", show_default="ROBOT.toml in the current folder")
@with_options(JSON, rows(SourceOptions))
def init(file: str, out: str | None, as_json: bool, **options: Any) -> None:
    """Write a job file for a robot, with all options, their defaults and descriptions.

    Every command that takes FILE also takes a job file. Options on the command line override those
    of the job file. An existing file is never replaced.

    \b
    symgen init robots/ur5.urdf -o ur5.toml
    symgen generate ur5.toml
    """
    from symgen.jobs.jobfile import init as run

    path = run(file, out, SourceOptions(**options))
    say_written([path], [], as_json, f"wrote {path}")
