"""A part of a C function."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A static function that does part of the work: its head, how it is called, and its body."""

    signature: str
    call: str
    lines: list[list[str]]
    checks: list[str]
    """Lines that return whether it met a bad pivot, none if it has none."""
