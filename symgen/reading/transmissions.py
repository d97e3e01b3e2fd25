"""The transmissions of URDF files that tie motors to joints, as ROS defines them: simple,
differential, four-bar linkage.

With a_i and n_i the reductions of actuators and joints, o_i the joints' offsets, the motors' angles
are (ros_control, transmission_interface):

    simple:       θ = a n (q - o)
    differential: θ₁ = a₁ (n₁ (q₁ - o₁) + n₂ (q₂ - o₂)),   θ₂ = a₂ (n₁ (q₁ - o₁) - n₂ (q₂ - o₂))
    four-bar:     θ₁ = a₁ n₁ (q₁ - o₁),   θ₂ = a₂ (n₂ (q₂ - o₂) + (q₁ - o₁))"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from symgen.errors import RobotError
from symgen.reading.description import Motor, Transmission
from symgen.reading.drives import INERTIA, LARGEST_RATIO, REDUCTIONS
from symgen.reading.xml_reader import XML_SPACE, XmlNode
from symgen.text import shown


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
        label = node.called(f"transmission '{shown(node.element.get('name') or '')}'")
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
    return [(motor.terms, motor.offset, motor.inertia) for motor in tied.motors]


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
    inertias = [_inertia(motor) for motor in _ordered(motors)]
    driven = [
        Motor(
            motion.name,
            tuple((end.name, by) for end, by in zip(ends, row, strict=True) if by),
            -sum((by * end.offset for end, by in zip(ends, row, strict=True)), 0.0),
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


def _inertia(actuator: XmlNode) -> float:
    """Drake's inertia of a rotor (kg m²), 0 where there is none."""
    return next((child.number("value") for child in actuator if child.tag == INERTIA), 0.0)


def _contents(node: XmlNode, *tags: str) -> Iterator[float]:
    return (child.called(node.label).content() for child in node if child.tag in tags)
