"""A tape as arrays: its live nodes in levels.

The nodes of a level need none of one another's results, so that an operation is carried out on all
of them, and on all states, in one call."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.compiler.passes import cached_analysis, live_nodes
from symgen.compiler.program import LEAVES, Index, Node, Program, Ref
from symgen.numbers.operations import OPS
from symgen.numbers.types import AnyArray

Rows = NDArray[np.intp]

_CODES: Final = {name: k for k, name in enumerate((*LEAVES, *OPS))}
_NAMES: Final = tuple(_CODES)


@dataclass(frozen=True, slots=True)
class LevelGroup:
    """The nodes of a level with the same operation: their rows, and those of their operands."""

    op: str
    rows: slice
    operands: tuple[Rows, ...]


@dataclass(frozen=True, slots=True)
class OpGroup:
    """All nodes with the same operation, whatever their level: their rows, and those of their
    operands."""

    op: str
    rows: Rows
    operands: tuple[Rows, ...]


@dataclass(frozen=True, slots=True)
class Consumers:
    """Nodes of a level that are read equally often: where they are in the order of `Inward`, which
    of all readings are theirs, one node after the other, and where the reader of each reading
    (times x k) is."""

    read: slice
    readings: slice
    readers: Rows


@dataclass(frozen=True, slots=True)
class ReverseOrder:
    """The order in which derivatives in the nodes become known: levels from the last to the first,
    in each of them nodes that are read equally often beside one another."""

    rows: Rows
    """The rows of the nodes in this order."""
    place: Rows
    """Where each row is in it."""
    readings: AnyArray
    """Of each reading the place of the operand and the row of the reader."""
    readers: tuple[Consumers, ...]


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
    groups: tuple[LevelGroup, ...]
    """In the order of computation."""
    spans: tuple[slice, ...]
    """The rows of each level, that of the leaves first."""
    alike: tuple[OpGroup, ...]
    """All operations; leaves are none."""
    inward: ReverseOrder

    def of(self, refs: tuple[Ref | None, ...]) -> tuple[Rows, Rows]:
        """Which of some references are none to structural zeros, and their rows."""
        places = [k for k, ref in enumerate(refs) if ref is not None]
        nodes = [ref.node for ref in refs if ref is not None]
        return np.array(places, np.intp), self.row[np.array(nodes, np.intp)]


@cached_analysis
def levels(program: Program) -> Levels:
    """The levels of a tape that no longer grows."""
    order = np.array(live_nodes(program), np.intp)
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
        tuple(_runs(depth)),
        tuple(_alike(codes, read)),
        _inward(depth, read),
    )


def _operands(
    size: int, nodes: Sequence[Node], indices: Sequence[Index]
) -> tuple[list[int], list[int], list[int]]:
    """The first operand of each node and the second, -1 where there are none, and how many
    operations stand before the node at the most."""
    first, second = [-1] * len(nodes), [-1] * len(nodes)
    depths, before = [0] * len(nodes), [0] * size  # by live node, by node of the tape
    for k, (op, a, b) in enumerate(nodes):
        if op not in LEAVES:
            first[k], most = a, before[a]
            if b is not None:
                second[k], most = b, max(most, before[b])
            depths[k] = before[indices[k]] = most + 1
    return first, second, depths


def _groups(depth: Rows, codes: Rows, read: Rows) -> list[LevelGroup]:
    return [
        LevelGroup(
            _NAMES[codes[rows.start]],
            rows,
            tuple(places[rows] for places in read if places[rows.start] >= 0),
        )
        for rows in _runs(depth, codes)
    ]


def _alike(codes: Rows, read: Rows) -> Iterator[OpGroup]:
    """The operations that there are."""
    for code in distinct(codes[read[0] >= 0]).tolist():
        rows = np.nonzero(codes == code)[0]
        yield OpGroup(_NAMES[code], rows, tuple(x[rows] for x in read if x[rows[0]] >= 0))


def _inward(depth: Rows, operands: Rows) -> ReverseOrder:
    places, rows = np.nonzero(operands >= 0)
    read = operands[places, rows]
    times = np.bincount(read, minlength=len(depth))
    order = np.lexsort((times, -depth))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    ranked = np.lexsort((places, rows, place[read]))
    rows, places, times = rows[ranked], places[ranked], times[order]
    where, readers, start = place[rows], list[Consumers](), 0
    for run in _runs(depth[order], times):
        if count := int(times[run.start]):
            own = slice(start, start := start + count * (run.stop - run.start))
            readers.append(Consumers(run, own, where[own].reshape(-1, count).T.copy()))
    return ReverseOrder(order, place, np.stack([places, rows]), tuple(readers))


def distinct(numbers: Rows) -> Rows:
    """Each number once, in ascending order."""
    return np.unique(numbers, return_index=True)[0]  # asked for no more, numpy.ma is loaded


def _runs(*keys: Rows) -> list[slice]:
    """Where neighbours have the same keys."""
    if not len(keys[0]):
        return []
    borders = np.nonzero(np.any([np.diff(key) != 0 for key in keys], axis=0))[0] + 1
    ends = [0, *borders.tolist(), len(keys[0])]
    return [slice(a, b) for a, b in pairwise(ends)]
