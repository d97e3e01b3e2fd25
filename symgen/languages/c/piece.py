"""A part of a C function."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from symgen.compiler.value import Index
from symgen.languages.c.banks import WorkArraySegments
from symgen.languages.c.text import named_arrays, wrapped
from symgen.languages.writer import Step


@dataclass(frozen=True, slots=True)
class Piece:
    """A static function that does part of the work: its head, how it is called, and its body."""

    signature: str
    call: str
    lines: list[list[str]]
    checks: list[str]
    """Lines that return whether it met a bad pivot, none if it has none."""


def named(piece: Sequence[Step], where: Mapping[Index, str]) -> set[str]:
    """The arrays that a piece names, of entries of its own and of those that variables stand in.
    Entries of an array begin alike, so that few texts are searched."""
    texts = {t if isinstance(t, str) else where[t] for s in piece for t in (*s.makes, *s.tokens)}
    starts = {start for text in texts for start in text.split("[")[:-1]}
    return {array for start in starts for array in named_arrays(f"{start}[")}


def slot_names(
    piece: Sequence[Step],
    slots: Mapping[Index, int],
    names: Mapping[Index, str],
    banks: WorkArraySegments,
) -> list[str]:
    """Lines that name the slots of the work array that a piece reads and writes, by their places in
    its banks; in a piece, each slot holds one value."""
    defined = [node for step in piece for node in step.makes]
    read = sorted({node for s in piece for node in s.reads}.difference(defined) & slots.keys())
    handed = [node for node in defined if node in slots]
    places = {node: banks.at(slots[node]) for node in (*read, *handed)}
    return [
        *_named("values from earlier parts", read, places, names),
        *_named("values for later parts", handed, places, names),
    ]


def _named(
    title: str,
    nodes: Iterable[Index],
    places: Mapping[Index, tuple[str, int]],
    names: Mapping[Index, str],
) -> list[str]:
    """Lines that name places of values, those of each bank together."""
    lines, by_bank = list[str](), defaultdict[str, list[str]](list)
    for node in nodes:
        bank, place = places[node]
        by_bank[bank].append(f"{names[node]} = {place}")
    for bank, rows in by_bank.items():
        lines += [f"/* places in {bank} of {title} */", *wrapped("enum { ", rows, " };")]
    return lines
