"""The way out to people: every line on a terminal or in a pipe goes through here.

Names and values of files are data. Characters that cannot be seen (controls, also U+0080 to U+009F,
marks of direction, zero-width ones) leave as escapes, so that no file drives a terminal or hides
what it says."""

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import click
from rich.console import Console
from rich.text import Text

from symgen.errors import Notice, SymgenError
from symgen.text import escaped, shown

PIPE_WIDTH: Final = 200
MAX_ERROR_LENGTH: Final = 4000
"""Characters of an error, whatever it echoes."""


class EscapingConsole(Console):
    """A console whose texts are escaped, colours and styles of our own excepted."""

    def render_str(self, text: str, **more: Any) -> Text:
        """The text with its markup as rich has it."""
        return super().render_str(escaped(text), **more)


_progress_displays: list[Callable[[], None]] = []


def end_before_printing(stop: Callable[[], None]) -> None:
    """`stop` is called before anything else is printed: what shows that people wait must not stand
    beside what they waited for."""
    _progress_displays.append(stop)


def end_progress() -> None:
    """End what shows that people wait."""
    while _progress_displays:
        _progress_displays.pop()()


def console(error: bool = False) -> Console:
    """For people: colours on a terminal, plain text and full width elsewhere."""
    end_progress()
    people = EscapingConsole(highlight=False, emoji=False, stderr=error)
    if people.is_terminal:
        return people
    return EscapingConsole(
        highlight=False, emoji=False, stderr=error, width=PIPE_WIDTH, color_system=None
    )


def say(text: object, error: bool = False) -> None:
    """A text of one or more lines, on stderr if `error`."""
    end_progress()
    click.echo(escaped(str(text)), err=error)


def say_error(error: SymgenError, text: str) -> None:
    """The text of an error in one line on stderr, then what a tool said of it, if it did."""
    lines = text.splitlines() if error.several_lines else [text]
    for line in lines:
        say(shown(line, MAX_ERROR_LENGTH), error=True)


def as_json(data: object) -> str:
    """JSON as it is printed and written: two texts of equal data are equal, and what is not finite
    is null, because JSON has no such number."""
    return json.dumps(_with_null(data), indent=1, allow_nan=False)


def written(paths: Iterable[object], notices: Iterable[Notice] = ()) -> dict[str, Any]:
    """The JSON data of a command that writes files: their paths and the notices."""
    return {"files": [str(path) for path in paths], "notices": [n.data() for n in notices]}


def _with_null(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _with_null(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_with_null(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def discard_standard_output() -> None:
    """Let the rest of standard output go nowhere, because it cannot be written; otherwise the
    interpreter's end would fail on it again."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # not a file of the system
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
