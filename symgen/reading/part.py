"""Which part of a robot is compiled: root and tip, joints held at a value, a base that floats."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from symgen.errors import OptionError
from symgen.reading.description import JointElement, LinkElement, Origin, RobotDescription
from symgen.reading.joints import JOINTS, has_one_coordinate
from symgen.reading.mimic import held_by_leaders
from symgen.reading.tree import base_to_tip, check_one_root, joint_above, outward
from symgen.text import hint, shown

FLOATING_BASE = "floating_base"
"""The joint between world and root of a robot whose base floats."""

WORLD = ""
"""The link that carries it: no link of a file has this name."""


BASE_TO_TIP: Final = "base-to-tip"
FILE_ORDER: Final = "file"


@dataclass(frozen=True, slots=True)
class RobotSubtree:
    """The part of a robot that is compiled: a root, the joints below it (parents first) and the
    held ones' values. `joint_order` is the option ``--joint-order``."""

    robot: RobotDescription
    root: str
    joints: tuple[JointElement, ...]
    held: Mapping[str, float]
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
    def moving_in_file_order(self) -> tuple[JointElement, ...]:
        """The joints with a coordinate, in the order of the file."""
        moving = {
            joint.name
            for joint in self.joints
            if joint.kind in JOINTS and joint.name not in self.held
        }
        return tuple(joint for joint in self.robot.joints if joint.name in moving)

    @property
    def still(self) -> set[str]:
        """The links that do not move: the root and what fixed and held joints tie to it."""
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


def subtree_of(
    robot: RobotDescription,
    root: str | None,
    tip: str | None,
    lock: Sequence[tuple[str, float]],
    joint_order: str = BASE_TO_TIP,
) -> RobotSubtree:
    """The part from link `root` (the only root by default), out to link `tip` if given, with
    joints held by `lock` and coordinates in the order `joint_order`.

    Raises OptionError for a name that the robot does not have, RobotError where it has several
    roots and `root` is None.
    """
    links = [link.name for link in robot.links]
    if root is None:
        check_one_root(robot)
    base = robot.roots[0] if root is None else _known("--root", "link", root, links)
    joints = tuple(outward(robot, base))
    if tip is not None:
        joints = _path(robot, base, _known("--tip", "link", tip, links))
    held = held_by_leaders(robot, _locked(robot, lock))
    return RobotSubtree(robot, base, joints, held, joint_order)


def with_floating_base(part: RobotSubtree) -> RobotSubtree:
    """The part with a floating joint from the world to the root."""
    name = FLOATING_BASE
    while name in (joint.name for joint in part.robot.joints):
        name += "_"
    joint = JointElement(
        name, part.robot.line, "floating", WORLD, part.root, Origin(part.robot.line)
    )
    robot = replace(part.robot, joints=(joint, *part.robot.joints))
    return replace(part, robot=robot, root=WORLD, joints=(joint, *part.joints))


def above_root(part: RobotSubtree) -> list[JointElement]:
    """The joints from the file's root to that of the part; none where that floats in the world."""
    if part.root == WORLD:
        return []
    above, joints, link = joint_above(part.robot.joints), list[JointElement](), part.root
    while link in above:
        joints.append(above[link])
        link = above[link].parent
    return joints[::-1]


def _known(option: str, kind: str, name: str, names: Collection[str]) -> str:
    if name in names:
        return name
    raise OptionError(
        f"{option} '{shown(name)}': the robot has no such {kind}; {hint(name, names)}"
    )


def _path(robot: RobotDescription, root: str, tip: str) -> tuple[JointElement, ...]:
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


def _locked(robot: RobotDescription, lock: Sequence[tuple[str, float]]) -> dict[str, float]:
    joints, values = {joint.name: joint for joint in robot.joints}, dict[str, float]()
    for name, value in lock:
        kind = joints[_known("--lock", "joint", name, joints)].kind
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
