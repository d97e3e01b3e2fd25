"""The command ``symgen docs``."""

import re
from typing import Final

import click

from symgen.cli.completion import naming
from symgen.cli.help import command
from symgen.cli.options import JSON, with_options
from symgen.errors import OptionError
from symgen.render import documentation
from symgen.text import hint, shown

FIRST_PAGES: Final = (
    "install",
    "tutorial",
    "usage",
    "inputs",
    "quantities",
    "conventions",
    "formats",
    "python",
    "firmware",
    "controllers",
    "excitation",
    "identification",
)
"""The pages at the top of the list; the others follow by name."""

SITE_ONLY: Final = ("index", "changelog", "reference/")
"""Pages that consist of directives for the site."""


def _titles() -> dict[str, str]:
    """The title of each page by its name, the path in the folder without the suffix."""
    folder = documentation()
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.md")
    }
    names = [name for name in files if not name.startswith(SITE_ONLY)]
    names.sort(
        key=lambda name: (
            FIRST_PAGES.index(name) if name in FIRST_PAGES else len(FIRST_PAGES),
            name,
        )
    )
    texts = {name: files[name].read_text(encoding="utf-8") for name in names}
    headings = {name: re.search(r"^# (.*)$", text, re.MULTILINE) for name, text in texts.items()}
    return {name: heading[1].strip() if heading else "" for name, heading in headings.items()}


PAGES: Final = _titles()
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
    text = documentation().joinpath(f"{page}.md").read_text(encoding="utf-8")
    text = FIGURE_MARK.sub("", text).rstrip()
    output.say(output.as_json({"page": page, "text": text}) if as_json else text)
