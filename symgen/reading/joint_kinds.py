"""The joint types of files: for each word one row, with the joint type and the data that the file
must give; and constants that a joint has for each of its coordinates.

The words are those of URDF and, for joints that URDF does not have, those of SDFormat and Drake
(whose element ``<drake:joint>`` has them): ball, universal, screw; and cylindrical."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from symgen.errors import OptionError
from symgen.mechanics.joint_type import JointType
from symgen.mechanics.model import PerCoordinate
from symgen.mechanics.spatial import IDENTITY, Triple
from symgen.mechanics.standard_joints import JOINT_TYPES, default_second_axis
from symgen.reading.checked_values import Table, as_list, as_number, as_vector3
from symgen.reading.xml_reader import XmlNode
from symgen.text import shown

Constants = tuple[float, ...]
Tag = tuple[str, str, Constants]
"""A tag in the joint's element (empty: that element itself), an attribute, and its numbers."""


@dataclass(frozen=True, slots=True)
class JointParameter:
    """The constants that joints of a type take beside their axis, as one thing that people give:
    how a file says it, and how Python does."""

    word: str
    """What it is called in Python."""
    size: int
    """How many of the type's constants it is."""
    from_xml: Callable[[XmlNode, Triple], Constants]
    """From the joint's element and its axis. Raises RobotError."""
    from_python: Callable[[str, Triple, Any], Constants]
    """From the joint's label, its axis and what was given in Python, None for nothing. Raises
    OptionError."""
    to_xml: Callable[[Triple, Constants], Tag | None]
    """The tag for an axis and these constants, with the numbers that Python takes; None for the
    default."""
    tags: tuple[str, ...] = ()
    """The tags that stand in such joints alone."""
    attributes: tuple[str, ...] = ()
    """The attributes that the elements of such joints alone have."""


TURN: Final = 2 * math.pi
PITCHES: Final = ("screw_thread_pitch", "drake:screw_thread_pitch")
"""The advance along the axis in one turn (m), positive for a right-handed thread, as SDFormat has
it since version 1.10 and Drake; SDFormat's older thread_pitch is in other units, of other sign."""


def _pitch(node: XmlNode, axis: Triple) -> Constants:
    """The pitch of a screw (m/rad). Raises RobotError."""
    pitches = [child.number("value") for child in node if child.tag in PITCHES]
    if node.element.get("pitch") is not None:
        pitches.append(node.number("pitch"))
    if len(pitches) != 1:
        raise node.error(
            f"a screw joint needs one pitch, but has {len(pitches) or 'none'}; write "
            'pitch="..." in its tag, the advance per turn (m), positive for a '
            "right-handed thread"
        )
    return (pitches[0] / TURN,)


def _given_pitch(label: str, axis: Triple, pitch: Any) -> Constants:
    """The pitch of a screw (m/rad) from its advance in one turn. Raises OptionError."""
    if pitch is None:
        raise OptionError(
            f"{label}: a screw joint needs a pitch, the advance per turn (m), positive "
            "for a right-handed thread"
        )
    return (float(as_number(f"{label}: pitch", pitch, allow_symbols=False)) / TURN,)


PITCH: Final = JointParameter(
    "pitch",
    1,
    _pitch,
    _given_pitch,
    lambda axis, constants: (PITCHES[0], "value", (constants[0] * TURN,)),
    PITCHES,
    ("pitch",),
)


def _across(axis: Triple, second: Triple) -> Constants | None:
    """A second axis as a unit vector; None where it is not at right angles to the first."""
    x, y, z = second
    length = math.hypot(x, y, z)
    product = x * axis[0] + y * axis[1] + z * axis[2]
    if not length or abs(product) > 1e-6 * length:
        return None
    return (x / length, y / length, z / length)


def _second_axis(node: XmlNode, axis: Triple) -> Constants:
    """The second axis of a universal joint (SDFormat's axis2), or the x direction of a planar
    joint: by default the x axis of the joint frame, projected onto the plane perpendicular to the
    axis.

    Raises RobotError."""
    second = node.single_child("axis2")
    if second is None:
        return default_second_axis(axis)
    across = _across(axis, second.triple("xyz"))
    if across is None:
        raise second.error(f"axis2 of a {word_of(node)} joint is not perpendicular to its axis")
    return across


def _given_axis2(label: str, axis: Triple, second: Any) -> Constants:
    """The second axis of a universal or planar joint, by default that of files without one.
    Raises OptionError."""
    if second is None:
        return default_second_axis(axis)
    x, y, z = map(float, as_vector3(f"{label}: axis2", second))
    across = _across(axis, (x, y, z))
    if across is None:
        raise OptionError(f"{label}: axis2 is not perpendicular to its axis")
    return across


SECOND_AXIS: Final = JointParameter(
    "axis2",
    3,
    _second_axis,
    _given_axis2,
    lambda axis, second: None if second == default_second_axis(axis) else ("axis2", "xyz", second),
    ("axis2",),
)


@dataclass(frozen=True, slots=True)
class DrakeAxes:
    """How Drake 1.51 defines the axes of a ``<drake:joint>``: the axis, or None where that of the
    element counts, and the second axis for it. Drake does not read the second axis."""

    axis: Triple | None
    second: Callable[[Triple], Triple] = default_second_axis


