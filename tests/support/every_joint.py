"""Robots with joints of every type, and an independent judge of them: energies and Hamel's
equations.

The judge reads the joints as a file has them, before they become one-coordinate bodies: planar and
floating joints, joints that mimic others, rotors and armatures. Jacobians on NumPy matrices in
world axes, derivatives by the complex step along the tangent space, and d/dt p = ad*_v p + ∂L where
velocities are a twist (Boltzmann and Hamel)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import numpy as np
from random_trees import STEP, anywhere, cross, inertia, links, rotation, square, straight, unit

from symgen.mechanics.joints.planar import plane
from symgen.mechanics.model import Joint, Link, Model, Rotor
from symgen.reading.unfold import Following, MovingJoint, bodies

Array = Any
GRAVITY = (1.5, -2.0, -9.0)
Poses = Callable[[Random], Any]


@dataclass(frozen=True)
class Robot:
    """The joints as a file has them, and the model that they become."""

    joints: tuple[MovingJoint, ...]
    model: Model


def joint(rng: Random, name: str, kind: str, geared: bool, axis: Poses) -> Joint:
    """Some with a rotor, of which some have a place and an axis of their own; some with an
    armature."""
    plain = Joint(name, kind, axis(rng))
    if not geared or kind in ("planar", "floating"):
        return plain
    own = (
        (unit(rng), tuple(rng.uniform(-0.3, 0.3) for _ in range(3)))
        if rng.random() < 0.5
        else (None, None)
    )
    mass, across = rng.choice(((0.0, 0.0), (rng.uniform(0.1, 0.4), rng.uniform(0, 0.002))))
    rotor = Rotor(
        rng.choice((-1, 1)) * rng.uniform(20, 120), rng.uniform(1e-5, 1e-4), *own, mass, across
    )
    return (
        replace(plain, rotor=rotor)
        if rng.random() < 0.7
        else replace(plain, armature=rng.uniform(0.1, 1.0))
    )


def robot(
    seed: int,
    kinds: Sequence[str],
    parents: Callable[[Random, int], int],
    geared: bool = False,
    mimics: Sequence[tuple[int, int]] = (),
    place: Poses = anywhere,
    axis: Poses = unit,
    shuffled: bool = True,
) -> Robot:
    """Joints of `kinds`, each on an earlier one (-1: the base); `mimics` pairs followers with
    leaders."""
    rng, names = Random(seed), [f"j{k}" for k in range(len(kinds))]
    leaders, joints = dict(mimics), []
    for k, kind in enumerate(kinds):
        parent = parents(rng, k)
        follows = None
        if k in leaders:
            follows = Following(
                names[leaders[k]], rng.choice((-1.0, 1.0, rng.uniform(-2, 2))), rng.uniform(-1, 1)
            )
        moved = links(rng, f"link{k}") if k else (Link("link0", parameters=inertia(rng)),)
        moving = MovingJoint(
            joint(rng, names[k], kind, geared, axis),
            None if parent < 0 else names[parent],
            place(rng),
            place(rng) if parent < 0 else anywhere(rng),
            moved,
            follows,
        )
        joints.append(moving)
    if shuffled:
        rng.shuffle(joints)
    return Robot(tuple(joints), Model(f"every{seed}", bodies(joints), (Link("root"),), GRAVITY))


def chain(rng: Random, k: int) -> int:
    return k - 1


def branch(rng: Random, k: int) -> int:
    return rng.randrange(k) if k else -1


R, P, PLANE, FREE = "revolute", "prismatic", "planar", "floating"
FAMILIES: dict[str, Callable[[int], Robot]] = {
    "planar": lambda seed: robot(seed, (R, PLANE, P, R), branch),
    "planar square": lambda seed: robot(seed, (PLANE, R, R), chain, place=square, axis=straight),
    "floating": lambda seed: robot(seed, (FREE, R, P, R), branch, shuffled=False),
    "floating square": lambda seed: robot(
        seed, (FREE, R, R, R), branch, place=square, axis=straight, shuffled=False
    ),
    "floating inside": lambda seed: robot(seed, (R, FREE, R, P), chain),
    "two floating": lambda seed: robot(seed, (FREE, R, FREE), chain),
    "mimic": lambda seed: robot(seed, (R, P, R, P, R), branch, mimics=((2, 1), (3, 0), (4, 1))),
    "mimic square": lambda seed: robot(
        seed, (R, R, P, R), chain, mimics=((1, 3), (2, 3)), place=square, axis=straight
    ),
    "geared": lambda seed: robot(seed, (R, R, P, R), branch, geared=True),
    "geared square": lambda seed: robot(
        seed, (R, R, R), chain, geared=True, place=square, axis=straight
    ),
    "geared mimic": lambda seed: robot(
        seed, (R, R, P, R), branch, geared=True, mimics=((2, 1), (3, 1))
    ),
    "everything": lambda seed: robot(
        seed, (FREE, R, PLANE, P, R), branch, geared=True, mimics=((4, 1),)
    ),
}
EVERY = list(FAMILIES)


@cache
def made(name: str) -> Robot:
    """The robot of a family."""
    return FAMILIES[name](len(name))


# -- coordinates -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where a joint's position and velocity begin, and their numbers."""

    q: int
    v: int


