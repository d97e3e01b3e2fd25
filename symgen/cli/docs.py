"""The command ``symgen docs``."""

import re
from pathlib import Path
from typing import Final

import click

from symgen.cli.completion import naming
from symgen.cli.help import command
from symgen.cli.options import JSON, with_options
from symgen.errors import OptionError
from symgen.text import hint, shown

PAGES: Final = {
    "tutorial": "tutorial: from a URDF to verified C in ten minutes",
    "usage": "overview of the commands and the main options",
    "quantities": "every quantity with inputs, outputs and units",
    "conventions": "order of coordinates, frames, signs, units; other libraries",
    "inputs": "URDF, xacro, MJCF, SDF and DH tables: supported elements",
    "formats": "job files, actuator files, manifests and JSON output",
    "python": "the Python interface and compiled modules",
    "firmware": "generated C on microcontrollers",
    "controllers": "controllers and observers",
    "excitation": "exciting motions for identification",
    "identification": "logs, friction models, methods and results of identification",
}
"""The titles of the installed pages."""

FIGURE_MARK: Final = re.compile(r"<!--=.*?-->")
"""The comments that mark figures on pages (`make figures`); a browser does not show them."""


@command()
@click.argument("page", metavar="[PAGE]", required=False, shell_complete=naming(tuple(PAGES)))
@with_options(JSON)
def docs(page: str | None, as_json: bool) -> None:
    """Print a page of the documentation, or list the pages.

    \b
    symgen docs formats
    """
    from symgen import output

    if page is None:
        width = max(map(len, PAGES))
        lines = "\n".join(f"{name:{width}}  {title}" for name, title in PAGES.items())
        output.say(output.as_json({"pages": PAGES}) if as_json else lines)
        return
    if page not in PAGES:
        raise OptionError(f"no page is called {shown(page)!r}; {hint(page, PAGES, len(PAGES))}")
    text = _folder().joinpath(f"{page}.md").read_text(encoding="utf-8")
    text = FIGURE_MARK.sub("", text).rstrip()
    output.say(output.as_json({"page": page, "text": text}) if as_json else text)


def _folder() -> Path:
    """The folder of the pages, in an installed package or in a checkout."""
    package = Path(__file__).resolve().parents[1]
    return next((f for f in (package / "docs", package.parent / "docs") if f.is_dir()), package)
