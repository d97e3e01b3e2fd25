"""Universal (Cardan) joints: the body turns about an axis, then about one at right angles."""

from typing import TYPE_CHECKING, Final

from symgen.mechanics.joints.freedom import TURN
from symgen.mechanics.joints.joint_type import Coordinate, JointPart, JointType

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint

CLOSE: Final = 1e-6
"""How far the length of the second axis may be from 1, and its product with the first from 0."""


class Universal(JointType):
    """Two hinges whose axes meet, without mass between them; the first axis moves with the parent,
    the second with the body. (F08, section 4.4)"""

    name = "universal"
    velocities = (Coordinate("theta1", "rad"), Coordinate("theta2", "rad"))
    constants = ("second axis, x", "second axis, y", "second axis, z")
    words = (
        "A universal joint rotates by theta1 about its first axis, which is fixed to the parent, "
        "and then by theta2 about its second axis, which is perpendicular to the first and fixed "
        "to the body.",
    )

    def fault(self, joint: "Joint") -> str | None:
        """The second axis is a unit vector at right angles to the first."""
        wrong = super().fault(joint)
        if wrong is not None:
            return wrong
        length = sum(x * x for x in joint.constants)
        product = sum(x * y for x, y in zip(joint.constants, joint.axis, strict=True))
        right = abs(length - 1) <= CLOSE and abs(product) <= CLOSE
        return None if right else "has axes of its joint that are not at right angles"

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        x, y, z = joint.constants
        return JointPart(TURN, joint.axis, 0), JointPart(TURN, (x, y, z), 1)
