"""The command ``symgen verify``."""

import sys
from pathlib import Path

import click

from symgen.cli.help import command, option
from symgen.cli.options import FOLDER, JSON, with_options
from symgen.cli.progress import progress
from symgen.errors import OptionError


@command()
@FOLDER
@with_options(JSON)
@option(
    "--run-changed",
    is_flag=True,
    help="Compile and run the files even if they were changed after generation.",
)
@option(
    "--against",
    type=click.Choice(["pinocchio", "mujoco", "drake"]),
    help="Compare the robot also with its file as this library reads it. The library must be "
    "installed.",
)
@option(
    "--robot-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The robot's file that DIR was generated from, for --against.",
)
def verify(
    folder: Path,
    run_changed: bool,
    against: str | None,
    robot_file: Path | None,
    as_json: bool,
) -> None:
    """Compile generated files and verify them.

    DIR is a generated folder, or the job file that names it. The code in DIR is compiled and RUN
    with your permissions: do not verify a folder from an unknown source. The digests in the
    manifest detect accidental changes only.

    \b
    The command checks that
      - the files are unchanged (else nothing is run),
      - the C code compiles without warnings and passes its self-test,
      - its results equal the algorithms on Python floats, bit for bit,
      - every quantity agrees with an independent reference,
      - the Python module agrees.
    The compiler is $CC with its arguments, or cc, gcc or clang. The exit status is 1 if a check
    fails.

    \b
    symgen verify build/ur5
    symgen verify build/ur5 --against pinocchio --robot-file robots/ur5.urdf
    """
    from symgen.inspection.command_reports import verification
    from symgen.jobs.verify import verify as run

    if robot_file is not None and against is None:
        raise OptionError("--robot-file: only --against reads the robot's file; give both")
    with progress() as tell:
        results = list(run(folder, tell, run_changed, against, robot_file))
    verification(folder, results).print(as_json)
    if not all(check.passed for check in results):
        sys.exit(1)
