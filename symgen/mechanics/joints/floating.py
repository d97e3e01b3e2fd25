"""Floating joints: the body is anywhere, turned by a unit quaternion, and moves by a twist."""

from symgen.mechanics.joints.body_axes import OF_TWISTS, BodyAxesJoint
from symgen.mechanics.joints.freedom import SLIDE, TURN
from symgen.mechanics.joints.joint_type import Coordinate, JointPart
from symgen.mechanics.pose import IDENTITY

X, Y, Z = IDENTITY


class Floating(BodyAxesJoint):
    """Six coordinates; the last of the parts has the body's own axes for its frame, as the first
    has."""

    name = "floating"
    positions = (
        *(Coordinate(suffix, "m") for suffix in ("x", "y", "z")),
        *(Coordinate(suffix, "1") for suffix in ("qx", "qy", "qz", "qw")),
    )
    velocities = (
        *(Coordinate(suffix, "m") for suffix in ("vx", "vy", "vz")),
        *(Coordinate(suffix, "rad") for suffix in ("wx", "wy", "wz")),
    )
    quaternion = slice(3, 7)
    words: tuple[str, ...] = (
        "A floating joint has seven positions: the origin x, y, z of the body in the parent frame "
        "(m), and the unit quaternion qx, qy, qz, qw of the rotation from body axes to parent "
        "axes. Its six velocities are the twist of the body in body axes: linear velocity of the "
        "origin (m/s), then angular velocity (rad/s). Its six forces are the force (N) and the "
        "moment about the origin (N m) in the same axes.",
        *OF_TWISTS,
    )
    run = (
        JointPart(SLIDE, Z, 2),
        JointPart(SLIDE, X, 0),
        JointPart(SLIDE, Y, 1),
        JointPart(TURN, X, 3),
        JointPart(TURN, Y, 4),
        JointPart(TURN, Z, 5),
    )
