"""Joints of SDFormat as joints of a `RobotDescription`, and their rotors in Drake's extension of
the format (``<drake:rotor_inertia>`` and ``<drake:gear_ratio>`` in ``<joint>``)."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from symgen.mechanics.model import Limits, PerCoordinate
from symgen.mechanics.spatial import Pose, Triple
from symgen.numbers.decimals import norm
from symgen.reading.description import DriveElement, JointElement, LinkElement, LoopElement, Mimic
from symgen.reading.joint_kinds import FIXED, JOINTS, merged
from symgen.reading.joint_kinds import has_one_coordinate as is_single
from symgen.reading.rotations import origin_from_pose, rotation_from_rpy, with_z_along
from symgen.reading.sdf.scopes import (
    MODEL_FRAME,
    Frames,
    Scope,
    bound,
    flag,
    number,
    text,
)
from symgen.reading.urdf.transmissions import GEAR_RATIO_TAG, ROTOR_INERTIA_TAG, drake_number
from symgen.reading.xml_reader import XmlNode
from symgen.text import shown

FRAME_TOLERANCE: Final = 1e-9
"""A joint's frame that is this near to its child link's (m, rad) is that."""

Constants = tuple[float, ...]


@dataclass(frozen=True)
class SdfJoint:
    """A joint with its element, the scope it stands in, and the frames of the file."""

    node: XmlNode
    scope: Scope
    frames: Frames

    @property
    def name(self) -> str:
        """The joint's name in the whole file."""
        return self.scope.prefix + self.node.text("name")

    @property
    def is_gearbox(self) -> bool:
        """Whether it only ties others."""
        return self.node.text("type").strip() == GEARBOX

    def axis(self, tag: str = "axis") -> Triple:
        """A unit axis in the joint's frame. In SDFormat 1.4 it is said in the model's frame, later
        in the joint's own, unless the file says otherwise. Raises RobotError."""
        node = self.node.single_child(tag)
        if node is None:
            raise self.node.error(f"has no <{tag}>; add <{tag}><xyz>0 0 1</xyz></{tag}>")
        xyz = node.single_child("xyz")
        x, y, z = (0.0, 0.0, 1.0) if xyz is None else xyz.text_numbers(3)
        frame = (xyz.element.get("expressed_in") or "") if xyz is not None else ""
        if self.scope.version < (1, 5) or flag(node, "use_parent_model_frame"):
            frame = frame or MODEL_FRAME
        if not (x or y or z):
            raise self.node.error(f"<xyz> of its {tag} is zero; give a direction such as 0 0 1")
        if frame:
            to_joint = self.frames.pose(self.name).inverse
            joint_axis = self.frames.pose(self.scope.absolute(frame), by=self.node)
            x, y, z = (to_joint @ joint_axis).rotate((x, y, z))
        length = norm(x, y, z)
        return (x / length + 0.0, y / length + 0.0, z / length + 0.0)


def _second_axis(joint: SdfJoint) -> Constants:
    a, b = joint.axis(), joint.axis("axis2")
    if abs(sum(x * y for x, y in zip(a, b, strict=True))) > 1e-6:
        raise joint.node.error("axis2 of a universal joint is not perpendicular to its axis")
    return b


def _pitch(joint: SdfJoint) -> Constants:
    """The pitch (m/rad) of a right-handed thread: SDFormat's screw_thread_pitch is in m a turn, its
    older thread_pitch in rad/m, positive for a left-handed thread."""
    new, old = (
        joint.node.single_child("screw_thread_pitch"),
        joint.node.single_child("thread_pitch"),
    )
    if new is not None:
        return (new.text_number() / (2 * math.pi),)
    if old is None or not old.text_number():
        raise joint.node.error("has no pitch; add <screw_thread_pitch> (m in one turn)")
    return (-1.0 / old.text_number(),)


CONSTANTS: Final[dict[str, Callable[[SdfJoint], Constants]]] = {
    **dict.fromkeys(("revolute", "continuous", "prismatic", FIXED, "ball"), lambda joint: ()),
    "universal": _second_axis,
    "screw": _pitch,
}
"""The joint types that are read, each with its constants besides the axis."""
GEARBOX: Final = "gearbox"
"""The type of a joint that couples two others and carries no link (see `with_gearboxes`)."""


