"""Help of commands: options in sections, rare options on request, lines that fit the terminal.

``--help`` describes the options of a command that most users need. Sections that several commands
share are described by one command (`DESCRIBED_BY`); the others list the names of the options.
``--help-all`` describes every option."""

import os
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from symgen.errors import OptionError, SymgenError
from symgen.options import Names, Option
from symgen.text import hint, shown

CONTINUATION: Final = " \\"
"""The end of a line of a shell command that continues on the next line."""
INDENT: Final = "    "

SECTIONS: Final = (
    "Output",
    "Functions",
    "C code",
    "Certified bounds",
    "Display",
    "Load",
    "Motion",
    "Model and method",
    "Prediction",
    "Log",
    "Robot",
    "General",
)
"""The sections of the help, in order. An option without a section belongs to the last one."""
DESCRIBED_BY: Final = {"Robot": "check", "Log": "log"}
"""The command whose help describes the options of a shared section."""
MAX_NAME_WIDTH: Final = 26
"""Columns of the names of options; the help of a longer name begins on the next line."""

ALL: Final = "symgen.help-all"
"""The key in a context's ``meta`` that requests the help of every option."""


class Formatter(click.HelpFormatter):
    """Click's formatter, which also continues long examples on several lines."""

    def write_text(self, text: str) -> None:
        """Write paragraphs. A paragraph that begins with a backspace keeps its lines."""
        columns = self.width - self.current_indent
        super().write_text("\n\n".join(_fitted(part, columns) for part in text.split("\n\n")))


def _fitted(paragraph: str, columns: int) -> str:
    lines = paragraph.split("\n")
    if "\b" not in lines[0]:
        return paragraph
    pieces = (piece for line in lines[1:] for piece in _pieces(line, columns))
    return "\n".join([lines[0], *pieces])


def _pieces(line: str, columns: int) -> Iterator[str]:
    """A line, broken between words if it is too long. A command is separated from its remark and
    continued; other lines are continued below their last column."""
    if len(line) <= columns:
        yield line
        return
    command, gap, remark = line.partition("   ")
    if not line.startswith("symgen "):
        start = re.search(r"\S.*?\s{3,}(?=\S)|^\s*", line)
        indent = " " * (start.end() if start else 0)
        yield from textwrap.wrap(line, columns, subsequent_indent=indent)
        return
    if gap:
        yield from _pieces(command.rstrip(), columns)
        yield INDENT + remark.strip()
        return
    words = re.findall(r" *(?:-o|--[\w-]+) [^-\s]\S*| *\S+", line)
    words = [word.removeprefix(" ") for word in words]
    now = words.pop(0)
    while words:
        longer = f"{now} {words[0]}"
        if now.strip() and len(longer) + len(CONTINUATION) * bool(words[1:]) > columns:
            yield now.rstrip() + CONTINUATION
            longer = INDENT + words[0]
        now = longer
        words.pop(0)
    yield now


class HelpContext(click.Context):
    """A click context whose help is written by `Formatter`."""

    formatter_class = Formatter


class SectionOption(click.Option):
    """A click option with its section in the help; only ``--help-all`` describes a rare one."""

    def __init__(self, *names: Any, section: str = "", rare: bool = False, **more: Any) -> None:
        super().__init__(*names, **more)
        self.section, self.rare = section, rare


option = partial(click.option, cls=SectionOption)
"""`click.option` that also takes `section` and `rare`."""


def _section(parameter: click.Parameter) -> str:
    return getattr(parameter, "section", "") or SECTIONS[-1]


def _show_all(ctx: click.Context, param: click.Parameter, requested: bool) -> None:
    """Print the help of every option and exit."""
    if requested and not ctx.resilient_parsing:
        from symgen import output

        ctx.meta[ALL] = True
        output.say(ctx.get_help())
        ctx.exit()


