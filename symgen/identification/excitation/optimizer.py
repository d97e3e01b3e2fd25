"""Motions that excite: a Fourier series within limits, by a quasi-Newton method on the condition
number.

Limits are penalties while the method searches; what is left of an excess is then taken away by
shrinking the motion about its centres, which holds every limit on a grid finer than what is
written."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np

from symgen.errors import SymgenError
from symgen.identification.excitation.task import (
    ExcitationTask,
    FourierMotion,
    condition_numbers,
    fourier_basis,
    rest_to_rest_basis,
    smooth_condition,
)
from symgen.identification.model.equations import States
from symgen.numbers.scalar import Numbers
from symgen.text import install, shown

Progress = Callable[[str], None]

RANDOM_POSTURES: Final = 200
"""Random postures among which the centres of motions are looked for."""
RANDOM_STARTS: Final = 20
"""Random motions of which the best is where the search begins."""
PENALTY_WEIGHTS: Final = (1e1, 1e3)
"""Weights of the penalty, one search after the other."""
SCALE_TOLERANCE: Final = 1e-6
"""The largest relative difference of a motion's size from the largest one within limits."""
AMPLITUDE_FRACTIONS: Final = (1.0, 0.5, 0.25, 0.125)
"""Parts of a joint's excursion that are tried to be given back after a motion was shrunk."""
MAX_BISECTIONS: Final = 60
"""Halvings of the interval in which the largest motion within limits is found."""


@dataclass(frozen=True)
class ExcitationResult:
    """The motion found; condition numbers of the first random motion within limits and of the one
    found, as they are and with columns of unit length (of rows divided by limits of force)."""

    task: ExcitationTask
    motion: FourierMotion
    random_condition: tuple[float, float]
    found_condition: tuple[float, float]


def excite(task: ExcitationTask, progress: Progress = lambda step: None) -> ExcitationResult:
    """The best motion that the budget finds. Raises SymgenError where no motion keeps to the
    limits."""
    progress("searching for motions within the limits (stage 1 of 3)")
    starts = list(_random_motions(task))
    judged = [(condition_numbers(task.rows(motion))[1], k) for k, motion in enumerate(starts)]
    best = starts[min(judged)[1]]
    searched = _search(task, best, progress)
    progress("enforcing the limits between the samples (stage 3 of 3)")
    first, best, searched = (
        _within_all_limits(task, motion) for motion in (starts[0], best, searched)
    )
    motion = min((best, searched, first), key=lambda m: condition_numbers(task.rows(m))[1])
    return ExcitationResult(
        task,
        motion,
        condition_numbers(task.rows(first)),
        condition_numbers(task.rows(motion)),
    )


# -- starts ----------------------------------------------------------------------------------------


def _random_motions(task: ExcitationTask) -> Iterator[FourierMotion]:
    """Random motions within limits at the coarse times. Raises SymgenError where even standing
    still needs too much force."""
    random, centre = np.random.default_rng(task.plan.seed), _centre(task)
    basis, allowed = _coefficient_basis(task), task.allowed
    room = np.minimum(allowed.upper - centre, centre - allowed.lower)
    for _ in range(RANDOM_STARTS):
        y = random.normal(size=(task.joints, basis.shape[1])) @ basis.T
        q, qd, _ = FourierMotion(centre, y, task.plan.period).states(task.coarse)
        used = np.maximum(
            np.abs(q - centre).max(axis=0) / room, np.abs(qd).max(axis=0) / allowed.speed
        )
        motion = FourierMotion(centre, y / used[:, None], task.plan.period)
        yield _shrunk_to_limits(lambda m: task.excess(m, task.coarse), motion)


def _coefficient_basis(task: ExcitationTask) -> Numbers:
    """Directions of a joint's coefficients (2 N x f)."""
    n = task.plan.harmonics
    return rest_to_rest_basis(n) if task.plan.rest else np.eye(2 * n)


