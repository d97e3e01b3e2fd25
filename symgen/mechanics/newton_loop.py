"""Loops whose positions Newton's method finds."""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Final

import numpy as np

from symgen.mechanics.kinematic_loop import MIN_SINE, MIN_SINE_OF_POOR_LOOPS, LoopError, Positions
from symgen.mechanics.spatial_loop import CutSides, Law, SpatialLoop
from symgen.numbers.decimals import norm
from symgen.numbers.scalar import plain


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
