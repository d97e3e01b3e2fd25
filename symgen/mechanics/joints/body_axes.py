"""Joints whose velocity is a twist in the body's own axes, and whose configuration has a unit
quaternion.

Each of their velocities is a part with a constant unit twist, and all parts stay with the body: S
is constant there. (F08, section 4.5; the twist instead of Euler rates after Garofalo, Ott &
Albu-Schäffer, IROS 2013, remark 7.)"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from symgen.mechanics.joints.joint_type import JointPart, JointType, moving_rows
from symgen.mechanics.placement import (
    BodyAxesPlacement,
    Placement,
    ToAxis,
    Transform,
    steps_of,
)
from symgen.mechanics.spatial import (
    ZERO_TWIST,
    ZERO_VECTOR,
    Angle,
    Rotation,
    Step,
    Turn,
    Twist,
    Vector,
    axis_vector,
)
from symgen.numbers.scalar import ZERO, Scalar, plain

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint

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


class BodyAxesJoint(JointType):
    """Base of these types. The positions are x, y, z if the body can translate, and the quaternion.
    `constant_parts` are the parts; the frame of the first has the axes of the body."""

    in_body_axes = True
    constant_parts: tuple[JointPart, ...]

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        return self.constant_parts

    @property
    def units(self) -> tuple[Twist, ...]:
        """The unit twists of the parts, in the body's axes."""
        return tuple(_unit(part) for part in self.constant_parts)

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


def _unit(part: JointPart) -> Twist:
    """The unit twist of a part along a coordinate axis of the body."""
    k = part.axis.index(1.0)
    return Twist(axis_vector(k, part.freedom.turn), axis_vector(k, part.freedom.slide))


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


TWIST_SENTENCES: Final = (
    "Accelerations of ball and floating joints are the time derivatives of these velocities, and "
    "forces are power-conjugate to the velocities. Coordinates, velocities and forces are the same "
    "as in Pinocchio.",
    "The quaternion must have unit length; it is not normalized.",
    "Derivatives with respect to q (and directions dq) are taken along unit twists, with one "
    "column for each velocity, not with respect to the components of the quaternion.",
    "As for other joints, C qd is the bias force without gravity, dM/dt = C + C^T, and C_ij is the "
    "sum over k of Gamma_ijk qd_k. The following symmetries do not hold for two coordinates j and "
    "k of the same ball or floating joint: Gamma_ijk = Gamma_ikj (packed Christoffel symbols "
    "contain the mean), tau_qq_ijk = tau_qq_ikj, and dg_j/dq_k = dg_k/dq_j.",
    "tau_qq is the derivative of dtau_dq along unit twists.",
)
"""Sentences on the coordinates that all these types have in common."""

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