def _centre(task: ExcitationTask) -> Numbers:
    """The posture of the task, or the middle of the ranges; or where gravity asks too much there,
    or space is not free, the random posture that needs least force. Raises SymgenError."""
    allowed, random = task.allowed, np.random.default_rng([task.plan.seed, 1])
    spread = random.uniform(-0.8, 0.8, (RANDOM_POSTURES, task.joints))
    others = allowed.middle + spread * allowed.half_range
    postures = np.vstack([allowed.middle, others]) if task.posture is None else task.posture[None]
    postures = _free_postures(task, postures)
    at_rest = np.zeros_like(postures)
    used = np.abs(task.dynamics.forces((postures, at_rest, at_rest))) / allowed.force
    worst = used.max(axis=1)
    if worst[0] < 0.7:  # leaves force to move with
        return np.asarray(postures[0])
    if worst.min() >= 1:
        k = int(np.argmin(worst))
        joint = int(np.argmax(used[k]))
        need, most = used[k, joint] * allowed.force[joint], allowed.force[joint]
        raise SymgenError(
            f"error: joint '{shown(task.names[joint])}' cannot hold the robot at rest: it needs "
            f"a force of at least {need:.4g} in each of {len(postures)} postures, but only "
            f"{most:.4g} is allowed; check its effort limit, --gravity and --margin, or "
            "give --limit JOINT.effort=VALUE"
        )
    return np.asarray(postures[np.argmin(worst)])


def _free_postures(task: ExcitationTask, postures: Numbers) -> Numbers:
    """The postures that keep to the free space. Raises SymgenError if there are none."""
    if task.clearance is None:
        return postures
    worst = [task.clearance.excess(q[None]) for q in postures]
    if min(worst) > 0:
        which = "the posture of --around" if task.posture is not None else "each of 201 postures"
        raise SymgenError(
            f"error: {which} leaves the free space by {min(worst):.3g} m or more "
            f"({task.clearance.reason(postures[[int(np.argmin(worst))]])}); give another posture "
            "with --around, or change --keep-above, --workspace or --self-clearance"
        )
    return np.asarray(postures[np.array(worst) <= 0])


def _within_all_limits(task: ExcitationTask, motion: FourierMotion) -> FourierMotion:
    """The motion within all limits and the free space: shrunk about its centre, then, if space is
    limited, with each joint's excursion as large as the others allow."""
    shrunk = _shrunk_to_limits(task.whole_excess, motion)
    if task.clearance is None or shrunk is motion:
        return shrunk
    factors = np.array(shrunk.coefficients)
    for joint in range(task.joints):
        wide = factors.copy()
        wide[joint] = motion.coefficients[joint]
        for share in AMPLITUDE_FRACTIONS:
            grown = factors.copy()
            grown[joint] += share * (wide[joint] - factors[joint])
            if task.whole_excess(FourierMotion(motion.centre, grown, motion.period)) <= 0:
                factors = grown
                break
    return FourierMotion(motion.centre, factors, motion.period)


def _shrunk_to_limits(
    excess: Callable[[FourierMotion], float], motion: FourierMotion
) -> FourierMotion:
    """The motion, shrunk about its centre until it has no excess."""
    if excess(motion) <= 0:
        return motion
    low, high = 0.0, 1.0
    for _ in range(MAX_BISECTIONS):
        factor = (low + high) / 2
        low, high = (factor, high) if excess(motion.scaled(factor)) <= 0 else (low, factor)
        if high - low < SCALE_TOLERANCE * high:
            break
    return motion.scaled(low)


