"""From packs to loops: which packs are one loop, and in what order all is done.

Packs that read one another are one loop as long as nothing between them waits for one of its
lanes; else it is done in several. Whatever is read by others is kept in rows, a value a lane."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Final

from symgen.compiler.bodies import LoopBody
from symgen.compiler.lanes import LOOP, READ_LANE, ROW, STEP, WRITE_LANE, groups, packed
from symgen.compiler.packs import Packing
from symgen.compiler.passes import counts, live, operands, remembered
from symgen.compiler.program import LEAVES, Program
from symgen.compiler.rolled import Loop, Rolled
from symgen.compiler.rows import Local, Operand
from symgen.compiler.value import Index

Unit = tuple[str, int]
"""What is done at once: ``("node", index)``, or ``("pack", number)`` in all lanes."""

NODE, PACK = "node", "pack"

DOUBT: Final = 0.05
"""A part of a function's bytes: straight code stays where loops are not expected to save more. What
they do to the code around them is not in the estimate (docs/benchmarks/ideas.md)."""


def worth(step: Loop) -> float:
    """Bytes of code that a loop saves."""
    rows = [len(row) for row in step.reads]
    read = sum(ROW + READ_LANE * n * (n > 1) for n in rows)
    saved = STEP * (step.count - 1) * counts(step.body).total
    return saved - LOOP - read - WRITE_LANE * step.count * len(step.makes)


def straight(program: Program) -> tuple[Index, ...]:
    """The steps of a program without loops."""
    return tuple(k for k in live(program) if program.nodes[k].op not in LEAVES)


def _pays(program: Program, steps: Sequence[Index | Loop]) -> bool:
    """Whether loops save more than what an estimate of bytes may be off."""
    saved = sum(worth(step) for step in steps if isinstance(step, Loop))
    return saved >= DOUBT * STEP * counts(program).total


@remembered
def rolled(program: Program) -> Rolled:
    """A program with loops, where they save code."""
    packing = packed(program)
    while True:
        order = Order(packing)
        steps = list(order.steps())
        if order.left:
            packing.drop(order.stuck())
            continue
        steps = order.sunk(steps)
        loops = _loops(packing, steps)
        poor = [
            packs
            for step, packs in zip(loops, steps, strict=True)
            if isinstance(step, Loop) and isinstance(packs, list) and worth(step) <= 0.0
        ]
        if not poor:
            steps_of = loops if _pays(program, loops) else straight(program)
            return Rolled(program, steps_of, packing.tired)
        for number in (k for packs in poor for k in packs):
            packing.drop(number)


class Order:
    """Units in an order in which each comes after those that it needs, the packs of a loop together
    as far as they can be."""

    def __init__(self, packing: Packing) -> None:
        self.packing = packing
        self.group = {k: root for root, members in groups(packing).items() for k in members}
        self.outside = dict[int, set[Unit]]()
        self.reads = dict[int, int]()
        """By pack what it needs of other lanes and from elsewhere, as bits."""
        self.needs = self._needs()
        self.readers = defaultdict[Unit, list[Unit]](list)
        for unit, needed in self.needs.items():
            for other in needed:
                self.readers[other].append(unit)
        self.missing = {unit: len(needed) for unit, needed in self.needs.items()}
        self.left = set(self.needs)
        self.nodes = list[Index]()
        self.packs = defaultdict[int, list[int]](list)

    def unit(self, index: Index) -> Unit:
        """The unit that computes a node."""
        home = self.packing.home.get(index)
        return (NODE, index) if home is None else (PACK, home[0])

    def _needs(self) -> dict[Unit, set[Unit]]:
        nodes, needed = self.packing.nodes, dict[Unit, set[Unit]]()
        for index in live(self.packing.program):
            if nodes[index].op not in LEAVES and index not in self.packing.home:
                needed[NODE, index] = set(self._units(operands(nodes[index])))
        for number, pack in self.packing.packs.items():
            outside = [k for o in pack.operands for k in _outside(self.packing, o)]
            of = (o.pack for o in pack.operands if isinstance(o, Local))
            inside = {(PACK, k) for k in of if k in self.packing.packs}
            self.outside[number] = set(self._units(outside))
            self.reads[number] = self._bits(outside)
            needed[PACK, number] = self.outside[number] | inside
        return needed

    def _bits(self, nodes: Sequence[Index]) -> int:
        bits = 0
        for node in {*nodes}:
            bits |= self.packing.needs.get(node, 0)
        return bits

    def _units(self, nodes: Sequence[Index]) -> Iterator[Unit]:
        of = self.packing.nodes
        return (self.unit(k) for k in nodes if k >= 0 and of[k].op not in LEAVES)

    def steps(self) -> Iterator[Index | list[int]]:
        """Nodes by themselves, and the packs of a loop."""
        for unit in sorted(self.left):
            if not self.missing[unit]:
                self._ready(unit)
        while self.nodes or self.packs:
            if self.nodes:
                index = heappop(self.nodes)
                self._done((NODE, index))
                yield index
            else:
                yield self._loop(self._next())

    def _ready(self, unit: Unit) -> None:
        of, number = unit
        if of == NODE:
            heappush(self.nodes, number)
        else:
            self.packs[self.group[number]].append(number)

    def _done(self, unit: Unit) -> None:
        self.left.discard(unit)
        for reader in self.readers[unit]:
            self.missing[reader] -= 1
            if not self.missing[reader]:
                self._ready(reader)

    def _next(self) -> int:
        """A loop that can be done as a whole; else one whose rest waits for what it does itself,
        and of these the one with the least rest."""
        open_packs = defaultdict[int, set[int]](set)
        for of, k in self.left:
            if of == PACK:
                open_packs[self.group[k]].add(k)
        reach = {group: self._reach(group) for group in sorted(self.packs)}
        rests = {group: open_packs[group] - reached for group, reached in reach.items()}
        if complete := [group for group, rest in rests.items() if not rest]:
            return complete[0]
        split = [group for group, reached in reach.items() if self._waits(rests[group], reached)]
        return min(split or rests, key=lambda group: (len(rests[group]), group))

    def _waits(self, rest: set[int], reached: set[int]) -> bool:
        """Whether the rest of a loop needs what is done of it, not lane by lane."""
        done = self.packing.homes(reached)
        return any(self.reads[k] & done for k in rest)

    def _reach(self, group: int) -> set[int]:
        """The packs of a loop that need nothing but one another, lane by lane, and what is
        there."""
        reached, waiting = set(self.packs[group]), Counter[int]()
        stack = [*reached]
        while stack:
            last = stack.pop()
            for of, reader in self.readers[PACK, last]:
                if of == PACK and self.group[reader] == group:
                    waiting[reader] += (PACK, last) not in self.outside[reader]
                    if waiting[reader] == self.missing[PACK, reader]:
                        reached.add(reader)
                        stack.append(reader)
        return reached

    def _loop(self, group: int) -> list[int]:
        taken = list[int]()
        while joining := sorted(k for k in self.packs[group] if self._joins(k, taken)):
            self.packs[group] = [k for k in self.packs[group] if k not in joining]
            taken += joining
            for number in joining:
                self._done((PACK, number))
        if not self.packs[group]:
            del self.packs[group]
        return taken

    def _joins(self, number: int, taken: Sequence[int]) -> bool:
        """Whether a pack needs no other lanes of those taken."""
        return self.outside[number].isdisjoint((PACK, k) for k in taken)

    def sunk(self, steps: Sequence[Index | list[int]]) -> list[Index | list[int]]:
        """The same with packs that only a later part of their loop reads in that part."""
        at = {unit: n for n, step in enumerate(steps) for unit in self._units_in(step)}
        for number in sorted((k for of, k in at if of == PACK), key=lambda k: -at[PACK, k]):
            readers = self.readers[PACK, number]
            first = min((at[unit] for unit in readers), default=-1)
            first_readers = [unit for unit in readers if at[unit] == first]
            if first >= 0 and all(self._joined(number, unit) for unit in first_readers):
                at[PACK, number] = first
        loops = {n: list[int]() for n, step in enumerate(steps) if isinstance(step, list)}
        for step in (step for step in steps if isinstance(step, list)):
            for number in step:
                loops[at[PACK, number]].append(number)
        return [x for n, step in enumerate(steps) if (x := loops.get(n, step)) or x == 0]

    def _units_in(self, step: Index | list[int]) -> list[Unit]:
        return [(PACK, k) for k in step] if isinstance(step, list) else [(NODE, step)]

    def _joined(self, number: int, reader: Unit) -> bool:
        """Whether a unit is a pack of the same loop that reads a pack lane by lane."""
        of, k = reader
        return (
            of == PACK
            and self.group[k] == self.group[number]
            and (PACK, number) not in self.outside[k]
        )

    def stuck(self) -> int:
        """The last pack that waits for itself in the end."""
        remaining = set(self.left)
        while ends := {unit for unit in remaining if remaining.isdisjoint(self.readers[unit])}:
            remaining -= ends
        return max(number for of, number in remaining if of == PACK)


def _within(packing: Packing, o: Operand) -> bool:
    return isinstance(o, Local) and o.pack in packing.packs


def _loops(packing: Packing, steps: Sequence[Index | list[int]]) -> tuple[Index | Loop, ...]:
    """The steps with loops made of packs."""
    at = {k: n for n, step in enumerate(steps) if isinstance(step, list) for k in step}
    wanted = _wanted(packing, at)
    return tuple(
        LoopBody(packing, step, wanted).loop() if isinstance(step, list) else step for step in steps
    )


def _wanted(packing: Packing, at: Mapping[int, int]) -> set[int]:
    """The packs that anything outside of their loop reads."""
    program, home, wanted = packing.program, packing.home, set[int]()
    for out in program.outputs:
        wanted |= {home[ref.node][0] for ref in out.refs if ref and ref.node in home}
    for index in live(program):
        if index not in home:
            wanted |= {home[k][0] for k in operands(program.nodes[index]) if k in home}
    for number, pack in packing.packs.items():
        for o in pack.operands:
            if isinstance(o, Local) and o.pack in at and at[o.pack] != at[number]:
                wanted.add(o.pack)
            else:
                wanted |= {home[k][0] for k in _outside(packing, o) if k in home}
    return wanted


def _outside(packing: Packing, o: Operand) -> list[Index]:
    """The nodes that an operand is, where it is no pack."""
    return [] if _within(packing, o) else [ref.node for ref in packing.row(o)]
