"""The commands on code: ``generate``, ``build``, ``verify``, ``evidence``, ``ops``, ``dump`` and
``list``."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symgen import output
from symgen.certified.certificate import CertifyOptions
from symgen.cli.help import command, completer, option
from symgen.cli.options import (
    FILE,
    FOLDER,
    FUNCTIONS,
    JSON,
    PROCESSES,
    ROBOT,
    VERBOSE,
    folder,
    out,
    progress,
    say,
    say_lines,
    set_by_user,
    with_options,
)
from symgen.compiler.parallel import process_count
from symgen.errors import Notice, OptionError
from symgen.jobs.jobfile import LANGUAGE_OPTIONS, NameOptions, WriteOptions
from symgen.languages.c.options import COptions, Release
from symgen.native.compiler import PORTABLE_FAST
from symgen.options import rows
from symgen.text import shown
from symgen.tracing.options import FunctionOptions

if TYPE_CHECKING:
    from symgen.jobs.generating import TimedFormulation
    from symgen.languages.module import Module


@command()
@FILE
@with_options(rows(WriteOptions, NameOptions, Release), JSON, FUNCTIONS, rows(*LANGUAGE_OPTIONS))
@with_options(rows(CertifyOptions), ROBOT)
@option(
    "--tune",
    is_flag=True,
    help="Compile the best formulations of each quantity with $CC and $CFLAGS, measure their times "
    "on this machine and use the fastest. The choice is stored in the manifest and in the job "
    "file.",
    section="Functions",
    rare=True,
)
@PROCESSES
@with_options(VERBOSE)
def generate(
    file: str,
    out: Path,
    languages: tuple[str, ...],
    tune: bool,
    count: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Generate C and Python code for the dynamics of a robot.

    \b
    The folder contains afterwards
      ROBOT.h, ROBOT.c, ROBOT_QUANTITY.c   C99 without heap or global variables
      ROBOT_selftest.c, CMakeLists.txt     a self-test with reference values
      ROBOT.py                             the same functions for NumPy
      ROBOT_report.json                    operation counts, work arrays, sizes
      manifest.json                        inputs, options and digests
    Either all files are written or none. FILE may be a job file (symgen init).

    \b
    symgen generate robots/ur5.urdf -o build/ur5 --lang c --scalar float
    symgen generate robots/panda.urdf -o build/panda --quantity terms=bias+mass_matrix
    symgen generate robots/ur5.urdf -o build/ur5 --parameters runtime:flange --gravity runtime
    """
    from symgen.inspection.command_reports import generation
    from symgen.inspection.robot_report import warnings
    from symgen.jobs.generating import generated_files
    from symgen.jobs.job import Job, notices_after_tracing
    from symgen.jobs.jobfile import keep_formulations
    from symgen.mechanics.inertia_checks import check_inertias

    with progress() as tell, process_count(count):
        job = Job.of(file, **set_by_user(options))
        times: Sequence[TimedFormulation] = []
        if tune:
            from symgen.jobs.generating import tuned

            job, times = tuned(job, job.load(), tell)
        module, loaded, paths = generated_files(
            job,
            out,
            languages or None,
            tell,
            lambda sentence: output.say(f"note: {sentence}", error=True),
        )
        hint = notices_after_tracing(job, loaded, module)
    notices = [*loaded.notices, *hint, *warnings(loaded, check_inertias(loaded.model))]
    choice = job.choice() if tune else {}
    choice_notices = keep_formulations(click.get_current_context(), choice)
    if as_json:
        generation(module, paths, [*notices, *choice_notices]).print(as_json=True)
    else:
        say(notices)
        _print(module, paths, times, choice_notices)


def _print(
    module: "Module",
    paths: Sequence[Path],
    times: Sequence["TimedFormulation"],
    choice_notices: Sequence[Notice],
) -> None:
    """Print tables of the generated functions, and remarks."""
    from symgen.inspection.command_reports import generation, tuning
    from symgen.languages.c.report import remarks

    for remark in remarks(module) if any(path.suffix == ".c" for path in paths) else ():
        output.say(remark, error=True)
    if times:
        tuning(module, times).print()
    say(choice_notices)
    generation(module, paths).print()


