"""Suspicions about the channels of a log, each tried by a fit with one parameter more or one
change: a sign, a factor, two channels exchanged, a shift in time. What explains the log far better
than what it says is told, with the option that cures it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Final

import numpy as np

from symgen.advice import use_prior
from symgen.identification.data.dataset import Reading
from symgen.identification.data.log_file import LogError
from symgen.identification.diagnostics.diagnostic_fit import Evidence, Fit, chosen
from symgen.identification.model.equations import JointForceEquations
from symgen.identification.model.problem import Problem
from symgen.numbers.types import Numbers
from symgen.text import shown

POOR: Final = 0.25
"""A channel of which more than this part is left (root mean square) is not explained;"""
FAR_BETTER: Final = 0.5
"""and a change explains it that leaves less than this part of the sum of what was left."""
LATE: Final = 0.7
"""The same of a shift in time, whatever is left."""
CLEAR: Final = 0.8
"""The least correlation at which a factor between measured and foreseen forces is judged;"""
FACTOR: Final = 3.0
"""such a factor, or its inverse, is more than what a prior may be off."""
NEAR: Final = 0.2
"""How far a factor may be from that of a unit and still be taken for it."""
SHIFTS: Final = 20
"""Steps of time that forces are shifted at most; and seconds:"""
LONGEST: Final = 0.1
FEWER: Final = 1000
"""Rows for suspicions that need regressors of their own."""
DRIVEN: Final = 0.1
"""The part of a joint's work that friction of the wrong sign takes at least to be suspected."""
TOLD: Final = 0.01
"""The part of a force's mean square that is left at least without a friction that is told."""
UNITS: Final = {1e3: "mNm", 1e2: "Ncm", 1e-3: "kNm"}


@dataclass(frozen=True)
class Names:
    """How channels are called: joints, and the log's columns of forces and positions."""

    joints: tuple[str, ...]
    forces: tuple[str, ...]
    positions: tuple[str, ...]
    with_velocities: bool

    @classmethod
    def of(cls, reading: Reading, joints: tuple[str, ...]) -> "Names":
        """The names of a log's columns."""
        layout = reading.layout
        forces = tuple(column.name for column in layout.measured)
        return cls(joints, forces, tuple(c.name for c in layout.q), bool(layout.qd))


@dataclass(frozen=True)
class Suspicion:
    """A sentence, and the part of the sum of residuals that is left if it is true."""

    residual: float
    text: str


def gated(reading: Reading, sought: Problem, full: bool) -> Reading:
    """A log with what is suspected of its channels, if these are joint forces at instants. Raises
    LogError where a joint stands still among others and no prior is to decide (`full`)."""
    if sought.wanted.plain and not full:
        _check_moving(reading)
    equations = sought.equations(None)
    if sought.joints is None or not isinstance(equations, JointForceEquations):
        return reading
    evidence, mapping = Evidence(chosen(reading), equations.kernel), sought.mapping
    if not evidence.samples:
        return reading
    names = Names.of(reading, sought.wanted.velocities)
    suspected = suspicions(evidence, mapping.base(mapping.prior), names, reading.step)
    warnings = tuple(f"{shown(reading.log.file)}: warning: {text}" for text in suspected)
    return replace(reading, doubts=warnings)


def _check_moving(reading: Reading) -> None:
    constant = reading.survey.constant[: len(reading.layout.q)]
    if constant.any() and not constant.all():
        k = int(np.argmax(constant))
        raise LogError(
            shown(reading.log.file),
            f"'{shown(reading.layout.q[k].name)}' is {reading.survey.low[k]:.4g} in every row: the "
            "joint does not move, or its encoder is defective; lock it with --lock JOINT=VALUE, "
            f"choose another column, or {use_prior(full=False)}",
        )


