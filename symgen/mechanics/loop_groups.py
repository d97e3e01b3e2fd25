"""The closed loops of a model: planar ones, spatial ones, and those that determine their joints
together."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from random import Random
from typing import Any, Final

from symgen.mechanics.kinematic_loop import (
    GapRate,
    KinematicLoop,
    LoopError,
    PolynomialLoop,
    Positions,
    as_number,
)
from symgen.mechanics.leg_positions import LEG_JOINTS
from symgen.mechanics.loop_geometry import planar_loop, spatial_loop
from symgen.mechanics.model import Closure, RigidBodyModel, paths_of
from symgen.mechanics.planar_loop import PlanarLoop
from symgen.mechanics.unit_angle import UnitAngle
from symgen.numbers.scalar import ZERO, Scalar, plain, sum_in_order

RATE_TOLERANCE: Final = 1e-11
"""How far a rate may be from 0, 1 or -1, and a constant from 0 (rad): rounding."""
SAMPLE_DISTANCE: Final = 0.05
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

    angles: tuple[LinearAngle, ...] = ()

    @property
    def can_be_crossed(self) -> bool:
        """Never: the positions of the crossed links do not satisfy the linear equations."""
        return False

    def positions(self, x: Positions) -> dict[int, Any]:
        """The positions of the dependent joints."""
        pairs = zip(self.dependent, self.angles, strict=True)
        return {body: law.of(x) for body, law in pairs}

    def columns(self, x: Positions) -> dict[int, GapRate]:
        """The derivatives of the differences from the linear equations."""
        others = {
            body: [-dict(law.terms).get(body, 0) for law in self.angles] for body in self.bodies
        }
        found = {body: [float(c) if c else ZERO for c in row] for body, row in others.items()}
        one: Scalar = 1.0
        return {**found, self.dependent[0]: [one, ZERO], self.dependent[1]: [ZERO, one]}

    def drift(self, x: Positions, rates: Sequence[Scalar]) -> GapRate:
        """Their second rates, which are zero."""
        return [ZERO, ZERO]

    def dependent_rates(
        self, columns: Mapping[int, GapRate], sums: Sequence[GapRate]
    ) -> list[GapRate]:
        """The rates of the dependent joints for each of some motions."""
        return [[-x for x in motion] for motion in sums]

    def sine(self, x: Positions) -> float:
        """1, as far from a dead point."""
        return 1.0


def as_parallelogram(loop: PlanarLoop) -> PlanarLoop:
    """The loop as a parallelogram if it is one on its branch, or the loop itself: near positions at
    which it closes, its dependent angles turn as sums of the others."""
    if loop.sliding:
        return loop
    others, random = sorted({*loop.bodies} - {*loop.dependent}), Random(1)
    near = (
        {b: loop.sample[b] + random.uniform(-SAMPLE_DISTANCE, SAMPLE_DISTANCE) for b in others}
        for _ in range(2)
    )
    found = {_integer_rates(loop, others, x) for x in (loop.sample, *near)}
    slopes = found.pop()
    if found or slopes is None:
        return loop
    values, angles = loop.values(loop.sample), list[LinearAngle]()
    for body, row in zip(loop.dependent, slopes, strict=True):
        terms = tuple((b, sign) for b, sign in zip(others, row, strict=True) if sign)
        turned = (sign * as_number(loop.sample[b]) for b, sign in terms)
        constant = math.remainder(values[body] - sum_in_order(turned, 0.0), math.tau)
        angles.append(LinearAngle(terms, constant if abs(constant) > RATE_TOLERANCE else 0.0))
    fields = (loop.closure, loop.chains, loop.start, loop.orientation)
    return ParallelogramLoop(*fields, tuple(angles))


def _integer_rates(
    loop: PlanarLoop, others: Sequence[int], x: Positions
) -> tuple[tuple[int, ...], ...] | None:
    """The rates of both dependent joints by those of the others at positions, if all are 0, 1 or
    -1."""
    if not loop.sine(x):
        return None
    columns = loop.columns({**x, **loop.positions(x)})
    rates = loop.dependent_rates(columns, [columns[body] for body in others])
    rows = [[plain(rate) for rate in row] for row in zip(*rates, strict=True)]
    if any(min(abs(abs(r) - 1), abs(r)) > RATE_TOLERANCE for row in rows for r in row):
        return None
    return tuple(tuple(round(r) for r in row) for row in rows)


PLANAR_UNKNOWNS: Final = 2
"""The number of coordinates that a planar loop determines."""


def loop_of(model: RigidBodyModel, group: Sequence[Closure]) -> KinematicLoop:
    """The loop of the closures of a group. Raises LoopError where its positions have no closed form
    and are not the user's."""
    first = group[0]
    if any(closure.polynomial for closure in group):
        if len(group) > 1:
            raise LoopError("a joint that follows a polynomial is moved by a joint that it moves")
        return PolynomialLoop(first, model.body(first.bodies[0]).joint.type.unit == "rad")
    if len(group) == 1 and not first.newton and len(first.dependent) == PLANAR_UNKNOWNS:
        return as_parallelogram(planar_loop(model, first))
    return spatial_loop(model, group)


