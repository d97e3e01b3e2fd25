"""A tape as arrays: its live nodes in levels.

The nodes of a level need none of one another's results, so that an operation is carried out on all
of them, and on all states, in one call."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.compiler.passes import live, remembered
from symgen.compiler.program import LEAVES, Node, Program
from symgen.compiler.value import Index, Ref
from symgen.numbers.operations import OPS
from symgen.records import dataclass

Rows = NDArray[np.intp]
Array = NDArray[Any]

_CODES: Final = {name: k for k, name in enumerate((*LEAVES, *OPS))}
_NAMES: Final = tuple(_CODES)


@dataclass(frozen=True, slots=True)
class Simultaneous:
    """The nodes of a level with the same operation: their rows, and those of their operands."""

    op: str
    rows: slice
    operands: tuple[Rows, ...]


@dataclass(frozen=True, slots=True)
class Readers:
    """Nodes of a level that are read equally often: where they are in the order of `Inward`, and
    of each reading (times x k) where the reader is there and the place of the operand."""

    read: slice
    readers: Rows
    places: Rows


@dataclass(frozen=True, slots=True)
class Inward:
    """The order in which derivatives in the nodes become known: levels from the last to the first,
    in each of them nodes that are read equally often beside one another."""

    rows: Rows
    """The rows of the nodes in this order."""
    place: Rows
    """Where each row is in it."""
    readings: tuple[Readers, ...]
    unread: Rows
    """Where the nodes are that no other reads."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The live nodes of a tape, each with a row in the arrays of its values."""

    nodes: tuple[Node, ...]
    """The node of each row."""
    indices: Rows
    """The place of each row's node on the tape."""
    row: Rows
    """The row of each node of the tape, -1 of those that are not live."""
    operands: Rows
    """Rows of the first operands, then of the second; -1 where there are none."""
    groups: tuple[Simultaneous, ...]
    """In the order of computation."""
    inward: Inward

    def of(self, refs: tuple[Ref | None, ...]) -> tuple[Rows, Rows]:
        """Which of some references are none to structural zeros, and their rows."""
        places = [k for k, ref in enumerate(refs) if ref is not None]
        nodes = [ref.node for ref in refs if ref is not None]
        return np.array(places, np.intp), self.row[np.array(nodes, np.intp)]


@remembered
def levels(program: Program) -> Levels:
    """The levels of a tape that no longer grows."""
    order = np.array(live(program), np.intp)
    nodes = [program.nodes[i] for i in order.tolist()]
    first, second, depths = _operands(len(program.nodes), nodes, order.tolist())
    depth, codes = np.array(depths, np.intp), np.array([_CODES[op] for op, _, _ in nodes], np.intp)
    ranked = np.lexsort((codes, depth))
    indices, depth, codes = order[ranked], depth[ranked], codes[ranked]
    row = np.full(len(program.nodes) + 1, -1, np.intp)
    row[indices] = np.arange(len(indices))
    read = row[np.array([first, second], np.intp)[:, ranked]]
    return Levels(
        tuple(map(nodes.__getitem__, ranked.tolist())),
        indices,
        row,
        read,
        tuple(_groups(depth, codes, read)),
        _inward(depth, read),
    )


def _operands(
    size: int, nodes: Sequence[Node], indices: Sequence[Index]
) -> tuple[list[int], list[int], list[int]]:
    """The first operand of each node and the second, -1 where there are none, and how many
    operations stand before the node at the most."""
    first, second, depths, before = (
        [-1] * len(nodes),
        [-1] * len(nodes),
        [0] * len(nodes),
        [0] * size,
    )
    for k, (op, a, b) in enumerate(nodes):
        if op not in LEAVES:
            first[k], most = a, before[a]
            if b is not None:
                second[k], most = b, max(most, before[b])
            depths[k] = before[indices[k]] = most + 1
    return first, second, depths


def _groups(depth: Rows, codes: Rows, read: Rows) -> list[Simultaneous]:
    return [
        Simultaneous(
            _NAMES[codes[rows.start]],
            rows,
            tuple(places[rows] for places in read if places[rows.start] >= 0),
        )
        for rows in _runs(depth, codes)
    ]


def _inward(depth: Rows, operands: Rows) -> Inward:
    places, rows = np.nonzero(operands >= 0)
    read = operands[places, rows]
    times = np.bincount(read, minlength=len(depth))
    order = np.lexsort((times, -depth))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    ranked = np.lexsort((places, rows, place[read]))
    readers, places, times = place[rows[ranked]], places[ranked], times[order]
    ends = np.cumsum(times)
    readings = [
        Readers(run, *(_by_time(x, ends, run) for x in (readers, places)))
        for run in _runs(depth[order], times)
        if times[run.start]
    ]
    return Inward(order, place, tuple(readings), np.nonzero(times == 0)[0])


def _by_time(of_readings: Rows, ends: Rows, run: slice) -> Rows:
    """What is said of the readings of a run of nodes, those of each of them in a column."""
    first = ends[run.start - 1] if run.start else 0
    return of_readings[first : ends[run.stop - 1]].reshape(run.stop - run.start, -1).T.copy()


def _runs(*keys: Rows) -> list[slice]:
    """Where neighbours have the same keys."""
    if not len(keys[0]):
        return []
    borders = np.nonzero(np.any([np.diff(key) != 0 for key in keys], axis=0))[0] + 1
    ends = [0, *borders.tolist(), len(keys[0])]
    return [slice(a, b) for a, b in pairwise(ends)]
