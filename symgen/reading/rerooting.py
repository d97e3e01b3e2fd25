"""Another link as the root of the tree (``--reroot``): the joints between it and the old root are
reversed.

A joint with the pose X_PC(q) = T M(q) of the child C in the parent P becomes a joint of C that
carries P, X_CP(q) = M(q)⁻¹ T⁻¹. For a joint with one coordinate, M(q)⁻¹ is the same joint about the
opposite axis at the same q, so coordinates keep their zero, sign and meaning. T⁻¹ becomes a fixed
joint between a new massless link, which moves with P, and P itself: link frames stay where they
are."""

from dataclasses import replace

from symgen.errors import OptionError
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.pose import Pose
from symgen.reading.description import (
    JointElement,
    LinkElement,
    Origin,
    RobotDescription,
    joint_above,
)
from symgen.reading.joint_kinds import JOINTS, has_one_coordinate
from symgen.reading.rotations import DEFAULT_SNAP_TOLERANCE, RightAngleSnapper, origin_from_pose
from symgen.text import hint, shown


def rerooted(robot: RobotDescription, link: str) -> RobotDescription:
    """The robot with `link` as the root of its tree. Free fall has the direction in the axes of
    `link` that it has at position 0 of the reversed joints.

    Raises OptionError for an unknown link, and for a joint with several coordinates between it and
    the root."""
    links = [each.name for each in robot.links]
    if link not in links:
        raise OptionError(f"--reroot '{shown(link)}': no link has this name; {hint(link, links)}")
    path = path_to_root(robot, link)
    if not path:
        return robot
    rounder = RightAngleSnapper(DEFAULT_SNAP_TOLERANCE)
    poses = {joint.name: _pose(robot, joint, rounder) for joint in path}
    turned = Pose(robot.tilt(path[-1].parent))
    for joint in reversed(path):
        turned = turned @ Pose(poses[joint.name].rotation)
    taken = {*links, *(joint.name for joint in robot.joints)}
    joints, added = list[JointElement](), list[LinkElement]()
    for joint in robot.joints:
        if joint.name not in poses:
            joints.append(joint)
            continue
        name = _free(f"{joint.parent}_at_{joint.name}", taken)
        reversed_joints = _reversed(joint, poses[joint.name].inverse, name)
        joints += reversed_joints
        added += [LinkElement(each.child, joint.line) for each in reversed_joints[:-1]]
    return replace(
        robot,
        links=(*robot.links, *added),
        joints=tuple(joints),
        tilts=(*robot.tilts, (link, turned.rotation)),
    )


def path_to_root(robot: RobotDescription, link: str) -> list[JointElement]:
    """The joints from a link to the root of its tree. Raises OptionError for a joint that cannot be
    reversed."""
    above, path = joint_above(robot.joints), list[JointElement]()
    while link in above:
        joint = above[link]
        if joint.kind in JOINTS and not has_one_coordinate(joint.kind):
            raise OptionError(
                f"--reroot: joint '{shown(joint.name)}' between the link and the root is a "
                f"{joint.kind} joint, which cannot be reversed; use --root "
                f"'{shown(joint.child)}' to remove it"
            )
        path.append(joint)
        link = joint.parent
    return path


def check_rotors(model: RigidBodyModel, reversed_joints: set[str]) -> None:
    """Raises OptionError for a rotor on a link that would no longer carry its joint."""
    for _, joint in model.joints:
        if joint.name in reversed_joints and joint.rotor is not None:
            raise OptionError(
                f"--reroot: joint '{shown(joint.name)}' is reversed, and its rotor is on the link "
                "that carried it; use --rotors reflected or none"
            )


def _pose(robot: RobotDescription, joint: JointElement, rounder: RightAngleSnapper) -> Pose:
    place, element = robot.place(joint.origin.line), f"joint '{shown(joint.name)}'"
    return Pose(rounder.rotation(joint.origin.rpy, place, element), joint.origin.xyz)


def _free(name: str, taken: set[str]) -> str:
    """A name that begins with `name` and that no link and no joint has, also with ``_fixed``."""
    while {name, f"{name}_fixed"} & taken:
        name += "_"
    taken |= {name, f"{name}_fixed"}
    return name


def _reversed(joint: JointElement, back: Pose, name: str) -> list[JointElement]:
    """The joints from the child to the parent of a joint, `back` being the pose of the parent in
    the frame of the joint at 0. A moving joint needs a link at its own frame, called `name`, unless
    that is the frame of the parent."""
    line = joint.origin.line
    if joint.kind not in JOINTS:
        origin = origin_from_pose(back, line)
        return [replace(joint, parent=joint.child, child=joint.parent, origin=origin)]
    x, y, z = (-a + 0.0 for a in joint.axis)
    at_child = replace(joint, parent=joint.child, origin=Origin(line), axis=(x, y, z))
    if back == Pose():
        return [replace(at_child, child=joint.parent)]
    fixed = JointElement(
        f"{name}_fixed", joint.line, "fixed", name, joint.parent, origin_from_pose(back, line)
    )
    return [replace(at_child, child=name), fixed]
