"""Angles that are known by their cosine and sine.

A closed loop gives the orientation of a link as a unit vector, and the angle of a joint as the
difference of two orientations. Algorithms need only the cosine and the sine of a joint angle and
sums of angles of parallel joints. A `UnitAngle` is such a sum with the terms kept apart, so that an
orientation that is subtracted from one joint angle and added to the next one cancels exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symgen.numbers.operations import OPS, atan, cos, sin
from symgen.numbers.scalar import ZERO, Scalar


@dataclass(frozen=True, eq=False, slots=True)
class Direction:
    """An orientation in a plane by its cosine and sine."""

    c: Scalar
    s: Scalar


class UnitAngle:
    """A sum of angles (rad) and of orientations, each with the sign 1 or -1.

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
        """The angle after the first of the small changes (`symgen.numbers.dual.along`)."""
        return self + changes[0]

    def named(self, name: str) -> "UnitAngle":
        """The angle itself: its cosine and sine have names of their own."""
        return self


def coordinate(x: Any) -> Scalar:
    """The number of a joint position."""
    return x.angle if isinstance(x, UnitAngle) else x
