"""The command ``symgen verify``."""

import sys
from pathlib import Path

import click

from symgen.cli.options import FOLDER
from symgen.cli.progress import progress


@click.command()
@FOLDER
def verify(folder: Path) -> None:
    """Compile generated files and prove them.

    The compiler is $CC, cc, gcc or clang, whichever is found first.

    DIR is a generated folder, or the job file that names it.

    Checks that the files are unchanged, that the C compiles under strict warnings and passes its
    self-test, that it equals the algorithms run on Python floats bit for bit, that every quantity
    is what a law says that shares no algorithm with it (the line names the judge), and that the
    Python module agrees. Exit status 1 if a check fails; a quantity without a judge fails."""
    from symgen.inspection.report import checks
    from symgen.jobs.verify import verify as run

    with progress() as tell:
        results = list(run(folder, tell))
    if not checks(folder, results):
        sys.exit(1)
