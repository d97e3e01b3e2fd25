"""Gearboxes of SDFormat: joints that carry no link and tie the angles of two others.

With θ₁ the angle from the reference body to the gearbox's parent about its axis, and θ₂ that to its
child about axis2, θ₂ = -ratio θ₁ (SDFormat, gearbox_reference_body). Where both are the angles of
joints the second follows the first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from symgen.mechanics.pose import Triple
from symgen.reading.description import JointElement, LinkElement, Mimic
from symgen.reading.sdf.frames import Frames
from symgen.reading.sdf.joints import SdfJoint
from symgen.reading.sdf.values import number, text
from symgen.text import shown

PARALLEL: Final = 1e-6
"""Two axes whose directions differ by no more are one."""
LEFT: Final = "a gearbox is ignored, so its joints move freely: "


@dataclass(frozen=True)
class Side:
    """A joint at one side of a gearbox, and the sign of its angle beside that of the gearbox."""

    joint: JointElement
    sign: float


class _Odd(Exception):
    """Why a gearbox ties no two joints."""


def geared(
    joints: Sequence[JointElement],
    links: Iterable[LinkElement],
    boxes: Iterable[SdfJoint],
    frames: Frames,
) -> list[JointElement]:
    """The joints of a model, some of which follow others by its gearboxes; a warning of a gearbox
    that ties no two of them."""
    by_name = {joint.name: joint for joint in joints}
    inner = {link.name for link in links}
    for box in boxes:
        try:
            driver, driven, ratio = _sides(box, [*by_name.values()], inner, frames)
        except _Odd as error:
            box.node.notice("warning", f"{LEFT}{error}")
            continue
        by = -ratio * driver.sign * driven.sign
        tie = Mimic(box.node.line, driver.joint.name, by)
        by_name[driven.joint.name] = replace(driven.joint, mimics=tie)
    return [*by_name.values()]


def _sides(
    box: SdfJoint, joints: Sequence[JointElement], inner: set[str], frames: Frames
) -> tuple[Side, Side, float]:
    reference = text(box.node, "gearbox_reference_body", "")
    if not reference:
        raise _Odd("it has no <gearbox_reference_body>")
    ends = (text(box.node, tag) for tag in ("parent", "child"))
    names = [frames.link(box.scope.absolute(end), box.node) for end in (reference, *ends)]
    first, second = (
        _side(box, joints, inner, frames, (names[0], end), tag)
        for end, tag in zip(names[1:], ("axis", "axis2"), strict=True)
    )
    if second.joint.mimics is not None:
        raise _Odd(f"joint '{shown(second.joint.name)}' already follows another joint")
    return first, second, number(box.node, "gearbox_ratio", 1.0)


def _side(
    box: SdfJoint,
    joints: Sequence[JointElement],
    inner: set[str],
    frames: Frames,
    ends: tuple[str, str],
    tag: str,
) -> Side:
    """The joint between two links, whichever way round."""
    for joint in joints:
        if joint.kind not in ("revolute", "continuous"):
            continue
        tied = joint.parent, _carried(joint, joints, inner)
        if tied in (ends, ends[::-1]):
            sign = 1.0 if tied == ends else -1.0
            return Side(joint, sign * _alike(box, joint, frames, tag))
    raise _Odd(f"no revolute joint is between '{shown(ends[0])}' and '{shown(ends[1])}'")


def _carried(joint: JointElement, joints: Sequence[JointElement], inner: set[str]) -> str:
    """The link of the file that a joint moves: that which is fixed to a link that stands between
    (see `joint_elements`)."""
    name = f"{joint.child}.fixed"
    fixed = next(
        (element for element in joints if element.name == name and joint.child in inner), None
    )
    return joint.child if fixed is None else fixed.child


def _alike(box: SdfJoint, joint: JointElement, frames: Frames, tag: str) -> float:
    """1 where the gearbox's axis is that of the joint, -1 where it is opposite."""
    if box.node.only(tag) is None:
        return 1.0
    of_box = frames.pose(box.name).turn(box.axis(tag))
    other = frames.pose(joint.name).turn(joint.axis)
    along = _dot(of_box, other)
    if abs(abs(along) - 1.0) > PARALLEL:
        raise _Odd(f"its {tag} differs from that of joint '{shown(joint.name)}'")
    return 1.0 if along > 0 else -1.0


def _dot(a: Triple, b: Triple) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
