"""The work array of a function: segments that one instruction can address, and names of its slots.

A Cortex-M with a floating-point unit loads and stores a number up to 1020 bytes behind a pointer in
one instruction (a Cortex-M0+ up to 124). An address that lies further takes another instruction,
each time. So the pieces of a function whose work array is longer get a pointer to each segment that
they use, and the pointers are declared not to overlap, so that values need not be read again."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from symgen.compiler.objective import HOST
from symgen.compiler.program import Index
from symgen.languages.c.options import COptions, aim_of
from symgen.languages.c.syntax import BYTES, named_arrays, wrapped
from symgen.languages.describe import Argument
from symgen.languages.module import Module
from symgen.languages.partition import WORK
from symgen.languages.writer import Step

ADDRESSING_RANGE_BYTES: Final = 1024
"""Bytes from the first number that an instruction of such a Cortex-M reaches to the end of the
last."""


def addressing_range(module: Module) -> int:
    """The entries of an array that one instruction can address; 0 if segments have no advantage,
    which they have for small code and on a Cortex-M."""
    c = module[COptions]
    matters = aim_of(module.choices).name == "size" or c.machine is not HOST
    return ADDRESSING_RANGE_BYTES // BYTES[c.scalar] if matters else 0


@dataclass(frozen=True, slots=True)
class WorkArraySegments:
    """A work array of `size` entries in segments of `length` entries; one segment if it is 0."""

    size: int
    length: int

    @property
    def is_split(self) -> bool:
        """Whether there are several segments."""
        return 0 < self.length < self.size

    @property
    def restrict(self) -> bool:
        """Whether pieces declare that segments do not overlap."""
        return self.size > 0 and self.length > 0

    def at(self, place: int) -> tuple[str, int]:
        """The segment of an entry and its index there: entry 300 of `w` is entry 44 of `w256`."""
        first = place - place % self.length if self.is_split else 0
        return f"{WORK}{first or ''}", place - first

    def entry(self, array: str, place: int) -> str:
        """How an entry of an array is written."""
        array, place = self.at(place) if array == WORK else (array, place)
        return f"{array}[{place}]"

    @property
    def arguments(self) -> list[Argument]:
        """The segments as arguments of a piece."""
        step = self.length if self.is_split else self.size
        return [
            Argument(
                "work", self.at(k)[0], (min(step, self.size - k),), f"work array from {k} on", ""
            )
            for k in range(0, self.size, step or 1)
        ]


def passed(name: str) -> str:
    """How a caller names an array of a piece: a segment is the address of its first entry."""
    first = name.removeprefix(WORK)
    return f"&{WORK}[{first}]" if name.startswith(WORK) and first.isdigit() else name


def arrays_of(piece: Sequence[Step], where: Mapping[Index, str]) -> set[str]:
    """The arrays whose entries a piece names, itself or as the text of a variable. Entries of an
    array begin alike, so that few texts are searched."""
    texts = {t if isinstance(t, str) else where[t] for s in piece for t in (*s.makes, *s.tokens)}
    starts = {start for text in texts for start in text.split("[")[:-1]}
    return {array for start in starts for array in named_arrays(f"{start}[")}


def slot_names(
    piece: Sequence[Step],
    slots: Mapping[Index, int],
    names: Mapping[Index, str],
    segments: WorkArraySegments,
) -> list[str]:
    """Lines that name the slots of the work array that a piece reads and writes, by their indices
    in its segments. In a piece, each slot holds one value."""
    defined = [node for step in piece for node in step.makes]
    read = sorted({node for s in piece for node in s.reads}.difference(defined) & slots.keys())
    handed = [node for node in defined if node in slots]
    places = {node: segments.at(slots[node]) for node in (*read, *handed)}
    return [
        *_enumerated("values from earlier parts", read, places, names),
        *_enumerated("values for later parts", handed, places, names),
    ]


def _enumerated(
    title: str,
    nodes: Iterable[Index],
    places: Mapping[Index, tuple[str, int]],
    names: Mapping[Index, str],
) -> list[str]:
    """Lines that name the indices of values, those of each segment together."""
    lines, by_segment = list[str](), defaultdict[str, list[str]](list)
    for node in nodes:
        segment, place = places[node]
        by_segment[segment].append(f"{names[node]} = {place}")
    for segment, rows in by_segment.items():
        lines += [f"/* places in {segment} of {title} */", *wrapped("enum { ", rows, " };")]
    return lines
