"""Constants of a joint that hold for each of its coordinates (`PerCoordinate`): one number for all
of them, or a list with a number for each, as files, Python and TOML give them."""

from collections.abc import Iterable
from typing import Any

from symgen.errors import OptionError
from symgen.mechanics.model import PerCoordinate
from symgen.reading.given import as_list, as_number
from symgen.reading.joints import JOINTS
from symgen.reading.toml_reader import Table
from symgen.reading.xml_reader import XmlNode
from symgen.text import shown


def size_of(word: str) -> int:
    """The number of velocities of joints that a file calls `word`; 1 for one that does not move."""
    return len(JOINTS[word].type.velocities) if word in JOINTS else 1


def merged(numbers: Iterable[float]) -> PerCoordinate:
    """One number for all coordinates where they have the same, else a number for each."""
    constants = tuple(numbers)
    return constants if len(set(constants)) > 1 else constants[0]


def numbers_of(constant: PerCoordinate) -> tuple[float, ...]:
    """The numbers of a constant."""
    return constant if isinstance(constant, tuple) else (constant,)


def in_words(constant: PerCoordinate) -> str:
    """The numbers of a constant for a message."""
    return " ".join(f"{x:g}" for x in numbers_of(constant))


def is_negative(constant: PerCoordinate) -> bool:
    """Whether one of the numbers is below 0."""
    return min(numbers_of(constant)) < 0


def from_attribute(node: XmlNode, attribute: str, word: str) -> PerCoordinate | None:
    """An attribute of an XML element of a joint called `word`, None where it is absent. Raises
    RobotError for a wrong count."""
    value = node.element.get(attribute)
    size = size_of(word)
    if value is None or size == 1 or len(value.split()) < 2:
        return node.optional(attribute)
    return merged(node.numbers(attribute, size))


def from_python(label: str, value: Any, word: str) -> PerCoordinate:
    """A number or a list given in Python. Raises OptionError."""
    size = size_of(word)
    if size == 1 or not hasattr(value, "__len__"):
        return float(as_number(label, value))
    numbers = [float(as_number(label, x)) for x in as_list(label, value)]
    if len(numbers) != size:
        raise OptionError(
            f"{label} is {shown(repr(value), 60)}; a {word} joint has {size} coordinates: give one "
            f"number for all of them, or {size}"
        )
    return merged(numbers)


def from_table(table: Table, key: str, word: str, least: float) -> PerCoordinate | None:
    """A number or a list of a TOML table, None where it is absent. Raises RobotError."""
    value, size = table.data.get(key), size_of(word)
    if size == 1 or not isinstance(value, list):
        return table.number(key, least)
    numbers = table.numbers(key, least)
    if len(numbers) != size:
        raise table.error(
            key,
            f"has {len(numbers)} numbers, but a {word} joint has {size} coordinates; give one "
            f"number for all of them, or {size}",
        )
    return merged(numbers)
