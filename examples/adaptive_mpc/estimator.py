"""The payload's ten parameters from consecutive samples, physically consistent at every step.

An information filter with forgetting on the generated inverse-dynamics regressor. The estimate
minimises

    1/2 Σ λ^age |y - Y π|² + tr(P0⁻¹ P(π)) - log det P(π),

the squares weighted by the noise. The last two terms are the log-det divergence from the
pseudo-inertia of a prior (Lee, Wensing & Park, "Geometric robot dynamic identification", T-RO
2020): they weigh as little as a few observations of the size of π itself, keep P positive definite
without a projection, and hold what the motion does not excite near the prior. The problem is convex
in ten unknowns; Newton's method starts from the estimate before."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import numpy as np

from examples.adaptive_mpc.inertia import BASIS, Array, parameters, pseudo
from examples.adaptive_mpc.model import NOTHING, Arm
from examples.adaptive_mpc.plant import Noise, Sample

CONVERGED = 1e-6
"""Square of the Newton decrement: a thousandth of a standard deviation from the minimum."""

STEPS, SHORTEST = 100, 1e-10
"""Of Newton's method: half a dozen steps are usual; the limits are for samples that are not
finite."""


ROUGH = 1e-4
"""The error of differences for accelerations, as a part of the torque: what noise is taken to be at
least."""


ORTHONORMAL = np.array(
    [
        (np.outer(a, b) + np.outer(b, a)) / (2 if a is b else np.sqrt(2))
        for a, b in combinations_with_replacement(np.eye(4), 2)
    ]
)
"""A basis of the symmetric 4 x 4 matrices."""

TO_TEN = np.array([parameters(entry.reshape(4, 4)) for entry in np.eye(16)]).T
"""The ten parameters of a pseudo-inertia row by row; 10 x 16."""


@dataclass
class PayloadEstimator:
    """Estimates the payload of an arm; `prior` is ten parameters of a body one might expect.

    `forgetting` is λ for each sample. Where the whitened innovation squared, by joint, exceeds
    `alarm`, the payload has changed and λ is `sharp` once. `noise` may be zero."""

    arm: Arm
    prior: Array
    noise: Noise
    period: float
    forgetting: float = 0.995
    alarm: float = 6.0
    sharp: float = 0.02
    information: Array = field(default_factory=lambda: np.zeros((10, 10)))
    score: Array = field(default_factory=lambda: np.zeros(10))

    def __post_init__(self) -> None:
        self.estimate, self.covariance = consistent(
            self.information, self.score, self.prior, self.prior
        )

    def update(self, before: Sample, after: Sample) -> Array:
        """The ten parameters after one more pair of consecutive samples; the torque is that of
        `after`."""
        y, rows = self._whitened(before, after)
        error = y - rows @ self.estimate
        expected = np.eye(len(y)) + rows @ self.covariance @ rows.T
        surprise = error @ np.linalg.solve(expected, error) / len(y)
        keep = self.sharp if surprise > self.alarm else self.forgetting
        self.information = keep * self.information + rows.T @ rows
        self.score = keep * self.score + rows.T @ y
        self.estimate, self.covariance = consistent(
            self.information, self.score, self.prior, self.estimate
        )
        return self.estimate

    def _whitened(self, before: Sample, after: Sample) -> tuple[Array, Array]:
        """What the payload adds to the joint forces, and its regressor, in units of the noise."""
        q, qd, qdd = halfway(before, after, self.period)
        y = after.torque - self.arm.inverse_dynamics(q, qd, qdd, NOTHING)
        mass = self.arm.mass_matrix(q, self.estimate)
        spread = self.noise.velocity * np.sqrt(2.0) / self.period
        # at least what moves at 1 rad/s², so that an arm without torque has a scale too
        torque = max(self.noise.torque, ROUGH * max(np.abs(after.torque).max(), np.abs(mass).max()))
        factor = np.linalg.cholesky(torque**2 * np.eye(len(q)) + spread**2 * mass @ mass.T)
        white = np.linalg.solve(
            factor, np.column_stack((y, self.arm.payload_regressor(q, qd, qdd)))
        )
        return white[:, 0], white[:, 1:]


def halfway(before: Sample, after: Sample, period: float) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations halfway between two samples, where the difference of
    velocities is the acceleration up to O(period²)."""
    return (
        (before.q + after.q) / 2,
        (before.qd + after.qd) / 2,
        (after.qd - before.qd) / period,
    )


