"""Hypotheses about what is wrong with a log: each is a change of its rows, tried by the diagnostic
fit, with the finding and the option that cures it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from symgen.identification.diagnostics.candidates import (
    Candidate,
    Context,
    HypothesisTest,
    column_options,
    factors_with_one,
    parabolic_minimum,
    scale_options,
    swapped,
    unit_of,
)
from symgen.identification.diagnostics.diagnostic_fit import Thresholds, Trial
from symgen.identification.diagnostics.robot_hypotheses import (
    drift,
    gravity_directions,
    gravity_sizes,
    payload,
)
from symgen.numbers.types import Numbers
from symgen.text import shown

NEAR_UNIT: Final = 0.1
"""The relative tolerance within which a factor is a power of ten: another unit."""
MAX_SHIFT: Final = 0.1
"""The largest delay that is tried (s)."""
FINE_SHIFT: Final = 0.03
"""The range about the best one in which delays are tried in smaller steps (s)."""
LOW: Final = 0.25
"""The part of the gain by which costs may be above the least one about the delay."""

# -- forces ----------------------------------------------------------------------------------------


def _force_signs(context: Context) -> Iterator[Candidate]:
    n = len(context.names.forces)
    for k, name in enumerate(context.names.forces):
        yield Candidate(
            context.trial.scaled(factors_with_one(n, k, -1.0), "measured"),
            f"'{shown(name)}' probably has the wrong sign",
            f"give {scale_options(context.names.joints[k], -1.0, 'tau')}",
        )


def _force_swaps(context: Context) -> Iterator[Candidate]:
    names = context.names
    for j, k in combinations(range(len(names.forces)), 2):
        order = swapped(len(names.forces), j, k)
        yield Candidate(
            context.trial.reordered(order, "measured", "used"),
            f"'{shown(names.forces[j])}' and '{shown(names.forces[k])}' are probably exchanged",
            f"give {column_options('tau', order, names.joints, names.forces)}",
        )


def _force_factors(context: Context) -> Iterator[Candidate]:
    """One channel times the factor by which the others, and the prior, predict it."""
    n = len(context.names.forces)
    for k, name in enumerate(context.names.forces):
        factor = _best_factor(context, k)
        limit = context.model.thresholds.factor
        if factor is None or 1 / limit < abs(factor) < limit:
            continue
        yield Candidate(
            context.trial.scaled(factors_with_one(n, k, factor), "measured"),
            f"'{shown(name)}' is probably {1 / factor:.3g} times the force",
            f"give {scale_options(context.names.joints[k], factor, 'tau')} if its unit or torque "
            "constant is wrong",
        )


def _best_factor(context: Context, k: int) -> float | None:
    """The factor of channel k from a fit to the other channels."""
    trial = context.trial
    used = trial.used.copy()
    used[:, k] = False
    x = context.model.score(replace(trial, used=used)).x
    factor = _projected_factor(context, x, k)
    if factor is None:
        return None
    decade = float(np.copysign(10.0 ** round(np.log10(abs(factor))), factor))
    return decade if abs(factor / decade - 1) < NEAR_UNIT else factor


def _projected_factor(context: Context, x: Numbers, k: int) -> float | None:
    """The factor that makes the inertial forces of channel k those of parameters `x`, its drive
    left free; None if they hardly correlate."""
    trial = context.trial
    columns = context.model.inertial(trial)[:, k]
    used = trial.used[:, k]
    foreseen, y = (columns @ x[: columns.shape[1]])[used], trial.measured[used, k]
    drive = np.stack([column[used, k] for column in trial.drives], axis=1)
    pair = np.column_stack([foreseen, y])
    pair = pair - drive @ np.linalg.lstsq(drive, pair, rcond=None)[0]
    sizes = np.sqrt(np.sum(pair**2, axis=0))
    product = float(pair[:, 0] @ pair[:, 1])
    if not sizes.all() or abs(product) < context.model.thresholds.correlation * sizes.prod():
        return None
    return float(sizes[0] ** 2 / product)


def all_factor(context: Context) -> Iterator[Candidate]:
    """All forces times one factor: the median of those that the robot file predicts."""
    mapping, names, n = context.model.mapping, context.names, len(context.names.forces)
    base = mapping.base(mapping.prior)
    factors = [f for k in range(n) if (f := _projected_factor(context, base, k)) is not None]
    factor, limit = float(np.median(factors or [1.0])), context.model.thresholds.common_factor
    if 2 * len(factors) < n or 1 / limit < factor < limit or len({*np.sign(factors)}) > 1:
        return
    if -limit < factor < -1 / limit:
        factor, cure = (
            -1.0,
            "give " + " ".join(scale_options(joint, -1.0, "tau") for joint in names.joints),
        )
    elif unit := unit_of("tau", factor, "N m"):
        cure = f"their unit is not N m; give {unit}"
    else:
        cure = (
            "as with motor currents in A or torques on the motor side of the gears; give "
            f"--column current={','.join(map(shown, names.forces))} and --torque-constant JOINT=K "
            "for each joint"
        )
    sizes = np.abs(factors)
    yield Candidate(
        context.trial.scaled(factor, "measured"),
        f"the forces of {len(factors)} joints are {np.sign(factor) / sizes.max():.3g} to "
        f"{np.sign(factor) / sizes.min():.3g} times the prediction from the robot file",
        cure,
    )


def _saturated(context: Context) -> Iterator[Candidate]:
    """Channels that hardly ever exceed a force which the model exceeds: rows near it are left
    out."""
    trial, limits = context.trial, context.model.thresholds
    for k, name in enumerate(context.names.forces):
        used = trial.used[:, k]
        if not used.any():
            continue
        for sign in (1.0, -1.0):
            y = sign * trial.measured[:, k]
            low, high = (float(x) for x in np.quantile(y[used], (0.002, 0.998)))
            if not low < high:  # hardly any value differs, so no limit can be found
                continue
            inside = y < high - limits.saturation * (high - low)
            outside = used & ~inside
            if outside.sum() < limits.saturated_rows * used.sum():
                continue
            kept = trial.used.copy()
            kept[:, k] &= inside
            score = context.model.score(replace(trial, used=kept))
            predicted = sign * context.model.predicted(trial, score)[:, k]
            if np.mean(predicted[outside] > high) > limits.beyond:
                ends = (-np.inf, float(y[inside].max()))
                yield Candidate(
                    replace(trial, used=kept),
                    f"'{shown(name)}' is saturated at about {sign * high:.4g}: rows near this "
                    "force are not used for this column",
                    "use a slower motion or a wider range of the sensor",
                    ((k, *(ends if sign > 0 else (-ends[1], np.inf))),),
                )


def _delay(context: Context) -> Iterator[Candidate]:
    """Forces that are recorded later or earlier than the motion, all of them."""
    step, picked = context.step, context.picked
    if context.trial.measured is not context.original_measurements:
        return  # other changes of forces go first

    def shifted(seconds: float) -> Trial:
        return replace(context.trial, measured=picked.measured(seconds))

    def costs(delays: Numbers) -> Numbers:
        return np.array([context.model.score(shifted(x)).cost for x in delays.tolist()])

    coarse = np.linspace(-MAX_SHIFT, MAX_SHIFT, 21)
    fine = coarse[np.argmin(costs(coarse))] + np.linspace(-FINE_SHIFT, FINE_SHIFT, 21)
    found = costs(fine)
    # slow rows do not count, so the costs are flat about the delay: the middle of the low ones
    level = found.min() + LOW * max(context.score.cost - found.min(), 0.0)
    delay = float(fine[found <= level].mean())
    if abs(delay) > step / 2:
        yield Candidate(
            shifted(delay),
            f"the forces are recorded {1e3 * abs(delay):.3g} ms "
            f"{'after' if delay > 0 else 'before'} the motion",
            f"give --delay {delay:.3g}",
        )


# -- positions -------------------------------------------------------------------------------------

MOTION: Final = ("q", "qd", "qdd")


def _position_signs(context: Context) -> Iterator[Candidate]:
    names = context.names
    n, groups = len(names.joints), ("q", "qd") if names.velocities else ("q",)
    for k in context.suspects:
        yield Candidate(
            context.trial.scaled(factors_with_one(n, k, -1.0), *MOTION),
            f"'{shown(names.positions[k])}' probably has the wrong sign",
            f"give {scale_options(names.joints[k], -1.0, *groups)}",
        )


def _position_swaps(context: Context) -> Iterator[Candidate]:
    names = context.names
    for j, k in combinations(context.suspects, 2):
        order = swapped(len(names.joints), j, k)
        cure = column_options("q", order, names.joints, names.positions)
        if names.velocities:
            cure += " " + column_options("qd", order, names.joints, names.velocities)
        yield Candidate(
            context.trial.reordered(order, *MOTION),
            f"'{shown(names.positions[j])}' and '{shown(names.positions[k])}' are probably "
            "exchanged",
            f"give {cure}",
        )


def _degrees(context: Context) -> Iterator[Candidate]:
    if context.names.velocities:
        return
    trial = context.trial.scaled(np.pi / 180, *MOTION)
    yield Candidate(trial, "the positions are probably in degrees", "give --unit q=deg")


def _zeros(context: Context) -> Iterator[Candidate]:
    """Zero offsets of positions by a Gauss-Newton step of all joints, then one joint by itself."""
    limits = context.model.thresholds
    for k in context.suspects:
        best = _best_zero(context, k)
        if abs(best) > limits.zero:
            yield Candidate(
                _moved(context.trial, k, best),
                f"the zero of '{shown(context.names.positions[k])}' probably differs from that of "
                f"the robot file by {np.degrees(-best):.3g}°",
                "correct the calibration of the encoder, or add the angle to the positions",
            )


def _moved(trial: Trial, k: int, angle: float) -> Trial:
    return replace(trial, q=trial.q + np.where(np.arange(trial.q.shape[1]) == k, angle, 0.0))


ANGLES: Final = tuple(np.radians([-130.0, -60.0, -15.0, 0.0, 15.0, 60.0, 130.0]))
"""Offsets of positions that are tried first (rad)."""


def _best_zero(context: Context, k: int) -> float:
    """The offset (rad) of joint k with the least cost; 0 if none is much better."""

    def cost(angle: float) -> float:
        return context.model.score(_moved(context.trial, k, angle)).cost

    costs = [cost(angle) for angle in ANGLES]
    best = int(np.argmin(costs))
    middle = len(ANGLES) // 2
    if best == middle:
        a, b, c = costs[middle - 1 : middle + 2]
        if (a - c) ** 2 / (8 * (a - 2 * b + c)) < context.model.thresholds.least_gain / 3:
            return 0.0
    return parabolic_minimum(cost, ANGLES[best], ANGLES[middle + 1])


@dataclass(frozen=True)
class Hypothesis:
    """A row of the table: what it tries, the reduction of the cost from which it is believed, by
    channel and in all, and whether it is tried only if a channel is not explained."""

    tries: HypothesisTest
    least: float = 0.0
    of_each: float = 0.0
    poor_only: bool = False

    def least_gain(self, channels: int, limits: Thresholds) -> float:
        """The reduction of the cost from which the hypothesis is believed."""
        return (self.least or limits.least_gain) + self.of_each * channels


HYPOTHESES: Final = (
    Hypothesis(_force_signs),
    Hypothesis(_force_factors),
    Hypothesis(_saturated, least=60.0),
    Hypothesis(_delay, of_each=50.0),
    Hypothesis(_force_swaps, poor_only=True),
    Hypothesis(_position_signs),
    Hypothesis(_position_swaps, poor_only=True),
    Hypothesis(_degrees, poor_only=True),
    Hypothesis(_zeros, least=25.0),
    Hypothesis(gravity_sizes),
    Hypothesis(gravity_directions, least=60.0),
    Hypothesis(payload),
    Hypothesis(drift, least=60.0),
)
"""All hypotheses, those with the simplest cures first."""
