"""The command ``symgen inspect``."""

from collections.abc import Iterable
from typing import Any

from symgen import output
from symgen.cli.completion import naming
from symgen.cli.help import command, option
from symgen.cli.options import FILE, JSON, ROBOT, VERBOSE, path_option, with_options
from symgen.cli.progress import progress, say
from symgen.errors import Notice, OptionError
from symgen.text import cited


def _quantities(robot: Any, start: str) -> Iterable[str]:
    """The completions of `--entry`."""
    from symgen.tracing.options import quantities

    return quantities(robot, start)


@command()
@FILE
@path_option("--html", "OUT.html", "Write a self-contained HTML page.")
@path_option(
    "--plot",
    "OUT.png|svg|pdf",
    "Plot which entries of the regressor, the mass matrix and the Christoffel symbols are nonzero.",
)
@with_options(JSON)
@option(
    "--groupings",
    is_flag=True,
    help="Print every base parameter as a combination of the parameters of the file, with "
    "--symbolic lengths in closed form.",
    section="Display",
)
@option(
    "--entry",
    metavar="QUANTITY[:OUTPUT][:I,J]",
    shell_complete=naming(_quantities, ":"),
    help="Print an entry (indices from 1) or an array of a quantity in closed form.",
    section="Display",
)
@option(
    "--symbolic",
    metavar="KINDS",
    shell_complete=naming(("masses", "lengths"), ","),
    help="Use symbols instead of numbers: masses, lengths or masses,lengths for --entry; lengths "
    "for --groupings.",
    section="Display",
)
@option(
    "--latex",
    is_flag=True,
    help="Print the groupings of base parameters, or the entry, as LaTeX.",
    section="Display",
)
@with_options(ROBOT, VERBOSE)
def inspect(file: str, entry: str | None, symbolic: str | None, **options: Any) -> None:
    """Analyse a robot: bodies, frames, base parameters, closed forms.

    \b
    symgen inspect panda.urdf
    symgen inspect panda.urdf --html panda.html --plot panda.png
    symgen inspect arm.urdf --entry mass_matrix:1,1 --symbolic masses,lengths
    symgen inspect arm.urdf --entry frame_pose:tool0:p --latex
    symgen inspect arm.urdf --groupings --symbolic lengths
    """
    from symgen.inspection.closed_form_command import entry_command, grouping_command
    from symgen.inspection.inspect_command import inspect_command
    from symgen.jobs.job import Job

    shown = {name: options.pop(name) for name in ("as_json", "latex", "html", "plot", "groupings")}
    _check(entry, symbolic, shown)
    legend: list[str] = []
    notices: tuple[Notice, ...] = ()
    with progress() as tell:
        tell("reading the robot")
        if entry is not None:
            forms = bool(shown["latex"]), bool(shown["as_json"])
            text, legend = entry_command(Job.of(file, **options), entry, symbolic, *forms)
        elif symbolic is not None:
            forms = bool(shown["latex"]), bool(shown["as_json"])
            text = grouping_command(Job.of(file, **options), symbolic, *forms)
        else:
            text, notices = inspect_command(file, options, tell, **shown)
    say(notices)
    for line in legend:
        output.say(line, error=True)
    if text:
        output.say(text)


def _check(entry: str | None, symbolic: str | None, shown: dict[str, Any]) -> None:
    """Raise OptionError for options that would have no effect."""
    idle = [f"--{name}" for name in ("html", "plot", "groupings") if shown[name]]
    if entry is not None and idle:
        raise OptionError(f"{idle[0]}: has no effect with --entry; remove one of the two options")
    if entry is None and symbolic is not None and not shown["groupings"]:
        raise OptionError(
            f"--symbolic {cited(symbolic)}: has an effect only with --entry or --groupings; add "
            "one of them"
        )
