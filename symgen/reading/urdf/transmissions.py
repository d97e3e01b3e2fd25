"""Drives of URDF files: springs and rotor inertia of joints, rotors and gear ratios of single
joints, and motors that move several joints.

Springs and reflected inertia are not part of URDF but occur in URDF files. In ``<dynamics>`` of a
joint: ``spring_stiffness`` and ``spring_reference`` (as in SDFormat), ``stiffness``,
``rotor_inertia`` and ``armature`` (the reflected inertia). In ``<gazebo reference="JOINT">``:
elements of these names, or ``springStiffness`` and ``springReference``, which Gazebo reads.

Rotors are given by Drake's tags and the reductions of ROS. ROS defines simple, differential and
four-bar transmissions. With a_i and n_i the reductions of actuators and joints and o_i the joints'
offsets, the motors' angles are (ros_control, transmission_interface):

    simple:       θ = a n (q - o)
    differential: θ₁ = a₁ (n₁ (q₁ - o₁) + n₂ (q₂ - o₂)),   θ₂ = a₂ (n₁ (q₁ - o₁) - n₂ (q₂ - o₂))
    four-bar:     θ₁ = a₁ n₁ (q₁ - o₁),   θ₂ = a₂ (n₂ (q₂ - o₂) + (q₁ - o₁))"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import mul
from typing import Final

from symgen.errors import RobotError, collected_errors
from symgen.mechanics.model import PerCoordinate
from symgen.numbers.scalar import sum_in_order
from symgen.reading.description import DriveElement, LinearFunction, Motor, Transmission
from symgen.reading.joint_kinds import from_attribute, in_words, is_negative, joint_nodes, word_of
from symgen.reading.xml_reader import NUMBER, XML_SPACE, XmlNode
from symgen.text import shown

# -- springs and armature --------------------------------------------------------------------------

EXTENSION_WORDS: Final = {
    "stiffness": ("spring_stiffness", "springStiffness", "stiffness"),
    "reference": ("spring_reference", "springReference"),
    "armature": ("rotor_inertia", "armature"),
}
"""The words of files for each extension."""
ALL_EXTENSION_WORDS: Final = tuple(word for words in EXTENSION_WORDS.values() for word in words)


StatedNumber = tuple[XmlNode, str, PerCoordinate]
"""An element, and the word and the value of a number that it gives for a joint."""


@dataclass(frozen=True, slots=True)
class Extension:
    """Extensions of a joint: the stiffness of its spring (N m/rad or N/m), the coordinate at which
    the spring is relaxed (rad or m), and the reflected inertia (kg m² or kg), None if not given."""

    line: int
    stiffness: PerCoordinate = 0.0
    reference: PerCoordinate = 0.0
    armature: PerCoordinate | None = None


def extensions(root: XmlNode, errors: list[RobotError]) -> dict[str, Extension]:
    """The extensions of a file by joint name. Invalid numbers, different numbers for the same
    quantity and negative inertia are added to `errors`."""
    stated: dict[str, list[StatedNumber]] = defaultdict(list)
    joints = [(node.element.get("name") or "", node) for node in joint_nodes(root)]
    for name, joint in joints:
        for dynamics in joint.children("dynamics"):
            node = dynamics.with_label(f"joint '{shown(name)}'")
            with collected_errors(errors):
                values = [(w, from_attribute(node, w, word_of(joint))) for w in ALL_EXTENSION_WORDS]
                stated[name] += [(node, w, x) for w, x in values if x is not None]
    names = {joint.element.get("name") for _, joint in joints}
    for gazebo in root.children("gazebo"):
        name = gazebo.element.get("reference") or ""
        for node in gazebo.with_label(f"joint '{shown(name)}'") if name in names else ():
            if node.tag in ALL_EXTENSION_WORDS:
                with collected_errors(errors):
                    stated[name].append((node, node.tag, node.text_number()))
    merged: dict[str, Extension] = {}
    for name, numbers in stated.items():
        if numbers:
            with collected_errors(errors):
                merged[name] = _extension(numbers)
    return merged


def _extension(rows: list[StatedNumber]) -> Extension:
    values: dict[str, PerCoordinate] = {}
    for quantity, words in EXTENSION_WORDS.items():
        synonyms = [row for row in rows if row[1] in words]
        if not synonyms:
            continue
        first_node, first_word, value = synonyms[0]
        for node, word, other in synonyms:
            if other != value:
                raise node.error(
                    f"{word} is {in_words(other)} and {first_word} is {in_words(value)}, but both "
                    "mean the same quantity; keep one of them"
                )
        if quantity == "armature" and is_negative(value):
            raise first_node.error(f"{first_word} is negative ({in_words(value)}); give 0 or more")
        values[quantity] = value
    return Extension(rows[0][0].line, **values)


# -- rotors of single joints -----------------------------------------------------------------------

ROTOR_INERTIA_TAG: Final = "drake:rotor_inertia"
GEAR_RATIO_TAG: Final = "drake:gear_ratio"
UNDEFINED_ROTOR_TAGS: Final = ("motorInertia", "rotorInertia", "motor_inertia", "rotor_inertia")
REDUCTION_TAGS: Final = ("mechanicalReduction", "mechanical_reduction")
MAX_RATIO: Final = 1e6
"""No gears turn slower."""


def drives(
    root: XmlNode, extended: Mapping[str, Extension], moving: Collection[str]
) -> tuple[DriveElement, ...]:
    """The drive of each joint that is alone in a transmission, and the armature of those joints
    that are in `moving`. Raises RobotError for invalid tags of Drake."""
    by_joint: dict[str, DriveElement] = {}
    for node in _transmission_nodes(root):
        drive = _drive(node)
        known = by_joint.get(drive.joint) if drive is not None else None
        if drive is not None and (known is None or known.inertia is None):
            by_joint[drive.joint] = drive
        elif drive is not None and known is not None and drive.inertia is not None:
            raise node.with_label(f"joint '{shown(drive.joint)}'").error(
                f"a second rotor (the first is on line {known.line}); keep one of them"
            )
    for joint, extension in extended.items():
        if extension.armature and joint in moving:
            drive = by_joint.get(joint, DriveElement(joint, extension.line))
            by_joint[joint] = replace(drive, armature=extension.armature)
    return tuple(by_joint.values())


def _transmission_nodes(root: XmlNode) -> list[XmlNode]:
    """The transmissions of a file, then those of ros2_control."""
    owners = (root, *root.children("ros2_control"))
    return [node for owner in owners for node in owner.children("transmission")]


def _drive(transmission: XmlNode) -> DriveElement | None:
    """None where several joints share the transmission."""
    joints, actuators = transmission.children("joint"), transmission.children("actuator")
    name = joints[0].element.get("name") if len(joints) == 1 else None
    if not name or len(actuators) > 1:
        return None
    label = f"joint '{shown(name)}'"
    inertia, ratio = (
        drake_number(
            [child.with_label(label) for node in actuators for child in node if child.tag == tag],
            tag,
            lambda node: node.number("value"),
        )
        for tag in (ROTOR_INERTIA_TAG, GEAR_RATIO_TAG)
    )
    reduction = _reduction((transmission, *joints, *actuators))
    default = reduction if inertia is None else 1.0
    return DriveElement(name, transmission.line, default if ratio is None else ratio, inertia)


def drake_number(
    nodes: Sequence[XmlNode], tag: str, read: Callable[[XmlNode], float]
) -> float | None:
    """The number that `read` finds in the one element of a tag of Drake, None without an element.
    Raises RobotError for a ratio of 0, a negative inertia, and a second element."""
    if not nodes:
        return None
    value = read(nodes[0])
    if len(nodes) > 1 or (value == 0 if tag == GEAR_RATIO_TAG else value < 0):
        trouble = "is given twice" if len(nodes) > 1 else f"is {value:g}"
        raise nodes[len(nodes) > 1].error(
            f"<{tag}> {trouble}; give one number: a ratio other than 0, or an inertia of 0 or more"
        )
    return value


def _reduction(nodes: Sequence[XmlNode]) -> float | None:
    """ROS's gear ratio, None where there is none that is a number other than 0."""
    texts = (_text(child) for node in nodes for child in node if child.tag in REDUCTION_TAGS)
    numbers = (float(text) for text in texts if NUMBER.fullmatch(text))
    return next((x for x in numbers if x and abs(x) < MAX_RATIO), None)


