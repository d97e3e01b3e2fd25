"""From a log to blocks of samples: which columns, which rows, and derivatives where the log has
none."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.errors import SymgenError
from symgen.identification.logs import Log, LogError, check_columns
from symgen.text import quoted, shown

Numbers = NDArray[np.float64]

ORDER: Final = 4
"""Of the polynomials that are fitted to a window; it gives accelerations to second order of what is
left."""

LOWEST: Final = 1e-12
"""The least cutoff by the rate of sampling that is told from none; no log is long enough for it."""

BLOCK: Final = 4096
"""Samples that are reduced at a time."""


@dataclass(frozen=True)
class Samples:
    """Consecutive samples of one stretch without gaps: time (N), positions (N x nq), velocities and
    accelerations (N x n), measurements (N x c).

    `usable` (N x c) tells which measurements are to be used, for a sensor may be saturated where
    the others are not. `noise` (n) is the standard deviation of the noise of each velocity (rad/s
    or m/s), 0 where none is known: the sign of a velocity within a few of it is not known. Every
    array is in SI units, in the joint order of the robot."""

    t: Numbers
    q: Numbers
    qd: Numbers
    qdd: Numbers
    measured: Numbers
    usable: NDArray[np.bool_]
    noise: Numbers

    @classmethod
    def of(cls, t: Numbers, q: Numbers, qd: Numbers, qdd: Numbers, measured: Numbers) -> "Samples":
        """Samples that are usable throughout, of velocities without noise."""
        usable = np.ones(measured.shape, np.bool_)
        return cls(t, q, qd, qdd, measured, usable, np.zeros(qd.shape[1]))

    def __len__(self) -> int:
        return len(self.t)

    def part(self, rows: slice) -> "Samples":
        """Some of the samples."""
        t, q, qd, qdd = self.t[rows], self.q[rows], self.qd[rows], self.qdd[rows]
        return Samples(t, q, qd, qdd, self.measured[rows], self.usable[rows], self.noise)


@dataclass(frozen=True)
class Layout:
    """The columns of a log that are read: t, then those of each group; a group that the log lacks
    is empty."""

    q: tuple[str, ...]
    qd: tuple[str, ...]
    qdd: tuple[str, ...]
    measured: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them, in the order of reading."""
        return ("t", *self.q, *self.qd, *self.qdd, *self.measured)

    def split(self, rows: Numbers) -> Samples:
        """Rows of all columns as samples."""
        sizes = [1, len(self.q), len(self.qd), len(self.qdd)]
        t, q, qd, qdd, measured = np.split(rows, np.cumsum(sizes), axis=1)
        return Samples.of(t[:, 0], q, qd, qdd, measured)


@dataclass(frozen=True)
class Wanted:
    """What a way of identification needs: names of positions, velocities and measurements; whether
    accelerations.

    A measurement is a prefix of its columns and the names after it.
    """

    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    prefix: str
    measured: tuple[str, ...]
    accelerations: bool


def layout(log: Log, wanted: Wanted) -> Layout:
    """The columns of a log for what is wanted. Raises LogError for the first that is missing."""
    check_columns(log, ["t"], "time in s, column t, is always needed; ")
    q = _group(log, "q", wanted.positions)
    differentiable = wanted.positions == wanted.velocities
    qd = _group(log, "qd", wanted.velocities, optional=differentiable)
    qdd = _group(log, "qdd", wanted.velocities, optional=True) if wanted.accelerations else ()
    if qdd and not qd:
        qd = _group(log, "qd", wanted.velocities)
    return Layout(q, qd, qdd, _group(log, wanted.prefix, wanted.measured))


def _group(log: Log, prefix: str, names: Sequence[str], optional: bool = False) -> tuple[str, ...]:
    """``PREFIX_NAME``, or ``PREFIX[k]`` where the log has a matrix; none if it may be left out and
    is."""
    wanted, numbered = (
        [f"{prefix}_{name}" for name in names],
        [f"{prefix}[{k}]" for k in range(len(names))],
    )
    if not any(name in log.names for name in wanted):
        if set(numbered) <= set(log.names):
            _check_width(log, prefix, names)
            return tuple(numbered)
        if optional:
            return ()
    check_columns(log, wanted)
    return tuple(wanted)


def _check_width(log: Log, prefix: str, names: Sequence[str]) -> None:
    """Raises LogError where a matrix has columns of more coordinates than are wanted, for then
    which is which?"""
    width = sum(re.fullmatch(rf"{prefix}\[\d+\]", name) is not None for name in log.names)
    if width > len(names):
        raise LogError(
            shown(log.file),
            f"'{prefix}' has {width} columns where {len(names)} are wanted: "
            f"{quoted(names, 8)}; give these, in this order",
        )


