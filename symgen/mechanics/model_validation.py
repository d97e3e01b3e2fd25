"""Validation of bodies from a manifest, which may be damaged or written by hand: they must form a
tree of known joints with proper frames and finite numbers. Robot files are validated when they are
read."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import hypot
from typing import Final

from symgen.mechanics.kinematic_loop import CUT_JOINTS
from symgen.mechanics.model import (
    JOINT_FIELDS,
    PARAMETER_NAMES,
    Body,
    Closure,
    Joint,
    Link,
    PerCoordinate,
)
from symgen.mechanics.spatial import Matrix3
from symgen.mechanics.standard_joints import JOINT_TYPES
from symgen.numbers.scalar import dot
from symgen.text import shown

MAX_NUMBER: Final = 1e100
"""The largest number that is allowed, in a robot's file too: lengths, inertias and accelerations up
to this can be multiplied as dynamics need without overflow."""
MAX_FRAME_ERROR: Final = 1e-6
"""How far lengths and products of the axes of a frame may be from 1 and 0."""


def validate(
    bodies: Sequence[Body], base: Sequence[Link], closures: Sequence[Closure] = ()
) -> str | None:
    """A sentence about the first invalid body, base link or closure, None if all are valid."""
    if not bodies:
        return "has no moving body"
    trouble = _of_tree(bodies) or next(
        (
            f"bodies[{i}] {wrong}"
            for i in range(len(bodies))
            for check in CHECKS
            if (wrong := check(bodies, i))
        ),
        None,
    )
    trouble = trouble or _of_closures(bodies, closures)
    if trouble is None and not base and not bodies[0].in_body_axes:
        trouble = "has no fixed link"
    return trouble or next((f"base link {wrong}" for wrong in map(_of_link, base) if wrong), None)


def _of_closures(bodies: Sequence[Body], closures: Sequence[Closure]) -> str | None:
    """Closures are of bodies of the tree, and each determined coordinate is that of a joint that
    one closure determines."""
    for closure in closures:
        indices = (*closure.bodies, *closure.dependent)
        if not all(0 <= i <= len(bodies) for i in indices) or 0 in closure.dependent:
            return f"has a closure '{shown(closure.name)}' of a body that does not exist"
        if abs(closure.branch) not in (1, 2):
            return f"has a closure '{shown(closure.name)}' with a branch other than ±1 and ±2"
        cut = CUT_JOINTS.get(closure.joint)
        if cut is None or cut.polynomial != bool(closure.polynomial):
            return f"has a closure '{shown(closure.name)}' of an unknown type"
        if not all(map(_proper, closure.rotations)):
            return f"has a closure '{shown(closure.name)}' with a matrix that is not a rotation"
        points = (x for point in closure.points for x in point)
        numbers = (closure.length, *points, *closure.polynomial)
        if any(abs(x) > MAX_NUMBER for x in numbers):
            return f"has a closure '{shown(closure.name)}' with a number beyond {MAX_NUMBER:g}"
    determined = sorted(i for closure in closures for i in closure.dependent)
    marked = [i for i, body in enumerate(bodies, 1) if body.follows and not body.follows.terms]
    return None if determined == marked else "has closures that do not determine its coordinates"


def _of_tree(bodies: Sequence[Body]) -> str | None:
    """Every body is carried by another, in the end by the base (0), and joints have names."""
    carried: list[list[int]] = [[] for _ in range(len(bodies) + 1)]
    for i, body in enumerate(bodies, 1):
        if not 0 <= body.parent <= len(bodies):
            return f"bodies[{i - 1}] has a parent that does not exist"
        carried[body.parent].append(i)
    order = [0]
    for i in order:
        order += carried[i]
    if len(order) <= len(bodies):
        return f"bodies[{min({*range(len(order) + 1)} - {*order}) - 1}] is carried by itself"
    names = [body.joint.name for body in bodies if body.at == 0]
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    return None if twice is None else f"has two joints called '{shown(twice)}'"


def _kind(bodies: Sequence[Body], i: int) -> str | None:
    """A joint is one that the algorithms know, along an axis of length 1."""
    joint = bodies[i].joint
    if joint.kind not in JOINT_TYPES:
        return "has a joint of unknown kind"
    if abs(hypot(*joint.axis) - 1) > MAX_FRAME_ERROR:
        return "has an axis that is not a unit vector"
    if not 0 <= bodies[i].at < len(joint.type.velocities):
        return "has a coordinate that its joint does not have"
    size = len(joint.type.velocities)
    constants = constants_of_velocities(joint).values()
    if any(isinstance(x, tuple) and len(x) != size for x in constants):
        return "has a joint whose constants do not match its number of velocities"
    return joint.type.validate(joint)


def _leader(bodies: Sequence[Body], i: int) -> str | None:
    """What it follows moves by itself; rotors follow, and none but they spin."""
    body, follow = bodies[i], bodies[i].follows
    leaders = [leader for leader, _ in follow.terms] if follow is not None else []
    if any(not 1 <= leader <= len(bodies) for leader in leaders):
        return "follows a body that does not exist"
    if follow is not None and len({*leaders}) < len(leaders):
        return "follows a body twice"
    for leader in (bodies[k - 1] for k in leaders):
        single = leader.joint.type.has_one_coordinate and body.joint.type.has_one_coordinate
        determined = leader.follows is not None and not leader.follows.terms
        if (leader.follows is not None and not (determined and body.joint.type.is_rotor)) or not (
            single or body.joint.type.is_rotor
        ):
            return "follows a body that is not independent"
    if body.in_body_axes and follow is not None and not _is_shadow(bodies, body):
        return "follows a body that is not independent"
    return _rotor(bodies, i)


def _is_shadow(bodies: Sequence[Body], body: Body) -> bool:
    """Whether a body on the ground moves as the same part of a joint of the type moves."""
    (leader, factor), *others = body.follows.terms if body.follows else ((1, 0.0),)
    led = bodies[leader - 1]
    alike = body.joint.kind in (f"{led.joint.kind}_{word}" for word in ("armature", "mass"))
    return alike and (led.at, factor, others) == (body.at, 1.0, [])


def _rotor(bodies: Sequence[Body], i: int) -> str | None:
    """A rotor follows with inertia or friction, or moves by itself what is no rotor."""
    body = bodies[i]
    if not body.joint.type.is_rotor:
        return "is an incomplete rotor" if body.spin else None
    moved = (b.follows.terms for b in bodies if b.follows and not b.joint.type.is_rotor)
    moves = any(leader == i + 1 for terms in moved for leader, _ in terms)
    run = [b for b in bodies if b.joint == body.joint] if body.in_body_axes else [body]
    complete = moves if body.follows is None else any(b.spin or b.has_friction for b in run)
    return None if complete and not body.links else "is an incomplete rotor"


def _run(bodies: Sequence[Body], i: int) -> str | None:
    """A joint with several coordinates is a run of bodies, each on the one before; the last has the
    links."""
    body, first = bodies[i], i - bodies[i].at
    size = len(body.joint.type.velocities)
    run = bodies[max(first, 0) : first + size]
    alike = [(b.joint, b.at) for b in run] == [(body.joint, k) for k in range(size)]
    tied = all(b.parent == first + k for k, b in enumerate(run[1:], 1))
    linked = all(bool(b.links) == (b is run[-1]) for b in run) or body.joint.type.is_rotor
    return None if alike and tied and linked else "is an incomplete joint"


def _numbers(bodies: Sequence[Body], i: int) -> str | None:
    """Its numbers can be computed with, and its frames are frames."""
    body, joint = bodies[i], bodies[i].joint
    if not _proper(body.pose.rotation):
        return "has a pose that is not a rotation"
    if any(abs(x) > MAX_NUMBER for x in (*body.pose.position, body.spin, *numbers_of(joint))):
        return f"has a number beyond {MAX_NUMBER:g}"
    return next((f"has a link {fault}" for fault in map(_of_link, body.links) if fault), None)


CHECKS: Final[tuple[Callable[[Sequence[Body], int], str | None], ...]] = (
    _kind,
    _leader,
    _run,
    _numbers,
)


def constants_of_velocities(joint: Joint) -> dict[str, PerCoordinate]:
    """The constants that a joint has for each of its velocities, by field."""
    return {name: getattr(joint, name) for name in JOINT_FIELDS.values()}


def numbers_of(joint: Joint) -> Iterator[float]:
    """The numbers of a joint that terms of dynamics are made of."""
    yield from joint.constants
    for constant in constants_of_velocities(joint).values():
        yield from constant if isinstance(constant, tuple) else (constant,)
    if joint.rotor is not None:
        yield from (joint.rotor.ratio, joint.rotor.inertia, joint.rotor.mass)
        yield joint.rotor.transverse


def _of_link(link: Link) -> str | None:
    ten = link.parameters
    if not _proper(link.pose.rotation):
        return "with a pose that is not a rotation"
    if ten is not None and len(ten) != len(PARAMETER_NAMES):
        return f"with {len(ten)} parameters"
    if any(abs(x) > MAX_NUMBER for x in (*link.pose.position, *(ten or ()))):
        return f"with a number beyond {MAX_NUMBER:g}"
    return None


def _proper(rows: Matrix3) -> bool:
    """Whether the rows of a matrix are right-handed unit vectors at right angles."""
    if any(abs(x) > 1 + MAX_FRAME_ERROR for x in chain(*rows)):
        return False
    products = ((dot(rows[i], rows[j]), float(i == j)) for i in range(3) for j in range(i, 3))
    a, b, c = rows
    across = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    return all(abs(x - y) <= MAX_FRAME_ERROR for x, y in products) and dot(across, c) > 0
