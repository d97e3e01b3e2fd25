"""From a file to the `Model` that is compiled: part chosen, joints held, and for every link the
body that it moves with; what links weigh together is summed in `symgen.mechanics.parameters`."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from symgen.errors import Notice, OptionError, SourceLocation
from symgen.mechanics.model import Joint, Link, RigidBodyModel
from symgen.mechanics.pose import IDENTITY, Pose, Triple
from symgen.numbers.scalar import ZERO, plain
from symgen.options import Choices
from symgen.reading.actuators import Drives, drives_of, undriven
from symgen.reading.couple import coupled
from symgen.reading.description import Inertial, JointElement, LinkElement
from symgen.reading.fall import gravity_in_root
from symgen.reading.joints import JOINTS
from symgen.reading.mimic import following
from symgen.reading.motors import Motors, motors_of
from symgen.reading.options import GROUPS, RobotOptions, SourceOptions
from symgen.reading.part import WORLD, RobotSubtree, above_root, subtree_of, with_floating_base
from symgen.reading.remarks import (
    left_out,
    massless,
    odd_joints,
    reordered,
    still_impossible,
    units,
)
from symgen.reading.repair import repair_inertias
from symgen.reading.right_angles import RightAngle, RightAngleSnapper, rotation_about_axis
from symgen.reading.sizes import check_armatures, check_joint_count, check_size
from symgen.reading.sources import RobotSource, describe, name_of
from symgen.reading.unfold import MovingJoint, bodies
from symgen.text import shown

WIDEST_SNAP = 0.1
"""Snapping angles further off than this (rad) cannot be meant."""


@dataclass(frozen=True, slots=True)
class LoadedRobot:
    """A model and its origin: the `file` as given, the SHA-256 of its bytes, and what the user
    should know.

    `right_angles` are the angles near a multiple of pi/2 that were made exact or could be.
    """

    model: RigidBodyModel
    notices: tuple[Notice, ...]
    sha256: str
    file: str
    right_angles: tuple[RightAngle, ...] = ()
    places: Mapping[str, SourceLocation] = field(default_factory=dict)
    """Where each link stands in the file."""
    actuators_sha256: str | None = None


def load(source: RobotSource, **options: Any) -> LoadedRobot:
    """The robot in a URDF, MJCF or SDF file, its content or an object (`RobotSource`) as a model;
    bodies in the order of their joints (`RobotSubtree.moving`).

    `options` are those of `RobotOptions` and `SourceOptions`. Link `root` becomes the base and only
    what it carries stays; with `tip` only the links from root to tip stay. `lock` holds joints at a
    value (rad or m). `gravity` is the acceleration of free fall in root axes (m/s²), by default
    that of the file's own root (see `fall`). A `base` that is ``floating`` instead of ``fixed`` is
    free to move in the world. Angles of the file within `snap_angles` (rad) of a multiple of pi/2
    are made exact. `actuators` is a TOML file of rotors and friction, `rotors` what is taken of
    rotors (see `actuators.driven`). A file with xacro in it is expanded with `xacro_args`.

    Raises RobotError where the file is not a robot that can be compiled, OptionError where an
    option does not fit it."""
    return load_with(source, Choices.of(GROUPS, options))


def load_with(source: RobotSource, choices: Choices) -> LoadedRobot:
    """The robot of a file, as `load`, with options that are made already."""
    wanted = choices[RobotOptions]
    rounder = RightAngleSnapper(_tolerance(wanted.snap_angles))
    robot = describe(source, choices[SourceOptions])
    check_joint_count(robot)
    robot = repair_inertias(robot, wanted.repair_inertia)
    robot = coupled(robot, wanted.couple)
    part = subtree_of(robot, wanted.root, wanted.tip, wanted.lock, wanted.joint_order)
    part = with_floating_base(part) if wanted.base == "floating" else part
    _check_supported(part)
    gravity, fall = gravity_in_root(
        part, wanted.gravity, lambda joint: _joint_pose(part, joint, rounder)
    )
    drives = drives_of(part.robot, wanted.actuators, wanted.rotors)
    part, motors = motors_of(part, drives, wanted.coordinates)
    model = _model(part, gravity, rounder, drives, motors)
    check_size(part, model)
    check_armatures(part, model)
    unused = drives.left_out(part.robot, [joint.name for joint in part.moving])
    notices = (
        *part.robot.notices,
        *fall,
        *unused,
        *reordered(part),
        *massless(part, model),
        *odd_joints(part),
        *units(part, model),
        *still_impossible(part),
        *undriven(part.robot, part.moving),
        *drives.springs(part.robot, part.moving),
        *left_out(part),
        *_held_notices(part, above_root(part) if wanted.gravity is None else ()),
        *rounder.notices(),
    )
    ordered = tuple(sorted(notices, key=lambda notice: notice.place.line))
    places = {name: part.robot.place(link.line) for name, link in part.links.items()}
    right_angles = tuple(rounder.found)
    return LoadedRobot(
        model, ordered, part.robot.sha256, name_of(source), right_angles, places, drives.sha256
    )


def _tolerance(snap_angles: float) -> float:
    if not 0 <= snap_angles <= WIDEST_SNAP:
        raise OptionError(
            f"--snap-angles {snap_angles:g}: give an angle from 0 to {WIDEST_SNAP:g} rad"
        )
    return snap_angles


def _check_supported(part: RobotSubtree) -> None:
    if not part.moving:
        reduced = part.held or len(part.joints) < len(part.robot.joints)
        remaining = " left after --root, --tip and --lock" if reduced else ""
        message = (
            f"has no moving joint{remaining}; add a revolute, continuous or prismatic "
            "joint, or give --base floating"
        )
        raise part.robot.error(part.robot.line, part.robot.tag, message)


def _model(
    part: RobotSubtree, gravity: Triple, rounder: RightAngleSnapper, drives: Drives, motors: Motors
) -> RigidBodyModel:
    """Every link's body and pose on it, from the root outward; then the bodies with their links."""
    moving = {joint.name for joint in part.moving}
    placements: dict[str, tuple[str | None, Pose]] = {part.root: (None, Pose())}
    placed: dict[str, tuple[str | None, Pose, Pose]] = {}
    for joint in part.joints:
        carrier, parent_pose = placements[joint.parent]
        pose = parent_pose @ _joint_pose(part, joint, rounder)
        if joint.name in moving:
            placed[joint.name] = carrier, _plain(pose), parent_pose
            carrier, pose = joint.name, Pose()
        placements[joint.child] = carrier, pose
    links = _links(part, placements, rounder)
    followers = following(part.robot, part.moving, part.held, motors.leading)
    joints = [
        MovingJoint(
            drives.on(_joint(j)), *placed[j.name], tuple(links[j.name]), followers.get(j.name)
        )
        for j in part.moving
    ]
    return RigidBodyModel(
        part.robot.name,
        bodies(joints, motors.bodies(followers)),
        tuple(links.get(None, ())),
        gravity,
    )


