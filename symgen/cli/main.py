"""The command line."""

import json
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import click

from symgen import __version__
from symgen.cli.excite import excite
from symgen.cli.identify import identify
from symgen.cli.progress import progress as _progress
from symgen.errors import Notice, SymgenError
from symgen.jobs.options import (
    BUILD_OPTIONS,
    FILE,
    FOLDER,
    JSON_OPTION,
    ROBOT_OPTIONS,
    TRACE_OPTIONS,
    WRITE_OPTIONS,
    XACRO_OPTION,
    with_options,
)

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Group(click.Group):
    """Prints an error of the input in one line on stderr and exits with status 2."""

    def invoke(self, ctx: click.Context) -> Any:
        """The command's result; an error of the input ends it."""
        try:
            return super().invoke(ctx)
        except SymgenError as error:
            from symgen.jobs.jobfile import placed

            click.echo(placed(error, ctx), err=True)
            ctx.exit(2)


@click.group(cls=Group, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="symgen")
def main() -> None:
    """A compiler for robot dynamics: from a URDF to small, verified C and Python.

    \b
    symgen init robots/ur5.urdf -o ur5.toml         all options in one file, for the URDF's place
    symgen check robots/ur5.urdf                    is the robot sound?
    symgen generate robots/ur5.urdf -o build/ur5    write C and Python
    symgen verify build/ur5                         compile and prove them
    symgen ops robots/ur5.urdf                      how many operations
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace"
            )  # a robot's names must not fail to print in any locale


@main.command()
@FILE
@with_options(WRITE_OPTIONS, TRACE_OPTIONS, ROBOT_OPTIONS)
def generate(file: str, out: Path, languages: tuple[str, ...], **options: Any) -> None:
    """Write C and Python for a robot's dynamics.

    \b
    The folder gets
      ROBOT.h, ROBOT.c, ROBOT_QUANTITY.c   C99 without heap, globals, warnings
      ROBOT_selftest.c, CMakeLists.txt     reference values; exit status 0 when all agree
      ROBOT.py                             the same for NumPy, for batches too
      ROBOT_report.json                    operations, work arrays; stack and code with --target
      manifest.json                        what was generated from what, counts
    All files appear together or not at all. A job file (symgen init) may stand in the URDF's place.

    \b
    symgen generate robots/ur5.urdf -o build/ur5 --lang c --scalar float
    symgen generate robots/panda.urdf -o build/panda --quantity terms=bias+mass_matrix
    symgen generate robots/ur5.urdf -o build/ur5 --parameters runtime:flange --gravity runtime
    """
    from symgen.api import generate as run
    from symgen.inspection.report import generated, warnings
    from symgen.jobs.job import Job
    from symgen.languages import LANGUAGES
    from symgen.languages.c.footprint import missing
    from symgen.mechanics.consistency import judge

    with _progress() as progress:
        module, loaded, paths = run(file, out, languages or tuple(LANGUAGES), progress, **options)
        hint = Job(file, **options).saving(loaded, module)
    _say([*loaded.notices, *hint, *warnings(loaded, judge(loaded.model))])
    reason = missing(module.target)
    if reason:
        click.echo(reason, err=True)
    generated(module, paths)


@main.command()
@FILE
@with_options(BUILD_OPTIONS, TRACE_OPTIONS, ROBOT_OPTIONS)
def build(file: str, package_out: Path, cflags: str, **options: Any) -> None:
    """Compile a robot's dynamics into a Python package for many states at once.

    \b
    DIR gets
      NAME/                the package with its C sources: symgen verify DIR/NAME proves it
      NAME-VERSION-*.whl   the same to be installed with pip
    Sine and cosine are inline, the vectors those of --batch auto. The out folder of a job file is
    not touched.

    \b
    symgen build robots/ur5.urdf -o build/python --quantity regressor --quantity inverse_dynamics
    PYTHONPATH=build/python python -c "import ur5; print(ur5.regressor.__doc__)"
    """
    from symgen.inspection.report import generated
    from symgen.jobs.package import build as run

    with _progress() as progress:
        module, loaded, paths = run(file, package_out, cflags, progress, **options)
    _say(loaded.notices)
    generated(module, paths)


@main.command()
@click.argument("file", metavar="FILE.urdf", type=click.Path())
@click.option("-o", "--out", metavar="JOB.toml", help="The job file; ROBOT.toml here by default.")
@with_options(XACRO_OPTION)
def init(file: str, out: str | None, xacro_args: tuple[tuple[str, str], ...]) -> None:
    """Write a job file for a robot: every option with its default and what it means.

    Every command that takes FILE.urdf takes the job file in its place, with the options that it
    has; options on the command line come before those of the job file. An existing file is never
    replaced.

    \b
    symgen init robots/ur5.urdf -o ur5.toml
    symgen generate ur5.toml
    """
    from symgen.jobs.jobfile import init as run

    click.echo(f"wrote {run(file, out, xacro_args)}")


@main.command()
@FOLDER
def verify(folder: Path) -> None:
    """Compile generated files and prove them.

    The compiler is $CC, cc, gcc or clang, whichever is found first.

    DIR is a generated folder, or the job file that names it.

    Checks that the files are unchanged, that the C compiles under strict warnings and passes its
    self-test, that it equals the algorithms run on Python floats bit for bit and independent
    textbook dynamics to rounding, and that the Python module agrees. Exit status 1 if a check
    fails."""
    from symgen.inspection.report import checks
    from symgen.proof.verify import verify as run

    with _progress() as progress:
        results = list(run(folder, progress))
    if not checks(folder, results):
        sys.exit(1)


@main.command()
@FILE
@with_options(ROBOT_OPTIONS)
def check(file: str, **options: Any) -> None:
    """Read a robot and judge it, without writing anything.

    Prints its joints, and for each body whether its inertia is one that a rigid body can have.
    Notes and warnings go to stderr, one a line; nothing is ever altered. Exit status 2 if the robot
    cannot be compiled."""
    from symgen.inspection.report import robot, warnings
    from symgen.jobs.job import Job
    from symgen.mechanics.consistency import judge

    job = Job(file, **options)
    loaded = job.load()
    verdicts = judge(loaded.model)
    _say([*loaded.notices, *job.saving(loaded, job.module(loaded)), *warnings(loaded, verdicts)])
    robot(loaded, verdicts)


@main.command()
@FILE
@click.option("--all", "every", is_flag=True, help="Show every formulation, not only the cheapest.")
@with_options(TRACE_OPTIONS, ROBOT_OPTIONS, JSON_OPTION)
def ops(file: str, every: bool, as_json: bool, **options: Any) -> None:
    """Count operations per quantity.

    Each quantity is traced in every formulation; the cheapest is shown.

    Additions include subtractions; sine and cosine count one each; negation is free.
    """
    from symgen.inspection.report import (
        formulations,
        formulations_data,
        operations,
        operations_data,
    )
    from symgen.jobs.job import Job

    job = Job(file, **options)
    with _progress() as progress:
        progress("reading the robot")
        loaded = job.load()
        progress("tracing its dynamics")
        module = job.module(loaded)
        hint = job.saving(loaded, module)
        traced = job.every_formulation(loaded) if every else []
    if as_json:
        click.echo(
            json.dumps(
                formulations_data(module, traced) if every else operations_data(module), indent=1
            )
        )
        return
    _say([*loaded.notices, *hint])
    if every:
        formulations(module, traced)
    else:
        operations(module)


@main.command()
@FILE
@click.option("--quantity", metavar="NAME", required=True, help="A quantity, or NAME=A+B.")
@with_options(TRACE_OPTIONS[:1], ROBOT_OPTIONS)
def dump(file: str, quantity: str, **options: Any) -> None:
    """Print a quantity as a program, one operation a line."""
    from symgen.api import trace

    click.echo(repr(trace(file, quantity, **options).program))


@main.command()
@FILE
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print everything as JSON (stable, see docs/formats.md).",
)
@click.option(
    "--latex", is_flag=True, help="Print the groupings of base parameters, or the entry, as LaTeX."
)
@click.option(
    "--html",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Write one self-contained HTML file.",
)
@click.option(
    "--plot",
    metavar="OUT.png",
    type=click.Path(path_type=Path),
    help="Draw which entries of regressor, M and Christoffel symbols are not zero.",
)
@click.option(
    "--groupings", is_flag=True, help="Print every base parameter in the parameters of the file."
)
@click.option(
    "--entry", metavar="QUANTITY:I,J", help="Print one entry in closed form, indices from 1."
)
@click.option(
    "--symbolic",
    metavar="KINDS",
    help="For --entry: masses, lengths or both, with a comma, as symbols.",
)
@with_options(ROBOT_OPTIONS)
def inspect(file: str, entry: str | None, symbolic: str | None, **options: Any) -> None:
    """Look at a robot: bodies, canonical frames, base parameters, closed forms.

    \b
    symgen inspect panda.urdf
    symgen inspect panda.urdf --html panda.html --plot panda.png
    symgen inspect arm.urdf --entry mass_matrix:1,1 --symbolic masses,lengths
    """
    from symgen.inspection.looking import look, look_at_entry

    shown = {name: options.pop(name) for name in ("as_json", "latex", "html", "plot", "groupings")}
    with _progress() as progress:
        progress("reading the robot")
        if entry is not None:
            text = look_at_entry(file, entry, symbolic, bool(shown["latex"]), options)
        else:
            text = look(file, options, progress, **shown)
    if text:
        click.echo(text)


@main.command("list")
@with_options(JSON_OPTION)
def list_(as_json: bool) -> None:
    """List the quantities and languages."""
    from symgen.inspection.report import registry, registry_data

    if as_json:
        click.echo(json.dumps(registry_data(), indent=1))
    else:
        registry()


def _say(notices: Sequence[Notice]) -> None:
    for notice in notices:
        click.echo(str(notice), err=True)


main.add_command(identify)
main.add_command(excite)
