"""From a URDF file to the `Model` that is compiled: part chosen, joints held, fixed links lumped."""

import difflib
import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from symgen.errors import Notice, OptionError, Place
from symgen.mechanics.actuators import driven
from symgen.mechanics.description import Description, Inertial, JointElement, LinkElement
from symgen.mechanics.model import IDENTITY, Body, Joint, Link, Model, Pose, Triple
from symgen.mechanics.right_angles import RightAngle, Rounder, turn
from symgen.mechanics.tree import joint_above, outward
from symgen.mechanics.urdf import read
from symgen.mechanics.xml_reader import quoted, shown

MOVING = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "planar": "",
          "floating": ""}
"""URDF types that move, with their key in `JOINT_TYPES` where there is one."""

WIDEST_SNAP = 0.1
"""Snapping angles further off than this (rad) cannot be meant."""

LARGEST = 1e100
"""Lengths and inertias up to this can be multiplied as dynamics need without overflow."""

@dataclass(frozen=True, slots=True)
class Loaded:
    """A model and its origin: the `file` as given, the SHA-256 of its bytes, and what the user should know.

    `right_angles` are the angles near a multiple of pi/2 that were made exact or could be.
    """

    model: Model
    notices: tuple[Notice, ...]
    sha256: str
    file: str
    right_angles: tuple[RightAngle, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    """Where each link stands in the file."""
    actuators_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class _Part:
    """What of a robot is compiled: a root, the joints below it (parents first) and the held ones' values."""

    robot: Description
    root: str
    joints: tuple[JointElement, ...]
    held: Mapping[str, float]

    @property
    def moving(self) -> tuple[JointElement, ...]:
        """Joints with a coordinate, in file order."""
        kept = {joint.name for joint in self.joints if joint.kind in MOVING and joint.name not in self.held}
        return tuple(joint for joint in self.robot.joints if joint.name in kept)

    @property
    def links(self) -> dict[str, LinkElement]:
        names = {self.root, *(joint.child for joint in self.joints)}
        return {link.name: link for link in self.robot.links if link.name in names}


def load(
    path: str | os.PathLike[str],
    *,
    root: str | None = None,
    tip: str | None = None,
    lock: Sequence[tuple[str, float]] = (),
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    snap_angles: float = 1e-9,
    actuators: str | os.PathLike[str] | None = None,
    rotors: str = "exact",
    xacro_args: Sequence[tuple[str, str]] = (),
) -> Loaded:
    """The robot in a URDF file as a model; bodies in file order of their joints.

    Link `root` becomes the base and only what it carries stays; with `tip` only the links from root to tip
    stay. `lock` holds joints at a value (rad or m). `gravity` is the acceleration of free fall in root axes
    (m/s²). Angles of the file within `snap_angles` (rad) of a multiple of pi/2 are made exact.

    `actuators` is a TOML file of rotors and friction, `rotors` what is taken of rotors (see `actuators.driven`). A
    ``.xacro`` file is expanded with the arguments `xacro_args`.

    Raises RobotError where the file is not a robot that can be compiled, OptionError where an option does not
    fit it.
    """
    pull, rounder = _gravity(gravity), Rounder(_tolerance(snap_angles))
    part = _part(read(path, xacro_args), root, tip, lock)
    _check_supported(part)
    model = _model(part, pull, rounder)
    _check_size(part, model)
    drive = driven(model, part.robot, actuators, rotors)
    notices = (*part.robot.notices, *drive.notices, *_left_out(part), *_held(part), *rounder.notices())
    ordered = tuple(sorted(notices, key=lambda notice: notice.place.line))
    places = {name: part.robot.place(link.line) for name, link in part.links.items()}
    right_angles = tuple(rounder.found)
    return Loaded(drive.model, ordered, part.robot.sha256, os.fspath(path), right_angles, places, drive.sha256)


def _gravity(gravity: Sequence[float]) -> Triple:
    if len(gravity) != 3 or not all(map(math.isfinite, gravity)):
        raise OptionError("gravity needs three finite numbers (m/s^2), such as 0 0 -9.81")
    x, y, z = (float(g) for g in gravity)
    return x, y, z


def _tolerance(snap_angles: float) -> float:
    if not 0 <= snap_angles <= WIDEST_SNAP:
        raise OptionError(f"--snap-angles {snap_angles:g}: give an angle from 0 to {WIDEST_SNAP:g} rad")
    return snap_angles


def _part(
    robot: Description, root: str | None, tip: str | None, lock: Sequence[tuple[str, float]]
) -> _Part:
    links = [link.name for link in robot.links]
    base = robot.roots[0] if root is None else _known("--root", "link", root, links)
    joints = tuple(outward(robot, base))
    if tip is not None:
        joints = _path(robot, base, _known("--tip", "link", tip, links))
    return _Part(robot, base, joints, _locked(robot, lock))


def _known(option: str, kind: str, name: str, names: Collection[str]) -> str:
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, 3, 0.5)
    lower = [known for known in names if known.lower() == name.lower()]
    hint = f"near names: {quoted(lower or near)}" if lower or near else f"it has {quoted(names)}"
    raise OptionError(f"{option} '{shown(name)}': the robot has no such {kind}; {hint}")


