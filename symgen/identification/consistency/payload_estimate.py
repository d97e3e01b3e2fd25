"""A payload: what one link has more than the prior, if all else is as the prior says.

β = K (π₀ + E Δ) with Δ the ten numbers of the payload about a link's origin in its axes: weighted
least squares for Δ alone, with the covariance of β, so that standard errors and a test of the
assumption come with it."""

import math
from dataclasses import dataclass

import numpy as np

from symgen.errors import OptionError
from symgen.identification.model.estimate import Estimate
from symgen.mechanics.inertia import (
    inertial_parameters_of,
    pseudo_inertia_in_parent,
    pseudo_inertia_matrix,
)
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.spatial import Pose
from symgen.numbers.scalar import Numbers
from symgen.text import quoted, shown

MIN_RELATIVE_EFFECT = 1e-8
"""A direction of Δ that changes β less than this, relative to the one that changes it most, cannot
be told."""


@dataclass(frozen=True)
class Payload:
    """The payload that `link` carries: mass (kg), centre of mass (m, link axes) and the ten numbers
    (kg, kg m, kg m²) with their standard errors, infinite where the motion of the robot cannot
    tell.

    `chi_squared` is what is left of the weighted sum of squares, to be compared with `freedom`:
    much more than that means that other links differ from the prior too."""

    link: str
    parameters: Numbers
    errors: Numbers
    centre: Numbers
    centre_errors: Numbers
    chi_squared: float
    freedom: int

    @property
    def mass(self) -> float:
        return float(self.parameters[0])

    @property
    def mass_error(self) -> float:
        return float(self.errors[0])

    @property
    def agrees_with_prior(self) -> bool:
        """Whether all else agrees with the prior, within three deviations of a χ² distribution."""
        return self.chi_squared <= self.freedom + 3 * math.sqrt(2 * max(self.freedom, 1))


def body_and_pose_of_link(
    model: RigidBodyModel, link: str, flag: str = "--payload"
) -> tuple[int, Pose]:
    """The number of the body of a link among those with links, and its pose there; `flag` is the
    option that names it. Raises OptionError for a link that does not move."""
    places = {
        part.name: (k, part.pose) for k, body in enumerate(model.moving) for part in body.links
    }
    if link not in places:
        raise OptionError(
            f"{flag} {shown(link)}: no moving link has this name; the moving links are "
            f"{quoted(places)}"
        )
    return places[link]


def estimate_payload(model: RigidBodyModel, estimate: Estimate, link: str) -> Payload:
    """The payload that a link carries beyond the prior. Raises OptionError for a link that does not
    move."""
    mapping = estimate.mapping
    k, pose = body_and_pose_of_link(model, link)
    columns = (
        estimate.base_factor @ mapping.factors[:, 10 * k : 10 * k + 10] @ parallel_axis_matrix(pose)
    )
    rest = estimate.base_factor @ (estimate.base - mapping.base(mapping.prior))
    ten, covariance = _least_squares(columns, rest)
    misfit = float(np.sum((rest - columns @ ten) ** 2))
    centre, spread = _centre(ten, covariance)
    return Payload(
        link,
        ten,
        np.sqrt(np.diag(covariance)),
        centre,
        spread,
        misfit,
        max(len(rest) - int(np.linalg.matrix_rank(columns)), 0),
    )


def _least_squares(columns: Numbers, rest: Numbers) -> tuple[Numbers, Numbers]:
    """The solution (10) and its covariance, infinite on the diagonal for numbers that cannot be
    told."""
    lengths = np.linalg.norm(columns, axis=0)
    scale = np.where(lengths > 0, lengths, 1.0)
    u, s, vt = np.linalg.svd(columns / scale, full_matrices=False)
    kept = s > MIN_RELATIVE_EFFECT * s[0] if s[0] > 0 else np.zeros(len(s), dtype=bool)
    inverse = (vt[kept].T / s[kept]) / scale[:, None]
    covariance = inverse @ inverse.T
    hidden = np.sum(vt[kept] ** 2, axis=0) < 1 - 1e-6
    covariance[np.diag_indices(10)] = np.where(hidden, np.inf, np.diag(covariance))
    return np.asarray(inverse @ (u.T[kept] @ rest)), covariance


def _centre(ten: Numbers, covariance: Numbers) -> tuple[Numbers, Numbers]:
    """h / m and its standard errors, to first order."""
    if not ten[0]:
        return np.zeros(3), np.full(3, np.inf)
    centre = ten[1:4] / ten[0]
    slopes = np.hstack([-centre[:, None], np.eye(3)]) / ten[0]
    block = covariance[:4, :4]
    if not np.isfinite(np.diag(block)).all():
        return centre, np.full(3, np.inf)
    return centre, np.sqrt(np.diag(slopes @ block @ slopes.T))


def parallel_axis_matrix(pose: Pose) -> Numbers:
    """The map (10 x 10) from ten numbers about a frame to those about the one in which it has this
    pose."""
    return np.array(
        [
            inertial_parameters_of(pseudo_inertia_in_parent(pseudo_inertia_matrix(x), pose))
            for x in np.eye(10)
        ]
    ).T
