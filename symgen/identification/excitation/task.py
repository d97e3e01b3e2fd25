"""The task of exciting a robot: dynamics, parameters and limits, at which times they are looked at,
and how well a motion tells base parameters apart.

Motions are finite Fourier series (Swevers, Ganseman, Tukel, De Schutter & Van Brussel, T-RA 1997,
eq. 2), q(t) = c + Σ_l a_l / (ω l) sin(ω l t) - b_l / (ω l) cos(ω l t) with ω = 2π / period: they
repeat, so a log may be of any length, and rates are exact. The criterion is the condition number of
the stacked regressor. Its rows are divided by the force that each joint can give, so that joints
count alike, and its columns are scaled to unit length, so that units of parameters do not matter
(Gautier & Khalil, IJRR 1992)."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.excitation.clearance import Clearance
from symgen.identification.excitation.motion_limits import ExcitationPlan, MotionBounds
from symgen.identification.model.regressor_tapes import Dynamics
from symgen.numbers.scalar import Numbers


def fourier_basis(harmonics: int, period: float, t: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The functions that coefficients a_1 ... a_N, b_1 ... b_N multiply in q, its rate and its
    acceleration (each N_t x 2 N)."""
    rates = 2 * np.pi / period * np.arange(1, harmonics + 1)
    s, c = np.sin(t[:, None] * rates), np.cos(t[:, None] * rates)
    return (
        np.hstack([s, -c]) / np.tile(rates, 2),
        np.hstack([c, s]),
        np.hstack([-s, c]) * np.tile(rates, 2),
    )


def rest_to_rest_basis(harmonics: int) -> Numbers:
    """Coefficients (2 N x 2 N - 2, orthonormal) that start and end at rest: Σ a_l = 0 and Σ l b_l =
    0."""
    constraints = np.zeros((2, 2 * harmonics))
    constraints[0, :harmonics], constraints[1, harmonics:] = 1.0, np.arange(1, harmonics + 1)
    return np.asarray(np.linalg.svd(constraints)[2][2:].T)


