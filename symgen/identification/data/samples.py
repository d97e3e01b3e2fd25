"""Samples, and which rows of a log make up which block of them."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.numbers.types import Numbers

BLOCK: Final = 4096
"""Samples that are reduced at a time."""


@dataclass(frozen=True)
class Samples:
    """Consecutive samples of one stretch without gaps: time (N), positions (N x nq), velocities and
    accelerations (N x n), measurements (N x c).

    `usable` (N x c) tells which measurements are to be used, for a sensor may be saturated where
    the others are not. `noise` (n) is the standard deviation of the noise of each velocity (rad/s
    or m/s), 0 where none is known: the sign of a velocity within a few of it is not known.
    `presliding` (N x k x g) are the presliding states of k joints for g distances, if they are
    needed. Every array is in SI units, in the joint order of the robot."""

    t: Numbers
    q: Numbers
    qd: Numbers
    qdd: Numbers
    measured: Numbers
    usable: NDArray[np.bool_]
    noise: Numbers
    presliding: Numbers = field(default_factory=lambda: np.zeros((0, 0, 0)))

    @classmethod
    def of(cls, t: Numbers, q: Numbers, qd: Numbers, qdd: Numbers, measured: Numbers) -> "Samples":
        """Samples that are usable throughout, of velocities without noise."""
        usable = np.ones(measured.shape, np.bool_)
        return cls(t, q, qd, qdd, measured, usable, np.zeros(qd.shape[1]))

    def __len__(self) -> int:
        return len(self.t)

    @cached_property
    def bridged(self) -> Numbers:
        """The measurements (N x c), with straight lines in place of what is not to be used."""
        channels = zip(self.measured.T, self.usable.T, strict=True)
        lines = [np.interp(self.t, self.t[u], y[u]) if u.any() else y for y, u in channels]
        return np.stack(lines, axis=1) if lines else self.measured

    def part(self, rows: slice) -> "Samples":
        """Some of the samples."""
        t, q, qd, qdd = self.t[rows], self.q[rows], self.qd[rows], self.qdd[rows]
        measured, usable = self.measured[rows], self.usable[rows]
        return Samples(t, q, qd, qdd, measured, usable, self.noise, self.presliding[rows])


Range = tuple[int, int]
"""First row and that after the last."""


@dataclass(frozen=True)
class BlockPlan:
    """Which usable rows make up which block: those for the estimate, then those held out for
    validation.

    `stretches` are rows without gaps. A block is part of one stretch and needs `half` more rows on
    both sides for derivatives. `held_out` is the fraction that is held out."""

    stretches: tuple[Range, ...]
    half: int
    held_out: float

    @property
    def training(self) -> list[Range]:
        """First and last row (not included) of each block for the estimate, as they are to be
        read."""
        return self._blocks(0, self._boundary)

    @property
    def validation(self) -> list[Range]:
        """The same of the rows that are held out, at the end of the log."""
        return self._blocks(self._boundary, self.samples)

    @cached_property
    def _sizes(self) -> list[int]:
        """Samples of each stretch that are left."""
        return [max(b - a - 2 * self.half, 0) for a, b in self.stretches]

    @property
    def samples(self) -> int:
        """The number of samples that are left of all stretches."""
        return sum(self._sizes)

    @property
    def _boundary(self) -> int:
        """The first sample that is held out."""
        return math.floor(self.samples * (1 - self.held_out))

    def _blocks(self, start: int, stop: int) -> list[Range]:
        """Of the samples from `start` to `stop`, counted over all stretches."""
        blocks, before = list[Range](), 0
        for (row, _), count in zip(self.stretches, self._sizes, strict=True):
            low, high = max(start - before, 0), min(stop - before, count)
            blocks += [
                (row + a, row + min(a + BLOCK, high) + 2 * self.half)
                for a in range(low, high, BLOCK)
            ]
            before += count
        return blocks


def pieces(parts: Iterable[Numbers], ranges: Sequence[Range]) -> Iterator[tuple[int, Numbers]]:
    """First row and rows of each range, ascending; only what a later range needs is kept.

    `parts` are read to their end whatever the ranges are, because that is where damage shows."""
    begin, kept, wanted = 0, np.zeros((0, 0)), iter(ranges)
    current = next(wanted, None)
    for part in parts:
        if current is None:
            continue
        kept = np.concatenate([kept, part]) if len(kept) else part
        while current and current[1] <= begin + len(kept):
            yield current[0], kept[current[0] - begin : current[1] - begin]
            current = next(wanted, None)
        if current is None:
            continue
        gone = min(max(current[0] - begin, 0), len(kept))
        begin, kept = begin + gone, kept[gone:]
