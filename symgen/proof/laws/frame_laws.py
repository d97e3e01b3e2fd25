"""References of frames, energies, the centre of mass and momenta: textbook forward kinematics,
Jacobians as derivatives of it, sums over the textbook's links."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Final

import numpy as np

from symgen.mechanics.spatial import ZERO_VECTOR
from symgen.numbers.caching import cached_method
from symgen.numbers.scalar import ZERO, Scalar
from symgen.numbers.types import DecimalArray
from symgen.proof.laws.dynamics import mass
from symgen.proof.laws.law_registry import law
from symgen.proof.reference_kinematics import body_poses
from symgen.proof.reference_model import Frame, entries_array
from symgen.proof.states import (
    States,
    batch_matvec,
    gradient,
    not_differentiated,
)
from symgen.proof.textbook import moving_inertias, spring_energy

Term = Callable[[States, str], DecimalArray]
POSE = "reference forward kinematics"
JACOBIAN = "derivatives of reference forward kinematics in 75 digits"
AXES = "joint axes of the reference forward kinematics"
LINKS = "sums over all links in world axes"


def frame(x: States, link: str) -> Frame:
    """Where a link is in the world."""
    i, solid = x.mechanism.body_of(link)
    return body_poses(x.mechanism, x.textbook.course.positions)[i].carrying(solid.frame)


@cached_method
def pose(x: States, link: str) -> DecimalArray:
    """R row by row, then p: twelve numbers."""
    place = frame(x, link)
    flat = [e for row in place.axes for e in row]
    return entries_array([*flat, *place.place], x.shape, Decimal(0))


@cached_method
def aligned(x: States, link: str) -> DecimalArray:
    """The Jacobian in root axes, (..., 6, n): slopes of p, and ω with ω × = Ṙ Rᵀ."""
    slopes, turn = gradient(lambda y: pose(y, link), x), pose(x, link)[..., :9]
    turning = slopes[..., :9, :].reshape(*x.shape, 3, 3, x.n)
    rows = turn.reshape(*x.shape, 3, 3)

    def spin(i: int, j: int) -> DecimalArray:
        return (turning[..., i, :, :] * rows[..., j, :, None]).sum(-2)

    w = np.stack([spin(2, 1), spin(0, 2), spin(1, 0)], axis=-2)
    return np.concatenate([slopes[..., 9:, :], w], axis=-2)


@cached_method
def by_axes(x: States, link: str) -> DecimalArray:
    """The Jacobian in root axes, (..., 6, n), as `aligned`: what each joint's axis moves at the
    origin of the link, z × (p - o) and z of a joint that turns, z of one that slides (Craig,
    Introduction to Robotics, 3rd ed. 2005, section 5.7)."""
    robot, point = x.mechanism, frame(x, link).place
    bodies = body_poses(robot, x.textbook.course.positions)
    columns: list[Scalar] = [ZERO] * (6 * len(robot.parts))
    for j in robot.path(robot.body_of(link)[0]):
        w, v = bodies[j].twist(point)
        for row, entry in enumerate((*v, *w)):
            columns[row * len(robot.parts) + j - 1] = entry
    flat = entries_array(columns, x.shape, Decimal(0))
    return x.pull_back(flat.reshape(*x.shape, 6, len(robot.parts)), inner=1)


def body(x: States, link: str, jacobian: Term = aligned) -> DecimalArray:
    """The Jacobian in the link's axes."""
    j, back = jacobian(x, link), pose(x, link)[..., :9].reshape(*x.shape, 3, 3)

    def seen(v: DecimalArray) -> DecimalArray:
        return (back[..., :, :, None] * v[..., :, None, :]).sum(-3)

    return np.concatenate([seen(j[..., :3, :]), seen(j[..., 3:, :])], axis=-2)


