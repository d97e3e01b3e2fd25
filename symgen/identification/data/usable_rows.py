"""The rows of a log that can be used, in SI units and in true time, where segments without gaps
begin, and a survey of them: time, ranges, dead and saturated channels."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.column_map import LogLayout
from symgen.identification.data.log_file import Log
from symgen.identification.data.sample_clock import MAX_VALUE, SampleClock, TimestampCorrection
from symgen.identification.data.samples import ColumnStatistics, RowRange
from symgen.numbers.scalar import Numbers

FULL_TURN: Final = 2 * math.pi
MAX_MOTION_AT_TURN: Final = FULL_TURN / 8
"""What a joint may move beside the turn (rad); a jump that is no turn is left as it is,"""
MAX_RANGE_OF_WRAPPED_ANGLE: Final = 1.001 * FULL_TURN
"""and so is one of angles that have been further apart (rad): those are not kept within a turn."""


@dataclass
class AngleUnwrapper:
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
    def of(cls, layout: LogLayout) -> "AngleUnwrapper":
        """For the positions of a layout, in rows without time."""
        angles = [k for k, column in enumerate(layout.q) if column.unit == "rad"]
        return cls(np.array(angles, np.intp))

    def __call__(self, rows: Numbers, begins: NDArray[np.bool_]) -> None:
        """Changes the angles of rows (N x k), of which some (N) begin a segment and follow on
        nothing."""
        if not len(rows) or not len(self.columns):
            return
        angles = rows[:, self.columns]
        last = angles[0] if self.last is None else self.last
        jumps = np.diff(angles, axis=0, prepend=last[None])
        turns = np.round(jumps / FULL_TURN)
        turns[(np.abs(jumps - turns * FULL_TURN) > MAX_MOTION_AT_TURN) | begins[:, None]] = 0.0
        turns[self._apart(angles) > MAX_RANGE_OF_WRAPPED_ANGLE] = 0.0
        self.counts += (turns != 0).sum(axis=0)
        taken = self.carried - np.cumsum(turns, axis=0)
        first = np.maximum.accumulate(np.where(begins, np.arange(len(rows)), -1))
        taken -= np.where(first[:, None] < 0, 0.0, taken[first])
        self.last, self.carried = angles[-1].copy(), taken[-1].copy()
        if taken.any():
            rows[:, self.columns] = angles + FULL_TURN * taken

    def _apart(self, angles: Numbers) -> Numbers:
        """How far the angles have been apart until each row (N x k)."""
        low = np.minimum.accumulate(np.concatenate([self.low[None], angles]))
        high = np.maximum.accumulate(np.concatenate([self.high[None], angles]))
        self.low, self.high = low[-1], high[-1]
        return np.asarray((high - low)[1:])


REPEATED_TIME: Final = "with the same time as the row before"
REPEATED_ROW: Final = "identical to the row before"
RESTART_STEPS: Final = 10.0
"""Usual steps by which time must run back for a recorder to have begun anew."""
FIRST_ROWS: Final = 1 << 16
"""Usable rows from the beginning by which noise and bandwidth are judged."""


@dataclass(frozen=True)
class UsableRows:
    """Rows that can be used: time (N), columns of the layout but time (N x k), and which rows (N)
    begin a segment."""

    t: Numbers
    rows: Numbers
    starts_segment: NDArray[np.bool_]

    @classmethod
    def first(cls, parts: Iterable["UsableRows"]) -> "UsableRows":
        """The rows of the first consecutive parts, `FIRST_ROWS` or somewhat more."""
        taken, count = list[UsableRows](), 0
        for part in parts:
            taken.append(part)
            count += len(part.t)
            if count >= FIRST_ROWS:
                break
        if not taken:
            return cls(np.zeros(0), np.zeros((0, 1)), np.zeros(0, np.bool_))
        columns = zip(*(vars(part).values() for part in taken), strict=True)
        return cls(*map(np.concatenate, columns))

    @property
    def longest(self) -> tuple[int, int]:
        """First row and that after the last of the longest segment."""
        starts = sorted({0, *np.flatnonzero(self.starts_segment).tolist(), len(self.t)})
        return max(pairwise(starts), key=lambda ab: ab[1] - ab[0], default=(0, 0))


@dataclass
class UsableRowReader:
    """The usable rows of a log, read again at each call of `usable`; `gap` (s) is a longer step
    than a segment may have. `reasons` counts the rows that are left out, by why; `places` has
    where the first of each is."""

    log: Log
    layout: LogLayout
    clock: SampleClock
    gap: float
    reasons: Counter[str] = field(default_factory=Counter)
    places: dict[str, int] = field(default_factory=dict)
    unwrap_counts: dict[str, int] = field(default_factory=dict)
    """How often the angles of each column jump by a turn, where they do."""
    last: float = -np.inf
    seen: int = 0

    def usable(self) -> Iterator[UsableRows]:
        """Pieces of the log from its first row to its last. Raises LogError."""
        self.reasons.clear()
        self.last, self.seen = -np.inf, 0
        ticks = TimestampCorrection(self.clock.polled) if self.clock.polled else None
        turns, factors, places = (
            AngleUnwrapper.of(self.layout),
            self.layout.factors,
            self.layout.places,
        )
        timed, moving = bool(self.layout.time), self._moving
        needed = slice(moving + timed)
        for raw in self.log.chunks(self.layout.names):
            rows = raw[:, places] * factors
            finite = np.abs(rows) <= MAX_VALUE
            complete = np.asarray(finite[:, needed].all(axis=1))
            self._leave(~complete, _reason_of_invalid(rows[:, needed]))
            t = rows[:, 0].copy() if timed and not self.clock.even else self._even(len(rows))
            rows = rows[:, timed:]
            if ticks:
                t[complete] = ticks(t[complete], *self._motion(rows[complete]))
            rows[:, moving:][~finite[:, timed + moving :]] = np.nan
            kept, begins = self._timed(np.where(complete, t, np.nan))
            self.seen += len(raw)
            used = UsableRows(t[kept], rows[kept], begins[kept])
            turns(used.rows, used.starts_segment)
            yield used
        names = [self.layout.all[bool(self.layout.time) + k].name for k in turns.columns]
        counts = zip(names, turns.counts.tolist(), strict=True)
        self.unwrap_counts = {name: count for name, count in counts if count}

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
        begin a segment."""
        kept, begins = np.zeros(len(t), np.bool_), np.zeros(len(t), np.bool_)
        timed = np.flatnonzero(~np.isnan(t))
        times = t[timed]
        before = np.concatenate([[self.last], times[:-1]])
        anew = np.flatnonzero(times < before - RESTART_STEPS * self.clock.step)
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
            self._leave(late[0], REPEATED_ROW if self.clock.polled else REPEATED_TIME)
            self._leave(late[1], "with an earlier time than the row before")
            self.last = float(highest[-1])
        return kept, begins


