"""What all closed loops have in common: the types of joints that close them, the coordinates that a
loop determines, the positions at which it closes, and angles that are known by their cosine and
sine.

A cut joint joins a frame on each of two bodies. It holds components of the vector r from the origin
of the first frame to that of the second, or its length, and scalar products of an axis of the first
frame with one of the second, which are 0."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, Final

from symgen.mechanics.model import Closure
from symgen.mechanics.spatial import multiple
from symgen.numbers.operations import OPS, atan, cos, sin
from symgen.numbers.scalar import ZERO, Scalar, plain


@dataclass(frozen=True, eq=False, slots=True)
class Direction:
    """An orientation in a plane by its cosine and sine."""

    c: Scalar
    s: Scalar


class UnitAngle:
    """A sum of angles (rad) and of orientations, each with the sign 1 or -1. The terms are kept
    apart, so that an orientation of a link that is subtracted from one joint angle and added to the
    next one cancels exactly.

    It is a joint position for algorithms: it has a cosine and a sine, it can be added, subtracted
    and negated. Of products with numbers, and of what adds its coordinate to others, it is the
    number `angle`."""

    __array_ufunc__ = None  # NumPy's numbers leave it to the methods below
    __slots__ = ("_known", "terms")

    def __init__(self, terms: tuple[tuple[Any, int], ...]) -> None:
        self.terms = terms
        self._known: tuple[Scalar, Scalar] | None = None

    @classmethod
    def of(cls, x: Scalar) -> "UnitAngle":
        """The angle `x` (rad), or `x` itself if it is a sum already."""
        return x if isinstance(x, UnitAngle) else cls(() if x is ZERO else ((x, 1),))

    def __repr__(self) -> str:
        return f"UnitAngle({self.terms!r})"

    def __add__(self, other: Scalar) -> "UnitAngle":
        terms = [*self.terms]
        for term, sign in UnitAngle.of(other).terms:
            opposite = next(
                (k for k, (x, by) in enumerate(terms) if x is term and by != sign), None
            )
            if opposite is None:
                terms.append((term, sign))
            else:
                terms.pop(opposite)
        return UnitAngle(tuple(terms))

    __radd__ = __add__

    def __neg__(self) -> "UnitAngle":
        return UnitAngle(tuple((term, -sign) for term, sign in self.terms))

    def __sub__(self, other: Scalar) -> "UnitAngle":
        return self + -UnitAngle.of(other)

    def __rsub__(self, other: Scalar) -> "UnitAngle":
        return -self + other

    def __mul__(self, other: Scalar) -> Scalar:
        return other * self.angle

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Scalar:
        return self.angle / other

    def __rtruediv__(self, other: Scalar) -> Scalar:
        return other / self.angle

    @property
    def has_orientations(self) -> bool:
        """Whether it contains orientations, so that its turns are not counted."""
        return any(isinstance(term, Direction) for term, _ in self.terms)

    @property
    def angle(self) -> Scalar:
        """The angle (rad). Where it is known only by its cosine and sine, it is between -π and π,
        which are excluded: near them its rounding error grows."""
        if not self.has_orientations:
            return sum((term if sign > 0 else -term for term, sign in self.terms), ZERO)
        c, s = self.applied("cos"), self.applied("sin")
        return 2.0 * atan(s / (1.0 + c))

    def applied(self, op: str) -> Scalar:
        """The cosine or sine, or another function of the angle."""
        if op not in ("cos", "sin"):
            return OPS[op](self.angle)
        if self._known is None:
            self._known = self._cos_sin()
        return self._known[op == "sin"]

    def _cos_sin(self) -> tuple[Scalar, Scalar]:
        angles = tuple(pair for pair in self.terms if not isinstance(pair[0], Direction))
        total = UnitAngle(angles).angle
        c, s = (1.0, ZERO) if total is ZERO else (cos(total), sin(total))
        for term, sign in self.terms:
            if isinstance(term, Direction):
                other = term.s if sign > 0 else -term.s
                c, s = (
                    (term.c, other)
                    if s is ZERO
                    else (c * term.c - s * other, s * term.c + c * other)
                )
        return c, s

    def displaced_by(self, changes: Sequence[Scalar]) -> "UnitAngle":
        """The angle after the first of the small changes (`symgen.numbers.autodiff.along`)."""
        return self + changes[0]

    def named(self, name: str) -> "UnitAngle":
        """The angle itself: its cosine and sine have names of their own."""
        return self


def coordinate(x: Any) -> Scalar:
    """The number of a joint position."""
    return x.angle if isinstance(x, UnitAngle) else x


X, Y, Z = 0, 1, 2


@dataclass(frozen=True, slots=True)
class CutJoint:
    """What a cut joint holds: whether the two origins `coincide`, the axes of the first frame along
    which r is 0 (`across`), whether the `distance` of the origins is constant, and the pairs of
    axes that are `perpendicular`: an axis of the first frame and one of the second. A
    `polynomial` one holds the positions of two joints instead of frames."""

    coincide: bool = True
    across: tuple[int, ...] = ()
    distance: bool = False
    perpendicular: tuple[tuple[int, int], ...] = ()
    polynomial: bool = False

    @property
    def lengths(self) -> int:
        """The number of its equations of lengths, the first ones."""
        return 3 * self.coincide + len(self.across) + self.distance

    @property
    def rows(self) -> int:
        """The number of its equations."""
        return self.lengths + self.polynomial + len(self.perpendicular)


CUT_JOINTS: Final[dict[str, CutJoint]] = {
    "ball": CutJoint(),
    "revolute": CutJoint(perpendicular=((X, Z), (Y, Z))),
    "universal": CutJoint(perpendicular=((Z, Y),)),
    "fixed": CutJoint(perpendicular=((X, Y), (Y, Z), (Z, X))),
    "point_on_line": CutJoint(coincide=False, across=(X, Y)),
    "distance": CutJoint(coincide=False, distance=True),
    "polynomial": CutJoint(coincide=False, polynomial=True),
}
"""The cut joints by type: a revolute one turns about the z axes of both frames; a universal one
about the z axis of the first frame and the y axis of the second; at a fixed one the two frames
coincide; a point on a line is the second origin on the z axis of the first frame."""


Positions = Mapping[int, Any]
"""Positions of joints by number of the body."""
GapRate = Sequence[Scalar]
"""A motion of the gap of a loop: a component for each equation of its cut joints."""


class LoopError(ValueError):
    """A closure that is not supported; the message says why and what to do."""


MIN_SINE: Final = 0.1
"""The least sine of the angle between the ways in which the dependent joints can move the end of a
loop, for states that are drawn at random: at 0 the mechanism is at a dead point."""
MIN_SINE_NEAR_DEAD_POINTS: Final = 0.01
"""The same for loops that are near a dead point everywhere, such as those with short links."""
SUFFICIENT_SINE: Final = 0.3
"""A sine that is large enough to stop the search for positions at which a loop closes."""
MAX_SAMPLES: Final = 400
"""How many positions are tried in that search."""


class KinematicLoop(ABC):
    """One closed loop, or several that determine their dependent joints together."""

    @property
    @abstractmethod
    def closures(self) -> tuple[Closure, ...]:
        """The cut joints that close it."""

    @property
    def dependent(self) -> tuple[int, ...]:
        """The bodies whose coordinates the loop determines."""
        return tuple(body for closure in self.closures for body in closure.dependent)

    @property
    @abstractmethod
    def bodies(self) -> list[int]:
        """The bodies of all joints of the loop."""

    @property
    def sufficient_sine(self) -> float:
        """A sine that is large enough to stop the search for positions at which it closes."""
        return SUFFICIENT_SINE

    @property
    def can_be_crossed(self) -> bool:
        """Whether the positions of both assemblies may meet at a dead point that both can pass, as
        those of a parallelogram and of the same links crossed do."""
        return False

    @property
    def size(self) -> float:
        """The length of its longest link (m); 1 if it closes whatever the lengths are."""
        return 1.0

    @property
    def sliding(self) -> set[int]:
        """The bodies whose joints slide, if positions of any size do not satisfy it."""
        return set()

    @abstractmethod
    def positions(self, x: Positions) -> dict[int, Any]:
        """The positions of the dependent joints from those of the others in the loop."""

    @abstractmethod
    def columns(self, x: Positions) -> dict[int, GapRate]:
        """The Jacobian of the gap: a column for the joint of each body."""

    @abstractmethod
    def drift(self, x: Positions, rates: Sequence[Scalar]) -> GapRate:
        """The second derivative of the gap while the rates of all joints are constant."""

    @abstractmethod
    def dependent_rates(
        self, columns: Mapping[int, GapRate], sums: Sequence[GapRate]
    ) -> list[GapRate]:
        """The rates of the dependent joints that balance each of some motions of the gap."""

    def gap(self, x: Positions) -> GapRate:
        """The equations of its cut joints, each 0 where it closes: nothing of a closed form."""
        return ()

    def independent_equations(self, gap: GapRate) -> GapRate:
        """Of its equations those that the elimination does not leave out."""
        return gap

    def constant_distance(self, body: int) -> Any:
        """The constant distance (`symgen.mechanics.spatial_loop.CutSides`) that alone determines
        the joint of a body from the joints that the loop does not determine; None if there is
        none."""
        return None

    def sine(self, x: Positions) -> float:
        """The sine of the angle between the motions that the dependent joints give the gap, at
        numbers; 0 where the loop does not close, 1 if it has no dead points."""
        return 1.0

    def gap_rate(
        self, columns: Mapping[int, GapRate], rates: Mapping[int, Scalar], start: GapRate = ()
    ) -> GapRate:
        """The motion of the gap at the rates of the joints that the loop does not determine, added
        to another one."""
        total = [*start] or [ZERO] * len(columns[self.dependent[0]])
        for body in (body for body in self.bodies if body not in self.dependent):
            if rates[body] is not ZERO:
                by = (multiple(rates[body], c) for c in columns[body])
                total = [a + c for a, c in zip(total, by, strict=True)]
        return total

    def values(self, x: Positions) -> dict[int, float]:
        """The positions of the dependent joints as numbers (`as_number`)."""
        return {body: as_number(p) for body, p in self.positions(x).items()}

    @cached_property
    def sample(self) -> Positions:
        """Positions of the joints that the loop does not determine, at which it closes far from a
        dead point: 0 if they do. Raises LoopError where none are found."""
        others = [body for body in self.bodies if body not in self.dependent]
        random, best = Random(0), dict.fromkeys(others, 0.0)
        trial, size = best, self.size
        for _ in range(MAX_SAMPLES):
            if abs(self.sine(trial)) > abs(self.sine(best)):
                best = trial
            if abs(self.sine(best)) >= self.sufficient_sine:
                return best
            trial = {
                body: random.uniform(-size, size)
                if body in self.sliding
                else random.uniform(-3.14, 3.14)
                for body in others
            }
        if abs(self.sine(best)) < MIN_SINE:
            raise LoopError(
                "its links are too short or too long to close it; correct their lengths"
            )
        return best


def as_number(p: Any) -> float:
    """A position of a joint as a number (rad or m); an angle with orientations from -π to π."""
    if isinstance(p, UnitAngle) and p.has_orientations:
        return math.atan2(plain(p.applied("sin")), plain(p.applied("cos")))
    return plain(coordinate(p))


PARALLEL_TOLERANCE: Final = 1e-12
"""How far the cosine of the angle between parallel axes is from 1, or between crossing ones from
0: rounding errors of products of rotations."""
