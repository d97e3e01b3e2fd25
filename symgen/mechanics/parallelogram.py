"""Parallelograms: planar loops of four links whose opposite links have equal lengths."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from symgen.mechanics.closures import PlanarLoop, Plane
from symgen.mechanics.kinematic_loop import GapMotion, Positions, as_number
from symgen.mechanics.unit_angle import UnitAngle
from symgen.numbers.decimals import norm
from symgen.numbers.scalar import ZERO, Scalar, plain, sum_in_order

EQUAL: Final = 1e-12
"""How far the lengths of opposite links may differ, as a part of the loop's size: rounding."""
CLOSED: Final = 1e-9
"""How far a link may be from its opposite one at positions that were computed, as a part of the
loop's size."""

Angle = Mapping[int, int]
"""A sum of the angles of some bodies' joints, with their signs."""


@dataclass(frozen=True)
class TurningLink:
    """A link of a loop in its plane with all joints at 0, as it counts in the gap, and the angle by
    which it turns."""

    vector: Plane
    angle: Angle

    def at(self, x: Positions) -> Plane:
        """The link at positions of the joints."""
        turn = sum_in_order((sign * as_number(x[body]) for body, sign in self.angle.items()), 0.0)
        c, s = math.cos(turn), math.sin(turn)
        a, b = map(plain, self.vector)
        return c * a - s * b, s * a + c * b

    @property
    def length(self) -> float:
        """Its length (m)."""
        return norm(*map(plain, self.vector))

    def is_opposite(self, other: "TurningLink", x: Positions, size: float) -> bool:
        """Whether another link is this one reversed at positions; their lengths are equal but for
        rounding, so that it can stay so."""
        pairs = zip(self.at(x), other.at(x), strict=True)
        near = max(abs(plain(a + b)) for a, b in pairs) < CLOSED * size
        return near and abs(self.length - other.length) <= EQUAL * size


@dataclass(frozen=True)
class LinearAngle:
    """The angle of a dependent joint: the angles of others with their signs, and a constant."""

    terms: tuple[tuple[int, int], ...]
    constant: float

    def of(self, x: Positions) -> UnitAngle:
        """The angle at the positions of the others."""
        total = UnitAngle.of(self.constant or ZERO)
        for body, sign in self.terms:
            angle = UnitAngle.of(x[body])
            total = total + (angle if sign > 0 else -angle)
        return total


@dataclass(frozen=True)
class ParallelogramLoop(PlanarLoop):
    """A planar loop in which opposite links stay parallel: the dependent positions are linear. It
    closes at all positions and has no dead points, since links that cross are not in it."""

    laws: tuple[LinearAngle, ...] = ()

    @property
    def can_be_crossed(self) -> bool:
        """Never: the positions of the crossed links do not satisfy the linear equations."""
        return False

    def positions(self, x: Positions) -> dict[int, Any]:
        """The positions of the dependent joints."""
        pairs = zip(self.dependent, self.laws, strict=True)
        return {body: law.of(x) for body, law in pairs}

    def columns(self, x: Positions) -> dict[int, GapMotion]:
        """The derivatives of the differences from the linear equations."""
        others = {
            body: [-dict(law.terms).get(body, 0) for law in self.laws] for body in self.bodies
        }
        found = {body: [float(c) if c else ZERO for c in row] for body, row in others.items()}
        one: Scalar = 1.0
        return {**found, self.dependent[0]: [one, ZERO], self.dependent[1]: [ZERO, one]}

    def drift(self, x: Positions, rates: Sequence[Scalar]) -> GapMotion:
        """Their second rates, which are zero."""
        return [ZERO, ZERO]

    def dependent_rates(
        self, columns: Mapping[int, GapMotion], sums: Sequence[GapMotion]
    ) -> list[GapMotion]:
        """The rates of the dependent joints for each of some motions."""
        return [[-x for x in motion] for motion in sums]

    def sine(self, x: Positions) -> float:
        """1, as far from a dead point."""
        return 1.0


def recognised(loop: PlanarLoop) -> PlanarLoop:
    """The loop as a parallelogram if it is one on its branch, or the loop itself."""
    if loop.sliding:
        return loop
    sides = [side for side in _sides(loop) if side.length > EQUAL * loop.size]
    sample = {**loop.sample, **loop.positions(loop.sample)}
    pairs = _opposite(sides, sample, loop.size)
    laws = _laws(pairs, loop.dependent) if pairs else None
    if laws is None:
        return loop
    fields = (loop.closure, loop.chains, loop.start, loop.orientation)
    return ParallelogramLoop(*fields, laws)


def _sides(loop: PlanarLoop) -> list[TurningLink]:
    """The links around the loop, those of its second chain backwards."""
    found = [TurningLink((-loop.start[0], -loop.start[1]), {})]
    for backwards, hinges in enumerate(loop.chains):
        angle = dict[int, int]()
        for hinge in hinges:
            angle = {**angle, hinge.body: hinge.sign}
            a, b = hinge.arm
            found.append(TurningLink((-a, -b) if backwards else (a, b), angle))
    return found


def _opposite(
    sides: Sequence[TurningLink], x: Positions, size: float
) -> list[tuple[TurningLink, TurningLink]]:
    """The two pairs of links of which each is the other one reversed at positions; none of a loop
    that is no parallelogram there."""
    if len(sides) != 4:
        return []
    first, *others = sides
    for k, other in enumerate(others):
        third, fourth = (s for n, s in enumerate(others) if n != k)
        pairs = [(first, other), (third, fourth)]
        if all(p.is_opposite(q, x, size) for p, q in pairs):
            return pairs
    return []


def _laws(
    pairs: Sequence[tuple[TurningLink, TurningLink]], dependent: Sequence[int]
) -> tuple[LinearAngle, ...] | None:
    """The dependent angles from the two equations between the angles of opposite links; None where
    these do not determine them with signs alone."""
    rows = []
    for p, q in pairs:
        names = {*p.angle, *q.angle}
        row = {b: p.angle.get(b, 0) - q.angle.get(b, 0) for b in names}
        # p turned by its angle is -q turned by that of q
        rows.append((row, _direction(q, reverse=True) - _direction(p)))
    (a, one), (b, two) = rows
    first, second = dependent
    entries = a.get(first, 0), a.get(second, 0), b.get(first, 0), b.get(second, 0)
    determinant = entries[0] * entries[3] - entries[1] * entries[2]
    if abs(determinant) != 1:
        return None
    inverse = (
        (entries[3] * determinant, -entries[1] * determinant),
        (-entries[2] * determinant, entries[0] * determinant),
    )
    others = {*a, *b} - {first, second}
    laws = []
    for c, d in inverse:
        terms = {n: -(c * a.get(n, 0) + d * b.get(n, 0)) for n in sorted(others)}
        if max(map(abs, terms.values()), default=0) > 1:
            return None
        constant = math.remainder(c * one + d * two, math.tau)
        constant = constant if abs(constant) > EQUAL else 0.0
        laws.append(LinearAngle(tuple((n, sign) for n, sign in terms.items() if sign), constant))
    return tuple(laws)


def _direction(side: TurningLink, reverse: bool = False) -> float:
    """The angle of a link with all joints at 0."""
    a, b = map(plain, side.vector)
    return math.atan2(-b, -a) if reverse else math.atan2(b, a)
