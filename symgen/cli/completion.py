"""Completion in shells: commands and options by click, values of options by their rows, names of
links and joints by the robot's file on the line."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from symgen.errors import SymgenError
from symgen.options import Names, Option

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
    return naming(row.names, row.parted) if row.names else None


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

    for path in map(Path, filter(os.path.isfile, _words(ctx))):
        with suppress(SymgenError, OSError, ValueError):
            of_job = path.suffix.lower() == ".toml" and not is_table(path)
            return read(job_in(path)[0] if of_job else path)
    return None


def _words(ctx: click.Context) -> Iterator[str]:
    """The file of a command; where an option without its value is last, click has left it
    among the rest."""
    yield from (
        x for x in (*map(ctx.params.get, ("file", "robot")), *ctx.args) if isinstance(x, str) and x
    )
