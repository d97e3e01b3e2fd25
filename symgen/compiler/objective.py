"""Objectives, and the choice among programs that compute the same.

By operations, the program with the fewest operations is chosen, and for an in-order processor the
one that keeps it busy for the fewest cycles. By latency, a model of two numbers an operation
estimates the time: a processor is busy with all operations (`Cost.work`), and none can start before
its operands are there, so that the longest chain of operations (`Cost.path`) takes its time however
much is computed beside it. The larger of the two bounds the time from below, and predicts the order
of what is measured where counts alone mislead (docs/benchmarks/ideas.md); sums are regrouped where
that pays (`balance_sums`). By size, the program with the least memory for code and
numbers is chosen.

An algorithm adds up as its recursion goes, one term after the other, and each sum waits for the one
before it. Where nothing else reads the sums on the way, their order is free: `balance_sums` adds
terms in pairs, those that are ready first, so that the result is ready as early as it can be. That
takes as many operations as before and rounds otherwise, so it is a pass with a name, which a
program never does by itself."""

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, TypeVar

from symgen.compiler.passes import cached_analysis, counts, live_nodes, operation_counts, use_counts
from symgen.compiler.program import Index, Program, Value
from symgen.compiler.transforms import ProgramCopy
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


class ArrivalTimes:
    """The time at which the value of each node is known, in cycles from the start."""

    def __init__(self, program: Program, machine: Processor) -> None:
        self.program = program
        self.latency = {name: op.cycles[machine.name][0] for name, op in OPS.items()}
        self.times: list[float] = []

    def arrival_times(self) -> Sequence[float]:
        """The times of all nodes that the program has so far."""
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
    ready = ArrivalTimes(program, machine).arrival_times()
    output_times = (
        ready[ref.node] for out in program.outputs for ref in out.refs if ref is not None
    )
    work = sum(times * machine.busy(op) for op, times in operation_counts(program).items())
    return Cost(work, max(output_times, default=0.0))


ADDITIVE_OPS: Final = ("add", "sub")


def balance_sums(program: Program, machine: Processor) -> Program:
    """A program that computes the same on another tape, its sums regrouped wherever one is ready
    earlier on `machine` for it."""
    rebalanced = Program()
    inputs = {name: rebalanced.input(name, shape) for name, shape in program.inputs}
    copy = _BalancedCopy(program, rebalanced, inputs, machine)
    values = copy.outputs()
    rebalanced.restart_point = copy.restart_point
    for out in program.outputs:
        rebalanced.output(out.name, out.shape, values[out.name])
    return rebalanced


class _BalancedCopy(ProgramCopy):
    """A copy in which sums are added in pairs."""

    def __init__(
        self,
        source: Program,
        target: Program,
        inputs: Mapping[str, Sequence[Value]],
        machine: Processor,
    ) -> None:
        super().__init__(source, target, inputs)
        self.partial_sums, self.tree_roots = _sum_trees(source)
        self.arrivals = ArrivalTimes(target, machine)
        self.addition_latency = machine.latency("add")

    def nodes_to_copy(self) -> Iterable[Index]:
        """All but sums on the way."""
        return (index for index in live_nodes(self.source) if index not in self.partial_sums)

    def node(self, index: Index) -> Value:
        """A sum in the order in which it is known first; other nodes unchanged."""
        return self._sum(index) if index in self.tree_roots else super().node(index)

    def _sum(self, index: Index) -> Value:
        terms: list[Value] = []
        ready = self.arrivals.arrival_times()
        in_order = self._collect_terms(index, False, terms, ready)
        times = [ready[x.node] for x in terms]
        if _balanced_arrival(times, self.addition_latency) >= in_order:
            return self._in_order(index)
        heap = [(time, k) for k, time in enumerate(times)]
        heapq.heapify(heap)
        while len(heap) > 1:
            (_, a), (time, b) = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (time + self.addition_latency, len(terms)))
            terms.append(self.target.value(terms[a] + terms[b]))
        return terms[-1]

    def _collect_terms(
        self, index: Index, negative: bool, terms: list[Value], ready: Sequence[float]
    ) -> float:
        """Add the terms of a sum to `terms`, in the order of the tape, each with its sign. Returns
        the time at which the sum is ready as it stands."""
        op, a, b = self.source.nodes[index]
        latest = 0.0
        for k, minus in ((a, negative), (b, negative != (op == "sub"))):
            if k in self.partial_sums:
                time = self._collect_terms(k, minus, terms, ready)
            else:
                terms.append(self.signed(k, minus))
                time = ready[terms[-1].node]
            latest = max(latest, time)
        return latest + self.addition_latency

    def _in_order(self, index: Index) -> Value:
        """A sum as it stands."""
        op, *read = self.source.nodes[index]
        a, b = (self._in_order(k) if k in self.partial_sums else self.value_map[k] for k in read)
        return self.target.value(a - b if op == "sub" else a + b)


