"""The commands that print lists: ``dump``, ``list``, ``robots`` and ``docs``."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

import click

from symgen import output
from symgen.cli.completion import completer, naming
from symgen.cli.help import command, option
from symgen.cli.options import FILE, JSON, ROBOT, out, with_options
from symgen.errors import OptionError
from symgen.options import rows
from symgen.reading.sources import example, examples
from symgen.render import documentation
from symgen.text import hint, shown
from symgen.tracing.options import FunctionOptions


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
    from symgen.api import trace
    from symgen.compiler.dump import dump as dumped

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
    from symgen.inspection.report_tables import overview, registry

    if as_json or details:
        registry().print(as_json)
    else:
        overview()


@command()
@click.argument("name", metavar="[NAME]", required=False, shell_complete=naming(tuple(examples())))
@out("DIR", "Copy the URDF files into this folder. Files of the same name are never replaced.")
@with_options(JSON)
def robots(name: str | None, out: str | None, as_json: bool) -> None:
    """List the example robots, or copy their files.

    With NAME, only that robot. Each line has the name of a robot and the path of its URDF file,
    which every command takes.

    \b
    symgen robots -o robots
    symgen check robots/ur5.urdf
    """
    from symgen.jobs.publish import write_new_files

    chosen = examples() if name is None else {name: example(name)}
    if out is not None:
        copies = {key: Path(out) / path.name for key, path in chosen.items()}
        write_new_files({copies[key]: path.read_bytes() for key, path in chosen.items()})
        chosen = copies
    if as_json:
        output.say(output.as_json({"robots": {key: str(path) for key, path in chosen.items()}}))
        return
    width = max(map(len, chosen))
    output.say("\n".join(f"{key:{width}}  {path}" for key, path in chosen.items()))


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


@cache
def page_titles() -> dict[str, str]:
    """The title of each installed page by its name, the path in the folder without the suffix."""
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


FIGURE_MARK: Final = re.compile(r"<!--=.*?-->")
"""The comments that mark figures on pages (`make figures`); a browser does not show them."""


def _page_completions(robot: object, start: str) -> Iterable[str]:
    """The completions of the name of a page."""
    return page_titles()


@command()
@click.argument("page", metavar="[PAGE]", required=False, shell_complete=naming(_page_completions))
@with_options(JSON)
def docs(page: str | None, as_json: bool) -> None:
    """Print a page of the documentation, or list the pages.

    \b
    symgen docs formats
    """
    titles = page_titles()
    if page is None:
        width = max(map(len, titles))
        lines = "\n".join(f"{name:{width}}  {title}" for name, title in titles.items())
        output.say(output.as_json({"pages": titles}) if as_json else lines)
        return
    if page not in titles:
        raise OptionError(f"no page is called {shown(page)!r}; {hint(page, titles, len(titles))}")
    text = documentation().joinpath(f"{page}.md").read_text(encoding="utf-8")
    text = FIGURE_MARK.sub("", text).rstrip()
    output.say(output.as_json({"page": page, "text": text}) if as_json else text)
