"""Notices about a robot as a whole: what is excluded, and values that are implausible; and errors
for links and joints that form no trees with unique names (`check`), and for robots with more
joints, or with larger numbers, than can be computed with."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from symgen.errors import Notice, RobotError, combined_error
from symgen.mechanics.inertia_checks import odd_units
from symgen.mechanics.model import RigidBodyModel, constant_of_velocity
from symgen.mechanics.model_validation import MAX_NUMBER, numbers_of
from symgen.mechanics.spatial import Pose
from symgen.reading.description import JointElement, RobotDescription, joint_above, outward
from symgen.reading.joint_kinds import in_words, is_negative
from symgen.reading.subtree import RobotSubtree, above_root
from symgen.reading.xml_reader import XmlNode
from symgen.text import quoted, shown


def notices_on_values(subtree: RobotSubtree, model: RigidBodyModel) -> Iterator[Notice]:
    """Notices about the order of coordinates and about implausible masses, limits and units."""
    yield from _coordinate_order_notice(subtree)
    yield from _massless_notice(subtree, model)
    yield from _implausible_joints(subtree)
    yield from _angles_in_degrees(subtree)
    links, robot = subtree.links, subtree.robot
    for name, remark in odd_units(model):
        line = links[name].line if name in links else robot.line
        yield robot.notice("warning", remark, line, f"link '{shown(name)}'", summary=UNITS_SUMMARY)
    for link in (links[name] for name in sorted(subtree.still & set(links))):
        if link.inertial and link.inertial.trouble:
            trouble = link.inertial.trouble.partition(";")[0]
            message = f"{trouble}; the link does not move, so no result depends on it"
            yield robot.notice("warning", message, link.inertial.line, link.label)


UNITS_SUMMARY: Final = (
    "{count} links ({elements}) have values that are implausible in kg, m and kg m^2; "
    "add --verbose to list them"
)


def _coordinate_order_notice(subtree: RobotSubtree) -> Iterator[Notice]:
    """A note if the coordinates are not in the order of the file."""
    ordered = [joint.name for joint in subtree.moving if joint.mimics is None]
    pairs = zip(subtree.file_order_if_changed, ordered, strict=False)
    for in_file, instead in ((name, other) for name, other in pairs if name != other):
        yield subtree.robot.notice(
            "note",
            "coordinates are ordered from the base to the tip: joint "
            f"'{shown(instead)}' is before '{shown(in_file)}', which is earlier in the "
            "file; use --joint-order file to keep the order of the file",
        )
        return


def _massless_notice(subtree: RobotSubtree, model: RigidBodyModel) -> Iterator[Notice]:
    """A warning if nothing that moves has mass or inertia, which makes every force 0."""
    parameters = [link.parameters for body in model.bodies for link in body.links]
    if not any(any(ten or ()) for ten in parameters) and not any(b.spin for b in model.bodies):
        yield subtree.robot.notice(
            "warning",
            "no moving link has mass or inertia, so all joint forces due to gravity and "
            "motion are 0; use a file with <inertial>, or --parameters runtime",
            unless=("parameters",),
        )


def _implausible_joints(subtree: RobotSubtree) -> Iterator[Notice]:
    """Warnings about crossed limits and negative values of joints."""
    for joint in subtree.moving:
        element = joint.label
        lower, upper = joint.limits.lower, joint.limits.upper
        if lower is not None and upper is not None and lower > upper:
            text = f"lower limit {lower:g} is above the upper limit {upper:g}"
            yield subtree.robot.notice(
                "warning", text, joint.line, element, summary=CROSSED_LIMITS_SUMMARY
            )
        numbers = {
            "damping": joint.damping,
            "friction": joint.friction,
            "velocity limit": joint.limits.velocity,
            "effort limit": joint.limits.effort,
        }
        for name, number in numbers.items():
            if number is not None and is_negative(number):
                text = f"{name} is negative ({in_words(number)}); used as written"
                yield subtree.robot.notice(
                    "warning", text, joint.line, element, summary=NEGATIVE_VALUES_SUMMARY
                )


FULL_TURN: Final = 2 * math.pi * (1 + 1e-6)
"""The largest plausible angle of an origin (rad). No origin of 476 URDF files has a larger one."""
LIMITS_IN_DEGREES: Final = (20.5, 720.0)
"""Limits of revolute joints (rad) that are probably in degrees. None of the 4,670 joints of the
same files has such a limit; larger ones mean that there is none."""


def _angles_in_degrees(subtree: RobotSubtree) -> Iterator[Notice]:
    """Warnings about angles that are probably in degrees."""
    inertials = [(x.label, x.inertial.origin) for x in subtree.links.values() if x.inertial]
    for element, origin in (*((x.label, x.origin) for x in subtree.joints), *inertials):
        angle = max(origin.rpy, key=abs)
        if abs(angle) > FULL_TURN:
            text = f"rpy has the angle {angle:g} rad, more than a full turn; is it in degrees?"
            yield subtree.robot.notice(
                "warning", text, origin.line, element, summary=DEGREES_SUMMARY
            )
    least, most = LIMITS_IN_DEGREES
    for joint in subtree.moving:
        lower, upper = joint.limits.lower or 0.0, joint.limits.upper or 0.0
        if joint.kind == "revolute" and least < max(abs(lower), abs(upper)) <= most:
            text = f"its limits are {lower:g} and {upper:g} rad; are they in degrees?"
            yield subtree.robot.notice(
                "warning", text, joint.line, joint.label, summary=DEGREES_SUMMARY
            )


DEGREES_SUMMARY: Final = (
    "{count} angles ({elements}) are probably in degrees, not in rad; add --verbose to list them"
)
CROSSED_LIMITS_SUMMARY: Final = "lower limits are above upper limits in {count} joints ({elements})"
NEGATIVE_VALUES_SUMMARY: Final = (
    "{count} numbers of damping, friction and limits are negative ({elements}); used as written"
)


def notices_on_selection(subtree: RobotSubtree, gravity_is_given: bool) -> Iterator[Notice]:
    """Notices about --root, --tip and --lock: what is excluded, and locked joints."""
    used = subtree.links
    excluded = [link for link in subtree.robot.links if link.name not in used]
    if excluded:
        mass = sum(link.inertial.mass for link in excluded if link.inertial)
        count = f"{len(excluded)} links" if len(excluded) > 1 else "1 link"
        yield subtree.robot.notice(
            "note", f"--root and --tip exclude {count} with a total mass of {mass:.6g} kg"
        )
    above = () if gravity_is_given else above_root(subtree)  # their positions rotate gravity
    effective = {joint.name for joint in (*subtree.joints, *above)}
    for joint in (joint for joint in subtree.robot.joints if joint.name in subtree.locked):
        notice = _locked_joint_notice(joint, subtree.locked[joint.name], joint.name in effective)
        if notice is not None:
            yield subtree.robot.notice(*notice, joint.line, joint.label)


def _locked_joint_notice(
    joint: JointElement, value: float, effective: bool
) -> tuple[str, str] | None:
    """The level and the message of a notice about a joint that is locked at a value."""
    lower, upper = (
        math.copysign(math.inf, sign) if end is None else end
        for end, sign in ((joint.limits.lower, -1), (joint.limits.upper, 1))
    )
    if not effective:
        return "note", "excluded by --root and --tip, so --lock has no effect on it"
    if not lower <= value <= upper:
        return "warning", f"locked at {value:g}, outside its limits {lower:g} to {upper:g}"
    if joint.mimics is None:
        return None
    leader = shown(joint.mimics.joint)
    return "note", f"locked at {value:g}; its dependence on joint '{leader}' has no effect"


# -- limits of size --------------------------------------------------------------------------------

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
        parents = (joint.getparent() for joint in element.iter("{*}joint"))
        count = sum(parent is not None and parent.tag in holders for parent in parents)
        if count > MAX_JOINTS:
            raise root.with_label(f"<{root.tag}>").error(_too_many(count))


def _too_many(count: int) -> str:
    return (
        f"has {count:,} joints, more than the limit of {MAX_JOINTS:,} "
        "(symgen.reading.plausibility.MAX_JOINTS); split the robot into several files"
    )


def check_size(subtree: RobotSubtree, model: RigidBodyModel) -> None:
    """Raises RobotError for numbers whose products need not be finite."""
    large = "has a number that is too large; use m, kg and rad"
    for body in model.bodies:
        if not _are_limited(_entries(body.pose)):
            raise subtree.robot.error_of_joint(body.joint.name, f"its pose {large}")
    for link in (*model.base, *(link for body in model.bodies for link in body.links)):
        if not _are_limited((*(link.parameters or ()), *_entries(link.pose))):
            element = subtree.links[link.name]
            raise subtree.robot.error_at(element, f"its inertia or pose {large}")
    for _, joint in model.joints:
        if not _are_limited(numbers_of(joint)):
            raise subtree.robot.error_of_joint(
                joint.name,
                "its friction, spring, actuator, pitch or second axis has a number that "
                "is too large; use m, N and rad",
            )


def _entries(pose: Pose) -> tuple[float, ...]:
    return tuple(float(x) for row in (*pose.rotation, pose.position) for x in row)


def _are_limited(numbers: Iterable[float]) -> bool:
    """Whether no number is too large, infinite or NaN."""
    return all(abs(x) <= MAX_NUMBER for x in numbers)


def check_armatures(subtree: RobotSubtree, model: RigidBodyModel) -> None:
    """Raises RobotError where a joint with all its axes in the body has an armature that differs
    between axes: Coriolis forces of such an inertia would depend on how it moves with the body."""
    for joint in (joint for _, joint in model.joints if joint.type.in_body_axes):
        by_unit: dict[str, set[float]] = {}
        for k, row in enumerate(joint.type.velocities):
            by_unit.setdefault(row.unit, set()).add(constant_of_velocity(joint.armature, k))
        if any(len(numbers) > 1 for numbers in by_unit.values()):
            raise subtree.robot.error_of_joint(
                joint.name,
                f"its armature differs between axes; give a {joint.kind} joint one number "
                "for all axes of rotation and one for all axes of translation",
            )


RobotErrorsOfRule = Iterator[RobotError]


def check(robot: RobotDescription) -> RobotDescription:
    """The robot, its notices in the order of the lines. Raises RobotError, with a way out, for the
    first rule of CHECKS that it breaks, wherever it does. A robot may have several roots until one
    is chosen (`check_one_root`)."""
    for rule in CHECKS:
        broken = combined_error(rule(robot))
        if broken is not None:
            raise broken
    ordered = sorted(robot.notices, key=lambda notice: notice.location.line)
    return replace(robot, notices=tuple(ordered))


def _has_links(robot: RobotDescription) -> RobotErrorsOfRule:
    if not robot.links:
        yield robot.error(robot.line, robot.tag, "has no links; add at least one")


def _unique_names(robot: RobotDescription) -> RobotErrorsOfRule:
    for kind, elements in (("link", robot.links), ("joint", robot.joints), ("loop", robot.loops)):
        first: dict[str, Any] = {}
        for element in elements:
            other = first.setdefault(element.name, element)
            if other is not element:
                yield robot.error(
                    element.line,
                    f"{kind} '{shown(element.name)}'",
                    f"the name is already used by the {kind} on line {other.line}; rename one of "
                    "them",
                )


def _known_links(robot: RobotDescription) -> RobotErrorsOfRule:
    known = {link.name for link in robot.links}
    for joint in robot.joints:
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known:
                yield robot.error_at(
                    joint,
                    f"{end} link '{shown(name)}' does not exist; add it or correct the name",
                )


def _one_parent(robot: RobotDescription) -> RobotErrorsOfRule:
    above: dict[str, JointElement] = {}
    for joint in robot.joints:
        other = above.setdefault(joint.child, joint)
        if other is not joint:
            yield robot.error_at(
                joint,
                f"link '{shown(joint.child)}' is already the child of joint"
                f" '{shown(other.name)}' on line {other.line}; closed loops are not supported: "
                "cut the loop by removing one of the two joints",
            )


def _no_cycle(robot: RobotDescription) -> RobotErrorsOfRule:
    above = joint_above(robot.joints)
    reached = {
        *robot.roots,
        *(joint.child for root in robot.roots for joint in outward(robot, root)),
    }
    unreached = next((link.name for link in robot.links if link.name not in reached), None)
    if unreached is None:
        return
    visited: dict[str, JointElement] = {}  # the joints met going up, until one repeats
    while unreached not in visited:
        visited[unreached] = above[unreached]
        unreached = above[unreached].parent
    names = list(visited)
    cycle = [visited[name] for name in reversed(names[names.index(unreached) :])]
    message = (
        f"joints {quoted(joint.name for joint in cycle)} form a cycle; a robot is a tree: remove "
        "one of them"
    )
    if len(cycle) == 1:
        link = shown(cycle[0].child)
        message = f"connects link '{link}' to itself; correct its parent or child"
    yield robot.error_at(min(cycle, key=lambda joint: joint.line), message)


CHECKS: Final[tuple[Callable[[RobotDescription], RobotErrorsOfRule], ...]] = (
    _has_links,
    _unique_names,
    _known_links,
    _one_parent,
    _no_cycle,
)
"""Rules in the order that gives the most telling message first."""
