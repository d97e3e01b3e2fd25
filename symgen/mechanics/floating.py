"""Floating joints: a position and a unit quaternion, with a twist in the body's own axes as
velocity.

The six rates of such a joint are those of a run of six bodies whose frames all stay with the last:
S is constant and six unit vectors. (Featherstone, Rigid Body Dynamics Algorithms, 2008, section
4.5; the twist instead of Euler rates after Garofalo, Ott & Albu-Schäffer, IROS 2013, remark 7.)"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from symgen.mechanics.spatial import Angle, Orient, Shift, Step, Turn, Vector
from symgen.numbers.scalar import ZERO, Scalar

VELOCITIES: Final = ("vx", "vy", "vz", "wx", "wy", "wz")
POSITIONS: Final = ("x", "y", "z", "qx", "qy", "qz", "qw")
RUN: Final = (
    ("prismatic", 2),
    ("prismatic", 0),
    ("prismatic", 1),
    ("revolute", 0),
    ("revolute", 1),
    ("revolute", 2),
)
"""The joints of a run by type and axis. The first and the last have the body's own axes for their
frames."""

VELOCITY_OF: Final = (2, 0, 1, 3, 4, 5)
"""Which of VELOCITIES is the rate of each joint of a run."""

Six = tuple[Vector, Vector]


@dataclass(frozen=True, slots=True)
class Afloat:
    """The configuration of a floating joint: where the body is (m) and how it is turned (x, y, z, w
    of a unit quaternion), then displacements in the body's axes (translation, rotation), infinitely
    small ones."""

    place: Vector
    turned: tuple[Scalar, Scalar, Scalar, Scalar]
    nudges: tuple[Six, ...] = ()

    @classmethod
    def of(cls, seven: Sequence[Scalar]) -> "Afloat":
        """From the seven numbers x, y, z, qx, qy, qz, qw."""
        x, y, z, *quaternion = seven
        a, b, c, w = quaternion
        return cls(Vector(x, y, z), (a, b, c, w))

    @property
    def steps(self) -> tuple[Step, ...]:
        """From the joint's frame to the body's."""
        there: list[Step] = [Shift(k, x) for k, x in enumerate(self.place)]
        nudged = (step for nudge in self.nudges for step in _nudge(*nudge))
        return (*there, Orient.by(rotation(self.turned)), *nudged)

    def nudged(self, changes: Sequence[Scalar]) -> "Afloat":
        """Displaced along a twist by the first six changes, in the order of a run."""
        linear, angular = twist_of(changes[: len(RUN)])
        return replace(self, nudges=(*self.nudges, (linear, angular)))


def _nudge(linear: Vector, angular: Vector) -> tuple[Step, ...]:
    shifts = (Shift(k, x) for k, x in enumerate(linear) if x is not ZERO)
    return (*shifts, *(Turn(k, Angle(x)) for k, x in enumerate(angular) if x is not ZERO))


class Glued:
    """The position of the other bodies of a run, which stay with the first."""

    def nudged(self, changes: Sequence[Scalar]) -> "Glued":
        """Still with the first, whatever displaces that."""
        return self


GLUED: Final = Glued()


def twist_of(six: Sequence[Scalar]) -> Six:
    """Linear and angular part of six rates in the order of a run, in the body's axes."""
    z, x, y, *angular = six
    return Vector(x, y, z), Vector(*angular)


def rotation(quaternion: Sequence[Scalar]) -> tuple[Vector, Vector, Vector]:
    """The rows of the rotation by a unit quaternion x, y, z, w."""
    x, y, z, w = quaternion
    x2, y2, z2 = x + x, y + y, z + z
    return (
        Vector(1.0 - (y2 * y + z2 * z), x2 * y - z2 * w, x2 * z + y2 * w),
        Vector(x2 * y + z2 * w, 1.0 - (x2 * x + z2 * z), y2 * z - x2 * w),
        Vector(x2 * z - y2 * w, y2 * z + x2 * w, 1.0 - (x2 * x + y2 * y)),
    )
