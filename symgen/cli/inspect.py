"""The command ``symgen inspect``."""

from pathlib import Path
from typing import Any

import click

from symgen import output
from symgen.cli.options import FILE, ROBOT, with_options
from symgen.cli.progress import progress


@click.command()
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
    metavar="OUT.png|svg|pdf",
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
@with_options(ROBOT)
def inspect(file: str, entry: str | None, symbolic: str | None, **options: Any) -> None:
    """Look at a robot: bodies, canonical frames, base parameters, closed forms.

    \b
    symgen inspect panda.urdf
    symgen inspect panda.urdf --html panda.html --plot panda.png
    symgen inspect arm.urdf --entry mass_matrix:1,1 --symbolic masses,lengths
    """
    from symgen.inspection.looking import look, look_at_entry

    shown = {name: options.pop(name) for name in ("as_json", "latex", "html", "plot", "groupings")}
    with progress() as tell:
        tell("reading the robot")
        if entry is not None:
            text = look_at_entry(file, entry, symbolic, bool(shown["latex"]), options)
        else:
            text = look(file, options, tell, **shown)
    if text:
        output.say(text)
