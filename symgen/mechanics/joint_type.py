"""Types of joints: the coordinates that people give, and the one-coordinate parts that algorithms
have; and what the types with all axes in the body have in common, whose configuration has a unit
quaternion."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

from symgen.mechanics.inertia import Inertia
from symgen.mechanics.placement import (
    BodyAxesPlacement,
    Placement,
    ToAxis,
    Transform,
    steps_of,
)
from symgen.mechanics.spatial import (
    ZERO_FORCE,
    ZERO_TWIST,
    ZERO_VECTOR,
    Angle,
    Force,
    Rotation,
    Step,
    Triple,
    Turn,
    Twist,
    Vector,
    axis_vector,
    cross,
    scale_constant,
)
from symgen.numbers.scalar import ZERO, Scalar, dot, plain, structural


@dataclass(frozen=True)
class Freedom:
    """S = (`turn` z; `slide` z): what the body turns (rad) and slides (m) for one unit of the
    coordinate. Both are constants, whole numbers where they can be, so that exact numbers stay
    exact, and ZERO where the joint has no such motion."""

    turn: Scalar = ZERO
    slide: Scalar = ZERO
    unit: str = "rad"
    """The unit of the coordinate, rad or m."""
    rotor_moment: str = ""
    """The one moment of inertia that a rotor has, about its axis or (`ROUND`) about all axes, or
    its mass if it is a `POINT`; empty for bodies of links (`symgen.mechanics.independence`,
    MOMENTS)."""

    @cached_property
    def S(self) -> Twist:
        """The motion at unit rate, the same in the carrier's frame and in the body's."""
        return Twist(axis_vector(2, self.turn), axis_vector(2, self.slide))

    @property
    def is_pure_rotation(self) -> bool:
        """True if the body rotates about the axis and does not translate along it."""
        return self.turn is not ZERO and self.slide is ZERO

    @property
    def is_balanced(self) -> bool:
        """True if the body looks the same however far it has turned, so that its frame need not
        turn with it."""
        return self.rotor_moment == BALANCED

    def angle(self, q: Scalar) -> Angle:
        """The rotation of the body's frame about z at coordinate `q`."""
        return Angle() if self.is_balanced else Angle(scale_constant(self.turn, q))

    def displacement(self, q: Scalar) -> Scalar:
        """The body's displacement along z at coordinate `q` (m)."""
        return scale_constant(self.slide, q)

    def momentum(self, inertia: Inertia) -> Force:
        """The momentum of a body at unit rate, I S."""
        h, s = inertia.h, inertia.s
        total = ZERO_FORCE
        if self.turn is not ZERO:
            turning = Force(Vector(-h.y, h.x, ZERO), Vector(-s.xz, -s.yz, s.polar))
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
        4x4 matrix of S that takes points to their velocities. A balanced body keeps a disc."""
        return inertia.as_disc() if self.is_balanced else inertia.split(moving_rows(self.S))


def moving_rows(unit: Twist) -> frozenset[int]:
    """The rows of a pseudo-inertia that the 4 x 4 matrix of a twist along coordinate axes
    multiplies: those across a rotation axis, and the last for a translation."""
    turning = {k for axis, x in enumerate(unit.w) if x is not ZERO for k in range(3) if k != axis}
    return frozenset(turning | {3 for x in unit.v if x is not ZERO})


BALANCED, ROUND, POINT = "J", "Jo", "m"
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


SECOND_AXIS: Final = ("second axis, x", "second axis, y", "second axis, z")
"""The constants of a type with a second axis in the joint frame, a unit vector perpendicular to the
first one."""
PITCH: Final = ("pitch (m/rad, right-handed)",)
"""The constant of a type that translates along its axis as it rotates."""
MAX_AXIS_ERROR: Final = 1e-6
"""Largest deviation of the squared length of the second axis from 1, and of its product with the
first axis from 0."""


@dataclass(frozen=True, eq=False)
class JointType:
    """A type of joint whose parts are consecutive joints with one coordinate each: every axis moves
    with the part before, and the positions are the coordinates of the parts. `freedoms` are those
    of the parts, each with the index of its axis: the joint's axis, the second axis and the axis
    across these."""

    name: str
    velocities: tuple[Coordinate, ...]
    freedoms: tuple[tuple[Freedom, int], ...] = ()
    documentation: tuple[str, ...] = ()
    """What people have to know of its coordinates, a sentence each."""
    constants: tuple[str, ...] = ()
    """The names of what else it takes from the file."""
    unbounded: bool = False
    """Whether it may turn on and on, so that it needs no limits."""
    is_rotor: bool = False
    """Whether its body is a rotor, with inertia about the axis alone."""
    on_robot: bool = True
    """False where its body stands for what only one joint feels, which is no momentum of the
    robot's."""
    in_body_axes: ClassVar[bool] = False
    """Whether all its axes move with the body; else each moves with the part before it."""

    @property
    def positions(self) -> tuple[Coordinate, ...]:
        """The coordinates of its configuration; their rates are the velocities, unless it has a
        quaternion."""
        return self.velocities

    @property
    def quaternion(self) -> slice | None:
        """Where among its positions a unit quaternion x, y, z, w is."""
        return None

    @property
    def has_one_coordinate(self) -> bool:
        """True if it has one coordinate, which can be locked, be driven, mimic and be mimicked."""
        return len(self.velocities) == 1

    @property
    def unit(self) -> str:
        """Unit of the coordinate, units of several."""
        return ", ".join(dict.fromkeys(row.unit for row in self.positions))

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        """The one-coordinate parts of a joint, innermost first."""
        axes, freedoms = [joint.axis], self.freedoms
        if self.constants == SECOND_AXIS:
            a, b, c = joint.constants
            x, y, z = (e + 0.0 for e in cross(joint.axis, (a, b, c)))  # no negative zeros
            axes += [(a, b, c), (x, y, z)]
        elif self.constants == PITCH:
            freedoms = ((Freedom(turn=1, slide=structural(joint.constants[0])), 0),)
        return tuple(JointPart(f, axes[axis], k) for k, (f, axis) in enumerate(freedoms))

    def validate(self, joint: "Joint") -> str | None:
        """A sentence about wrong constants of a joint of this type, None if they are valid."""
        if len(joint.constants) != len(self.constants):
            return f"has {len(joint.constants)} constants of its joint's type"
        if self.constants == SECOND_AXIS:
            length = dot(joint.constants, joint.constants)
            product = dot(joint.constants, joint.axis)
            if abs(length - 1) > MAX_AXIS_ERROR or abs(product) > MAX_AXIS_ERROR:
                return "has axes of its joint that are not at right angles"
        return None

    def placement(
        self, joint: "Joint", part: int, to_axis: ToAxis, theta0: Angle, r: Scalar
    ) -> Placement:
        """How to reach the body of a part from its parent, with the constants of its canonical
        frame."""
        return Placement(to_axis, theta0, r, self.parts(joint)[part].freedom)

    def integrate(self, q: Sequence[float], v: Sequence[float]) -> list[float]:
        """The positions after moving at constant velocities `v` for one unit of time."""
        return [x + rate for x, rate in zip(q, v, strict=True)]


