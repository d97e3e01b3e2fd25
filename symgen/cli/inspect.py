"""The command ``symgen inspect``."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from symgen import output
from symgen.cli.completion import naming
from symgen.cli.options import FILE, ROBOT, with_options
from symgen.cli.progress import progress, say
from symgen.errors import Notice, OptionError
from symgen.text import cited


def _quantities(robot: Any, start: str) -> Iterable[str]:
    """The quantities of `--entry`, to be completed."""
    from symgen.tracing.options import quantities

    return quantities(robot, start)


@click.command()
@FILE
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print everything as JSON (stable, see symgen docs formats).",
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
    metavar="OUT.png|svg|pdf",
    type=click.Path(path_type=Path),
    help="Draw which entries of regressor, M and Christoffel symbols are not zero.",
)
@click.option(
    "--groupings",
    is_flag=True,
    help="Print every base parameter in the parameters of the file, with --symbolic lengths in "
    "closed form.",
)
@click.option(
    "--entry",
    metavar="QUANTITY[:OUTPUT][:I,J]",
    shell_complete=naming(_quantities, ":"),
    help="Print an entry (indices from 1) or a whole array in closed form.",
)
@click.option(
    "--symbolic",
    metavar="KINDS",
    shell_complete=naming(("masses", "lengths"), ","),
    help="For --entry: masses, lengths or both, with a comma, as symbols; for --groupings lengths.",
)
@with_options(ROBOT)
def inspect(file: str, entry: str | None, symbolic: str | None, **options: Any) -> None:
    """Look at a robot: bodies, canonical frames, base parameters, closed forms.

    \b
    symgen inspect panda.urdf
    symgen inspect panda.urdf --html panda.html --plot panda.png
    symgen inspect arm.urdf --entry mass_matrix:1,1 --symbolic masses,lengths
    symgen inspect arm.urdf --entry frame_pose:tool0:p --latex
    symgen inspect arm.urdf --groupings --symbolic lengths
    """
    from symgen.inspection.entries import look_at_entry
    from symgen.inspection.looking import look
    from symgen.inspection.relations import look_at_relations
    from symgen.jobs.job import Job

    shown = {name: options.pop(name) for name in ("as_json", "latex", "html", "plot", "groupings")}
    _check(entry, symbolic, shown)
    legend: list[str] = []
    notices: tuple[Notice, ...] = ()
    with progress() as tell:
        tell("reading the robot")
        if entry is not None:
            forms = bool(shown["latex"]), bool(shown["as_json"])
            text, legend = look_at_entry(Job.of(file, **options), entry, symbolic, *forms)
        elif symbolic is not None:
            forms = bool(shown["latex"]), bool(shown["as_json"])
            text = look_at_relations(Job.of(file, **options), symbolic, *forms)
        else:
            text, notices = look(file, options, tell, **shown)
    say(notices)
    for line in legend:
        output.say(line, error=True)
    if text:
        output.say(text)


def _check(entry: str | None, symbolic: str | None, shown: dict[str, Any]) -> None:
    """Refuses what would have no effect. Raises OptionError."""
    idle = [f"--{name}" for name in ("html", "plot", "groupings") if shown[name]]
    if entry is not None and idle:
        raise OptionError(f"{idle[0]}: has no effect with --entry; leave out one of them")
    if entry is None and symbolic is not None and not shown["groupings"]:
        raise OptionError(
            f"--symbolic {cited(symbolic)}: says what --entry or --groupings show; add one"
        )