def _links(
    part: RobotSubtree,
    placements: Mapping[str, tuple[str | None, Pose]],
    rounder: RightAngleSnapper,
) -> dict[str | None, list[Link]]:
    elements, links = part.links, dict[str | None, list[Link]]()
    for name, (
        carrier,
        pose,
    ) in placements.items():  # from the root outward, so a body's own link comes first
        if name == WORLD:
            continue
        parameters = _parameters(part, elements[name], rounder)
        links.setdefault(carrier, []).append(Link(name, _plain(pose), parameters))
    return links


def _joint_pose(part: RobotSubtree, joint: JointElement, rounder: RightAngleSnapper) -> Pose:
    """The child link's frame in the parent link's, a held joint at its value."""
    place, element = part.robot.place(joint.origin.line), _element(joint)
    pose = Pose(rounder.rotation(joint.origin.rpy, place, element), joint.origin.xyz)
    if joint.name not in part.held:
        return pose
    value, freedom = part.held[joint.name], _joint(joint).type.parts(_joint(joint))[0].freedom
    x, y, z = (plain(freedom.displacement(value)) * a for a in joint.axis)
    shifted = pose @ Pose(IDENTITY, (x, y, z))
    if freedom.turn is ZERO:
        return shifted
    return shifted @ Pose(
        rotation_about_axis(joint.axis, *rounder.cos_sin(value, place, element, "--lock"))
    )