WIDTH = {R: (1, 1), P: (1, 1), PLANE: (3, 3), FREE: (7, 6)}


def places(robot: Robot) -> tuple[dict[str, Place], int, int]:
    """By joint with coordinates of its own, and how many positions and velocities there are."""
    found, q, v = {}, 0, 0
    for moving in robot.joints:
        if moving.follows is None:
            found[moving.joint.name] = Place(q, v)
            q, v = q + WIDTH[moving.joint.kind][0], v + WIDTH[moving.joint.kind][1]
    return found, q, v


def free(robot: Robot) -> list[Place]:
    return [places(robot)[0][s.joint.name] for s in robot.joints if s.joint.kind == FREE]


def quaternion_product(a: Array, b: Array) -> Array:
    v = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.array([*v, a[3] * b[3] - a[:3] @ b[:3]])


def turned(four: Array) -> Array:
    """Of a unit quaternion x, y, z, w: 1 + 2 w [v]x + 2 [v]x²."""
    k = cross(four[:3])
    return np.eye(3) + 2 * four[3] * k + 2 * k @ k


def displaced(robot: Robot, q: Array, change: Array) -> Array:
    """q moved along tangent vectors, exactly to first order: for the complex step."""
    found, frees = np.array(q, complex), {place.v: place for place in free(robot)}
    for place in places(robot)[0].values():
        if place.v in frees:
            seven, six = found[place.q : place.q + 7], change[place.v : place.v + 6]
            found[place.q : place.q + 3] = seven[:3] + turned(seven[3:]) @ six[:3]
            found[place.q + 3 : place.q + 7] = quaternion_product(
                seven[3:], np.array([*(six[3:] / 2), 1.0])
            )
    for moving in robot.joints:
        if moving.follows is None and moving.joint.kind != FREE:
            place, width = places(robot)[0][moving.joint.name], WIDTH[moving.joint.kind][0]
            found[place.q : place.q + width] += change[place.v : place.v + width]
    return found


def state(robot: Robot, seed: int = 1) -> dict[str, Array]:
    """Random values for every input that is a motion or a force; quaternions of length 1."""
    random, (_, nq, n) = np.random.default_rng(seed), places(robot)
    q = random.uniform(-1.5, 1.5, nq)
    for place in free(robot):
        q[place.q + 3 : place.q + 7] /= np.linalg.norm(q[place.q + 3 : place.q + 7])
    names = ("qd", "qdd", "qddd", "qdddd", "qd_r", "qdd_r", "tau", "dq", "dqd", "dqdd", "dtau")
    return {"q": q, **{name: random.uniform(-1.5, 1.5, n) for name in names}}


# -- kinematics and energies -----------------------------------------------------------------------


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
        moving = next(s for s in rest if s.below in found)
        rest.remove(moving)
        found[moving.joint.name] = _moved(found[moving.below].fixed(moving.pose), moving, q, own)
    return found


