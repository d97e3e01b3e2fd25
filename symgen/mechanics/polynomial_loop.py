"""Joints whose position is a polynomial of that of another joint, as a loop of one equation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgen.mechanics.coordinate_map import multiple
from symgen.mechanics.kinematic_loop import GapMotion, KinematicLoop, Positions
from symgen.mechanics.model import Closure
from symgen.mechanics.unit_angle import UnitAngle, coordinate
from symgen.numbers.decimals import exact
from symgen.numbers.scalar import ZERO, Scalar, plain


def polynomial(coefficients: Sequence[float], y: Scalar) -> Scalar:
    """The value of a polynomial, whose first coefficient is the constant one."""
    total: Scalar = ZERO
    for a in reversed(coefficients):
        total = multiple(total, y)
        total = total + a if a else total
    return total


def slopes(coefficients: Sequence[float]) -> list[float]:
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
        return slopes(self.closure.polynomial)

    def positions(self, x: Positions) -> dict[int, Any]:
        """The position of the dependent joint."""
        follower, leader = self.closure.bodies
        place = polynomial(self.closure.polynomial, coordinate(x[leader]))
        return {follower: UnitAngle.of(place) if self.turns else place}

    def columns(self, x: Positions) -> dict[int, GapMotion]:
        """The derivatives of the difference from the polynomial."""
        follower, leader = self.closure.bodies
        return {follower: [1.0], leader: [-polynomial(self._slopes, coordinate(x[leader]))]}

    def drift(self, x: Positions, rates: Sequence[Scalar]) -> GapMotion:
        """Its second rate while the rates of both joints are constant."""
        _, leader = self.closure.bodies
        curvature, rate = slopes(self._slopes), rates[leader - 1]
        bent = polynomial(curvature, coordinate(x[leader]))
        return [-multiple(bent, multiple(rate, rate))]

    def dependent_rates(
        self, columns: Mapping[int, GapMotion], sums: Sequence[GapMotion]
    ) -> list[GapMotion]:
        """The rate of the dependent joint for each of some motions."""
        return [[-x] for (x,) in sums]

    def sine(self, x: Positions) -> float:
        """1, as far from a dead point."""
        return 1.0
