"""The payload's ten parameters by a filter that symgen generates: recursive least squares in C.

`--controller recursive_least_squares` estimates the base parameters β of a whole arm. Here the arm
is known and its payload is not, so the filter is fed with what the payload adds to the forces. With
the Jacobian J of β in the payload's parameters π a covariance J Σ Jᵀ at the start keeps every later
β in the range of J, and the filter is that of π. What it knows of π, mean and information, goes to
the consistent body nearest to it (`estimator.consistent`)."""

from dataclasses import dataclass, field

import numpy as np

import symgen
from examples.adaptive_mpc.estimator import ROUGH, consistent, halfway
from examples.adaptive_mpc.inertia import Array
from examples.adaptive_mpc.model import NOTHING, Arm
from examples.adaptive_mpc.plant import Noise, Sample

SPREAD: Array = np.array([5.0, *[1.0] * 3, *[0.3] * 6])
"""Deviations of the payload's parameters before anything is seen (kg, kg m, kg m²)."""

VANISHING = 1e-9
"""A direction of π is none of β where it has less than this part of the largest singular value."""


@dataclass
class RecursiveEstimator:
    """Estimates the payload of an arm; arguments as of `PayloadEstimator`.

    The filter weighs all joints alike, by the largest deviation that the `noise` of torques and of
    accelerations has at a joint at `home`. Where the filter's squared innovation by joint, in units
    of what is expected of it, exceeds `alarm`, the payload has changed, and `sharp` of what the
    filter knew is left beside what it knew at the start."""

    arm: Arm
    prior: Array
    noise: Noise
    period: float
    home: Array
    forgetting: float = 0.995
    alarm: float = 6.0
    sharp: float = 0.02
    estimate: Array = field(init=False)
    covariance: Array = field(init=False)

    def __post_init__(self) -> None:
        self.filter = symgen.Robot(self.arm.file).controller(
            "recursive_least_squares", forget=self.forgetting
        )
        by_payload = self.arm.base_by_payload()
        self.estimate = self.prior
        self._unit = float(np.sqrt(np.diag(self._noise(self.home)).max()))
        self._range, sizes, turned = np.linalg.svd(by_payload * SPREAD, full_matrices=False)
        kept = sizes > VANISHING * sizes[0]
        self._range = self._range[:, kept]
        self._seen_as = (sizes[:, None] * turned)[kept] / SPREAD
        self._from_range = np.linalg.pinv(self._seen_as)
        self._start = np.diag((self._unit / sizes[kept]) ** 2)
        self.filter.state["beta_hat"] = by_payload @ self.prior
        self._know(self._start)
        self._settle()

    def update(self, before: Sample, after: Sample) -> Array:
        """The ten parameters after one more pair of consecutive samples; the torque is that of
        `after`."""
        q, qd, qdd = halfway(before, after, self.period)
        added = after.torque - self.arm.inverse_dynamics(q, qd, qdd, NOTHING)
        rows = self.arm.payload_regressor(q, qd, qdd) @ self._from_range
        information = self._information()
        error = added - rows @ (self._range.T @ self.filter.state["beta_hat"])
        known = self._unit**2 * rows @ np.linalg.solve(information, rows.T)
        if error @ np.linalg.solve(self._noise(q) + known, error) > self.alarm * len(q):
            self._know(self.sharp * information + self._start)
        self.filter.step(q=q, qd=qd, qdd=qdd, tau=added)
        self._settle()
        return self.estimate

    def _noise(self, q: Array) -> Array:
        """The covariance of the noise in the forces, that of accelerations included."""
        still = np.zeros(self.arm.dof)
        mass = self.arm.mass_matrix(q, self.estimate)
        moved = self.noise.velocity * np.sqrt(2.0) / self.period * mass
        hold = np.abs(self.arm.inverse_dynamics(q, still, still, self.estimate)).max()
        least = max(self.noise.torque, ROUGH * max(hold, np.abs(mass).max()))
        return np.asarray(least**2 * np.eye(self.arm.dof) + moved @ moved.T)

    def _information(self) -> Array:
        """The inverse of the filter's covariance in the coordinates of the range of J."""
        upper, diagonal = of_factors(self.filter.state["P"], len(self._range))
        root = (self._range.T @ upper) * np.sqrt(diagonal)
        return np.linalg.inv(root @ root.T)

    def _know(self, information: Array) -> None:
        """Let the filter have that inverse."""
        self.filter.state["P"] = factors(self._range @ np.linalg.solve(information, self._range.T))

    def _settle(self) -> None:
        """The consistent estimate of what the filter knows."""
        rows = self._information() @ self._seen_as / self._unit**2
        self.estimate, self.covariance = consistent(
            self._seen_as.T @ rows,
            rows.T @ (self._range.T @ self.filter.state["beta_hat"]),
            self.prior,
            self.estimate,
        )


def factors(matrix: Array) -> Array:
    """U D Uᵀ of a positive semidefinite matrix as the filter keeps it: D in the diagonal of a lower
    triangle by rows, Uᵀ below.

    Bierman (1977), section III.4; directions without variance have zeros."""
    left, size = np.array(matrix), len(matrix)
    found, least = np.zeros_like(left), 1e-12 * np.diag(matrix).max()
    for j in reversed(range(size)):
        found[j, j] = left[j, j]
        if left[j, j] <= least:
            found[j, j] = 0.0
            continue
        found[j, :j] = left[:j, j] / left[j, j]
        left[:j, :j] -= np.outer(found[j, :j], left[:j, j])
    return found[np.tril_indices(size)]


def of_factors(flat: Array, size: int) -> tuple[Array, Array]:
    """U and the diagonal of D."""
    lower = np.zeros((size, size))
    lower[np.tril_indices(size)] = flat
    diagonal = np.diag(lower).copy()
    np.fill_diagonal(lower, 1.0)
    return lower.T, diagonal
