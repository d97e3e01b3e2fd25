"""An independent judge of robots with joints of every type: energies and Hamel's equations.

The judge reads the joints as a file has them, before they become one-coordinate bodies: planar and
floating joints, joints that mimic others, rotors and armatures. Jacobians on NumPy matrices in
world axes, derivatives by the complex step along the tangent space, and d/dt p = ad*_v p + ∂L where
velocities are a twist (Boltzmann and Hamel)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symgen.reading.bodies_from_joints import MovingJoint
from tests.support.every_joint import GRAVITY, Array, Robot
from tests.support.joint_kinds import Step, kind_of
from tests.support.random_trees import STEP, cross, rotation


@dataclass(frozen=True)
class Place:
    """Where a joint's position and velocity begin, and their numbers."""

    q: int
    v: int


def places(robot: Robot) -> tuple[dict[str, Place], int, int]:
    """By joint with coordinates of its own, and how many positions and velocities there are."""
    found, q, v = {}, 0, 0
    for placed in robot.joints:
        if placed.follows is None:
            found[placed.joint.name] = Place(q, v)
            nq, nv = kind_of(placed.joint).width(placed.joint)
            q, v = q + nq, v + nv
    return found, q, v


def in_body_axes(robot: Robot) -> list[tuple[Place, int]]:
    """Where the joints with a quaternion begin, and how many coordinates stand before that."""
    own = places(robot)[0]
    kinds = ((placed.joint.name, kind_of(placed.joint)) for placed in robot.joints)
    return [(own[name], kind.place) for name, kind in kinds if kind.steps is None]


def quaternion_product(a: Array, b: Array) -> Array:
    v = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.array([*v, a[3] * b[3] - a[:3] @ b[:3]])


def turned(four: Array) -> Array:
    """Of a unit quaternion x, y, z, w: 1 + 2 w [v]x + 2 [v]x²."""
    k = cross(four[:3])
    return np.eye(3) + 2 * four[3] * k + 2 * k @ k


def displaced(robot: Robot, q: Array, change: Array) -> Array:
    """q moved along tangent vectors, exactly to first order: for the complex step."""
    found = np.array(q, complex)
    for place, size in in_body_axes(robot):
        at, four = slice(place.q, place.q + size), slice(place.q + size, place.q + size + 4)
        turn, small = turned(found[four]), change[place.v + size : place.v + size + 3]
        found[at] += (turn @ change[place.v : place.v + 3])[:size]
        found[four] = quaternion_product(found[four], np.array([*(small / 2), 1.0]))
    for placed in robot.joints:
        if placed.follows is None and kind_of(placed.joint).steps is not None:
            place = places(robot)[0][placed.joint.name]
            width, _ = kind_of(placed.joint).width(placed.joint)
            found[place.q : place.q + width] += change[place.v : place.v + width]
    return found


def state(robot: Robot, seed: int = 1) -> dict[str, Array]:
    """Random values for every input that is a motion or a force; quaternions of length 1."""
    random, (_, nq, n) = np.random.default_rng(seed), places(robot)
    q = random.uniform(-1.5, 1.5, nq)
    for place, size in in_body_axes(robot):
        four = slice(place.q + size, place.q + size + 4)
        q[four] /= np.linalg.norm(q[four])
    names = ("qd", "qdd", "qddd", "qdddd", "qd_r", "qdd_r", "tau", "dq", "dqd", "dqdd", "dtau")
    return {"q": q, **{name: random.uniform(-1.5, 1.5, n) for name in names}}


@dataclass(frozen=True)
class At:
    """A frame in the world: axes, origin, and the Jacobians of its origin's velocity and its
    angular velocity."""

    turn: Array
    origin: Array
    v: Array
    w: Array

    def fixed(self, pose: Any) -> "At":
        arm = self.turn @ np.array(pose.position)
        return At(
            self.turn @ np.array(pose.rotation),
            self.origin + arm,
            self.v - cross(arm) @ self.w,
            self.w,
        )


def frames(robot: Robot, q: Array) -> dict[str | None, At]:
    """The frame of each joint's link, by joint; None is the base."""
    own, _, n = places(robot)
    found: dict[str | None, At] = {
        None: At(np.eye(3), np.zeros(3), np.zeros((3, n)), np.zeros((3, n)))
    }
    rest = list(robot.joints)
    while rest:
        placed = next(s for s in rest if s.parent_joint in found)
        rest.remove(placed)
        found[placed.joint.name] = _moved(
            found[placed.parent_joint].fixed(placed.pose), placed, q, own
        )
    return found


def coordinate(placed: MovingJoint, q: Array, own: dict[str, Place]) -> tuple[Any, int, float]:
    """Position of a joint with one coordinate, the velocity that drives it and how much."""
    f = placed.follows
    ((leader, by),) = f.terms if f else ((placed.joint.name, 1.0),)
    place = own[leader]
    return (q[place.q], place.v, 1.0) if f is None else (by * q[place.q] + f.offset, place.v, by)


def _moved(at: At, placed: MovingJoint, q: Array, own: dict[str, Place]) -> At:
    kind = kind_of(placed.joint)
    if kind.steps is None:
        return _by_quaternion(at, own[placed.joint.name], q, kind.place)
    x, k, factor = coordinate(placed, q, own)
    place = own.get(placed.joint.name)
    for n, step in enumerate(kind.steps(placed.joint)):
        at = _stepped(
            at,
            step,
            *((x, k, factor) if place is None or n == 0 else (q[place.q + n], place.v + n, 1.0)),
        )
    return at


