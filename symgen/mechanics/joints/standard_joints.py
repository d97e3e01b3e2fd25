"""The joint types: revolute, prismatic, cylindrical, screw, universal, planar, ball and floating
joints, and the types of rotors and of reflected rotor inertia, which the reader adds.

A geared drive has a balanced rotor, whose coordinate is that of the joint times the gear ratio
(Echeandia, Rigid-body dynamics algorithms, 2020, ch. 4). Armature is inertia that resists only the
motion of one joint. It is modelled as a body on the ground that moves relative to the ground as the
joint moves its child relative to the parent, and that has no weight: a rotor on the ground for a
coordinate that is the integral of its rate; for a ball or floating joint a body whose inertia is
the same about all axes, and a point mass. (F08: Featherstone, Rigid Body Dynamics Algorithms,
2008.)"""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from symgen.mechanics.joints.body_axes import TWIST_SENTENCES, BodyAxesJoint
from symgen.mechanics.joints.joint_type import (
    SLIDE,
    TURN,
    BalancedFreedom,
    Coordinate,
    Freedom,
    JointPart,
    JointType,
    PointFreedom,
    RoundFreedom,
)
from symgen.mechanics.pose import IDENTITY, Triple, cross
from symgen.numbers.scalar import dot, structural

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint

X, Y, Z = IDENTITY


class Revolute(JointType):
    """A hinge. (F08, table 4.1)"""

    name = "revolute"
    velocities = (Coordinate("", "rad"),)
    unbounded = True

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        return (JointPart(TURN, joint.axis),)


class Prismatic(JointType):
    """A slide. (F08, table 4.1)"""

    name = "prismatic"
    velocities = (Coordinate("", "m"),)

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        return (JointPart(SLIDE, joint.axis),)


class Cylindrical(JointType):
    """A slide and a hinge on one axis, without mass between them. (F08, table 4.1)"""

    name = "cylindrical"
    velocities = (Coordinate("z", "m"), Coordinate("theta", "rad"))
    documentation = (
        "A cylindrical joint translates along its axis by z (m) and rotates about it by "
        "theta (rad), independently.",
    )

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        return JointPart(SLIDE, joint.axis, 0), JointPart(TURN, joint.axis, 1)


class Screw(JointType):
    """One coordinate, S = (z; pitch z). (F08, table 4.1)"""

    name = "screw"
    velocities = (Coordinate("", "rad"),)
    constants = ("pitch (m/rad, right-handed)",)
    documentation = (
        "A screw joint rotates about its axis by q (rad) and translates along it by its "
        "pitch times q; its force is the torque on the screw (N m).",
    )

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        (pitch,) = joint.constants
        return (JointPart(Freedom(turn=1, slide=structural(pitch)), joint.axis),)


MAX_AXIS_ERROR: Final = 1e-6
"""Largest deviation of the squared length of the second axis from 1, and of its product with the
first axis from 0."""
MAX_COSINE_TO_X: Final = 0.9
"""Largest cosine between the x axis and the first axis at which the x axis gives the second."""


class SecondAxis(JointType):
    """A joint type whose constants are a second axis in the joint frame, a unit vector that is
    perpendicular to `axis`."""

    constants = ("second axis, x", "second axis, y", "second axis, z")

    def validate(self, joint: "Joint") -> str | None:
        """A sentence if the second axis is not a unit vector perpendicular to the first."""
        wrong = super().validate(joint)
        if wrong is not None:
            return wrong
        length = dot(joint.constants, joint.constants)
        product = dot(joint.constants, joint.axis)
        right = abs(length - 1) <= MAX_AXIS_ERROR and abs(product) <= MAX_AXIS_ERROR
        return None if right else "has axes of its joint that are not at right angles"


def default_second_axis(axis: Triple) -> Triple:
    """The x axis of the joint frame, projected onto the plane perpendicular to `axis` and scaled to
    length 1, or the y axis where x is (nearly) parallel to `axis`."""
    hint = IDENTITY[0] if abs(axis[0]) < MAX_COSINE_TO_X else IDENTITY[1]
    k = dot(hint, axis)
    in_plane = [h - k * n for h, n in zip(hint, axis, strict=True)]
    size = dot(in_plane, in_plane) ** 0.5
    return (in_plane[0] / size + 0.0, in_plane[1] / size + 0.0, in_plane[2] / size + 0.0)


class Universal(SecondAxis):
    """Two hinges whose axes meet, without mass between them; the first axis moves with the parent,
    the second with the body. (F08, section 4.4)"""

    name = "universal"
    velocities = (Coordinate("theta1", "rad"), Coordinate("theta2", "rad"))
    documentation = (
        "A universal joint rotates by theta1 about its first axis, which is fixed to the parent, "
        "and then by theta2 about its second axis, which is perpendicular to the first and fixed "
        "to the body.",
    )

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        x, y, z = joint.constants
        return JointPart(TURN, joint.axis, 0), JointPart(TURN, (x, y, z), 1)


