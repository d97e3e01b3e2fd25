"""The joint types: the one place that knows how a joint moves, feels force and hides inertia.

Every joint acts along the z axis of its canonical frame. A new joint type is one class and its row
in `JOINT_TYPES`; the joint laws and every algorithm test iterate the rows."""

from typing import Final, Protocol

from symgen.mechanics.inertia import Inertia, Second
from symgen.mechanics.spatial import EZ, NULL, Angle, Force, Vector
from symgen.numbers.scalar import ZERO, Scalar


class JointType(Protocol):
    """What an algorithm may ask of a joint with one coordinate q and rate q̇."""

    name: str
    coordinate_unit: str
    force_unit: str
    fixed_axis: bool
    """Whether the joint's axis has a place (a prismatic joint has only a direction)."""
    balanced: bool
    """Whether the body looks the same at every coordinate, so that one number tells all of its own
    inertia."""

    grounded: bool
    """Whether the body stands for what only its joint feels, so that it adds nothing to the robot's
    momentum."""

    def turn(self, q: Scalar) -> Angle:
        """Rotation about z at coordinate `q`."""

    def slide(self, q: Scalar) -> Scalar:
        """Displacement along z at coordinate `q` (m)."""

    def spin(self, rate: Scalar) -> Scalar:
        """The part of a coordinate's rate (or acceleration) that turns the body about z."""

    def thrust(self, w: Vector, qd: Scalar, qdd: Scalar) -> Vector:
        """Acceleration of the body's origin due to the joint, at angular velocity `w`."""

    def momentum(self, inertia: Inertia) -> Force:
        """Momentum of a body moving at unit joint rate, I S."""

    def project(self, force: Force) -> Scalar:
        """The joint's share of a force on its body, Sᵀ f (N m or N)."""

    def regrouped(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """What the body keeps, and what its parent can carry without any torque changing.

        The second part has no momentum along the joint and looks the same from the parent at every
        joint position (Gautier & Khalil, T-RA 1990)."""


class Revolute:
    """Turns about z by q (rad)."""

    name = "revolute"
    coordinate_unit = "rad"
    force_unit = "N m"
    fixed_axis = True
    balanced = False
    grounded = False

    def turn(self, q: Scalar) -> Angle:
        return Angle(q)

    def slide(self, q: Scalar) -> Scalar:
        return ZERO

    def spin(self, rate: Scalar) -> Scalar:
        return rate

    def thrust(self, w: Vector, qd: Scalar, qdd: Scalar) -> Vector:
        return NULL

    def momentum(self, inertia: Inertia) -> Force:
        h, s = inertia.h, inertia.s
        return Force(Vector(-h.y, h.x, ZERO), Vector(-s.xz, -s.yz, s.across))

    def project(self, force: Force) -> Scalar:
        return force.angular.z

    def regrouped(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        h, s = inertia.h, inertia.s
        kept = Inertia(ZERO, Vector(h.x, h.y, ZERO), Second(s.xx, s.xy, s.xz, s.yy, s.yz, ZERO))
        handed = Inertia(
            inertia.m, Vector(ZERO, ZERO, h.z), Second(ZERO, ZERO, ZERO, ZERO, ZERO, s.zz)
        )
        return kept, handed


class Prismatic:
    """Slides along z by q (m)."""

    name = "prismatic"
    coordinate_unit = "m"
    force_unit = "N"
    fixed_axis = False
    balanced = False
    grounded = False

    def turn(self, q: Scalar) -> Angle:
        return Angle()

    def slide(self, q: Scalar) -> Scalar:
        return q

    def spin(self, rate: Scalar) -> Scalar:
        return ZERO

    def thrust(self, w: Vector, qd: Scalar, qdd: Scalar) -> Vector:
        coriolis = w.cross(EZ).scaled(qd)
        return Vector(coriolis.x + coriolis.x, coriolis.y + coriolis.y, qdd)

    def momentum(self, inertia: Inertia) -> Force:
        h = inertia.h
        return Force(Vector(ZERO, ZERO, inertia.m), Vector(h.y, -h.x, ZERO))

    def project(self, force: Force) -> Scalar:
        return force.linear.z

    def regrouped(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        zero = Second(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)
        return Inertia(inertia.m, inertia.h, zero), Inertia(ZERO, NULL, inertia.s)


class Rotor(Revolute):
    """A balanced rotor: turns about z, but looks the same however far it has turned, so its frame
    need not."""

    name = "rotor"
    balanced = True

    def turn(self, q: Scalar) -> Angle:
        return Angle()

    def regrouped(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """Its inertia about the axis stays, as that of a disc; all else turns with the parent."""
        half = 0.5 * inertia.s.across
        kept = Inertia(ZERO, NULL, Second(half, ZERO, ZERO, half, ZERO, ZERO))
        s = inertia.s
        handed = Second(s.xx - half, s.xy, s.xz, s.yy - half, s.yz, s.zz)
        return kept, Inertia(inertia.m, inertia.h, handed)


class Armature(Rotor):
    """A rotor on the ground in place of one on the robot, whose inertia about its axis is all that
    is taken of it."""

    name = "armature"
    grounded = True


JOINT_TYPES: Final[dict[str, JointType]] = {
    joint.name: joint for joint in (Revolute(), Prismatic(), Rotor(), Armature())
}
