"""Closed loops of URDF files: ``<loop>`` of URDF+ (arXiv 2411.19753) and ``<loop_joint>`` of old
versions of Drake, as revolute and ball joints between two links."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from lxml import etree

from symgen.errors import RobotError
from symgen.reading.loop_elements import LoopElement
from symgen.reading.xml_reader import XmlNode

ENDS: Final = {"loop": ("predecessor", "successor"), "loop_joint": ("link1", "link2")}
"""The elements of the two links of a loop, by its tag. The place of the cut joint is in their
<origin> or in their own attributes."""
KINDS: Final = ("revolute", "continuous", "ball", "spherical")
"""The types of cut joints at which two points stay together."""


def loops_of(root: XmlNode) -> tuple[list[LoopElement], list[XmlNode]]:
    """The loops of a file, and the elements for loops of another type, without two links or with
    the name of another loop."""
    loops, others = list[LoopElement](), list[XmlNode]()
    for node in (node for node in root if node.tag in ENDS):
        loop = None
        with suppress(RobotError):
            loop = _loop(node)
        if loop is None or any(loop.name == other.name for other in loops):
            others.append(node)
        else:
            loops.append(loop)
    return loops, others


def _loop(node: XmlNode) -> LoopElement | None:
    """The loop of an element, None for a type of joint that is not read. Raises RobotError for an
    element without a name or two links."""
    if node.element.get("type") not in KINDS:
        return None
    links, points = [], []
    for tag in ENDS[node.tag]:
        end = node.required(tag, "link")
        place = end.only("origin") or end
        links.append(end.text("link"))
        points.append(place.triple("xyz", (0.0, 0.0, 0.0)))
    (first, second), (at_first, at_second) = links, points
    return LoopElement(
        node.text("name"), node.line, (first, second), (at_first, at_second), optional=True
    )


def write_loops(root: etree._Element, loops: Sequence[LoopElement]) -> None:
    """Add ``<loop>`` elements to a URDF, and mark the joints that loops name as dependent."""
    dependent = {name for loop in loops for name in loop.dependent}
    for joint in root.iter("joint"):
        if joint.get("name") in dependent:
            joint.set("independent", "false")
    for loop in loops:
        node = etree.SubElement(root, "loop", {"name": loop.name, "type": "revolute"})
        for tag, link, point in zip(ENDS["loop"], loop.links, loop.points, strict=True):
            end = etree.SubElement(node, tag, {"link": link})
            etree.SubElement(end, "origin", {"xyz": " ".join(repr(float(x)) for x in point)})