def consistent(information: Array, score: Array, prior: Array, start: Array) -> tuple[Array, Array]:
    """The π that minimises 1/2 πᵀ Λ π - scoreᵀ π + tr(P0⁻¹ P(π)) - log det P(π), and the inverse of
    the Hessian there.

    Newton's method with a line search, along whichever goes lower of the straight step and the
    curved one, which never leaves the cone; `start` must be in it. Raises ArithmeticError where the
    samples were not finite."""
    pull = np.einsum("kij,ji->k", BASIS, np.linalg.inv(pseudo(prior)))

    def cost(ten: Array) -> float:
        values = np.linalg.eigvalsh(pseudo(ten))
        if values[0] <= 0:
            return np.inf
        return float(ten @ information @ ten / 2 - (score - pull) @ ten - np.log(values).sum())

    ten = start
    for _ in range(STEPS):
        step, decrement, covariance = _newton(information, score, pull, ten)
        if decrement < CONVERGED:
            return ten, covariance
        ten = _lower(cost, ten, step, decrement)
    raise ArithmeticError("the estimate does not converge; are the samples finite?")


def _newton(
    information: Array, score: Array, pull: Array, ten: Array
) -> tuple[Array, float, Array]:
    """The Newton step, the square of its decrement, and the inverse of the Hessian.

    In the coordinates X of π + C X Cᵀ with P = C Cᵀ the Hessian of -log det P is the identity, and
    that of the squares Tᵀ Λ T has no negative eigenvalue but by rounding: their sum is positive
    definite however much the data weigh."""
    factor = np.linalg.cholesky(pseudo(ten))
    turned = TO_TEN @ (factor @ ORTHONORMAL @ factor.T).reshape(10, 16).T
    gradient = turned.T @ (information @ ten - score + pull) - np.trace(
        ORTHONORMAL, axis1=1, axis2=2
    )
    values, vectors = np.linalg.eigh(turned.T @ information @ turned)
    root = turned @ vectors / np.sqrt(1 + np.maximum(values, 0))
    slope = vectors.T @ gradient / np.sqrt(1 + np.maximum(values, 0))
    return -root @ slope, float(slope @ slope), root @ root.T


def _lower(cost: Callable[[Array], float], ten: Array, step: Array, decrement: float) -> Array:
    """A point where the cost is lower by a tenth of what its slope promises (Armijo), the step
    halved until it is."""
    before, length = cost(ten), 1.0
    rounding = 1e-12 * abs(before)
    while True:
        point = min((ten + length * step, curved(ten, length * step)), key=cost)
        if length < SHORTEST or cost(point) <= before - 0.1 * length * decrement + rounding:
            return point
        length /= 2


def curved(ten: Array, step: Array) -> Array:
    """ten + step up to second order, and always positive definite.

    P = C Cᵀ becomes C F Fᵀ Cᵀ with triangular F, after the log-Cholesky coordinates of Rucker &
    Wensing (RA-L 2022). C is upper triangular, so that the centre of mass moves without squeezing
    the body about it; straight steps do that, and crawl."""
    factor = np.linalg.cholesky(pseudo(ten)[::-1, ::-1])[::-1, ::-1]
    inverse = np.linalg.inv(factor)
    change = inverse @ pseudo(step) @ inverse.T
    grown = factor @ (np.triu(change, 1) + np.diag(np.exp(np.clip(np.diag(change) / 2, -3, 3))))
    return parameters(grown @ grown.T)


def mass_and_centre(ten: Array) -> tuple[float, Array]:
    """Mass (kg) and centre of mass (m)."""
    return float(ten[0]), ten[1:4] / ten[0]


def is_consistent(ten: Array) -> bool:
    """Whether matter can have these parameters."""
    return bool(np.linalg.eigvalsh(pseudo(ten))[0] > 0)


def ball(mass: float, radius: float, height: float) -> Array:
    """The ten parameters of a uniform ball on the z axis of its frame (kg, m, m)."""
    matrix = np.diag((*[mass * radius**2 / 5] * 3, mass))
    matrix[2, 3] = matrix[3, 2] = mass * height
    matrix[2, 2] += mass * height**2
    return parameters(matrix)
