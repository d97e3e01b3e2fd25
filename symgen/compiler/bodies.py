"""The body of a loop of rolled code, what it does in each lane, as a tape of its own."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from symgen.compiler.packs import Packing
from symgen.compiler.program import Program
from symgen.compiler.rolled import MADE, READ, Loop
from symgen.compiler.rows import Local, Operand, Pack, Refs, plain, turned
from symgen.compiler.value import Value
from symgen.numbers.operations import OPS


class LoopBody:
    """The body of a loop, written on a tape of its own."""

    def __init__(self, packing: Packing, packs: Sequence[int], wanted: AbstractSet[int]) -> None:
        self.packing, self.packs, self.wanted = packing, packs, wanted
        self.reads = self._reads()
        self.program = Program()
        self.given = dict(
            zip(self.reads, self.program.input(READ, (len(self.reads),)), strict=True)
        )
        self.made: dict[int, Value] = {}

    def loop(self) -> Loop:
        """The loop."""
        packs = self.packing.packs
        for number in self.packs:
            self._make(number)
        written = [k for k in self.packs if k in self.wanted]
        results = [self.made[k] for k in written]
        self.program.output(MADE, (len(results),), results)
        count = len(packs[self.packs[0]].refs)
        makes = tuple(packs[k].refs for k in written)
        return Loop(count, self.program, tuple(self.reads), makes)

    def _rows(self, pack: Pack) -> Iterator[tuple[Operand, Refs]]:
        """The operands that are read, each with its row without the sign of the first."""
        for o in pack.operands:
            if not (isinstance(o, Local) and o.pack in self.packs):
                row = self.packing.row(o)
                yield o, plain(row)

    def _reads(self) -> list[Refs]:
        of = (self.packing.packs[k] for k in self.packs)
        rows = dict.fromkeys(row for pack in of for _, row in self._rows(pack))
        return [row for row in rows if not self._number(row)]

    def _number(self, row: Refs) -> float | None:
        """The constant that all lanes read."""
        node = self.packing.nodes[row[0].node]
        number: float | None = node.a if len(row) == 1 and node.op == "const" else None
        return number

    def _make(self, number: int) -> None:
        """A pack, after those that it reads."""
        if number not in self.made:
            pack = self.packing.packs[number]
            for o in pack.operands:
                if isinstance(o, Local) and o.pack in self.packs:
                    self._make(o.pack)
            self.made[number] = self._value(pack)

    def _value(self, pack: Pack) -> Value:
        values = [self._operand(o) for o in pack.operands]
        return self.program.value(OPS[pack.op](*values))

    def _operand(self, o: Operand) -> Value:
        if isinstance(o, Local) and o.pack in self.packs:
            value = self.made[o.pack]
            return -value if o.negative else value
        row = self.packing.row(o)
        known = plain(row)
        number = self._number(known)
        value = self.given[known] if number is None else self.program.value(number)
        return -value if turned(row) else value
