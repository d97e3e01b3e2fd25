"""The subtree of a robot that is compiled: root and tip, locked joints, a floating base, gravity in
the axes of its root; and its extraction as a robot of its own."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Final, Literal

from symgen.errors import Notice, OptionError
from symgen.mechanics.spatial import IDENTITY, Matrix3, Pose, Triple
from symgen.reading.description import (
    JointElement,
    LinkElement,
    Mimic,
    Origin,
    RobotDescription,
    check_one_root,
    joint_above,
    outward,
)
from symgen.reading.joint_couplings import locked_by_leaders
from symgen.reading.joint_kinds import FIXED, JOINTS, has_one_coordinate
from symgen.reading.rotations import DEFAULT_SNAP_TOLERANCE, RightAngleSnapper
from symgen.text import hint, quoted, shown

FLOATING_BASE = "floating_base"
"""The joint between world and root of a robot whose base floats."""

WORLD = ""
"""The link that carries it: no link of a file has this name."""


BASE_TO_TIP: Final = "base-to-tip"
FILE_ORDER: Final = "file"


@dataclass(frozen=True, slots=True)
class RobotSubtree:
    """The part of a robot that is compiled: a root, the joints below it (parents first) and the
    values of the locked joints (rad or m). `joint_order` is the option ``--joint-order``."""

    robot: RobotDescription
    root: str
    joints: tuple[JointElement, ...]
    locked: Mapping[str, float]
    joint_order: str = BASE_TO_TIP

    @property
    def moving(self) -> tuple[JointElement, ...]:
        """The joints with a coordinate, in the order of the coordinates: the file's order, from
        base to tip unless `joint_order` is ``file``."""
        in_file = self.moving_in_file_order
        if self.joint_order == FILE_ORDER:
            return in_file
        moving, carriers = {joint.name for joint in in_file}, dict[str, str | None]()
        carrier_of_link: dict[str, str | None] = {self.root: None}
        for joint in self.joints:
            carriers[joint.name] = carrier_of_link[joint.parent]
            moves = joint.name in moving
            carrier_of_link[joint.child] = joint.name if moves else carriers[joint.name]
        return base_to_tip(in_file, carriers)

    @property
    def file_order_if_changed(self) -> tuple[str, ...]:
        """The joints with coordinates of their own in the order of the file, if the coordinates
        have another order; empty otherwise."""
        in_file, ordered = (
            tuple(joint.name for joint in joints if joint.mimics is None)
            for joints in (self.moving_in_file_order, self.moving)
        )
        return in_file if in_file != ordered else ()

    @property
    def moving_in_file_order(self) -> tuple[JointElement, ...]:
        """The joints with a coordinate, in the order of the file."""
        moving = {
            joint.name
            for joint in self.joints
            if joint.kind in JOINTS and joint.name not in self.locked
        }
        return tuple(joint for joint in self.robot.joints if joint.name in moving)

    @property
    def still(self) -> set[str]:
        """The links that do not move: the root and what fixed and locked joints tie to it."""
        moving, fixed = {joint.name for joint in self.moving}, {self.root}
        for joint in self.joints:
            if joint.parent in fixed and joint.name not in moving:
                fixed.add(joint.child)
        return fixed

    @property
    def links(self) -> dict[str, LinkElement]:
        """The links of the part by name, in file order."""
        names = {self.root, *(joint.child for joint in self.joints)}
        return {link.name: link for link in self.robot.links if link.name in names}


def base_to_tip(
    joints: Sequence[JointElement], carriers: Mapping[str, str | None]
) -> tuple[JointElement, ...]:
    """The joints in topological order: none stands before the joint that carries it, given by name
    in `carriers` (None for the base).

    The order is the lexicographically smallest one in the given positions (Kahn 1962 with a heap),
    so joints that are in topological order already keep their order."""
    carried: dict[str | None, list[int]] = {}
    for k, joint in enumerate(joints):
        carried.setdefault(carriers[joint.name], []).append(k)
    ready, ordered = [*carried.get(None, ())], list[JointElement]()
    heapify(ready)
    while ready:
        ordered.append(joints[heappop(ready)])
        for k in carried.get(ordered[-1].name, ()):
            heappush(ready, k)
    return tuple(ordered)


def subtree_of(
    robot: RobotDescription,
    root: str | None,
    tip: str | None,
    lock: Sequence[tuple[str, float]],
    joint_order: str = BASE_TO_TIP,
) -> RobotSubtree:
    """The part from link `root` (the only root by default), out to link `tip` if given, with
    joints locked by `lock` and coordinates in the order `joint_order`.

    Raises OptionError for a name that the robot does not have, RobotError where it has several
    roots and `root` is None.
    """
    links = [link.name for link in robot.links]
    if root is None:
        check_one_root(robot)
    base = robot.roots[0] if root is None else _known_name("--root", "link", root, links)
    joints = tuple(outward(robot, base))
    if tip is not None:
        joints = _path_to_tip(robot, base, _known_name("--tip", "link", tip, links))
    locked = locked_by_leaders(robot, _locked_positions(robot, lock))
    return RobotSubtree(robot, base, joints, locked, joint_order)


def with_floating_base(subtree: RobotSubtree) -> RobotSubtree:
    """The part with a floating joint from the world to the root."""
    name = FLOATING_BASE
    while name in (joint.name for joint in subtree.robot.joints):
        name += "_"
    joint = JointElement(
        name, subtree.robot.line, "floating", WORLD, subtree.root, Origin(subtree.robot.line)
    )
    robot = replace(subtree.robot, joints=(joint, *subtree.robot.joints))
    return replace(subtree, robot=robot, root=WORLD, joints=(joint, *subtree.joints))


def with_kept_joints(subtree: RobotSubtree, names: Sequence[str]) -> RobotSubtree:
    """The part with the named fixed joints as joints that move by 0 times another joint's
    coordinate, so that the links beyond them are bodies of their own.

    Raises OptionError for a name that is not that of a fixed joint of the part, and for a part
    without moving joints or with closed loops."""
    joints, moving = {joint.name: joint for joint in subtree.joints}, subtree.moving
    for name in names:
        flag = f"--keep-fixed '{shown(name)}'"
        joint = joints[_known_name("--keep-fixed", "joint", name, joints)]
        if joint.kind != FIXED:
            raise OptionError(f"{flag}: the joint is not fixed; remove the option")
        if not moving or subtree.robot.loops:
            reason = "with closed loops are" if moving else "without moving joints are"
            raise OptionError(f"{flag}: robots {reason} not supported; remove the option")
        leader = next(each.name for each in moving if each.mimics is None)
        joints[name] = replace(joint, kind="revolute", mimics=Mimic(joint.line, leader, 0.0))
    in_file = tuple(joints.get(joint.name, joint) for joint in subtree.robot.joints)
    return replace(
        subtree, robot=replace(subtree.robot, joints=in_file), joints=tuple(joints.values())
    )


def above_root(subtree: RobotSubtree) -> list[JointElement]:
    """The joints from the file's root to that of the part; none where that floats in the world."""
    if subtree.root == WORLD:
        return []
    above, link = joint_above(subtree.robot.joints), subtree.root
    joints = list[JointElement]()
    while link in above:
        joints.append(above[link])
        link = above[link].parent
    return joints[::-1]


