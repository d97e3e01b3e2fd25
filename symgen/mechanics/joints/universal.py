"""Universal (Cardan) joints: the body turns about an axis, then about one at right angles."""

from typing import TYPE_CHECKING

from symgen.mechanics.joints.freedom import TURN
from symgen.mechanics.joints.joint_type import Coordinate, JointPart
from symgen.mechanics.joints.second_axis import SecondAxis

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint


class Universal(SecondAxis):
    """Two hinges whose axes meet, without mass between them; the first axis moves with the parent,
    the second with the body. (F08, section 4.4)"""

    name = "universal"
    velocities = (Coordinate("theta1", "rad"), Coordinate("theta2", "rad"))
    words = (
        "A universal joint rotates by theta1 about its first axis, which is fixed to the parent, "
        "and then by theta2 about its second axis, which is perpendicular to the first and fixed "
        "to the body.",
    )

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        x, y, z = joint.constants
        return JointPart(TURN, joint.axis, 0), JointPart(TURN, (x, y, z), 1)
