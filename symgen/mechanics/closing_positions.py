"""Positions at which all closed loops of a robot close, found at generation, of its coupling
(`symgen.mechanics.coupling.Coupling`)."""

import math
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Any, Final

from symgen.errors import OptionError
from symgen.mechanics.kinematic_loop import MIN_SINE, MIN_SINE_OF_POOR_LOOPS, SAMPLES
from symgen.numbers.scalar import plain
from symgen.text import shown


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
        while failures < FAILURES and shortest >= CONVERGED:
            before, out = out, [plain(x) for x in coupling.closer(out)[0]]
            step = max(abs(a - b) for a, b in zip(before, out, strict=True))
            failures, shortest = failures + (step >= shortest), min(step, shortest)
    except (ValueError, ZeroDivisionError, OverflowError):
        return list(q)
    return out


FAILURES: Final = 5
"""Steps of Newton's method that are not the shortest so far, after which it is given up."""
CONVERGED: Final = 1e-14
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