def _known_name(option: str, kind: str, name: str, names: Collection[str]) -> str:
    if name in names:
        return name
    raise OptionError(
        f"{option} '{shown(name)}': the robot has no such {kind}; {hint(name, names)}"
    )


def _path_to_tip(robot: RobotDescription, root: str, tip: str) -> tuple[JointElement, ...]:
    above, joints, link = joint_above(robot.joints), list[JointElement](), tip
    while link != root:
        if link not in above:
            raise OptionError(
                f"--tip '{shown(tip)}': the link is not carried by the root "
                f"'{shown(root)}'; give a link farther from the base, or a --root nearer "
                "to it"
            )
        joints.append(above[link])
        link = above[link].parent
    return tuple(reversed(joints))


def _locked_positions(
    robot: RobotDescription, lock: Sequence[tuple[str, float]]
) -> dict[str, float]:
    joints, values = {joint.name: joint for joint in robot.joints}, dict[str, float]()
    for name, value in lock:
        kind = joints[_known_name("--lock", "joint", name, joints)].kind
        option = f"--lock '{shown(name)}'"
        if not has_one_coordinate(kind):
            raise OptionError(
                f"{option}: a {kind} joint cannot be locked at one value; remove the option"
            )
        if name in values:
            raise OptionError(f"{option}: two values are given; keep one of them")
        if not math.isfinite(value):
            raise OptionError(f"{option}: {value} is not a finite number; give a value in rad or m")
        values[name] = float(value)
    return values


