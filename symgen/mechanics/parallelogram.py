"""Parallelograms: planar loops of four links whose opposite links have equal lengths."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from symgen.mechanics.closures import PlanarLoop
from symgen.mechanics.kinematic_loop import GapMotion, Positions, as_number
from symgen.mechanics.unit_angle import UnitAngle
from symgen.numbers.scalar import ZERO, Scalar, plain, sum_in_order

EQUAL: Final = 1e-11
"""How far a rate may be from 0, 1 or -1, and a constant from 0 (rad): rounding."""
NEAR: Final = 0.05
"""How far the positions are that are tried (rad)."""


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
    """The loop as a parallelogram if it is one on its branch, or the loop itself: near positions at
    which it closes, its dependent angles turn as sums of the others."""
    if loop.sliding:
        return loop
    others, random = sorted({*loop.bodies} - {*loop.dependent}), Random(1)
    near = ({b: loop.sample[b] + random.uniform(-NEAR, NEAR) for b in others} for _ in range(2))
    found = {_slopes(loop, others, x) for x in (loop.sample, *near)}
    slopes = found.pop()
    if found or slopes is None:
        return loop
    values, laws = loop.values(loop.sample), list[LinearAngle]()
    for body, row in zip(loop.dependent, slopes, strict=True):
        terms = tuple((b, sign) for b, sign in zip(others, row, strict=True) if sign)
        turned = (sign * as_number(loop.sample[b]) for b, sign in terms)
        constant = math.remainder(values[body] - sum_in_order(turned, 0.0), math.tau)
        laws.append(LinearAngle(terms, constant if abs(constant) > EQUAL else 0.0))
    fields = (loop.closure, loop.chains, loop.start, loop.orientation)
    return ParallelogramLoop(*fields, tuple(laws))


def _slopes(
    loop: PlanarLoop, others: Sequence[int], x: Positions
) -> tuple[tuple[int, ...], ...] | None:
    """The rates of both dependent joints by those of the others at positions, if all are 0, 1 or
    -1."""
    if not loop.sine(x):
        return None
    columns = loop.columns({**x, **loop.positions(x)})
    rates = loop.dependent_rates(columns, [columns[body] for body in others])
    rows = [[plain(rate) for rate in row] for row in zip(*rates, strict=True)]
    if any(min(abs(abs(r) - 1), abs(r)) > EQUAL for row in rows for r in row):
        return None
    return tuple(tuple(round(r) for r in row) for row in rows)
