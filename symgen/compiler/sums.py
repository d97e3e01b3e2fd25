"""Sums as trees: a pass over a finished tape that brings its results forward.

An algorithm adds up as its recursion goes, one term after the other, and each sum waits for the one
before it. Where nothing else reads the sums on the way, their order is free: here terms are added
in pairs, those that are ready first, so that the result is ready as early as it can be. That takes
as many operations as before and rounds otherwise, so it is a pass with a name, which a tape never
does by itself."""

import heapq
from collections.abc import Iterator
from typing import Final

from symgen.compiler.costs import Machine, arrivals
from symgen.compiler.passes import live, operands, uses
from symgen.compiler.program import Index, Program, Value
from symgen.numbers.scalar import ZERO, positive

SUMS: Final = ("add", "sub")


def balanced(program: Program, machine: Machine) -> Program:
    """The same program on another tape, with its sums regrouped wherever one is ready earlier on
    `machine` for it."""
    return _Balanced(program, machine).made()


class _Balanced:
    """A tape that is written again."""

    def __init__(self, program: Program, machine: Machine) -> None:
        self.old, self.machine, self.new = program, machine, Program()
        self.given = {name: self.new.input(name, shape) for name, shape in program.inputs}
        self.inner = self._inner()
        self.values: dict[Index, Value] = {}
        self.ready: list[float] = []

    def made(self) -> Program:
        """The new tape."""
        for index in live(self.old):
            if index not in self.inner:
                with self.new.section(self.old.sections[index]):
                    self.values[index] = self._value(index)
                self._name(index)
                if index in self.old.positive:
                    positive(self._signed(index, self.old.positive[index]))
        for out in self.old.outputs:
            values = (ZERO if r is None else self._signed(r.node, r.negative) for r in out.refs)
            self.new.output(out.name, out.shape, values)
        return self.new

    def _inner(self) -> frozenset[Index]:
        """Sums that only one other sum reads."""
        nodes, times = self.old.nodes, uses(self.old)
        sums = (nodes[i] for i in live(self.old) if nodes[i].op in SUMS)
        read = (k for node in sums for k in operands(node))
        return frozenset(
            k for k in read if nodes[k].op in SUMS and times[k] == 1 and k not in self.old.positive
        )

    def _name(self, index: Index) -> None:
        if index in self.old.names:
            name, negative = self.old.names[index]
            self.new.name(self._signed(index, negative).ref, name)

    def _signed(self, index: Index, negative: bool) -> Value:
        value = self.values[index]
        return -value if negative else value

    def _value(self, index: Index) -> Value:
        """A node of the old tape on the new one."""
        node = self.old.nodes[index]
        if node.op == "input":
            given: Value = self.given[node.a][node.b]
            return given
        if node.op == "const":
            return self.new.value(node.a)
        if node.op in SUMS:
            return self._sum(index)
        if node.op == "neg":
            return -self.values[node.a]
        if node.op == "div":
            sign = self.old.divisors[index].negative  # the divisor as the algorithm has it
            return self.new.value(self._signed(node.a, sign) / self._signed(node.b, sign))
        if node.b is None:
            a: Value = self.values[node.a]
            return a.applied(node.op)
        return self.new.value(self.values[node.a] * self.values[node.b])

    def _sum(self, index: Index) -> Value:
        terms = [self._signed(k, negative) for k, negative in self._terms(index)]
        arrivals(self.new, self.machine, self.ready)
        step = self.machine.latency("add")
        times = [self.ready[x.node] for x in terms]
        if _joined(times, step) >= self._as_written(index, step):
            return self._written(index)
        heap = [(time, k) for k, time in enumerate(times)]
        heapq.heapify(heap)
        while len(heap) > 1:
            (_, a), (time, b) = heapq.heappop(heap), heapq.heappop(heap)
            heapq.heappush(heap, (time + step, len(terms)))
            terms.append(self.new.value(terms[a] + terms[b]))
        return terms[-1]

    def _terms(self, index: Index, negative: bool = False) -> Iterator[tuple[Index, bool]]:
        """What a sum adds up, in the order of the tape, each with its sign."""
        node = self.old.nodes[index]
        for k, minus in ((node.a, negative), (node.b, negative != (node.op == "sub"))):
            if k in self.inner:
                yield from self._terms(k, minus)
            else:
                yield k, minus

    def _as_written(self, index: Index, step: float) -> float:
        """When a sum is ready as it stands."""
        if index in self.values:
            return self.ready[self.values[index].node]
        return step + max(self._as_written(k, step) for k in operands(self.old.nodes[index]))

    def _written(self, index: Index) -> Value:
        """A sum as it stands."""
        if index in self.values:
            return self.values[index]
        node = self.old.nodes[index]
        a, b = self._written(node.a), self._written(node.b)
        return self.new.value(a - b if node.op == "sub" else a + b)


def _joined(times: list[float], step: float) -> float:
    """When a sum of what is ready at `times` is, pairs of the earliest first."""
    heap = [*times]
    heapq.heapify(heap)
    while len(heap) > 1:
        heapq.heappop(heap)
        heapq.heapreplace(heap, heap[0] + step)
    return heap[0]
