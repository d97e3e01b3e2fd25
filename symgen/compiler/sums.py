"""Sums as trees: a pass over a finished tape that brings its results forward.

An algorithm adds up as its recursion goes, one term after the other, and each sum waits for the one
before it. Where nothing else reads the sums on the way, their order is free: here terms are added
in pairs, those that are ready first, so that the result is ready as early as it can be. That takes
as many operations as before and rounds otherwise, so it is a pass with a name, which a tape never
does by itself."""

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from symgen.compiler.copying import Copy
from symgen.compiler.costs import Processor, arrivals
from symgen.compiler.passes import live, operands, uses
from symgen.compiler.program import Program
from symgen.compiler.value import Index, Value

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
        self.machine = machine
        self.inner = self._inner()
        self.ready: list[float] = []

    def _inner(self) -> frozenset[Index]:
        """Sums that only one other sum reads."""
        nodes, times = self.source.nodes, uses(self.source)
        sums = (nodes[i] for i in live(self.source) if nodes[i].op in SUMS)
        read = (k for node in sums for k in operands(node))
        return frozenset(
            k
            for k in read
            if nodes[k].op in SUMS and times[k] == 1 and k not in self.source.positive
        )

    def wanted(self) -> Iterable[Index]:
        """All but sums on the way."""
        return (index for index in live(self.source) if index not in self.inner)

    def node(self, index: Index) -> Value:
        """A sum as it is ready first, others as they are."""
        return self._sum(index) if self.source.nodes[index].op in SUMS else super().node(index)

    def _sum(self, index: Index) -> Value:
        node = self.source.nodes[index]
        if node.a not in self.inner and node.b not in self.inner:
            return self._written(index)  # of two, one order is as good as the other
        terms = [self.signed(k, negative) for k, negative in self._terms(index)]
        arrivals(self.target, self.machine, self.ready)
        step = self.machine.latency("add")
        times = [self.ready[x.node] for x in terms]
        if _joined(times, step) >= self._as_written(index, step):
            return self._written(index)
        heap = [(time, k) for k, time in enumerate(times)]
        heapq.heapify(heap)
        while len(heap) > 1:
            (_, a), (time, b) = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (time + step, len(terms)))
            terms.append(self.target.value(terms[a] + terms[b]))
        return terms[-1]

    def _terms(self, index: Index, negative: bool = False) -> Iterator[tuple[Index, bool]]:
        """The terms of a sum, in the order of the tape, each with its sign."""
        node = self.source.nodes[index]
        for k, minus in ((node.a, negative), (node.b, negative != (node.op == "sub"))):
            if k in self.inner:
                yield from self._terms(k, minus)
            else:
                yield k, minus

    def _as_written(self, index: Index, step: float) -> float:
        """When a sum is ready as it stands."""
        if index in self.made:
            return self.ready[self.made[index].node]
        return step + max(self._as_written(k, step) for k in operands(self.source.nodes[index]))

    def _written(self, index: Index) -> Value:
        """A sum as it stands."""
        if index in self.made:
            return self.made[index]
        node = self.source.nodes[index]
        a, b = self._written(node.a), self._written(node.b)
        return self.target.value(a - b if node.op == "sub" else a + b)


def _joined(times: list[float], step: float) -> float:
    """When a sum of what is ready at `times` is, pairs of the earliest first."""
    heap = [*times]
    heapq.heapify(heap)
    while len(heap) > 1:
        heapq.heappop(heap)
        heapq.heapreplace(heap, heap[0] + step)
    return heap[0]
