"""Hypotheses about what is wrong with a log: each is a change of its rows, tried by the diagnostic
fit, with the finding and the option that cures it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from symgen.identification.diagnostics.candidates import (
    Candidate,
    ChangedColumns,
    DiagnosticContext,
    factors_with_one,
    scale_options,
    unit_of,
)
from symgen.identification.diagnostics.channel_hypotheses import (
    MIN_DELAY_GAIN,
    MOTION,
    coupled_joints,
    forces_without_gravity,
    gear_ratios,
    late_force,
    parabolic_minimum,
    unsigned_forces,
    zero_offsets,
)
from symgen.identification.diagnostics.diagnostic_fit import Thresholds, Trial
from symgen.numbers.scalar import Numbers
from symgen.text import shown

DECADE_TOLERANCE: Final = 0.1
"""The relative tolerance within which a factor is a power of ten: another unit."""
MAX_DELAY: Final = 0.1
"""The largest delay that is tried (s)."""
FINE_DELAY_RANGE: Final = 0.03
"""The range about the best one in which delays are tried in smaller steps (s)."""
DELAY_GAIN_TOLERANCE: Final = 0.25
"""The part of the gain by which costs may be above the least one about the delay."""


# -- forces ----------------------------------------------------------------------------------------


def _forces(context: DiagnosticContext) -> ChangedColumns:
    """The columns of forces."""
    return ChangedColumns(("measured",), {"tau": context.forces}, range(len(context.forces)))


def _force_factors(context: DiagnosticContext) -> Iterator[Candidate]:
    """One channel times the factor by which the others, and the prior, predict it."""
    n = len(context.forces)
    for k, name in enumerate(context.forces):
        factor = _best_factor(context, k)
        limit = context.thresholds.factor
        if factor is None or 1 / limit < abs(factor) < limit:
            continue
        yield Candidate(
            context.trial.scaled(factors_with_one(n, k, factor), "measured"),
            f"'{shown(name)}' is probably {1 / factor:.3g} times the force",
            f"give {scale_options(context.joints[k], factor, 'tau')} if its unit or torque "
            "constant is wrong",
        )


def _best_factor(context: DiagnosticContext, k: int) -> float | None:
    """The factor of channel k from a fit to the other channels."""
    trial = context.trial
    used = trial.used.copy()
    used[:, k] = False
    x = context.model.score(replace(trial, used=used)).x
    factor = _projected_factor(context, x, k)
    if factor is None:
        return None
    decade = float(np.copysign(10.0 ** round(np.log10(abs(factor))), factor))
    return decade if abs(factor / decade - 1) < DECADE_TOLERANCE else factor


def _projected_factor(context: DiagnosticContext, x: Numbers, k: int) -> float | None:
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
    if not sizes.all() or abs(product) < context.thresholds.correlation * sizes.prod():
        return None
    return float(sizes[0] ** 2 / product)


def common_force_factor(context: DiagnosticContext) -> Iterator[Candidate]:
    """All forces times one factor: the median of those that the robot file predicts."""
    mapping, n = context.model.mapping, len(context.forces)
    base = mapping.base(mapping.prior)
    factors = [f for k in range(n) if (f := _projected_factor(context, base, k)) is not None]
    factor, limit = float(np.median(factors or [1.0])), context.thresholds.common_factor
    if 2 * len(factors) < n or 1 / limit < factor < limit or len({*np.sign(factors)}) > 1:
        return
    if -limit < factor < -1 / limit:
        factor, cure = (
            -1.0,
            "give " + " ".join(scale_options(joint, -1.0, "tau") for joint in context.joints),
        )
    elif unit := unit_of("tau", factor, "N m"):
        cure = f"their unit is not N m; give {unit}"
    else:
        cure = (
            "as with motor currents in A or torques on the motor side of the gears; give --column "
            f"current={','.join(map(shown, context.forces))} and --torque-constant JOINT=K for "
            "each joint"
        )
    sizes = np.abs(factors)
    yield Candidate(
        context.trial.scaled(factor, "measured"),
        f"the forces of {len(factors)} joints are {np.sign(factor) / sizes.max():.3g} to "
        f"{np.sign(factor) / sizes.min():.3g} times the prediction from the robot file",
        cure,
    )


def _saturated(context: DiagnosticContext) -> Iterator[Candidate]:
    """Channels that hardly ever exceed a force which the model exceeds: rows near it are left
    out."""
    trial, limits = context.trial, context.thresholds
    for k, name in enumerate(context.forces):
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
            if np.mean(predicted[outside] > high) > limits.min_outside_fraction:
                ends = (-np.inf, float(y[inside].max()))
                yield Candidate(
                    replace(trial, used=kept),
                    f"'{shown(name)}' is saturated at about {sign * high:.4g}: rows near this "
                    "force are not used for this column",
                    "use a slower motion or a wider range of the sensor",
                    ((k, *(ends if sign > 0 else (-ends[1], np.inf))),),
                )


def _delay(context: DiagnosticContext) -> Iterator[Candidate]:
    """Forces that are recorded later or earlier than the motion, all of them."""
    step, picked = context.step, context.picked
    if context.trial.measured is not context.original_measurements:
        return  # other changes of forces go first

    def shifted(seconds: float) -> Trial:
        return replace(context.trial, measured=picked.measured(seconds))

    def costs(delays: Numbers) -> Numbers:
        return np.array([context.cost(shifted(x)) for x in delays.tolist()])

    coarse = np.linspace(-MAX_DELAY, MAX_DELAY, 21)
    fine = coarse[np.argmin(costs(coarse))] + np.linspace(-FINE_DELAY_RANGE, FINE_DELAY_RANGE, 21)
    found = costs(fine)
    # slow rows do not count, so the costs are flat about the delay: the middle of the low ones
    level = found.min() + DELAY_GAIN_TOLERANCE * max(context.score.cost - found.min(), 0.0)
    delay = float(fine[found <= level].mean())
    if abs(delay) > step / 2:
        yield Candidate(
            shifted(delay),
            f"the forces are recorded {1e3 * abs(delay):.3g} ms "
            f"{'after' if delay > 0 else 'before'} the motion",
            f"give --delay {delay:.3g}",
        )


# -- positions -------------------------------------------------------------------------------------


def _positions(context: DiagnosticContext) -> ChangedColumns:
    """The columns of positions, with velocities where the log has them."""
    groups = {"q": context.positions, "qd": context.velocities}
    groups = {name: columns for name, columns in groups.items() if columns}
    return ChangedColumns(MOTION, groups, context.suspects)


def _positions_in_degrees(context: DiagnosticContext) -> Iterator[Candidate]:
    if context.velocities:
        return
    trial = context.trial.scaled(np.pi / 180, *MOTION)
    yield Candidate(trial, "the positions are probably in degrees", "give --unit q=deg")


# -- the robot -------------------------------------------------------------------------------------

MAX_GRAVITY_LOGARITHM: Final = 2.0
"""The largest logarithm of a factor of gravity that is tried."""


def gravity_magnitudes(context: DiagnosticContext) -> Iterator[Candidate]:
    """Gravity with another magnitude: none, or another size of the robot, because all lengths
    times a factor are gravity by that factor (the masses make up for the rest)."""

    def cost(log: float) -> float:
        return context.cost(replace(context.trial, gravity=float(np.exp(log))))

    limits = context.thresholds
    grid = np.linspace(-MAX_GRAVITY_LOGARITHM, MAX_GRAVITY_LOGARITHM, 9)
    best = float(grid[int(np.argmin([cost(x) for x in grid]))])
    factor = float(np.exp(parabolic_minimum(cost, best, 0.5)))
    size = ",".join(f"{0.0 - x:g}" for x in context.model.mapping.model.gravity)
    yield Candidate(
        replace(context.trial, gravity=-1.0),
        "the base is probably mounted upside down",
        f"give --gravity {size}",
    )
    yield Candidate(
        replace(context.trial, gravity=0.0),
        "the forces do not include gravity",
        "give --gravity 0,0,0 if it was subtracted from them",
    )
    if abs(best) < MAX_GRAVITY_LOGARITHM and not 1 / limits.gravity < factor < limits.gravity:
        yield Candidate(
            replace(context.trial, gravity=factor),
            f"all lengths of the robot are probably {1 / factor:.3g} times those in the robot file",
            "use the file of the robot that was recorded",
            final=True,
        )


def gravity_directions(context: DiagnosticContext) -> Iterator[Candidate]:
    """Gravity in another direction of the base."""
    model = context.model.mapping.model
    if context.score.residuals.max() < context.thresholds.tilted**2:
        return
    size = float(np.linalg.norm(model.gravity))
    if not size:
        return

    def gravity(direction: Numbers) -> Numbers:
        return np.asarray(direction * (size / np.linalg.norm(direction)))

    def trial(direction: Numbers) -> Trial:
        return replace(context.trial, gravity=gravity(direction))

    corners = [np.array(v, float) for v in np.ndindex(3, 3, 3)]
    starts = [v - 1 for v in corners if (v != 1).any()]
    best = min(starts, key=lambda v: context.cost(trial(v)))
    best = best / np.linalg.norm(best)
    for width in (0.4, 0.2, 0.1, 0.04, 0.02):
        for _ in range(4):
            axes = np.linalg.svd(best[None])[2][1:]
            tried = [best, *(best + s * width * a for a in axes for s in (-1, 1))]
            better = min(tried, key=lambda v: context.cost(trial(v)))
            if better is best:
                break
            best = better / np.linalg.norm(better)
    tilt = np.degrees(
        np.arccos(np.clip(gravity(best) @ np.array(model.gravity, float) / size**2, -1, 1))
    )
    if context.explains(trial(best)) and tilt > context.thresholds.tilt:
        text = ",".join(f"{x:.2f}" for x in gravity(best))
        yield Candidate(
            trial(best),
            f"the base is probably mounted in another direction, {tilt:.0f}° from that of the "
            "robot file",
            f"give --gravity {text}",
        )


def unknown_payload(context: DiagnosticContext) -> Iterator[Candidate]:
    """A last body that is not as in the robot file."""
    mapping, last = context.model.mapping, len(context.model.mapping.bodies) - 1
    if last in context.trial.unknown_bodies:
        return
    trial = replace(context.trial, unknown_bodies=(last,))
    mass = context.model.standard(trial)[10 * last] - mapping.prior[10 * last]
    body = shown(mapping.bodies[last])
    if mass < context.thresholds.load * float(mapping.prior[: 10 * (last + 1) : 10].sum()):
        return
    yield Candidate(
        trial,
        f"link '{body}' probably carries a load that is not in the robot file, of about "
        f"{mass:.2g} kg",
        f"estimate it with --payload {body}",
        final=True,
    )


def friction_drift(context: DiagnosticContext) -> Iterator[Candidate]:
    """Friction that changes over the log."""
    trial = context.trial
    ramp = (trial.t - trial.t.mean()) / max(np.ptp(trial.t), 1e-9)
    extra = tuple(column * ramp[:, None] for column in trial.drives[:3])
    yield Candidate(
        replace(trial, extra=extra),
        "friction changes over the log",
        "let the robot warm up, or identify parts of the log",
    )


CHANGE_FRACTIONS: Final = tuple(k / 10 for k in range(2, 9))
"""When the load may change, as parts of the duration."""


def load_change(context: DiagnosticContext) -> Iterator[Candidate]:
    """A last body that carries a load during a part of the log only."""
    trial, mapping, last = context.trial, context.model.mapping, len(context.model.mapping.bodies)
    body = np.zeros_like(mapping.prior)
    ten = slice(10 * last - 10, 10 * last)
    body[ten] = mapping.prior[ten]
    if not body[ten][0]:
        return
    forces = context.model.kernel(trial.q, trial.qd, trial.qdd) @ mapping.base(body)
    times = trial.t.min() + np.array(CHANGE_FRACTIONS) * np.ptp(trial.t)
    trials = [replace(trial, extra=(forces * (trial.t > t)[:, None],)) for t in times]
    best = int(np.argmin([context.cost(changed) for changed in trials]))
    yield Candidate(
        trials[best],
        f"the load of link '{shown(mapping.bodies[-1])}' changes at about {times[best]:.2g} s",
        "identify the parts of the log before and after it",
    )


# -- the table -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hypothesis:
    """A row of the table: what it tries, the reduction of the cost from which it is believed, by
    channel and in all, and whether it is tried only if a channel is not explained."""

    candidates: Callable[[DiagnosticContext], Iterable[Candidate]]
    min_gain: float = 0.0
    min_gain_per_channel: float = 0.0
    unexplained_only: bool = False

    def required_gain(self, channels: int, thresholds: Thresholds) -> float:
        """The reduction of the cost from which the hypothesis is believed."""
        return (self.min_gain or thresholds.min_gain) + self.min_gain_per_channel * channels


HYPOTHESES: Final = (
    Hypothesis(lambda context: _forces(context).signs(context)),
    Hypothesis(_force_factors),
    Hypothesis(_saturated, min_gain=60.0),
    Hypothesis(unsigned_forces, min_gain=60.0),
    Hypothesis(forces_without_gravity, min_gain=60.0),
    Hypothesis(_delay, min_gain_per_channel=50.0),
    Hypothesis(late_force, min_gain=MIN_DELAY_GAIN),
    Hypothesis(lambda context: _forces(context).swaps(context, "used"), unexplained_only=True),
    Hypothesis(lambda context: _forces(context).cycles(context, "used"), unexplained_only=True),
    Hypothesis(lambda context: _positions(context).signs(context)),
    Hypothesis(lambda context: _positions(context).swaps(context), unexplained_only=True),
    Hypothesis(_positions_in_degrees, unexplained_only=True),
    Hypothesis(zero_offsets, min_gain=25.0),
    Hypothesis(coupled_joints, min_gain=200.0),
    Hypothesis(gear_ratios),
    Hypothesis(gravity_magnitudes),
    Hypothesis(gravity_directions, min_gain=60.0),
    Hypothesis(unknown_payload),
    Hypothesis(load_change, min_gain=60.0),
    Hypothesis(friction_drift, min_gain=60.0),
)
"""All hypotheses, those with the simplest cures first."""