def _text(node: XmlNode) -> str:
    return (node.element.text or "").strip(XML_SPACE)


def has_unread_rotor(transmission: XmlNode) -> bool:
    """True if a transmission states a reduction other than 1, or the inertia of a rotor in a tag
    without a definition, but no rotor in Drake's tag, so that it has no effect by itself."""
    actuators = transmission.children("actuator")
    if any(child.tag == ROTOR_INERTIA_TAG for node in actuators for child in node):
        return False
    parts = (transmission, *transmission.children("joint"), *actuators)
    stated = [_text(child) for node in parts for child in node if child.tag in UNDEFINED_ROTOR_TAGS]
    return any(text.strip("+-0.") for text in stated) or any(
        _reduction((part,)) not in (None, 1.0) for part in parts
    )


# -- motors of several joints ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TransmissionEnd:
    """A joint or an actuator of a transmission: its reduction, and the offset of a joint (rad or
    m)."""

    name: str
    reduction: float
    offset: float


Law = Callable[[Sequence[float], Sequence[float]], tuple[tuple[float, ...], ...]]
"""From the reductions of motors and of joints: a row for each motor, how much of each joint's
coordinate less its offset is in the motor's angle."""


TRANSMISSION_LAWS: Final[dict[str, tuple[int, Law]]] = {
    "SimpleTransmission": (1, lambda m, n: ((m[0] * n[0],),)),
    "DifferentialTransmission": (
        2,
        lambda m, n: ((m[0] * n[0], m[0] * n[1]), (m[1] * n[0], -m[1] * n[1])),
    ),
    "FourBarLinkageTransmission": (2, lambda m, n: ((m[0] * n[0], 0.0), (m[1], m[1] * n[1]))),
}
"""The transmissions by the last word of their type: how many joints and motors they have, and their
law."""


