"""Faults of a log: units that cannot be meant, quaternions that are none."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.identification.data.column_map import LogColumn, LogLayout
from symgen.identification.data.log_file import Log, LogError
from symgen.identification.data.usable_rows import LogSurvey
from symgen.mechanics.model import Limits
from symgen.numbers.scalar import Numbers
from symgen.text import shown

FACTOR_TOLERANCE: Final = 0.2
"""How far a factor may be from that of a unit and still be taken for it."""
MIN_CORRELATION: Final = 0.9
"""The correlation of velocities and positions from which the factor between them is judged."""
MAX_EXCESS: Final = 0.5
"""By how much of its range a joint must leave that before units are suspected; of its speed limit,
ten times."""
DEGREE: Final = math.pi / 180
FACTOR_MEANINGS: Final = (
    (1 / DEGREE, "positions in degrees and velocities in rad/s"),
    (DEGREE, "velocities in degrees per second and positions in rad"),
    (
        1e3,
        "positions in mm and velocities in m/s, or velocities that are 1000 times too small",
    ),
    (1e-3, "time in milliseconds instead of seconds"),
    (1e-6, "time in microseconds instead of seconds"),
    (1e-9, "time in nanoseconds instead of seconds"),
)
"""What it means if the derivatives of positions are this many times the velocities."""
SMALL_UNITS: Final = {"rad": (DEGREE, "degrees"), "m": (1e-3, "mm")}
"""By the unit that a joint should have, the one that makes its numbers larger."""


MIN_JUMP: Final = 5.0
"""A travel so many times larger than 95 % of the others is a jump between two runs."""
MAX_VELOCITY_LAG: Final = 0.1
"""The largest lag of velocities that is tried (s)."""
CLEARER: Final = 0.25
"""The part of what positions and velocities do not have in common that a lag may leave."""
INTEGRATION_TIME: Final = 0.1
"""The time over which velocities are integrated (s)."""


@dataclass(frozen=True)
class VelocityRegression:
    """Travels of positions i regressed on integrals of velocities j (n x n): the slope, and the
    correlation (0 where one of them does not move)."""

    slope: Numbers
    correlation: Numbers

    @classmethod
    def of(cls, segments: Sequence[tuple[Numbers, Numbers, Numbers]]) -> "VelocityRegression":
        """From times (N), positions and velocities (N x n) of segments without gaps."""
        parts = [_windowed_changes(*segment) for segment in segments]
        q, integral = (np.concatenate(x) for x in zip(*parts, strict=True))
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large is out of range
            usual = np.quantile(np.abs(q), 0.95, axis=0) if len(q) else 0.0
            q = np.where(np.abs(q) > MIN_JUMP * usual, 0.0, q)
            a, b = np.sum(q**2, axis=0), np.sum(integral**2, axis=0)
            products = q.T @ integral
            sizes = np.sqrt(np.outer(a, b))
            correlation = np.divide(products, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        return cls(products / np.maximum(b, 1e-300), correlation)

    def reordered(self, order: list[int]) -> "VelocityRegression":
        """With the velocities in another order."""
        return VelocityRegression(self.slope[:, order], self.correlation[:, order])

    def factors(self, least: float) -> dict[int, float]:
        """The slope of each joint whose own velocity correlates by more than `least`."""
        rows = zip(np.diag(self.slope).tolist(), np.diag(self.correlation).tolist(), strict=True)
        return {k: slope for k, (slope, r) in enumerate(rows) if abs(r) > least}


def velocity_lag(segments: Sequence[tuple[Numbers, Numbers, Numbers]], step: float) -> float:
    """By how much the velocities of segments are later than the derivatives of the positions (s);
    0 if they are not clearly so."""
    rows = int(MAX_VELOCITY_LAG / step)
    segments = [segment for segment in segments if len(segment[0]) > 3 * rows]
    if not segments or not rows:
        return 0.0

    def apart(lag: int) -> float:
        parts = [
            (t[rows:-rows], q[rows:-rows], np.roll(v, -lag, 0)[rows:-rows]) for t, q, v in segments
        ]
        return 1 - float(np.median(np.diag(VelocityRegression.of(parts).correlation)))

    best = min(np.unique(np.linspace(-rows, rows, 21).astype(int)).tolist(), key=apart)
    return best * step if apart(best) < CLEARER * apart(0) else 0.0


def _windowed_changes(t: Numbers, q: Numbers, qd: Numbers) -> tuple[Numbers, Numbers]:
    """Travels of the positions within windows, and the integrals of the velocities (M x n)."""
    if len(t) < 3:
        return q[:0], qd[:0]
    steps = np.diff(t)[:, None]
    integral = np.vstack([np.zeros(qd.shape[1]), np.cumsum((qd[1:] + qd[:-1]) / 2 * steps, axis=0)])
    rows = min(max(1, round(INTEGRATION_TIME / float(np.median(steps)))), len(t) - 1)
    return q[rows:] - q[:-rows], integral[rows:] - integral[:-rows]


def check_units(
    log: Log, layout: LogLayout, survey: LogSurvey, joints: Sequence[tuple[Limits, str]]
) -> None:
    """Raises LogError for units that cannot be meant; `joints` are limits and unit of each
    position, none where positions and velocities are not the same coordinates."""
    n, slopes, probe = len(joints), dict[int, float](), survey.first_rows
    if layout.qd and n:
        (a, b), rows = probe.longest, probe.rows
        segment = probe.t[a:b], rows[a:b, :n], rows[a:b, n : 2 * n]
        slopes = VelocityRegression.of([segment]).factors(MIN_CORRELATION)
    for suspicion in (
        *_factor_suspicions(layout, slopes, [unit for _, unit in joints]),
        *_range_suspicions(layout, survey, slopes, joints),
    ):
        raise LogError(
            shown(log.file),
            f"the units are probably wrong: {suspicion}; give the units with --unit, or add "
            "--trust-units if they are correct",
        )


def _factor_suspicions(
    layout: LogLayout, slopes: Mapping[int, float], units: Sequence[str]
) -> Iterator[str]:
    """Of all joints with a unit; a factor of one joint alone is reported with a cure by the
    diagnosis of the log."""
    for unit in SMALL_UNITS:
        clear = [(k, slope) for k, slope in slopes.items() if units[k] == unit]
        meant = {_meaning(slope) for _, slope in clear}
        if len(meant) == 1 and None not in meant:
            k, slope = clear[0]
            yield (
                f"the derivative of '{shown(layout.q[k].name)}' is {slope:.3g} times "
                f"'{shown(layout.qd[k].name)}', as with {meant.pop()}"
            )


def _range_suspicions(
    layout: LogLayout,
    survey: LogSurvey,
    slopes: Mapping[int, float],
    joints: Sequence[tuple[Limits, str]],
) -> Iterator[str]:
    """Positions and velocities far beyond their limits, but for velocities that are clearly a
    multiple of the derivative: the diagnosis of the log reports these with their factor."""
    for k, (limits, unit) in enumerate(joints):
        if abs(slopes.get(k, 1.0) - 1) > FACTOR_TOLERANCE:
            continue
        factor, words = SMALL_UNITS[unit]
        if limits.lower is not None and limits.upper is not None:
            margin = MAX_EXCESS * (limits.upper - limits.lower)
            beyond = survey.high[k] > limits.upper + margin
            if beyond or survey.low[k] < limits.lower - margin:
                worst = survey.high[k] if beyond else survey.low[k]
                yield (
                    f"'{shown(layout.q[k].name)}' reaches {worst:.4g}, but the range of the joint "
                    f"is {limits.lower:.4g} to {limits.upper:.4g} {unit}, as with {words} "
                    f"({worst * factor:.3g} {unit})"
                )
        column = len(joints) + k
        fastest = max(-survey.low[column], survey.high[column]) if layout.qd else 0.0
        if limits.velocity and fastest > 10 * limits.velocity:
            yield (
                f"'{shown(layout.qd[k].name)}' reaches {fastest:.4g}, but the limit of the joint "
                f"is {limits.velocity:.4g} {unit}/s, as with {words} per second"
            )


def _meaning(slope: float) -> str | None:
    return next(
        (words for factor, words in FACTOR_MEANINGS if abs(slope / factor - 1) < FACTOR_TOLERANCE),
        None,
    )


QUATERNION_TOLERANCE: Final = 1e-3
"""How far the norm of a quaternion may be from 1; that is what four digits leave."""


def check_quaternions(
    log: Log, columns: Sequence[LogColumn], quaternions: Sequence[slice], start: int, rows: Numbers
) -> None:
    """Raises LogError for four entries that are no unit quaternion."""
    for four in quaternions:
        norms = np.linalg.norm(rows[:, four], axis=1)
        bad = np.flatnonzero(np.abs(norms - 1) > QUATERNION_TOLERANCE)
        if len(bad):
            row, (first, *_, last) = int(bad[0]), columns[four]
            raise LogError(
                log.location(start + row),
                f"columns '{shown(first.name)}' to '{shown(last.name)}' are not a "
                f"unit quaternion: their norm is {norms[row]:.4g}; check the order of the columns",
            )


MAX_STEP_OF_UNIT: Final = {"ms": 250.0, "us": 2.5e5, "ns": math.inf}
"""What time is in whose steps are at most so many."""
MAX_STEP: Final = 0.25
"""Whoever takes derivatives of rows that are further apart (s) hardly means seconds."""


def check_step(log: Log, step: float) -> None:
    """Raises LogError for a step of time (s) that is too long for derivatives of a motion."""
    if step > MAX_STEP:
        unit = next(name for name, most in MAX_STEP_OF_UNIT.items() if step <= most)
        raise LogError(
            shown(log.file),
            f"the unit of time is probably wrong: the rows are {step:.4g} s apart, as with time in "
            f"{unit}; give --unit t={unit}, or add --trust-units if the time is in seconds",
        )
