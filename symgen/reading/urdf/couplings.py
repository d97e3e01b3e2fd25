"""Couplings of joints in URDF files (``<mimic>``, ``<ros2_control>`` and ``<coupling>``) and closed
loops (``<loop>`` of URDF+, ``<loop_joint>`` of old versions of Drake, ``<drake:ball_constraint>``,
and joints in ``<gazebo>``).

A joint has one ``<mimic>`` for each joint that it follows. In ``<ros2_control>`` it has the
parameters ``mimic``, ``multiplier`` and ``offset``. URDF+ (Chignoli et al., URDF+: an enhanced URDF
for robots with kinematic loops, arXiv 2411.19753) couples the joints between two links and their
nearest common ancestor by a ``<coupling>`` with a ``<ratio>``; joints with ``independent="false"``
follow the others. With q the coordinates of the joints from that ancestor to a link,

    ratio Σ q (to the predecessor) = Σ q (to the successor)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Final

from lxml import etree

from symgen.errors import RobotError
from symgen.mechanics.spatial import Pose
from symgen.reading.description import (
    JointElement,
    LinearFunction,
    LoopElement,
    Mimic,
    joint_above,
    with_mimics,
)
from symgen.reading.joint_kinds import FIXED, has_one_coordinate
from symgen.reading.rotations import rotation_from_rpy, rpy_from_rotation, with_z_along
from symgen.reading.xml_reader import XML_SPACE, XmlNode
from symgen.text import quoted, shown

# -- <mimic> and <ros2_control> --------------------------------------------------------------------


def mimic_of(joint: XmlNode) -> Mimic | None:
    """The sum of the ``<mimic>`` elements of a joint, None if it has none. Raises RobotError."""
    factors, offset = dict[str, float](), 0.0
    nodes = joint.children("mimic")
    for node in nodes:
        multiplier, shift = (
            node.optional_number("multiplier"),
            node.optional_number("offset") or 0.0,
        )
        leader = node.text("joint")
        if leader in factors:
            raise node.error(f"a second <mimic> of joint '{shown(leader)}'; keep one of them")
        factors[leader] = 1.0 if multiplier is None else multiplier
        offset += shift
    law = LinearFunction(tuple(factors.items()), offset)
    return Mimic.of(nodes[0].line, law) if nodes else None


def with_ros2_control(root: XmlNode, joints: Sequence[JointElement]) -> tuple[JointElement, ...]:
    """The joints with the couplings of ``<ros2_control>``. Raises RobotError."""
    controls: dict[str, tuple[XmlNode, Mimic]] = {}
    for node, name, mimic in _ros2_mimics(root):
        earlier = controls.setdefault(name, (node, mimic))[1]
        if earlier.law != mimic.law:
            raise node.error(
                "follows a different joint in another mimic parameter of <ros2_control> "
                f"(line {earlier.line}); keep one of them"
            )
    coupled = []
    for joint in joints:
        if joint.kind != FIXED and joint.name in controls:
            node, mimic = controls[joint.name]
            if joint.mimics is None:
                joint = replace(joint, mimics=mimic)
            elif joint.mimics.law != mimic.law:
                node.notice(
                    "warning",
                    f"<ros2_control> differs from its <mimic> (line {joint.mimics.line}); the "
                    "<mimic> is used",
                )
        coupled.append(joint)
    return tuple(coupled)


def _ros2_mimics(root: XmlNode) -> Iterator[tuple[XmlNode, str, Mimic]]:
    """The joints of ``<ros2_control>`` that follow others, with their names. Raises RobotError."""
    controls = root.children("ros2_control")
    for joint in (node for control in controls for node in control.children("joint")):
        parameters = {child.element.get("name"): child for child in joint.children("param")}
        if "mimic" not in parameters:
            continue
        name = joint.element.get("name") or ""
        node = joint.with_label(f"joint '{shown(name)}'")
        leader = (parameters["mimic"].element.text or "").strip(XML_SPACE)
        if not leader:
            raise node.error(
                "its parameter mimic names no joint; write the name of the joint that it follows"
            )
        multiplier, offset = (
            parameters[word].with_label(node.label).text_number() if word in parameters else default
            for word, default in (("multiplier", 1.0), ("offset", 0.0))
        )
        yield node, name, Mimic(node.line, leader, multiplier, offset)


# -- <coupling> of URDF+ ---------------------------------------------------------------------------

COUPLING: Final = "coupling"

Equation = tuple[XmlNode, LinearFunction]
"""A coupling, and the function of coordinates that is 0."""


def with_couplings(
    root: XmlNode, joints: Sequence[JointElement], dependent: set[str]
) -> tuple[JointElement, ...]:
    """The joints, of which those in `dependent` follow the others by the couplings of a file.

    A coupling that determines no dependent joint gives a warning. Raises RobotError for a coupling
    that is no equation of joints with one coordinate."""
    by_name = {joint.name: joint for joint in joints}
    equations = [_equation(node, joints, by_name) for node in root.children(COUPLING)]
    solvable = {name for name in dependent if name in by_name and by_name[name].mimics is None}
    solved, unused = _solved_equations(equations, solvable)
    if unused:
        names = quoted(node.element.get("name") or "" for node in unused)
        verb = "determines" if len(unused) == 1 else "determine"
        unused[0].with_label("<coupling>").notice(
            "warning",
            f'{names} {verb} no joint with independent="false", so that the coupled '
            "joints move freely",
        )
    return with_mimics(joints, solved)


def dependent_joints(nodes: Sequence[XmlNode]) -> set[str]:
    """The names of joints with ``independent="false"``."""
    return {
        node.element.get("name") or ""
        for node in nodes
        if (node.element.get("independent") or "").strip().lower() in ("false", "0")
    }


def _equation(
    node: XmlNode, joints: Sequence[JointElement], by_name: Mapping[str, JointElement]
) -> Equation:
    """The equation of a coupling. Raises RobotError."""
    coupling = node.with_label(f"coupling '{shown(node.element.get('name') or '')}'")
    parents = joint_above(joints)
    ends = [
        coupling.required_child(tag, "link").text("link") for tag in ("predecessor", "successor")
    ]
    for link in ends:
        if link not in parents and all(joint.parent != link for joint in joints):
            raise coupling.error(f"link '{shown(link)}' does not exist; correct its name")
    ratio = coupling.required_child("ratio", "value").number("value")
    to_predecessor, to_successor = (
        [x.name for x in _joints_to_root(parents, link)][::-1] for link in ends
    )
    shared = set(to_predecessor) & set(to_successor)
    factors: dict[str, float] = {}
    for path, factor in ((to_predecessor, ratio), (to_successor, -1.0)):
        for name in (name for name in path if name not in shared):
            kind = by_name[name].kind
            if kind != FIXED and not has_one_coordinate(kind):
                raise coupling.error(
                    f"joint '{shown(name)}' on its path is {kind}, with several "
                    "coordinates; only joints with one coordinate can be coupled"
                )
            if kind != FIXED:
                factors[name] = factors.get(name, 0.0) + factor
    return coupling, LinearFunction(tuple((name, x) for name, x in factors.items() if x))


def _joints_to_root(parents: Mapping[str, JointElement], link: str) -> Iterator[JointElement]:
    """The joints from a link to the root; of a file whose joints form a cycle, each once."""
    visited = set[str]()
    while link in parents and link not in visited:
        visited.add(link)
        yield parents[link]
        link = parents[link].parent


def _solved_equations(
    equations: Sequence[Equation], dependent: set[str]
) -> tuple[dict[str, Mimic], list[XmlNode]]:
    """The laws of dependent joints by Gaussian elimination with the largest pivots, and the
    couplings that determine no joint."""
    laws, lines, unused = dict[str, LinearFunction](), dict[str, int](), list[XmlNode]()
    for node, equation in equations:
        equation, pivot = equation.pivot(laws, dependent)
        if not pivot or len(equation.terms) < 2:
            unused.append(node)
            continue
        solution = equation.solve_for(pivot)
        laws = {name: law.compose({pivot: solution}) for name, law in laws.items()}
        laws[pivot], lines[pivot] = solution, node.line
    return {name: Mimic.of(lines[name], law) for name, law in laws.items() if law.terms}, unused


# -- closed loops ----------------------------------------------------------------------------------

END_TAGS: Final = {"loop": ("predecessor", "successor"), "loop_joint": ("link1", "link2")}
"""The elements of the two links of a loop, by its tag. The place of the cut joint is in their
<origin> or in their own attributes."""
BALL_CONSTRAINT_TAG: Final = "drake:ball_constraint"
BUSHING_TAG: Final = "drake:linear_bushing_rpy"
LOOP_TAGS: Final = (*END_TAGS, BALL_CONSTRAINT_TAG, BUSHING_TAG)
"""Elements of <robot> that connect two links which are connected by other joints already."""
CUT_JOINTS: Final = {
    "revolute": "revolute",
    "continuous": "revolute",
    "ball": "ball",
    "spherical": "ball",
    "fixed": "fixed",
}
"""The cut joint by the type of an element."""
ZERO_VECTOR: Final = (0.0, 0.0, 0.0)


def loops_of(
    root: XmlNode, joints: Sequence[JointElement]
) -> tuple[list[LoopElement], list[XmlNode]]:
    """The loops of a file with these joints, and the elements for loops of another type, without
    two links or with the name of another loop."""
    parents = joint_above(joints)
    loops, unread = list[LoopElement](), list[XmlNode]()
    joints_of_gazebo = (
        gazebo.children("joint")
        for gazebo in root.children("gazebo")
        if not gazebo.element.get("reference")
    )
    for node in chain((n for n in root if n.tag in LOOP_TAGS), *joints_of_gazebo):
        loop = None
        with suppress(RobotError):
            loop = LOOP_READERS[node.tag](node, parents)
        if loop is None or any(loop.name == other.name for other in loops):
            unread.append(node)
        else:
            loops.append(loop)
    return loops, unread


ParentJoints = Mapping[str, JointElement]
"""The joint that carries each link."""


def _between_frames(node: XmlNode, parents: ParentJoints) -> LoopElement | None:
    """The loop of an element with two frames, None for a type of joint that is not read. Without
    an axis a revolute joint is read as a ball joint, which moves alike in a planar loop. Raises
    RobotError for an element without a name or two links."""
    joint = CUT_JOINTS.get(node.element.get("type") or "")
    if joint is None:
        return None
    axis = node.single_child("axis")
    links, frames = list[str](), list[Pose]()
    for tag in END_TAGS[node.tag]:
        end = node.required_child(tag, "link")
        place = end.single_child("origin") or end
        links.append(end.text("link"))
        point = place.triple("xyz", ZERO_VECTOR)
        rotation = rotation_from_rpy(place.triple("rpy", ZERO_VECTOR))
        if joint == "revolute" and axis is not None:
            rotation = with_z_along(rotation, axis.triple("xyz"))
        frames.append(Pose(rotation, point))
    joint = "ball" if joint == "revolute" and axis is None else joint
    return LoopElement.between(
        node.text("name"), node.line, links, frames, optional=True, joint=joint
    )


def _ball_constraint(node: XmlNode, parents: ParentJoints) -> LoopElement | None:
    """A constraint of Drake, which has no name: that of its element with its line. None without two
    bodies and points. Raises RobotError."""
    children = {part.tag.removeprefix(f"{node.tag}_"): part for part in node}
    if not {"body_A", "body_B", "p_AP", "p_BQ"} <= children.keys():
        return None
    first, second = (children[f"body_{x}"].text("name") for x in "AB")
    at_first, at_second = (children[x].triple("value") for x in ("p_AP", "p_BQ"))
    name = f"ball_constraint_{node.line}"
    return LoopElement(name, node.line, (first, second), (at_first, at_second), optional=True)


def _gazebo_joint(node: XmlNode, parents: ParentJoints) -> LoopElement | None:
    """A joint as in SDF. Its frame is given in its child link, and in its parent link it is where
    that is with all joints at 0. None for a type that is not read and for a pose in another frame.
    Raises RobotError."""
    joint, pose = CUT_JOINTS.get(node.element.get("type") or ""), node.single_child("pose")
    if joint is None or (pose is not None and pose.element.get("relative_to")):
        return None
    x, y, z, *rpy = (0.0,) * 6 if pose is None else pose.text_numbers(6)
    rotation = rotation_from_rpy((rpy[0], rpy[1], rpy[2]))
    axis = node.single_child("axis")
    if joint == "revolute" and axis is not None:
        xyz = axis.single_child("xyz")
        a, b, c = (0.0, 0.0, 1.0) if xyz is None else xyz.text_numbers(3)
        rotation = with_z_along(rotation, (a, b, c))
    ends = (node.single_child(tag) for tag in ("parent", "child"))
    parent, child = ("" if x is None else (x.element.text or "").strip(XML_SPACE) for x in ends)
    second = Pose(rotation, (x, y, z))
    first = (
        _link_pose_at_zero(parents, parent).inverse @ _link_pose_at_zero(parents, child) @ second
    )
    links, frames = (parent, child), (first, second)
    return LoopElement.between(
        node.text("name"), node.line, links, frames, optional=True, joint=joint
    )


def _link_pose_at_zero(parents: ParentJoints, link: str) -> Pose:
    """The frame of a link in that of its root with all joints at 0."""
    pose = Pose()
    for joint in _joints_to_root(parents, link):
        pose = Pose(rotation_from_rpy(joint.origin.rpy), joint.origin.xyz) @ pose
    return pose


LOOP_READERS: Final[dict[str, Callable[[XmlNode, ParentJoints], LoopElement | None]]] = {
    **dict.fromkeys(END_TAGS, _between_frames),
    BALL_CONSTRAINT_TAG: _ball_constraint,
    "joint": _gazebo_joint,
    BUSHING_TAG: lambda node, parents: None,
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
        ends = zip(END_TAGS["loop"], loop.links, loop.points, loop.rotations, strict=True)
        for tag, link, point, rotation in ends:
            place = {"xyz": point, "rpy": rpy_from_rotation(rotation)}
            texts = {k: " ".join(repr(float(x)) for x in v) for k, v in place.items() if any(v)}
            etree.SubElement(etree.SubElement(node, tag, {"link": link}), "origin", texts)