# -- search ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExcitationSearch:
    """The objective of a search in variables of order 1: centres by half ranges, free coefficients
    by speeds."""

    task: ExcitationTask
    basis: Numbers
    penalty_weight: float

    def motion(self, x: Numbers) -> FourierMotion:
        """The motion of variables (n (1 + f))."""
        allowed, table = self.task.allowed, x.reshape(self.task.joints, -1)
        centre = allowed.middle + table[:, 0] * allowed.half_range
        return FourierMotion(
            centre, (table[:, 1:] @ self.basis.T) * allowed.speed[:, None], self.task.plan.period
        )

    def variables(self, motion: FourierMotion) -> Numbers:
        """The variables of a motion."""
        allowed = self.task.allowed
        centre = (motion.centre - allowed.middle) / allowed.half_range
        scaled = motion.coefficients / allowed.speed[:, None] @ self.basis
        return np.hstack([centre[:, None], scaled]).ravel()

    def __call__(self, x: Numbers) -> tuple[float, Numbers]:
        """log of the smooth condition number and the penalty, with the gradient."""
        task, motion = self.task, self.motion(x)
        states = motion.states(task.coarse)
        regressor, kept = task.dynamics.regressor(states), task.separable
        scaled = (regressor / task.bounds.force[:, None])[:, :, kept]
        value, slope = smooth_condition(scaled.reshape(-1, scaled.shape[2]))
        by_regressor = np.zeros_like(regressor)
        by_regressor[:, :, kept] = slope.reshape(scaled.shape) / task.bounds.force[:, None]
        penalty, by_position, by_rate, by_force = self._penalty(states, regressor @ task.parameters)
        by_regressor += by_force[:, :, None] * task.parameters
        by_states = task.dynamics.gradient(states, by_regressor).copy()
        by_states[0] += by_position
        by_states[1] += by_rate
        return value + penalty, self._gradient(by_states.swapaxes(1, 2))

    def _penalty(self, states: States, tau: Numbers) -> tuple[float, Numbers, Numbers, Numbers]:
        """Weight by the mean square of excesses, with its derivatives in q, qd and tau (N x n
        each)."""
        allowed = self.task.allowed
        q, qd, _ = states
        over = np.maximum(allowed.excess(q, qd, tau), 0.0)
        weight = self.penalty_weight / len(q)
        places, rates, forces = np.hsplit(2 * weight * over, 3)
        outside, by_position = np.zeros(len(q)), np.zeros_like(q)
        if self.task.clearance is not None:
            outside, by_position = self.task.clearance.penalty(q)
        return (
            float(weight * (np.sum(over**2) + np.sum(outside))),
            places * np.sign(q - allowed.middle) / allowed.half_range + weight * by_position,
            rates * np.sign(qd) / allowed.speed,
            forces * np.sign(tau) / allowed.force,
        )

    def _gradient(self, by_states: Numbers) -> Numbers:
        """From derivatives in q, qd, qdd (3 x n x N) to those in the variables."""
        allowed, plan = self.task.allowed, self.task.plan
        shapes = fourier_basis(plan.harmonics, plan.period, self.task.coarse)
        by_coefficients = sum(
            (d @ s for d, s in zip(by_states, shapes, strict=True)),
            np.zeros((self.task.joints, 2 * plan.harmonics)),
        )
        centre = by_states[0].sum(axis=1) * allowed.half_range
        if self.task.fixed_centre:
            centre = 0.0 * centre
        return np.hstack(
            [centre[:, None], (by_coefficients @ self.basis) * allowed.speed[:, None]]
        ).ravel()


class _BudgetExhausted(Exception):
    """All evaluations of a round are used."""


def _search(task: ExcitationTask, start: FourierMotion, progress: Progress) -> FourierMotion:
    """Rounds of L-BFGS from a motion with rising weights of the penalty, the budget shared out
    among them."""
    motion, rounds = start, len(PENALTY_WEIGHTS)
    for k, weight in enumerate(PENALTY_WEIGHTS):
        spend = (task.plan.budget + rounds - 1 - k) // rounds
        motion = _minimize_within_budget(
            ExcitationSearch(task, _coefficient_basis(task), weight), motion, spend, progress
        )
    return motion


def _minimize_within_budget(
    search: ExcitationSearch, start: FourierMotion, spend: int, progress: Progress
) -> FourierMotion:
    """Where L-BFGS is after at most `spend` evaluations; SciPy's own limit lets a line search go
    on."""
    try:
        from scipy.optimize import minimize
    except ImportError:
        text = f"error: symgen excite needs SciPy; install it: {install('scipy')}"
        raise SymgenError(text) from None
    reached, seen = [search.variables(start)], count(1)

    def objective(x: Numbers) -> tuple[float, Numbers]:
        number = next(seen)
        if number > spend:
            raise _BudgetExhausted
        progress(
            f"optimizing the motion with penalty {search.penalty_weight:g} (stage 2 of 3): "
            f"evaluation {number} of {spend}"
        )
        return search(x)

    with suppress(_BudgetExhausted):
        minimize(
            objective,
            reached[0],
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": spend, "maxcor": 20},
            callback=lambda x: reached.append(x.copy()),
        )
    return search.motion(reached[-1])