def extract_subtree(robot: RobotDescription, root: str | None, tip: str | None) -> RobotDescription:
    """The description of the part from link `root` (the only root by default) out to link `tip`
    (all links by default). Joints between the root of the file and `root` are at 0.

    Raises OptionError for a link that the robot does not have, and for a joint that follows one
    outside of the part; RobotError if the robot has several roots and `root` is None.
    """
    subtree = subtree_of(robot, root, tip, ())
    names = {joint.name for joint in subtree.joints}
    if root is None and tip is None:
        return robot
    for joint in subtree.joints:
        leaders = joint.mimics.terms if joint.mimics is not None else ()
        outside = [leader for leader, _ in leaders if leader not in names]
        if outside:
            raise OptionError(
                f"--root and --tip: joint '{shown(joint.name)}' follows {quoted(outside)}, which "
                "is not in the part; choose a part that contains both"
            )
    return replace(
        robot,
        links=tuple(subtree.links.values()),
        joints=tuple(joint for joint in robot.joints if joint.name in names),
        drives=tuple(drive for drive in robot.drives if drive.joint in names),
        tilts=((subtree.root, rotation_in_world(subtree)),),
        transmissions=tuple(t for t in robot.transmissions if names.issuperset(t.joints)),
        loops=tuple(
            loop
            for loop in robot.loops
            if (names if loop.polynomial else {*subtree.links}).issuperset(loop.links)
        ),
    )


def pose_at_zero(
    robot: RobotDescription, joint: JointElement, snapper: RightAngleSnapper | None = None
) -> Pose:
    """The pose of a joint's child link in its parent link at position 0."""
    snapper = snapper or RightAngleSnapper(DEFAULT_SNAP_TOLERANCE)
    rotation = snapper.rotation(joint.origin.rpy, robot.place(joint.origin.line), joint.label)
    return Pose(rotation, joint.origin.xyz)


def rotation_in_world(
    subtree: RobotSubtree, pose_of: Callable[[JointElement], Pose] | None = None
) -> Matrix3:
    """The rotation of the part's root in the world of the file. `pose_of` gives the pose of a
    joint's child link in its parent link, by default that at position 0."""
    above = above_root(subtree)
    pose = Pose(subtree.robot.tilt(above[0].parent if above else subtree.root))
    for joint in above:
        turn = pose_of(joint) if pose_of is not None else pose_at_zero(subtree.robot, joint)
        pose = pose @ Pose(turn.rotation)
    return pose.rotation


def with_turned_currents(
    subtree: RobotSubtree, pose_of: Callable[[JointElement], Pose]
) -> RobotSubtree:
    """The part with the currents of its file, which are in the axes of the world, in those of its
    root."""
    if not any(any(fluid.current) for link in subtree.robot.links for fluid in link.fluids):
        return subtree
    rotation = rotation_in_world(subtree, pose_of)
    links = (
        replace(
            link,
            fluids=tuple(replace(f, current=_in_axes(rotation, f.current)) for f in link.fluids),
        )
        for link in subtree.robot.links
    )
    return replace(subtree, robot=replace(subtree.robot, links=tuple(links)))


# -- gravity ---------------------------------------------------------------------------------------
# The gravity of a URDF points along -z of its own root; other formats state theirs. The root of a
# part (--root) may be rotated relative to that one; the part hangs as it does in the whole robot.

