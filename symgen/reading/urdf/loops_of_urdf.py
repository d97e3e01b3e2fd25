"""Closed loops of URDF files: ``<loop>`` of URDF+ (arXiv 2411.19753), ``<loop_joint>`` of old
versions of Drake, ``<drake:ball_constraint>``, and joints in ``<gazebo>``."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from lxml import etree

from symgen.errors import RobotError
from symgen.mechanics.pose import Matrix3, Pose, Triple
from symgen.reading.description import JointElement, joint_above
from symgen.reading.loop_elements import LoopElement, with_z_along
from symgen.reading.rotations import rotation_from_rpy, rpy_from_rotation
from symgen.reading.xml_reader import XML_SPACE, XmlNode

ENDS: Final = {"loop": ("predecessor", "successor"), "loop_joint": ("link1", "link2")}
"""The elements of the two links of a loop, by its tag. The place of the cut joint is in their
<origin> or in their own attributes."""
BALL_CONSTRAINT: Final = "drake:ball_constraint"
BUSHING: Final = "drake:linear_bushing_rpy"
LOOP_TAGS: Final = (*ENDS, BALL_CONSTRAINT, BUSHING)
"""Elements of <robot> that connect two links which are connected by other joints already."""
CUT_JOINTS: Final = {
    "revolute": "revolute",
    "continuous": "revolute",
    "ball": "ball",
    "spherical": "ball",
    "fixed": "fixed",
}
"""The cut joint by the type of an element."""
ORIGIN: Final = (0.0, 0.0, 0.0)


def loops_of(
    root: XmlNode, joints: Sequence[JointElement]
) -> tuple[list[LoopElement], list[XmlNode]]:
    """The loops of a file with these joints, and the elements for loops of another type, without
    two links or with the name of another loop."""
    above = joint_above(joints)
    loops, others = list[LoopElement](), list[XmlNode]()
    for node in _nodes(root):
        loop = None
        with suppress(RobotError):
            loop = READERS[node.tag](node, above)
        if loop is None or any(loop.name == other.name for other in loops):
            others.append(node)
        else:
            loops.append(loop)
    return loops, others


def _nodes(root: XmlNode) -> Iterator[XmlNode]:
    yield from (node for node in root if node.tag in LOOP_TAGS)
    for gazebo in root.children("gazebo"):
        if not gazebo.element.get("reference"):
            yield from gazebo.children("joint")


Joints = Mapping[str, JointElement]
"""The joint that carries each link."""


def _between_frames(node: XmlNode, above: Joints) -> LoopElement | None:
    """The loop of an element with two frames, None for a type of joint that is not read. Without
    an axis a revolute joint is read as a ball joint, which moves alike in a planar loop. Raises
    RobotError for an element without a name or two links."""
    joint = CUT_JOINTS.get(node.element.get("type") or "")
    if joint is None:
        return None
    axis = node.only("axis")
    links, points, rotations = list[str](), list[Triple](), list[Matrix3]()
    for tag in ENDS[node.tag]:
        end = node.required(tag, "link")
        place = end.only("origin") or end
        links.append(end.text("link"))
        points.append(place.triple("xyz", ORIGIN))
        rotation = rotation_from_rpy(place.triple("rpy", ORIGIN))
        if joint == "revolute" and axis is not None:
            rotation = with_z_along(rotation, axis.triple("xyz"))
        rotations.append(rotation)
    return LoopElement(
        node.text("name"),
        node.line,
        (links[0], links[1]),
        (points[0], points[1]),
        optional=True,
        joint="ball" if joint == "revolute" and axis is None else joint,
        rotations=(rotations[0], rotations[1]),
    )


def _ball_constraint(node: XmlNode, above: Joints) -> LoopElement | None:
    """A constraint of Drake, which has no name: that of its element with its line. None without two
    bodies and points. Raises RobotError."""
    parts = {part.tag.removeprefix(f"{node.tag}_"): part for part in node}
    if not {"body_A", "body_B", "p_AP", "p_BQ"} <= parts.keys():
        return None
    first, second = (parts[f"body_{x}"].text("name") for x in "AB")
    at_first, at_second = (parts[x].triple("value") for x in ("p_AP", "p_BQ"))
    name = f"ball_constraint_{node.line}"
    return LoopElement(name, node.line, (first, second), (at_first, at_second), optional=True)


def _gazebo_joint(node: XmlNode, above: Joints) -> LoopElement | None:
    """A joint as in SDF. Its frame is given in its child link, and in its parent link it is where
    that is with all joints at 0. None for a type that is not read and for a pose in another frame.
    Raises RobotError."""
    joint, pose = CUT_JOINTS.get(node.element.get("type") or ""), node.only("pose")
    if joint is None or (pose is not None and pose.element.get("relative_to")):
        return None
    x, y, z, *rpy = (0.0,) * 6 if pose is None else pose.contents(6)
    rotation = rotation_from_rpy((rpy[0], rpy[1], rpy[2]))
    axis = node.only("axis")
    if joint == "revolute" and axis is not None:
        xyz = axis.only("xyz")
        a, b, c = (0.0, 0.0, 1.0) if xyz is None else xyz.contents(3)
        rotation = with_z_along(rotation, (a, b, c))
    ends = (node.only(tag) for tag in ("parent", "child"))
    parent, child = ("" if x is None else (x.element.text or "").strip(XML_SPACE) for x in ends)
    second = Pose(rotation, (x, y, z))
    first = _pose(above, parent).inverse @ _pose(above, child) @ second
    return LoopElement(
        node.text("name"),
        node.line,
        (parent, child),
        (first.position, second.position),
        optional=True,
        joint=joint,
        rotations=(first.rotation, second.rotation),
    )


def _pose(above: Joints, link: str) -> Pose:
    """The frame of a link in that of its root with all joints at 0."""
    pose, visited = Pose(), set[str]()
    while link in above and link not in visited:
        visited.add(link)
        origin = above[link].origin
        pose = Pose(rotation_from_rpy(origin.rpy), origin.xyz) @ pose
        link = above[link].parent
    return pose


READERS: Final[dict[str, Callable[[XmlNode, Joints], LoopElement | None]]] = {
    **dict.fromkeys(ENDS, _between_frames),
    BALL_CONSTRAINT: _ball_constraint,
    "joint": _gazebo_joint,
    BUSHING: lambda node, above: None,
}
"""How the loop of an element is read, by its tag. A bushing is a spring."""


def write_loops(root: etree._Element, loops: Sequence[LoopElement]) -> None:
    """Add ``<loop>`` elements to a URDF, as far as it has their joints, and mark the joints that
    loops name as dependent."""
    dependent = {name for loop in loops for name in loop.dependent}
    for joint in root.iter("joint"):
        if joint.get("name") in dependent:
            joint.set("independent", "false")
    for loop in (loop for loop in loops if loop.joint in CUT_JOINTS):
        node = etree.SubElement(root, "loop", {"name": loop.name, "type": loop.joint})
        if loop.joint == "revolute":
            etree.SubElement(node, "axis", {"xyz": "0 0 1"})
        ends = zip(ENDS["loop"], loop.links, loop.points, loop.rotations, strict=True)
        for tag, link, point, rotation in ends:
            place = {"xyz": point, "rpy": rpy_from_rotation(rotation)}
            texts = {k: " ".join(repr(float(x)) for x in v) for k, v in place.items() if any(v)}
            etree.SubElement(etree.SubElement(node, tag, {"link": link}), "origin", texts)
