"""A part of a robot as a robot of its own: the links from a new root out to a tip."""

from dataclasses import replace

from symgen.errors import OptionError
from symgen.mechanics.pose import Matrix3, Pose
from symgen.reading.description import RobotDescription
from symgen.reading.part import RobotSubtree, above_root, subtree_of
from symgen.reading.right_angles import DEFAULT_SNAP_TOLERANCE, RightAngleSnapper
from symgen.text import quoted, shown


def extract_subtree(robot: RobotDescription, root: str | None, tip: str | None) -> RobotDescription:
    """The description of the part from link `root` (the only root by default) out to link `tip`
    (all links by default). Joints between the root of the file and `root` are at 0.

    Raises OptionError for a link that the robot does not have, and for a joint that follows one
    outside of the part; RobotError if the robot has several roots and `root` is None.
    """
    part = subtree_of(robot, root, tip, ())
    names = {joint.name for joint in part.joints}
    if root is None and tip is None:
        return robot
    _check_leaders(part, names)
    return replace(
        robot,
        links=tuple(part.links.values()),
        joints=tuple(joint for joint in robot.joints if joint.name in names),
        drives=tuple(drive for drive in robot.drives if drive.joint in names),
        tilts=((part.root, _rotation_in_world(part)),),
        transmissions=tuple(t for t in robot.transmissions if names.issuperset(t.joints)),
    )


def _check_leaders(part: RobotSubtree, names: set[str]) -> None:
    for joint in part.joints:
        if joint.mimics is None:
            continue
        outside = [leader for leader, _ in joint.mimics.terms if leader not in names]
        if outside:
            raise OptionError(
                f"--root and --tip: joint '{shown(joint.name)}' follows {quoted(outside)}, which "
                "is not in the part; choose a part that contains both"
            )


def _rotation_in_world(part: RobotSubtree) -> Matrix3:
    """The rotation of the part's root in the world of the file."""
    robot, above, rounder = part.robot, above_root(part), RightAngleSnapper(DEFAULT_SNAP_TOLERANCE)
    pose = Pose(robot.tilt(above[0].parent) if above else robot.tilt(part.root))
    for joint in above:
        place, element = robot.place(joint.origin.line), f"joint '{shown(joint.name)}'"
        pose = pose @ Pose(rounder.rotation(joint.origin.rpy, place, element))
    return pose.rotation
