"""Prismatic joints: the body slides along an axis by q (m)."""

from typing import TYPE_CHECKING

from symgen.mechanics.joints.freedom import SLIDE
from symgen.mechanics.joints.joint_type import Coordinate, JointPart, JointType

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint


class Prismatic(JointType):
    """A slide. (F08, table 4.1)"""

    name = "prismatic"
    velocities = (Coordinate("", "m"),)

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        return (JointPart(SLIDE, joint.axis),)
