"""The joint types of a file: for each word one row, with the type that it is and what the file has
to say of it.

The words are URDF's and, for joints that URDF has not, SDFormat's and Drake's (whose element
``<drake:joint>`` has them): ball, universal, screw; and cylindrical."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from symgen.errors import OptionError
from symgen.mechanics.joints import JOINT_TYPES, JointType
from symgen.mechanics.joints.planar import plane
from symgen.mechanics.pose import Triple
from symgen.reading.given import one, triple
from symgen.reading.xml_reader import XmlNode

Constants = tuple[float, ...]
Tag = tuple[str, str, Constants]
"""A tag in the joint's element (empty: that element itself), an attribute, and its numbers."""


@dataclass(frozen=True, slots=True)
class JointConstants:
    """The constants that joints of a type take beside their axis, as one thing that people give:
    how a file says it, and how Python does."""

    word: str
    """What it is called in Python."""
    size: int
    """How many of the type's constants it is."""
    read: Callable[[XmlNode, Triple], Constants]
    """From the joint's element and its axis. Raises RobotError."""
    given: Callable[[str, Triple, Any], Constants]
    """From the joint's label, its axis and what was given in Python, None for nothing. Raises
    OptionError."""
    written: Callable[[Constants], Tag]
    """The tag that says it, in the numbers that Python takes."""
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
            f"a screw joint needs one pitch, here are {len(pitches) or 'none'}; "
            'write pitch="..." in its tag, the advance in one turn (m), positive for a '
            "right-handed thread"
        )
    return (pitches[0] / TURN,)


def _given_pitch(label: str, axis: Triple, pitch: Any) -> Constants:
    """The pitch of a screw (m/rad) from its advance in one turn. Raises OptionError."""
    if pitch is None:
        raise OptionError(
            f"{label}: a screw joint needs a pitch, the advance in one turn (m), positive for a "
            "right-handed thread"
        )
    return (float(one(f"{label}: pitch", pitch, names=False)) / TURN,)


PITCH: Final = JointConstants(
    "pitch",
    1,
    _pitch,
    _given_pitch,
    lambda constants: (PITCHES[0], "value", (constants[0] * TURN,)),
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
    """The second axis of a universal joint (SDFormat's axis2): where the file is silent, what is x
    of the joint's frame in the plane across the first, or y where x is the first (Drake's choice).

    Raises RobotError."""
    second = node.only("axis2")
    if second is None:
        return plane(axis)[0]
    across = _across(axis, second.triple("xyz"))
    if across is None:
        raise second.error("axis2 of a universal joint is not at right angles to its axis")
    return across


def _given_axis2(label: str, axis: Triple, second: Any) -> Constants:
    """The second axis of a universal joint, by default that of files that are silent. Raises
    OptionError."""
    if second is None:
        return plane(axis)[0]
    x, y, z = map(float, triple(f"{label}: axis2", second))
    across = _across(axis, (x, y, z))
    if across is None:
        raise OptionError(f"{label}: axis2 is not at right angles to its axis")
    return across


SECOND_AXIS: Final = JointConstants(
    "axis2",
    3,
    _second_axis,
    _given_axis2,
    lambda constants: ("axis2", "xyz", constants),
    ("axis2",),
)


@dataclass(frozen=True, slots=True)
class JointRow:
    """A word of a file: the key in JOINT_TYPES, whether the file gives such joints an axis and end
    stops, and what else the type takes from it, in the order of its constants."""

    kind: str
    axis: bool = True
    stops: bool = True
    limited: bool = False
    """Whether URDF wants the limits of such joints."""
    takes: tuple[JointConstants, ...] = ()
    of_drake: Triple | None = None
    """The axis of such joints in Drake's element, whatever that says."""

    @property
    def type(self) -> JointType:
        """The type of such joints."""
        return JOINT_TYPES[self.kind]

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags that stand in such joints alone."""
        return tuple(tag for taken in self.takes for tag in taken.tags)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that the elements of such joints alone have."""
        return tuple(name for taken in self.takes for name in taken.attributes)

    def constants(self, node: XmlNode, axis: Triple) -> Constants:
        """The type's constants from a joint's element. Raises RobotError."""
        return tuple(x for taken in self.takes for x in taken.read(node, axis))

    def given(self, label: str, axis: Triple, values: Mapping[str, Any]) -> Constants:
        """The type's constants from what was given in Python for a joint called `label`. Raises
        OptionError, for a word too that such joints have not."""
        words = [taken.word for taken in self.takes]
        foreign = [word for word, x in values.items() if x is not None and word not in words]
        if foreign:
            raise OptionError(f"{label}: a {self.kind} joint has no {foreign[0]}; remove it")
        return tuple(
            x for taken in self.takes for x in taken.given(label, axis, values.get(taken.word))
        )

    def written(self, constants: Constants) -> list[Tag]:
        """The tags that say the type's constants."""
        tags, rest = [], constants
        for taken in self.takes:
            tags.append(taken.written(rest[: taken.size]))
            rest = rest[taken.size :]
        return tags


JOINTS: Final[dict[str, JointRow]] = {
    "revolute": JointRow("revolute", limited=True),
    "continuous": JointRow("revolute", stops=False),
    "prismatic": JointRow("prismatic", limited=True),
    "floating": JointRow("floating", axis=False),
    "planar": JointRow("planar", of_drake=(0.0, 0.0, 1.0)),
    "ball": JointRow("ball", axis=False),
    "universal": JointRow("universal", takes=(SECOND_AXIS,), of_drake=(1.0, 0.0, 0.0)),
    "cylindrical": JointRow("cylindrical"),
    "screw": JointRow("screw", takes=(PITCH,)),
}
"""The words for joints that move."""


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


def single(word: str) -> bool:
    """Whether joints of this word have one coordinate, which can be held, driven and mimicked."""
    return word in JOINTS and JOINTS[word].type.single


def springs_are_linear(word: str) -> bool:
    """Whether springs of joints of this word are linear in their coordinates, which they are not
    where a joint has a quaternion."""
    return word in JOINTS and not JOINTS[word].type.in_body_axes


def several(word: str) -> bool:
    """Whether they have several."""
    return word in JOINTS and not JOINTS[word].type.single