@dataclass(frozen=True)
class Derivation:
    """How velocities and accelerations come about, by polynomials fitted to windows (Savitzky &
    Golay 1964).

    A window of 2 `half` + 1 samples, `step` s apart. It is symmetric, so nothing is delayed, and
    finite, so that blocks which overlap by `half` give what the whole log gives, bit for bit."""

    half: int
    step: float

    @classmethod
    def of_cutoff(cls, cutoff: float, step: float) -> "Derivation":
        """That which lets half of the power at `cutoff` Hz pass, to within a decibel (Schafer, IEEE
        Signal Processing Magazine 2011, approximation of the -3 dB point)."""
        return cls(
            max(3, round(((ORDER + 1) * 0.5 / max(step * cutoff, LOWEST) + 4.6) / 3.2)), step
        )

    def derivative(self, x: Numbers, order: int) -> Numbers:
        """Of rows x (N x k) in time, N - 2 `half` rows; order 0 smooths."""
        found = _signal("ndimage").correlate1d(x, self._weights[order], axis=0)
        return np.asarray(found[self.half : len(x) - self.half])

    @cached_property
    def _weights(self) -> tuple[Numbers, ...]:
        fit = _signal("signal").savgol_coeffs
        return tuple(
            fit(2 * self.half + 1, ORDER, order, self.step, use="dot") for order in range(3)
        )

    def complete(self, raw: Samples, accelerations: bool) -> Samples:
        """The inner samples with velocities and, if they are wanted, accelerations."""
        inner = slice(self.half, len(raw) - self.half)
        q = (
            self.derivative(raw.q, 0)
            if raw.q.shape[1] == raw.qd.shape[1] or not raw.qd.shape[1]
            else raw.q[inner]
        )
        from_velocity = bool(raw.qd.shape[1])
        source, order = (raw.qd, 0) if from_velocity else (raw.q, 1)
        qd = self.derivative(source, order)
        qdd = self.derivative(source, order + 1) if accelerations else raw.qdd[inner]
        return Samples.of(raw.t[inner], q, qd, qdd, raw.measured[inner])


def _signal(part: str) -> Any:
    """A part of SciPy. Raises SymgenError where it is not installed."""
    from importlib import import_module

    try:
        return import_module(f"scipy.{part}")
    except ImportError:
        raise SymgenError(
            "error: velocities and accelerations of a log need SciPy; pip install "
            "'symgen[identify]'"
        ) from None


@dataclass(frozen=True)
class Plan:
    """Which rows make up which block: those for the estimate, then those held out for validation.

    A block needs `half` more rows on both sides for derivatives, and one more where it consists of
    intervals of `interval` samples (0: of single samples)."""

    rows: int
    half: int
    interval: int
    held_out: float

    @property
    def _usable(self) -> int:
        return max(self.rows - 2 * self.half - bool(self.interval), 0)

    @property
    def training(self) -> list[tuple[int, int]]:
        """First and last row (not included) of each block for the estimate, as they are to be
        read."""
        return self._blocks(0, self._boundary)

    @property
    def validation(self) -> list[tuple[int, int]]:
        """The same of those held out, the end of the log."""
        return self._blocks(self._boundary, self._usable)

    @property
    def _boundary(self) -> int:
        unit = self.interval or 1
        return math.floor(self._usable * (1 - self.held_out)) // unit * unit

    def _blocks(self, start: int, stop: int) -> list[tuple[int, int]]:
        unit = self.interval or 1
        size, stop = max(BLOCK // unit, 1) * unit, start + (stop - start) // unit * unit
        more = 2 * self.half + bool(self.interval)
        return [(a, min(a + size, stop) + more) for a in range(start, stop, size)]


def pieces(
    log: Log, columns: Sequence[str], ranges: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, Numbers]]:
    """First row and rows of each range, ascending; only what a later range needs is kept.

    The log is read to its end whatever the ranges are, because that is where damage shows."""
    begin, kept, wanted = 0, np.zeros((0, len(columns))), iter(ranges)
    current = next(wanted, None)
    for chunk in log.chunks(columns):
        if current is None:
            continue
        kept = np.concatenate([kept, chunk]) if len(kept) else chunk
        while current and current[1] <= begin + len(kept):
            yield current[0], kept[current[0] - begin : current[1] - begin]
            current = next(wanted, None)
        if current is None:
            continue
        gone = min(max(current[0] - begin, 0), len(kept))
        begin, kept = begin + gone, kept[gone:]
    if current is not None:
        raise LogError(
            shown(log.file),
            f"ends after row {begin + len(kept)}, before its {log.rows} rows are complete",
        )
