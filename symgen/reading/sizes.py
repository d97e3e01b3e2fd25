"""Robots with more joints, or with larger numbers, than can be computed with."""

from collections.abc import Container, Iterator, Sequence
from typing import Final

from lxml import etree

from symgen.mechanics.model import RigidBodyModel, constant_of_velocity
from symgen.mechanics.model_validation import MAX_NUMBER, numbers_of
from symgen.mechanics.pose import Pose
from symgen.reading.description import RobotDescription
from symgen.reading.part import RobotSubtree
from symgen.reading.xml_reader import XmlNode
from symgen.text import shown

MAX_JOINTS: Final = 5_000
"""The most joints of a robot, fixed ones included. Time and memory grow linearly with it for
gravity and inverse dynamics, which take half a minute for such a chain, and at least with its
square for quantities that are matrices."""


def check_joint_count(robot: RobotDescription) -> None:
    """Raises RobotError for a robot with more joints than `MAX_JOINTS`."""
    if len(robot.joints) > MAX_JOINTS:
        line = robot.joints[MAX_JOINTS].line
        raise robot.error(line, robot.tag, _too_many(len(robot.joints)))


ROBOT_ELEMENTS: Final = {
    "mujoco": ("worldbody", ("worldbody", "body", "frame", "replicate")),
    "sdf": ("model", ("model",)),
}
"""By the root element of a file: the element that contains a robot, and the elements whose children
`joint` are its joints. In a URDF both are the root element."""


def check_joint_elements(root: XmlNode) -> None:
    """The check of `check_joint_count` before anything else of a file is examined, so that a file
    of any size is refused about as soon as it is parsed. Raises RobotError."""
    own = root.element.tag
    robot, holders = ROBOT_ELEMENTS.get(root.tag, (own, (own,)))
    for element in root.element.iter(robot):
        count = sum(_is_in(joint, holders) for joint in element.iter("{*}joint"))
        if count > MAX_JOINTS:
            raise root.called(f"<{root.tag}>").error(_too_many(count))


def _is_in(element: "etree._Element", holders: Container[str]) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag in holders


def _too_many(count: int) -> str:
    return (
        f"has {count:,} joints, more than the limit of {MAX_JOINTS:,} "
        "(symgen.reading.sizes.MAX_JOINTS); split the robot into several files"
    )


def check_size(part: RobotSubtree, model: RigidBodyModel) -> None:
    """Raises RobotError for numbers whose products need not be finite."""
    elements = part.links
    for poses, links in ((((), model.base)), *(((b.pose,), b.links) for b in model.bodies)):
        for link in links:
            numbers = [*(link.parameters or ()), *_numbers((*poses, link.pose))]
            if not all(abs(x) <= MAX_NUMBER for x in numbers):
                message = "its inertia or pose has a number that is too large; use m, kg and rad"
                raise part.robot.error(
                    elements[link.name].line, f"link '{shown(link.name)}'", message
                )
    lines = {joint.name: joint.line for joint in part.robot.joints}
    for _, joint in model.joints:
        if not all(abs(x) <= MAX_NUMBER for x in numbers_of(joint)):
            raise part.robot.error(
                lines.get(joint.name, part.robot.line),
                f"joint '{shown(joint.name)}'",
                "its friction, spring, actuator, pitch or second axis has a number that "
                "is too large; use m, N and rad",
            )


def _numbers(poses: Sequence[Pose]) -> Iterator[float]:
    for pose in poses:
        yield from (x for row in (*pose.rotation, pose.position) for x in row)


def check_armatures(part: RobotSubtree, model: RigidBodyModel) -> None:
    """Raises RobotError where a joint with all its axes in the body has an armature that differs
    between axes: Coriolis forces of such an inertia would depend on how it moves with the body."""
    lines = {joint.name: joint.line for joint in part.robot.joints}
    for joint in (joint for _, joint in model.joints if joint.type.in_body_axes):
        by_unit: dict[str, set[float]] = {}
        for k, row in enumerate(joint.type.velocities):
            by_unit.setdefault(row.unit, set()).add(constant_of_velocity(joint.armature, k))
        if any(len(numbers) > 1 for numbers in by_unit.values()):
            raise part.robot.error(
                lines.get(joint.name, part.robot.line),
                f"joint '{shown(joint.name)}'",
                f"its armature differs between axes; give a {joint.kind} joint one number "
                "for all axes of rotation and one for all axes of translation",
            )
