"""The rows of a log that can be used, in SI units and in true time, and where stretches without
gaps begin."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.column_map import Layout
from symgen.identification.data.log_file import Log, LogError
from symgen.identification.data.sample_clock import Polled, Ticks
from symgen.numbers.types import Numbers
from symgen.text import shown

TURN: Final = 2 * math.pi
MOST: Final = TURN / 8
"""What a joint may move beside the turn (rad); a jump that is no turn is left as it is,"""
WIDEST: Final = 1.001 * TURN
"""and so is one of angles that have been further apart (rad): those are not kept within a turn."""


@dataclass
class Turns:
    """Turns, which make the angles of rows continuous, piece by piece of a log. `columns` are those
    of angles, `counts` how often each has jumped by a turn."""

    columns: NDArray[np.intp]
    counts: NDArray[np.int64] = field(init=False)
    carried: Numbers = field(init=False)
    low: Numbers = field(init=False)
    high: Numbers = field(init=False)
    last: Numbers | None = None

    def __post_init__(self) -> None:
        self.counts = np.zeros(len(self.columns), np.int64)
        self.carried = np.zeros(len(self.columns))
        self.low, self.high = self.carried + np.inf, self.carried - np.inf

    @classmethod
    def of(cls, layout: Layout) -> "Turns":
        """For the positions of a layout, in rows without time."""
        angles = [k for k, column in enumerate(layout.q) if column.unit == "rad"]
        return cls(np.array(angles, np.intp))

    def __call__(self, rows: Numbers, begins: NDArray[np.bool_]) -> None:
        """Changes the angles of rows (N x k), of which some (N) begin a stretch and follow on
        nothing."""
        if not len(rows) or not len(self.columns):
            return
        angles = rows[:, self.columns]
        last = angles[0] if self.last is None else self.last
        jumps = np.diff(angles, axis=0, prepend=last[None])
        turns = np.round(jumps / TURN)
        turns[(np.abs(jumps - turns * TURN) > MOST) | begins[:, None]] = 0.0
        turns[self._apart(angles) > WIDEST] = 0.0
        self.counts += (turns != 0).sum(axis=0)
        taken = self.carried - np.cumsum(turns, axis=0)
        first = np.maximum.accumulate(np.where(begins, np.arange(len(rows)), -1))
        taken -= np.where(first[:, None] < 0, 0.0, taken[first])
        self.last, self.carried = angles[-1].copy(), taken[-1].copy()
        if taken.any():
            rows[:, self.columns] = angles + TURN * taken

    def _apart(self, angles: Numbers) -> Numbers:
        """How far the angles have been apart until each row (N x k)."""
        low = np.minimum.accumulate(np.concatenate([self.low[None], angles]))
        high = np.maximum.accumulate(np.concatenate([self.high[None], angles]))
        self.low, self.high = low[-1], high[-1]
        return np.asarray((high - low)[1:])


LARGEST: Final = 1e30
"""In any unit: sums of squares of a long log do not overflow, and no measurement comes near."""
RISING: Final = 0.02
"""A column of which no larger part rises is no time;"""
COARSE: Final = 0.2
"""If more than this part of the rows have the time stamp of the row before, the clock is too coarse
for them."""
EVEN: Final = 1.5e-3
"""How far the steps of even sampling may be from the usual one, as a part of it; time stamps are
rounded."""
SAME: Final = "with the same time as the row before"
AGAIN: Final = "identical to the row before"
BACK: Final = 10.0
"""Usual steps by which time must run back for a recorder to have begun anew."""


@dataclass(frozen=True)
class Clock:
    """The time of rows: the usual `step` (s); `even` where time stamps are not used but rows are
    taken as even, `coarse` where that is because the stamps are too coarse; `polled` where rows are
    ticks of a controller and the stamps are those of a recorder."""

    step: float
    even: bool
    coarse: bool = False
    resolution: float = 0.0
    polled: Polled | None = None

    @classmethod
    def of(cls, log: Log, layout: Layout, rate: float) -> "Clock":
        """Told from the first rows, or by the rate (Hz). Raises LogError where they disagree."""
        if layout.time is None:
            return cls(1.0 / rate, True)
        t = next((c[:, 0] for c in log.chunks([layout.time.name])), np.zeros(0))
        t = t[np.abs(t) <= LARGEST] * layout.time.factor
        steps = np.diff(t)
        rising = steps[steps > 0]
        if len(rising) <= RISING * len(steps) and not rate:
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
        if float(np.mean(steps == 0)) > COARSE and span > 0:
            return cls(span, True, True, float(np.median(rising)))
        polled = _polled(log, layout)
        return cls(polled.period if polled else float(np.median(rising)), False, polled=polled)


def _polled(log: Log, layout: Layout) -> Polled | None:
    """Whether the first rows are ticks of a controller whatever their stamps say."""
    if layout.time is None or not layout.q or len(layout.q) != len(layout.qd):
        return None
    rows = next(log.chunks(layout.names), np.zeros((0, len(layout.names))))
    rows = rows[:, layout.places] * layout.factors
    n = len(layout.q)
    rows = rows[(np.abs(rows[:, : 1 + 2 * n]) <= LARGEST).all(axis=1)]
    return Polled.of(rows[:, 0], rows[:, 1 : 1 + n], rows[:, 1 + n : 1 + 2 * n])


def _check_rate(log: Log, layout: Layout, rate: float, span: float) -> None:
    if layout.time is not None and not 0.5 < span * rate < 2.0:
        raise LogError(
            shown(log.file),
            f"the rows are {span:.4g} s apart in column '{shown(layout.time.name)}', but --rate "
            f"{rate:g} means {1 / rate:.4g} s; give the unit of time (--unit t=ms) or another rate",
        )


PROBE: Final = 1 << 16
"""Usable rows from the beginning by which noise and bandwidth are judged."""


@dataclass(frozen=True)
class Usable:
    """Rows that can be used: time (N), columns of the layout but time (N x k), and which rows (N)
    begin a stretch."""

    t: Numbers
    rows: Numbers
    begins: NDArray[np.bool_]

    @classmethod
    def first(cls, parts: Iterable["Usable"]) -> "Usable":
        """The rows of the first consecutive parts, PROBE or somewhat more."""
        taken, count = list[Usable](), 0
        for part in parts:
            taken.append(part)
            count += len(part.t)
            if count >= PROBE:
                break
        if not taken:
            return cls(np.zeros(0), np.zeros((0, 1)), np.zeros(0, np.bool_))
        columns = zip(*(vars(part).values() for part in taken), strict=True)
        return cls(*map(np.concatenate, columns))

    @property
    def longest(self) -> tuple[int, int]:
        """First row and that after the last of the longest stretch."""
        starts = sorted({0, *np.flatnonzero(self.begins).tolist(), len(self.t)})
        return max(pairwise(starts), key=lambda ab: ab[1] - ab[0], default=(0, 0))


@dataclass
class Rows:
    """The usable rows of a log, read again at each call of `usable`; `gap` (s) is a longer step
    than a stretch may have. `reasons` counts the rows that are left out, by why; `place` has where
    the first of each is."""

    log: Log
    layout: Layout
    clock: Clock
    gap: float
    reasons: Counter[str] = field(default_factory=Counter)
    places: dict[str, int] = field(default_factory=dict)
    turned: dict[str, int] = field(default_factory=dict)
    """How often the angles of each column jump by a turn, where they do."""
    last: float = -np.inf
    seen: int = 0

    def usable(self) -> Iterator[Usable]:
        """Pieces of the log from its first row to its last. Raises LogError."""
        self.reasons.clear()
        self.last, self.seen = -np.inf, 0
        ticks = Ticks(self.clock.polled) if self.clock.polled else None
        turns, factors, places = Turns.of(self.layout), self.layout.factors, self.layout.places
        timed, moving = bool(self.layout.time), self._moving
        needed = slice(moving + timed)
        for raw in self.log.chunks(self.layout.names):
            rows = raw[:, places] * factors
            finite = np.abs(rows) <= LARGEST
            complete = np.asarray(finite[:, needed].all(axis=1))
            self._leave(~complete, _reason(rows[:, needed]))
            t = rows[:, 0].copy() if timed and not self.clock.even else self._even(len(rows))
            rows = rows[:, timed:]
            if ticks:
                t[complete] = ticks(t[complete], *self._motion(rows[complete]))
            rows[:, moving:][~finite[:, timed + moving :]] = np.nan
            kept, begins = self._timed(np.where(complete, t, np.nan))
            self.seen += len(raw)
            used = Usable(t[kept], rows[kept], begins[kept])
            turns(used.rows, used.begins)
            yield used
        names = [self.layout.all[bool(self.layout.time) + k].name for k in turns.columns]
        counts = zip(names, turns.counts.tolist(), strict=True)
        self.turned = {name: count for name, count in counts if count}

    @property
    def _moving(self) -> int:
        """The number of columns of positions, velocities and accelerations; a row without them is
        of no use."""
        layout = self.layout
        return len(layout.q) + len(layout.qd) + len(layout.qdd)

    def _motion(self, rows: Numbers) -> tuple[Numbers, Numbers]:
        """Positions and velocities of rows without time."""
        n = len(self.layout.q)
        return rows[:, :n], rows[:, n : n + len(self.layout.qd)]

    def _even(self, count: int) -> Numbers:
        return np.arange(self.seen, self.seen + count, dtype=np.float64) * self.clock.step

    def _leave(self, rows: NDArray[np.bool_], reason: str) -> None:
        count = int(rows.sum())
        if count:
            self.reasons[reason] += count
            self.places.setdefault(reason, self.seen + int(np.argmax(rows)))

    def _timed(self, t: Numbers) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows come later than all before them since the recorder began, and which of these
        begin a stretch."""
        kept, begins = np.zeros(len(t), np.bool_), np.zeros(len(t), np.bool_)
        timed = np.flatnonzero(~np.isnan(t))
        times = t[timed]
        before = np.concatenate([[self.last], times[:-1]])
        anew = np.flatnonzero(times < before - BACK * self.clock.step)
        for a, b in zip([0, *anew], [*anew, len(times)], strict=True):
            start = -np.inf if a in anew else self.last
            highest = np.maximum.accumulate(np.concatenate([[start], times[a:b]]))
            rising = times[a:b] > highest[:-1]
            steps = times[a:b] - highest[:-1]
            kept[timed[a:b]] = rising
            begins[timed[a:b]] = rising & (steps > self.gap)
            repeated, earlier = steps == 0, steps < 0
            late = np.zeros((2, len(t)), np.bool_)
            late[0, timed[a:b]], late[1, timed[a:b]] = repeated, earlier
            self._leave(late[0], AGAIN if self.clock.polled else SAME)
            self._leave(late[1], "with an earlier time than the row before")
            self.last = float(highest[-1])
        return kept, begins


def rows_in_words(count: int, reason: str) -> str:
    """A number of rows that are left out, with the reason."""
    return f"{count} row{'s' * (count != 1)} {reason}"


def _reason(rows: Numbers) -> str:
    bad = rows[~(np.abs(rows) <= LARGEST)]
    if len(bad) and np.isfinite(bad[0]):
        return f"with values that are too large to be measurements, such as {bad[0]:g}"
    return "with entries that are empty, infinite or not numbers"
