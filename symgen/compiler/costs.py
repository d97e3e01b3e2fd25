"""The cost of a program on a processor, by a model of two numbers an operation.

A processor is busy with all operations (`work`), and none can start before its operands are there,
so that the longest chain of operations (`path`) takes its time however much is done beside it. The
larger of the two bounds the time from below, and predicts the order of what is measured where
counts alone mislead (docs/benchmarks/ideas.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from symgen.compiler.passes import cached_analysis, operation_counts
from symgen.compiler.program import Program
from symgen.numbers.operations import OPS


@dataclass(frozen=True, slots=True)
class Processor:
    """A kind of processor: `name` is that of its column in `symgen.numbers.operations.Op.cycles`,
    `description` a noun phrase for it."""

    name: str
    description: str

    def latency(self, op: str) -> float:
        """Cycles from the operands of an operation to its result."""
        return OPS[op].cycles[self.name][0]

    def busy(self, op: str) -> float:
        """Cycles that an operation keeps the processor from others."""
        return OPS[op].cycles[self.name][1]


HOST: Final = Processor(
    "host",
    "a current desktop processor (two additions or multiplications per cycle with a latency of 4 "
    "cycles, divisions of 13 cycles)",
)
CORTEX_M: Final = Processor(
    "cortex-m",
    "an in-order Cortex-M with a floating-point unit (one addition or multiplication per cycle, "
    "divisions of 14 cycles, sines of 30 cycles)",
)
MACHINES: Final = {row.name: row for row in (HOST, CORTEX_M)}


@dataclass(frozen=True, slots=True)
class Cost:
    """Cycles of a program."""

    work: float
    """Cycles of all operations, one after the other as fast as the processor takes them."""
    path: float
    """Cycles of the longest chain of operations."""

    @property
    def cycles(self) -> float:
        """The cycles that the program takes at least."""
        return max(self.work, self.path)


class Arrivals:
    """When the value of each node of a tape is there, in cycles from the start."""

    def __init__(self, program: Program, machine: Processor) -> None:
        self.program = program
        self.latency = {name: op.cycles[machine.name][0] for name, op in OPS.items()}
        self.times: list[float] = []

    def so_far(self) -> Sequence[float]:
        """The times of all nodes that the tape has by now."""
        times, latency = self.times, self.latency
        for op, a, b in self.program.nodes[len(times) :]:
            if op not in latency:
                times.append(0.0)
            elif b is None or times[a] >= times[b]:
                times.append(latency[op] + times[a])
            else:
                times.append(latency[op] + times[b])
        return times


@cached_analysis
def cost(program: Program, machine: Processor) -> Cost:
    """The cost of a program's outputs."""
    ready = Arrivals(program, machine).so_far()
    ends = (ready[ref.node] for out in program.outputs for ref in out.refs if ref is not None)
    work = sum(times * machine.busy(op) for op, times in operation_counts(program).items())
    return Cost(work, max(ends, default=0.0))
