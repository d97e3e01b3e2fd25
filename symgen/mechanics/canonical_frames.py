"""Canonical frames: every body's frame moved along and about its joint axis until most constants
vanish.

Parent to child is Rot_z(γ) Trans_z(b) Trans_x(d) Rot_x(α) Rot_y(β) Rot_z(q + θ₀) Trans_z(r), with γ
= b = 0 towards the child that makes the way of all cheapest and β = 0 unless two axes are nearly
parallel (Khalil & Kleinfinger, ICRA 1986; β after Hayati, CDC 1983, where a common normal would lie
far away). Coordinates keep their zero and sign."""

import math
from dataclasses import dataclass
from functools import lru_cache

from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.placement import ToAxis
from symgen.mechanics.spatial import Angle, Pose, Rotation, Shift, Step, Triple, Turn, Vector, cross
from symgen.numbers.decimals import norm
from symgen.numbers.scalar import ZERO, NamedNumber, Scalar, dot, plain, structural

ROUNDING = 1e-13
"""Cosines and sines this close to 0 or ±1 are taken as exact: what products of exact rotations
leave."""

NEARLY_PARALLEL = 1e-2
"""Below this sine a common normal is so far off that moving inertia to it would lose digits."""


def tidy(x: float, size: float) -> Scalar:
    """`x` without rounding errors, where `size` is the size of the terms that it was computed from.

    A number that consists of rounding errors only is a structural zero. Others become the shortest
    decimal within 1e-15 `size`, if one of up to 16 digits is; it is found by bisection, since a
    decimal with more digits is never farther away."""
    if abs(x) <= ROUNDING * size:
        return ZERO
    if isinstance(x, NamedNumber):
        return x
    near, too_few, enough = x, 0, 17
    while enough - too_few > 1:
        digits = (too_few + enough) // 2
        y = float(f"{x:.{digits}g}")
        if abs(x - y) <= 1e-15 * size:
            near, enough = y, digits
        else:
            too_few = digits
    return near


def exact_angle(c: float, s: float) -> Angle:
    """The constant angle with cosine ∝ `c` and sine ∝ `s`, right angles made exact where only
    rounding stands."""
    size = norm(c, s)
    c, s = c / size, s / size
    if abs(s) < ROUNDING:
        c, s = math.copysign(1.0, c), 0.0
    if abs(c) < ROUNDING:
        c, s = 0.0, math.copysign(1.0, s)
    return Angle(ZERO, structural(c), structural(s))


def steps_to_axis(point: Triple, axis: Triple, placed: bool, scale: float) -> ToAxis:
    """From a frame to the line through `point` along `axis` (unit); `placed` is False for a mere
    direction."""
    tilt = norm(axis[0], axis[1])
    if tilt < ROUNDING:
        return _parallel(point, axis, placed, scale)
    if tilt < NEARLY_PARALLEL and placed:
        return _nearly_parallel(point, axis, scale)
    normal = (-axis[1], axis[0])
    if normal[0] < -ROUNDING or (abs(normal[0]) <= ROUNDING and normal[1] < 0):
        normal, tilt = (axis[1], -axis[0]), -tilt
    gamma, alpha = exact_angle(*normal), exact_angle(axis[2], tilt)
    if not placed:
        return ToAxis(gamma, alpha=alpha)
    along = -(point[0] * axis[0] + point[1] * axis[1]) / tilt**2
    d = (point[0] * normal[0] + point[1] * normal[1]) / abs(tilt)
    return ToAxis(gamma, tidy(point[2] + along * axis[2], scale), tidy(d, scale), alpha)