def suspicions(evidence: Evidence, prior: Numbers, names: Names, step: float) -> tuple[str, ...]:
    """Suspicions, the most telling first; `prior` (b) are the base parameters of the robot's file,
    `step` the usual step of time (s)."""
    residual = evidence.fit.residuals()
    poor = float(np.sqrt(residual.max(initial=0.0))) > POOR
    gains = tuple(_gains(evidence, prior, names))
    if gains:
        return gains
    total, fit = float(residual.sum()), evidence.fit
    for kind in (_signs, _swaps, _factors) if poor else ():
        suspicion = min(kind(fit, names), key=lambda s: s.residual, default=None)
        if suspicion and suspicion.residual < FAR_BETTER * total:
            return (suspicion.text,)
    shift = _shifted(evidence, names, step)
    if shift and shift.residual < LATE * total:
        return (shift.text,)
    suspicion = (
        min(_positions(evidence, names), key=lambda s: s.residual, default=None) if poor else None
    )
    if suspicion and suspicion.residual < FAR_BETTER * total:
        return (suspicion.text,)
    return tuple(_driven(evidence, len(prior), names))


# -- against the prior -----------------------------------------------------------------------------


def _gains(evidence: Evidence, prior: Numbers, names: Names) -> Iterator[str]:
    """Forces that are a multiple of what the robot's file foresees, or its opposite."""
    factors, alike = evidence.against(prior)
    clear = np.abs(alike) > CLEAR
    inverted = clear & (factors < 0)
    for k in np.flatnonzero(inverted).tolist():
        yield (
            f"'{shown(names.forces[k])}' probably has the wrong sign: it is {factors[k]:.3g} times "
            f"the prediction from the robot file (correlation {alike[k]:.2f}); give --scale "
            f"tau_{shown(names.joints[k])}=-1"
        )
    sizes = np.abs(factors[clear])
    far = (sizes < 1 / FACTOR) | (sizes > FACTOR)
    if 2 * far.sum() > clear.sum() and (inverted | clear).any() and not inverted.all():
        yield _unit(sizes[far], int(far.sum()), names)


def _unit(sizes: Numbers, count: int, names: Names) -> str:
    """The sentence on forces that are so many times what is foreseen."""
    finding = (
        f"the forces of {count} joints are {sizes.min():.3g} to {sizes.max():.3g} times the "
        "prediction from the robot file"
    )
    unit = next((u for f, u in UNITS.items() if (np.abs(sizes / f - 1) < 2 * NEAR).all()), None)
    if unit is not None:
        return f"{finding}: their unit is not N m; give --unit tau={unit}"
    return (
        f"{finding}, as with motor currents in A or torques on the motor side of the gears; give "
        f"--column current={shown(_pattern(names.forces))} and --torque-constant JOINT=K for each "
        "joint"
    )


def _pattern(columns: Sequence[str]) -> str:
    return ",".join(columns)


# -- against each other ----------------------------------------------------------------------------


def _signs(fit: Fit, names: Names) -> Iterator[Suspicion]:
    for k, name in enumerate(names.forces):
        factors = np.ones(len(names.forces))
        factors[k] = -1.0
        yield Suspicion(
            float(fit.residuals(None, factors).sum()),
            f"'{shown(name)}' probably has the wrong sign: the opposite sign fits the log far "
            f"better; give --scale tau_{shown(names.joints[k])}=-1",
        )


def _swaps(fit: Fit, names: Names) -> Iterator[Suspicion]:
    for j, k in combinations(range(len(names.forces)), 2):
        order = list(range(len(names.forces)))
        order[j], order[k] = k, j
        a, b = shown(names.forces[j]), shown(names.forces[k])
        yield Suspicion(
            float(fit.residuals(order).sum()),
            f"'{a}' and '{b}' are probably swapped: the opposite order fits the log far better; "
            f"give --column tau_{shown(names.joints[j])}={b} --column "
            f"tau_{shown(names.joints[k])}={a}",
        )


def _factors(fit: Fit, names: Names) -> Iterator[Suspicion]:
    for k, name in enumerate(names.forces):
        tried = []
        for size in np.geomspace(1e-3, 1e3, 37):
            factors = np.ones(len(names.forces))
            factors[k] = size
            tried.append((float(fit.residuals(None, factors).sum()), float(size)))
        residual, size = min(tried)
        if not 1 / FACTOR < size < FACTOR:
            yield Suspicion(
                residual,
                f"'{shown(name)}' probably has another unit than the other forces: a factor of "
                f"about {size:.2g} fits the log far better; give --scale "
                f"tau_{shown(names.joints[k])}={size:.2g}",
            )