Gravity = Sequence[float] | Literal["runtime"] | None
"""Free fall in the axes of the link compiled as the root (m/s²), ``runtime`` where it is an input
in these axes, None for that of the file."""


MAX_GRAVITY: Final = 1e9
"""The largest component (m/s^2). Where axes are rotated, a component below 1e-13 of the largest one
counts as a rounding error and becomes 0 (`symgen.mechanics.canonical_frames.tidy`). At 1e16 m/s^2
that would remove a component of 2 m/s^2, which the check of the bias finds."""

TOO_LARGE: Final = (
    f"m/s^2 is too large; the limit is {MAX_GRAVITY:g} m/s^2, because components below 1e-13 of "
    "the largest one are treated as rounding errors"
)


def gravity_in_root(
    subtree: RobotSubtree, gravity: Gravity, pose_of: Callable[[JointElement], Pose]
) -> tuple[Triple, tuple[Notice, ...]]:
    """The acceleration of free fall in the axes of the part's root (m/s²), and what to say of it.

    `pose_of` gives the pose of a joint's child link in its parent link: joints that --root leaves
    out are at 0, or where --lock holds them. Raises OptionError for what is no acceleration, and
    RobotError for one of the file that is too large."""
    fixed = None if gravity is None or gravity == "runtime" else _checked(gravity)
    strongest = max(map(abs, subtree.robot.gravity))
    if gravity is None and strongest > MAX_GRAVITY:
        robot = subtree.robot
        raise robot.error(robot.line, robot.tag, f"gravity of {strongest:g} {TOO_LARGE}")
    above = above_root(subtree)
    rotation = IDENTITY
    for joint in above:
        rotation = (Pose(rotation) @ Pose(pose_of(joint).rotation)).rotation
    in_file = gravity_of_file(subtree.robot, above[0].parent if above else subtree.root)
    if subtree.root == WORLD:
        in_file = subtree.robot.gravity
    fall = _in_axes(rotation, in_file) if fixed is None else fixed
    if rotation == IDENTITY:
        return fall, ()
    text = " ".join(_gravity_note(subtree, above, gravity, fall))
    return fall, (Notice(subtree.robot.place(subtree.robot.line), "note", subtree.robot.tag, text),)


def gravity_of_file(robot: RobotDescription, root: str) -> Triple:
    """Free fall (m/s²) that a file states, in the axes of one of its roots."""
    return _in_axes(robot.tilt(root), robot.gravity)


def _checked(gravity: Sequence[float]) -> Triple:
    if len(gravity) != 3 or not all(map(math.isfinite, gravity)):
        raise OptionError("gravity needs three finite numbers (m/s^2), such as 0 0 -9.81")
    if max(map(abs, gravity)) > MAX_GRAVITY:
        raise OptionError(f"--gravity: {max(map(abs, gravity)):g} {TOO_LARGE}")
    x, y, z = (float(g) for g in gravity)
    return x, y, z


def _in_axes(rotation: Matrix3, fall: Triple) -> Triple:
    """A vector of the file's root in the axes of a link that is turned so against it."""
    x, y, z = Pose(rotation).inverse.rotate(fall)
    return x + 0.0, y + 0.0, z + 0.0


def _gravity_note(
    subtree: RobotSubtree, above: Sequence[JointElement], gravity: Gravity, fall: Triple
) -> Iterator[str]:
    root, first = shown(subtree.root), shown(above[0].parent)
    names = {True: "--gravity", gravity == "runtime": "the input g", gravity is None: "gravity"}
    yield f"{names[True]} is"
    if gravity is None:
        yield f"({', '.join(f'{x:.6g}' for x in fall)}) m/s^2"
    yield (
        f"in the axes of link '{root}', whose orientation --root changed relative to link '{first}'"
    )
    if gravity is None:
        moving = [joint for joint in above if joint.kind in JOINTS]
        at = [f"'{shown(j.name)}' at {subtree.locked.get(j.name, 0.0):g}" for j in moving]
        positions = f" with joint {', '.join(at)}" if at else ""
        yield f"of the file; its direction in the world is that of the file{positions};"
        yield "use --gravity X,Y,Z to set it in these axes"
