"""Sums as trees: a pass over a finished tape that brings its results forward.

An algorithm adds up as its recursion goes, one term after the other, and each sum waits for the one
before it. Where nothing else reads the sums on the way, their order is free: here terms are added
in pairs, those that are ready first, so that the result is ready as early as it can be. That takes
as many operations as before and rounds otherwise, so it is a pass with a name, which a tape never
does by itself."""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from symgen.compiler.copying import Copy
from symgen.compiler.costs import Arrivals, Processor
from symgen.compiler.passes import live_nodes, use_counts
from symgen.compiler.program import Index, Program, Value

SUMS: Final = ("add", "sub")


def balanced(program: Program, machine: Processor) -> Program:
    """A program that computes the same on another tape, its sums regrouped wherever one is ready
    earlier on `machine` for it."""
    rebalanced = Program()
    inputs = {name: rebalanced.input(name, shape) for name, shape in program.inputs}
    values = _Balanced(program, rebalanced, inputs, machine).outputs()
    for out in program.outputs:
        rebalanced.output(out.name, out.shape, values[out.name])
    return rebalanced


class _Balanced(Copy):
    """A copy in which sums are trees."""

    def __init__(
        self,
        source: Program,
        target: Program,
        inputs: Mapping[str, Sequence[Value]],
        machine: Processor,
    ) -> None:
        super().__init__(source, target, inputs)
        self.inner, self.outer = _trees(source)
        self.arrivals = Arrivals(target, machine)
        self.step = machine.latency("add")

    def wanted(self) -> Iterable[Index]:
        """All but sums on the way."""
        return (index for index in live_nodes(self.source) if index not in self.inner)

    def node(self, index: Index) -> Value:
        """A sum as it is ready first, others as they are."""
        return self._sum(index) if index in self.outer else super().node(index)

    def _sum(self, index: Index) -> Value:
        terms: list[Value] = []
        ready = self.arrivals.so_far()
        as_written = self._gather(index, False, terms, ready)
        times = [ready[x.node] for x in terms]
        if _joined(times, self.step) >= as_written:
            return self._written(index)
        heap = [(time, k) for k, time in enumerate(times)]
        heapq.heapify(heap)
        while len(heap) > 1:
            (_, a), (time, b) = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (time + self.step, len(terms)))
            terms.append(self.target.value(terms[a] + terms[b]))
        return terms[-1]

    def _gather(
        self, index: Index, negative: bool, terms: list[Value], ready: Sequence[float]
    ) -> float:
        """Add the terms of a sum to `terms`, in the order of the tape, each with its sign. Returns
        the time at which the sum is ready as it stands."""
        op, a, b = self.source.nodes[index]
        latest = 0.0
        for k, minus in ((a, negative), (b, negative != (op == "sub"))):
            if k in self.inner:
                time = self._gather(k, minus, terms, ready)
            else:
                terms.append(self.signed(k, minus))
                time = ready[terms[-1].node]
            latest = max(latest, time)
        return latest + self.step

    def _written(self, index: Index) -> Value:
        """A sum as it stands."""
        op, *read = self.source.nodes[index]
        a, b = (self._written(k) if k in self.inner else self.value_map[k] for k in read)
        return self.target.value(a - b if op == "sub" else a + b)


def _trees(program: Program) -> tuple[AbstractSet[Index], AbstractSet[Index]]:
    """Sums that only one other sum reads, and those of more than two terms that add them up: of
    two, one order is as good as the other."""
    nodes, times = program.nodes, use_counts(program)
    sums = {i: (nodes[i].a, nodes[i].b) for i in live_nodes(program) if nodes[i].op in SUMS}
    read = (k for operands in sums.values() for k in operands if k in sums)
    inner = {k for k in read if times[k] == 1 and k not in program.positive}
    outer = {i for i, (a, b) in sums.items() if i not in inner and (a in inner or b in inner)}
    return inner, outer


def _joined(times: list[float], step: float) -> float:
    """When a sum of what is ready at `times` is, pairs of the earliest first."""
    heap = [*times]
    heapq.heapify(heap)
    while len(heap) > 1:
        heapq.heappop(heap)
        heapq.heapreplace(heap, heap[0] + step)
    return heap[0]