# -- joints with all axes in the body --------------------------------------------------------------

Quaternion = tuple[Scalar, Scalar, Scalar, Scalar]
"""A unit quaternion x, y, z, w."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The position (m) and the orientation of such a body in the joint frame, followed by
    infinitesimal displacements along twists in the axes of the body. `units` are the unit twists of
    the parts of the joint, in the axes of the body."""

    position: Vector
    quaternion: Quaternion
    units: tuple[Twist, ...]
    displacements: tuple[Twist, ...] = ()

    @property
    def transforms(self) -> tuple[Transform, ...]:
        """From the joint's frame to the body's."""
        displaced = (
            Transform(n.v, tuple(Turn(k, Angle(x)) for k, x in enumerate(n.w) if x is not ZERO))
            for n in self.displacements
        )
        return (
            Transform(self.position, (Rotation.by(quaternion_rows(self.quaternion)),)),
            *displaced,
        )

    @property
    def steps(self) -> tuple[Step, ...]:
        """The transform to the body's frame in elementary steps."""
        return steps_of(self.transforms)

    def displaced_by(self, changes: Sequence[Scalar]) -> "Configuration":
        """Displaced by small changes of the integrals of the velocities, those of the parts
        first."""
        return replace(
            self, displacements=(*self.displacements, twist_from_rates(self.units, changes))
        )


def twist_from_rates(units: Sequence[Twist], rates: Sequence[Scalar]) -> Twist:
    """The sum of unit twists times the first of the rates."""
    pairs = zip(units, rates, strict=False)
    return sum((unit.at_rate(rate) for unit, rate in pairs), ZERO_TWIST)


class WithFirstPart:
    """The position of all parts but the first, which move together with the first."""

    def displaced_by(self, changes: Sequence[Scalar]) -> "WithFirstPart":
        """Itself: the part stays with the first one, whatever displaces that."""
        return self


WITH_FIRST_PART = WithFirstPart()


