"""Delays of the channels of forces as unknowns, each by a search over one parameter.

Forces are shifted against the motion and everything else is fitted again (variable projection), one
channel after the other until none changes. The sum of squares over the shift is a parabola near its
least value, whose lowest point is the delay. Forces between rows are taken from straight lines,
which take noise away; so shifts are odd multiples of half a step, between rows all of them."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.dataset import Reading
from symgen.identification.diagnostics.diagnostic_fit import (
    DRIVES,
    Picked,
    chosen,
    drive_model,
    ridged,
)
from symgen.identification.model.equations import JointForceEquations
from symgen.identification.model.problem import Problem
from symgen.numbers.types import Numbers
from symgen.text import shown

REACH: Final = 10
"""Steps by which forces are shifted at most."""
ROWS: Final = 4000
"""The largest number of rows of all blocks."""
SWEEPS: Final = 4
PARTS: Final = 8
"""Parts of the rows, each of which in turn is left out for standard errors."""


@dataclass(frozen=True)
class Delays:
    """Delays of the measured channels and their standard errors (c, s)."""

    values: Numbers
    errors: Numbers


def delays(reading: Reading, sought: Problem) -> Delays | None:
    """The delays of joint forces; None where the method does not use forces at single samples."""
    equations = sought.equations(None)
    if sought.joints is None or not isinstance(equations, JointForceEquations):
        return None
    picked = Picked(chosen(reading), ROWS)
    rows, used = drive_model(equations.kernel, picked.trial()), picked.used
    if "armature" not in sought.laws:  # a rotor that is free makes up for late viscous friction
        rows[:, :, len(sought.mapping) + 3 :: DRIVES] = 0.0
    shifts = (np.arange(-REACH, REACH) + 0.5) * reading.step
    table = np.stack([picked.measured(shift) * used for shift in shifts.tolist()])
    search = _Search(rows, table)
    places = search.settled(np.full(table.shape[2], REACH))
    values = search.lowest(places)
    edges = np.linspace(0, len(rows), PARTS + 1).astype(int)
    kept = [np.r_[0:a, b : len(rows)] for a, b in pairwise(edges.tolist())]
    jack = np.array([_Search(rows[k], table[:, k]).lowest(places) for k in kept])
    spread = np.sum((jack - jack.mean(axis=0)) ** 2, axis=0) * (PARTS - 1) / PARTS
    begin = shifts[0]
    return Delays(begin + values * reading.step, np.sqrt(spread) * reading.step)


@dataclass(frozen=True)
class _Search:
    """The regressor of some rows (N x n x p) and what was measured at each shift (s x N x n)."""

    rows: Numbers
    measured: Numbers

    def settled(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The best shift of each channel, by number."""
        best = places.copy()
        for _ in range(SWEEPS):
            before = best.copy()
            for j in range(len(best)):
                tried = [self._misfit(best, j, k) for k in range(len(self.measured))]
                best[j] = int(np.argmin(tried))
            if (best == before).all():
                break
        return np.clip(best, 1, len(self.measured) - 2)

    def lowest(self, places: NDArray[np.int64]) -> Numbers:
        """The lowest points of parabolas through three shifts of each channel, by number."""
        best = places.astype(np.float64)
        for j, k in enumerate(places.tolist()):
            a, b, c = (self._misfit(places, j, k + step) for step in (-1, 0, 1))
            curve = a - 2 * b + c
            best[j] += np.clip((a - c) / (2 * curve), -1, 1) if curve > 0 else 0.0
        return best

    def _misfit(self, places: NDArray[np.int64], joint: int, shift: int) -> float:
        """The sum of logs of what is left of each channel, one of which has another shift."""
        shifted = places.copy()
        shifted[joint] = shift
        measured = self.measured[shifted, :, range(len(shifted))].T
        squares = np.maximum(np.sum(measured**2, axis=0), 1e-300)
        mixed = np.einsum("njp,nj->jp", self.rows, measured)
        x = ridged(np.einsum("jpq,j->pq", self._grams, 1 / squares), mixed.T @ (1 / squares))
        rest = squares - 2 * mixed @ x + np.einsum("p,jpq,q->j", x, self._grams, x)
        return float(np.sum(np.log(np.maximum(rest / squares, 1e-300))))

    @cached_property
    def _grams(self) -> Numbers:
        """The products of the columns of each channel (n x p x p), which no shift changes."""
        rows = self.rows.transpose(1, 0, 2)
        return np.asarray(rows.transpose(0, 2, 1) @ rows)


def note_of_delays(reading: Reading, delays: Delays) -> str:
    """A note of what was found."""
    rows = zip(reading.layout.measured, delays.values * 1e3, delays.errors * 1e3, strict=True)
    listed = ", ".join(f"{shown(c.name)} {x:.3g} ± {e:.1g} ms" for c, x, e in rows)
    text = f"the delays of the forces are compensated: {listed}"
    return f"{shown(reading.log.file)}: note: {text}"
