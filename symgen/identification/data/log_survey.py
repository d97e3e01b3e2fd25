"""A survey of a log: its time, the rows that can be used, ranges, dead and saturated channels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.samples import ColumnStatistics, Range
from symgen.identification.data.usable_rows import PROBE, Clock, Rows, Usable
from symgen.numbers.types import Numbers

TOP: Final = 0.02
"""The part of a channel's range below its extreme that a saturated one hardly visits."""
STUCK: Final = 10
"""Moving rows at exactly the extreme that saturation takes at least,"""
STUCK_PART: Final = 1e-3
"""and as a part of all."""
SELDOM: Final = 2.0
"""How many times as often the extreme must be met as all that is within TOP of it."""


@dataclass(frozen=True)
class Survey:
    """The survey of a log: `rows` have been read, `usable` of them can be used, `left_out` counts
    the others by reason and `places` has the first of each. `stretches` are ranges of usable rows
    without gaps; `steps` are the least, 5 %, median, 95 % and largest step of time within them (s),
    `gaps` the steps between them, longest first. `low` and `high` (k) are the ranges of the
    layout's columns but time, `ceilings` and `floors` (c) where measured channels are saturated
    (infinite where they are not), `stuck` (c) how many rows that concerns, `missing` (c) how many
    rows have no number. `turned` counts how often the angles of a column jump by a turn. `probe`
    are rows from the beginning."""

    clock: Clock
    rows: int
    usable: int
    left_out: Mapping[str, int]
    places: Mapping[str, int]
    stretches: tuple[Range, ...]
    first: float
    last: float
    steps: tuple[float, float, float, float, float]
    gaps: tuple[float, ...]
    low: Numbers
    high: Numbers
    ceilings: Numbers
    floors: Numbers
    stuck: NDArray[np.int64]
    missing: NDArray[np.int64]
    turned: Mapping[str, int]
    probe: Usable

    @property
    def even(self) -> bool:
        """Whether all steps within stretches are the usual one but for rounding of stamps."""
        from symgen.identification.data.usable_rows import EVEN

        step = self.clock.step
        return max(self.steps[4] - step, step - self.steps[0]) <= EVEN * step

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Which columns (k) never change."""
        return np.asarray(self.low == self.high)


@dataclass
class _Seen:
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
    probe: list[Usable] = field(default_factory=list)

    def add(self, part: Usable) -> None:
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
        if self.usable < PROBE:
            self.probe.append(part)
        self.usable += len(part.t)

    def _time(self, part: Usable) -> None:
        begins = part.begins.copy()
        if not self.usable:
            begins[0], self.first = True, float(part.t[0])
        steps = np.diff(part.t, prepend=self.last)
        inner = steps[~begins & ~np.isnan(steps)]
        self.shortest = min(self.shortest, float(inner.min(initial=np.inf)))
        self.longest = max(self.longest, float(inner.max(initial=0.0)))
        if self.usable < PROBE:
            self.steps.append(inner)
        for k in np.flatnonzero(begins).tolist():
            self.starts.append(self.usable + k)
            self.gaps += [float(steps[k])] if self.usable + k else []
        self.last = float(part.t[-1])


def survey(rows: Rows, look: Callable[[int, Numbers], None]) -> Survey:
    """Reads a whole log once; `look` sees the number of the first and all columns of
    usable rows. Raises LogError."""
    layout = rows.layout
    columns, measured = len(layout.all) - bool(layout.time), len(layout.measured)
    seen = _Seen(columns, measured, len(layout.q), ColumnStatistics.of(columns))
    for part in rows.usable():
        look(seen.usable, part.rows)
        seen.add(part)
    probe = Usable(*(x[:PROBE] for x in vars(Usable.first(seen.probe)).values()))
    steps = np.concatenate(seen.steps) if seen.steps else np.zeros(0)
    spread = np.quantile(steps, (0.05, 0.5, 0.95)) if len(steps) else np.full(3, rows.clock.step)
    least, most = (seen.shortest, seen.longest) if seen.longest else (rows.clock.step,) * 2
    (low, high), of_measured = seen.statistics.ends, slice(columns - measured, None)
    ceilings, floors, stuck = _saturated(rows, seen, probe, low[of_measured], high[of_measured])
    return Survey(
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
        dict(rows.turned),
        probe,
    )


def _saturated(
    rows: Rows, seen: _Seen, probe: Usable, low: Numbers, high: Numbers
) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """Where measured channels are saturated, above and below, and how many rows that concerns. The
    log is read again only where many rows have exactly the extreme."""
    c, enough = seen.measured, max(STUCK, STUCK_PART * seen.usable)
    suspect = (seen.exact >= enough) & np.tile(low < high, (2, 1))
    near, at = np.zeros((2, c), np.int64), np.zeros((2, c), np.int64)
    if suspect.any():
        for part in rows.usable():
            measured, margin = part.rows[:, seen.columns - c :], TOP * (high - low)
            at += [(measured == high).sum(0), (measured == low).sum(0)]
            near += [(measured >= high - margin).sum(0), (measured <= low + margin).sum(0)]
    suspect &= at >= SELDOM * (near - at)
    measured = probe.rows[:, seen.columns - c :]
    for k in np.flatnonzero(suspect.any(axis=0)).tolist():
        values = np.unique(measured[~np.isnan(measured[:, k]), k])
        coarse = len(values) > 2 and np.diff(values).min() > TOP * (high[k] - low[k])
        suspect[:, k] &= not coarse  # its next value is no nearer to the extreme
    ceilings = np.where(suspect[0], high, np.inf)
    return ceilings, np.where(suspect[1], low, -np.inf), (at * suspect).sum(0)
