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
    MIN_SINE,
    MIN_SINE_OF_POOR_LOOPS,
    SAMPLES,
    LoopError,
    Positions,
)
from symgen.mechanics.spatial_loop import CutSides, Law, SpatialLoop
from symgen.numbers.decimals import norm
from symgen.numbers.scalar import plain
from symgen.text import shown


@dataclass(frozen=True)
class NewtonLoop(SpatialLoop):
    """Cut joints without a known closed form: the positions of the dependent joints are the user's,
    found by Newton's method (``loop_closure``). Equations that depend on the others are left out by
    the elimination."""

    law: Law = field(default=lambda x: {})

    def changes(self, x: Positions) -> dict[int, float]:
        """A step of Newton's method, to be subtracted from the dependent positions."""
        matrix = [[plain(e) for e in row] for row in self.matrix(self.columns(x))]
        gap = [plain(e) for e in self.gap(x)]
        changes = np.linalg.lstsq(np.array(matrix), np.array(gap), rcond=None)[0]
        return dict(zip(self.dependent, map(float, changes), strict=True))

    def closed(self, x: Positions) -> Positions:
        """Positions of all joints at which the loop closes, by iteration from a start; steps are
        those of least squares, which exist at dead points."""
        out = dict(x)
        for _ in range(ITERATIONS):
            changes = self.changes(out)
            longest = max(map(abs, changes.values()))
            if longest < CLOSED:
                break
            share = min(1.0, LONGEST_STEP / (longest or 1.0))
            out |= {b: out[b] - share * change for b, change in changes.items()}
        turning = {*self.dependent} - self.sliding
        return out | {b: math.remainder(out[b], math.tau) for b in turning}

    def closes(self, x: Positions) -> bool:
        """Whether its equations hold, but for digits also those that the elimination leaves out:
        the others of a spherical linkage hold in its mirror image."""
        gap = self.gap(x)
        counted, every = (norm(*map(plain, rows)) for rows in (self.counted(gap), gap))
        return counted <= CLOSED * self.size and every <= LEFT_OUT * self.size

    def sine(self, x: Positions) -> float:
        """The least singular value as of other loops; 0 where the equations do not hold."""
        return super().sine(x) if self.closes(x) else 0.0

    @property
    def sample(self) -> Positions:
        """Positions of all joints at which the loop closes, the independent ones at 0 if it closes
        there. Raises LoopError where the iteration does not converge."""
        return _found(self.cuts)


@lru_cache(maxsize=64)
def _found(cuts: tuple[CutSides, ...]) -> Positions:
    """`NewtonLoop.sample` of its cut joints: a search that every reading of the loop repeats."""
    loop, random, best, found = NewtonLoop(cuts), Random(0), 0.0, None
    x = dict.fromkeys(loop.bodies, 0.0)
    chosen = len(loop.dependent) <= sum(cut.cut.rows for cut in cuts)
    for k in range(STARTS):
        trial = loop.closed(x)
        near = norm(*map(plain, loop.gap(trial))) <= LEFT_OUT * loop.size
        closes = near and max(map(abs, loop.changes(trial).values())) < CONVERGED
        sine = SpatialLoop.sine(loop, trial) if closes else 0.0
        if sine > best or (closes and found is None):
            best, found = sine, trial
        if best >= MIN_SINE or (chosen and k >= FEW_STARTS and best >= MIN_SINE_OF_POOR_LOOPS):
            break
        moved = loop.dependent if k < STARTS // 2 else loop.bodies
        x |= {b: random.uniform(-1.0, 1.0) for b in moved}
    if found is None:
        raise LoopError(
            f"Newton's method does not close it from any of {STARTS} starts; correct the lengths "
            "of its links, or name other dependent joints"
        )
    return found


STARTS: Final = 40
"""How many starts of Newton's method are tried at generation."""
FEW_STARTS: Final = 6
"""How many starts are tried for a larger sine than `MIN_SINE_OF_POOR_LOOPS`."""
LONGEST_STEP: Final = 0.5
"""The longest step at generation (rad or m)."""
ITERATIONS: Final = 30
"""Steps of Newton's method at generation."""
CLOSED: Final = 1e-13
"""The largest gap of a loop that is closed, as a part of its size."""
CONVERGED: Final = 1e-9
"""The longest step of Newton's method that is left (rad or m)."""
LEFT_OUT: Final = 1e-3
"""The largest gap of equations that others imply but for digits, as a part of the loop's size."""


# -- positions of a robot --------------------------------------------------------------------------


