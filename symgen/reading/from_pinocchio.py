"""Robots of Pinocchio: a ``pin.Model`` as a description, joints and coordinates in its order.

A Pinocchio body has all that is fixed to it in one inertia; its other links become frames. Joint
types are told by their short names."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from symgen.errors import OptionError, RobotError, SourceLocation
from symgen.mechanics.model import Limits, PerCoordinate, constant_of_velocity
from symgen.mechanics.pose import IDENTITY, Pose, Triple
from symgen.reading.builder import digest_of
from symgen.reading.description import (
    DriveElement,
    Inertial,
    JointElement,
    LinkElement,
    Origin,
    RobotDescription,
    check,
)
from symgen.reading.inertia_tensors import tensor_trouble
from symgen.reading.joint_kinds import merged
from symgen.reading.validation import ZEROS, as_vector3, origin
from symgen.text import shown

FILE: Final = "pin.Model"
UNLIMITED: Final = 1e300
"""Pinocchio has larger limits, or infinite ones, where there is no limit."""


@dataclass(frozen=True, slots=True)
class PinocchioJoint:
    """The word for a type of joint, its axis, and what else the type takes."""

    word: str
    axis: Callable[[Any, str], Triple]
    constants: Callable[[Any], tuple[float, ...]] = lambda joint: ()


def _triple(numbers: Any) -> Triple:
    x, y, z = (float(x) + 0.0 for x in numbers)
    return x, y, z


def _named(joint: Any, name: str) -> Triple:
    """The axis in the name of a type."""
    return IDENTITY["XYZ".index(name[-1])]


def _free_axis(joint: Any, name: str) -> Triple:
    return _triple(joint.axis)


def _x_axis(joint: Any, name: str) -> Triple:
    return IDENTITY[0]


def _pitch(joint: Any) -> tuple[float, ...]:
    """The pitch (m/rad)."""
    return (float(joint.pitch),)


KINDS: Final[dict[str, PinocchioJoint]] = {
    r"R[XYZ]": PinocchioJoint("revolute", _named),
    r"RUB[XYZ]": PinocchioJoint("continuous", _named),
    r"P[XYZ]": PinocchioJoint("prismatic", _named),
    r"H[XYZ]": PinocchioJoint("screw", _named, _pitch),
    r"RevoluteUnaligned": PinocchioJoint("revolute", _free_axis),
    r"RevoluteUnboundedUnaligned": PinocchioJoint("continuous", _free_axis),
    r"PrismaticUnaligned": PinocchioJoint("prismatic", _free_axis),
    r"HelicalUnaligned": PinocchioJoint("screw", _free_axis, _pitch),
    r"Universal": PinocchioJoint(
        "universal", lambda joint, name: _triple(joint.axis1), lambda joint: _triple(joint.axis2)
    ),
    r"FreeFlyer": PinocchioJoint("floating", _x_axis),
    r"Spherical": PinocchioJoint("ball", _x_axis),
    r"Planar": PinocchioJoint("planar", lambda joint, name: IDENTITY[2], lambda joint: IDENTITY[0]),
}
"""The joint types by what stands behind ``JointModel`` in Pinocchio's short name. Pinocchio's q of
an unbounded joint is a cosine and a sine, ours the angle."""


def description(model: Any) -> RobotDescription:
    """The robot in a ``pin.Model``. Raises RobotError for a joint type that has no word here and
    for numbers that no robot has, OptionError for a gravity that turns; TypeError for another
    object of that package."""
    if not hasattr(model, "njoints"):
        kind = type(model).__qualname__
        raise TypeError(f"a pinocchio.{kind} is not a robot; give its pinocchio.Model")
    names = _links(model)
    gravity = _gravity(model)
    links = tuple(_link(model, i, name) for i, name in enumerate(names))
    joints = tuple(_joint(model, i, names) for i in range(1, model.njoints))
    frames = [*_frames(model, names)]
    drives = tuple(_drives(model))
    all_of = (*links, *(link for link, _ in frames)), (*joints, *(joint for _, joint in frames))
    name = str(model.name) or "robot"
    digest = digest_of(name, *all_of, drives, gravity)
    robot = RobotDescription(
        name, FILE, digest, 1, *all_of, (), drives, gravity, (), f"model '{shown(name)}'"
    )
    return check(robot)


def _gravity(model: Any) -> Triple:
    """Free fall. Raises OptionError where it turns or is no number."""
    if any(model.gravity.angular):
        raise OptionError(
            "pin.Model: gravity has an angular part, which symgen does not support; set "
            "model.gravity.angular to 0"
        )
    return as_vector3("pin.Model: gravity", [float(x) for x in model.gravity.linear])


def _links(model: Any) -> list[str]:
    """A link for every joint, called as the first link in its frame is, or else as the joint."""
    taken, names = set[str](), list[str]()
    for i in range(model.njoints):
        bodies = (f for f in model.frames if f.parentJoint == i and str(f.type) == "BODY")
        first = next((f for f in bodies if _pose(f.placement) == Pose()), None)
        name = str(model.names[i]) if first is None else str(first.name)
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def _pose(placement: Any) -> Pose:
    a, b, c = map(_triple, placement.rotation)
    return Pose((a, b, c), _triple(placement.translation))


def _placed(label: str, placement: Any, line: int) -> Origin:
    """A placement, checked. Raises OptionError."""
    rows = [_triple(row) for row in placement.rotation]
    return origin(label, line, _triple(placement.translation), ZEROS, rows, None)


def _link(model: Any, i: int, name: str) -> LinkElement:
    inertia = model.inertias[i]
    mass = float(inertia.mass)
    rows = inertia.inertia
    tensor = tuple(float(rows[j, k]) + 0.0 for j in range(3) for k in range(j, 3))
    if not mass and not any(tensor):
        return LinkElement(name, i + 1)
    label = f"link '{shown(name)}'"
    lever = _triple(inertia.lever)
    if not all(map(math.isfinite, (mass, *tensor, *lever))):
        raise RobotError(
            SourceLocation(FILE, i + 1),
            label,
            f"inertia has numbers that are not finite; correct model.inertias[{i}]",
        )
    if mass < 0:
        raise RobotError(
            SourceLocation(FILE, i + 1), label, f"mass is negative ({mass:g} kg); give 0 or more"
        )
    return LinkElement(
        name,
        i + 1,
        Inertial(i + 1, Origin(i + 1, lever), mass, tensor, tensor_trouble(tensor, mass)),
    )


def _joint(model: Any, i: int, links: list[str]) -> JointElement:
    name, (kind, axis, constants) = str(model.names[i]), _kind(model, i)
    single = model.joints[i].nq == 1 and model.joints[i].nv == 1
    passive = {field: _of_joint(model, field, i) for field in ("damping", "friction")}
    _check_planar(name, kind, passive)
    return JointElement(
        name,
        i + 1,
        kind,
        links[model.parents[i]],
        links[i],
        _placed(f"pin.Model: joint '{shown(name)}'", model.jointPlacements[i], i + 1),
        axis,
        _limits(model, i) if single else Limits(),
        passive["damping"],
        passive["friction"],
        constants=constants,
    )


def _kind(model: Any, i: int) -> tuple[str, Triple, tuple[float, ...]]:
    joint = model.joints[i]
    short = str(joint.shortname()).removeprefix("JointModel")
    for pattern, kind in KINDS.items():
        if re.fullmatch(pattern, short):
            inner = joint.extract() if hasattr(joint, "extract") else joint
            return kind.word, kind.axis(inner, short), kind.constants(inner)
    raise RobotError(
        SourceLocation(FILE, i + 1),
        f"joint '{shown(str(model.names[i]))}'",
        f"has the Pinocchio type {shown(short)}, which symgen does not support; lock it "
        "with pin.buildReducedModel, or build the robot with symgen.Builder",
    )


def _of_joint(model: Any, field: str, i: int) -> PerCoordinate:
    """A vector of Pinocchio's over velocities, at a joint; 0 where it has no such."""
    values, joint = getattr(model, field, None), model.joints[i]
    if values is None:
        return 0.0
    return merged(float(x) + 0.0 for x in values[joint.idx_v : joint.idx_v + joint.nv])