def _path(robot: Description, root: str, tip: str) -> tuple[JointElement, ...]:
    above, joints, link = joint_above(robot.joints), list[JointElement](), tip
    while link != root:
        if link not in above:
            raise OptionError(f"--tip '{shown(tip)}': the link is not carried by the root '{shown(root)}';"
                              " give a link further out, or a --root nearer to the base")
        joints.append(above[link])
        link = above[link].parent
    return tuple(reversed(joints))


def _locked(robot: Description, lock: Sequence[tuple[str, float]]) -> dict[str, float]:
    joints, held = {joint.name: joint for joint in robot.joints}, dict[str, float]()
    for name, value in lock:
        kind = joints[_known("--lock", "joint", name, joints)].kind
        option = f"--lock '{shown(name)}'"
        if not MOVING.get(kind):
            raise OptionError(f"{option}: a {kind} joint cannot be held at one value; remove the option")
        if name in held:
            raise OptionError(f"{option}: given twice; keep one value")
        if not math.isfinite(value):
            raise OptionError(f"{option}: {value} is not a finite number; give a value in rad or m")
        held[name] = float(value)
    return held


def _check_supported(part: _Part) -> None:
    for name, link in part.links.items():
        if link.inertial and link.inertial.trouble:
            raise part.robot.error(link.inertial.line, f"link '{shown(name)}'", link.inertial.trouble)
    troubled = [joint for joint in part.moving if joint.trouble]
    if troubled:
        others = quoted(joint.name for joint in troubled[1:])
        more = f"; not supported either: {others}" if others else ""
        raise part.robot.error(troubled[0].line, _element(troubled[0]), troubled[0].trouble + more)
    if not part.moving:
        reduced = part.held or len(part.joints) < len(part.robot.joints)
        left = " left after --root, --tip and --lock" if reduced else ""
        message = f"has no moving joint{left}; dynamics need a revolute, continuous or prismatic joint"
        raise part.robot.error(part.robot.line, "<robot>", message)


def _model(part: _Part, gravity: Triple, rounder: Rounder) -> Model:
    """Every link's body and pose on it, from the root outward; then the bodies with their links."""
    number = {joint.name: i for i, joint in enumerate(part.moving, 1)}
    seats = {part.root: (0, Pose())}
    stands: dict[str, tuple[int, Pose]] = {}
    for joint in part.joints:
        carrier, seat = seats[joint.parent]
        pose = seat @ _joint_pose(part, joint, rounder)
        if joint.name in number:
            stands[joint.name] = carrier, pose
            carrier, pose = number[joint.name], Pose()
        seats[joint.child] = carrier, pose
    links = _links(part, seats, rounder)
    bodies = tuple(Body(_joint(j), stands[j.name][0], _plain(stands[j.name][1]), tuple(links[number[j.name]]))
                   for j in part.moving)
    return Model(part.robot.name, bodies, tuple(links[0]), gravity)


def _links(
    part: _Part, seats: Mapping[str, tuple[int, Pose]], rounder: Rounder
) -> dict[int, list[Link]]:
    elements, links = part.links, dict[int, list[Link]]()
    for name, (carrier, pose) in seats.items():  # from the root outward, so a body's own link comes first
        parameters = _parameters(part, elements[name], rounder)
        links.setdefault(carrier, []).append(Link(name, _plain(pose), parameters))
    return links