def _sum_trees(program: Program) -> tuple[AbstractSet[Index], AbstractSet[Index]]:
    """Sums that only one other sum reads, and those of more than two terms that add them up: of
    two, one order is as good as the other."""
    nodes, times = program.nodes, use_counts(program)
    sums = {i: (nodes[i].a, nodes[i].b) for i in live_nodes(program) if nodes[i].op in ADDITIVE_OPS}
    read = (k for operands in sums.values() for k in operands if k in sums)
    partial_sums = {k for k in read if times[k] == 1 and k not in program.positive_signs}
    tree_roots = {
        i
        for i, (a, b) in sums.items()
        if i not in partial_sums and (a in partial_sums or b in partial_sums)
    }
    return partial_sums, tree_roots


def _balanced_arrival(times: list[float], step: float) -> float:
    """The time at which a sum of terms that are known at `times` is known, earliest pairs first."""
    heap = [*times]
    heapq.heapify(heap)
    while len(heap) > 1:
        heapq.heappop(heap)
        heapq.heapreplace(heap, heap[0] + step)
    return heap[0]


OBJECTIVES: Final = ("operations", "latency", "size")

MAX_OPERATIONS_RATIO: Final = 1.1
"""Maximum operations of a chosen program, as a multiple of the fewest operations."""

MAX_PRICE_RATIO: Final = 0.99
"""Sums are regrouped if the price is at most this part of the price without regrouping."""

OVERLAP_PENALTY: Final = 0.25
"""What the smaller of work and path adds to the larger, a part: processors look ahead so far only.
With it the model has the order of what was measured for long functions too (forward dynamics of a
Panda: 1,404 operations and a path of 262 cycles in 191 ns, 1,369 and 491 in 203)."""

CODE_BYTES: Final = {"operation": 4, "entry": 4, "number": 8}
"""Bytes of code, about: an instruction for each operation; a number is loaded, and is stored
somewhere."""

Candidate = TypeVar("Candidate")


@dataclass(frozen=True, slots=True)
class Objective:
    """An objective of the choice between programs, one of `OBJECTIVES`, and their processor."""

    name: str = "operations"
    machine: Processor = HOST

    def price(self, program: Program) -> float:
        """The value that the chosen program minimises."""
        if self.name == "latency":
            estimate = cost(program, self.machine)
            return estimate.cycles + OVERLAP_PENALTY * min(estimate.work, estimate.path)
        if self.name == "size":
            return float(_code_bytes(program))
        return (
            float(counts(program).total)
            if self.machine is HOST
            else cost(program, self.machine).work
        )

    def rebalanced(self, program: Program) -> Program:
        """The program with regrouped sums if that lowers the price, else the program itself."""
        if self.name != "latency":
            return program
        rebalanced = balance_sums(program, self.machine)
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
            traced_programs = [*programs(candidate)]
            total = sum(counts(program).total for program in traced_programs)
            price = sum(map(self.price, traced_programs))
            contenders.append((price, total, number, candidate))
            max_operations = MAX_OPERATIONS_RATIO * min(row[1] for row in contenders)
            contenders = [  # no worse in anything and better in something, or earlier
                x
                for x in contenders
                if x[1] <= max_operations
                and not any(y[0] <= x[0] and y[1] <= x[1] and y[:3] < x[:3] for y in contenders)
            ]
        return min(contenders, key=lambda row: row[:3])[3]


def _code_bytes(program: Program) -> int:
    nodes = [program.nodes[k].op for k in live_nodes(program)]
    stored = sum(len(out.refs) for out in program.outputs)
    operations = sum(op not in ("input", "const") for op in nodes)
    entries = stored + nodes.count("input")
    return (
        CODE_BYTES["operation"] * operations
        + CODE_BYTES["entry"] * entries
        + CODE_BYTES["number"] * nodes.count("const")
    )