def joint_elements(joint: SdfJoint) -> Iterator[LinkElement | JointElement]:
    """A joint; where its frame is not that of its child link, also the link without mass that
    moves there, called CHILD.JOINT, and the fixed joint from that to the child. Raises
    RobotError."""
    if joint.is_gearbox:
        return
    kind = joint.node.text("type").strip()
    if kind not in CONSTANTS:
        words = ", ".join(CONSTANTS)
        raise joint.node.error(f"type '{shown(kind)}' is not supported; use one of {words}")
    frames, line = joint.frames, joint.node.line
    ends = [joint.scope.absolute(text(joint.node, tag)) for tag in ("parent", "child")]
    parent, child = (frames.link(end, joint.node) for end in ends)
    at = frames.pose(joint.name)
    origin = frames.pose(parent).inverse @ at
    to_child = at.inverse @ frames.pose(child)
    moved_link = (
        child if kind == FIXED or _is_identity(to_child) else f"{child}.{joint.node.text('name')}"
    )
    where = origin @ to_child if kind == FIXED else origin
    yield _joint(joint, kind, (parent, moved_link), where)
    if moved_link != child:
        yield LinkElement(moved_link, line)
        yield JointElement(
            f"{moved_link}.fixed", line, FIXED, moved_link, child, origin_from_pose(to_child, line)
        )


CUT_JOINTS: Final = {"revolute": "revolute", "continuous": "revolute", "ball": "ball", FIXED: FIXED}
"""The cut joint of a joint that closes a loop."""


def loop_element(joints: Sequence[JointElement]) -> LoopElement | None:
    """The loop that a joint closes, which is the first of some joints (`joint_elements`); None if
    it is not read as a cut joint."""
    joint, *rest = joints
    if joint.kind not in CUT_JOINTS:
        return None
    first, to_child = _pose(joint), Pose()
    for fixed in rest:
        to_child = to_child @ _pose(fixed)
    second = to_child.inverse
    if joint.kind in ("revolute", "continuous"):
        first, second = (
            Pose(with_z_along(pose.rotation, joint.axis), pose.position) for pose in (first, second)
        )
    links, cut = (joint.parent, joints[-1].child), CUT_JOINTS[joint.kind]
    return LoopElement.between(
        joint.name, joint.line, links, (first, second), optional=True, joint=cut
    )


def _pose(joint: JointElement) -> Pose:
    return Pose(rotation_from_rpy(joint.origin.rpy), joint.origin.xyz)


def _is_identity(pose: Pose) -> bool:
    turned = (x - float(i == j) for i, r in enumerate(pose.rotation) for j, x in enumerate(r))
    return all(abs(x) <= FRAME_TOLERANCE for x in (*turned, *pose.position))


def _joint(joint: SdfJoint, kind: str, ends: tuple[str, str], at: Pose) -> JointElement:
    line, (parent, child) = joint.node.line, ends
    first = joint.node.single_child("axis")
    single = is_single(kind) and first is not None
    mimic = next((m for axis in axes(joint.node) if (m := _mimic(joint, axis))), None)
    limits = _limits(first) if single and first is not None else Limits()
    endless = kind == "revolute" and limits.lower is None and limits.upper is None
    return JointElement(
        joint.name,
        line,
        "continuous" if endless else kind,
        parent,
        child,
        origin_from_pose(at, line),
        joint.axis() if kind in JOINTS and JOINTS[kind].axis else (1.0, 0.0, 0.0),
        limits,
        _constant(joint, kind, "damping"),
        _constant(joint, kind, "friction"),
        mimic,
        CONSTANTS[kind](joint),
        _constant(joint, kind, "spring_stiffness"),
        _constant(joint, kind, "spring_reference"),
    )


def axes(joint: XmlNode) -> tuple[XmlNode, ...]:
    """Both axes of a joint, as far as it has them."""
    return (*joint.children("axis"), *joint.children("axis2"))


def _limits(axis: XmlNode) -> Limits:
    node = axis.single_child("limit")
    if node is None:
        return Limits()
    lower, upper = bound(node, "lower"), bound(node, "upper")
    limits = (bound(node, tag) for tag in ("velocity", "effort"))
    velocity, effort = (None if x is None or x < 0 else x for x in limits)
    return Limits(lower, upper, velocity, effort)


def _constant(joint: SdfJoint, kind: str, tag: str) -> PerCoordinate:
    """A constant of <dynamics>: of a universal joint that of <axis> and that of <axis2>; of other
    joints that of <axis> for all coordinates, as Drake has it for ball joints."""
    if kind == FIXED:
        return 0.0
    tags = ("axis", "axis2") if kind == "universal" else ("axis",)
    nodes = [
        axis.single_child("dynamics") if (axis := joint.node.single_child(t)) else None
        for t in tags
    ]
    return merged(0.0 if node is None else number(node, tag, 0.0) for node in nodes)


def _mimic(joint: SdfJoint, axis: XmlNode) -> Mimic | None:
    """SDFormat's: multiplier times (leader minus reference) plus offset."""
    node = axis.single_child("mimic")
    if node is None:
        return None
    multiplier, offset = number(node, "multiplier", 1.0), number(node, "offset", 0.0)
    leader = joint.scope.absolute(node.text("joint"))
    shift = offset - multiplier * number(node, "reference", 0.0)
    return Mimic(node.line, leader, multiplier, shift)


