"""Which part of a robot is compiled: root and tip, joints held at a value, a base that floats."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from symgen.errors import OptionError
from symgen.reading.description import Description, JointElement, LinkElement, Origin
from symgen.reading.joints import JOINTS, single
from symgen.reading.mimic import held_by_leaders
from symgen.reading.tree import joint_above, outward
from symgen.text import hint, shown

FLOATING_BASE = "floating_base"
"""The joint between world and root of a robot whose base floats."""

WORLD = ""
"""The link that carries it: no link of a file has this name."""


@dataclass(frozen=True, slots=True)
class RobotPart:
    """The part of a robot that is compiled: a root, the joints below it (parents first) and the
    held ones' values."""

    robot: Description
    root: str
    joints: tuple[JointElement, ...]
    held: Mapping[str, float]

    @property
    def moving(self) -> tuple[JointElement, ...]:
        """Joints with a coordinate, in file order."""
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


def part_of(
    robot: Description, root: str | None, tip: str | None, lock: Sequence[tuple[str, float]]
) -> RobotPart:
    """The part from link `root` (the first of all by default), out to link `tip` if given, with
    joints held by `lock`.

    Raises OptionError for a name that the robot does not have.
    """
    links = [link.name for link in robot.links]
    base = robot.roots[0] if root is None else _known("--root", "link", root, links)
    joints = tuple(outward(robot, base))
    if tip is not None:
        joints = _path(robot, base, _known("--tip", "link", tip, links))
    return RobotPart(robot, base, joints, held_by_leaders(robot, _locked(robot, lock)))


def afloat(part: RobotPart) -> RobotPart:
    """The part with a floating joint from the world to the root."""
    name = FLOATING_BASE
    while name in (joint.name for joint in part.robot.joints):
        name += "_"
    joint = JointElement(
        name, part.robot.line, "floating", WORLD, part.root, Origin(part.robot.line)
    )
    robot = replace(part.robot, joints=(joint, *part.robot.joints))
    return RobotPart(robot, WORLD, (joint, *part.joints), part.held)


def _known(option: str, kind: str, name: str, names: Collection[str]) -> str:
    if name in names:
        return name
    raise OptionError(
        f"{option} '{shown(name)}': the robot has no such {kind}; {hint(name, names)}"
    )


def _path(robot: Description, root: str, tip: str) -> tuple[JointElement, ...]:
    above, joints, link = joint_above(robot.joints), list[JointElement](), tip
    while link != root:
        if link not in above:
            raise OptionError(
                f"--tip '{shown(tip)}': the link is not carried by the root '{shown(root)}';"
                " give a link further out, or a --root nearer to the base"
            )
        joints.append(above[link])
        link = above[link].parent
    return tuple(reversed(joints))


def _locked(robot: Description, lock: Sequence[tuple[str, float]]) -> dict[str, float]:
    joints, values = {joint.name: joint for joint in robot.joints}, dict[str, float]()
    for name, value in lock:
        kind = joints[_known("--lock", "joint", name, joints)].kind
        option = f"--lock '{shown(name)}'"
        if not single(kind):
            raise OptionError(
                f"{option}: a {kind} joint cannot be held at one value; remove the option"
            )
        if name in values:
            raise OptionError(f"{option}: given twice; keep one value")
        if not math.isfinite(value):
            raise OptionError(f"{option}: {value} is not a finite number; give a value in rad or m")
        values[name] = float(value)
    return values