def _driven(evidence: Evidence, base: int, names: Names) -> Iterator[str]:
    """Joints whose friction would drive them."""
    x, residual = evidence.fit.solved()
    for k, (viscous, coulomb, *_) in enumerate(x[base:].reshape(-1, 4).tolist()):
        rates, forces = evidence.states[1][:, k], evidence.measured()[:, k]
        lost = float(np.sum((viscous * rates**2 + coulomb * np.abs(rates)) * evidence.used[:, k]))
        if -lost > DRIVEN * float(np.sum(np.abs(forces * rates))) and _needed(
            evidence.fit, k, base + 4 * k, residual
        ):
            yield (
                f"'{shown(names.forces[k])}' probably has the wrong sign: its estimated friction "
                f"is negative; give --scale tau_{shown(names.joints[k])}=-1"
            )


def _needed(fit: Fit, k: int, first: int, residuals: Numbers) -> bool:
    """Whether the log tells the friction of joint k at all: without its two columns far more is
    left."""
    without = fit.without([first, first + 1]).residuals()[k]
    return bool(without > max(4 * residuals[k], TOLD))


def _shifted(evidence: Evidence, names: Names, step: float) -> Suspicion | None:
    """Forces that come later or earlier than the motion, all of them."""
    count = max(2, min(SHIFTS, round(LONGEST / step)))
    residuals = [
        float(evidence.fit.with_measured(evidence.measured(later)).residuals().sum())
        for later in range(-count, count + 1)
    ]
    k = int(np.argmin(residuals[1:-1])) + 1
    before, rest, after = residuals[k - 1 : k + 2]
    bend = before - 2 * rest + after
    delay = step * (k - count + (0.5 * (before - after) / bend if bend > 0 else 0.0))
    if abs(delay) <= 0.5 * step:
        return None
    word = "after" if delay > 0 else "before"
    return Suspicion(
        rest,
        f"the forces are recorded {1e3 * abs(delay):.3g} ms {word} the motion: with this shift "
        f"the model fits the log far better; give --delay {delay:.3g}",
    )


# -- positions -------------------------------------------------------------------------------------


def _positions(evidence: Evidence, names: Names) -> Iterator[Suspicion]:
    """Positions with the wrong sign, exchanged, or in degrees; velocities and accelerations with
    them."""
    rows = slice(None, None, max(len(evidence.used) // FEWER, 1))
    states, y = [x[rows] for x in evidence.states], evidence.measured()[rows]
    n, used = y.shape[1], evidence.used[rows]
    if any(x.shape[1] != n for x in states):
        return

    def left(change: Callable[[Numbers], Numbers]) -> float:
        linear = evidence.equations(*(change(x) for x in states)) * used[:, :, None]
        return float(Fit.of(linear, y).residuals().sum())

    before = left(lambda x: x) or 1.0
    total = float(evidence.fit.residuals().sum())

    def scale(k: int, factor: float) -> str:
        groups = ("q", "qd") if names.with_velocities else ("q",)
        return " ".join(f"--scale {g}_{shown(names.joints[k])}={factor:g}" for g in groups)

    for k in range(n):
        signs = np.where(np.arange(n) == k, -1.0, 1.0)
        yield Suspicion(
            total * left(lambda x, signs=signs: x * signs) / before,  # type: ignore[misc]
            f"'{shown(names.positions[k])}' probably has the wrong sign: the opposite sign fits "
            f"the log far better; give {scale(k, -1.0)}",
        )
    for j, k in combinations(range(n), 2):
        order = list(range(n))
        order[j], order[k] = k, j
        a, b = shown(names.positions[j]), shown(names.positions[k])
        yield Suspicion(
            total * left(lambda x, order=order: x[:, order]) / before,  # type: ignore[misc]
            f"'{a}' and '{b}' are probably swapped: the opposite order fits the log far better; "
            f"give --column q_{shown(names.joints[j])}={b} --column q_{shown(names.joints[k])}={a}",
        )
    yield Suspicion(
        total * left(lambda x: x * (np.pi / 180)) / before,
        "the positions are probably in degrees: they fit the log far better; give --unit q=deg",
    )
