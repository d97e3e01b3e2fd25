"""Errors about inputs that cannot be used, and notices about inputs that are accepted."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final


class SymgenError(Exception):
    """Base of all errors about the input. The command line prints it in one line and exits with
    status 2."""

    several_lines = False
    """True if the text has several lines, such as the output of a tool."""


@dataclass(frozen=True)
class SourceLocation:
    """A location in an input file, printed as ``FILE:LINE``, or as ``FILE`` if the line is
    `WHOLE_FILE`."""

    file: str
    line: int

    def __str__(self) -> str:
        return self.file if self.line == WHOLE_FILE else f"{self.file}:{self.line}"


WHOLE_FILE: Final = 0
"""The line of a location that is a whole file, such as one that does not exist."""


class RobotError(SymgenError):
    """An error in a robot description: the location, the element, what is wrong and what to do."""

    def __init__(self, location: SourceLocation, element: str, message: str) -> None:
        label = f"{element}: " if element else ""
        super().__init__(f"{location}: error: {label}{message}")
        self.location, self.element, self.message = location, element, message


class RobotErrors(RobotError):
    """Several independent errors of one description, one per line; `location` and `message` are
    those of the first."""

    several_lines = True

    def __init__(self, errors: list[RobotError]) -> None:
        first, further = errors[0], len(errors) - MAX_PRINTED_ERRORS
        super().__init__(first.location, first.element, first.message)
        self.errors = tuple(errors)
        lines = [str(error) for error in errors[:MAX_PRINTED_ERRORS]]
        if further > 0:
            lines.append(f"{first.location.file}: error: {further} more errors")
        self.args = ("\n".join(lines),)


MAX_PRINTED_ERRORS = 20
"""The number of errors of one file that are printed."""


@contextmanager
def collected_errors(errors: list[RobotError]) -> Iterator[None]:
    """Collects a RobotError into `errors` instead of raising it."""
    try:
        yield
    except RobotError as error:
        errors.append(error)


def combined_error(errors: Iterable[RobotError]) -> RobotError | None:
    """The errors of a description as one error, in the order of the lines; None if there are
    none."""
    ordered = sorted(errors, key=lambda error: error.location.line)
    return ordered[0] if len(ordered) == 1 else RobotErrors(ordered) if ordered else None


def as_rows(error: SymgenError) -> list[dict[str, Any]]:
    """An error as data for JSON, one row for each single error. File, line and element are null if
    it has no location in a robot's file."""
    if isinstance(error, RobotErrors):
        return [row for single in error.errors for row in as_rows(single)]
    if isinstance(error, RobotError):
        place, element = error.location, error.element or None
        row = {"file": place.file, "line": place.line or None, "element": element}
        return [{**row, "message": error.message}]
    message = str(error).removeprefix("error: ")
    return [{"file": None, "line": None, "element": None, "message": message}]


class OptionError(SymgenError):
    """An option that does not fit the robot or the other options."""

    def __init__(self, message: str) -> None:
        super().__init__(f"error: {message}")


@dataclass(frozen=True)
class Notice:
    """A note or a warning about an accepted robot. `level` is ``"note"`` or ``"warning"``."""

    location: SourceLocation
    level: str
    element: str
    message: str
    summary: str = ""
    """The line that replaces all notices with the same summary, with their ``{count}`` and
    ``{elements}``; empty for a notice that is always printed separately."""
    detail: bool = False
    """True for a notice that only ``--verbose`` prints."""
    unless: tuple[str, ...] = ()
    """The names of the options that each make the notice irrelevant."""
    offer: str = ""
    """What an option would add or change, and the option. All notices with an offer are printed in
    one line. Empty if no option has an effect."""

    def __str__(self) -> str:
        return f"{self.location}: {self.level}: {self.element}: {self.message}"

    def data(self) -> dict[str, Any]:
        """A row of ``notices`` in JSON (documented in docs/formats.md)."""
        return {
            "level": self.level,
            "file": self.location.file,
            "line": self.location.line,
            "element": self.element,
            "message": self.message,
        }


OFFERS_PREFIX = "ignored unless requested"
"""The beginning of the line that lists the offers of notices."""
MAX_NAMED_ELEMENTS = 4
"""The number of elements that one line names."""


def summarized(notices: Iterable[Notice]) -> list[Notice]:
    """The notices without details, warnings first. Those with the same summary, and those with
    offers, are combined into one."""
    groups: dict[object, list[Notice]] = {}
    for notice in notices:
        if not notice.detail:
            summed = (notice.level, notice.summary) if notice.summary else notice
            key = OFFERS_PREFIX if notice.offer else summed
            groups.setdefault(key, []).append(notice)
    short = [_combined(group) for group in groups.values()]
    return sorted(short, key=lambda notice: notice.level != "warning")


def _combined(group: list[Notice]) -> Notice:
    first = group[0]
    if len(group) == 1 or not (first.summary or first.offer):
        return first
    if first.offer:
        first = next((notice for notice in group if notice.level == "warning"), first)
        message = f"{OFFERS_PREFIX}: {', '.join(dict.fromkeys(notice.offer for notice in group))}"
        return Notice(first.location, first.level, "file", message)
    names = list(dict.fromkeys(notice.element for notice in group))
    rest = [f"{len(names) - MAX_NAMED_ELEMENTS} more"] if len(names) > MAX_NAMED_ELEMENTS else []
    elements = ", ".join([*names[:MAX_NAMED_ELEMENTS], *rest])
    message = first.summary.replace("{count}", str(len(group))).replace("{elements}", elements)
    return Notice(first.location, first.level, "file", message)