def _check_planar(name: str, kind: str, passive: Mapping[str, PerCoordinate]) -> None:
    """Refuses what a planar joint, whose velocities Pinocchio has along the axes of the body, has
    not alike along those of the plane. Raises OptionError."""
    if kind != "planar":
        return
    (x, y), friction = (
        (constant_of_velocity(passive["damping"], k) for k in (0, 1)),
        passive["friction"],
    )
    if x != y or constant_of_velocity(friction, 0) or constant_of_velocity(friction, 1):
        raise OptionError(
            "pin.Model: damping in x and y and friction of the planar joint "
            f"'{shown(name)}' act along the axes of its body in Pinocchio, but along the "
            "axes of the plane in symgen; set the friction to 0 and the damping in x and "
            "y to the same number"
        )


def _limits(model: Any, i: int) -> Limits:
    q, v = model.joints[i].idx_q, model.joints[i].idx_v
    rows = (
        (model.lowerPositionLimit, q),
        (model.upperPositionLimit, q),
        (model.velocityLimit, v),
        (model.effortLimit, v),
    )
    numbers = (float(values[k]) for values, k in rows)
    return Limits(*(x if abs(x) < UNLIMITED else None for x in numbers))


def _drives(model: Any) -> Iterator[DriveElement]:
    """Armature, which Pinocchio's dynamics have; its rotors, which they have not, are left out."""
    for i in range(1, model.njoints):
        joint = model.joints[i]
        felt = [float(x) for x in model.armature[joint.idx_v : joint.idx_v + joint.nv]]
        _check_armature(str(model.names[i]), _kind(model, i)[0], felt)
        if any(felt):
            yield DriveElement(str(model.names[i]), i + 1, armature=merged(felt))


def _check_armature(name: str, kind: str, felt: Sequence[float]) -> None:
    """Refuses armature of velocities along the axes of the body that no inertia has: Pinocchio adds
    it to the mass matrix without the Coriolis forces that belong to it. Raises OptionError."""
    slides = {"floating": 3, "planar": 2}.get(kind, 0)
    turns = set(felt[slides:]) if kind in ("ball", "floating") else {0.0}
    if any(felt[:slides]) or len(turns) > 1:
        raise OptionError(
            f"pin.Model: armature of the {kind} joint '{shown(name)}' differs between its "
            "coordinates, and Pinocchio ignores the resulting Coriolis forces; set the "
            "armature of translations to 0 and that of rotations to one number"
        )


def _frames(model: Any, links: list[str]) -> Iterator[tuple[LinkElement, JointElement]]:
    """The other links of Pinocchio's bodies and its operational frames, fixed to their joints."""
    taken = {*links, *(str(name) for name in model.names)}
    for k, frame in enumerate(model.frames):
        name, kind = str(frame.name), str(frame.type)
        if kind not in ("BODY", "OP_FRAME") or name in taken:
            continue
        taken.add(name)
        line = model.njoints + k + 1
        where = _placed(f"pin.Model: frame '{shown(name)}'", frame.placement, line)
        on = links[frame.parentJoint]
        yield (
            LinkElement(name, line),
            JointElement(f"{name}.fixed", line, "fixed", on, name, where),
        )