def _joint_pose(part: _Part, joint: JointElement, rounder: Rounder) -> Pose:
    """The child link's frame in the parent link's, a held joint at its value."""
    place, element = part.robot.place(joint.origin.line), _element(joint)
    pose = Pose(rounder.rotation(joint.origin.rpy, place, element), joint.origin.xyz)
    if joint.name not in part.held:
        return pose
    value = part.held[joint.name]
    if joint.kind == "prismatic":
        x, y, z = (value * a for a in joint.axis)
        return pose @ Pose(IDENTITY, (x, y, z))
    return pose @ Pose(turn(joint.axis, *rounder.cos_sin(value, place, element, "--lock")))


def _parameters(part: _Part, link: LinkElement, rounder: Rounder) -> tuple[float, ...] | None:
    if link.inertial is None:
        return None
    origin = link.inertial.origin
    place, element = part.robot.place(origin.line), f"link '{shown(link.name)}'"
    rotation = rounder.rotation(origin.rpy, place, element, "inertial rpy")
    return about_origin(link.inertial, Pose(rotation, origin.xyz))


def about_origin(inertial: Inertial, pose: Pose) -> tuple[float, ...]:
    """The ten of PARAMETER_NAMES about the link origin; `pose` is the frame of the inertia on the link."""
    m, (x, y, z) = inertial.mass, pose.position
    xx, xy, xz, yy, yz, zz = inertial.tensor
    rows, r = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), pose.rotation
    half = [[sum(r[i][k] * rows[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    xx, xy, xz, yy, yz, zz = (
        sum(half[i][k] * r[j][k] for k in range(3)) for i in range(3) for j in range(i, 3))
    ten = (m, m * x, m * y, m * z,
           xx + m * (y * y + z * z), xy - m * x * y, xz - m * x * z,
           yy + m * (x * x + z * z), yz - m * y * z, zz + m * (x * x + y * y))
    return tuple(p + 0.0 for p in ten)


def _joint(joint: JointElement) -> Joint:
    return Joint(joint.name, MOVING[joint.kind], joint.axis, joint.limits, joint.damping, joint.friction)


def _plain(pose: Pose) -> Pose:
    """The pose without negative zeros."""
    a, b, c = ((x + 0.0, y + 0.0, z + 0.0) for x, y, z in pose.rotation)
    x, y, z = pose.position
    return replace(pose, rotation=(a, b, c), position=(x + 0.0, y + 0.0, z + 0.0))


def _element(joint: JointElement) -> str:
    return f"joint '{shown(joint.name)}'"


def _check_size(part: _Part, model: Model) -> None:
    """Numbers of a file are finite, but their products need not be."""
    elements = part.links
    for poses, links in ((((), model.base)), *(((b.pose,), b.links) for b in model.bodies)):
        for link in links:
            numbers = [*(link.parameters or ()), *_numbers((*poses, link.pose))]
            if not all(abs(x) <= LARGEST for x in numbers):
                message = "its inertia or its place is too large to compute with; use m, kg and rad"
                raise part.robot.error(elements[link.name].line, f"link '{shown(link.name)}'", message)


def _numbers(poses: Sequence[Pose]) -> Iterator[float]:
    for pose in poses:
        yield from (x for row in (*pose.rotation, pose.position) for x in row)


def _left_out(part: _Part) -> Iterator[Notice]:
    kept = part.links
    gone = [link for link in part.robot.links if link.name not in kept]
    if gone:
        mass = sum(link.inertial.mass for link in gone if link.inertial)
        count = f"{len(gone)} links" if len(gone) > 1 else "1 link"
        yield Notice(part.robot.place(part.robot.line), "note", "<robot>",
                     f"{count} with {mass:.6g} kg in all left out by --root and --tip")


def _held(part: _Part) -> Iterator[Notice]:
    kept = {joint.name for joint in part.joints}
    for joint in (j for j in part.robot.joints if j.name in part.held):
        for level, message in _held_messages(joint, part.held[joint.name], joint.name in kept):
            yield Notice(part.robot.place(joint.line), level, _element(joint), message)


def _held_messages(joint: JointElement, value: float, kept: bool) -> Iterator[tuple[str, str]]:
    lower, upper = (math.copysign(math.inf, sign) if end is None else end
                    for end, sign in ((joint.limits.lower, -1), (joint.limits.upper, 1)))
    if not kept:
        yield "note", "left out by --root and --tip, so --lock has no effect on it"
    elif not lower <= value <= upper:
        yield "warning", f"held at {value:g}, outside its limits {lower:g} to {upper:g}"
    elif joint.mimics is not None:
        yield "note", f"held at {value:g}; that it mimics joint '{shown(joint.mimics)}' has no effect"
