"""What all closed loops have in common: the types of joints that close them, the coordinates that a
loop determines, and the positions at which it closes; and joints that follow a polynomial.

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
from symgen.mechanics.unit_angle import UnitAngle, coordinate
from symgen.numbers.decimals import exact
from symgen.numbers.scalar import ZERO, Scalar, plain

X, Y, Z = 0, 1, 2


@dataclass(frozen=True, slots=True)
class CutJoint:
    """What a cut joint holds: whether the two origins `coincide`, the axes of the first frame along
    which r is 0 (`across`), whether the `distance` of the origins is constant, and the pairs of
    axes that are `perpendicular`: an axis of the first frame and one of the second. A
    `polynomial_value` holds the positions of two joints instead of frames."""

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
    @abstractmethod
    def size(self) -> float:
        """The length of its longest link (m)."""

    @property
    @abstractmethod
    def sliding(self) -> set[int]:
        """The bodies whose joints slide."""

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

    @abstractmethod
    def sine(self, x: Positions) -> float:
        """The sine of the angle between the motions that the dependent joints give the gap, at
        numbers; 0 where the loop does not close."""

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


def polynomial_value(coefficients: Sequence[float], y: Scalar) -> Scalar:
    """The value of a polynomial, whose first coefficient is the constant one."""
    total: Scalar = ZERO
    for a in reversed(coefficients):
        total = multiple(total, y)
        total = total + a if a else total
    return total


def derivative_coefficients(coefficients: Sequence[float]) -> list[float]:
    """The coefficients of the derivative of a polynomial."""
    return [plain(k * exact(a)) for k, a in enumerate(coefficients)][1:]


@dataclass(frozen=True)
class PolynomialLoop(KinematicLoop):
    """The joint of a body whose position is a polynomial of that of another joint. It closes at all
    positions and has no dead points."""

    closure: Closure
    turns: bool
    """Whether the joint turns."""

    @property
    def closures(self) -> tuple[Closure, ...]:
        """The closure itself."""
        return (self.closure,)

    @property
    def bodies(self) -> list[int]:
        """The bodies of the two joints."""
        return [*self.closure.bodies]

    @property
    def size(self) -> float:
        """It has no links: 1."""
        return 1.0

    @property
    def sliding(self) -> set[int]:
        """None of the bodies: positions of any size satisfy it."""
        return set()

    @property
    def _slopes(self) -> list[float]:
        return derivative_coefficients(self.closure.polynomial)

    def positions(self, x: Positions) -> dict[int, Any]:
        """The position of the dependent joint."""
        follower, leader = self.closure.bodies
        place = polynomial_value(self.closure.polynomial, coordinate(x[leader]))
        return {follower: UnitAngle.of(place) if self.turns else place}

    def columns(self, x: Positions) -> dict[int, GapRate]:
        """The derivatives of the difference from the polynomial."""
        follower, leader = self.closure.bodies
        return {follower: [1.0], leader: [-polynomial_value(self._slopes, coordinate(x[leader]))]}

    def drift(self, x: Positions, rates: Sequence[Scalar]) -> GapRate:
        """Its second rate while the rates of both joints are constant."""
        _, leader = self.closure.bodies
        curvature, rate = derivative_coefficients(self._slopes), rates[leader - 1]
        second_derivative = polynomial_value(curvature, coordinate(x[leader]))
        return [-multiple(second_derivative, multiple(rate, rate))]

    def dependent_rates(
        self, columns: Mapping[int, GapRate], sums: Sequence[GapRate]
    ) -> list[GapRate]:
        """The rate of the dependent joint for each of some motions."""
        return [[-x] for (x,) in sums]

    def sine(self, x: Positions) -> float:
        """1, as far from a dead point."""
        return 1.0