def drives(models: Sequence[Scope], joints: Collection[str]) -> Iterator[DriveElement]:
    """The drives of those of the `joints` that state the inertia of a rotor (kg m²) or a gear
    ratio. The ratio of a rotor is 1 where none is given, as in Drake. Raises RobotError."""
    for model in models:
        for node in model.node.children("joint"):
            name = model.prefix + node.text("name")
            parts = [*node.with_label(f"joint '{shown(name)}'")]
            inertia, ratio = (
                drake_number([part for part in parts if part.tag == tag], tag, XmlNode.text_number)
                for tag in (ROTOR_INERTIA_TAG, GEAR_RATIO_TAG)
            )
            if name in joints and (inertia is not None or ratio is not None):
                default = None if inertia is None else 1.0
                yield DriveElement(name, node.line, default if ratio is None else ratio, inertia)


DIRECTION_TOLERANCE: Final = 1e-6
"""Two axes whose directions differ by no more are one."""
IGNORED_GEARBOX: Final = "a gearbox is ignored, so its joints move freely: "


GearboxSide = tuple[JointElement, float]
"""A joint at one side of a gearbox, and the sign of its angle relative to that of the gearbox."""


class _GearboxIgnored(Exception):
    """Why a gearbox ties no two joints."""


def with_gearboxes(
    joints: Sequence[JointElement],
    links: Iterable[LinkElement],
    gearboxes: Iterable[SdfJoint],
    frames: Frames,
) -> list[JointElement]:
    """The joints of a model, some of which follow others by its gearboxes; a warning of a gearbox
    that ties no two of them."""
    by_name = {joint.name: joint for joint in joints}
    intermediate_links = {link.name for link in links}
    for gearbox in gearboxes:
        try:
            (driver, driver_sign), (driven, driven_sign), ratio = _coupled_joints(
                gearbox, [*by_name.values()], intermediate_links, frames
            )
        except _GearboxIgnored as error:
            gearbox.node.notice("warning", f"{IGNORED_GEARBOX}{error}")
            continue
        mimic = Mimic(gearbox.node.line, driver.name, -ratio * driver_sign * driven_sign)
        by_name[driven.name] = replace(driven, mimics=mimic)
    return [*by_name.values()]


def _coupled_joints(
    gearbox: SdfJoint, joints: Sequence[JointElement], intermediate_links: set[str], frames: Frames
) -> tuple[GearboxSide, GearboxSide, float]:
    reference = text(gearbox.node, "gearbox_reference_body", "")
    if not reference:
        raise _GearboxIgnored("it has no <gearbox_reference_body>")
    ends = (text(gearbox.node, tag) for tag in ("parent", "child"))
    names = [frames.link(gearbox.scope.absolute(end), gearbox.node) for end in (reference, *ends)]
    first, second = (
        _joint_between(gearbox, joints, intermediate_links, frames, (names[0], end), tag)
        for end, tag in zip(names[1:], ("axis", "axis2"), strict=True)
    )
    if second[0].mimics is not None:
        raise _GearboxIgnored(f"joint '{shown(second[0].name)}' already follows another joint")
    return first, second, number(gearbox.node, "gearbox_ratio", 1.0)


def _joint_between(
    gearbox: SdfJoint,
    joints: Sequence[JointElement],
    intermediate_links: set[str],
    frames: Frames,
    ends: tuple[str, str],
    tag: str,
) -> GearboxSide:
    """The joint between two links, whichever way round."""
    for joint in joints:
        if joint.kind not in ("revolute", "continuous"):
            continue
        links = joint.parent, _moved_link(joint, joints, intermediate_links)
        if links in (ends, ends[::-1]):
            driven_sign = 1.0 if links == ends else -1.0
            return joint, driven_sign * _axis_sign(gearbox, joint, frames, tag)
    raise _GearboxIgnored(f"no revolute joint is between '{shown(ends[0])}' and '{shown(ends[1])}'")


def _moved_link(
    joint: JointElement, joints: Sequence[JointElement], intermediate_links: set[str]
) -> str:
    """The link of the file that a joint moves: that which is fixed to a link that stands between
    (see `joint_elements`)."""
    name = f"{joint.child}.fixed"
    fixed = next(
        (
            element
            for element in joints
            if element.name == name and joint.child in intermediate_links
        ),
        None,
    )
    return joint.child if fixed is None else fixed.child


def _axis_sign(gearbox: SdfJoint, joint: JointElement, frames: Frames, tag: str) -> float:
    """1 where the gearbox's axis is that of the joint, -1 where it is opposite."""
    if gearbox.node.single_child(tag) is None:
        return 1.0
    gearbox_axis = frames.pose(gearbox.name).rotate(gearbox.axis(tag))
    joint_axis = frames.pose(joint.name).rotate(joint.axis)
    cosine = sum(x * y for x, y in zip(gearbox_axis, joint_axis, strict=True))
    if abs(abs(cosine) - 1.0) > DIRECTION_TOLERANCE:
        raise _GearboxIgnored(f"its {tag} differs from that of joint '{shown(joint.name)}'")
    return 1.0 if cosine > 0 else -1.0
