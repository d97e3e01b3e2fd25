"""Couplings of joints in URDF files: ``<mimic>``, ``<ros2_control>`` and ``<coupling>``.

A joint has one ``<mimic>`` for each joint that it follows. In ``<ros2_control>`` it has the
parameters ``mimic``, ``multiplier`` and ``offset``. URDF+ (Chignoli et al., URDF+: an enhanced URDF
for robots with kinematic loops, arXiv 2411.19753) couples the joints between two links and their
nearest common ancestor by a ``<coupling>`` with a ``<ratio>``; joints with ``independent="false"``
follow the others. With q the coordinates of the joints from that ancestor to a link,

    ratio Σ q (to the predecessor) = Σ q (to the successor)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from symgen.reading.description import (
    JointElement,
    LinearFunction,
    Mimic,
    joint_above,
    with_mimics,
)
from symgen.reading.joint_kinds import FIXED, has_one_coordinate
from symgen.reading.xml_reader import XML_SPACE, XmlNode
from symgen.text import quoted, shown

# -- <mimic> and <ros2_control> --------------------------------------------------------------------


def mimic_of(joint: XmlNode) -> Mimic | None:
    """The sum of the ``<mimic>`` elements of a joint, None if it has none. Raises RobotError."""
    factors, offset = dict[str, float](), 0.0
    nodes = joint.children("mimic")
    for node in nodes:
        multiplier, shift = node.optional("multiplier"), node.optional("offset") or 0.0
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
        known = controls.setdefault(name, (node, mimic))[1]
        if known.law != mimic.law:
            raise node.error(
                "follows a different joint in another mimic parameter of <ros2_control> "
                f"(line {known.line}); keep one of them"
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
            parameters[word].with_label(node.label).content() if word in parameters else default
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
    free = {name for name in dependent if name in by_name and by_name[name].mimics is None}
    solved, unused = _solved(equations, free)
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
    above = joint_above(joints)
    ends = [coupling.required(tag, "link").text("link") for tag in ("predecessor", "successor")]
    for link in ends:
        if link not in above and all(joint.parent != link for joint in joints):
            raise coupling.error(f"link '{shown(link)}' does not exist; correct its name")
    ratio = coupling.required("ratio", "value").number("value")
    to_predecessor, to_successor = ([*_path(above, link)][::-1] for link in ends)
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


def _path(above: Mapping[str, JointElement], link: str) -> Iterator[str]:
    """The joints from a link to the root; of a file whose joints form a cycle, each once."""
    visited = set[str]()
    while link in above and link not in visited:
        visited.add(link)
        yield above[link].name
        link = above[link].parent


def _solved(
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
