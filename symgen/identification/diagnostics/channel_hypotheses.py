"""Hypotheses about single columns of a log: forces without their sign, without gravity or late,
positions with another zero or gear ratio, and coordinates of motors of a parallelogram."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Final

import numpy as np

from symgen.identification.diagnostics.candidates import (
    Candidate,
    DiagnosticContext,
    factors_with_one,
    scale_options,
)
from symgen.identification.diagnostics.diagnostic_fit import Trial
from symgen.mechanics.joint_listing import velocity_coordinates
from symgen.numbers.scalar import Numbers
from symgen.text import shown

MOTION: Final = ("q", "qd", "qdd")
"""The fields of a trial that positions and their derivatives are in."""
SIGN_ITERATIONS: Final = 5
"""Fits that find the signs of a column that has none."""
ANGLES: Final = tuple(np.radians([-130.0, -60.0, -15.0, 0.0, 15.0, 60.0, 130.0]))
"""Offsets of positions that are tried first (rad)."""
LOG_RATIOS: Final = (-0.6, -0.2, 0.0, 0.2, 0.6)
"""Logarithms of gear ratios that are tried first."""
DELAYS: Final = (-0.09, -0.06, -0.03, 0.0, 0.03, 0.06, 0.09)
"""Delays of one column that are tried first (s)."""
EQUAL_COSTS: Final = 1e-9
"""The relative difference of costs up to which a change has no effect: sums of squares of some
thousand rows are rounded to about 1e-13."""
MIN_DELAY_GAIN: Final = 150.0
"""The reduction of the cost from which the delay of one column is believed."""


def unsigned_forces(context: DiagnosticContext) -> Iterator[Candidate]:
    """A column without signs: each value gets that of the prediction, which is then fitted anew."""
    model = context.model
    for k, name in enumerate(context.forces):
        trial, used = context.trial, context.trial.used.copy()
        if np.any(trial.measured[used[:, k], k] < 0):
            continue
        used[:, k] = False
        inertial = model.inertial(trial)[:, k]
        x = model.score(replace(trial, used=used)).x
        predicted, size = inertial @ x[: inertial.shape[1]], trial.measured[:, k]
        for _ in range(SIGN_ITERATIONS):
            trial = trial.with_force(k, np.copysign(size, predicted))
            predicted = model.predicted(trial, model.score(trial))[:, k]
        yield Candidate(
            trial,
            f"'{shown(name)}' is probably recorded without its sign",
            "record the force with its sign",
        )


def forces_without_gravity(context: DiagnosticContext) -> Iterator[Candidate]:
    """The force of one joint without the gravity of the robot file."""
    trial, mapping = context.trial, context.model.mapping
    still = np.zeros_like(trial.qd)
    forces = context.model.kernel(trial.q, still, still) @ mapping.base(mapping.prior)
    for k, name in enumerate(context.forces):
        changed = trial.with_force(k, trial.measured[:, k] + forces[:, k])
        if context.explains(changed):
            yield Candidate(
                changed,
                f"'{shown(name)}' probably does not include gravity",
                "record the whole force, or add the gravity force of the robot file to it",
            )


def late_force(context: DiagnosticContext) -> Iterator[Candidate]:
    """One column of forces that is recorded later or earlier than the others."""
    if context.trial.measured is not context.original_measurements:
        return
    for k, name in enumerate(context.forces):

        def shifted(seconds: float, k: int = k) -> Trial:
            return context.trial.with_force(k, context.picked.measured(seconds)[:, k])

        delay = _best_change(context, DELAYS, shifted, MIN_DELAY_GAIN)
        if abs(delay) > context.step / 2:
            yield Candidate(
                shifted(delay),
                f"'{shown(name)}' is recorded about {1e3 * abs(delay):.3g} ms "
                f"{'after' if delay > 0 else 'before'} the other columns",
                "shift this column in time",
            )


def zero_offsets(context: DiagnosticContext) -> Iterator[Candidate]:
    """Zero offsets of positions, of one joint at a time."""
    for k in context.suspects:
        own = np.arange(len(context.joints)) == k

        def moved(angle: float, own: Numbers = own) -> Trial:
            return replace(context.trial, q=context.trial.q + angle * own)

        best = _best_change(context, ANGLES, moved, context.thresholds.min_gain)
        if abs(best) > context.thresholds.zero:
            yield Candidate(
                moved(best),
                f"the zero of '{shown(context.positions[k])}' probably differs from that of "
                f"the robot file by {np.degrees(-best):.3g}°",
                "correct the calibration of the encoder, or add the angle to the positions",
            )


def gear_ratios(context: DiagnosticContext) -> Iterator[Candidate]:
    """Positions and velocities of one joint times a factor, as with another gear ratio."""
    groups = ("q", "qd") if context.velocities else ("q",)
    for k in context.suspects:
        own = factors_with_one(len(context.joints), k, np.e)

        def geared(log: float, own: Numbers = own) -> Trial:
            return context.trial.scaled(own**log, *MOTION)

        best = _best_change(context, LOG_RATIOS, geared, context.thresholds.min_gain)
        if abs(best) > context.thresholds.slope:
            yield Candidate(
                geared(best),
                f"'{shown(context.positions[k])}' is probably {np.exp(-best):.3g} times the "
                "position of the joint, as with another gear ratio",
                f"give {scale_options(context.joints[k], float(np.exp(best)), *groups)}",
            )


def coupled_joints(context: DiagnosticContext) -> Iterator[Candidate]:
    """The position of a joint includes that of the joint before it, or the force of a joint lacks
    that of the next one, as in arms with a parallelogram. Only joints of one unit are tried: an
    angle and a length, or a torque and a force, have no sum."""
    trial = context.trial
    units = [row.unit for row in velocity_coordinates(context.model.mapping.model)]
    for j, k in pairwise(range(len(context.joints))):
        if units[j] != units[k]:
            continue
        own = np.arange(len(context.joints)) == k
        relative = {n: getattr(trial, n) - getattr(trial, n)[:, [j]] * own for n in MOTION}
        q, before = shown(context.positions[k]), shown(context.positions[j])
        tau, next_tau = shown(context.forces[j]), shown(context.forces[k])
        summed = trial.with_force(j, trial.measured[:, j] + trial.measured[:, k])
        subtract, add = f"subtract '{before}' from '{q}', and its velocity too", f"add '{next_tau}'"
        candidates = (
            Candidate(
                replace(trial, **relative),
                f"'{q}' is probably an angle in space, which contains '{before}'",
                subtract,
            ),
            Candidate(
                summed,
                f"'{tau}' is probably the force of a motor, which lacks '{next_tau}'",
                f"{add} to it",
            ),
            Candidate(
                replace(summed, **relative),
                f"'{q}' and '{tau}' are probably those of motors that a parallelogram couples",
                f"{subtract}, and {add} to '{tau}'",
            ),
        )
        yield from (c for c in candidates if context.explains(c.trial))


def _best_change(
    context: DiagnosticContext,
    grid: Sequence[float],
    changed: Callable[[float], Trial],
    min_gain: float,
) -> float:
    """The change with the least cost near a symmetric grid; 0 if a small one has no effect, or none
    near 0 may gain a third of `min_gain`."""

    @cache
    def cost(change: float) -> float:
        return context.cost(changed(change))

    middle = len(grid) // 2
    near = [cost(change) for change in grid[middle - 1 : middle + 2]]
    if np.ptp(near) <= EQUAL_COSTS * near[1]:
        return 0.0
    costs = [cost(change) for change in grid]
    best = int(np.argmin(costs))
    if best == middle:
        a, b, c = costs[middle - 1 : middle + 2]
        if (a - c) ** 2 / (8 * (a - 2 * b + c)) < min_gain / 3:
            return 0.0
    return parabolic_minimum(cost, grid[best], grid[middle + 1])


def parabolic_minimum(cost: Callable[[float], float], best: float, width: float) -> float:
    """The least cost near `best` by halving parabolas."""
    for _ in range(4):
        a, b, c = cost(best - width), cost(best), cost(best + width)
        curve = a - 2 * b + c
        best += (
            width * float(np.clip(0.5 * (a - c) / curve, -1, 1))
            if curve > 0
            else (width if c < a else -width)
        )
        width /= 2.5
    return best
