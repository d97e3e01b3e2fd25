"""One coordinate of a joint: the motion S that it allows, about and along the z axis of its frame.

(Featherstone, Rigid Body Dynamics Algorithms, 2008, section 3.5; written F08 below.)"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from symgen.mechanics.angle import Angle
from symgen.mechanics.inertia import Inertia
from symgen.mechanics.spatial import NO_FORCE, Force, Twist, Vector, along, times
from symgen.numbers.scalar import ZERO, Scalar


@dataclass(frozen=True)
class Freedom:
    """S = (`turn` z; `slide` z): what the body turns (rad) and slides (m) for one unit of the
    coordinate. Both are constants, whole numbers where they can be, so that exact numbers stay
    exact, and ZERO where the joint has no such motion."""

    turn: Scalar = ZERO
    slide: Scalar = ZERO
    unit: str = "rad"
    """The unit of the coordinate, rad or m."""
    spin: ClassVar[str] = ""
    """The moment of inertia that a rotor with this freedom has (`symgen.mechanics.independence`,
    MOMENTS); empty for bodies of links."""

    @cached_property
    def S(self) -> Twist:
        """The motion at unit rate, the same in the carrier's frame and in the body's."""
        return Twist(along(2, self.turn), along(2, self.slide))

    @property
    def pivots(self) -> bool:
        """Whether the body turns about points that it keeps, those on its axis."""
        return self.turn is not ZERO and self.slide is ZERO

    def angle(self, q: Scalar) -> Angle:
        """The body's rotation about z at coordinate `q`."""
        return Angle(times(self.turn, q))

    def displacement(self, q: Scalar) -> Scalar:
        """The body's displacement along z at coordinate `q` (m)."""
        return times(self.slide, q)

    def momentum(self, inertia: Inertia) -> Force:
        """The momentum of a body at unit rate, I S."""
        h, s = inertia.h, inertia.s
        total = NO_FORCE
        if self.turn is not ZERO:
            total = Force(Vector(-h.y, h.x, ZERO), Vector(-s.xz, -s.yz, s.across))
        if self.slide is not ZERO:
            sliding = Force(Vector(ZERO, ZERO, inertia.m), Vector(h.y, -h.x, ZERO))
            total = total + (sliding if self.slide == 1 else sliding.scaled(self.slide))
        return total

    def project(self, force: Force) -> Scalar:
        """The joint's share of a force on its body, Sᵀ f (N m or N)."""
        return times(self.turn, force.angular.z) + times(self.slide, force.linear.z)

    def regrouped(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """The part of its inertia that the body keeps, and the part that its parent can carry
        without any torque changing.

        The second part has no momentum along the joint and looks the same from the parent at every
        joint position (Gautier & Khalil, T-RA 1990): its pseudo-inertia P has L P = 0, with L the
        4x4 matrix of S that takes points to their velocities."""
        return inertia.split(rows_of(self.S))


def rows_of(unit: Twist) -> frozenset[int]:
    """The rows of a pseudo-inertia that meet the 4x4 matrix of a twist along coordinate axes: those
    across where it turns, the last where it slides."""
    turning = {k for axis, x in enumerate(unit.w) if x is not ZERO for k in range(3) if k != axis}
    return frozenset(turning | {3 for x in unit.v if x is not ZERO})


@dataclass(frozen=True)
class BalancedFreedom(Freedom):
    """The freedom of a body that looks the same however far it has turned, so that its frame need
    not turn with it and one number tells all of its own inertia."""

    spin = "J"

    def angle(self, q: Scalar) -> Angle:
        return Angle()

    def regrouped(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """The inertia about the axis stays, as that of a disc; all else turns with the parent."""
        return inertia.as_disc()


@dataclass(frozen=True)
class RoundFreedom(Freedom):
    """The freedom of a body without mass whose inertia is the same about all axes."""

    spin = "Jo"


@dataclass(frozen=True)
class PointFreedom(Freedom):
    """The freedom of a body that is a point mass at its origin."""

    spin = "m"


TURN = Freedom(turn=1)
SLIDE = Freedom(slide=1, unit="m")
