"""A long function in pieces that pass values on through a work array, so that the stack is bounded
and the time to compile is linear.

Values used only in their piece are locals; a value that a later piece reads lives in a slot of the
caller's work array, free again after its last reader. (Register allocation is superlinear in the
size of a function: 124,512 statements compile in 10 s in pieces of 250 instead of 218 s in one,
measured with gcc 12.)

Compilers keep a value on the stack until its last reader in a piece, those in slots too, and gcc
-O2 reads early what it will need; so a piece is short in statements and in values held
(docs/firmware-figures.md has the stacks).

A Cortex-M with a floating-point unit loads and stores a number up to 1020 bytes behind a pointer in
one instruction (a Cortex-M0+ up to 124). An address that lies further takes another instruction,
each time. So the pieces of a function whose work array is longer get a pointer to each segment that
they use, and the pointers are declared not to overlap, so that values need not be read again."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import Final

from symgen.compiler.program import Index
from symgen.languages.c.syntax import named_arrays, wrap_list
from symgen.languages.describe import Argument
from symgen.languages.writer import Step

WORK: Final = "w"
"""The array in which values wait for later pieces."""

MAX_LIVE_RATIO = 0.3
"""A piece holds at most this many of its own values at once, as a part of its statements."""

MIN_PIECE_RATIO = 0.75
"""A piece may be this much shorter than it could be, if fewer values are alive at its end."""


@dataclass(frozen=True, slots=True)
class Partition:
    """Steps in pieces, the slot of each value that crosses a border, and the number of slots."""

    pieces: tuple[tuple[Step, ...], ...]
    slots: dict[Index, int]
    size: int


def partition(statements: Sequence[Step], size: int) -> Partition:
    """Pieces of at most `size` statements and ``ALIVE * size`` values at once, cut where few values
    are alive."""
    live = live_counts(statements)
    borders = [0]
    while (end := _latest_end(statements, borders[-1], size)) < len(statements):
        first = borders[-1] + max(1, int(MIN_PIECE_RATIO * (end - borders[-1])))
        borders.append(min(range(first, end + 1), key=lambda k: (live[k], -k)))
    borders.append(len(statements))
    pieces = tuple(tuple(statements[a:b]) for a, b in pairwise(borders))
    return Partition(pieces, *spill_slots(pieces))


def _latest_end(statements: Sequence[Step], start: int, size: int) -> int:
    """Where a piece from `start` must end at the latest: it holds so many of its own values at
    once, on the stack."""
    end = min(start + size, len(statements))
    max_live, live = max(1, int(MAX_LIVE_RATIO * size)), [0] * (end - start)
    last_reader: dict[Index, int] = {}
    for k, s in enumerate(statements[start:end]):
        for node in s.reads & last_reader.keys():
            for place in range(last_reader[node] + 1, k + 1):
                live[place] += 1
                if live[place] > max_live:
                    return start + k
            last_reader[node] = k
        for node in s.defines:
            last_reader[node] = k
    return end


def live_counts(statements: Sequence[Step]) -> list[int]:
    """How many variables are made before statement k and read by it or later."""
    last = {node: k for k, s in enumerate(statements) for node in s.reads}
    change = [0] * (len(statements) + 2)
    for k, s in enumerate(statements):
        for node in s.defines:
            if node in last:
                change[k + 1] += 1
                change[last[node] + 1] -= 1
    total, counts = 0, []
    for step in change:
        total += step
        counts.append(total)
    return counts


def spill_slots(pieces: Sequence[Sequence[Step]]) -> tuple[dict[Index, int], int]:
    """Slots by first fit, and their number; one is free again in the piece after its last
    reader's."""
    defining_piece = {
        node: p for p, piece in enumerate(pieces) for s in piece for node in s.defines
    }
    last = {node: p for p, piece in enumerate(pieces) for s in piece for node in s.reads}
    crossing = [k for k, p in defining_piece.items() if last.get(k, p) > p]
    slot_of: dict[Index, int] = {}
    free_slots: list[int] = []
    ends = defaultdict[int, list[int]](list)
    current_piece, count = 0, 0
    for node in crossing:
        for piece in range(current_piece, defining_piece[node]):
            for slot in ends.pop(piece, ()):
                heappush(free_slots, slot)
        current_piece = defining_piece[node]
        slot_of[node] = heappop(free_slots) if free_slots else count
        count = max(count, slot_of[node] + 1)
        ends[last[node]].append(slot_of[node])
    return slot_of, count


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

    def locate(self, place: int) -> tuple[str, int]:
        """The segment of an entry and its index there: entry 300 of `w` is entry 44 of `w256`."""
        first = place - place % self.length if self.is_split else 0
        return f"{WORK}{first or ''}", place - first

    def entry(self, array: str, place: int) -> str:
        """How an entry of an array is written."""
        array, place = self.locate(place) if array == WORK else (array, place)
        return f"{array}[{place}]"

    @property
    def arguments(self) -> list[Argument]:
        """The segments as arguments of a piece."""
        step = self.length if self.is_split else self.size
        return [
            Argument(
                "work",
                self.locate(k)[0],
                (min(step, self.size - k),),
                f"work array from {k} on",
                "",
            )
            for k in range(0, self.size, step or 1)
        ]


def caller_argument(name: str) -> str:
    """How a caller names an array of a piece: a segment is the address of its first entry."""
    first = name.removeprefix(WORK)
    return f"&{WORK}[{first}]" if name.startswith(WORK) and first.isdigit() else name


def arrays_of(piece: Sequence[Step], node_texts: Mapping[Index, str]) -> set[str]:
    """The arrays whose entries a piece names, itself or as the text of a variable. Entries of an
    array begin alike, so that few texts are searched."""
    texts = {
        t if isinstance(t, str) else node_texts[t] for s in piece for t in (*s.defines, *s.tokens)
    }
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
    defined = [node for step in piece for node in step.defines]
    read = sorted({node for s in piece for node in s.reads}.difference(defined) & slots.keys())
    spilled = [node for node in defined if node in slots]
    positions = {node: segments.locate(slots[node]) for node in (*read, *spilled)}
    return [
        *_enum_lines("values from earlier parts", read, positions, names),
        *_enum_lines("values for later parts", spilled, positions, names),
    ]


def _enum_lines(
    title: str,
    nodes: Iterable[Index],
    positions: Mapping[Index, tuple[str, int]],
    names: Mapping[Index, str],
) -> list[str]:
    """Lines that name the indices of values, those of each segment together."""
    lines, by_segment = list[str](), defaultdict[str, list[str]](list)
    for node in nodes:
        segment, place = positions[node]
        by_segment[segment].append(f"{names[node]} = {place}")
    for segment, rows in by_segment.items():
        lines += [f"/* places in {segment} of {title} */", *wrap_list("enum { ", rows, " };")]
    return lines
