"""Springs and rotor inertia of joints, which are not part of URDF but occur in URDF files.

In ``<dynamics>`` of a joint: ``spring_stiffness`` and ``spring_reference`` (as in SDFormat),
``stiffness``, ``rotor_inertia`` and ``armature`` (the reflected inertia). In ``<gazebo
reference="JOINT">``: elements of these names, or ``springStiffness`` and ``springReference``, which
Gazebo reads."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from symgen.errors import RobotError, gathered
from symgen.mechanics.model import PerCoordinate
from symgen.reading.joint_kinds import from_attribute, in_words, is_negative, joint_nodes, word_of
from symgen.reading.xml_reader import XmlNode
from symgen.text import shown

WORDS: Final = {
    "stiffness": ("spring_stiffness", "springStiffness", "stiffness"),
    "reference": ("spring_reference", "springReference"),
    "armature": ("rotor_inertia", "armature"),
}
"""The words of files for each extension."""
ALL_WORDS: Final = tuple(word for words in WORDS.values() for word in words)


@dataclass(frozen=True, slots=True)
class StatedNumber:
    """A number that a file gives for a joint, and its word."""

    node: XmlNode
    word: str
    value: PerCoordinate


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
            with gathered(errors):
                values = [(w, from_attribute(node, w, word_of(joint))) for w in ALL_WORDS]
                stated[name] += [StatedNumber(node, w, x) for w, x in values if x is not None]
    names = {joint.element.get("name") for _, joint in joints}
    for gazebo in root.children("gazebo"):
        name = gazebo.element.get("reference") or ""
        for node in gazebo.with_label(f"joint '{shown(name)}'") if name in names else ():
            if node.tag in ALL_WORDS:
                with gathered(errors):
                    stated[name].append(StatedNumber(node, node.tag, node.content()))
    merged: dict[str, Extension] = {}
    for name, numbers in stated.items():
        if numbers:
            with gathered(errors):
                merged[name] = _extension(numbers)
    return merged


def _extension(rows: list[StatedNumber]) -> Extension:
    values: dict[str, PerCoordinate] = {}
    for meant, words in WORDS.items():
        matching = [number for number in rows if number.word in words]
        if not matching:
            continue
        first = matching[0]
        other = next((number for number in matching if number.value != first.value), None)
        if other is not None:
            raise other.node.error(
                f"{other.word} is {in_words(other.value)} and {first.word} is "
                f"{in_words(first.value)}, but both mean the same quantity; keep one of "
                "them"
            )
        if meant == "armature" and is_negative(first.value):
            raise first.node.error(
                f"{first.word} is negative ({in_words(first.value)}); give 0 or more"
            )
        values[meant] = first.value
    return Extension(rows[0].node.line, **values)
