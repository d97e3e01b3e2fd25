"""How alike two values of a tape are, and which operand of one corresponds to which of the other.

A tape sorts the operands of sums and products, so that the same step of an algorithm may stand
there either way round; the likeness of what they are made of tells which way."""

from collections.abc import Mapping
from typing import Final

from symgen.compiler.passes import operands
from symgen.compiler.program import LEAVES, Program
from symgen.compiler.value import Index

SUMS: Final = ("add", "sub")
FREE: Final = ("sum", "mul")
"""Kinds of operations whose operands may change places."""

DEPTH: Final = 4
"""Operations that are looked at, one below the other."""

SAME_LEAF, SAME_KIND, BELOW = 0.3, 0.1, 0.8
"""Likenesses of leaves and of operations, and what the operands count."""


def kind(op: str) -> str:
    """The kind that operations which are matched have in common: sums and differences are one, as a
    sign may belong to an operand."""
    return "sum" if op in SUMS else op


class Likeness:
    """Likenesses on a tape, 1 for the same value, 0 where the operations differ; values that stand
    in one row of `rows` are as good as the same."""

    def __init__(self, program: Program, rows: Mapping[Index, tuple[int, int]]) -> None:
        self.nodes, self.rows = program.nodes, rows
        self.known: dict[tuple[Index, Index, int], float] = {}

    def of(self, a: Index, b: Index, depth: int = DEPTH) -> float:
        """The likeness of two nodes, from 0 to 1."""
        if a == b or (a in self.rows and b in self.rows and self.rows[a][0] == self.rows[b][0]):
            return 1.0
        if min(a, b) < 0:
            return 0.0
        x, y = self.nodes[a], self.nodes[b]
        if kind(x.op) != kind(y.op):
            return 0.0
        if x.op in LEAVES:
            return SAME_LEAF if x.op == "const" or x.a == y.a else 0.0
        if not depth:
            return 2 * SAME_KIND
        likeness = self.known.get((a, b, depth))
        if likeness is None:
            likeness = self.known[a, b, depth] = SAME_KIND + BELOW * self._below(a, b, depth - 1)
        return likeness

    def _below(self, a: Index, b: Index, depth: int) -> float:
        first, second = operands(self.nodes[a]), operands(self.nodes[b])
        likeness = sum(self.of(i, j, depth) for i, j in zip(first, second, strict=True))
        if kind(self.nodes[a].op) in FREE:
            turned = sum(self.of(i, j, depth) for i, j in zip(first, reversed(second), strict=True))
            likeness = max(likeness, turned)
        return likeness / len(first)
