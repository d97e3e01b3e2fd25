"""Joints that mimic others: who follows whom in the end, and with what factor and offset."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from symgen.errors import RobotError
from symgen.reading.description import Description, JointElement
from symgen.reading.joints import several
from symgen.reading.unfold import Following
from symgen.text import quoted, shown

LARGEST_FOLLOWING: Final = 1e6
"""Multiplier and offset (m or rad) of a joint that mimics; the sine of a larger angle has lost as
many digits, and of one of 1e16 rad all."""


def following(robot: Description, moving: Sequence[JointElement]) -> dict[str, Following]:
    """For every moving joint that mimics, the joint with a coordinate of its own that it follows in
    the end.

    Raises RobotError where there is none.
    """
    by_name = {joint.name: joint for joint in moving}
    return {
        joint.name: _leader(robot, joint, by_name) for joint in moving if joint.mimics is not None
    }


def held_by_leaders(robot: Description, held: Mapping[str, float]) -> dict[str, float]:
    """The held joints and those that follow them, which are held too, or that do not turn at all
    (multiplier 0)."""
    found, joints = dict(held), {joint.name: joint for joint in robot.joints}
    free = set[str]()
    for joint in robot.joints:
        chain = _followed(joint, joints, found, free)
        for follower in reversed(chain):
            value = _held_value(follower, found)
            if value is None:
                free.add(follower.name)
            else:
                found[follower.name] = value
    return found


def _followed(
    joint: JointElement,
    joints: Mapping[str, JointElement],
    held: Mapping[str, float],
    free: Collection[str],
) -> list[JointElement]:
    """The joint, the one that it mimics and so on, as far as nothing is known of them."""
    chain: dict[str, JointElement] = {}
    at: JointElement | None = joint
    while at is not None and not any(at.name in known for known in (chain, held, free)):
        chain[at.name] = at
        mimic = at.mimics
        at = joints.get(mimic.joint) if mimic is not None and mimic.multiplier != 0 else None
    return list(chain.values())


def _held_value(joint: JointElement, held: Mapping[str, float]) -> float | None:
    """Where a joint is held by the one that it mimics; None where it is not."""
    mimic = joint.mimics
    if mimic is None:
        return None
    if mimic.multiplier == 0:
        return mimic.offset
    leader = held.get(mimic.joint)
    return None if leader is None else mimic.multiplier * leader + mimic.offset


def _leader(
    robot: Description, joint: JointElement, moving: Mapping[str, JointElement]
) -> Following:
    factor, offset, at, seen = 1.0, 0.0, joint, {joint.name: None}
    while at.mimics is not None:
        factor, offset = factor * at.mimics.multiplier, factor * at.mimics.offset + offset
        if at.mimics.joint in seen:
            raise _error(
                robot,
                joint,
                f"mimics itself by way of {quoted(seen)}; let one of them move by itself",
            )
        seen[at.mimics.joint] = None
        at = _next(robot, joint, at, moving)
    many = next((one for one in (at, joint) if several(one.kind)), None)
    if many is not None:
        raise _error(
            robot,
            joint,
            f"mimics joint '{shown(at.name)}', but the {many.kind} joint '{shown(many.name)}'"
            " has several coordinates; only joints with one can mimic or be mimicked",
        )
    if not (abs(factor) <= LARGEST_FOLLOWING and abs(offset) <= LARGEST_FOLLOWING):
        raise _error(
            robot,
            joint,
            f"follows joint '{shown(at.name)}' with multiplier {factor:g} and offset {offset:g}, "
            f"which is too large to compute with; give at most {LARGEST_FOLLOWING:g} (m and rad)",
        )
    return Following(at.name, factor, offset)


def _next(
    robot: Description, joint: JointElement, at: JointElement, moving: Mapping[str, JointElement]
) -> JointElement:
    assert at.mimics is not None
    leader = at.mimics.joint
    if leader in moving:
        return moving[leader]
    known = next((other for other in robot.joints if other.name == leader), None)
    way = f"; hold it still with --lock '{shown(joint.name)}=0', or remove its <mimic>"
    if known is None:
        raise _error(robot, joint, f"mimics joint '{shown(leader)}', which does not exist{way}")
    if known.kind == "fixed":
        raise _error(robot, joint, f"mimics joint '{shown(leader)}', which is fixed{way}")
    raise _error(
        robot, joint, f"mimics joint '{shown(leader)}', which --root and --tip leave out{way}"
    )


def _error(robot: Description, joint: JointElement, message: str) -> RobotError:
    return robot.error(joint.line, f"joint '{shown(joint.name)}'", message)
