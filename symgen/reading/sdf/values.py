"""Values in the elements of an SDFormat file: numbers, flags, poses, as text between tags."""

import math
from typing import Final

from symgen.mechanics.pose import Pose, Triple
from symgen.reading.quaternions import rotation_from_quaternion, rotation_from_rpy
from symgen.reading.xml_reader import NUMBER, XML_SPACE, XmlNode
from symgen.text import shown

ENDLESS: Final = 1e16
"""SDFormat's number for no limit; so is inf."""


def text(node: XmlNode, tag: str, default: str | None = None) -> str:
    """The text of the child `tag`. Raises RobotError where it is missing or blank and there is no
    default."""
    child = node.only(tag)
    content = (child.element.text or "").strip(XML_SPACE) if child is not None else ""
    if content or default is not None:
        return content or str(default)
    raise node.error(f"has no <{tag}>; add <{tag}>...</{tag}>")


def flag(node: XmlNode, tag: str) -> bool:
    """Whether a child says true; no without it."""
    return text(node, tag, "false").lower() in ("1", "true")


def numbers(node: XmlNode, count: int) -> tuple[float, ...]:
    """The text of an element as finite numbers. Raises RobotError."""
    words = (node.element.text or "").split()
    wrong = next((w for w in words if not NUMBER.fullmatch(w) or math.isinf(float(w))), None)
    if wrong is not None:
        raise node.error(
            f"<{shown(node.tag)}> holds '{shown(wrong, 60)}', which is not a finite decimal "
            "number; write it like 0.25 or 2.5e-1"
        )
    if len(words) != count:
        raise node.error(f"<{shown(node.tag)}> has {len(words)} numbers where {count} are needed")
    return tuple(float(w) + 0.0 for w in words)


def number(node: XmlNode, tag: str, default: float) -> float:
    """The number in the child `tag`."""
    child = node.only(tag)
    return default if child is None else numbers(child, 1)[0]


def bound(node: XmlNode, tag: str) -> float | None:
    """A limit, None for none: SDFormat says 1e16, inf, or -1 where it cannot be negative."""
    word = text(node, tag, "inf").lower().lstrip("+-")
    if word in ("inf", "infinity"):
        return None
    value = number(node, tag, 0.0)
    return None if abs(value) >= ENDLESS else value


def triple(node: XmlNode) -> Triple:
    """The text of an element as three numbers."""
    x, y, z = numbers(node, 3)
    return x, y, z


def pose(owner: XmlNode) -> tuple[Pose, str]:
    """The pose of an element, and the frame that it is in (empty: the default of its owner).

    Before SDFormat 1.7 the attribute is called ``frame``. Raises RobotError."""
    node = owner.only("pose")
    if node is None:
        return Pose(), ""
    frame = node.element.get("relative_to") or node.element.get("frame") or ""
    if not (node.element.text or "").strip(XML_SPACE):
        return Pose(), frame
    if node.element.get("rotation_format") == "quat_xyzw":
        x, y, z, *quaternion = numbers(node, 7)
        i, j, k, w = quaternion
        if not any(quaternion):
            raise node.error("the quaternion of <pose> is zero; write 0 0 0 1 for no rotation")
        return Pose(rotation_from_quaternion(w, i, j, k), (x, y, z)), frame
    x, y, z, *angles = numbers(node, 6)
    scale = math.pi / 180 if node.element.get("degrees") in ("true", "1") else 1.0
    roll, pitch, yaw = (angle * scale for angle in angles)
    return Pose(rotation_from_rpy((roll, pitch, yaw)), (x, y, z)), frame