def _turned_x(normal: Triple) -> Triple:
    """The x axis after the shortest rotation that turns the z axis to `normal` (Drake's x direction
    of a planar joint); a rotation by pi is about the x axis."""
    x, y, z = normal
    h = math.hypot(x, y)
    u, v = (x / h, y / h) if h else (0.0, 0.0)
    return (1 - u * u * (1 - z), 0.0 - u * v * (1 - z), 0.0 - x)


@dataclass(frozen=True, slots=True)
class JointRow:
    """A word of a file: the key in JOINT_TYPES, whether the file gives such joints an axis and end
    stops, and what else the type takes from it, in the order of its constants."""

    kind: str
    axis: bool = True
    stops: bool = True
    limited: bool = False
    """Whether URDF wants the limits of such joints."""
    parameters: tuple[JointParameter, ...] = ()
    in_drake: DrakeAxes | None = None
    """The axes of such joints in a ``<drake:joint>``, where Drake defines them in its own way."""

    @property
    def type(self) -> JointType:
        """The type of such joints."""
        return JOINT_TYPES[self.kind]

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that stand in such joints alone."""
        return tuple(tag for parameter in self.parameters for tag in parameter.tags)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that the elements of such joints alone have."""
        return tuple(name for parameter in self.parameters for name in parameter.attributes)

    def constants_from_xml(self, node: XmlNode, axis: Triple) -> Constants:
        """The type's constants from a joint's element. Raises RobotError."""
        return tuple(x for parameter in self.parameters for x in parameter.from_xml(node, axis))

    def constants_from_python(
        self, label: str, axis: Triple, values: Mapping[str, Any]
    ) -> Constants:
        """The type's constants from what was given in Python for a joint called `label`. Raises
        OptionError, for a word too that such joints have not."""
        words = [parameter.word for parameter in self.parameters]
        foreign = [word for word, x in values.items() if x is not None and word not in words]
        if foreign:
            raise OptionError(f"{label}: a {self.kind} joint has no {foreign[0]}; remove it")
        return tuple(
            x
            for parameter in self.parameters
            for x in parameter.from_python(label, axis, values.get(parameter.word))
        )

    def constants_to_xml(self, axis: Triple, constants: Constants) -> list[Tag]:
        """The tags for the type's constants that are not the default for an axis."""
        tags, rest = [], constants
        for parameter in self.parameters:
            tags.append(parameter.to_xml(axis, rest[: parameter.size]))
            rest = rest[parameter.size :]
        return [tag for tag in tags if tag is not None]


JOINTS: Final[dict[str, JointRow]] = {
    "revolute": JointRow("revolute", limited=True),
    "continuous": JointRow("revolute", stops=False),
    "prismatic": JointRow("prismatic", limited=True),
    "floating": JointRow("floating", axis=False),
    "planar": JointRow("planar", parameters=(SECOND_AXIS,), in_drake=DrakeAxes(None, _turned_x)),
    "ball": JointRow("ball", axis=False),
    "universal": JointRow("universal", parameters=(SECOND_AXIS,), in_drake=DrakeAxes(IDENTITY[0])),
    "cylindrical": JointRow("cylindrical"),
    "screw": JointRow("screw", parameters=(PITCH,)),
}
"""The words for joints that move."""
for _word, _row in JOINTS.items():
    if _row.kind not in JOINT_TYPES:
        raise ValueError(f"{_word}: no joint type '{_row.kind}' in TYPES of standard_joints.py")
    if sum(x.size for x in _row.parameters) != len(_row.type.constants):
        raise ValueError(
            f"{_word}: a joint has the constants {_row.type.constants}; change its row"
        )


SYNONYMS: Final = {"spherical": "ball"}
"""Words of other programs (PyBullet) for joints, and ours."""

DRAKES: Final = "drake:joint"
"""Drake's element for the joints that URDF has not."""


def joint_nodes(root: XmlNode) -> list[XmlNode]:
    """The joints of a file in its order, Drake's among them."""
    plain = root.children("joint")
    elements = {node.element for node in plain}
    return [n for n in root if n.element in elements or n.tag == DRAKES]


def word_of(joint: XmlNode) -> str:
    """The word for the type of a joint's element, empty where it has none."""
    word = (joint.element.get("type") or "").strip()
    return SYNONYMS.get(word, word)


FIXED: Final = "fixed"
"""The word for one that does not."""


def has_one_coordinate(word: str) -> bool:
    """Whether joints of this word have one coordinate, which can be locked, driven and mimicked."""
    return word in JOINTS and JOINTS[word].type.has_one_coordinate


def springs_are_linear(word: str) -> bool:
    """Whether springs of joints of this word are linear in their coordinates, which they are not
    where a joint has a quaternion."""
    return word in JOINTS and not JOINTS[word].type.in_body_axes


def has_several_coordinates(word: str) -> bool:
    """Whether they have several."""
    return word in JOINTS and not JOINTS[word].type.has_one_coordinate


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
        return node.optional_number(attribute)
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
