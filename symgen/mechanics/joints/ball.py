"""Ball (spherical) joints: the body turns about a point that it keeps, by a unit quaternion."""

from symgen.mechanics.joints.body_axes import OF_TWISTS, BodyAxesJoint
from symgen.mechanics.joints.freedom import TURN
from symgen.mechanics.joints.joint_type import Coordinate, JointPart
from symgen.mechanics.pose import IDENTITY

X, Y, Z = IDENTITY


class Ball(BodyAxesJoint):
    """Three coordinates: the angular velocity in the body's axes. (F08, section 4.5)"""

    name = "ball"
    positions = tuple(Coordinate(suffix, "1") for suffix in ("qx", "qy", "qz", "qw"))
    velocities = tuple(Coordinate(suffix, "rad") for suffix in ("wx", "wy", "wz"))
    quaternion = slice(0, 4)
    run = (JointPart(TURN, Z, 2), JointPart(TURN, X, 0), JointPart(TURN, Y, 1))
    words: tuple[str, ...] = (
        "A ball joint has four positions, the unit quaternion qx, qy, qz, qw of the rotation from "
        "body axes to joint axes. Its three velocities are the angular velocity of the body in "
        "body axes (rad/s), and its three forces are the moment in the same axes (N m).",
        *OF_TWISTS,
    )
