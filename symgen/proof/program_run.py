"""A program at some states with its derivatives: how changes of a node propagate to other nodes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from math import prod
from typing import Any, Final

import numpy as np

from symgen.compiler.evaluate import Consumers, Rows, computed, levels, values_of
from symgen.compiler.program import Program
from symgen.numbers.decimals import elementary, in_decimals
from symgen.numbers.operations import OPS, Op
from symgen.numbers.scalar import ZERO
from symgen.numbers.types import Numbers

MAX_HELD_DERIVATIVES: Final = 500_000
"""Derivatives held at once."""


@dataclass(frozen=True, eq=False)
class ProgramRun:
    """A program run in double precision; all arrays have a row for each node of its `levels`, and
    the states last."""

    program: Program
    inputs: Mapping[str, Numbers]

    @cached_property
    def values(self) -> Numbers:
        """The value of every node at every state, to the same bits on every machine."""
        with np.errstate(all="ignore"):
            return values_of(self.program, self.inputs, "double", _portable)

    @property
    def width(self) -> int:
        """How many states there are."""
        return int(self.values.shape[1])

    @cached_property
    def slopes(self) -> Numbers:
        """The derivatives of each node in its operands, the first of them first."""
        partials = np.zeros((2, *self.values.shape))
        with np.errstate(all="ignore"):
            for alike in levels(self.program).alike:
                read = (self.values[rows] for rows in alike.operands)
                slopes = OPS[alike.op].partials(*read, self.values[alike.rows])
                for k, slope in enumerate(slopes):
                    partials[k, alike.rows] = 0.0 if slope is ZERO else slope
        return partials

    @cached_property
    def _steep(self) -> list[tuple[Consumers, Numbers]]:
        """The slopes of all readings."""
        inward = levels(self.program).inward
        places, rows = inward.readings
        slopes = self.slopes[places, rows][:, None]
        return [
            (r, slopes[r.readings].reshape(*r.readers.T.shape, 1, self.width).swapaxes(0, 1))
            for r in inward.readers
        ]

    def derivatives(self, rows: Rows) -> Iterator[tuple[Rows, Numbers]]:
        """Blocks of the nodes in `rows`, one after the other, each with its derivatives in every
        node: (nodes, block, states). They may be overwritten, and are when the next ones come."""
        place, size = (
            levels(self.program).inward.place,
            max(1, MAX_HELD_DERIVATIVES // max(self.values.size, 1)),
        )
        space = np.empty((2, len(place) * min(size, len(rows)) * self.width))
        inward = self._inward if np.isfinite(self.slopes).all() else self._where_reached
        for first in range(0, len(rows), size):
            block = rows[first : first + size]
            shape = len(place), len(block), self.width
            slopes, by_row = (x[: prod(shape)].reshape(shape) for x in space)
            slopes[:], slopes[place[block], np.arange(len(block))] = 0.0, 1.0
            with np.errstate(all="ignore"):
                inward(slopes, int(place[block].min()))
            yield block, slopes.take(place, axis=0, out=by_row, mode="clip")

    def _inward(self, slopes: Numbers, first: int) -> None:
        """Nodes from place `first` on; nothing before it is reached."""
        for r, steep in self._steep:
            if r.read.stop > first:
                arriving = slopes.take(r.readers, axis=0)
                arriving *= steep
                slopes[r.read] += np.add.reduce(arriving, axis=0)

    def _where_reached(self, slopes: Numbers, first: int) -> None:
        """Where some slopes are infinite: zero times infinity is zero where an entry does not
        depend on what is infinite."""
        reached = slopes[:, :, :1] != 0
        for r, steep in self._steep:
            if r.read.stop > first:
                via = reached[r.readers]
                slopes[r.read] += np.where(via, slopes[r.readers] * steep, 0.0).sum(axis=0)
                reached[r.read] |= via.any(axis=0)


def _portable(op: Op, scalar: str, operands: tuple[Numbers, ...]) -> Numbers:
    """An operation; functions that are not arithmetic are rounded correctly. Sines are so, too: an
    error in the numbers of `symgen.numbers.trig` must not count as one of the tape."""
    if op.portable and op.counts_as != "trig":
        return computed(op, scalar, operands)
    with in_decimals():
        once: Any = np.frompyfunc(lambda x: float(elementary(op.name, Decimal(x))), 1, 1)
        values: Numbers = once(operands[0]).astype(float)
    return values
