"""Faults of a log: units that cannot be meant, quaternions that are none."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from symgen.identification.data.column_map import Layout
from symgen.identification.data.log_file import Log, LogError
from symgen.mechanics.model import Limits
from symgen.numbers.types import Numbers
from symgen.text import shown

NEAR: Final = 0.2
"""How far a factor may be from that of a unit and still be taken for it."""
CLEAR: Final = 0.9
"""How well velocities must agree with differences of positions, but for a factor, before the factor
is judged."""
FAR: Final = 0.5
"""By how much of its range a joint must leave that before units are suspected; of its speed limit,
ten times."""
DEGREE: Final = math.pi / 180
FACTORS: Final = (
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
"""What it means if differences of positions in time are this many times the velocities."""

SMALL_UNITS: Final = {"rad": (DEGREE, "degrees"), "m": (1e-3, "mm")}
"""By the unit that a joint should have, the one that makes its numbers larger."""


@dataclass
class Tally:
    """A tally of the rows seen so far, which tells units: extremes, and sums of velocities with
    differences of positions."""

    log: Log
    layout: Layout
    joints: Sequence[tuple[Limits, str]]
    """Limits and unit of each position, none where positions and velocities are not the same
    coordinates."""
    low: Numbers = field(init=False)
    high: Numbers = field(init=False)
    fastest: Numbers = field(init=False)
    sums: Numbers = field(init=False)

    def __post_init__(self) -> None:
        n = len(self.joints)
        self.low, self.high, self.fastest = np.full(n, np.inf), np.full(n, -np.inf), np.zeros(n)
        self.sums = np.zeros((3, n))

    def add(self, t: Numbers, q: Numbers, qd: Numbers) -> None:
        """Takes rows into account. Raises LogError for units that cannot be meant."""
        if not self.joints or len(t) < 3:
            return
        self.low, self.high = np.minimum(self.low, q.min(0)), np.maximum(self.high, q.max(0))
        if qd.shape[1]:
            self.fastest = np.maximum(self.fastest, np.abs(qd).max(0))
            steps = (t[2:] - t[:-2])[:, None]
            with np.errstate(
                over="ignore", invalid="ignore", divide="ignore"
            ):  # what is too large to square is out of range below
                rates, qd = ((q[2:] - q[:-2]) / steps)[steps[:, 0] > 0], qd[1:-1][steps[:, 0] > 0]
                self.sums += [(rates * qd).sum(0), (rates * rates).sum(0), (qd * qd).sum(0)]
        for suspicion in (*self._factors(), *self._ranges()):
            raise LogError(
                shown(self.log.file),
                suspicion
                + "; give the units with --unit, or add --trust-units if they are correct",
            )

    def _factors(self) -> Iterator[str]:
        """Of all joints with a unit; a factor of one joint alone is reported with a cure by the
        diagnosis of the log."""
        for unit in SMALL_UNITS:
            clear = [(k, x) for k, x in self._slopes() if self.joints[k][1] == unit]
            meant = {_meaning(slope) for _, slope in clear}
            if len(meant) == 1 and None not in meant:
                k, slope = clear[0]
                yield (
                    f"the units are probably wrong: the derivative of "
                    f"'{shown(self.layout.q[k].name)}' is {slope:.3g} times "
                    f"'{shown(self.layout.qd[k].name)}', as with {meant.pop()}"
                )

    def _slopes(self) -> Iterator[tuple[int, float]]:
        """The factor of each joint from its velocity to the derivative of its position, where it is
        clear."""
        for k, (products, rates, qd) in enumerate(
            self.sums.T.tolist()
        ):  # floats: what overflowed is no warning
            if qd > 0 and abs(products) > CLEAR * math.sqrt(rates * qd):
                yield k, products / qd

    def _ranges(self) -> Iterator[str]:
        for k, (limits, unit) in enumerate(self.joints):
            factor, words = SMALL_UNITS[unit]
            if limits.lower is not None and limits.upper is not None:
                margin = FAR * (limits.upper - limits.lower)
                outside = (
                    self.low[k] < limits.lower - margin or self.high[k] > limits.upper + margin
                )
                if outside and not self._multiple(k):
                    worst = self.high[k] if self.high[k] > limits.upper + margin else self.low[k]
                    yield (
                        f"the units are probably wrong: '{shown(self.layout.q[k].name)}' reaches "
                        f"{worst:.4g}, but the range of the joint is {limits.lower:.4g} to "
                        f"{limits.upper:.4g} {unit}, as with {words} ({worst * factor:.3g} {unit})"
                    )
            if limits.velocity and self.fastest[k] > 10 * limits.velocity and not self._multiple(k):
                yield (
                    f"the units are probably wrong: '{shown(self.layout.qd[k].name)}' reaches "
                    f"{self.fastest[k]:.4g}, but the limit of the joint is "
                    f"{limits.velocity:.4g} {unit}/s, as with {words} per second"
                )

    def _multiple(self, k: int) -> bool:
        """Whether a velocity is clearly a multiple of the derivative of its position, which the
        diagnosis of the log reports with its factor."""
        return abs(dict(self._slopes()).get(k, 1.0) - 1) > NEAR


def _meaning(slope: float) -> str | None:
    return next((words for factor, words in FACTORS if abs(slope / factor - 1) < NEAR), None)


UNIT: Final = 1e-3
"""How far the norm of a quaternion may be from 1; that is what four digits leave."""


def check_quaternions(
    log: Log, columns: Sequence[str], quaternions: Sequence[slice], start: int, rows: Numbers
) -> None:
    """Raises LogError for four entries that are no unit quaternion."""
    for four in quaternions:
        norms = np.linalg.norm(rows[:, four], axis=1)
        bad = np.flatnonzero(np.abs(norms - 1) > UNIT)
        if len(bad):
            row = int(bad[0])
            raise LogError(
                log.place(start + row),
                f"columns '{shown(columns[four][0])}' to '{shown(columns[four][-1])}' are not a "
                f"unit quaternion: their norm is {norms[row]:.4g}; check the order of the columns",
            )


UNITS: Final = {"ms": 250.0, "us": 2.5e5, "ns": math.inf}
"""What time is in whose steps are at most so many."""
SLOWEST: Final = 0.25
"""Whoever takes derivatives of rows that are further apart (s) hardly means seconds."""


def check_step(log: Log, step: float) -> None:
    """Raises LogError for a step of time (s) that is too long for derivatives of a motion."""
    if step > SLOWEST:
        unit = next(name for name, most in UNITS.items() if step <= most)
        raise LogError(
            shown(log.file),
            f"the unit of time is probably wrong: the rows are {step:.4g} s apart, as with time in "
            f"{unit}; give --unit t={unit}, or add --trust-units if the time is in seconds",
        )
