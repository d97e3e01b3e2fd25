"""Positions at which closed loops close: of loops whose positions Newton's method finds, and of all
loops of a robot with its coupling (`symgen.mechanics.coupling.Coupling`), at generation."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any, Final

import numpy as np

from symgen.errors import OptionError
from symgen.mechanics.kinematic_loop import (
    MAX_SAMPLES,
    MIN_SINE,
    MIN_SINE_NEAR_DEAD_POINTS,
    LoopError,
    Positions,
)
from symgen.mechanics.spatial_loop import CutSides, PositionSolution, SpatialLoop
from symgen.numbers.decimals import norm
from symgen.numbers.scalar import plain
from symgen.text import shown


@dataclass(frozen=True)
class NewtonLoop(SpatialLoop):
    """Cut joints without a known closed form: the positions of the dependent joints are the user's,
    found by Newton's method (``loop_closure``). Equations that depend on the others are left out by
    the elimination."""

    solution: PositionSolution = field(default=lambda x: {})

    def newton_changes(self, x: Positions) -> dict[int, float]:
        """A step of Newton's method, to be subtracted from the dependent positions."""
        matrix = [[plain(e) for e in row] for row in self.matrix(self.columns(x))]
        gap = [plain(e) for e in self.gap(x)]
        newton_changes = np.linalg.lstsq(np.array(matrix), np.array(gap), rcond=None)[0]
        return dict(zip(self.dependent, map(float, newton_changes), strict=True))

    def closed(self, x: Positions) -> Positions:
        """Positions of all joints at which the loop closes, by iteration from a start; steps are
        those of least squares, which exist at dead points."""
        out = dict(x)
        for _ in range(MAX_ITERATIONS):
            newton_changes = self.newton_changes(out)
            longest = max(map(abs, newton_changes.values()))
            if longest < GAP_TOLERANCE:
                break
            share = min(1.0, MAX_STEP / (longest or 1.0))
            out |= {b: out[b] - share * change for b, change in newton_changes.items()}
        turning = {*self.dependent} - self.sliding
        return out | {b: math.remainder(out[b], math.tau) for b in turning}

    def closes(self, x: Positions) -> bool:
        """Whether its equations hold, but for digits also those that the elimination leaves out:
        the others of a spherical linkage hold in its mirror image."""
        gap = self.gap(x)
        independent, every = (
            norm(*map(plain, rows)) for rows in (self.independent_equations(gap), gap)
        )
        return (
            independent <= GAP_TOLERANCE * self.size
            and every <= REDUNDANT_GAP_TOLERANCE * self.size
        )

    def sine(self, x: Positions) -> float:
        """The least singular value as of other loops; 0 where the equations do not hold."""
        return super().sine(x) if self.closes(x) else 0.0

    @property
    def sample(self) -> Positions:
        """Positions of all joints at which the loop closes, the independent ones at 0 if it closes
        there. Raises LoopError where the iteration does not converge."""
        return _sample_of(self.cuts)


@lru_cache(maxsize=64)
def _sample_of(cuts: tuple[CutSides, ...]) -> Positions:
    """`NewtonLoop.sample` of its cut joints: a search that every reading of the loop repeats."""
    loop, random, best, found = NewtonLoop(cuts), Random(0), 0.0, None
    x = dict.fromkeys(loop.bodies, 0.0)
    chosen = len(loop.dependent) <= sum(cut.cut.rows for cut in cuts)
    for k in range(MAX_STARTS):
        trial = loop.closed(x)
        near = norm(*map(plain, loop.gap(trial))) <= REDUNDANT_GAP_TOLERANCE * loop.size
        closes = near and max(map(abs, loop.newton_changes(trial).values())) < STEP_TOLERANCE
        sine = SpatialLoop.sine(loop, trial) if closes else 0.0
        if sine > best or (closes and found is None):
            best, found = sine, trial
        if best >= MIN_SINE or (chosen and k >= MIN_STARTS and best >= MIN_SINE_NEAR_DEAD_POINTS):
            break
        moved = loop.dependent if k < MAX_STARTS // 2 else loop.bodies
        x |= {b: random.uniform(-1.0, 1.0) for b in moved}
    if found is None:
        raise LoopError(
            f"Newton's method does not close it from any of {MAX_STARTS} starts; correct the "
            "lengths of its links, or name other dependent joints"
        )
    return found


MAX_STARTS: Final = 40
"""How many starts of Newton's method are tried at generation."""
MIN_STARTS: Final = 6
"""How many starts are tried for a larger sine than `MIN_SINE_NEAR_DEAD_POINTS`."""
MAX_STEP: Final = 0.5
"""The longest step at generation (rad or m)."""
MAX_ITERATIONS: Final = 30
"""Steps of Newton's method at generation."""
GAP_TOLERANCE: Final = 1e-13
"""The largest gap of a loop that is closed, as a part of its size."""
STEP_TOLERANCE: Final = 1e-9
"""The longest step of Newton's method that is left (rad or m)."""
REDUNDANT_GAP_TOLERANCE: Final = 1e-3
"""The largest gap of equations that others imply but for digits, as a part of the loop's size."""


# -- positions of a robot --------------------------------------------------------------------------