def transmissions(root: XmlNode) -> tuple[Transmission, ...]:
    """The transmissions of a file whose type is known, the first for each joint; a note of others
    that say something else of it, and of one that ties no joints or whose reduction is none."""
    read, by_joint = list[Transmission](), dict[str, tuple[str, Transmission]]()
    for node in _transmission_nodes(root):
        label = node.with_label(f"transmission '{shown(node.element.get('name') or '')}'")
        try:
            transmission = _transmission(label)
        except RobotError as error:
            cause = NAMES_IN_QUOTES.sub("...", error.message)
            label.notice("note", f"is ignored: {error.message}", IGNORED_SUMMARY + cause)
            continue
        if transmission is None:
            continue
        repeated = next((joint for joint in transmission.joints if joint in by_joint), None)
        if repeated is None:
            read.append(transmission)
            by_joint |= dict.fromkeys(transmission.joints, (label.label, transmission))
        elif _angles_and_inertias(by_joint[repeated][1]) != _angles_and_inertias(transmission):
            before = f"joint '{shown(repeated)}' already belongs to {by_joint[repeated][0]}"
            label.notice("note", f"is ignored: {before}", IGNORED_SUMMARY + JOINTS_IN_USE)
    return tuple(read)


IGNORED_SUMMARY: Final = "{count} transmissions ({elements}) are ignored: "
JOINTS_IN_USE: Final = "their joints belong to earlier transmissions"
NAMES_IN_QUOTES: Final = re.compile(r"'[^']*'")
"""What differs in messages about the same cause."""


def _angles_and_inertias(read: Transmission) -> list[object]:
    """The motions of motors by those of joints, whatever they are called: files say it twice."""
    return [(motor.angle, motor.inertia) for motor in read.motors]


def _transmission(node: XmlNode) -> Transmission | None:
    size, law = TRANSMISSION_LAWS.get(_type_word(node), (0, lambda m, n: ()))
    joints, actuators = (  # by their roles, as in joint1 and joint2; else as they stand
        sorted(node.children(tag), key=lambda end: (end.element.get("role") or "").strip(XML_SPACE))
        for tag in ("joint", "actuator")
    )
    if not size or (size == 1 and (len(joints), len(actuators)) != (1, 1)):
        return None
    if len(joints) != size or len(actuators) != size:
        raise node.error(
            f"a {_type_word(node)} has {size} joints and {size} actuators, but this one has "
            f"{len(joints)} and {len(actuators)}; correct the numbers"
        )
    ends, motor_ends = (
        [_transmission_end(joint) for joint in joints],
        [_transmission_end(actuator) for actuator in actuators],
    )
    offsets, motors = [end.offset for end in ends], []
    rows = law([motor.reduction for motor in motor_ends], [joint.reduction for joint in ends])
    for actuator, end_of_motor, row in zip(actuators, motor_ends, rows, strict=True):
        inertia = next(
            (child.number("value") for child in actuator if child.tag == ROTOR_INERTIA_TAG), 0.0
        )
        terms = tuple((end.name, factor) for end, factor in zip(ends, row, strict=True) if factor)
        angle = LinearFunction(terms, -sum_in_order(map(mul, row, offsets), 0.0))
        motors.append(Motor(end_of_motor.name, angle, inertia))
    return Transmission(node.line, tuple(end.name for end in ends), tuple(motors))


def _type_word(node: XmlNode) -> str:
    """The last word of the type, which ROS calls a plugin too."""
    texts = (_text(child) for tag in ("type", "plugin") for child in node.children(tag))
    return next((text.rpartition("/")[2] for text in texts), "")


def _transmission_end(node: XmlNode) -> TransmissionEnd:
    name = node.text("name")
    parts = [child.with_label(node.label) for child in node]
    factors = [part.text_number() for part in parts if part.tag in REDUCTION_TAGS]
    reduction = factors[0] if factors else 1.0
    offset = next((part.text_number() for part in parts if part.tag == "offset"), 0.0)
    if not 0 < abs(reduction) < MAX_RATIO:
        raise node.error(
            f"the reduction of '{shown(name)}' is {reduction:g}; give the turns of the "
            "motor per turn of the joint"
        )
    return TransmissionEnd(name, reduction, offset)