def coordinate(moving: MovingJoint, q: Array, own: dict[str, Place]) -> tuple[Any, int, float]:
    """Position of a joint with one coordinate, the velocity that drives it and how much."""
    place, f = own[moving.follows.leader if moving.follows else moving.joint.name], moving.follows
    return (
        (q[place.q], place.v, 1.0)
        if f is None
        else (f.factor * q[place.q] + f.offset, place.v, f.factor)
    )


def _moved(at: At, moving: MovingJoint, q: Array, own: dict[str, Place]) -> At:
    axis, v, w = np.array(moving.joint.axis), at.v.astype(complex), at.w.astype(complex)
    if moving.joint.kind == FREE:
        place = own[moving.joint.name]
        seven = q[place.q : place.q + 7]
        arm, turn = at.turn @ seven[:3], at.turn @ turned(seven[3:])
        v = v - cross(arm) @ w
        v[:, place.v : place.v + 3] += turn
        w[:, place.v + 3 : place.v + 6] += turn
        return At(turn, at.origin + arm, v, w)
    if moving.joint.kind == PLANE:
        place, (x, y) = own[moving.joint.name], plane(moving.joint.axis)
        slides = [(q[place.q], place.v, np.array(x)), (q[place.q + 1], place.v + 1, np.array(y))]
        angle, k, factor = q[place.q + 2], place.v + 2, 1.0
    else:
        angle, k, factor = coordinate(moving, q, own)
        slides = [(angle, k, factor * axis)] if moving.joint.kind == P else []
    arm = at.turn @ sum(
        (s * a / (factor if len(slides) == 1 else 1.0) for s, _, a in slides), np.zeros(3)
    )
    v = v - cross(arm) @ w
    for _, index, direction in slides:
        v[:, index] += at.turn @ direction
    if moving.joint.kind == P:
        return At(at.turn, at.origin + arm, v, w)
    w[:, k] += factor * at.turn @ axis
    return At(at.turn @ rotation(axis, angle), at.origin + arm, v, w)


def masses(
    robot: Robot, q: Array, moving: bool = False, base: bool = True
) -> Iterator[tuple[At, Sequence[float]]]:
    """All that has mass: where it is and its ten parameters, rotors included but not armatures.

    What is `moving` has no mass of rotors that turn on the base; without `base` not those rotors
    themselves."""
    at, own = frames(robot, q), places(robot)[0]
    for moving in robot.joints:
        for link in moving.links:
            if link.parameters is not None:
                yield at[moving.joint.name].fixed(link.pose), link.parameters
        if moving.joint.rotor is not None and (base or moving.below is not None):
            frame, (m, *rest) = _rotor(moving, at[moving.below], q, own)
            yield frame, (0.0 if moving and moving.below is None else m, *rest)


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
    for moving in robot.joints:
        if moving.joint.armature:
            _, k, factor = coordinate(moving, q, own)
            mass[k, k] += moving.joint.armature * factor**2
    return mass, potential


def _rotor(
    moving: MovingJoint, carrier: At, q: Array, own: dict[str, Place]
) -> tuple[At, Sequence[float]]:
    """The whole rotor, mass and all, turning on the body that carries the joint."""
    rotor, (_, k, factor) = moving.joint.rotor, coordinate(moving, q, own)
    place = moving.pose.position if rotor.position is None else moving.carrier.move(rotor.position)
    base = moving.pose if rotor.axis is None else moving.carrier
    frame = carrier.fixed(replace(base, position=place))
    axis = np.array(rotor.axis or moving.joint.axis)
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
    for place in free(robot):
        i = place.v
        linear, angular, u, w = p[i : i + 3], p[i + 3 : i + 6], v[i : i + 3], v[i + 3 : i + 6]
        tau[i : i + 3] += np.cross(w, linear)
        tau[i + 3 : i + 6] += np.cross(w, angular) + np.cross(u, linear)
    return tau
