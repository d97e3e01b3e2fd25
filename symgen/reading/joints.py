"""The joint types of a file: for each word one row, with the type that it is and what the file has
to say of it."""

from dataclasses import dataclass
from typing import Final

from symgen.mechanics.joints import JOINT_TYPES, JointType


@dataclass(frozen=True, slots=True)
class JointRow:
    """A word of a file: the key in JOINT_TYPES, and whether the file gives such joints an axis and
    end stops."""

    kind: str
    axis: bool = True
    stops: bool = True

    @property
    def type(self) -> JointType:
        """What is known of such joints."""
        return JOINT_TYPES[self.kind]


JOINTS: Final[dict[str, JointRow]] = {
    "revolute": JointRow("revolute"),
    "continuous": JointRow("revolute", stops=False),
    "prismatic": JointRow("prismatic"),
    "floating": JointRow("floating", axis=False),
    "planar": JointRow("planar"),
}
"""The words for joints that move."""

FIXED: Final = "fixed"
"""The word for one that does not."""


def single(word: str) -> bool:
    """Whether joints of this word have one coordinate, which can be held, driven and mimicked."""
    return word in JOINTS and JOINTS[word].type.single


def several(word: str) -> bool:
    """Whether they have several."""
    return word in JOINTS and not JOINTS[word].type.single
