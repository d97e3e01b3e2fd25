"""Cylindrical joints: the body slides along an axis by z (m) and turns about it by theta (rad)."""

from typing import TYPE_CHECKING

from symgen.mechanics.joints.freedom import SLIDE, TURN
from symgen.mechanics.joints.joint_type import Coordinate, JointPart, JointType

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint


class Cylindrical(JointType):
    """A slide and a hinge on one axis, without mass between them. (F08, table 4.1)"""

    name = "cylindrical"
    velocities = (Coordinate("z", "m"), Coordinate("theta", "rad"))
    words = (
        "A cylindrical joint translates along its axis by z (m) and rotates about it by "
        "theta (rad), independently.",
    )

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        return JointPart(SLIDE, joint.axis, 0), JointPart(TURN, joint.axis, 1)
