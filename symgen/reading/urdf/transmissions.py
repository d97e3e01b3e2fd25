"""Transmissions of URDF files: rotors and gear ratios of single joints (Drake's tags and the
reductions of ROS), and motors that move several joints.

ROS defines simple, differential and four-bar transmissions. With a_i and n_i the reductions of
actuators and joints and o_i the joints' offsets, the motors' angles are (ros_control,
transmission_interface):

    simple:       θ = a n (q - o)
    differential: θ₁ = a₁ (n₁ (q₁ - o₁) + n₂ (q₂ - o₂)),   θ₂ = a₂ (n₁ (q₁ - o₁) - n₂ (q₂ - o₂))
    four-bar:     θ₁ = a₁ n₁ (q₁ - o₁),   θ₂ = a₂ (n₂ (q₂ - o₂) + (q₁ - o₁))"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from symgen.errors import RobotError
from symgen.numbers.scalar import sum_in_order
from symgen.reading.description import DriveElement, LinearFunction, Motor, Transmission
from symgen.reading.urdf.extensions import Extension
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
            raise node.with_label(f"joint '{shown(drive.joint)}'").error(
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
    inertia, ratio = (
        drake_number(
            [node.with_label(f"joint '{shown(name)}'") for node in _tagged(actuators, tag)],
            tag,
            lambda node: node.number("value"),
        )
        for tag in (INERTIA, RATIO)
    )
    if inertia is None:
        return replace(drive, ratio=drive.ratio if ratio is None else ratio)
    return replace(drive, inertia=inertia, ratio=1.0 if ratio is None else ratio)


def _tagged(nodes: Sequence[XmlNode], tag: str) -> list[XmlNode]:
    return [child for node in nodes for child in node if child.tag == tag]


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


@dataclass(frozen=True, slots=True)
class TransmissionEnd:
    """A joint or an actuator of a transmission: its reduction, and the offset of a joint (rad or
    m)."""

    name: str
    reduction: float
    offset: float


Row = tuple[float, ...]
"""A row for a motor: how much of each joint's coordinate less its offset is in the motor's
angle."""
Law = Callable[[Sequence[TransmissionEnd], Sequence[TransmissionEnd]], tuple[Row, ...]]


def _simple(
    joints: Sequence[TransmissionEnd], motors: Sequence[TransmissionEnd]
) -> tuple[Row, ...]:
    return ((motors[0].reduction * joints[0].reduction,),)


def _differential(
    joints: Sequence[TransmissionEnd], motors: Sequence[TransmissionEnd]
) -> tuple[Row, ...]:
    (a, b), (m, n) = motors, joints
    return (
        (a.reduction * m.reduction, a.reduction * n.reduction),
        (b.reduction * m.reduction, -b.reduction * n.reduction),
    )


def _four_bar(
    joints: Sequence[TransmissionEnd], motors: Sequence[TransmissionEnd]
) -> tuple[Row, ...]:
    (a, b), (m, n) = motors, joints
    return (a.reduction * m.reduction, 0.0), (b.reduction, b.reduction * n.reduction)


LAWS: Final[dict[str, tuple[int, Law]]] = {
    "SimpleTransmission": (1, _simple),
    "DifferentialTransmission": (2, _differential),
    "FourBarLinkageTransmission": (2, _four_bar),
}
"""The transmissions by the last word of their type: how many joints and motors they have, and their
law."""


def transmissions(root: XmlNode) -> tuple[Transmission, ...]:
    """The transmissions of a file whose type is known, the first for each joint; a note of others
    that say something else of it, and of one that ties no joints or whose reduction is none."""
    tied, taken = list[Transmission](), dict[str, tuple[str, Transmission]]()
    controls = (node for control in root.children("ros2_control") for node in control)
    nested = (node for node in controls if node.tag == "transmission")
    for node in (*root.children("transmission"), *nested):
        label = node.with_label(f"transmission '{shown(node.element.get('name') or '')}'")
        try:
            transmission = _transmission(label)
        except RobotError as error:
            cause = NAMES_IN_QUOTES.sub("...", error.message)
            label.notice("note", f"is ignored: {error.message}", NOT_READ + cause)
            continue
        if transmission is None:
            continue
        repeated = next((joint for joint in transmission.joints if joint in taken), None)
        if repeated is None:
            tied.append(transmission)
            taken |= dict.fromkeys(transmission.joints, (label.label, transmission))
        elif _motions(taken[repeated][1]) != _motions(transmission):
            before = f"joint '{shown(repeated)}' already belongs to {taken[repeated][0]}"
            label.notice("note", f"is ignored: {before}", NOT_READ + ALREADY_DRIVEN)
    return tuple(tied)


NOT_READ: Final = "{count} transmissions ({elements}) are ignored: "
ALREADY_DRIVEN: Final = "their joints belong to earlier transmissions"
NAMES_IN_QUOTES: Final = re.compile(r"'[^']*'")
"""What differs in messages about the same cause."""


def _motions(tied: Transmission) -> list[object]:
    """The motions of motors by those of joints, whatever they are called: files say it twice."""
    return [(motor.angle, motor.inertia) for motor in tied.motors]


def _transmission(node: XmlNode) -> Transmission | None:
    size, law = LAWS.get(_kind(node), (0, _simple))
    joints, motors = node.children("joint"), node.children("actuator")
    if not size or (size == 1 and (len(joints), len(motors)) != (1, 1)):
        return None
    if len(joints) != size or len(motors) != size:
        raise node.error(
            f"a {_kind(node)} has {size} joints and {size} actuators, but this one has "
            f"{len(joints)} and {len(motors)}; correct the numbers"
        )
    ends, motions = [_end(n) for n in _ordered(joints)], [_end(n) for n in _ordered(motors)]
    rows = law(ends, motions)
    inertias = [
        next((child.number("value") for child in motor if child.tag == INERTIA), 0.0)
        for motor in _ordered(motors)
    ]
    driven = [
        Motor(
            motion.name,
            LinearFunction(
                tuple((end.name, by) for end, by in zip(ends, row, strict=True) if by),
                -sum_in_order((by * end.offset for end, by in zip(ends, row, strict=True)), 0.0),
            ),
            inertia,
        )
        for motion, row, inertia in zip(motions, rows, inertias, strict=True)
    ]
    return Transmission(node.line, tuple(end.name for end in ends), tuple(driven))


def _kind(node: XmlNode) -> str:
    """The last word of the type, which ROS calls a plugin too."""
    texts = (child.element.text or "" for tag in ("type", "plugin") for child in node.children(tag))
    return next((text.strip(XML_SPACE).rpartition("/")[2] for text in texts), "")


def _ordered(ends: Sequence[XmlNode]) -> list[XmlNode]:
    """Joints or actuators by their roles, as in joint1 and joint2, where they have some; else as
    they stand."""
    return sorted(ends, key=lambda node: (node.element.get("role") or "").strip(XML_SPACE))


def _end(node: XmlNode) -> TransmissionEnd:
    name = node.text("name")
    factors = list(_contents(node, *REDUCTIONS))
    reduction = factors[0] if factors else 1.0
    if not 0 < abs(reduction) < LARGEST_RATIO:
        raise node.error(
            f"the reduction of '{shown(name)}' is {reduction:g}; give the turns of the "
            "motor per turn of the joint"
        )
    return TransmissionEnd(name, reduction, next(_contents(node, "offset"), 0.0))


def _contents(node: XmlNode, *tags: str) -> Iterator[float]:
    return (child.with_label(node.label).content() for child in node if child.tag in tags)
