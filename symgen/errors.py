"""What symgen says when an input cannot be used."""

from dataclasses import dataclass


class SymgenError(Exception):
    """Base of every error that is the input's fault; the command line prints it in one line, exit
    status 2."""

    several_lines = False
    """Whether the text has lines of its own, those of a tool after ours."""


@dataclass(frozen=True)
class Place:
    """A spot in an input file, printed as ``FILE:LINE``."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class RobotError(SymgenError):
    """A robot description that cannot be used: says where, which element, what is wrong and the way
    out."""

    def __init__(self, place: Place, element: str, message: str) -> None:
        super().__init__(f"{place}: error: {element}: {message}")
        self.place, self.element, self.message = place, element, message


class OptionError(SymgenError):
    """An option that does not fit the robot or the other options."""

    def __init__(self, message: str) -> None:
        super().__init__(f"error: {message}")


@dataclass(frozen=True)
class Notice:
    """A note or warning about an accepted robot; ``level`` is ``"note"`` or ``"warning"``.

    A job whose option of a name in `unless` is given has no cause to say it."""

    place: Place
    level: str
    element: str
    message: str
    unless: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.place}: {self.level}: {self.element}: {self.message}"
