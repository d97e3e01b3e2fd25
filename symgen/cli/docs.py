"""The command ``symgen docs``."""

from pathlib import Path
from typing import Final

import click

from symgen.cli.completion import naming
from symgen.errors import OptionError
from symgen.text import hint, shown

PAGES: Final = {
    "tutorial": "from a robot's file to verified C in ten minutes",
    "usage": "all commands and the main options at a glance",
    "quantities": "every quantity with its inputs, outputs and units",
    "conventions": "orders, frames, signs, units; other libraries' conventions",
    "inputs": "URDF, xacro, MJCF, SDF, DH tables: what is read and what is not",
    "formats": "job files, files of actuators, manifests, what --json prints",
    "python": "symgen from Python, and what is compiled for it",
    "firmware": "generated C on microcontrollers",
    "controllers": "controllers and observers",
    "excitation": "motions that tell parameters apart",
    "identification": "logs, friction, methods, what is written",
}
"""What is on each page that is installed."""


@click.command()
@click.argument("page", metavar="[PAGE]", required=False, shell_complete=naming(tuple(PAGES)))
def docs(page: str | None) -> None:
    """Print a page of the documentation, or list the pages.

    \b
    symgen docs formats
    """
    from symgen import output

    if page is None:
        width = max(map(len, PAGES))
        output.say("\n".join(f"{name:{width}}  {title}" for name, title in PAGES.items()))
        return
    if page not in PAGES:
        raise OptionError(f"{shown(page)!r} is no page; {hint(page, PAGES, len(PAGES))}")
    output.say(_folder().joinpath(f"{page}.md").read_text(encoding="utf-8").rstrip())


def _folder() -> Path:
    """Where the pages are: in a wheel, or in a checkout."""
    package = Path(__file__).resolve().parents[1]
    return next((f for f in (package / "docs", package.parent / "docs") if f.is_dir()), package)
