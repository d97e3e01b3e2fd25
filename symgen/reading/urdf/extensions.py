"""Springs and rotor inertia that URDF itself has not, where files write them all the same.

In ``<dynamics>`` of a joint: ``spring_stiffness`` and ``spring_reference`` (SDFormat's words),
``stiffness``, ``rotor_inertia`` and ``armature`` (inertia as the joint feels it); in ``<gazebo
reference="JOINT">`` elements of these names or of those that Gazebo's reader of URDF knows,
``springStiffness`` and ``springReference``."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
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


@dataclass(frozen=True, slots=True)
class StatedNumber:
    """A number that a file says of a joint, and by which word."""

    node: XmlNode
    word: str
    value: PerCoordinate


@dataclass(frozen=True, slots=True)
class Extension:
    """Extensions of a joint: the stiffness of its spring (N m/rad or N/m), the coordinate at which
    that is relaxed (rad or m), and inertia as the joint feels it (kg m² or kg), None where there is
    none."""

    line: int
    stiffness: PerCoordinate = 0.0
    reference: PerCoordinate = 0.0
    armature: PerCoordinate | None = None


def extensions(root: XmlNode, errors: list[RobotError]) -> dict[str, Extension]:
    """The extensions of a file by name of the joint. A number that is none, two that differ and
    inertia below zero go to `errors`."""
    said_by_joint: dict[str, list[StatedNumber]] = {}
    for name, read in _every(root):
        with gathered(errors):
            for number in read():
                said_by_joint.setdefault(name, []).append(number)
    merged: dict[str, Extension] = {}
    for name, rows in said_by_joint.items():
        with gathered(errors):
            merged[name] = _extension(rows)
    return merged


def _every(root: XmlNode) -> Iterator[tuple[str, Callable[[], list[StatedNumber]]]]:
    """The name of a joint, and how what an element says of it is read."""
    for joint in joint_nodes(root):
        name = joint.element.get("name") or ""
        for dynamics in joint.children("dynamics"):
            yield name, partial(_beside, dynamics.called(_label(name)), word_of(joint))
    names = {joint.element.get("name") for joint in joint_nodes(root)}
    for gazebo in root.children("gazebo"):
        name = gazebo.element.get("reference") or ""
        if name in names:
            yield from ((name, partial(_inside, node)) for node in gazebo.called(_label(name)))


def _label(name: str) -> str:
    """A joint in a message."""
    return f"joint '{shown(name)}'"


def _beside(dynamics: XmlNode, kind: str) -> list[StatedNumber]:
    words = [word for words in WORDS.values() for word in words]
    values = [(word, from_attribute(dynamics, word, kind)) for word in words]
    return [StatedNumber(dynamics, word, value) for word, value in values if value is not None]


def _inside(child: XmlNode) -> list[StatedNumber]:
    known = any(child.tag in words for words in WORDS.values())
    return [StatedNumber(child, child.tag, child.content())] if known else []


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