def _stepped(at: At, step: Step, x: Any, k: int, factor: float) -> At:
    """A slide along and a turn about an axis, by the coordinate `x`, whose rate is `factor` times
    velocity `k`."""
    axis, slide, turn = np.array(step[0]), step[1], step[2]
    arm = at.turn @ axis * (slide * x)
    v, w = (x.astype(complex) for x in (at.v - cross(arm) @ at.w, at.w))
    v[:, k] += slide * factor * at.turn @ axis
    w[:, k] += turn * factor * at.turn @ axis
    return At(at.turn @ rotation(axis, turn * x), at.origin + arm, v, w)


def _by_quaternion(at: At, place: Place, q: Array, size: int) -> At:
    four = q[place.q + size : place.q + size + 4]
    arm = at.turn @ (q[place.q : place.q + size] if size else np.zeros(3))
    turn, w = at.turn @ turned(four), at.w.astype(complex)
    v = (at.v - cross(arm) @ at.w).astype(complex)
    v[:, place.v : place.v + size] += turn[:, :size]
    w[:, place.v + size : place.v + size + 3] += turn
    return At(turn, at.origin + arm, v, w)


def masses(
    robot: Robot, q: Array, moving: bool = False, base: bool = True
) -> Iterator[tuple[At, Sequence[float]]]:
    """All that has mass: where it is and its ten parameters, rotors included but not armatures.

    What is `moving` has no mass of rotors that turn on the base; without `base` not those rotors
    themselves."""
    at, own = frames(robot, q), places(robot)[0]
    for placed in robot.joints:
        for link in placed.links:
            if link.parameters is not None:
                yield at[placed.joint.name].fixed(link.pose), link.parameters
        if placed.joint.rotor is not None and (base or placed.parent_joint is not None):
            frame, (m, *rest) = _rotor(placed, at[placed.parent_joint], q, own)
            yield frame, (0.0 if moving and placed.parent_joint is None else m, *rest)


def inertia_and_potential(robot: Robot, q: Array) -> tuple[Array, Any]:
    """M of the user's velocities as the Hessian of kinetic energy, and the potential energy."""
    own, _, n = places(robot)
    mass, potential = np.zeros((n, n), complex), 0.0
    for frame, (m, hx, hy, hz, xx, xy, xz, yy, yz, zz) in masses(robot, q):
        h = frame.turn @ np.array([hx, hy, hz])
        tensor = frame.turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ frame.turn.T
        mixed = frame.v.T @ cross(h) @ frame.w
        mass = mass + m * frame.v.T @ frame.v - mixed - mixed.T + frame.w.T @ tensor @ frame.w
        potential = potential - np.array(GRAVITY) @ (m * frame.origin + h)
    for placed in robot.joints:
        if placed.joint.armature:
            _, k, factor = coordinate(placed, q, own)
            mass[k, k] += placed.joint.armature * factor**2
    return mass, potential


def _rotor(
    placed: MovingJoint, carrier: At, q: Array, own: dict[str, Place]
) -> tuple[At, Sequence[float]]:
    """The whole rotor, mass and all, turning on the body that carries the joint."""
    rotor, (_, k, factor) = placed.joint.rotor, coordinate(placed, q, own)
    place = (
        placed.pose.position
        if rotor.position is None
        else placed.link_pose.transform(rotor.position)
    )
    base = placed.pose if rotor.axis is None else placed.link_pose
    frame = carrier.fixed(replace(base, position=place))
    axis = np.array(rotor.axis or placed.joint.axis)
    w = frame.w.astype(complex)
    w[:, k] += rotor.ratio * factor * frame.turn @ axis
    t = rotor.inertia * np.outer(axis, axis) + rotor.transverse * (np.eye(3) - np.outer(axis, axis))
    ten = (rotor.mass, 0.0, 0.0, 0.0, t[0, 0], t[0, 1], t[0, 2], t[1, 1], t[1, 2], t[2, 2])
    return At(frame.turn, frame.origin, frame.v, w), ten


def along(robot: Robot, f: Callable[[Array], Any], q: Array, direction: Array) -> Array:
    """The derivative of f(q) along a tangent vector."""
    return np.imag(f(displaced(robot, q, 1j * STEP * direction))) / STEP


def hamel(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    """τ = dp/dt - ad*_v p - ∂(T - V), p = ∂T/∂v."""
    mass = inertia_and_potential(robot, q)[0].real
    p = mass @ v

    def lagrangian(x: Array) -> Any:
        m, potential = inertia_and_potential(robot, x)
        return 0.5 * v @ m @ v - potential

    rate = mass @ a + along(robot, lambda x: inertia_and_potential(robot, x)[0] @ v, q, v)
    tau = rate - np.array([along(robot, lagrangian, q, e) for e in np.eye(len(v))])
    for place, size in in_body_axes(robot):
        i, j = place.v, place.v + size
        angular, w = p[j : j + 3], v[j : j + 3]
        tau[j : j + 3] += np.cross(w, angular)
        if size:
            linear, u = p[i:j], v[i:j]
            tau[i:j] += np.cross(w, linear)
            tau[j : j + 3] += np.cross(u, linear)
    return tau
