"""Quantities of a link's frame for controllers: velocities, accelerations, Jacobians' rates and
slopes, orientations as quaternions and angles.

Axes as in `kinematics`: `body` are the link's, about its origin, `aligned` the root's, about the
link's origin, `world` the root's, about the root's origin. Six-vectors have the linear part first.
An acceleration is the rate of the six numbers of the velocity, J q̈ + dJ/dt q̇: of `aligned` that
is the classical one, of `body` and `world` the spatial one (Featherstone 2008, section 2.11)."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from symgen.algorithms.kinematics import (
    frame_jacobian_aligned,
    frame_jacobian_body,
    frame_jacobian_world,
    link_frame_pose,
    link_frame_quantity,
    link_motion,
    twist_entries,
)
from symgen.algorithms.motion import FramePose, twists
from symgen.algorithms.registry import Array
from symgen.algorithms.term_derivatives import position_gradient, rate, second_rate
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.rigid_motion import matvec, twist_at_frame
from symgen.mechanics.spatial import ZERO_TWIST, Pose, Rotation, Turn, Twist, Vector
from symgen.numbers.decimals import atan2
from symgen.numbers.operations import cos, sign, sin, sqrt
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, plain, structural

InAxes = Callable[[FramePose, Twist], Twist]
"""A twist in a link's axes about its origin, seen in other axes, by the link's pose."""


def _in_link_axes(pose: FramePose, x: Twist) -> Twist:
    return x


def _in_root_axes(pose: FramePose, x: Twist) -> Twist:
    return Twist(matvec(pose.rows, x.w), matvec(pose.rows, x.v))


TINY = 1e-30

AXES: dict[str, tuple[str, str, Any, InAxes]] = {
    "body": ("", "link axes", frame_jacobian_body, _in_link_axes),
    "world": ("_w", "about the root's origin", frame_jacobian_world, FramePose.twist),
    "aligned": ("_a", "root axes", frame_jacobian_aligned, _in_root_axes),
}
"""By name: the end of outputs' names, what people are told, the Jacobian, a twist seen there."""


def _velocity(
    in_axes: InAxes, system: CanonicalModel, q: Coordinates, qd: Coordinates, *, link: str
) -> list[Scalar]:
    """J q̇, 6 numbers."""
    frame = system.link_frame(link)
    twist = twists(system, q, qd)[frame.body] if frame.body else ZERO_TWIST
    return twist_entries(
        in_axes(link_frame_pose(system, q, link), twist_at_frame(twist, frame.pose))
    )


def _acceleration(
    in_axes: InAxes,
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    qdd: Coordinates,
    *,
    link: str,
) -> list[Scalar]:
    """J q̈ + dJ/dt q̇, 6 numbers."""
    twist, change = link_motion(system, q, qd, qdd, link)
    if in_axes is not _in_root_axes:  # the spatial one
        change = Twist(change.w, change.v - twist.w.cross(twist.v))
    return twist_entries(in_axes(link_frame_pose(system, q, link), change))


def _of_jacobian(
    derivative: Callable[..., list[Scalar]],
    jacobian: Callable[..., list[Scalar]],
    system: CanonicalModel,
    *flow: Coordinates,
    link: str,
) -> list[Scalar]:
    """A derivative of the Jacobian of a link, 6 x n or 6 x n x n, row-major."""
    return derivative(partial(jacobian, link=link), system, *flow)


_axes_quantity = partial(link_frame_quantity, method="task_space")
for _axes, (_end, _words, _jacobian, _in_axes) in AXES.items():
    _kind = "classical" if _axes == "aligned" else "spatial"
    _axes_quantity(
        f"frame_velocity_{_axes}",
        f"J qd of a link, {_words}",
        closed_loops=True,
        inputs=("q", "qd"),
        outputs=(Array(f"V_frame{_end}", "velocity, linear part first", "m/s, rad/s", (6,)),),
    )(partial(_velocity, _in_axes))
    _axes_quantity(
        f"frame_acceleration_{_axes}",
        f"J qdd + dJ/dt qd of a link, {_words}",
        closed_loops=True,
        inputs=("q", "qd", "qdd"),
        outputs=(Array(f"A_frame{_end}", f"{_kind} acceleration", "m/s^2, rad/s^2", (6,)),),
    )(partial(_acceleration, _in_axes))
    _axes_quantity(
        f"frame_jacobian_dot_{_axes}",
        f"dJ/dt of a link, {_words}",
        inputs=("q", "qd"),
        outputs=(Array(f"Jd{_end}", "rate of the Jacobian", "1/s | m/s", (6, "n")),),
    )(partial(_of_jacobian, rate, _jacobian))
    _axes_quantity(
        f"frame_jacobian_ddot_{_axes}",
        f"d2J/dt2 of a link, {_words}",
        inputs=("q", "qd", "qdd"),
        outputs=(Array(f"Jdd{_end}", "second rate of the Jacobian", "1/s^2 | m/s^2", (6, "n")),),
    )(partial(_of_jacobian, second_rate, _jacobian))
    _axes_quantity(
        f"frame_hessian_{_axes}",
        f"dJ/dq of a link, {_words}",
        inputs=("q",),
        outputs=(
            Array(f"J_q{_end}", "dJ_ij/dq_k at [i, j, k]", "1 | m, per rad | m", (6, "n", "n")),
        ),
    )(partial(_of_jacobian, position_gradient, _jacobian))


@link_frame_quantity(
    "frame_acceleration_classical",
    "acceleration of a link's origin, link axes",
    closed_loops=True,
    inputs=("q", "qd", "qdd"),
    outputs=(Array("A_frame_c", "classical acceleration", "m/s^2, rad/s^2", (6,)),),
)
def frame_acceleration_classical(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, *, link: str
) -> list[Scalar]:
    """The classical acceleration of a link's origin and its angular acceleration, in its axes."""
    return twist_entries(link_motion(system, q, qd, qdd, link)[1])


