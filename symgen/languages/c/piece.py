"""A part of a C function."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from symgen.compiler.program import Index
from symgen.languages.c.layout import wrapped
from symgen.languages.writer import Step


@dataclass(frozen=True, slots=True)
class Piece:
    """A static function that does part of the work: its head, how it is called, and its body."""

    signature: str
    call: str
    lines: list[list[str]]
    checks: list[str]
    """Lines that return whether it met a bad pivot, none if it has none."""


def slot_names(
    piece: Sequence[Step], slots: Mapping[Index, int], names: Mapping[Index, str]
) -> list[str]:
    """Lines that name the slots of the work array that a piece reads and writes; in a piece, each
    slot holds one value."""
    defined = [node for step in piece for node in step.makes]
    read = sorted({node for s in piece for node in s.reads}.difference(defined) & slots.keys())
    handed = [node for node in defined if node in slots]
    return [
        *_named("places in w of values from earlier parts", read, slots, names),
        *_named("places in w of values for later parts", handed, slots, names),
    ]


def _named(
    title: str, nodes: Iterable[Index], slots: Mapping[Index, int], names: Mapping[Index, str]
) -> list[str]:
    rows = [f"{names[node]} = {slots[node]}" for node in nodes]
    return [f"/* {title} */", *wrapped("enum { ", rows, " };")] if rows else []
