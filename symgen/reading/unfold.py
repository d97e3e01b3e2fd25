"""Joints as the one-coordinate bodies that algorithms know: runs for planar and floating joints,
rotors, followers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from symgen.mechanics.floating import RUN, VELOCITIES, VELOCITY_OF
from symgen.mechanics.model import IDENTITY, Body, Follow, Joint, Link, Pose, Rotor, Triple

AXES: Final = IDENTITY


@dataclass(frozen=True, slots=True)
class Stand:
    """A moving joint of a file, before its bodies have numbers: `joint` with its type there as
    kind, the joint that carries it (None: the base) and where its frame is there; `carrier` is the
    frame of the link it is fixed to."""

    joint: Joint
    below: str | None
    pose: Pose
    carrier: Pose
    links: tuple[Link, ...]
    follows: "Following | None" = None


@dataclass(frozen=True, slots=True)
class Following:
    """Of a joint: `factor` times the coordinate of joint `leader` plus `offset`."""

    leader: str
    factor: float
    offset: float


Parts = Iterator[Joint]


def _one(kind: str) -> Callable[[Joint], Parts]:
    def parts(joint: Joint) -> Parts:
        yield replace(joint, kind=kind)

    return parts


def _planar(joint: Joint) -> Parts:
    """Along x and y of the plane normal to the axis, then about the axis."""
    x, y = plane(joint.axis)
    for name, kind, axis in (
        ("x", "prismatic", x),
        ("y", "prismatic", y),
        ("theta", "revolute", joint.axis),
    ):
        yield Joint(f"{joint.name}.{name}", kind, axis)


def _floating(joint: Joint) -> Parts:
    for k, (kind, axis) in enumerate(RUN):
        yield Joint(f"{joint.name}.{VELOCITIES[VELOCITY_OF[k]]}", kind, AXES[axis])


TYPES: Final[Mapping[str, Callable[[Joint], Parts]]] = {
    "revolute": _one("revolute"),
    "continuous": _one("revolute"),
    "prismatic": _one("prismatic"),
    "planar": _planar,
    "floating": _floating,
}
"""The types of a file that move, with the one-coordinate joints they consist of, innermost
first."""


def plane(normal: Triple) -> tuple[Triple, Triple]:
    """Unit vectors x and y of the plane, right-handed with `normal`; x is the x axis of the joint's
    frame as it appears in the plane, or the y axis where x is (nearly) the normal."""
    hint = AXES[0] if abs(normal[0]) < 0.9 else AXES[1]
    k = sum(a * b for a, b in zip(hint, normal, strict=True))
    rest = [h - k * n for h, n in zip(hint, normal, strict=True)]
    size = sum(r * r for r in rest) ** 0.5
    x = (rest[0] / size + 0.0, rest[1] / size + 0.0, rest[2] / size + 0.0)
    return x, _cross(normal, x)


def _cross(a: Triple, b: Triple) -> Triple:
    return (
        a[1] * b[2] - a[2] * b[1] + 0.0,
        a[2] * b[0] - a[0] * b[2] + 0.0,
        a[0] * b[1] - a[1] * b[0] + 0.0,
    )


def bodies(stands: Sequence[Stand]) -> tuple[Body, ...]:
    """All bodies: those of the joints in order, then a rotor for each that has one, which turns as
    the joint does."""
    runs = [[*TYPES[stand.joint.kind](stand.joint)] for stand in stands]
    last, total = dict[str | None, int]({None: 0}), 0
    for stand, run in zip(stands, runs, strict=True):
        total += len(run)
        last[stand.joint.name] = total
    found: list[Body] = []
    for stand, run in zip(stands, runs, strict=True):
        found += _run(stand, run, last, len(found))
    rotors = [rotor for stand in stands for rotor in _rotors(stand, last)]
    return tuple(_carrying(found, stands, last)) + tuple(rotors)


def _run(
    stand: Stand, run: Sequence[Joint], last: Mapping[str | None, int], before: int
) -> Iterator[Body]:
    kind, follows = stand.joint.kind, _follow(stand, last)
    for k, joint in enumerate(run, 1):
        first, end = k == 1, k == len(run)
        yield Body(
            joint,
            last[stand.below] if first else before + k - 1,
            stand.pose if first else Pose(),
            stand.links if end else (),
            follows,
            k if kind == "floating" else 0,
            kind == "planar",
        )


def _follow(stand: Stand, last: Mapping[str | None, int]) -> Follow | None:
    f = stand.follows
    return None if f is None else Follow(last[f.leader], f.factor, f.offset)


def _rotors(stand: Stand, last: Mapping[str | None, int]) -> Iterator[Body]:
    """The spinning part of a drive, and what a reflected one is like: a rotor that stands on the
    ground."""
    joint, own = stand.joint, last[stand.joint.name]
    follows = _follow(stand, last) or Follow(own, 1.0)
    if joint.rotor is not None and joint.rotor.inertia:
        turning = Joint(f"{joint.name}.rotor", "rotor", joint.rotor.axis or joint.axis)
        ratio = Follow(follows.leader, joint.rotor.ratio * follows.factor)
        yield Body(
            turning,
            last[stand.below],
            _rotor_pose(stand, joint.rotor),
            (),
            ratio,
            spin=joint.rotor.inertia,
        )
    if joint.armature:
        turning = Joint(f"{joint.name}.armature", "armature", AXES[2])
        yield Body(turning, 0, Pose(), (), replace(follows, offset=0.0), spin=joint.armature)


def _rotor_pose(stand: Stand, rotor: Rotor) -> Pose:
    """Where the rotor is on the body that carries the joint; its axis is given in those axes."""
    base = stand.pose if rotor.axis is None else stand.carrier
    place = stand.pose.position if rotor.position is None else stand.carrier.move(rotor.position)
    return Pose(base.rotation, place)


def _carrying(
    found: Sequence[Body], stands: Sequence[Stand], last: Mapping[str | None, int]
) -> Iterator[Body]:
    """The bodies with the mass of the rotors on them, which does not spin."""
    on: dict[int, list[Link]] = {}
    for stand in stands:
        if stand.joint.rotor is not None and (
            stand.joint.rotor.mass or stand.joint.rotor.transverse
        ):
            on.setdefault(last[stand.below], []).append(_resting(stand, stand.joint.rotor))
    for i, body in enumerate(found, 1):
        yield replace(body, links=(*body.links, *on.get(i, ())))


def _resting(stand: Stand, rotor: Rotor) -> Link:
    a, t = rotor.axis or stand.joint.axis, rotor.transverse
    tensor = [t * ((i == j) - a[i] * a[j]) + 0.0 for i in range(3) for j in range(i, 3)]
    return Link(
        f"{stand.joint.name}.rotor", _rotor_pose(stand, rotor), (rotor.mass, 0.0, 0.0, 0.0, *tensor)
    )