@dataclass(frozen=True, eq=False, kw_only=True)
class BodyAxesJoint(JointType):
    """A type whose velocity is a twist in the body's own axes, and whose configuration has a unit
    quaternion, after x, y, z if the body can translate. Each velocity is a part with a constant
    unit twist, and all parts stay with the body: S is constant there. (F08, section 4.5; the twist
    instead of Euler rates after Garofalo, Ott & Albu-Schäffer, IROS 2013, remark 7.)

    The frame of the first of the `constant_parts` has the axes of the body."""

    constant_parts: tuple[JointPart, ...]
    in_body_axes: ClassVar[bool] = True

    @property
    def positions(self) -> tuple[Coordinate, ...]:
        translated = [Coordinate(axis, "m") for axis in "xyz" if "v" + axis in self._suffixes]
        return *translated, *(Coordinate("q" + axis, "1") for axis in "xyzw")

    @property
    def _suffixes(self) -> set[str]:
        return {row.suffix for row in self.velocities}

    @property
    def quaternion(self) -> slice:
        return slice(len(self.positions) - 4, len(self.positions))

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        return self.constant_parts

    @property
    def units(self) -> tuple[Twist, ...]:
        """The unit twists of the parts, in the body's axes."""
        axes = [(part.axis.index(1.0), part.freedom) for part in self.constant_parts]
        return tuple(Twist(axis_vector(k, f.turn), axis_vector(k, f.slide)) for k, f in axes)

    def placement(
        self, joint: "Joint", part: int, to_axis: ToAxis, theta0: Angle, r: Scalar
    ) -> Placement:
        """The first part moves by all coordinates, the others stay with it."""
        units = () if part else self.units
        return BodyAxesPlacement(
            to_axis, theta0, r, self.constant_parts[part].freedom, units, self.rows
        )

    @property
    def rows(self) -> frozenset[int]:
        """The rows of a pseudo-inertia that affect the force of any coordinate."""
        return frozenset().union(*(moving_rows(unit) for unit in self.units))

    def configuration(
        self, part: int, q: Sequence[Scalar], place: int
    ) -> "Configuration | WithFirstPart":
        """The position of a part from all positions of a robot; those of this joint begin at
        `place`."""
        if part:
            return WITH_FIRST_PART
        *xyz, a, b, c, w = q[place : place + len(self.positions)]
        return Configuration(Vector(*xyz) if xyz else ZERO_VECTOR, (a, b, c, w), self.units)

    def integrate(self, q: Sequence[float], v: Sequence[float]) -> list[float]:
        """Along exp of the twist (Murray, Li & Sastry, A mathematical introduction to robotic
        manipulation, 1994, eqs. 2.14 and 2.36)."""
        *xyz, a, b, c, d = q
        twist = twist_from_rates(self.units, [v[part.velocity] for part in self.constant_parts])
        w, linear = ([plain(x) for x in part] for part in (twist.w, twist.v))
        shift = Vector(*_screw_shift(w, linear))
        moved = [plain(row.dot(shift)) for row in quaternion_rows((a, b, c, d))]
        return [*(x + y for x, y in zip(xyz, moved, strict=False)), *_turned((a, b, c, d), w)]


def _screw_shift(w: Sequence[float], v: Sequence[float]) -> list[float]:
    """How far the origin gets in one unit of time at a constant twist in the body's axes."""
    angle = math.hypot(*w)
    turned = [w[k - 2] * v[k - 1] - w[k - 1] * v[k - 2] for k in range(3)]
    turned_twice = [w[k - 2] * turned[k - 1] - w[k - 1] * turned[k - 2] for k in range(3)]
    one, two = (
        ((1 - math.cos(angle)) / angle**2, (angle - math.sin(angle)) / angle**3)
        if angle > MIN_SERIES_ANGLE
        else (0.5, 1 / 6)
    )
    return [x + one * y + two * z for x, y, z in zip(v, turned, turned_twice, strict=True)]


def _turned(quaternion: Quaternion, w: Sequence[float]) -> list[float]:
    """The quaternion times that of a turn by the vector `w` (rad)."""
    angle = math.hypot(*w)
    size = math.sin(angle / 2) / angle if angle > MIN_SERIES_ANGLE else 0.5
    x, y, z, c = map(plain, quaternion)
    (i, j, k), d = (size * e for e in w), math.cos(angle / 2)
    return [
        c * i + d * x + y * k - z * j,
        c * j + d * y + z * i - x * k,
        c * k + d * z + x * j - y * i,
        c * d - x * i - y * j - z * k,
    ]


MIN_SERIES_ANGLE: Final = 1e-5
"""Below this angle (rad) the next terms of the series are less than rounding."""


def quaternion_rows(quaternion: Sequence[Scalar]) -> tuple[Vector, Vector, Vector]:
    """The rows of the rotation by a unit quaternion x, y, z, w."""
    x, y, z, w = quaternion
    x2, y2, z2 = x + x, y + y, z + z
    return (
        Vector(1.0 - (y2 * y + z2 * z), x2 * y - z2 * w, x2 * z + y2 * w),
        Vector(x2 * y + z2 * w, 1.0 - (x2 * x + z2 * z), y2 * z - x2 * w),
        Vector(x2 * z - y2 * w, y2 * z + x2 * w, 1.0 - (x2 * x + y2 * y)),
    )
