"""Screw (helical) joints: turning by q (rad) advances the body along the axis by the pitch times
q."""

from typing import TYPE_CHECKING

from symgen.mechanics.joints.freedom import Freedom
from symgen.mechanics.joints.joint_type import Coordinate, JointPart, JointType
from symgen.numbers.scalar import structural

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint


class Screw(JointType):
    """One coordinate, S = (z; pitch z). (F08, table 4.1)"""

    name = "screw"
    velocities = (Coordinate("", "rad"),)
    constants = ("pitch (m/rad, right-handed)",)
    words = (
        "A screw joint rotates about its axis by q (rad) and translates along it by its "
        "pitch times q; its force is the torque on the screw (N m).",
    )

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        (pitch,) = joint.constants
        return (JointPart(Freedom(turn=1, slide=structural(pitch)), joint.axis),)
