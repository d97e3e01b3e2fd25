"""Values of a tape that the same operations compute, side by side: what may be a loop.

A pack is a row of nodes, a lane each, that one operation makes of operands that are packs again,
the same value in all lanes, or rows of values that come from anywhere (slots). Packs are found from
their results inward: as long as the operations of all lanes agree, a row of operands is a pack, too
(anti-unification; Plotkin, A note on inductive generalization, 1970). Signs, which a tape pulls
out of products and differences, are given back to operands so that all lanes agree. Nothing is
computed otherwise than on the tape: same operations, same order, same bits."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from symgen.compiler.likeness import FREE, SUMS, Likeness, kind
from symgen.compiler.passes import pivots
from symgen.compiler.program import LEAVES, Program
from symgen.compiler.rows import (
    NOTHING,
    Local,
    Nodes,
    Operand,
    Pack,
    Refs,
    Same,
    Slot,
    needs,
    nodes_of,
    plain,
    signed,
    turned,
)
from symgen.compiler.signs import given_back
from symgen.compiler.value import Index, Ref
from symgen.numbers.operations import OPS

ALONE = frozenset((*LEAVES, "sin", "cos"))
"""What is in no pack: leaves, and sines, which languages take together by themselves."""


PARTED: Final = 0.7
"""What remains of the gain where loops hand on values to others, as lanes need one another."""

IDLE: Final = 0.5
"""What an operation that a lane does not need costs, as a part of one that is saved."""


PATIENCE: Final = 400_000
"""Values that are looked at, those of a row together; then what has been found has to do."""

HOPE: Final = 100_000
"""Values that are looked at since a pack was last kept: what is alike shows early."""


class Packing:
    """The packs of a tape as they are found. Each node has its home in one pack at most."""

    def __init__(self, program: Program) -> None:
        self.program, self.nodes = program, program.nodes
        self.packs: dict[int, Pack] = {}
        self.home: dict[Index, tuple[int, int]] = {}
        self.numbers: dict[Nodes, int] = {}
        self.signed: dict[int, Refs] = {}
        self.like = Likeness(program, self.home)
        self.next = self.seen = self.hoped = 0
        self.needs = needs(program)
        self.judged = frozenset(ref.node for ref in pivots(program))

    def found(self, refs: Refs) -> Operand:
        """The pack of a row of values: a pack if it can be, which is made with all below it."""
        nodes = nodes_of(refs)
        if len(set(refs)) == 1:
            return Same(refs[0])
        if nodes in self.numbers:
            return self._known(refs, self.numbers[nodes])
        of = self._kind(nodes)
        busy = [n for n in nodes if of and self._does(of, n)]
        if of is None or self.spent or not self._free(busy, len(nodes)):
            return Slot(refs)
        start = self.next
        pack = self._new_operand(refs, of)
        if len(busy) < len(nodes) and isinstance(pack, Local) and self.saved(start) <= 0.0:
            self.undo(start)
            return Slot(refs)
        return pack

    def _kind(self, nodes: Nodes) -> str | None:
        """The kind of operation that a row is: that of all lanes but those of zeros, or a sum,
        which in lanes with one term has a zero for the other."""
        kinds = Counter(kind(self.nodes[n].op) for n in nodes if n != NOTHING.node)
        of = "sum" if kinds["sum"] else next(iter(kinds))
        alone = len(+kinds) == 1 or of == "sum"
        return of if alone and of not in ALONE and 2 * kinds[of] >= len(nodes) else None

    def _does(self, of: str, node: Index) -> bool:
        return node != NOTHING.node and kind(self.nodes[node].op) == of

    def _known(self, refs: Refs, number: int) -> Operand:
        """A pack that is there, where the signs are its own or all turned."""
        signs = {
            a.negative != b.negative
            for a, b in zip(refs, self.packs[number].refs, strict=True)
            if a.node != NOTHING.node
        }
        return Local(number, signs.pop()) if len(signs) == 1 else Slot(refs)

    def _free(self, busy: Sequence[Index], count: int) -> bool:
        """Whether enough lanes are computed nowhere else, and none needs another."""
        if not self.judged.isdisjoint(busy) or 2 * len(self._new(busy)) < max(count, 3):
            return False
        row = sum(1 << n for n in set(busy))
        return all(not (self.needs[n] & row & ~(1 << n)) for n in set(busy))

    def _new(self, nodes: Sequence[Index]) -> set[Index]:
        return {n for n in nodes if n not in self.home}

    @property
    def tired(self) -> bool:
        """Whether it has been looked for long enough."""
        return self.spent or self.seen > self.hoped + HOPE

    @property
    def spent(self) -> bool:
        """Whether nothing more is looked at."""
        return self.seen > PATIENCE

    def _new_operand(self, refs: Refs, of: str) -> Operand:
        self.seen += len(refs)
        rows = plain(refs)
        columns = self._columns(of, rows)
        if columns is None:
            return Slot(refs)
        number, self.next = self.next, self.next + 1
        op = "add" if of == "sum" else of
        self.packs[number] = Pack(rows, op, ())
        self.numbers[nodes_of(refs)], self.signed[number] = number, rows
        for lane, ref in enumerate(refs):
            if self._does(of, ref.node):
                self.home.setdefault(ref.node, (number, lane))
        self.packs[number] = Pack(rows, op, tuple(map(self.found, columns)))
        return Local(number, turned(refs))

    def _columns(self, of: str, refs: Refs) -> list[Refs] | None:
        """The rows of operands, None where signs or zeros do not fit."""
        rows = [self._operands(of, ref) if self._does(of, ref.node) else None for ref in refs]
        base = next(k for k, row in enumerate(rows) if row)
        if of in FREE:
            for k, row in enumerate(rows):
                if (
                    row
                    and k > base
                    and self._fit(rows, base, k, row[::-1]) > self._fit(rows, base, k, row)
                ):
                    rows[k] = row[::-1]
        full = [row for row in rows if row]
        columns = [list(column) for column in zip(*full, strict=True)]
        filled = [
            row or self._fill(of, ref, columns, rows[base] or [])
            for ref, row in zip(refs, rows, strict=True)
        ]
        complete = [row for row in filled if row]
        if len(complete) < len(refs):
            return None
        operands = [tuple(column) for column in zip(*complete, strict=True)]
        signs = [ref.negative for ref in refs]
        if not any(signs) or of in ("sum", "div"):
            return operands
        if of == "mul":
            return given_back(operands, signs, self._bears)
        return operands if OPS[of].parity == "odd" else None

    def _fill(
        self, of: str, ref: Ref, columns: Sequence[Sequence[Ref]], base: Sequence[Ref]
    ) -> list[Ref] | None:
        """The operands of a lane that has no such operation: of a sum one term, of a product or
        quotient a zero beside what is the same in all other lanes."""
        if of == "sum":
            likes = [self.like.of(ref.node, b.node) if ref.node >= 0 else 0.0 for b in base]
            first = likes[0] >= likes[1]
            return [ref, NOTHING] if first else [NOTHING, ref]
        shared = [column[0] if len(set(column)) == 1 else NOTHING for column in columns]
        if of == "mul":
            return [NOTHING, shared[1]] if shared[1] != NOTHING else [shared[0], NOTHING]
        return [NOTHING, shared[1]] if of == "div" and shared[1] != NOTHING else None

    def _operands(self, of: str, ref: Ref) -> list[Ref]:
        node, negative = self.nodes[ref.node], ref.negative
        if node.op in SUMS:
            return [Ref(node.a, negative), Ref(node.b, negative != (node.op == "sub"))]
        if of == "mul":
            return [Ref(node.a, False), Ref(node.b, False)]
        if of == "div":
            return [Ref(node.a, negative), Ref(node.b, False)]
        return [Ref(node.a, negative and OPS[of].parity == "odd")]

    def _fit(
        self, rows: Sequence[Sequence[Ref] | None], base: int, k: int, row: Sequence[Ref]
    ) -> float:
        """How well the operands of lane k go with those of the first lane and the one before."""
        return sum(
            self.like.of(a.node, b.node) + (a == b) + 0.05 * (a.negative == b.negative)
            for other in {base, k - 1}
            for a, b in zip(rows[other] or (), row, strict=False)
        )

    def _bears(self, column: Refs, signs: Sequence[bool]) -> int:
        """How easily a row of factors takes signs: a pack that has them already best, the same
        value for all lanes not at all."""
        nodes = nodes_of(column)
        if len(set(nodes)) == 1:
            return 0
        if nodes in self.numbers:
            of = self.packs[self.numbers[nodes]].refs
            pairs = zip(of, column, signs, strict=True)
            fits = {a.negative != s for a, b, s in pairs if b.node != NOTHING.node}
            return 4 if len(fits) == 1 else 0
        if any(n in self.home for n in nodes):
            return 0
        kinds = {kind(self.nodes[n].op) for n in nodes if n != NOTHING.node}
        return 3 if kinds == {"sum"} else 2 if len(kinds) > 1 or kinds & {*LEAVES} else 1

    def row(self, o: Operand) -> Refs:
        """The values that an operand is, by lane; one where it is the same in all."""
        if isinstance(o, Same):
            return (o.ref,)
        if isinstance(o, Slot):
            return o.refs
        return tuple(signed(ref, o.negative) for ref in self.signed[o.pack])

    # -- trials ---------------------------------------------------------------------------------

    def tried(self, lanes: Sequence[Sequence[Ref | None]]) -> float:
        """How many operations would be saved, if rows of `lanes` were looked for."""
        start = self.next
        self.rows(lanes)
        late = self._late(start)
        early = [k for k in range(start, self.next) if k not in late]
        saved = max(self._saved(late), self._saved(early))
        self.undo(start)
        return saved if not late else PARTED * saved

    def saved(self, start: int) -> float:
        """How many operations of code the packs from `start` on save, less those that lanes do for
        nothing."""
        return self._saved(range(start, self.next))

    def _saved(self, numbers: Iterable[int]) -> float:
        return sum(self._busy(k) - 1 - IDLE * self._idle(k) for k in numbers)

    def _busy(self, number: int) -> int:
        """How many lanes of a pack are the home of what they compute."""
        return sum(self.home.get(n, (-1,))[0] == number for n in self.packs[number].nodes)

    def _idle(self, number: int) -> int:
        return len(self.packs[number].refs) - self._busy(number)

    def _late(self, start: int) -> set[int]:
        """The packs from `start` on that need other lanes of some of them, so that they are another
        loop."""
        numbers = range(start, self.next)
        row, late = self.homes(numbers), set[int]()
        for k in reversed(numbers):  # what a pack reads was found after it
            for o in self.packs[k].operands:
                if isinstance(o, Local):
                    late |= {k} if o.pack in late else set()
                elif any(self.needs.get(ref.node, 0) & row for ref in self.row(o)):
                    late.add(k)
        return late

    def homes(self, numbers: Iterable[int]) -> int:
        """The nodes that some packs are the home of, as bits."""
        row = 0
        for number in numbers:
            for node in self.packs[number].nodes:
                if self.home.get(node, (-1,))[0] == number:
                    row |= 1 << node
        return row

    def rows(self, lanes: Sequence[Sequence[Ref | None]]) -> list[Operand]:
        """Lanes of results by lane, side by side; structural zeros stand in all lanes at once."""
        rows = zip(*lanes, strict=True)
        return [
            self.found(tuple(NOTHING if ref is None else ref for ref in row))
            for row in rows
            if any(ref is not None for ref in row)
        ]

    def undo(self, start: int) -> None:
        """Forget the packs from `start` on."""
        for number in range(start, self.next):
            self.drop(number)
        self.next = start

    def drop(self, number: int) -> None:
        """Forget a pack."""
        pack = self.packs.pop(number, None)
        if pack is not None:
            del self.numbers[pack.nodes]
            for node in pack.nodes:
                if self.home.get(node, (-1,))[0] == number:
                    del self.home[node]
