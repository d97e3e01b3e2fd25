"""A program at some states with its derivatives there: how changes of any node arrive at any
other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.compiler.batch import computed, values_of
from symgen.compiler.levels import Readers, Rows, levels
from symgen.compiler.program import Program
from symgen.numbers.exact import number
from symgen.numbers.operations import OPS, Op
from symgen.numbers.scalar import ZERO, plain

Array = NDArray[np.float64]

MEMORY: Final = 500_000
"""Derivatives held at once."""


@dataclass(frozen=True, eq=False)
class ProgramRun:
    """A program run in double precision; all arrays have a row for each node of its `levels`, and
    the states last."""

    program: Program
    inputs: Mapping[str, Array]

    @cached_property
    def values(self) -> Array:
        """The value of every node at every state, to the same bits on every machine."""
        with np.errstate(all="ignore"):
            return values_of(self.program, self.inputs, "double", _portable)

    @property
    def width(self) -> int:
        """How many states there are."""
        return int(self.values.shape[1])

    @cached_property
    def slopes(self) -> Array:
        """The derivatives of each node in its operands, the first of them first."""
        partials = np.zeros((2, *self.values.shape))
        with np.errstate(all="ignore"):
            for group in levels(self.program).groups:
                if group.operands:
                    read = (self.values[rows] for rows in group.operands)
                    slopes = OPS[group.op].partials(*read, self.values[group.rows])
                    for k, slope in enumerate(slopes):
                        partials[k, group.rows] = 0.0 if slope is ZERO else slope
        return partials

    @cached_property
    def _steep(self) -> list[tuple[Readers, Array]]:
        """The slopes of all readings."""
        inward = levels(self.program).inward
        return [(r, self.slopes[r.places, r.rows][:, :, None]) for r in inward]

    def derivatives(self, rows: Rows) -> Iterator[tuple[Rows, Array]]:
        """Blocks of the nodes in `rows`, one after the other, each with its derivatives in every
        node: (nodes, block, states)."""
        size = max(1, MEMORY // max(self.values.size, 1))
        finite = bool(np.isfinite(self.slopes).all())
        for first in range(0, len(rows), size):
            block = rows[first : first + size]
            start = np.zeros((len(self.values), len(block), self.width))
            start[block, np.arange(len(block))] = 1.0
            with np.errstate(all="ignore"):
                inward = self._inward if finite else self._where_reached
                yield block, inward(start, int(block.max()))

    def _inward(self, slopes: Array, last: int) -> Array:
        """Nodes from `last` back; nothing that comes after it is reached."""
        for r, steep in self._steep:
            if r.first > last:
                continue
            if steep.shape[1] == 1:
                slopes[r.read] += slopes[r.rows[:, 0]] * steep[:, 0]
            else:
                slopes[r.read] += (slopes[r.rows] * steep).sum(axis=1)
        return slopes

    def _where_reached(self, slopes: Array, last: int) -> Array:
        """Where some slopes are infinite: zero times infinity is zero where an entry does not
        depend on what is infinite."""
        reached = slopes[:, :, :1] != 0
        for r, steep in ((r, steep) for r, steep in self._steep if r.first <= last):
            via = reached[r.rows]
            slopes[r.read] += np.where(via, slopes[r.rows] * steep, 0.0).sum(axis=1)
            reached[r.read] |= via.any(axis=1)
        return slopes


def _portable(op: Op, scalar: str, operands: tuple[Array, ...]) -> Array:
    """An operation; a function that only libraries have is rounded correctly."""
    if op.portable:
        return computed(op, scalar, operands)
    once: Any = np.frompyfunc(lambda x: plain(op(number(float(x)))), 1, 1)
    values: Array = once(operands[0]).astype(float)
    return values
