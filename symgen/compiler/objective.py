"""Aims of a program, and the choice among programs that compute the same.

By operations, the fewest win: that counts are what they are is guarded by tests; for a processor
in order they count as long as it is busy with them, a sine as thirty products. By latency, the
model of `symgen.compiler.costs` tells which result is there first; sums are regrouped where that
pays (`symgen.compiler.sums`). By size, what takes least memory for code and numbers."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from symgen.compiler.costs import HOST, Processor, cost
from symgen.compiler.passes import counts, live_nodes
from symgen.compiler.program import Program
from symgen.compiler.sums import balanced

OBJECTIVES: Final = ("operations", "latency", "size")

MAX_OPERATIONS_RATIO: Final = 1.1
"""Times the fewest operations, what a program may have that is chosen for something else."""

MAX_PRICE_RATIO: Final = 0.99
"""Sums are regrouped where what remains of the price is at most this part."""

OVERLAP_PENALTY: Final = 0.25
"""What the smaller of work and path adds to the larger, a part: processors look ahead so far only.
With it the model has the order of what was measured for long functions too (forward dynamics of a
Panda: 1,404 operations and a path of 262 cycles in 191 ns, 1,369 and 491 in 203)."""

BYTES_OF: Final = {"operation": 4, "entry": 4, "number": 8}
"""Bytes of code, about: an instruction for each operation; a number is loaded, and is stored
somewhere."""

Candidate = TypeVar("Candidate")


@dataclass(frozen=True, slots=True)
class Objective:
    """An aim that programs are chosen by, one of `AIMS`, and the processor that they are meant
    for."""

    name: str = "operations"
    machine: Processor = HOST

    def price(self, program: Program) -> float:
        """The less, the better."""
        if self.name == "latency":
            estimate = cost(program, self.machine)
            return estimate.cycles + OVERLAP_PENALTY * min(estimate.work, estimate.path)
        if self.name == "size":
            return float(_bytes(program))
        return (
            float(counts(program).total)
            if self.machine is HOST
            else cost(program, self.machine).work
        )

    def shaped(self, program: Program) -> Program:
        """The program itself, or what a pass makes of it where that is better for this aim."""
        if self.name != "latency":
            return program
        rebalanced = balanced(program, self.machine)
        return (
            rebalanced
            if self.price(rebalanced) <= MAX_PRICE_RATIO * self.price(program)
            else program
        )

    def best(
        self,
        candidates: Iterable[Candidate],
        programs: Callable[[Candidate], Iterable[Program]],
    ) -> Candidate:
        """The cheapest of some candidates, each with its programs; the first of several. Only those
        are kept on the way that may still be it."""
        contenders = list[tuple[float, int, int, Candidate]]()
        for number, candidate in enumerate(candidates):
            tapes = [*programs(candidate)]
            total = sum(counts(program).total for program in tapes)
            price = sum(map(self.price, tapes))
            contenders.append((price, total, number, candidate))
            few = MAX_OPERATIONS_RATIO * min(row[1] for row in contenders)
            contenders = [
                x for x in contenders if x[1] <= few and not any(_beats(y, x) for y in contenders)
            ]
        return min(contenders, key=lambda row: row[:3])[3]


def _beats(a: tuple[float, int, int, Candidate], b: tuple[float, int, int, Candidate]) -> bool:
    """Whether the first is no worse in anything and better in something, or came earlier."""
    return a[0] <= b[0] and a[1] <= b[1] and a[:3] < b[:3]


def _bytes(program: Program) -> int:
    nodes = [program.nodes[k].op for k in live_nodes(program)]
    stored = sum(len(out.refs) for out in program.outputs)
    operations = sum(op not in ("input", "const") for op in nodes)
    entries = stored + nodes.count("input")
    return (
        BYTES_OF["operation"] * operations
        + BYTES_OF["entry"] * entries
        + BYTES_OF["number"] * nodes.count("const")
    )