# -- orientations ----------------------------------------------------------------------------------

Quaternion = tuple[Scalar, Vector]
"""Scalar and vector of a quaternion."""


def _quaternion_product(a: Quaternion, b: Quaternion) -> Quaternion:
    (s, x), (t, y) = a, b
    return s * t - x.dot(y), y.scaled(s) + x.scaled(t) + x.cross(y)


def _quaternion_of_step(step: Turn, place: Any) -> Quaternion:
    """The quaternion of a step on the way to a body; where that is not about a coordinate axis it
    is the quaternion of the joint's position."""
    if isinstance(step, Rotation):
        x, y, z, w = place.quaternion
        return w, Vector(x, y, z)
    known = 0.5 * atan2(plain(step.angle.s0), plain(step.angle.c0))
    if step.angle.variable is ZERO:
        return _quaternion_about(step.axis, math.cos(known), math.sin(known))
    half = 0.5 * step.angle.variable + known if known else 0.5 * step.angle.variable
    return _quaternion_about(step.axis, cos(half), sin(half))


def _quaternion_about(axis: int, c: Scalar, s: Scalar) -> Quaternion:
    return c, Vector(*(s if k == axis else ZERO for k in range(3)))


def _constant_quaternion(pose: Pose) -> Quaternion:
    """The quaternion of a constant rotation, by the largest of its four numbers."""
    r = pose.rotation
    sizes = [1 + r[0][0] + r[1][1] + r[2][2]]
    sizes += [1 + 2 * r[k][k] - r[0][0] - r[1][1] - r[2][2] for k in range(3)]
    k = sizes.index(max(sizes))
    twice_root = 2 * math.sqrt(sizes[k])
    skew = [(r[j][i] - r[i][j]) / twice_root for i, j in ((1, 2), (2, 0), (0, 1))]
    entries = [twice_root / 4, *skew] if k == 0 else [0.0] * 4
    if k:
        entries = [skew[k - 1], *((r[k - 1][j] + r[j][k - 1]) / twice_root for j in range(3))]
        entries[k] = twice_root / 4
    w, x, y, z = (structural(e) for e in entries)
    return w, Vector(x, y, z)


def quaternion(system: CanonicalModel, q: Coordinates, link: str) -> Quaternion:
    """The quaternion of a link's axes in the root's, its scalar not negative."""
    frame = system.link_frame(link)
    path = [*reversed([frame.body, *system.ancestors(frame.body)])] if frame.body else []
    rotation = _constant_quaternion(system.roots[path[0]]) if path else _constant_quaternion(Pose())
    for i in path:
        steps = system.steps(i, q)
        for step in (s for s in steps if isinstance(s, Turn)):
            rotation = _quaternion_product(rotation, _quaternion_of_step(step, q[i - 1]))
    s, v = _quaternion_product(rotation, _constant_quaternion(frame.pose))
    side = sign(s + TINY)
    return side * s, v.scaled(side)


QUATERNION = "unit quaternion of the link axes in root axes, w >= 0"


@link_frame_quantity(
    "frame_quaternion",
    "w, x, y, z of a link",
    closed_loops=True,
    inputs=("q",),
    outputs=(Array("quat", f"{QUATERNION}: w, x, y, z", "1", (4,)),),
)
def frame_quaternion(system: CanonicalModel, q: Coordinates, *, link: str) -> list[Scalar]:
    """The unit quaternion of a link's axes in the root's, w first and not negative."""
    w, v = quaternion(system, q, link)
    return [w, *v]


@link_frame_quantity(
    "frame_quaternion_xyzw",
    "x, y, z, w of a link",
    closed_loops=True,
    inputs=("q",),
    outputs=(Array("quat_xyzw", f"{QUATERNION}: x, y, z, w", "1", (4,)),),
)
def frame_quaternion_xyzw(system: CanonicalModel, q: Coordinates, *, link: str) -> list[Scalar]:
    """The quaternion x, y, z, w of a link's axes in the root's, as ROS has it."""
    w, v = quaternion(system, q, link)
    return [*v, w]


@link_frame_quantity(
    "frame_jacobian_rpy",
    "J(q) of a link's origin and its roll, pitch and yaw",
    closed_loops=True,
    inputs=("q",),
    outputs=(
        Array(
            "J_rpy",
            "Jacobian of the origin in root axes, then of roll, pitch and yaw",
            "1 | m",
            (6, "n"),
        ),
    ),
)
def frame_jacobian_rpy(system: CanonicalModel, q: Coordinates, *, link: str) -> list[Scalar]:
    """The analytic Jacobian of a link: of its origin in root axes, and of roll, pitch and yaw, R =
    Rz(yaw) Ry(pitch) Rx(roll). Not defined where pitch is a right angle."""
    x, y, z = link_frame_pose(system, q, link).rows
    flat = sqrt(x.x * x.x + y.x * y.x)  # cos(pitch)
    inverse_cosine = 1.0 / flat
    c, s, tan = x.x * inverse_cosine, y.x * inverse_cosine, -z.x * inverse_cosine
    entries, n = frame_jacobian_aligned(system, q, link=link), len(q)
    wx, wy, wz = (entries[k * n : k * n + n] for k in (3, 4, 5))
    horizontal = [c * a + s * b for a, b in zip(wx, wy, strict=True)]
    roll = [inverse_cosine * a for a in horizontal]
    pitch = [c * b - s * a for a, b in zip(wx, wy, strict=True)]
    yaw = [w + tan * a for w, a in zip(wz, horizontal, strict=True)]
    return [*entries[: 3 * n], *roll, *pitch, *yaw]
