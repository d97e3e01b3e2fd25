"""Where rolled code keeps what its loops read and make: in a work array, or in outputs.

What a loop makes stands in a row, a value a lane, or where it belongs in the outputs; what it reads
is found by a first place and a step, or by a table of places where it lies otherwise. Rows that
are read together lie together, and room is used again."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from symgen.compiler.passes import flips
from symgen.compiler.program import LEAVES
from symgen.compiler.rolled import Loop, Rolled
from symgen.compiler.rows import NOTHING, Refs
from symgen.compiler.value import Index, Ref
from symgen.languages.partition import WORK
from symgen.languages.stretches import RowOf, Stretch, allocated, neighbours


class ArrayEntry(NamedTuple):
    """An entry of an array, and whether it holds the negative of the value."""

    array: str
    entry: int
    negative: bool


ARITHMETIC: Final = ("add", "sub", "mul", "div")
"""What can be computed with either sign; sines come as they are."""

MAKES, COPIES = "makes", "copies"
"""What a loop does with a row in the work array: it writes it, or values are copied there for
it."""

ZERO_ROW: Final[RowOf] = ("zero", 0, 0)
"""The entry that is zero for lanes that lack a term."""


@dataclass(frozen=True, slots=True)
class LaneRow:
    """Entries of an array, one a lane, which hold values or their negatives; or, where there is no
    `array`, numbers."""

    array: str
    places: tuple[int, ...]
    negative: bool = False
    numbers: tuple[float, ...] = ()

    @property
    def step(self) -> int | None:
        """How far the entries of neighbours lie apart, None where that differs."""
        steps = {b - a for a, b in zip(self.places, self.places[1:], strict=False)}
        return steps.pop() if len(steps) == 1 else None


@dataclass(frozen=True, slots=True)
class Pointer:
    """An entry of an output for each lane; each row of results that goes with it is some entries
    further."""

    arrays: tuple[str, ...]
    places: tuple[int, ...]
    rows: Mapping[int, tuple[int, bool]]
    """By number of a row its distance, and whether its negative is stored."""


class Places:
    """The places of a rolled program, in the work array from entry `first` on."""

    def __init__(self, rolled: Rolled, first: int = 0) -> None:
        self.rolled, self.program, self.first = rolled, rolled.program, first
        self.loops = {n: s for n, s in enumerate(rolled.steps) if isinstance(s, Loop)}
        single = {s for s in rolled.steps if not isinstance(s, Loop)}
        self.home: dict[Index, tuple[int, int]] = {}
        self.signs: dict[Index, bool] = {}
        for of, ref in self._made():
            if ref.node not in self.home and ref.node not in single and ref != NOTHING:
                self.home[ref.node], self.signs[ref.node] = of, ref.negative
        self.found = self._outputs()
        """Of what loops make or read, the place."""
        self.signs |= {node: at.negative for node, at in self.found.items()}
        self.starts: dict[RowOf, int] = {}
        """Of rows in the work array, the first place."""
        self.size = first
        """Entries of the work array."""
        self._allocate()

    def _made(self) -> Iterator[tuple[tuple[int, int], Ref]]:
        for number, loop in self.loops.items():
            for j, row in enumerate(loop.makes):
                yield from (((number, j), ref) for ref in row)

    def _read(self) -> Iterator[tuple[tuple[int, int], Refs]]:
        """The rows that are not the same value in all lanes."""
        for number, loop in self.loops.items():
            yield from (((number, j), row) for j, row in enumerate(loop.reads) if len(row) > 1)

    @cached_property
    def flipped(self) -> frozenset[Index]:
        """The nodes whose variable, or place, holds the negative."""
        signs = dict(self.signs)
        for _, row in self._read():
            turned = self._turned(row)
            for ref in row:
                if ref != NOTHING and self.program.nodes[ref.node].op in ARITHMETIC:
                    signs.setdefault(ref.node, ref.negative != turned)
        return frozenset(flips(self.program, tuple(signs.items())))

    def _turned(self, row: Refs) -> bool:
        """Whether what loops make of a row is made with the other sign."""
        of = (ref for ref in row if ref.node in self.home)
        return next((self.signs[ref.node] != ref.negative for ref in of), False)

    # -- outputs ----------------------------------------------------------------------------------

    @cached_property
    def entries(self) -> dict[Index, ArrayEntry]:
        """The first entry of an output that each node is."""
        first: dict[Index, ArrayEntry] = {}
        for out in self.program.outputs:
            for k, ref in enumerate(out.refs):
                if ref is not None:
                    first.setdefault(ref.node, ArrayEntry(out.name, k, ref.negative))
        return first

    @cached_property
    def pointers(self) -> dict[int, Pointer]:
        """The places of results that are outputs in all lanes, by loop."""
        pointers = {}
        for number, loop in self.loops.items():
            rows = {
                j: [self.entries[ref.node] for ref in row]
                for j, row in enumerate(loop.makes)
                if all(ref.node in self.entries for ref in row)
                and any(self.home.get(ref.node) == (number, j) for ref in row)
            }
            pointer = _pointer(loop, rows) if rows else None
            if pointer and pointer.rows:
                pointers[number] = pointer
        return pointers

    def _outputs(self) -> dict[Index, ArrayEntry]:
        """The places of results that loops write to outputs."""
        return {
            ref.node: self.entries[ref.node]
            for number, pointer in self.pointers.items()
            for j in pointer.rows
            for ref in self.loops[number].makes[j]
            if self.home.get(ref.node) == (number, j)
        }

    # -- the work array ---------------------------------------------------------------------------

    def copied(self, row: Refs) -> list[int]:
        """The lanes whose values must be copied to lie with those of the others: leaves beside
        values that are computed, signs that do not fit, what lies in another array."""
        nodes = {k: self.program.nodes[ref.node] for k, ref in enumerate(row) if ref != NOTHING}
        if all(node.op == "const" for node in nodes.values()):
            return []
        signs = {k: (row[k].node in self.flipped) != row[k].negative for k in nodes}
        arrays = {
            k: node.a
            if node.op == "input"
            else ""
            if node.op == "const"
            else self._array(row[k].node)
            for k, node in nodes.items()
        }
        kinds = {*arrays.values()}, {*signs.values()}
        if len(nodes) == len(row) and len(kinds[0]) == len(kinds[1]) == 1 and "" not in kinds[0]:
            return []
        likely = Counter(signs[k] for k in nodes if arrays[k] == WORK)
        sign = likely.most_common(1)[0][0] if likely else None
        return [k for k in nodes if arrays[k] != WORK or signs[k] != sign]

    def _array(self, node: Index) -> str:
        return self.found[node].array if node in self.found else WORK

    def _allocate(self) -> None:
        """Let all rows that are not in outputs, and what loops read beside them, have places."""
        rows = [
            Stretch(nodes, number, number, (((MAKES, number, j), 0),))
            for (number, j), nodes in self._unplaced()
        ]
        rows += [
            Stretch([None] * len(lanes), number - 1, number, (((COPIES, number, j), 0),))
            for (number, j), row in self._read()
            if (lanes := self.copied(row))
        ]
        if any(NOTHING in row for _, row in self._read()):
            rows.append(Stretch([None], -1, len(self.rolled.steps), ((ZERO_ROW, 0),)))
        allotted, size = allocated(neighbours(self.rolled, rows, list(self._wanted()), self.home))
        self.size += size
        for stretch, place in allotted:
            start = self.first + place
            self.starts |= {of: start + k for of, k in stretch.rows}
            for k, node in enumerate(stretch.nodes):
                if node is not None:
                    self.found[node] = ArrayEntry(WORK, start + k, node in self.flipped)

    def _unplaced(self) -> Iterator[tuple[tuple[int, int], list[Index | None]]]:
        """The rows that loops make in the work array, with the nodes that have their home there."""
        for number, loop in self.loops.items():
            for j, row in enumerate(loop.makes):
                if number not in self.pointers or j not in self.pointers[number].rows:
                    yield (number, j), self._at_home(row, (number, j))

    def _at_home(self, row: Refs, place: tuple[int, int]) -> list[Index | None]:
        """The node that is kept there, by lane: one that several lanes make, perhaps as its
        negative in some, is kept in the first of them."""
        first = {ref.node: k for k, ref in reversed([*enumerate(row)])}
        kept = (self.home.get(r.node) == place and first[r.node] == k for k, r in enumerate(row))
        return [r.node if at_home else None for r, at_home in zip(row, kept, strict=True)]

    def _wanted(self) -> Iterator[list[Index]]:
        """The rows that are read as they lie in the work array."""
        for _, row in self._read():
            lanes = self.copied(row)
            outside = [ref.node for k, ref in enumerate(row) if k not in lanes and ref != NOTHING]
            nodes = self.program.nodes
            yield [k for k in outside if nodes[k].op not in LEAVES and k not in self.found]

    def copies(self, number: int) -> Iterator[tuple[int, Ref]]:
        """Copies that a loop needs before it: places of the work array, and values, as the row has
        them where it is read."""
        for j, row in enumerate(self.loops[number].reads):
            start = self.starts.get((COPIES, number, j))
            if start is not None:
                minus = self.read(number, j).negative
                for place, k in enumerate(self.copied(row), start):
                    yield place, Ref(row[k].node, row[k].negative != minus)

    def read(self, number: int, j: int) -> LaneRow:
        """Where a row that a loop reads is."""
        row, start = self.loops[number].reads[j], self.starts.get((COPIES, number, j))
        lanes = [] if start is None else self.copied(row)
        kept = [ref for k, ref in enumerate(row) if k not in lanes and ref != NOTHING]
        first = self.program.nodes[kept[0].node] if kept else None
        if first and first.op == "const":
            return LaneRow("", (), numbers=tuple(map(self._number, row)))
        if first and first.op == "input":
            places = tuple(self.program.nodes[ref.node].b for ref in row)
            return LaneRow(first.a, places, kept[0].negative)
        places = tuple(
            (start or 0) + lanes.index(k) if k in lanes else self._place(ref)
            for k, ref in enumerate(row)
        )
        at = self.found[kept[0].node] if kept else ArrayEntry(WORK, 0, False)
        return LaneRow(at.array, places, bool(kept) and at.negative != kept[0].negative)

    def _place(self, ref: Ref) -> int:
        return self.starts[ZERO_ROW] if ref == NOTHING else self.found[ref.node].entry

    def _number(self, ref: Ref) -> float:
        """The number that a constant is, sign included."""
        if ref == NOTHING:
            return 0.0
        number: float = self.program.nodes[ref.node].a
        return -number if ref.negative else number

    @property
    def zero(self) -> int | None:
        """The place of a zero, if one is read."""
        return self.starts.get(ZERO_ROW)

    def made(self, number: int, j: int) -> LaneRow | None:
        """Where a row that a loop makes is in the work array, None if it is in outputs."""
        start, count = self.starts.get((MAKES, number, j)), self.loops[number].count
        return None if start is None else LaneRow(WORK, tuple(range(start, start + count)))


def _pointer(loop: Loop, rows: Mapping[int, Sequence[ArrayEntry]]) -> Pointer:
    """The pointer with which most rows go."""

    def going(base: int) -> dict[int, tuple[int, bool]]:
        along = {}
        for j, row in rows.items():
            pairs = zip(rows[base], row, strict=True)
            far = {(a.array == b.array, b.entry - a.entry) for a, b in pairs}
            turned = {e.negative != r.negative for e, r in zip(row, loop.makes[j], strict=True)}
            if len(far) == len(turned) == 1:
                (same, distance), (minus,) = *far, turned
                if same and distance >= 0:
                    along[j] = distance, minus
        return along

    best = max(rows, key=lambda j: (len(going(j)), -j))
    arrays, places, _ = zip(*rows[best], strict=True)
    return Pointer(arrays, places, going(best))
