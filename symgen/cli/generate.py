"""The command ``symgen generate``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symgen import output
from symgen.certified.options import CertifyOptions
from symgen.cli.help import command, option
from symgen.cli.options import FILE, FUNCTIONS, JSON, PROCESSES, ROBOT, VERBOSE, given, with_options
from symgen.cli.progress import progress, say
from symgen.compiler.parallel import processes
from symgen.errors import Notice
from symgen.jobs.options import OF_LANGUAGES, NameOptions, WriteOptions
from symgen.languages.c.options import Release
from symgen.options import rows

if TYPE_CHECKING:
    from symgen.jobs.tune import TimedFormulation
    from symgen.languages.module import Module


@command()
@FILE
@with_options(rows(WriteOptions, NameOptions, Release), JSON, FUNCTIONS, rows(*OF_LANGUAGES))
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
    from symgen.inspection.command_reports import generation, warnings
    from symgen.jobs.generating import generated_files
    from symgen.jobs.job import Job
    from symgen.jobs.job_notices import notices_after_tracing
    from symgen.jobs.jobfile import keep_formulations
    from symgen.mechanics.inertia_checks import check_inertias

    with progress() as tell, processes(count):
        job = Job.of(file, **given(options))
        times: Sequence[TimedFormulation] = []
        if tune:
            from symgen.jobs.tune import tuned

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
