"""Robots of Pinocchio: a ``pin.Model`` as a description, joints and coordinates in its order.

A Pinocchio body has all that is fixed to it in one inertia; its other links become frames. Joint
types are identified by their short names."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from symgen.errors import OptionError, RobotError, SourceLocation
from symgen.mechanics.model import PerCoordinate, constant_of_velocity
from symgen.mechanics.spatial import IDENTITY, Pose, Triple
from symgen.reading.builder import Builder
from symgen.reading.description import RobotDescription
from symgen.reading.joint_kinds import merged
from symgen.reading.rotations import rpy_from_rotation
from symgen.text import shown

FILE: Final = "pin.Model"
UNLIMITED: Final = 1e300
"""Pinocchio has larger limits, or infinite ones, where there is no limit."""


@dataclass(frozen=True, slots=True)
class PinocchioJoint:
    """The word for a type of joint, its axis, and what else the type takes."""

    word: str
    axis: Callable[[Any, str], Triple]
    constants: Callable[[Any], dict[str, Any]] = lambda joint: {}
    """The constants of the type besides the axis, as arguments of `Builder.joint`."""


def _triple(numbers: Any) -> Triple:
    x, y, z = (float(x) + 0.0 for x in numbers)
    return x, y, z


def _axis_of_name(joint: Any, name: str) -> Triple:
    """The axis in the name of a type."""
    return IDENTITY["XYZ".index(name[-1])]


def _free_axis(joint: Any, name: str) -> Triple:
    return _triple(joint.axis)


def _pitch(joint: Any) -> dict[str, Any]:
    """The pitch as `Builder.joint` takes it (m per turn); Pinocchio has it in m/rad."""
    return {"pitch": 2 * math.pi * float(joint.pitch)}


JOINT_TYPES_BY_NAME: Final[dict[str, PinocchioJoint]] = {
    r"R[XYZ]": PinocchioJoint("revolute", _axis_of_name),
    r"RUB[XYZ]": PinocchioJoint("continuous", _axis_of_name),
    r"P[XYZ]": PinocchioJoint("prismatic", _axis_of_name),
    r"H[XYZ]": PinocchioJoint("screw", _axis_of_name, _pitch),
    r"RevoluteUnaligned": PinocchioJoint("revolute", _free_axis),
    r"RevoluteUnboundedUnaligned": PinocchioJoint("continuous", _free_axis),
    r"PrismaticUnaligned": PinocchioJoint("prismatic", _free_axis),
    r"HelicalUnaligned": PinocchioJoint("screw", _free_axis, _pitch),
    r"Universal": PinocchioJoint(
        "universal",
        lambda joint, name: _triple(joint.axis1),
        lambda joint: {"axis2": _triple(joint.axis2)},
    ),
    r"FreeFlyer": PinocchioJoint("floating", lambda joint, name: IDENTITY[0]),
    r"Spherical": PinocchioJoint("ball", lambda joint, name: IDENTITY[0]),
    r"Planar": PinocchioJoint(
        "planar", lambda joint, name: IDENTITY[2], lambda joint: {"axis2": IDENTITY[0]}
    ),
}
"""The joint types by what stands behind ``JointModel`` in Pinocchio's short name. Pinocchio's q of
an unbounded joint is a cosine and a sine, ours the angle."""


def robot_of_pinocchio(model: Any, constraints: Iterable[Any] = ()) -> RobotDescription:
    """The robot in a ``pin.Model``, whose loops are closed by ``pin.RigidConstraintModel``. Raises
    RobotError for a joint type that has no word here, OptionError for numbers that no robot has and
    for a gravity that turns; TypeError for another object of that package."""
    if not hasattr(model, "njoints"):
        kind = type(model).__qualname__
        raise TypeError(f"a pinocchio.{kind} is not a robot; give its pinocchio.Model")
    if any(model.gravity.angular):
        raise OptionError(
            "pin.Model: gravity has an angular part, which symgen does not support; set "
            "model.gravity.angular to 0"
        )
    try:
        return _with_loops(_builder_of(model), model, constraints).description()
    except OptionError as error:
        text = str(error).removeprefix("error: ")
        raise OptionError(text if text.startswith(FILE) else f"{FILE}: {text}") from None


def _builder_of(model: Any) -> Builder:
    """A builder of the robot; lines are the indices of joints and frames, counted from 1."""
    name, links = str(model.name) or "robot", _links(model)
    builder = Builder(name, [float(x) for x in model.gravity.linear])
    for i, link in enumerate(links):
        inertia = model.inertias[i]
        rows = inertia.inertia
        tensor = [float(rows[j, k]) + 0.0 for j in range(3) for k in range(j, 3)]
        mass, center = float(inertia.mass), _triple(inertia.lever)
        place = center if mass or any(tensor) else (0.0, 0.0, 0.0)
        builder.at_location(SourceLocation(FILE, i + 1)).link(link, mass, place, tensor)
    for i in range(1, model.njoints):
        _joint(builder.at_location(SourceLocation(FILE, i + 1)), model, i, links)
    taken = {*links, *(str(name) for name in model.names)}
    for k, frame in enumerate(model.frames):  # the other links of bodies, and operational frames
        name = str(frame.name)
        if str(frame.type) in ("BODY", "OP_FRAME") and name not in taken:
            taken.add(name)
            builder.at_location(SourceLocation(FILE, model.njoints + k + 1))
            builder.frame(name, links[frame.parentJoint], **_placement(frame.placement))
    return builder


CUT_JOINTS: Final = {"CONTACT_3D": "ball", "CONTACT_6D": "fixed"}
"""The cut joint by the type of a constraint."""


def _with_loops(builder: Builder, model: Any, constraints: Iterable[Any]) -> Builder:
    """The builder with a loop for each constraint between two joints."""
    links = _links(model)
    for k, constraint in enumerate(constraints):
        name = str(constraint.name) or f"constraint_{k}"
        kind = str(constraint.type)
        if kind not in CUT_JOINTS:
            raise OptionError(
                f"pin.RigidConstraintModel '{shown(name)}' has the type {shown(kind)}; give "
                f"{' or '.join(CUT_JOINTS)}"
            )
        places = [_pose(getattr(constraint, f"joint{n}_placement")) for n in (1, 2)]
        first, second = (rpy_from_rotation(place.rotation) for place in places)
        builder.at_location(SourceLocation(FILE, model.njoints + len(model.frames) + k + 1)).close(
            name,
            links[constraint.joint1_id],
            links[constraint.joint2_id],
            places[0].position,
            places[1].position,
            joint=CUT_JOINTS[kind],
            rpy_first=first,
            rpy_second=second,
        )
    return builder


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


def _placement(placement: Any) -> dict[str, Any]:
    """A placement as arguments of `Builder`."""
    pose = _pose(placement)
    return {"xyz": pose.position, "rotation": pose.rotation}


def _joint(builder: Builder, model: Any, i: int, links: Sequence[str]) -> None:
    """Add joint `i` with its limits, its friction and its armature, which Pinocchio's dynamics
    have; its rotors, which they do not have, are left out."""
    joint, name, (kind, axis, constants) = model.joints[i], str(model.names[i]), _kind(model, i)
    velocities = slice(joint.idx_v, joint.idx_v + joint.nv)
    passive: dict[str, Any] = {
        field: merged(float(x) + 0.0 for x in getattr(model, field)[velocities])
        for field in ("damping", "friction")
        if getattr(model, field, None) is not None
    }
    armature = [float(x) for x in model.armature[velocities]]
    _check_planar(name, kind, passive)
    _check_armature(name, kind, armature)
    limits: dict[str, Any] = {
        "lower": model.lowerPositionLimit[joint.idx_q],
        "upper": model.upperPositionLimit[joint.idx_q],
        "velocity": model.velocityLimit[joint.idx_v],
        "effort": model.effortLimit[joint.idx_v],
    }
    known: dict[str, Any] = {word: float(x) for word, x in limits.items() if abs(x) < UNLIMITED}
    builder.joint(
        name,
        kind,
        links[model.parents[i]],
        links[i],
        axis=axis,
        **_placement(model.jointPlacements[i]),
        **(known if joint.nq == joint.nv == 1 else {}),
        **passive,
        armature=merged(armature) if any(armature) else None,
        **constants,
    )


def _kind(model: Any, i: int) -> tuple[str, Triple, dict[str, Any]]:
    """The word, the axis and the constants of joint `i`. Raises RobotError."""
    joint = model.joints[i]
    short = str(joint.shortname()).removeprefix("JointModel")
    for pattern, kind in JOINT_TYPES_BY_NAME.items():
        if re.fullmatch(pattern, short):
            inner = joint.extract() if hasattr(joint, "extract") else joint
            return kind.word, kind.axis(inner, short), kind.constants(inner)
    raise RobotError(
        SourceLocation(FILE, i + 1),
        f"joint '{shown(str(model.names[i]))}'",
        f"has the Pinocchio type {shown(short)}, which symgen does not support; lock it "
        "with pin.buildReducedModel, or build the robot with symgen.Builder",
    )


def _check_planar(name: str, kind: str, passive: Mapping[str, PerCoordinate]) -> None:
    """Refuses what a planar joint, whose velocities Pinocchio has along the axes of the body, has
    not alike along those of the plane. Raises OptionError."""
    if kind != "planar":
        return
    (x, y), friction = (
        (constant_of_velocity(passive.get("damping", 0.0), k) for k in (0, 1)),
        passive.get("friction", 0.0),
    )
    if x != y or constant_of_velocity(friction, 0) or constant_of_velocity(friction, 1):
        raise OptionError(
            "pin.Model: damping in x and y and friction of the planar joint "
            f"'{shown(name)}' act along the axes of its body in Pinocchio, but along the "
            "axes of the plane in symgen; set the friction to 0 and the damping in x and "
            "y to the same number"
        )


def _check_armature(name: str, kind: str, armature: Sequence[float]) -> None:
    """Refuses armature of velocities along the axes of the body that no inertia has: Pinocchio adds
    it to the mass matrix without the Coriolis forces that belong to it. Raises OptionError."""
    translations = {"floating": 3, "planar": 2}.get(kind, 0)
    rotations = set(armature[translations:]) if kind in ("ball", "floating") else {0.0}
    if any(armature[:translations]) or len(rotations) > 1:
        raise OptionError(
            f"pin.Model: armature of the {kind} joint '{shown(name)}' differs between its "
            "coordinates, and Pinocchio ignores the resulting Coriolis forces; set the "
            "armature of translations to 0 and that of rotations to one number"
        )
