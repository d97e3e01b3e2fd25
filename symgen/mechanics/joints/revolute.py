"""Revolute and continuous joints: the body turns about an axis by q (rad)."""

from typing import TYPE_CHECKING

from symgen.mechanics.joints.freedom import TURN
from symgen.mechanics.joints.joint_type import Coordinate, JointPart, JointType

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint


class Revolute(JointType):
    """A hinge. (F08, table 4.1)"""

    name = "revolute"
    velocities = (Coordinate("", "rad"),)
    endless = True

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        return (JointPart(TURN, joint.axis),)
