"""From base parameters to bodies: the physically consistent standard parameters nearest to the
prior.

Each link that may change has P = L X Lᵀ with its prior's P₀ = L Lᵀ. Among the X ⪰ δ 1 with K π = β
that with the least Σ |X - 1|² is taken: |P₀^(-1/2) (P - P₀) P₀^(-1/2)|², the metric of Lee, Wensing
& Park (T-RO 2020, "constant pullback") which is that of the log-det divergence at the prior. It
depends on no choice of frames or units, weighs a small link's kilogram like a large one's ten, and
is quadratic, so that the whole is one conic programme with an exact optimum.

Where no mass distribution has β, the nearest β that has one comes first, in the metric of the
covariance of β. Inertias of rotors stay at the prior, since no <inertial> holds them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.identification.consistency.sdp import BodiesError, FreeLink, Programme
from symgen.identification.model.estimate import BaseMapping, Estimate
from symgen.mechanics.inertia_matrices import (
    homogeneous_transform,
    pseudo_inertia_in_parent,
    pseudo_inertia_matrix,
)
from symgen.mechanics.model import Link, RigidBodyModel
from symgen.numbers.types import Numbers

THIN: Final = 1e-3
"""A second moment of the prior below this part of the mean is taken as this, to measure distances
with."""
SIZE: Final = 0.05
"""Radius of gyration of a body of which nothing is known (m)."""


@dataclass(frozen=True)
class Bodies:
    """Consistent bodies: `links` has the ten numbers of the changed links, `standard` those of all
    bodies (s), `base` the base parameters that they have.

    `distance` is the root of the sum of squares to the prior in the metric, `consistent` whether β
    itself can be had; if not, `misfit` is |R (base - β)|², to be compared with the number of base
    parameters."""

    links: dict[str, Numbers]
    standard: Numbers
    base: Numbers
    distance: float
    consistent: bool
    misfit: float


def solid(p: Numbers, mass: float, size: float) -> Numbers:
    """A definite P near to P: at least THIN of the mean second moment about the centre of mass, of
    `size`² at first, and at least THIN of `mass`."""
    m = max(p[3, 3], THIN * mass)
    shift = np.eye(4)
    shift[:3, 3] = p[:3, 3] / m
    central = p[:3, :3] - np.outer(p[:3, 3], p[:3, 3]) / m
    values, axes = np.linalg.eigh((central + central.T) / 2)
    mean = max(float(values.mean()), THIN * m * size**2)
    at_centre = np.zeros((4, 4))
    at_centre[:3, :3] = (axes * np.maximum(values, THIN * mean)) @ axes.T
    at_centre[3, 3] = m
    return np.asarray(shift @ at_centre @ shift.T)


def free_links(
    model: RigidBodyModel, mapping: BaseMapping, all_links: bool = False
) -> list[FreeLink]:
    """Of each body that β depends on the heaviest link, or with `all_links` all links with inertia.

    What the mapping's prior says of a body beside the sum of its links counts to its heaviest link.
    """
    links, mass = (
        list[FreeLink](),
        float(np.mean(np.abs(mapping.prior[: 10 * len(mapping.bodies) : 10]))) or 1.0,
    )
    for k, body in enumerate(model.moving):
        ten = slice(10 * k, 10 * k + 10)
        if not mapping.factors[:, ten].any():
            continue
        heaviest = max(body.links, key=_mass)
        others = [
            link
            for link in body.links
            if all_links and _mass(link) > 0 and not link.name.endswith(".rotor")
        ]
        rest = pseudo_inertia_matrix(mapping.prior[ten]) - sum(
            (_moved(link) for link in body.links), np.zeros((4, 4))
        )
        small = np.abs(rest).max() <= 1e-12 * max(float(np.abs(mapping.prior[ten]).max()), 1e-300)
        for link in others or [heaviest]:
            extra = rest if link is heaviest and not small else np.zeros((4, 4))
            links.append(_free(link, k, extra, mass))
    return links


def _mass(link: Link) -> float:
    """The mass of a link of the file; a rotor that drives add is none."""
    return -1.0 if link.name.endswith(".rotor") else (link.parameters or (0.0,))[0]


def _moved(link: Link) -> Numbers:
    return pseudo_inertia_in_parent(
        pseudo_inertia_matrix(link.parameters or (0.0,) * 10), link.pose
    )


def _free(link: Link, body: int, extra: Numbers, mass: float) -> FreeLink:
    place = homogeneous_transform(link.pose)
    back = np.linalg.inv(place)
    prior = pseudo_inertia_matrix(link.parameters or (0.0,) * 10) + back @ extra @ back.T
    return FreeLink(
        link.name,
        body,
        place,
        prior,
        np.asarray(np.linalg.cholesky(solid(prior, mass, SIZE)), np.float64),
    )


def bodies(model: RigidBodyModel, estimate: Estimate) -> Bodies:
    """The consistent bodies nearest to the prior with the base parameters of an estimate, or the
    nearest possible ones.

    `model` is the robot with all its links. The heaviest link of each body changes, all of its
    links where that is not enough. Raises BodiesError."""
    mapping, base = estimate.mapping, estimate.base
    programmes = [
        Programme(tuple(free_links(model, mapping, all_links)), mapping)
        for all_links in (False, True)
    ]
    several = len(programmes[0].links) < len(programmes[1].links)
    for programme in programmes[: 1 + several]:
        x = programme.nearest(base)
        if x is not None:
            return _bodies(programme, x, True, 0.0)
    programme = programmes[several]
    nearest = programme.possible(base, estimate.base_factor)
    x = None if nearest is None else programme.nearest(nearest)
    if nearest is None or x is None:
        raise BodiesError(
            "error: --urdf: no physically consistent bodies have base parameters near the estimate"
        )
    return _bodies(
        programme, x, False, float(np.sum((estimate.base_factor @ (nearest - base)) ** 2))
    )


def _bodies(programme: Programme, x: Numbers, consistent: bool, misfit: float) -> Bodies:
    links = {
        link.name: link.ten(entries)
        for link, entries in zip(programme.links, x.reshape(-1, 10), strict=True)
    }
    standard = programme.standard(x)
    return Bodies(
        links,
        standard,
        programme.mapping.base(standard),
        float(np.linalg.norm(x - programme.start)),
        consistent,
        misfit,
    )


def differences(
    mapping: BaseMapping, standard: Numbers
) -> Sequence[tuple[str, float, Numbers | None]]:
    """The bodies that differ from the prior, each with its name, the mass that it has more (kg) and
    the centre of that mass (m) in the body's axes, None where there is no mass to speak of."""
    changed = []
    for k, name in enumerate(mapping.bodies):
        ten = slice(10 * k, 10 * k + 10)
        change, size = standard[ten] - mapping.prior[ten], np.abs(mapping.prior[ten]).max()
        if np.abs(change).max() > 1e-6 * size:
            massive = abs(change[0]) > 1e-3 * abs(mapping.prior[10 * k])
            changed.append((name, float(change[0]), change[1:4] / change[0] if massive else None))
    return changed