def rows_in_words(count: int, reason: str) -> str:
    """A number of rows that are left out, with the reason."""
    return f"{count} row{'s' * (count != 1)} {reason}"


def _reason_of_invalid(rows: Numbers) -> str:
    bad = rows[~(np.abs(rows) <= MAX_VALUE)]
    if len(bad) and np.isfinite(bad[0]):
        return f"with values that are too large to be measurements, such as {bad[0]:g}"
    return "with entries that are empty, infinite or not numbers"


# -- survey ----------------------------------------------------------------------------------------


STEP_TOLERANCE: Final = 1.5e-3
"""How far the steps of even sampling may be from the usual one, as a part of it; time stamps are
rounded."""
EXTREME_BAND: Final = 0.02
"""The part of a channel's range below its extreme that a saturated one hardly visits."""
MIN_SATURATED_ROWS: Final = 10
"""Moving rows at exactly the extreme that saturation takes at least,"""
MIN_SATURATED_FRACTION: Final = 1e-3
"""and as a part of all."""
MIN_EXTREME_RATIO: Final = 2.0
"""How many times as often the extreme must be met as all that is within `EXTREME_BAND` of it."""


@dataclass(frozen=True)
class LogSurvey:
    """The survey of a log: `rows` have been read, `usable` of them can be used, `left_out` counts
    the others by reason and `places` has the first of each. `segments` are ranges of usable rows
    without gaps; `steps` are the least, 5 %, median, 95 % and largest step of time within them (s),
    `gaps` the steps between them, longest first. `low` and `high` (k) are the ranges of the
    layout's columns but time, `ceilings` and `floors` (c) where measured channels are saturated
    (infinite where they are not), `saturated_rows` (c) how many rows that concerns, `missing` (c)
    how many rows have no number. `unwrap_counts` counts how often the angles of a column jump by a
    turn. `first_rows` are rows from the beginning."""

    clock: SampleClock
    rows: int
    usable: int
    left_out: Mapping[str, int]
    places: Mapping[str, int]
    segments: tuple[RowRange, ...]
    first: float
    last: float
    steps: tuple[float, float, float, float, float]
    gaps: tuple[float, ...]
    low: Numbers
    high: Numbers
    ceilings: Numbers
    floors: Numbers
    saturated_rows: NDArray[np.int64]
    missing: NDArray[np.int64]
    unwrap_counts: Mapping[str, int]
    first_rows: UsableRows

    @property
    def even(self) -> bool:
        """Whether all steps within segments are the usual one but for rounding of stamps."""
        step = self.clock.step
        return max(self.steps[4] - step, step - self.steps[0]) <= STEP_TOLERANCE * step

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which columns (k) never change."""
        return np.asarray(self.low == self.high)


@dataclass
class _SurveyAccumulator:
    """The part of a log seen so far: `extremes` (2 x c) are the largest measurements and the
    largest opposites of measurements, `exact` (2 x c) how many moving rows have exactly these."""

    columns: int
    measured: int
    positions: int
    statistics: ColumnStatistics
    usable: int = 0
    starts: list[int] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)
    steps: list[Numbers] = field(default_factory=list)
    shortest: float = np.inf
    longest: float = 0.0
    first: float = np.nan
    last: float = np.nan
    extremes: Numbers = field(default_factory=lambda: np.full((2, 1), -np.inf))
    exact: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    first_rows: list[UsableRows] = field(default_factory=list)

    def add(self, part: UsableRows) -> None:
        """Takes usable rows into account."""
        if not len(part.t):
            return
        self.statistics.add(part.rows)
        q, y = part.rows[:, : self.positions], part.rows[:, self.columns - self.measured :]
        moving = np.concatenate([[False], (q[1:] != q[:-1]).any(axis=1)])
        both = np.stack([y, -y])
        before, self.extremes = (
            self.extremes,
            np.maximum(self.extremes, np.max(both, 1, initial=-np.inf, where=~np.isnan(both))),
        )
        found = ((both == self.extremes[:, None]) & moving[:, None]).sum(axis=1)
        self.exact = np.where(self.extremes > before, 0, self.exact) + found
        self._time(part)
        if self.usable < FIRST_ROWS:
            self.first_rows.append(part)
        self.usable += len(part.t)

    def _time(self, part: UsableRows) -> None:
        begins = part.starts_segment.copy()
        if not self.usable:
            begins[0], self.first = True, float(part.t[0])
        steps = np.diff(part.t, prepend=self.last)
        inner = steps[~begins & ~np.isnan(steps)]
        self.shortest = min(self.shortest, float(inner.min(initial=np.inf)))
        self.longest = max(self.longest, float(inner.max(initial=0.0)))
        if self.usable < FIRST_ROWS:
            self.steps.append(inner)
        for k in np.flatnonzero(begins).tolist():
            self.starts.append(self.usable + k)
            self.gaps += [float(steps[k])] if self.usable + k else []
        self.last = float(part.t[-1])


def survey_log(rows: UsableRowReader, look: Callable[[int, Numbers], None]) -> LogSurvey:
    """Reads a whole log once; `look` sees the number of the first and all columns of
    usable rows. Raises LogError."""
    layout = rows.layout
    columns, measured = len(layout.all) - bool(layout.time), len(layout.measured)
    seen = _SurveyAccumulator(columns, measured, len(layout.q), ColumnStatistics.of(columns))
    for part in rows.usable():
        look(seen.usable, part.rows)
        seen.add(part)
    probe = UsableRows(*(x[:FIRST_ROWS] for x in vars(UsableRows.first(seen.first_rows)).values()))
    steps = np.concatenate(seen.steps) if seen.steps else np.zeros(0)
    spread = np.quantile(steps, (0.05, 0.5, 0.95)) if len(steps) else np.full(3, rows.clock.step)
    least, most = (seen.shortest, seen.longest) if seen.longest else (rows.clock.step,) * 2
    (low, high), of_measured = seen.statistics.ends, slice(columns - measured, None)
    ceilings, floors, stuck = _saturated(rows, seen, probe, low[of_measured], high[of_measured])
    return LogSurvey(
        rows.clock,
        rows.seen,
        seen.usable,
        dict(rows.reasons),
        dict(rows.places),
        tuple(pairwise([*seen.starts, seen.usable])),
        seen.first,
        seen.last,
        (least, float(spread[0]), float(spread[1]), float(spread[2]), most),
        tuple(sorted(seen.gaps, reverse=True)),
        low,
        high,
        ceilings,
        floors,
        stuck,
        seen.usable - np.atleast_1d(seen.statistics.count)[of_measured],
        dict(rows.unwrap_counts),
        probe,
    )


def _saturated(
    rows: UsableRowReader, seen: _SurveyAccumulator, probe: UsableRows, low: Numbers, high: Numbers
) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """Where measured channels are saturated, above and below, and how many rows that concerns. The
    log is read again only where many rows have exactly the extreme."""
    c, enough = seen.measured, max(MIN_SATURATED_ROWS, MIN_SATURATED_FRACTION * seen.usable)
    suspect = (seen.exact >= enough) & np.tile(low < high, (2, 1))
    near, at = np.zeros((2, c), np.int64), np.zeros((2, c), np.int64)
    if suspect.any():
        for part in rows.usable():
            measured, margin = part.rows[:, seen.columns - c :], EXTREME_BAND * (high - low)
            at += [(measured == high).sum(0), (measured == low).sum(0)]
            near += [(measured >= high - margin).sum(0), (measured <= low + margin).sum(0)]
    suspect &= at >= MIN_EXTREME_RATIO * (near - at)
    measured = probe.rows[:, seen.columns - c :]
    for k in np.flatnonzero(suspect.any(axis=0)).tolist():
        values = np.unique(measured[~np.isnan(measured[:, k]), k])
        coarse = len(values) > 2 and np.diff(values).min() > EXTREME_BAND * (high[k] - low[k])
        suspect[:, k] &= not coarse  # its next value is no nearer to the extreme
    ceilings = np.where(suspect[0], high, np.inf)
    return ceilings, np.where(suspect[1], low, -np.inf), (at * suspect).sum(0)
