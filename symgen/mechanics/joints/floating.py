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
    words = (
        "A floating joint has seven positions: x, y, z of the body's origin in the frame it moves "
        "in (m) and the unit quaternion qx, qy, qz, qw, which turns the body's axes into those of "
        "that frame. Its six velocities are the twist of the body in its own axes: velocity of the "
        "origin (m/s), angular velocity (rad/s); its forces are the force and the moment about the "
        "origin (N, N m) in the same axes.",
        OF_TWISTS,
    )
    run = (
        JointPart(SLIDE, Z, 2),
        JointPart(SLIDE, X, 0),
        JointPart(SLIDE, Y, 1),
        JointPart(TURN, X, 3),
        JointPart(TURN, Y, 4),
        JointPart(TURN, Z, 5),
    )
