"""Samples, and which rows of a log make up which block of them."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.numbers.scalar import Numbers

BLOCK_ROWS: Final = 4096
"""Samples that are reduced at a time."""


@dataclass(frozen=True)
class Samples:
    """Consecutive samples of one segment without gaps: time (N), positions (N x nq), velocities and
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


RowRange = tuple[int, int]
"""First row and that after the last."""


@dataclass(frozen=True)
class BlockPlan:
    """Which usable rows make up which block: those for the estimate, then those held out for
    validation.

    `segments` are rows without gaps. A block is part of one segment and needs `half_width` more
    rows on both sides for derivatives. `held_out` is the fraction that is held out."""

    segments: tuple[RowRange, ...]
    half_width: int
    held_out: float

    @property
    def training(self) -> list[RowRange]:
        """First and last row (not included) of each block for the estimate, as they are to be
        read."""
        return self._blocks(0, self._boundary)

    @property
    def validation(self) -> list[RowRange]:
        """The same of the rows that are held out, at the end of the log."""
        return self._blocks(self._boundary, self.samples)

    @cached_property
    def _sizes(self) -> list[int]:
        """Samples of each segment that are left."""
        return [max(b - a - 2 * self.half_width, 0) for a, b in self.segments]

    @property
    def samples(self) -> int:
        """The number of samples that are left of all segments."""
        return sum(self._sizes)

    @property
    def _boundary(self) -> int:
        """The first sample that is held out."""
        return math.floor(self.samples * (1 - self.held_out))

    def _blocks(self, start: int, stop: int) -> list[RowRange]:
        """Of the samples from `start` to `stop`, counted over all segments."""
        blocks, before = list[RowRange](), 0
        for (row, _), count in zip(self.segments, self._sizes, strict=True):
            low, high = max(start - before, 0), min(stop - before, count)
            blocks += [
                (row + a, row + min(a + BLOCK_ROWS, high) + 2 * self.half_width)
                for a in range(low, high, BLOCK_ROWS)
            ]
            before += count
        return blocks


def rows_of_ranges(
    parts: Iterable[Numbers], ranges: Sequence[RowRange]
) -> Iterator[tuple[int, Numbers]]:
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


LEAD_STEPS: Final = 5
"""Steps of the motion before the first sample, which is unknown, that the initial state assumes. A
joint that moves has slid by more than its presliding distance after so many steps, and noise of the
encoder does not add up over them."""


@dataclass(frozen=True)
class PreslidingStates:
    """Computes the presliding states of k joints, for g presliding distances of each: positions of
    the joints are `places` (k x nq) q + `offsets` (k); `distances` (k x g) are in rad or m.

    Dahl's model (1968) in its rate-independent form: for a step Δq of the position, g = sign(Δq),
    the state becomes g + (s - g) exp(-|Δq| / δ), which is exact for motion in one direction within
    the step. It lies in -1 to 1, keeps the direction of the last motion at standstill, and turns
    over within a few distances δ after a reversal."""

    places: Numbers
    offsets: Numbers
    distances: Numbers

    def states(self, q: Numbers, before: tuple[Numbers, Numbers] | None = None) -> Numbers:
        """The states (N x k x g) at positions q (N x nq); `before` has the position (nq) and the
        state (k x g) of the sample before the first one. Without it the joints are assumed to have
        moved before the first sample as far as they move in the `LEAD_STEPS` steps after it. An
        initial state of 0 instead would make the first row of a log tell presliding from Coulomb
        friction: the joint slides there."""
        if before is None:
            travel = ((q[min(LEAD_STEPS, len(q) - 1)] - q[0]) @ self.places.T)[:, None]
            slid = -np.expm1(-np.abs(travel) / self.distances)
            before = q[0], np.sign(travel) * slid
        start, state = before
        positions = np.concatenate([start[None], q]) @ self.places.T + self.offsets
        steps = np.diff(positions, axis=0)
        result = np.empty((len(q), *self.distances.shape))
        for k in range(len(self.distances)):
            result[:, k] = _joint_states(steps[:, k], state[k], self.distances[k])
        return result

    def attached(self, blocks: Iterable[Samples]) -> Iterator[Samples]:
        """The blocks of consecutive samples with their states, each continued from the block before
        unless a gap in time longer than a step of the block separates them."""
        before, end = None, -np.inf
        for samples in blocks:
            if not len(samples):
                yield samples
                continue
            gap = 2.5 * float(np.median(np.diff(samples.t))) if len(samples) > 1 else 0.0
            connected = before is not None and 0 <= samples.t[0] - end <= gap
            states = self.states(samples.q, before if connected else None)
            before, end = (samples.q[-1], states[-1]), float(samples.t[-1])
            yield replace(samples, presliding=states)


def _joint_states(steps: Numbers, state: Numbers, distances: Numbers) -> Numbers:
    """The states (N x g) of one joint after each of its steps (N), beginning with `state` (g); run
    by run of steps in the same direction, in closed form."""
    directions = np.sign(steps)
    edges = np.flatnonzero(np.diff(directions, prepend=np.nan, append=np.nan) != 0)
    result = np.empty((len(steps), len(distances)))
    for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if not directions[a]:
            result[a:b] = state
            continue
        travel = np.cumsum(np.abs(steps[a:b]))[:, None]
        result[a:b] = directions[a] + (state - directions[a]) * np.exp(-travel / distances)
        state = result[b - 1]
    return result


@dataclass
class ColumnStatistics:
    """The range, the sums, also of squares, and the number of the entries of columns (k) so far,
    without those that are not to be used or not numbers."""

    low: Numbers | float = np.inf
    high: Numbers | float = -np.inf
    total: Numbers | float = 0.0
    squares: Numbers | float = 0.0
    count: NDArray[np.int64] | int = 0

    @classmethod
    def of(cls, columns: int) -> "ColumnStatistics":
        """Of so many columns, without rows yet."""
        low, zeros = np.full(columns, np.inf), np.zeros(columns)
        return cls(low, -low, zeros, zeros, np.zeros(columns, np.int64))

    def add(self, rows: Numbers, used: NDArray[np.bool_] | None = None) -> None:
        """Takes rows (N x k) into account."""
        used = ~np.isnan(rows) if used is None else used
        self.low = np.minimum(self.low, np.min(rows, 0, initial=np.inf, where=used))
        self.high = np.maximum(self.high, np.max(rows, 0, initial=-np.inf, where=used))
        self.total = self.total + np.sum(rows, 0, where=used)
        self.squares = self.squares + np.sum(np.square(rows), 0, where=used)
        self.count = self.count + used.sum(0)

    @property
    def ends(self) -> tuple[Numbers, Numbers]:
        """The least and the largest entry of each column (k)."""
        return np.atleast_1d(self.low), np.atleast_1d(self.high)

    @property
    def largest(self) -> Numbers:
        """The largest size of each column (k)."""
        return np.maximum(*(np.abs(end) for end in self.ends))

    @property
    def rms(self) -> Numbers:
        """The root mean square of each column (k)."""
        return np.sqrt(np.atleast_1d(self.squares) / np.maximum(self.count, 1))
