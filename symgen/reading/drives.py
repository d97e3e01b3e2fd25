"""Drives in the transmissions of a URDF: Drake's rotor inertia and gear ratio, ROS's reduction."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from symgen.reading.description import DriveElement
from symgen.reading.extensions import Extension
from symgen.reading.xml_reader import NUMBER, XML_SPACE, XmlNode
from symgen.text import shown

INERTIA: Final = "drake:rotor_inertia"
RATIO: Final = "drake:gear_ratio"
ROTORS: Final = ("motorInertia", "rotorInertia", "motor_inertia", "rotor_inertia")
REDUCTIONS: Final = ("mechanicalReduction", "mechanical_reduction")


def has_rotor(transmission: XmlNode) -> bool:
    """Whether Drake's tag gives a rotor's inertia."""
    return bool(_tagged(_actuators(transmission), INERTIA))


def unread_rotor(transmission: XmlNode) -> bool:
    """Whether it states the inertia of a rotor in a tag that has no definition."""
    parts = (transmission, *transmission.children("joint"), *_actuators(transmission))
    texts = (child.element.text or "" for tag in ROTORS for child in _tagged(parts, tag))
    return any(text.strip(XML_SPACE + "+-0.") for text in texts)


def reduction(transmission: XmlNode) -> float | None:
    """The first gear ratio that a transmission states and that is not 1; 1 where all are, None
    where there is none."""
    parts = (transmission, *transmission.children("joint"), *_actuators(transmission))
    ratios = [ratio for part in parts if (ratio := _reduction((part,))) is not None]
    return next((ratio for ratio in ratios if ratio != 1), ratios[0] if ratios else None)


def drives(root: XmlNode) -> tuple[DriveElement, ...]:
    """The drive of each joint that is alone in a transmission. Raises RobotError for Drake's tags
    gone wrong."""
    by_joint: dict[str, DriveElement] = {}
    for node in (*root.children("transmission"), *_nested(root)):
        drive = _drive(node)
        known = by_joint.get(drive.joint) if drive is not None else None
        if drive is not None and (known is None or known.inertia is None):
            by_joint[drive.joint] = drive
        elif drive is not None and known is not None and drive.inertia is not None:
            raise node.called(f"joint '{shown(drive.joint)}'").error(
                f"a second rotor (the first is on line {known.line}); keep one of them"
            )
    return tuple(by_joint.values())


def with_armatures(
    known: Sequence[DriveElement], extended: Mapping[str, Extension], moving: Collection[str]
) -> tuple[DriveElement, ...]:
    """The drives with the armature of those joints that are in `moving`."""
    by_joint = {drive.joint: drive for drive in known}
    for joint, extension in extended.items():
        if extension.armature and joint in moving:
            drive = by_joint.get(joint, DriveElement(joint, extension.line))
            by_joint[joint] = replace(drive, armature=extension.armature)
    return tuple(by_joint.values())


def _nested(root: XmlNode) -> Iterator[XmlNode]:
    """Transmissions of ros2_control."""
    return (
        node
        for control in root.children("ros2_control")
        for node in control.children("transmission")
    )


def _actuators(transmission: XmlNode) -> list[XmlNode]:
    return transmission.children("actuator")


def _drive(transmission: XmlNode) -> DriveElement | None:
    """None where several joints share the transmission or it says nothing."""
    joints, actuators = transmission.children("joint"), _actuators(transmission)
    name = joints[0].element.get("name") if len(joints) == 1 else None
    if not name or len(actuators) > 1:
        return None
    drive = DriveElement(name, transmission.line, _reduction((transmission, *joints, *actuators)))
    inertia, ratio = (_number(actuators, tag, name) for tag in (INERTIA, RATIO))
    if inertia is None:
        return replace(drive, ratio=drive.ratio if ratio is None else ratio)
    return replace(drive, inertia=inertia, ratio=1.0 if ratio is None else ratio)


def _tagged(nodes: Sequence[XmlNode], tag: str) -> list[XmlNode]:
    return [child for node in nodes for child in node if child.tag == tag]


def _number(actuators: Sequence[XmlNode], tag: str, joint: str) -> float | None:
    nodes = [node.called(f"joint '{shown(joint)}'") for node in _tagged(actuators, tag)]
    return drake_number(nodes, tag, lambda node: node.number("value"))


def drake_number(
    nodes: Sequence[XmlNode], tag: str, read: Callable[[XmlNode], float]
) -> float | None:
    """The number that `read` finds in the one element of a tag of Drake, None without an element.
    Raises RobotError for a ratio of 0, a negative inertia, and a second element."""
    if not nodes:
        return None
    value = read(nodes[0])
    if len(nodes) > 1 or (value == 0 if tag == RATIO else value < 0):
        trouble = "is given twice" if len(nodes) > 1 else f"is {value:g}"
        raise nodes[len(nodes) > 1].error(
            f"<{tag}> {trouble}; give one number: a ratio other than 0, or an inertia of 0 or more"
        )
    return value


def _reduction(nodes: Sequence[XmlNode]) -> float | None:
    """ROS's gear ratio, None where there is none that is a number other than 0."""
    texts = [
        child.element.text or "" for node in nodes for child in node if child.tag in REDUCTIONS
    ]
    numbers = [
        float(text) for text in (t.strip(XML_SPACE) for t in texts) if NUMBER.fullmatch(text)
    ]
    return next((x for x in numbers if x and abs(x) < LARGEST_RATIO), None)


LARGEST_RATIO: Final = 1e6
"""No gears turn slower."""
