"""Errors and notices: what symgen says of an input that cannot be used."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


class SymgenError(Exception):
    """Base of every error that is the input's fault; the command line prints it in one line, exit
    status 2."""

    several_lines = False
    """Whether the text has lines of its own, those of a tool after ours."""


@dataclass(frozen=True)
class SourceLocation:
    """A spot in an input file, printed as ``FILE:LINE``."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class RobotError(SymgenError):
    """A robot description that cannot be used: says where, which element, what is wrong and the way
    out."""

    def __init__(self, place: SourceLocation, element: str, message: str) -> None:
        super().__init__(f"{place}: error: {element}: {message}")
        self.place, self.element, self.message = place, element, message


class RobotErrors(RobotError):
    """Several faults of one description, which do not depend on each other, each in its line; place
    and message are those of the first."""

    several_lines = True

    def __init__(self, errors: list[RobotError]) -> None:
        first, further = errors[0], len(errors) - MOST_ERRORS
        super().__init__(first.place, first.element, first.message)
        self.errors = tuple(errors)
        lines = [str(error) for error in errors[:MOST_ERRORS]]
        if further > 0:
            lines.append(f"{first.place.file}:1: error: file: {further} more errors")
        self.args = ("\n".join(lines),)


MOST_ERRORS = 20
"""Errors of one file that are printed at once."""


@contextmanager
def gathered(errors: list[RobotError]) -> Iterator[None]:
    """A fault is one of several."""
    try:
        yield
    except RobotError as error:
        errors.append(error)


def together(errors: Iterable[RobotError]) -> RobotError | None:
    """The faults of a description as one error, in the order of its lines; None where there is
    none."""
    ordered = sorted(errors, key=lambda error: error.place.line)
    return ordered[0] if len(ordered) == 1 else RobotErrors(ordered) if ordered else None


def as_rows(error: SymgenError) -> list[dict[str, Any]]:
    """An error as data for JSON, a row for each fault: file, line and element are null where it is
    not about a spot in a robot's file."""
    several = error.errors if isinstance(error, RobotErrors) else (error,)
    return [_row(fault) for fault in several]


def _row(error: SymgenError) -> dict[str, Any]:
    if isinstance(error, RobotError):
        place, element, message = error.place, error.element, error.message
        return {"file": place.file, "line": place.line, "element": element, "message": message}
    message = str(error).removeprefix("error: ")
    return {"file": None, "line": None, "element": None, "message": message}


class OptionError(SymgenError):
    """An option that does not fit the robot or the other options."""

    def __init__(self, message: str) -> None:
        super().__init__(f"error: {message}")


@dataclass(frozen=True)
class Notice:
    """A note or warning about an accepted robot; ``level`` is ``"note"`` or ``"warning"``."""

    place: SourceLocation
    level: str
    element: str
    message: str
    summary: str = ""
    """What one line says of all that have the same: ``{count}`` of them, about ``{elements}``;
    empty for one that always stands by itself."""
    detail: bool = False
    """Whether it is only for those who ask for everything."""
    unless: tuple[str, ...] = ()
    """The options (as fields are called) each of which makes it void where it is used."""
    offer: str = ""
    """What is said of it in one line with all others that have such words: what an option would
    count or change, and that option; empty where no option has a say."""

    def __str__(self) -> str:
        return f"{self.place}: {self.level}: {self.element}: {self.message}"

    def data(self) -> dict[str, Any]:
        """A row of ``notices`` in JSON (documented in docs/formats.md)."""
        return {
            "level": self.level,
            "file": self.place.file,
            "line": self.place.line,
            "element": self.element,
            "message": self.message,
        }


OFFERED = "only on request"
"""How the line begins that lists what options would count or change."""
MOST_NAMED = 4
"""Elements that are named in one line at the most."""


def in_short(notices: Iterable[Notice]) -> list[Notice]:
    """The notices that people need to know: no details, those of one summary as one and those that
    an option would answer as one, warnings first."""
    groups: dict[object, list[Notice]] = {}
    for notice in notices:
        if not notice.detail:
            summed = (notice.level, notice.summary) if notice.summary else notice
            alike = OFFERED if notice.offer else summed
            groups.setdefault(alike, []).append(notice)
    short = [_together(group) for group in groups.values()]
    return sorted(short, key=lambda notice: notice.level != "warning")


def _together(group: list[Notice]) -> Notice:
    first = group[0]
    if len(group) == 1 or not (first.summary or first.offer):
        return first
    if first.offer:
        first = next((notice for notice in group if notice.level == "warning"), first)
        message = f"{OFFERED}: {', '.join(dict.fromkeys(notice.offer for notice in group))}"
        return Notice(first.place, first.level, "file", message)
    names = list(dict.fromkeys(notice.element for notice in group))
    rest = [f"{len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    elements = ", ".join([*names[:MOST_NAMED], *rest])
    message = first.summary.replace("{count}", str(len(group))).replace("{elements}", elements)
    return Notice(first.place, first.level, "file", message)
