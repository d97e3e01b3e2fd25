"""The time of rows: a clock by their time stamps, a constant rate, or ticks of a controller that a
recorder has polled.

A recorder that reads the latest state of a controller whenever its own loop comes round stamps rows
with the time of reading, but what is in them is of a tick of the controller: some ticks come twice,
others never. Positions and velocities of the same row tell how much time went by between two rows,
∫ q̇ dt = Δq, so wherever the robot moves they tell the number of ticks, exactly; where it stands
still, stamps do."""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.column_map import LogLayout
from symgen.identification.data.log_file import Log, LogError
from symgen.numbers.scalar import Numbers
from symgen.text import shown

MIN_MOVING_STEPS: Final = 200
"""Steps in motion that a judgement takes at least."""
MIN_RELATIVE_POWER: Final = 0.01
"""Motion is told from standstill by this part of the mean square of all velocities."""
MAX_STEP_TICKS: Final = 4.0
"""A step of more ticks is left to the stamps, for velocities change within it."""
MAX_TICK_ERROR: Final = 0.25
"""How far from a whole number of ticks a step by the motion may be to count."""
JUDGED_QUANTILE: Final = 0.9
"""The part of all steps for which whole ticks must hold"""
MAX_QUANTILE_ERROR: Final = 0.1
"""to this part of a tick, and stamps must not."""
MIN_ERROR_RATIO: Final = 3.0
"""How many times worse stamps must agree with the motion than whole ticks do."""
RATE_TOLERANCE: Final = 1e-3
"""The rate is a whole number of Hz, if it is this close to one."""
DELAY_ROWS: Final = 200
"""Rows over which the mean delay of the stamps is followed."""


def travel_times(q: Numbers, qd: Numbers, scale: Numbers) -> tuple[Numbers, Numbers]:
    """The time (N - 1) that the motion from row to row takes by its velocities, by least squares
    over the joints, and the mean square of the velocities relative to `scale` (n)."""
    mean = (qd[1:] + qd[:-1]) / (2 * scale)
    power = np.sum(mean**2, axis=1)
    gone = np.sum(np.diff(q, axis=0) / scale * mean, axis=1)
    return gone / np.maximum(power, 1e-300), power / mean.shape[1]


def velocity_scales(qd: Numbers) -> Numbers:
    """The root mean square of each velocity (n), that of the largest where it does not move."""
    speeds = np.sqrt(np.mean(qd**2, axis=0))
    return np.asarray(
        np.where(speeds > 1e-6 * speeds.max(initial=0.0), speeds, max(speeds.max(initial=0.0), 1.0))
    )


@dataclass(frozen=True)
class PolledClock:
    """A controller that a recorder polls: the period of its ticks (s), and the size of velocities
    (n) by which they are compared."""

    period: float
    scale: Numbers

    @classmethod
    def of(cls, t: Numbers, q: Numbers, qd: Numbers) -> "PolledClock | None":
        """Told from the first rows: stamps t (N), positions and velocities (N x n) of the same
        joints. None where the stamps are those of the motion, or nothing tells."""
        steps = np.diff(t)
        rising = steps[steps > 0]
        if len(rising) < MIN_MOVING_STEPS:
            return None
        scale = velocity_scales(qd)
        period = float(np.median(rising))
        moved, power = travel_times(q, qd, scale)
        clear = (power > MIN_RELATIVE_POWER) & (steps >= 0) & (steps < MAX_STEP_TICKS * period)
        moved, steps = moved[clear], steps[clear]
        if len(moved) < MIN_MOVING_STEPS:
            return None
        for _ in range(3):
            ticks = np.round(moved / period)
            if not 0.5 < ticks.sum() / len(ticks) < 2.0:
                return None
            period = float(moved.sum() / ticks.sum())
        off = float(np.quantile(np.abs(moved / period - np.round(moved / period)), JUDGED_QUANTILE))
        stamps = float(np.quantile(np.abs(moved - steps), JUDGED_QUANTILE)) / period
        if off > MAX_QUANTILE_ERROR or stamps < max(MAX_QUANTILE_ERROR, MIN_ERROR_RATIO * off):
            return None
        return cls(_rounded_period(cls(period, scale)._by_stamps(t, q, qd)), scale)

    def _by_stamps(self, t: Numbers, q: Numbers, qd: Numbers) -> float:
        """The period by the recorder's clock: the slope of stamps over ticks."""
        ticks = (TimestampCorrection(self)(t, q, qd) - t[0]) / self.period
        centred = ticks - ticks.mean()
        return float(centred @ t / (centred @ centred))


def _rounded_period(period: float) -> float:
    rate = round(1 / period)
    return 1 / rate if rate and abs(1 / (period * rate) - 1) < RATE_TOLERANCE else period


