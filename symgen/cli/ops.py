"""The command ``symgen ops``."""

from typing import Any

from symgen.cli.help import command, option
from symgen.cli.options import FILE, FUNCTIONS, JSON, ROBOT, VERBOSE, given, with_options
from symgen.cli.progress import progress, say


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
    from symgen.jobs.job import Job
    from symgen.jobs.job_notices import notices_after_tracing

    job = Job.of(file, **given(options))
    check_functions(job)
    with progress() as tell:
        tell("reading the robot")
        loaded = job.load()
        module = job.module(loaded, tell, in_c=not every)
        hint = notices_after_tracing(job, loaded, module)
        traced = job.every_formulation(loaded) if every else []
    if not as_json:
        say([*loaded.notices, *hint])
    report = formulations(module, traced) if every else operations(module)
    report.print(as_json)