class Command(click.Command):
    """A command whose help lists its options in sections."""

    context_class = HelpContext

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters and ``--help-all``, listed if ``--help`` does not describe them all."""
        params = super().get_params(ctx)
        return [*params, _help_all(hidden=all(map(self._is_described, params)))]

    def _is_described(self, parameter: click.Parameter) -> bool:
        """True if ``--help`` describes a parameter."""
        return not getattr(parameter, "rare", False) and not self._referenced(_section(parameter))

    def _referenced(self, section: str) -> bool:
        """True if another command describes a section."""
        return DESCRIBED_BY.get(section, self.name) != self.name

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in sections."""
        everything = ctx.meta.get(ALL, False)
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option) and not p.hidden]
        described = [p for p in options if everything or self._is_described(p)]
        records = {p: record for p in described if (record := p.get_help_record(ctx))}
        width = min(max(len(name) for name, _ in records.values()), MAX_NAME_WIDTH)
        for section in filter(lambda s: any(_section(p) == s for p in options), SECTIONS):
            members = [p for p in options if _section(p) == section]
            named = ", ".join(p.opts[-1] for p in members if p not in records)
            rows = [(records[p][0].ljust(width), records[p][1]) for p in members if p in records]
            referenced = bool(named) and self._referenced(section)
            see = f" (see symgen {DESCRIBED_BY[section]} --help)" if referenced else ""
            with formatter.section(section + see):
                if rows:
                    formatter.write_dl(rows, col_max=width)
                if named:
                    text = named if referenced else f"With --help-all: {named}"
                    columns = formatter.width - formatter.current_indent
                    lines = textwrap.wrap(text, columns, break_on_hyphens=False)
                    formatter.write_text("\n".join(["\b", *lines]))


@cache
def _help_all(hidden: bool) -> SectionOption:
    """The option ``--help-all``; `hidden` where it prints the same as ``--help``."""
    return SectionOption(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_all,
        help="Describe every option and exit.",
        hidden=hidden,
    )


command = partial(click.command, cls=Command)
"""`click.command` that makes a `Command`."""


# -- completion in shells --------------------------------------------------------------------------


Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

SAFE_WORD: Final = re.compile(r"[\w.,/+:=@-]+", re.ASCII)
"""What is offered: a name of a file goes onto a command line as it stands, where a shell would
carry out what is in some."""


def completer(row: Option) -> Complete | None:
    """The completer of an option's values, None where that is the shell's matter or nobody's."""
    if row.kind.choices:
        return lambda ctx, param, typed: _items("", row.kind.choices, typed)
    if row.path:
        kind = "dir" if row.metavar == "DIR" else "file"
        return lambda ctx, param, typed: [CompletionItem(typed, type=kind)]
    return naming(row.names, row.separators) if row.names else None


def naming(names: Names, separators: str = "") -> Complete:
    """The completer of names that are parted by some characters, whole values each. Where only one
    is left after which another name must follow, that is completed too."""

    def complete(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
        robot = None if isinstance(names, tuple) else _robot(ctx)
        start = typed[: max((typed.rfind(c) for c in separators), default=-1) + 1]
        items = _items(start, _next(names, robot, start), typed)
        if len(items) == 1 and items[0].value.endswith(tuple(separators)):
            start = items[0].value
            return _items(start, _next(names, robot, start), start) or items
        return items

    return complete


def _next(names: Names, robot: Any, start: str) -> Iterable[str]:
    return names if isinstance(names, tuple) else names(robot, start)


def _items(start: str, names: Iterable[str], typed: str) -> list[CompletionItem]:
    values = (start + name for name in dict.fromkeys(names))
    return [CompletionItem(x) for x in values if x.startswith(typed) and SAFE_WORD.fullmatch(x)]


def _robot(ctx: click.Context) -> Any:
    """The description in the first robot's file, or job file, that stands on the line; None where
    there is none."""
    from symgen.jobs.jobfile import job_in
    from symgen.reading.denavit_hartenberg import is_table
    from symgen.reading.sources import read

    # where an option without its value is last, click has left the file among the rest
    words = (*map(ctx.params.get, ("file", "robot")), *ctx.args)
    for path in (Path(x) for x in words if isinstance(x, str) and x and os.path.isfile(x)):
        with suppress(SymgenError, OSError, ValueError):
            of_job = path.suffix.lower() == ".toml" and not is_table(path)
            return read(job_in(path)[0] if of_job else path)
    return None


# -- pages of the documentation --------------------------------------------------------------------

JSON_OPTION: Final = option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the result as JSON (see symgen docs formats).",
    section="Output",
)

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
    from symgen.render import documentation

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


@command()
@click.argument(
    "page",
    metavar="[PAGE]",
    required=False,
    shell_complete=naming(lambda robot, start: page_titles()),
)
@JSON_OPTION
def docs(page: str | None, as_json: bool) -> None:
    """Print a page of the documentation, or list the pages.

    \b
    symgen docs formats
    """
    from symgen import output
    from symgen.render import documentation

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