def _parallel(point: Triple, axis: Triple, placed: bool, scale: float) -> ToAxis:
    alpha = exact_angle(axis[2], 0.0)
    if placed and any(isinstance(p, NamedNumber) for p in point[:2]):
        # a distance is a symbol: along x, along y turned by a right angle, or both
        x, y = tidy(point[0], scale), tidy(point[1], scale)
        if x is ZERO and y is not ZERO:
            return ToAxis(Angle(ZERO, ZERO, 1.0), ZERO, y, alpha)
        return ToAxis(Angle(), ZERO, x, alpha, y=y)
    d = tidy(norm(point[0], point[1]), scale)
    if not placed or d is ZERO:
        return ToAxis(alpha=alpha)
    if point[0] < 0:  # keep γ within a quarter turn, so that aligned robots need no turn at all
        return ToAxis(exact_angle(-point[0], -point[1]), ZERO, -d, alpha)
    return ToAxis(exact_angle(point[0], point[1]), ZERO, d, alpha)


def _nearly_parallel(point: Triple, axis: Triple, scale: float) -> ToAxis:
    """Go to where the axis meets the plane z = 0, then tilt about x and y (Hayati)."""
    t = -point[2] / axis[2]
    foot = (point[0] + t * axis[0], point[1] + t * axis[1], 0.0)
    flat = _parallel(foot, (0.0, 0.0, 1.0), True, scale)
    x, y, z = Vector(*axis).expressed_after(Turn(2, flat.gamma))
    return ToAxis(
        flat.gamma,
        ZERO,
        flat.d,
        exact_angle(plain(z), -plain(y)),
        exact_angle(norm(plain(y), plain(z)), plain(x)),
        flat.y,
    )


@dataclass(frozen=True, slots=True)
class CanonicalFrame:
    """A body's canonical frame: how to reach it from the parent's, and where it is in the body's
    own frame."""

    to_axis: ToAxis
    theta0: Angle
    r: Scalar
    pose: Pose
    main: int | None = None
    """The child towards which the frame is laid, None where there is none."""


@lru_cache(maxsize=8)
def canonical_frames(model: RigidBodyModel) -> tuple[CanonicalFrame, ...]:
    """The canonical frame of each body, in body order; that of a base joint starts from axes of its
    own.

    The base is free: a joint on it has no constants at all, since gravity can be turned into its
    frame."""
    frames: dict[int, CanonicalFrame] = {}
    for i in model.outward:
        body = model.body(i)
        start, pose = ToAxis(), Pose()
        if body.parent:
            from_parent = frames[body.parent].pose.inverse @ body.pose
            start = _to_axis(model, i, from_parent)
            pose = from_parent.inverse @ pose_of_steps(start.steps)
        elif not body.in_body_axes:  # at the joint, z along its axis and y across gravity
            pose = Pose(_axes(body.axis, body.pose.inverse.rotate(model.gravity)))
        frames[i] = (_with_body if body.in_body_axes else _settled)(model, i, start, pose)
    return tuple(frames[i] for i in sorted(frames))


def _axes(z: Triple, hint: Triple) -> tuple[Triple, Triple, Triple]:
    """The rotation whose third column is `z` and whose first lies towards `hint` (or any axis that
    will do)."""
    candidates = (hint, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    x = next(u for u in (_across(v, z) for v in candidates) if u is not None)
    y = cross(z, x)
    return (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])


def _across(v: Triple, z: Triple) -> Triple | None:
    """The unit vector along the part of `v` normal to `z`, None where there is (nearly) none."""
    parts = _rejected(v, z)
    length, size = norm(*parts), norm(*v)
    if size == 0 or length < 1e-6 * size:
        return None
    cleaned = _rejected(
        (parts[0] / length, parts[1] / length, parts[2] / length), z
    )  # what cancellation left along z
    x, y, w = (0.0 if abs(p) < ROUNDING else p for p in cleaned)
    return x, y, w


def _rejected(v: Triple, z: Triple) -> Triple:
    """`v` less its part along the unit vector `z`."""
    k = dot(v, z)
    return v[0] - k * z[0], v[1] - k * z[1], v[2] - k * z[2]


def _to_axis(model: RigidBodyModel, i: int, pose: Pose) -> ToAxis:
    """To the axis of body `i`, whose frame is seen at a pose: a place where it turns or where axes
    go with the body, else a mere direction."""
    body = model.body(i)
    placed = body.freedom.turn is not ZERO or body.in_body_axes
    point = pose.position if placed else (0.0, 0.0, 0.0)
    return steps_to_axis(point, pose.rotate(body.axis), placed, longest_joint_distance(model))