@command()
@FILE
@out(
    "DIR",
    "Folder for the package NAME and its wheel.",
    name="package_out",
    required=True,
    callback=folder,
)
@option(
    "--exact",
    is_flag=True,
    help="Do not fuse products and sums, so that results have the bits of the generated C.",
    section="C code",
)
@option(
    "--native",
    is_flag=True,
    help="Use all instructions of this processor, which is faster. The wheel is called "
    "NAME-VERSION-1native-PLATFORM.whl; importing it fails on a processor without these "
    "instructions.",
    section="C code",
)
@option(
    "--cflags",
    metavar="FLAGS",
    default=None,
    show_default=" ".join(PORTABLE_FAST),
    help="Flags of the C compiler, instead of those that --exact and --native set.",
    section="C code",
    rare=True,
)
@with_options(
    rows(NameOptions, Release),
    JSON,
    FUNCTIONS,
    rows(COptions, only=("scalar", "batch", "chunk", "body_loops")),
    ROBOT,
    VERBOSE,
)
def build(
    file: str,
    package_out: Path,
    exact: bool,
    native: bool,
    cflags: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Compile a robot's dynamics into a Python package with functions of one state or many.

    \b
    DIR contains afterwards
      NAME/                the package with type stubs and C sources
                           (symgen verify DIR/NAME checks them)
      NAME-VERSION-TAG.whl   a wheel of the package for pip install
    The out folder of a job file is not used.

    \b
    symgen build robots/ur5.urdf -o build/python --quantity regressor --quantity inverse_dynamics
    PYTHONPATH=build/python python -c "import ur5; print(ur5.regressor.__doc__)"
    """
    from symgen.inspection.command_reports import generation, operations
    from symgen.jobs.extension_modules import build as run

    with progress() as tell:
        module, loaded, paths = run(
            file, package_out, cflags, tell, exact, native, **set_by_user(options)
        )
    if as_json:
        data = {**operations(module).data} | output.written(paths, loaded.notices)
        output.say(output.as_json(data))
        return
    say(loaded.notices)
    generation(module, paths).print()


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


@command()
@FOLDER
@option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    required=True,
    help="Folder for the page index.html, evidence.json and the outputs of the programs.",
    section="Output",
)
def evidence(folder: Path, out: Path) -> None:
    """Examine generated C and write what was found as a folder with one page.

    DIR is a generated folder, or the job file that names it. The C in it is compiled and RUN with
    your permissions. Compilers, analysers, coverage, mutation and an emulator are used where they
    are installed; the page names those that are not. The exit status is 1 if a claim does not hold.

    \b
    symgen evidence build/ur5 -o build/ur5-evidence
    """
    from symgen.evidence.gathering import DATA, WORDS, files, gathered

    if out.is_dir() and any(out.iterdir()) and not (out / DATA).is_file():
        raise OptionError(
            f"--out '{shown(str(out))}': the folder has other files; give a new folder, or one "
            "that this command has written"
        )
    with progress() as tell:
        found = gathered(folder, tell)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in files(found):
        (out / name).write_text(text, encoding="utf-8")
    for examination, verdict in found.verdicts:
        output.say(f"{WORDS[verdict.holds]:14} {examination.name}: {verdict.summary}")
    output.say(f"the page is {out / 'index.html'}")
    if found.failed:
        sys.exit(1)


@command()
@FILE
@with_options(JSON)
@option(
    "--all",
    "every",
    is_flag=True,
    help="Show every formulation, not only the cheapest.",
    section="Functions",
)
@with_options(FUNCTIONS, ROBOT, VERBOSE)
def ops(file: str, every: bool, as_json: bool, **options: Any) -> None:
    """Count the operations of each function.

    Additions include subtractions. A sine and a cosine count one each. Negations are not counted.
    The columns work and path are times on a processor model, in cycles: of all operations, and of
    the longest chain of dependent operations.

    \b
    symgen ops robots/ur5.urdf
    symgen ops robots/ur5.urdf --quantity mass_matrix --all
    """
    from symgen.inspection.command_reports import formulations, operations
    from symgen.jobs.generating import check_functions
    from symgen.jobs.job import Job, notices_after_tracing

    job = Job.of(file, **set_by_user(options))
    check_functions(job)
    with progress() as tell:
        tell("reading the robot")
        loaded = job.load()
        module = job.module(loaded, tell, in_c=not every)
        remarks = notices_after_tracing(job, loaded, module)
        traced = job.every_formulation(loaded) if every else []
    if not as_json:
        say([*loaded.notices, *remarks])
    report = formulations(module, traced) if every else operations(module)
    report.print(as_json)


@command()
@FILE
@option(
    "--quantity",
    metavar="NAME",
    required=True,
    shell_complete=completer(rows(FunctionOptions, only=["quantities"])[0]),
    help="Quantity (see symgen list), or NAME=A+B for a function that computes A and B.",
    section="Functions",
)
@with_options(rows(FunctionOptions, only=["parameters", "optimize"]), JSON, ROBOT)
def dump(file: str, quantity: str, as_json: bool, **options: Any) -> None:
    """Print the operations of a function, one per line.

    \b
    symgen dump robots/ur5.urdf --quantity gravity
    """
    from symgen.compiler.passes import dump as dumped
    from symgen.jobs.api import trace

    function = trace(file, quantity, **options)
    lines = dumped(function.program)
    if as_json:
        data = {"quantity": function.name, **function.counts.as_dict()}
        output.say(output.as_json(data | {"lines": lines.splitlines()}))
    else:
        output.say(lines)


@command("list")
@option(
    "--all",
    "details",
    is_flag=True,
    help="Print the formula, the inputs and the outputs of each quantity.",
    section="Output",
)
@with_options(JSON)
def list_(details: bool, as_json: bool) -> None:
    """List the quantities and languages.

    \b
    symgen list
    symgen list --all
    """
    from symgen.inspection.command_reports import overview, registry

    if as_json or details:
        registry().print(as_json)
    else:
        say_lines(overview(output.console().width))