def closing_positions(coupling: Any, q: Sequence[float]) -> tuple[float, ...]:
    """The positions q, or the nearest of some between them and a centre at which all loops close
    away from dead points; quaternions stay as they are. Of loops that can be crossed there is no
    dead point between these and the centre either: beyond it they are another mechanism."""
    center, newton_positions = _center(coupling), {place for _, place in coupling.newton_positions}
    parts = ((place, *coupling.parts[body - 1]) for body, place in coupling.newton_positions)
    turning = {place for place, joint, at in parts if joint.positions[at].unit == "rad"}
    largest = coupling.sine(center)
    min_sine = MIN_SINE if largest >= MIN_SINE else 0.5 * largest
    unit = {n: q[n] for four in coupling.quaternions for n in range(four.start, four.stop)}
    for k in range(STEPS_TO_CENTER):
        fraction = 1 - k / STEPS_TO_CENTER
        moved = [round(c + fraction * (x - c), 4) for x, c in zip(q, center, strict=True)]
        moved = closed_by_newton(
            coupling, [center[n] if n in newton_positions else x for n, x in enumerate(moved)]
        )
        if turning:  # Newton's method may go through some turns
            moved = [
                math.remainder(x, math.tau) if n in turning else x for n, x in enumerate(moved)
            ]
            moved = closed_by_newton(coupling, moved)
        if coupling.sine(moved) >= min_sine:
            if any(loop.can_be_crossed for loop in coupling.loops):
                moved = [*_last_before_dead_point(coupling, center, moved, min_sine)]
            return tuple(unit.get(n, x) for n, x in enumerate(moved))
    return tuple(unit.get(n, x) for n, x in enumerate(center))


def _last_before_dead_point(
    coupling: Any, center: Sequence[float], q: Sequence[float], least: float
) -> Sequence[float]:
    """The last positions on the way from the centre to q before one with a smaller sine."""
    way = [b - a for a, b in zip(center, q, strict=True)]
    steps, last = int(max(map(abs, way)) / DEAD_POINT_SEARCH_STEP) + 1, center
    for k in range(1, steps):
        drawn = [round(a + k / steps * w, 4) for a, w in zip(center, way, strict=True)]
        place = closed_by_newton(coupling, drawn)
        if coupling.sine(place) < least:
            return last
        last = place
    return q


def closed_by_newton(coupling: Any, q: Sequence[float]) -> list[float]:
    """The positions q with all loops of Newton's method closed, if it converges; it does not if its
    steps do not become shorter."""
    out, shortest, failures = (
        list[Any](q),
        math.inf,
        0 if coupling.newton_positions else MAX_GROWING_STEPS,
    )
    try:
        while failures < MAX_GROWING_STEPS and shortest >= MIN_STEP:
            before, out = out, [plain(x) for x in coupling.newton_step(out)[0]]
            step = max(abs(a - b) for a, b in zip(before, out, strict=True))
            failures, shortest = failures + (step >= shortest), min(step, shortest)
    except (ValueError, ZeroDivisionError, OverflowError):
        return list(q)
    return out


MAX_GROWING_STEPS: Final = 5
"""Steps of Newton's method that are not the shortest so far, after which it is given up."""
MIN_STEP: Final = 1e-14
"""The last step of Newton's method (rad or m)."""
MIN_SAMPLES: Final = 40
"""How many positions are tried for a larger sine than `MIN_SINE_NEAR_DEAD_POINTS`."""
DEAD_POINT_SEARCH_STEP: Final = 0.1
"""The largest step between positions at which dead points are looked for (rad or m)."""
STEPS_TO_CENTER: Final = 32
"""How many positions are tried between one drawn at random and the centre."""


@lru_cache(maxsize=8)
def _center(coupling: Any) -> tuple[float, ...]:
    """Positions at which all loops close away from dead points: 0 if they do. Raises OptionError
    where none are found."""
    newton_positions, random, drives = dict(coupling.newton_positions), Random(0), coupling.drives
    samples = {b: p for loop in coupling.loops if newton_positions for b, p in loop.sample.items()}
    start = {
        newton_positions[b] if b in newton_positions else drives[b - 1].position_index: round(p, 4)
        for b, p in samples.items()
        if b in newton_positions or drives[b - 1].terms
    }
    best = tuple(closed_by_newton(coupling, [start.get(k, 0.0) for k in range(coupling.positions)]))
    sine, good = coupling.sine(best), min(loop.sufficient_sine for loop in coupling.loops)
    for k in range(MAX_SAMPLES):
        if sine >= good or (k >= MIN_SAMPLES and sine >= MIN_SINE_NEAR_DEAD_POINTS):
            break
        drawn = [round(random.uniform(-3.14, 3.14), 4) for _ in best]
        trial = tuple(closed_by_newton(coupling, [start.get(k, x) for k, x in enumerate(drawn)]))
        moved = coupling.sine(trial)
        best, sine = (trial, moved) if moved > sine else (best, sine)
    if sine < MIN_SINE_NEAR_DEAD_POINTS:
        names = ", ".join(c.name for loop in coupling.loops for c in loop.closures)
        raise OptionError(
            f"the closed loops of this robot ({shown(names)}) do not close at any of {MAX_SAMPLES} "
            "positions that were tried; correct the lengths of their links"
        )
    return best