@dataclass
class TimestampCorrection:
    """Gives rows their time, piece by piece in order: `stamp`, `q` and `qd` are of the row before,
    `tick` its number, `lag` the mean of stamps less ticks (s), `begin` the first stamp."""

    polled: PolledClock
    stamp: float = np.nan
    q: Numbers = field(default_factory=lambda: np.zeros(0))
    qd: Numbers = field(default_factory=lambda: np.zeros(0))
    tick: float = 0.0
    lag: float = 0.0
    begin: float = 0.0

    def __call__(self, t: Numbers, q: Numbers, qd: Numbers) -> Numbers:
        """The time (N) of rows with stamps t (N)."""
        if not len(t):
            return t
        if np.isnan(self.stamp):
            self.stamp, self.q, self.qd, self.begin = float(t[0]), q[0], qd[0], float(t[0])
        steps = np.diff(t, prepend=self.stamp) / self.polled.period
        moved, power = travel_times(
            np.vstack([self.q, q]), np.vstack([self.qd, qd]), self.polled.scale
        )
        moved /= self.polled.period
        nearest = np.round(moved)
        clear = (
            (power > MIN_RELATIVE_POWER)
            & (np.abs(moved - nearest) < MAX_TICK_ERROR)
            & (nearest >= 0)
        )
        kinds = np.where((steps < -MAX_STEP_TICKS) | (steps > MAX_STEP_TICKS), 2, clear)
        nearest = np.where(kinds == 2, np.round(steps), nearest)
        ticks = self._numbered(t, nearest, kinds)
        self.stamp, self.q, self.qd = float(t[-1]), q[-1], qd[-1]
        return np.asarray(self.begin + ticks * self.polled.period)

    def _numbered(self, t: Numbers, nearest: Numbers, kinds: NDArray[np.int64]) -> Numbers:
        """The tick of each row, run by run of rows of the same kind: 0 where stamps tell its
        number, 1 and 2 where `nearest` is the number of ticks since the row before."""
        ticks, period = np.empty(len(t)), self.polled.period
        edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(t)]
        for a, b in pairwise(edges):
            if kinds[a]:
                ticks[a:b] = self.tick + np.cumsum(nearest[a:b])
            else:
                numbers = np.round((t[a:b] - self.begin - self.lag) / period)
                ticks[a:b] = np.maximum.accumulate(np.maximum(numbers, self.tick))
            self.tick = float(ticks[b - 1])
            if kinds[a] == 1:
                late = t[a:b][-DELAY_ROWS:] - self.begin - ticks[a:b][-DELAY_ROWS:] * period
                self.lag += min(1.0, (b - a) / DELAY_ROWS) * (float(late.mean()) - self.lag)
        return ticks


MAX_VALUE: Final = 1e30
"""In any unit: sums of squares of a long log do not overflow, and no measurement comes near."""
MIN_RISING_FRACTION: Final = 0.02
"""A column of which no larger part rises is no time;"""
MAX_REPEATED_FRACTION: Final = 0.2
"""If more than this part of the rows have the time stamp of the row before, the clock is too coarse
for them."""


@dataclass(frozen=True)
class SampleClock:
    """The time of rows: the usual `step` (s); `even` where time stamps are not used but rows are
    taken as even, `coarse` where that is because the stamps are too coarse; `polled` where rows are
    ticks of a controller and the stamps are those of a recorder."""

    step: float
    even: bool
    coarse: bool = False
    resolution: float = 0.0
    polled: PolledClock | None = None

    @classmethod
    def of(cls, log: Log, layout: LogLayout, rate: float) -> "SampleClock":
        """Told from the first rows, or by the rate (Hz). Raises LogError where they disagree."""
        if layout.time is None:
            return cls(1.0 / rate, True)
        t = next((c[:, 0] for c in log.chunks([layout.time.name])), np.zeros(0))
        t = t[np.abs(t) <= MAX_VALUE] * layout.time.factor
        steps = np.diff(t)
        rising = steps[steps > 0]
        if len(rising) <= MIN_RISING_FRACTION * len(steps) and not rate:
            raise LogError(
                shown(log.file),
                f"the time in column '{shown(layout.time.name)}' does not increase; choose another "
                "column with --column t=NAME, or give the sample rate with --rate",
            )
        if not len(rising):
            return cls(1.0 / rate, True)
        span = float(t[-1] - t[0]) / max(len(t) - 1, 1)
        if rate:
            _check_rate(log, layout, rate, span)
            return cls(1.0 / rate, True)
        if float(np.mean(steps == 0)) > MAX_REPEATED_FRACTION and span > 0:
            return cls(span, True, True, float(np.median(rising)))
        polled = _polled_clock(log, layout)
        return cls(polled.period if polled else float(np.median(rising)), False, polled=polled)


def _polled_clock(log: Log, layout: LogLayout) -> PolledClock | None:
    """Whether the first rows are ticks of a controller whatever their stamps say."""
    if layout.time is None or not layout.q or len(layout.q) != len(layout.qd):
        return None
    rows = next(log.chunks(layout.names), np.zeros((0, len(layout.names))))
    rows = rows[:, layout.places] * layout.factors
    n = len(layout.q)
    rows = rows[(np.abs(rows[:, : 1 + 2 * n]) <= MAX_VALUE).all(axis=1)]
    return PolledClock.of(rows[:, 0], rows[:, 1 : 1 + n], rows[:, 1 + n : 1 + 2 * n])


def _check_rate(log: Log, layout: LogLayout, rate: float, span: float) -> None:
    if layout.time is not None and not 0.5 < span * rate < 2.0:
        raise LogError(
            shown(log.file),
            f"the rows are {span:.4g} s apart in column '{shown(layout.time.name)}', but --rate "
            f"{rate:g} means {1 / rate:.4g} s; give the unit of time (--unit t=ms) or another rate",
        )
