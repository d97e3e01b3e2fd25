"""A long function in pieces: bounded stack and linear compile time, for the price of a work array.

Values used only in their piece are locals; a value that a later piece reads lives in a slot of the
caller's work array, free again after its last reader. (Register allocation is superlinear in the
size of a function: 124,512 statements compile in 10 s in pieces of 250 instead of 218 s in one,
measured with gcc 12.)

Compilers keep a value on the stack until its last reader in a piece, those in slots too, and gcc
-O2 reads early what it will need; so a piece is short in statements and in values held
(docs/firmware-figures.md has the stacks)."""

from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import Final

from symgen.compiler.program import Index
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
    living = live_counts(statements)
    borders = [0]
    while (end := _furthest(statements, borders[-1], size)) < len(statements):
        first = borders[-1] + max(1, int(MIN_PIECE_RATIO * (end - borders[-1])))
        borders.append(min(range(first, end + 1), key=lambda k: (living[k], -k)))
    borders.append(len(statements))
    pieces = tuple(tuple(statements[a:b]) for a, b in pairwise(borders))
    return Partition(pieces, *spill_slots(pieces))


def _furthest(statements: Sequence[Step], start: int, size: int) -> int:
    """Where a piece from `start` must end at the latest: it holds so many of its own values at
    once, on the stack."""
    end = min(start + size, len(statements))
    most, held = max(1, int(MAX_LIVE_RATIO * size)), [0] * (end - start)
    reader: dict[Index, int] = {}
    for k, s in enumerate(statements[start:end]):
        for node in s.reads & reader.keys():
            for place in range(reader[node] + 1, k + 1):
                held[place] += 1
                if held[place] > most:
                    return start + k
            reader[node] = k
        for node in s.makes:
            reader[node] = k
    return end


def live_counts(statements: Sequence[Step]) -> list[int]:
    """How many variables are made before statement k and read by it or later."""
    last = {node: k for k, s in enumerate(statements) for node in s.reads}
    change = [0] * (len(statements) + 2)
    for k, s in enumerate(statements):
        for node in s.makes:
            if node in last:
                change[k + 1] += 1
                change[last[node] + 1] -= 1
    total, counts = 0, []
    for step in change:
        total += step
        counts.append(total)
    return counts


def spill_slots(
    pieces: Sequence[Sequence[Step]], placed: Container[Index] = (), first: int = 0
) -> tuple[dict[Index, int], int]:
    """Slots from `first` on, by first fit, and where they end; one is free again in the piece after
    its last reader's. What is `placed` elsewhere needs none."""
    home = {node: p for p, piece in enumerate(pieces) for s in piece for node in s.makes}
    last = {node: p for p, piece in enumerate(pieces) for s in piece for node in s.reads}
    crossing = [k for k, p in home.items() if last.get(k, p) > p and k not in placed]
    slot_of: dict[Index, int] = {}
    free: list[int] = []
    ends = defaultdict[int, list[int]](list)
    now, count = 0, first
    for node in crossing:
        for piece in range(now, home[node]):
            for slot in ends.pop(piece, ()):
                heappush(free, slot)
        now = home[node]
        slot_of[node] = heappop(free) if free else count
        count = max(count, slot_of[node] + 1)
        ends[last[node]].append(slot_of[node])
    return slot_of, count
