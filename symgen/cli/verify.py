"""The command ``symgen verify``."""

import sys
from pathlib import Path

import click

from symgen.cli.options import FOLDER
from symgen.cli.progress import progress


@click.command()
@FOLDER
@click.option(
    "--run-changed",
    is_flag=True,
    help="Compile and run the files even if they are not as they were generated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def verify(folder: Path, run_changed: bool, as_json: bool) -> None:
    """Compile generated files and prove them.

    The code in DIR is compiled and RUN, C and Python, with your rights: verify no folder whose
    origin you do not know. The digests in its manifest tell of accidents, not of an author.

    The compiler is $CC with its arguments, or where that is not set cc, gcc or clang, whichever is
    found first; it is named with its version.

    DIR is a generated folder, or the job file that names it.

    Checks that the files are unchanged, and runs nothing of them if not; that the C compiles under
    strict warnings and passes its self-test, that it equals the algorithms run on Python floats bit
    for bit, that every quantity is what a law says that shares no algorithm with it (the line names
    the judge), and that the Python module agrees. Exit status 1 if a check fails; a quantity
    without a judge fails."""
    from symgen import output
    from symgen.inspection.report import checks, checks_data
    from symgen.jobs.verify import verify as run

    with progress() as tell:
        results = list(run(folder, tell, run_changed))
    if as_json:
        output.say(output.as_json(checks_data(results)))
    else:
        checks(folder, results)
    if not all(check.passed for check in results):
        sys.exit(1)