def world(x: States, link: str, jacobian: Term = aligned) -> DecimalArray:
    """The Jacobian of the velocity at the root's origin, v + p × ω."""
    j, p = jacobian(x, link), pose(x, link)[..., 9:, None]
    w = j[..., 3:, :]
    shift = np.stack(
        [
            p[..., a, :] * w[..., b, :] - p[..., b, :] * w[..., a, :]
            for a, b in ((1, 2), (2, 0), (0, 1))
        ],
        axis=-2,
    )
    return np.concatenate([j[..., :3, :] + shift, w], axis=-2)


@law("frame_pose", POSE)
def frame_pose(x: States, link: str) -> tuple[DecimalArray, DecimalArray]:
    """R and p."""
    entries = pose(x, link)
    return entries[..., :9], entries[..., 9:]


@cached_method
def first_moment(x: States) -> DecimalArray:
    """First moment and mass of all moving links, (..., 4)."""
    total: Scalar = ZERO
    first = ZERO_VECTOR
    for i, link in moving_inertias(x.mechanism, x.textbook):
        if x.mechanism.part(i).grounded:
            continue
        total, first = total + link.m, first + link.h + link.place.scaled(link.m)
    return entries_array([*first, total], x.shape, Decimal(0))


@law("com", LINKS)
@not_differentiated
@cached_method
def centre(x: States) -> DecimalArray:
    """The centre of mass, (..., 3)."""
    moment = first_moment(x)
    return moment[..., :3] / moment[..., 3:]


com_jacobian: Final = law("com_jacobian", "derivatives of the centre of mass in 75 digits", 1)(
    partial(gradient, centre)
)
"""∂c/∂q."""


@cached_method
def momenta(x: States) -> DecimalArray:
    """Momentum about the root's origin at unit velocities, linear part first, (..., 6, n)."""
    robot, state = x.mechanism, x.textbook
    bodies = body_poses(robot, state.course.positions)
    columns: list[list[Scalar]] = [[ZERO] * len(robot.parts) for _ in range(6)]
    for i, link in moving_inertias(robot, state):
        for j in robot.path(i) if not robot.part(i).grounded else ():
            p, spin = link.momentum(*bodies[j].twist(link.place))
            for row, e in enumerate((*p, *(spin + link.place.cross(p)))):
                columns[row][j - 1] = columns[row][j - 1] + e
    flat = entries_array([e for row in columns for e in row], x.shape, Decimal(0))
    return x.pull_back(flat.reshape(*x.shape, 6, len(robot.parts)), inner=1)


@law("kinetic_energy", "qd^T M qd / 2 with the reference M")
def kinetic(x: States) -> DecimalArray:
    """½ q̇ᵀ M q̇, (..., 1)."""
    v = x.given["qd"]
    return (mass(x) * v[..., :, None] * v[..., None, :]).sum((-1, -2))[..., None] / 2


@law("potential_energy", LINKS)
def potential(x: States) -> DecimalArray:
    """-Σ g·(m p + h) and what springs store, (..., 1)."""
    moment, state = first_moment(x), x.textbook
    weight = -sum(e * moment[..., k] for k, e in enumerate(state.course.gravity))[..., None]
    return weight + entries_array([spring_energy(x.mechanism, state)], x.shape, Decimal(0))


@law("centroidal_momentum_matrix", LINKS)
def centroidal_momentum_matrix(x: States) -> DecimalArray:
    """A: the momenta, the angular ones about the centre of mass."""
    units, c = momenta(x), centre(x)
    p = units[..., :3, :]
    less = [
        c[..., a, None] * p[..., b, :] - c[..., b, None] * p[..., a, :]
        for a, b in ((1, 2), (2, 0), (0, 1))
    ]
    return np.concatenate([p, units[..., 3:, :] - np.stack(less, axis=-2)], axis=-2)


@law("momentum", LINKS)
def momentum(x: States) -> DecimalArray:
    """h."""
    return batch_matvec(momenta(x), x.given["qd"])