def closure_groups(model: RigidBodyModel, closures: Sequence[Closure]) -> list[list[Closure]]:
    """The closures, each after those that determine joints of its chains; closures that determine
    each other's joints are one group."""
    reads = {c.name: {*joints_of(model, c)} for c in closures}
    before = {
        c.name: {d.name for d in closures if d is not c and reads[c.name].intersection(d.dependent)}
        for c in closures
    }
    for _ in closures:  # all that are reached
        before = {a: b.union(*(before[name] for name in b)) for a, b in before.items()}
    found, done = list[list[Closure]](), set[str]()
    while len(done) < len(closures):
        waiting = [c for c in closures if c.name not in done]
        ready = next(
            c
            for c in waiting
            if all(c.name in before[name] for name in before[c.name] - done - {c.name})
        )
        same = {ready.name, *(n for n in before[ready.name] if ready.name in before[n])}
        found.append([c for c in waiting if c.name in same])
        done |= same
    return found


def joints_of(model: RigidBodyModel, closure: Closure) -> list[int]:
    """The bodies of the joints that a closure relates."""
    if closure.polynomial:
        return [*closure.bodies]
    return [i for path in paths_of(model, closure.bodies) for i in path]


def assembly_branches(closure: Closure) -> tuple[int, ...]:
    """The assemblies of a closure: two, or four of a spatial leg, whose two signs are that of the
    branch and whether it is ±1 or ±2. Positions of the user tell the assembly themselves, and a
    polynomial has one value."""
    if closure.newton or closure.polynomial:
        return (1,)
    return (1, -1, 2, -2) if len(closure.dependent) == LEG_JOINTS else (1, -1)


def farthest_first(free: Sequence[Sequence[int]], kept: Collection[int] = ()) -> list[int]:
    """The joints of a loop's two sides, those farthest from the carrier first, of equally far ones
    the last, and those that are `kept` behind the others."""
    depth = {body: k for path in free for k, body in enumerate(path)}
    return sorted(depth, key=lambda i: (i not in kept, depth[i], i), reverse=True)


def dependent_choices(
    free: Sequence[Sequence[int]], joint: str, kept: Collection[int] = ()
) -> list[tuple[int, ...]]:
    """The joints that a loop can determine, the best choice first, of joints on its two sides in
    the order of the chains: two of a planar loop, those farthest from the carrier; three of a
    spatial leg, all on the side with fewer joints if they can be; one for a constant distance.
    Joints that are `kept` are chosen last."""
    far = farthest_first(free, kept)
    choices = list[tuple[int, ...]]()
    if joint == "distance":
        choices += [(body,) for path in sorted(free, key=len) for body in path]
    elif len(far) >= PLANAR_UNKNOWNS:
        choices += [tuple(sorted(far[:PLANAR_UNKNOWNS]))]
    if joint == "ball":
        sides = [{*path} for path in sorted(free, key=len)]
        ways = [[*combinations([i for i in far if i in side], LEG_JOINTS)] for side in sides]
        spread = dict.fromkeys(chain(*ways, combinations(far, LEG_JOINTS)))
        choices += [tuple(sorted(three)) for three in spread]
    return sorted(choices, key=lambda choice: len({*kept}.intersection(choice)))
