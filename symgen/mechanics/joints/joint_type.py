"""The type of a joint: the coordinates that people give, and the one-coordinate parts that
algorithms have."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from symgen.mechanics.inertia import Inertia
from symgen.mechanics.placement import Placement, ToAxis
from symgen.mechanics.pose import Triple
from symgen.mechanics.spatial import (
    ZERO_FORCE,
    Angle,
    Force,
    Twist,
    Vector,
    axis_vector,
    scale_constant,
)
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
    rotor_moment: ClassVar[str] = ""
    """The moment of inertia that a rotor with this freedom has (`symgen.mechanics.independence`,
    MOMENTS); empty for bodies of links."""

    @cached_property
    def S(self) -> Twist:
        """The motion at unit rate, the same in the carrier's frame and in the body's."""
        return Twist(axis_vector(2, self.turn), axis_vector(2, self.slide))

    @property
    def is_pure_rotation(self) -> bool:
        """True if the body rotates about the axis and does not translate along it."""
        return self.turn is not ZERO and self.slide is ZERO

    def angle(self, q: Scalar) -> Angle:
        """The body's rotation about z at coordinate `q`."""
        return Angle(scale_constant(self.turn, q))

    def displacement(self, q: Scalar) -> Scalar:
        """The body's displacement along z at coordinate `q` (m)."""
        return scale_constant(self.slide, q)

    def momentum(self, inertia: Inertia) -> Force:
        """The momentum of a body at unit rate, I S."""
        h, s = inertia.h, inertia.s
        total = ZERO_FORCE
        if self.turn is not ZERO:
            turning = Force(Vector(-h.y, h.x, ZERO), Vector(-s.xz, -s.yz, s.across))
            total = turning if self.turn == 1 else turning.scaled(self.turn)
        if self.slide is not ZERO:
            sliding = Force(Vector(ZERO, ZERO, inertia.m), Vector(h.y, -h.x, ZERO))
            total = total + (sliding if self.slide == 1 else sliding.scaled(self.slide))
        return total

    def project(self, force: Force) -> Scalar:
        """The joint's share of a force on its body, Sᵀ f (N m or N)."""
        return scale_constant(self.turn, force.angular.z) + scale_constant(
            self.slide, force.linear.z
        )

    def split_inertia(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """Split an inertia into the part that stays on the body, and the part that can move to the
        parent without a change of any joint force.

        The second part has no momentum along the joint and looks the same from the parent at every
        joint position (Gautier & Khalil, T-RA 1990): its pseudo-inertia P has L P = 0, with L the
        4x4 matrix of S that takes points to their velocities."""
        return inertia.split(moving_rows(self.S))


def moving_rows(unit: Twist) -> frozenset[int]:
    """The rows of a pseudo-inertia that the 4 x 4 matrix of a twist along coordinate axes
    multiplies: those across a rotation axis, and the last for a translation."""
    turning = {k for axis, x in enumerate(unit.w) if x is not ZERO for k in range(3) if k != axis}
    return frozenset(turning | {3 for x in unit.v if x is not ZERO})


@dataclass(frozen=True)
class BalancedFreedom(Freedom):
    """The freedom of a body that looks the same however far it has turned, so that its frame need
    not turn with it and one number tells all of its own inertia."""

    rotor_moment = "J"

    def angle(self, q: Scalar) -> Angle:
        return Angle()

    def split_inertia(self, inertia: Inertia) -> tuple[Inertia, Inertia]:
        """The inertia about the axis stays, as that of a disc; all else turns with the parent."""
        return inertia.as_disc()


@dataclass(frozen=True)
class RoundFreedom(Freedom):
    """The freedom of a body without mass whose inertia is the same about all axes."""

    rotor_moment = "Jo"


@dataclass(frozen=True)
class PointFreedom(Freedom):
    """The freedom of a body that is a point mass at its origin."""

    rotor_moment = "m"


TURN = Freedom(turn=1)
SLIDE = Freedom(slide=1, unit="m")


if TYPE_CHECKING:
    from symgen.mechanics.model import Joint


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A position or velocity of a joint: the end of its name (``wx`` of ``base.wx``, nothing where
    the joint has one coordinate) and its unit."""

    suffix: str
    unit: str


@dataclass(frozen=True, slots=True)
class JointPart:
    """One coordinate of a joint, which in the recursions is a body of its own: its freedom, whose z
    axis is `axis` in the joint's frame (unit), and which of the joint's velocities is its rate."""

    freedom: Freedom
    axis: Triple
    velocity: int = 0


class JointType(ABC):
    """A type of joint. By default its parts are consecutive joints with one coordinate each, every
    axis moves with the part before, and its positions are the coordinates of the parts."""

    name: str = ""
    """Its key in JOINT_TYPES, and the word for it in tables; none of what is only a base."""
    velocities: tuple[Coordinate, ...]
    documentation: tuple[str, ...] = ()
    """What people have to know of its coordinates, a sentence each."""
    in_body_axes: bool = False
    """Whether all its axes move with the body; else each moves with the part before it."""
    quaternion: slice | None = None
    """Where among its positions a unit quaternion x, y, z, w is."""
    on_robot: bool = True
    """False where its body stands for what only one joint feels, which is no momentum of the
    robot's."""
    is_rotor: bool = False
    """Whether its body is a rotor, with inertia about the axis alone."""
    constants: tuple[str, ...] = ()
    """The names of what else it takes from the file."""
    unbounded: bool = False
    """Whether it may turn on and on, so that it needs no limits."""

    @property
    def positions(self) -> tuple[Coordinate, ...]:
        """The coordinates of its configuration; their rates are the velocities, unless it has a
        quaternion."""
        return self.velocities

    @property
    def has_one_coordinate(self) -> bool:
        """True if it has one coordinate, which can be locked, be driven, mimic and be mimicked."""
        return len(self.velocities) == 1

    @property
    def unit(self) -> str:
        """Unit of the coordinate, units of several."""
        return ", ".join(dict.fromkeys(row.unit for row in self.positions))

    @abstractmethod
    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        """The one-coordinate parts of a joint, innermost first."""

    def validate(self, joint: "Joint") -> str | None:
        """A sentence about wrong constants of a joint of this type, None if they are valid."""
        right = len(joint.constants) == len(self.constants)
        return None if right else f"has {len(joint.constants)} constants of its joint's type"

    def placement(
        self, joint: "Joint", part: int, to_axis: ToAxis, theta0: Angle, r: Scalar
    ) -> Placement:
        """How to reach the body of a part from its parent, with the constants of its canonical
        frame."""
        return Placement(to_axis, theta0, r, self.parts(joint)[part].freedom)

    def integrate(self, q: Sequence[float], v: Sequence[float]) -> list[float]:
        """The positions after moving at constant velocities `v` for one unit of time."""
        return [x + rate for x, rate in zip(q, v, strict=True)]