class Planar(SecondAxis):
    """Two slides and a hinge, without mass between them; `axis` is the normal of the plane, the
    second axis its x direction."""

    name = "planar"
    velocities = (Coordinate("x", "m"), Coordinate("y", "m"), Coordinate("theta", "rad"))
    documentation = (
        "A planar joint translates by x and y and then rotates by theta about the normal of its "
        "plane. The default x direction is the projection of the x axis of the joint frame onto "
        "the plane (of its y axis if x is the normal), and (x, y, normal) is right-handed. "
        "Velocities and forces in x and y are along these directions, which do not rotate with "
        "the body.",
    )

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        a, b, c = joint.constants
        u, v, w = (x + 0.0 for x in cross(joint.axis, (a, b, c)))  # no negative zeros
        slides = JointPart(SLIDE, (a, b, c), 0), JointPart(SLIDE, (u, v, w), 1)
        return *slides, JointPart(TURN, joint.axis, 2)


class Ball(BodyAxesJoint):
    """Three coordinates: the angular velocity in the body's axes. (F08, section 4.5)"""

    name = "ball"
    positions = tuple(Coordinate(suffix, "1") for suffix in ("qx", "qy", "qz", "qw"))
    velocities = tuple(Coordinate(suffix, "rad") for suffix in ("wx", "wy", "wz"))
    quaternion = slice(0, 4)
    constant_parts: tuple[JointPart, ...] = (
        JointPart(TURN, Z, 2),
        JointPart(TURN, X, 0),
        JointPart(TURN, Y, 1),
    )
    documentation: tuple[str, ...] = (
        "A ball joint has four positions, the unit quaternion qx, qy, qz, qw of the rotation from "
        "body axes to joint axes. Its three velocities are the angular velocity of the body in "
        "body axes (rad/s), and its three forces are the moment in the same axes (N m).",
        *TWIST_SENTENCES,
    )


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
    documentation: tuple[str, ...] = (
        "A floating joint has seven positions: the origin x, y, z of the body in the parent frame "
        "(m), and the unit quaternion qx, qy, qz, qw of the rotation from body axes to parent "
        "axes. Its six velocities are the twist of the body in body axes: linear velocity of the "
        "origin (m/s), then angular velocity (rad/s). Its six forces are the force (N) and the "
        "moment about the origin (N m) in the same axes.",
        *TWIST_SENTENCES,
    )
    constant_parts: tuple[JointPart, ...] = (
        JointPart(SLIDE, Z, 2),
        JointPart(SLIDE, X, 0),
        JointPart(SLIDE, Y, 1),
        JointPart(TURN, X, 3),
        JointPart(TURN, Y, 4),
        JointPart(TURN, Z, 5),
    )


class RotorJoint(JointType):
    """A balanced rotor on the link that carries the joint: it turns about an axis and looks the
    same however far."""

    name = "rotor"
    velocities = (Coordinate("", "rad"),)
    is_rotor = True

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        return (JointPart(BalancedFreedom(turn=1), joint.axis),)


class Armature(RotorJoint):
    """A rotor on the ground in place of one on the robot, whose inertia about its axis is all that
    is taken of it; only its joint feels it."""

    name = "armature"
    on_robot = False


class OnGround(BodyAxesJoint):
    """The armature of a joint whose axes move with the body, of which only its joint feels it."""

    documentation: tuple[str, ...] = ()
    is_rotor = True
    on_robot = False


def _ending_in(freedom: Freedom, parts: tuple[JointPart, ...]) -> tuple[JointPart, ...]:
    """The parts, of which the last one has another freedom."""
    *others, last = parts
    return (*others, replace(last, freedom=freedom))


class BallArmature(OnGround, Ball):
    """The armature of a ball joint; the last of its bodies has the same inertia about all axes."""

    name = "ball_armature"
    constant_parts = _ending_in(RoundFreedom(turn=1), Ball.constant_parts)


class FloatingArmature(OnGround, Floating):
    """The armature of the rotation of a floating joint, likewise."""

    name = "floating_armature"
    constant_parts = _ending_in(RoundFreedom(turn=1), Floating.constant_parts)


class FloatingMass(OnGround, Floating):
    """The armature of the translation of a floating joint: the last of its bodies is a point mass,
    at its origin."""

    name = "floating_mass"
    constant_parts = _ending_in(PointFreedom(turn=1), Floating.constant_parts)


TYPES: Final[tuple[JointType, ...]] = (
    Ball(),
    Cylindrical(),
    Floating(),
    Planar(),
    Prismatic(),
    Revolute(),
    RotorJoint(),
    Armature(),
    BallArmature(),
    FloatingArmature(),
    FloatingMass(),
    Screw(),
    Universal(),
)
"""One instance of each type."""
