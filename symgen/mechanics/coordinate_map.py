"""The coordinate of a body's joint as a linear function of the user's coordinates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from symgen.mechanics.model import Follow
from symgen.mechanics.spatial import scale_constant
from symgen.numbers.scalar import ZERO, Scalar


@dataclass(frozen=True, slots=True)
class CouplingTerm:
    """One term of a coordinate of a body: `factor` (a number, or a scalar that
    depends on the state) times the user's velocity `velocity_index`, and for positions times the
    user's position `position_index`."""

    velocity_index: int
    position_index: int
    factor: Any = 1.0


@dataclass(frozen=True, slots=True)
class CoordinateMap:
    """The coordinate of a body as a linear function of the user's coordinates: the sum of its
    terms, plus `offset` for the position."""

    terms: tuple[CouplingTerm, ...]
    offset: float = 0.0
    follows: bool = False
    """Whether the coordinates are those of other bodies."""

    @property
    def position_index(self) -> int:
        """The index of the coordinate in the user's positions; only for a body with a coordinate of
        its own."""
        return self.terms[0].position_index

    @property
    def velocity_index(self) -> int:
        """The index of its rate in the user's velocities; only for a body with a coordinate of its
        own."""
        return self.terms[0].velocity_index

    def position(self, q: Sequence[Scalar]) -> Scalar:
        """The body's coordinate from all positions of the user."""
        parts = (scale_constant(term.factor, q[term.position_index]) for term in self.terms)
        return sum(parts, ZERO) + (self.offset or ZERO)

    def rate(self, v: Sequence[Scalar]) -> Scalar:
        """The body's rate from all velocities of the user."""
        return sum((multiple(term.factor, v[term.velocity_index]) for term in self.terms), ZERO)


def multiple(factor: Scalar, x: Scalar) -> Scalar:
    """x times a factor, which is a constant or an entry of G at a state."""
    return scale_constant(factor, x) if isinstance(factor, (int, float)) else factor * x


def combined(follow: Follow, drives: Sequence[CoordinateMap]) -> CoordinateMap:
    """The map of a body that follows others, whose maps are given."""
    terms = dict[int, CouplingTerm]()
    for leader, by in ((leader, by) for leader, by in follow.terms if by):
        for term in drives[leader - 1].terms:
            before = terms[term.velocity_index].factor if term.velocity_index in terms else ZERO
            factor = before + multiple(by, term.factor)
            terms[term.velocity_index] = replace(term, factor=factor)
    return CoordinateMap(tuple(terms.values()), follows=True)
