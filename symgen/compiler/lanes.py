"""Which results are computed alike, and by how many lanes: the choice of loops.

Candidates are the columns of outputs; what a loop reads, row by row and lane by lane; and, of what
is left, values whose operations are alike some levels deep. Of candidates those are taken together
that save most: with more lanes a loop's body is shorter, as they have less in common."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Final

from symgen.compiler.likeness import kind
from symgen.compiler.packs import Packing
from symgen.compiler.passes import live, operands
from symgen.compiler.program import LEAVES, Program
from symgen.compiler.rows import NOTHING, Local, Refs, Slot
from symgen.compiler.value import Index, Ref

Lane = tuple[Ref | None, ...]
"""Results that belong together, such as a column of a matrix."""

FEWEST: Final = 2
"""Lanes of a loop at least."""

DEEP: Final = 6
"""Levels of operations that must be alike where nothing else tells what belongs together."""

MOST: Final = 32
"""Lanes that are looked at together at most."""

STEP: Final = 6.5
"""Bytes of code of an operation on a Cortex-M4F, about."""


LOOP: Final = 100.0
"""Bytes of code that a loop takes on a Cortex-M4F, about: once, ..."""

ROW: Final = 7.0
READ_LANE: Final = 4.0
"""... of a row that it reads, and of each lane of it, which somebody must have stored, ..."""

WRITE_LANE: Final = 4.0
"""... and of a lane of a row that it makes, which somebody must read."""


def packed(program: Program) -> Packing:
    """All that is found on a tape."""
    packing = Packing(program)
    shapes = Shapes(program)
    for lanes in _columns(program):
        pack_alike(packing, lanes)
    _inward(packing, shapes)
    for row in _across(packing):
        for alike in _alike(packing, shapes, row):
            pack_alike(packing, [(row[k],) for k in alike])
    _inward(packing, shapes)
    for refs in _remaining(packing, shapes, DEEP):
        pack_alike(packing, [(ref,) for ref in refs])
    _inward(packing, shapes)
    return packing


def _columns(program: Program) -> Iterable[list[Lane]]:
    """The columns of outputs of two dimensions, those with the same number of rows together; last
    rows first, which need what others need too."""
    by_height: dict[Hashable, list[Lane]] = defaultdict(list)
    for out in program.outputs:
        if len(out.shape) == 2:
            rows, n = out.shape
            for k in range(n):
                lane = tuple(reversed(out.refs[k::n]))
                if any(ref is not None for ref in lane):
                    by_height[rows].append(lane)
    return by_height.values()


def pack_alike(packing: Packing, lanes: Sequence[Lane]) -> None:
    """The lanes that go together best, then those of the others that do."""
    remaining = list(lanes)[:MOST]
    while len(remaining) >= FEWEST and not packing.tired:
        chosen = _best(packing, remaining)
        if len(chosen) < FEWEST or not _packed_if_worth(packing, [remaining[k] for k in chosen]):
            chosen = [0]
        remaining = [lane for k, lane in enumerate(remaining) if k not in set(chosen)]


def _best(packing: Packing, lanes: Sequence[Lane]) -> list[int]:
    """The first lane and those that go with it, by number."""
    first, *others = lanes
    gains = [packing.tried([first, lane]) for lane in others]
    return [0, *(k + 1 for k in _together(packing, first, others, gains))]


def _packed_if_worth(packing: Packing, lanes: Sequence[Lane]) -> bool:
    """Pack some lanes, if that is worth it."""
    start = packing.next
    packing.rows(lanes)
    if worth(packing, start):
        packing.hoped = packing.seen
        return True
    packing.undo(start)
    return False


def _together(
    packing: Packing, first: Lane, others: Sequence[Lane], gains: Sequence[float]
) -> list[int]:
    """Which of the others, the most like the first first, save operations beside it and those taken
    before."""
    ranked = [k for k in sorted(range(len(others)), key=lambda k: (-gains[k], k)) if gains[k] > 0.0]
    sets = [sorted(ranked[:n]) for n in range(1, len(ranked) + 1)]
    saved = [packing.tried([first, *(others[j] for j in chosen)]) for chosen in sets]
    return sets[saved.index(max(saved))] if saved and max(saved) > 0.0 else []


def worth(packing: Packing, start: int) -> bool:
    """Whether the packs from `start` on save more code than reading their slots takes."""
    new = [packing.packs[k] for k in range(start, packing.next) if k in packing.packs]
    slots = {o.refs: len(o.refs) for p in new for o in p.operands if isinstance(o, Slot)}
    joined = any(isinstance(o, Local) and o.pack < start for p in new for o in p.operands)
    saved = STEP * packing.saved(start)
    read = sum(ROW + READ_LANE * n for n in slots.values())
    return saved > read + (0.0 if joined else LOOP)


def _inward(packing: Packing, shapes: "Shapes") -> None:
    """The rows that the loops read, as long as there are more."""
    packed: set[Refs] = set()
    while True:
        new = []
        for members in groups(packing).values():
            of = (o for k in members for o in packing.packs[k].operands)
            slots = (o.refs for o in of if isinstance(o, Slot) and o.refs not in packed)
            if rows := [*dict.fromkeys(slots)]:
                new.append(rows)
        if not new:
            return
        for rows in sorted(new, key=lambda rows: -max(ref.node for row in rows for ref in row)):
            packed |= set(rows)
            _side_by_side(packing, shapes, rows)


def _side_by_side(packing: Packing, shapes: "Shapes", rows: Sequence[Refs]) -> None:
    """Rows that a loop reads: those of which the same lanes go together are taken at once."""
    by_lanes: dict[tuple[int, ...], list[Refs]] = defaultdict(list)
    for row in rows:
        for alike in _alike(packing, shapes, row):
            for chosen in _parts(packing, [(row[k],) for k in alike]):
                by_lanes[tuple(alike[k] for k in chosen)].append(row)
    for lanes, loops in sorted(by_lanes.items(), key=lambda x: (-len(x[0]), -len(x[1]), x[0])):
        _packed_if_worth(packing, [tuple(row[k] for row in loops) for k in lanes])


def _parts(packing: Packing, lanes: Sequence[Lane]) -> Iterator[list[int]]:
    """Lanes that go together, without packing them."""
    remaining = list(range(len(lanes)))[:MOST]
    while len(remaining) >= FEWEST and not packing.tired:
        chosen = [remaining[k] for k in _best(packing, [lanes[k] for k in remaining])]
        if len(chosen) >= FEWEST:
            yield chosen
        remaining = [k for k in remaining if k not in set(chosen)]


def _across(packing: Packing) -> list[Refs]:
    """All nodes read, by loop and lane."""
    reads = []
    for members in groups(packing).values():
        packs = [packing.packs[k] for k in members]
        slots = [*dict.fromkeys(o.refs for p in packs for o in p.operands if isinstance(o, Slot))]
        reads += list(zip(*slots, strict=True))
    return reads


def _alike(packing: Packing, shapes: "Shapes", refs: Refs) -> list[list[int]]:
    """The numbers of those values that are alike at first sight and in no pack yet."""
    by_shape: dict[Hashable, dict[Index, int]] = defaultdict(dict)
    for k, ref in enumerate(refs):
        if (
            ref != NOTHING
            and ref.node not in packing.home
            and packing.nodes[ref.node].op not in LEAVES
        ):
            by_shape[shapes.of(ref.node, 1)].setdefault(ref.node, k)
    return [[*numbers.values()] for numbers in by_shape.values() if len(numbers) >= FEWEST]


def _remaining(packing: Packing, shapes: "Shapes", depth: int) -> list[list[Ref]]:
    """Values in no pack yet that are alike so many levels deep, the last first."""
    by_shape: dict[Hashable, list[Ref]] = defaultdict(list)
    for index in live(packing.program):
        if index not in packing.home and packing.nodes[index].op not in LEAVES:
            by_shape[shapes.of(index, depth)].append(Ref(index, False))
    return sorted((x for x in by_shape.values() if len(x) >= FEWEST), key=lambda x: -x[-1].node)


def groups(packing: Packing) -> dict[int, list[int]]:
    """The packs that are one loop, by the least of their numbers: those that read one another."""
    parent = {k: k for k in packing.packs}

    def root(k: int) -> int:
        while parent[k] != k:
            parent[k] = k = parent[parent[k]]
        return k

    for k, pack in packing.packs.items():
        for o in pack.operands:
            if isinstance(o, Local) and o.pack in parent:
                a, b = sorted((root(k), root(o.pack)))
                parent[b] = a
    by_root: dict[int, list[int]] = defaultdict(list)
    for k in packing.packs:
        by_root[root(k)].append(k)
    return by_root


class Shapes:
    """Shapes of values: the operations that they are made of, some levels deep."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.levels: dict[int, dict[Index, Hashable]] = {}

    def of(self, index: Index, depth: int) -> Hashable:
        """The shape of a value so many levels deep: a key that is the same for values whose
        operations are alike."""
        if depth not in self.levels:
            self.levels[depth] = self._level(depth)
        return self.levels[depth][index]

    def _level(self, depth: int) -> dict[Index, Hashable]:
        numbers: dict[Hashable, int] = {}
        nodes = self.program.nodes
        return {
            k: numbers.setdefault(
                (kind(nodes[k].op), *sorted(self._below(j, depth - 1) for j in operands(nodes[k]))),
                len(numbers),
            )
            for k in live(self.program)
        }

    def _below(self, index: Index, depth: int) -> str:
        node = self.program.nodes[index]
        if node.op in LEAVES or not depth:
            return kind(node.op)
        return str(self.of(index, depth))
