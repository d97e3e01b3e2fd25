"""Laws of energies, the centre of mass and momenta: sums over the textbook's links."""

from decimal import Decimal
from typing import Any

import numpy as np

from symgen.mechanics.spatial import NULL
from symgen.numbers.scalar import ZERO, Scalar
from symgen.proof.arrays import applied
from symgen.proof.laws.dynamics import mass
from symgen.proof.laws.registry import law
from symgen.proof.mechanism import entries
from symgen.proof.motion import placed
from symgen.proof.sharing import flat
from symgen.proof.states import States, gradient, kept
from symgen.proof.textbook import masses, stored

Array = Any
LINKS = "sums over all links in world axes"


@kept
def first_moment(x: States) -> Array:
    """First moment and mass of all moving links, (..., 4)."""
    total: Scalar = ZERO
    first = NULL
    for i, link in masses(x.mechanism, x.textbook):
        if x.mechanism.part(i).grounded:
            continue
        total, first = total + link.m, first + link.h + link.place.scaled(link.m)
    return entries([*first, total], x.shape, Decimal(0))


@flat
@kept
def centre(x: States) -> Array:
    """The centre of mass, (..., 3)."""
    moment = first_moment(x)
    return moment[..., :3] / moment[..., 3:]


@kept
def momenta(x: States) -> Array:
    """Momentum about the root's origin at unit velocities, linear part first, (..., 6, n)."""
    robot, state = x.mechanism, x.textbook
    bodies = placed(robot, state.course.positions)
    columns: list[list[Scalar]] = [[ZERO] * len(robot.parts) for _ in range(6)]
    for i, link in masses(robot, state):
        for j in robot.path(i) if not robot.part(i).grounded else ():
            p, spin = link.momentum(*bodies[j].twist(link.place))
            for row, e in enumerate((*p, *(spin + link.place.cross(p)))):
                columns[row][j - 1] = columns[row][j - 1] + e
    flat = entries([e for row in columns for e in row], x.shape, Decimal(0))
    return robot.coupled(flat.reshape(*x.shape, 6, len(robot.parts)))


def kinetic(x: States) -> Array:
    """½ q̇ᵀ M q̇, (..., 1)."""
    v = x.given["qd"]
    return (mass(x) * v[..., :, None] * v[..., None, :]).sum((-1, -2))[..., None] / 2


def potential(x: States) -> Array:
    """-Σ g·(m p + h) and what springs store, (..., 1)."""
    moment, state = first_moment(x), x.textbook
    weight = -sum(e * moment[..., k] for k, e in enumerate(state.course.gravity))[..., None]
    return weight + entries([stored(x.mechanism, state)], x.shape, Decimal(0))


@law("kinetic_energy", "qd^T M qd / 2 with the reference M")
def kinetic_energy(x: States) -> Array:
    """T."""
    return kinetic(x)


@law("potential_energy", LINKS)
def potential_energy(x: States) -> Array:
    """V."""
    return potential(x)


@law("com", LINKS)
def com(x: States) -> Array:
    """c."""
    return centre(x)


@law("com_jacobian", "derivatives of the centre of mass in 75 digits", 1)
def com_jacobian(x: States) -> Array:
    """∂c/∂q."""
    return gradient(centre, x)


@law("centroidal_momentum_matrix", LINKS)
def centroidal_momentum_matrix(x: States) -> Array:
    """A: the momenta, the angular ones about the centre of mass."""
    units, c = momenta(x), centre(x)
    p = units[..., :3, :]
    less = [
        c[..., a, None] * p[..., b, :] - c[..., b, None] * p[..., a, :]
        for a, b in ((1, 2), (2, 0), (0, 1))
    ]
    return np.concatenate([p, units[..., 3:, :] - np.stack(less, axis=-2)], axis=-2)


@law("momentum", LINKS)
def momentum(x: States) -> Array:
    """h."""
    return applied(momenta(x), x.given["qd"])