def _settled(model: RigidBodyModel, i: int, start: ToAxis, pose: Pose) -> CanonicalFrame:
    """Turn about and slide along the axis to meet the common normal with the main child."""
    choices = []
    for child in model.children(i):
        ahead = _to_axis(model, child, pose.inverse @ model.body(child).pose)
        moved = pose @ pose_of_steps((Turn(2, ahead.gamma), Shift(2, ahead.b)))
        choices.append(CanonicalFrame(start, ahead.gamma, ahead.b, moved, child))
    none = CanonicalFrame(start, Angle(), ZERO, pose)
    return min(choices, key=lambda frame: _cost(model, i, frame), default=none)


TURN_COST, SHIFT_COST = 12, 4
"""Operations of a force that is carried over a constant turn or shift."""


def _cost(model: RigidBodyModel, i: int, frame: CanonicalFrame) -> tuple[int, int, int]:
    """The cost of carrying a force from every joint further out through body `i`; of equals the
    largest child's.

    A frame laid towards a small child may suit two large ones better, as that of a torso with its
    head and arms."""
    sizes, cost = subtree_sizes(model), 0
    for child in model.children(i):
        steps = _to_axis(model, child, frame.pose.inverse @ model.body(child).pose).steps
        cost += sizes[child] * sum(_cost_of(step) for step in (*steps, Shift(2, frame.r)))
    main = frame.main or 0
    return cost, -sizes[main], main


def _cost_of(step: Step) -> int:
    if isinstance(step, Shift):
        return 0 if step.length is ZERO else SHIFT_COST
    c, s = step.angle.cos_sin
    return 0 if c is ZERO or s is ZERO else TURN_COST


def _with_body(model: RigidBodyModel, i: int, start: ToAxis, pose: Pose) -> CanonicalFrame:
    """Where axes go with the body, the first one's frame is the body's own; the others differ from
    it by whole right angles."""
    main = max(model.children(i), key=lambda j: (subtree_sizes(model)[j], -j), default=None)
    if model.body(i).same_joint_as_parent:
        return CanonicalFrame(start, Angle(), ZERO, pose, main)
    to_own = pose.inverse
    theta0 = exact_angle(to_own.rotation[0][0], to_own.rotation[1][0])
    return CanonicalFrame(
        start, theta0, tidy(to_own.position[2], longest_joint_distance(model)), Pose(), main
    )


@lru_cache(maxsize=8)
def longest_joint_distance(model: RigidBodyModel) -> float:
    """The longest distance from a joint to the next (m), by which lengths that are only rounding
    are told."""
    places = (map(float, body.pose.position) for body in model.bodies if body.parent)
    return max((norm(*place) for place in places), default=0.0)


@lru_cache(maxsize=8)
def subtree_sizes(model: RigidBodyModel) -> dict[int, int]:
    """The number of bodies that each body carries, itself included."""
    sizes = dict.fromkeys(range(model.size + 1), 1)
    for i in reversed(list(model.outward)):
        sizes[model.body(i).parent] += sizes[i]
    return sizes


def pose_of_steps(steps: tuple[Step, ...]) -> Pose:
    """The pose of the frame to which `steps` lead, in the frame that they start from; numbers
    only."""
    pose = Pose()
    for step in steps:
        pose = pose @ _pose(step)
    return pose


def _pose(step: Step) -> Pose:
    if isinstance(step, Shift):
        p = [0.0, 0.0, 0.0]
        p[step.axis] = plain(step.length)
        return Pose(position=(p[0], p[1], p[2]))
    if isinstance(step, Rotation):
        x, y, z = ((plain(row.x), plain(row.y), plain(row.z)) for row in step.rows)
        return Pose((x, y, z))
    c, s = (plain(x) for x in step.angle.cos_sin)
    return Pose(
        {
            0: ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c)),
            1: ((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c)),
            2: ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)),
        }[step.axis]
    )