@dataclass(frozen=True)
class FourierMotion:
    """A motion of n joints: centres (n, rad or m), coefficients (n x 2 N, rad/s or m/s) and period
    (s)."""

    centre: Numbers
    coefficients: Numbers
    period: float

    @property
    def harmonics(self) -> int:
        """N, how many there are."""
        return int(self.coefficients.shape[1]) // 2

    def states(self, t: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Positions, velocities and accelerations (each N_t x n) at times t (s)."""
        place, rate, change = fourier_basis(self.harmonics, self.period, t)
        transposed = self.coefficients.T
        return self.centre + place @ transposed, rate @ transposed, change @ transposed

    def scaled(self, factor: float) -> "FourierMotion":
        """The same with its excursions from the centre times a factor."""
        return FourierMotion(self.centre, self.coefficients * factor, self.period)


SAMPLES_OF_HARMONIC: Final = 12
"""Samples a period of the highest harmonic: what the search looks at."""
MIN_FINE_SAMPLES: Final = 1000
"""Samples a period, at least, on which limits must hold."""
APPROACH_POSTURES: Final = 100
"""Postures on the way to the start of a motion at which free space is checked."""


@dataclass(frozen=True)
class ExcitationTask:
    """A task, what to excite: dynamics, base parameters as the files have them (b and friction),
    limits and plan."""

    names: tuple[str, ...]
    dynamics: Dynamics
    parameters: Numbers
    bounds: MotionBounds
    plan: ExcitationPlan
    lengths: tuple[bool, ...] = ()
    """Whether the coordinate of each joint is a length; nothing is said where it is empty."""
    drives: tuple[str, ...] = ()
    """The names of the last parameters, those of friction and springs."""
    posture: Numbers | None = None
    """The centre of the motion (n, rad or m), None if the search chooses it."""
    clearance: Clearance | None = None
    """The free space that the motion keeps to."""

    @cached_property
    def separable(self) -> NDArray[np.intp]:
        """The numbers of the parameters that motions can tell from those before them."""
        return self.dynamics.separable(len(self.drives))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of those that they cannot."""
        first, kept = len(self.parameters) - len(self.drives), {*self.separable.tolist()}
        return tuple(name for k, name in enumerate(self.drives, first) if k not in kept)

    @property
    def joints(self) -> int:
        """n."""
        return len(self.bounds.lower)

    @property
    def allowed(self) -> MotionBounds:
        """The limits less the margin."""
        return self.bounds.within(self.plan.margin)

    def grid(self, count: int) -> Numbers:
        """Times at even distances in a period."""
        return np.asarray(np.arange(count) * (self.plan.period / count), np.float64)

    @property
    def coarse(self) -> Numbers:
        """The times that the search looks at."""
        return self.grid(SAMPLES_OF_HARMONIC * self.plan.harmonics)

    @property
    def fine(self) -> Numbers:
        """The times at which limits must hold: rows, or more."""
        rows = round(self.plan.period * self.plan.rate)
        return self.grid(rows * max(1, -(-MIN_FINE_SAMPLES // rows)))

    def excess(self, motion: FourierMotion, t: Numbers) -> float:
        """The largest excess of the motion, as a part of the limit; negative where it keeps to
        all."""
        states = motion.states(t)
        return float(self.allowed.excess(states[0], states[1], self.dynamics.forces(states)).max())

    @property
    def fixed_centre(self) -> bool:
        """Whether the search keeps the centre of the motion. With free space it does, because a
        motion is shrunk about its centre until it fits."""
        return self.posture is not None or self.clearance is not None

    def path(self, motion: FourierMotion) -> Numbers:
        """The positions (N x n) at which free space is checked: on the straight way from the centre
        of the motion to its start, then a period."""
        q, share = motion.states(self.fine)[0], np.linspace(0.0, 1.0, APPROACH_POSTURES)[:, None]
        return np.vstack([motion.centre + share * (q[0] - motion.centre), q, q[:1]])

    def whole_excess(self, motion: FourierMotion) -> float:
        """The largest excess of the motion over its limits at the fine times, and over the free
        space (m) on its path; negative if it keeps to both."""
        worst = self.excess(motion, self.fine)
        if worst > 0 or self.clearance is None:
            return worst
        return max(worst, self.clearance.excess(self.path(motion)))

    def rows(self, motion: FourierMotion) -> Numbers:
        """The stacked regressor (N n x b), each joint's rows divided by its limit of force."""
        scaled = self.dynamics.regressor(motion.states(self.coarse)) / self.bounds.force[:, None]
        return np.asarray(scaled[:, :, self.separable].reshape(-1, len(self.separable)))


EIGENVALUE_POWER: Final = 4
"""Of the smooth condition number; the largest would be the number itself, which has kinks."""


def condition_numbers(rows: Numbers) -> tuple[float, float]:
    """The condition numbers of stacked rows as they are and with columns of unit length; infinite
    where a column is 0."""
    lengths = np.linalg.norm(rows, axis=0)
    if not lengths.all():
        return np.inf, np.inf
    return float(np.linalg.cond(rows)), float(np.linalg.cond(rows / lengths))


def smooth_condition(rows: Numbers) -> tuple[float, Numbers]:
    """log of a smooth stand-in for the scaled condition number of `rows` (m x b), and its gradient
    (m x b).

    With λ the eigenvalues of the Gram matrix of columns of unit length: ½ (log Σ λᵖ + log Σ λ⁻ᵖ) /
    p, which is at least log σ_max / σ_min and by log b / p at most above it."""
    lengths = np.linalg.norm(rows, axis=0) + 1e-300
    unit = rows / lengths
    values, vectors = np.linalg.eigh(unit.T @ unit)
    values = np.maximum(values, 1e-14)
    high, low = (values / values[-1]) ** EIGENVALUE_POWER, (values[0] / values) ** EIGENVALUE_POWER
    value = 0.5 * (np.log(high.sum()) + np.log(low.sum())) / EIGENVALUE_POWER + 0.5 * np.log(
        values[-1] / values[0]
    )
    slopes = 0.5 * (high / high.sum() - low / low.sum()) / values
    change = 2 * unit @ (vectors * slopes) @ vectors.T
    return float(value), (change - unit * np.sum(change * unit, axis=0)) / lengths