def reachable(coupling: Any, q: Sequence[float]) -> tuple[float, ...]:
    """The positions q, or the nearest of some between them and a centre at which all loops close
    away from dead points; quaternions stay as they are. Of loops that can be crossed there is no
    dead point between these and the centre either: beyond it they are another mechanism."""
    center, held = _center(coupling), {place for _, place in coupling.held}
    parts = ((place, *coupling.parts[body - 1]) for body, place in coupling.held)
    turning = {place for place, joint, at in parts if joint.positions[at].unit == "rad"}
    largest = coupling.sine(center)
    least = MIN_SINE if largest >= MIN_SINE else 0.5 * largest
    unit = {n: q[n] for four in coupling.quaternions for n in range(four.start, four.stop)}
    for k in range(STEPS_TO_CENTER):
        share = 1 - k / STEPS_TO_CENTER
        moved = [round(c + share * (x - c), 4) for x, c in zip(q, center, strict=True)]
        moved = closed(coupling, [center[n] if n in held else x for n, x in enumerate(moved)])
        if turning:  # Newton's method may go through some turns
            moved = [
                math.remainder(x, math.tau) if n in turning else x for n, x in enumerate(moved)
            ]
            moved = closed(coupling, moved)
        if coupling.sine(moved) >= least:
            if any(loop.can_be_crossed for loop in coupling.loops):
                moved = [*_before_dead_points(coupling, center, moved, least)]
            return tuple(unit.get(n, x) for n, x in enumerate(moved))
    return tuple(unit.get(n, x) for n, x in enumerate(center))


def _before_dead_points(
    coupling: Any, center: Sequence[float], q: Sequence[float], least: float
) -> Sequence[float]:
    """The last positions on the way from the centre to q before one with a smaller sine."""
    way = [b - a for a, b in zip(center, q, strict=True)]
    steps, last = int(max(map(abs, way)) / NEAR) + 1, center
    for k in range(1, steps):
        drawn = [round(a + k / steps * w, 4) for a, w in zip(center, way, strict=True)]
        place = closed(coupling, drawn)
        if coupling.sine(place) < least:
            return last
        last = place
    return q


def closed(coupling: Any, q: Sequence[float]) -> list[float]:
    """The positions q with all loops of Newton's method closed, if it converges; it does not if its
    steps do not become shorter."""
    out, shortest, failures = list[Any](q), math.inf, 0 if coupling.held else FAILURES
    try:
        while failures < FAILURES and shortest >= SHORTEST_STEP:
            before, out = out, [plain(x) for x in coupling.closer(out)[0]]
            step = max(abs(a - b) for a, b in zip(before, out, strict=True))
            failures, shortest = failures + (step >= shortest), min(step, shortest)
    except (ValueError, ZeroDivisionError, OverflowError):
        return list(q)
    return out


FAILURES: Final = 5
"""Steps of Newton's method that are not the shortest so far, after which it is given up."""
SHORTEST_STEP: Final = 1e-14
"""The last step of Newton's method (rad or m)."""
FEW: Final = 40
"""How many positions are tried for a larger sine than `MIN_SINE_OF_POOR_LOOPS`."""
NEAR: Final = 0.1
"""The largest step between positions at which dead points are looked for (rad or m)."""
STEPS_TO_CENTER: Final = 32
"""How many positions are tried between one drawn at random and the centre."""


@lru_cache(maxsize=8)
def _center(coupling: Any) -> tuple[float, ...]:
    """Positions at which all loops close away from dead points: 0 if they do. Raises OptionError
    where none are found."""
    held, random, drives = dict(coupling.held), Random(0), coupling.drives
    samples = {b: p for loop in coupling.loops if held for b, p in loop.sample.items()}
    start = {
        held[b] if b in held else drives[b - 1].position_index: round(p, 4)
        for b, p in samples.items()
        if b in held or drives[b - 1].terms
    }
    best = tuple(closed(coupling, [start.get(k, 0.0) for k in range(coupling.positions)]))
    sine, good = coupling.sine(best), min(loop.good_sine for loop in coupling.loops)
    for k in range(SAMPLES):
        if sine >= good or (k >= FEW and sine >= MIN_SINE_OF_POOR_LOOPS):
            break
        drawn = [round(random.uniform(-3.14, 3.14), 4) for _ in best]
        trial = tuple(closed(coupling, [start.get(k, x) for k, x in enumerate(drawn)]))
        moved = coupling.sine(trial)
        best, sine = (trial, moved) if moved > sine else (best, sine)
    if sine < MIN_SINE_OF_POOR_LOOPS:
        names = ", ".join(c.name for loop in coupling.loops for c in loop.closures)
        raise OptionError(
            f"the closed loops of this robot ({shown(names)}) do not close at any of {SAMPLES} "
            "positions that were tried; correct the lengths of their links"
        )
    return best