def _parameters(
    part: RobotSubtree, link: LinkElement, rounder: RightAngleSnapper
) -> tuple[float, ...] | None:
    if link.inertial is None:
        return None
    origin = link.inertial.origin
    place, element = part.robot.place(origin.line), f"link '{shown(link.name)}'"
    rotation = rounder.rotation(origin.rpy, place, element, "inertial rpy")
    return about_origin(link.inertial, Pose(rotation, origin.xyz))


def about_origin(inertial: Inertial, pose: Pose) -> tuple[float, ...]:
    """The ten of PARAMETER_NAMES about the link origin; `pose` is the frame of the inertia on the
    link."""
    m, (x, y, z) = inertial.mass, pose.position
    xx, xy, xz, yy, yz, zz = inertial.tensor
    rows, r = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), pose.rotation
    half = [[sum(r[i][k] * rows[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    xx, xy, xz, yy, yz, zz = (
        sum(half[i][k] * r[j][k] for k in range(3)) for i in range(3) for j in range(i, 3)
    )
    ten = (
        m,
        m * x,
        m * y,
        m * z,
        xx + m * (y * y + z * z),
        xy - m * x * y,
        xz - m * x * z,
        yy + m * (x * x + z * z),
        yz - m * y * z,
        zz + m * (x * x + y * y),
    )
    return tuple(p + 0.0 for p in ten)


def _joint(joint: JointElement) -> Joint:
    kind = JOINTS[joint.kind].kind  # the file's word (continuous) for that of JOINT_TYPES
    bare = Joint(joint.name, kind, joint.axis, joint.limits, constants=joint.constants)
    rubbing = replace(bare, damping=joint.damping, friction=joint.friction)
    return replace(rubbing, stiffness=joint.stiffness, reference=joint.reference)


def _plain(pose: Pose) -> Pose:
    """The pose without negative zeros."""
    a, b, c = ((x + 0.0, y + 0.0, z + 0.0) for x, y, z in pose.rotation)
    x, y, z = pose.position
    return replace(pose, rotation=(a, b, c), position=(x + 0.0, y + 0.0, z + 0.0))


def _element(joint: JointElement) -> str:
    return f"joint '{shown(joint.name)}'"


def _held_notices(part: RobotSubtree, turning: Sequence[JointElement]) -> Iterator[Notice]:
    """Notices of joints that are held; `turning` are those left out that turn gravity."""
    used = {joint.name for joint in (*part.joints, *turning)}
    for joint in (j for j in part.robot.joints if j.name in part.held):
        for level, message in _held_messages(joint, part.held[joint.name], joint.name in used):
            yield Notice(part.robot.place(joint.line), level, _element(joint), message)


def _held_messages(joint: JointElement, value: float, kept: bool) -> Iterator[tuple[str, str]]:
    lower, upper = (
        math.copysign(math.inf, sign) if end is None else end
        for end, sign in ((joint.limits.lower, -1), (joint.limits.upper, 1))
    )
    if not kept:
        yield "note", "excluded by --root and --tip, so --lock has no effect on it"
    elif not lower <= value <= upper:
        yield "warning", f"locked at {value:g}, outside its limits {lower:g} to {upper:g}"
    elif joint.mimics is not None:
        yield (
            "note",
            f"locked at {value:g}; its dependence on joint '{shown(joint.mimics.joint)}' "
            "has no effect",
        )
