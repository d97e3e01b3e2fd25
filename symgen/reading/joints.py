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
from symgen.reading.xml_reader import XmlNode

Constants = tuple[float, ...]
Tag = tuple[str, str, Constants]
"""A tag, an attribute, and its numbers."""


def _none(node: XmlNode, axis: Triple) -> Constants:
    return ()


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
    return (pitches[0] / (2 * math.pi),)


def _as_axis2(constants: Constants) -> list[Tag]:
    return [("axis2", "xyz", constants)]


def _as_pitch(constants: Constants) -> list[Tag]:
    return [(PITCHES[0], "value", (constants[0] * (2 * math.pi),))]


def _second_axis(node: XmlNode, axis: Triple) -> Constants:
    """The second axis of a universal joint (SDFormat's axis2): where the file is silent, what is x
    of the joint's frame in the plane across the first, or y where x is the first (Drake's choice).

    Raises RobotError."""
    second = node.only("axis2")
    if second is None:
        return plane(axis)[0]
    x, y, z = second.triple("xyz")
    length = math.hypot(x, y, z)
    product = x * axis[0] + y * axis[1] + z * axis[2]
    if not length or abs(product) > 1e-6 * length:
        raise second.error("axis2 of a universal joint is not at right angles to its axis")
    return (x / length, y / length, z / length)


def _nothing(label: str, axis: Triple, values: Mapping[str, Any]) -> Constants:
    return ()


def _given_pitch(label: str, axis: Triple, values: Mapping[str, Any]) -> Constants:
    """The pitch of a screw (m/rad) from its advance in one turn. Raises OptionError."""
    pitch = values["pitch"]
    if pitch is None or not math.isfinite(pitch):
        raise OptionError(
            f"{label}: a screw joint needs a pitch, the advance in one turn (m), positive for a "
            "right-handed thread"
        )
    return (float(pitch) / (2 * math.pi),)


def _given_axis2(label: str, axis: Triple, values: Mapping[str, Any]) -> Constants:
    """The second axis of a universal joint, by default that of files that are silent. Raises
    OptionError."""
    if values["axis2"] is None:
        return plane(axis)[0]
    x, y, z = map(float, values["axis2"])
    length = math.hypot(x, y, z)
    product = x * axis[0] + y * axis[1] + z * axis[2]
    if not length or abs(product) > 1e-6 * length:
        raise OptionError(f"{label}: axis2 is not at right angles to its axis")
    return (x / length, y / length, z / length)


def _no_tags(constants: Constants) -> list[Tag]:
    return []


@dataclass(frozen=True, slots=True)
class JointRow:
    """A word of a file: the key in JOINT_TYPES, whether the file gives such joints an axis and end
    stops, and what else the type takes from it."""

    kind: str
    axis: bool = True
    stops: bool = True
    limited: bool = False
    """Whether URDF wants the limits of such joints."""
    constants: Callable[[XmlNode, Triple], Constants] = _none
    tags: tuple[str, ...] = ()
    """What stands in such joints alone."""
    written: Callable[[Constants], list[Tag]] = _no_tags
    """The tags that say the type's constants."""
    words: tuple[str, ...] = ()
    """What such joints alone are given in Python."""
    from_python: Callable[[str, Triple, Mapping[str, Any]], Constants] = _nothing
    """The type's constants from those words."""

    @property
    def type(self) -> JointType:
        """The type of such joints."""
        return JOINT_TYPES[self.kind]

    def given(self, label: str, axis: Triple, values: Mapping[str, Any]) -> Constants:
        """The type's constants from what was given in Python for a joint called `label`. Raises
        OptionError, for a word too that other types have."""
        foreign = [word for word, x in values.items() if x is not None and word not in self.words]
        if foreign:
            raise OptionError(f"{label}: a {self.kind} joint has no {foreign[0]}; remove it")
        return self.from_python(label, axis, values)


JOINTS: Final[dict[str, JointRow]] = {
    "revolute": JointRow("revolute", limited=True),
    "continuous": JointRow("revolute", stops=False),
    "prismatic": JointRow("prismatic", limited=True),
    "floating": JointRow("floating", axis=False),
    "planar": JointRow("planar"),
    "ball": JointRow("ball", axis=False),
    "universal": JointRow(
        "universal",
        constants=_second_axis,
        tags=("axis2",),
        written=_as_axis2,
        words=("axis2",),
        from_python=_given_axis2,
    ),
    "cylindrical": JointRow("cylindrical"),
    "screw": JointRow(
        "screw",
        constants=_pitch,
        tags=PITCHES,
        written=_as_pitch,
        words=("pitch",),
        from_python=_given_pitch,
    ),
}
"""The words for joints that move."""


DRAKES: Final = "drake:joint"
"""Drake's element for the joints that URDF has not."""


def joint_nodes(root: XmlNode) -> list[XmlNode]:
    """The joints of a file in its order, Drake's among them."""
    plain = root.children("joint")
    elements = {node.element for node in plain}
    return [n for n in root if n.element in elements or n.tag == DRAKES]


FIXED: Final = "fixed"
"""The word for one that does not."""


def single(word: str) -> bool:
    """Whether joints of this word have one coordinate, which can be held, driven and mimicked."""
    return word in JOINTS and JOINTS[word].type.single


def several(word: str) -> bool:
    """Whether they have several."""
    return word in JOINTS and not JOINTS[word].type.single
