"""Joints that close loops, as URDF files say them in the words of others: loops are left open,
which is said."""

from collections.abc import Iterator
from typing import Final

from symgen.reading.xml_reader import XmlNode
from symgen.text import quoted

LOOP_TAGS: Final = ("loop", "loop_joint", "drake:ball_constraint", "drake:linear_bushing_rpy")
"""Elements of <robot> that tie two links which joints carry already."""


def note_loops(root: XmlNode) -> None:
    """A warning that names all that closes loops, where there is anything."""
    closing = [(node, node.element.get("name") or f"<{node.tag}>") for node in _closing(root)]
    if closing:
        names = quoted(dict.fromkeys(name for _, name in closing))
        verb = "closes a loop, which is" if len(closing) == 1 else "close loops, which are"
        closing[0][0].called(f"<{closing[0][0].tag}>").notice(
            "warning", LEFT_OPEN.format(names, verb)
        )


LEFT_OPEN: Final = "{} {} left open: the parts move freely, each with its own coordinates"


def _closing(root: XmlNode) -> Iterator[XmlNode]:
    yield from (node for node in root if node.tag in LOOP_TAGS)
    for gazebo in root.children("gazebo"):
        if not gazebo.element.get("reference"):
            yield from gazebo.children("joint")
