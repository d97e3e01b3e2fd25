"""Laws of frames: textbook forward kinematics, Jacobians as slopes of it."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from symgen.numbers.scalar import ZERO, Scalar
from symgen.proof.arrays import applied
from symgen.proof.laws.registry import law
from symgen.proof.mechanism import Frame, entries
from symgen.proof.motion import placed
from symgen.proof.states import States, gradient, kept, rate

Array = Any
Term = Callable[[States, str], Array]
POSE = "reference forward kinematics"
JACOBIAN = "derivatives of reference forward kinematics in 75 digits"
AXES = "joint axes of the reference forward kinematics"


def frame(x: States, link: str) -> Frame:
    """Where a link is in the world."""
    i, solid = x.mechanism.body_of(link)
    return placed(x.mechanism, x.textbook.course.positions)[i].carrying(solid.frame)


@kept
def pose(x: States, link: str) -> Array:
    """R row by row, then p: twelve numbers."""
    place = frame(x, link)
    flat = [e for row in place.axes for e in row]
    return entries([*flat, *place.place], x.shape, Decimal(0))


@kept
def aligned(x: States, link: str) -> Array:
    """The Jacobian in root axes, (..., 6, n): slopes of p, and ω with ω × = Ṙ Rᵀ."""
    slopes, turn = gradient(lambda y: pose(y, link), x), pose(x, link)[..., :9]
    turning = slopes[..., :9, :].reshape(*x.shape, 3, 3, x.n)
    rows = turn.reshape(*x.shape, 3, 3)

    def spin(i: int, j: int) -> Array:
        return (turning[..., i, :, :] * rows[..., j, :, None]).sum(-2)

    w = np.stack([spin(2, 1), spin(0, 2), spin(1, 0)], axis=-2)
    return np.concatenate([slopes[..., 9:, :], w], axis=-2)


@kept
def by_axes(x: States, link: str) -> Array:
    """The Jacobian in root axes, (..., 6, n), as `aligned`: what each joint's axis moves at the
    origin of the link, z × (p - o) and z of a joint that turns, z of one that slides (Craig,
    Introduction to Robotics, 3rd ed. 2005, section 5.7)."""
    robot, point = x.mechanism, frame(x, link).place
    bodies = placed(robot, x.textbook.course.positions)
    columns: list[Scalar] = [ZERO] * (6 * len(robot.parts))
    for j in robot.path(robot.body_of(link)[0]):
        w, v = bodies[j].twist(point)
        for row, entry in enumerate((*v, *w)):
            columns[row * len(robot.parts) + j - 1] = entry
    flat = entries(columns, x.shape, Decimal(0))
    return robot.coupled(flat.reshape(*x.shape, 6, len(robot.parts)))


def body(x: States, link: str, jacobian: Term = aligned) -> Array:
    """The Jacobian in the link's axes."""
    j, back = jacobian(x, link), pose(x, link)[..., :9].reshape(*x.shape, 3, 3)

    def seen(v: Array) -> Array:
        return (back[..., :, :, None] * v[..., :, None, :]).sum(-3)

    return np.concatenate([seen(j[..., :3, :]), seen(j[..., 3:, :])], axis=-2)


def world(x: States, link: str, jacobian: Term = aligned) -> Array:
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
def frame_pose(x: States, link: str) -> tuple[Array, Array]:
    """R and p."""
    entries = pose(x, link)
    return entries[..., :9], entries[..., 9:]


def _register(axes: str, jacobian: Term) -> None:
    @law(f"frame_jacobian_{axes}", JACOBIAN, 1)
    def itself(x: States, link: str) -> Array:
        return jacobian(x, link)

    @law(f"frame_jacobian_rate_{axes}", f"finite differences in time of {JACOBIAN}", 1)
    def changing(x: States, link: str) -> Array:
        change = rate(lambda y: jacobian(y, link), x)
        return applied(change, x.given["qd"])


for _axes, _jacobian in (("body", body), ("world", world), ("aligned", aligned)):
    _register(_axes, _jacobian)
