"""The command ``symgen generate``."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from symgen import output
from symgen.cli.options import FILE, JSON, PROCESSES, ROBOT, VERBOSE, with_options
from symgen.cli.progress import progress, say
from symgen.compiler.parallel import processes
from symgen.errors import Notice
from symgen.jobs.options import OF_LANGUAGES, NameOptions, WriteOptions
from symgen.languages.release import Release
from symgen.options import rows
from symgen.tracing.options import FunctionOptions

if TYPE_CHECKING:
    from symgen.jobs.job import Job
    from symgen.jobs.tune import TimedFormulation
    from symgen.languages.module import Module


@click.command()
@FILE
@click.option(
    "--tune",
    is_flag=True,
    help="Compile the best few formulations of each quantity with $CC and $CFLAGS, time them on "
    "this machine and take the fastest; the choice goes into manifest and job file.",
)
@PROCESSES
@with_options(
    rows(WriteOptions, *OF_LANGUAGES, NameOptions, Release, FunctionOptions), ROBOT, JSON, VERBOSE
)
def generate(
    file: str,
    out: Path,
    languages: tuple[str, ...],
    tune: bool,
    count: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Write C and Python for a robot's dynamics.

    \b
    The folder gets
      ROBOT.h, ROBOT.c, ROBOT_QUANTITY.c   C99 without heap, globals, warnings
      ROBOT_selftest.c, CMakeLists.txt     reference values; exit status 0 when all agree
      ROBOT.py                             the same for NumPy, for batches too
      ROBOT_report.json                    operations, work arrays; stack and code with --target
      manifest.json                        what was generated from what, counts
    All files appear together or not at all. A job file (symgen init) may stand in FILE's place.

    \b
    symgen generate robots/ur5.urdf -o build/ur5 --lang c --scalar float
    symgen generate robots/panda.urdf -o build/panda --quantity terms=bias+mass_matrix
    symgen generate robots/ur5.urdf -o build/ur5 --parameters runtime:flange --gravity runtime
    """
    from symgen.inspection.report import generated_data, warnings
    from symgen.jobs.generating import generated_files
    from symgen.jobs.job import Job
    from symgen.languages import DEFAULT
    from symgen.mechanics.consistency import judge

    with progress() as tell, processes(count):
        job = Job.of(file, **options)
        job, times = _tuned(job, tell) if tune else (job, [])
        module, loaded, paths = generated_files(job, out, languages or DEFAULT, tell)
        hint = job.saving(loaded, module)
    notices = [*loaded.notices, *hint, *warnings(loaded, judge(loaded.model))]
    choice_notices = _notices_of_choice(job) if tune else []
    if as_json:
        output.say(output.as_json(generated_data(module, paths, [*notices, *choice_notices])))
    else:
        say(notices)
        _print(module, paths, times, choice_notices)


def _tuned(job: "Job", tell: Callable[[str], None]) -> tuple["Job", Sequence["TimedFormulation"]]:
    from symgen.jobs.tune import tuned

    return tuned(job, job.load(), tell)


def _notices_of_choice(job: "Job") -> Sequence[Notice]:
    """Notices of the choice of ``--tune`` that a job file keeps."""
    from symgen.jobs.jobfile import keep_formulations

    return keep_formulations(click.get_current_context(), job.choice())


def _print(
    module: "Module",
    paths: Sequence[Path],
    times: Sequence["TimedFormulation"],
    choice_notices: Sequence[Notice],
) -> None:
    """The tables of what was written, with what an option would help."""
    from symgen.inspection.report import generated, timed
    from symgen.languages.c.report import remarks

    for remark in remarks(module) if any(path.suffix == ".c" for path in paths) else ():
        output.say(remark, error=True)
    if times:
        timed(module, times)
    say(choice_notices)
    generated(module, paths)
