"""The closed loops of a model: planar and spatial ones, those with a law for each dependent joint,
those that determine their joints together; and positions at which all loops close."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations
from random import Random
from typing import Any, Final, cast

from symgen.errors import OptionError
from symgen.mechanics.kinematic_loop import (
    MAX_SAMPLES,
    MIN_SINE,
    MIN_SINE_NEAR_DEAD_POINTS,
    GapRate,
    KinematicLoop,
    LoopError,
    Positions,
    UnitAngle,
    as_number,
    coordinate,
)
from symgen.mechanics.leg_positions import LEG_JOINTS
from symgen.mechanics.loop_geometry import planar_loop, spatial_loop
from symgen.mechanics.model import Closure, RigidBodyModel, paths_of
from symgen.mechanics.planar_loop import PlanarLoop
from symgen.mechanics.spatial import multiple
from symgen.numbers.decimals import exact
from symgen.numbers.scalar import ZERO, Scalar, plain, sum_in_order
from symgen.text import shown

RATE_TOLERANCE: Final = 1e-11
"""How far a rate may be from 0, 1 or -1, and a constant from 0 (rad): rounding."""
SAMPLE_DISTANCE: Final = 0.05
"""How far the positions are that are tried (rad)."""


@dataclass(frozen=True)
class LinearAngle:
    """The angle of a dependent joint of a parallelogram: the angles of others with their signs, and
    a constant."""

    terms: tuple[tuple[int, int], ...]
    constant: float

    def position(self, x: Positions) -> UnitAngle:
        """The angle at the positions of the others."""
        total = UnitAngle.of(self.constant or ZERO)
        for body, sign in self.terms:
            angle = UnitAngle.of(x[body])
            total = total + (angle if sign > 0 else -angle)
        return total

    def slopes(self, x: Positions) -> dict[int, Scalar]:
        """The derivatives in the positions of the others."""
        return {body: float(sign) for body, sign in self.terms}

    def second_rate(self, x: Positions, rates: Sequence[Scalar]) -> Scalar:
        """The second derivative while the rates of the others are constant."""
        return ZERO


@dataclass(frozen=True)
class JointPolynomial:
    """The position of a joint that is a polynomial of the position of a `leader`; with `turns` it
    is an angle. The first coefficient is the constant one."""

    leader: int
    coefficients: tuple[float, ...]
    turns: bool

    def position(self, x: Positions) -> Any:
        """As of `LinearAngle`; so are the others."""
        place = self._value(x, 0)
        return UnitAngle.of(place) if self.turns else place

    def slopes(self, x: Positions) -> dict[int, Scalar]:
        return {self.leader: self._value(x, 1)}

    def second_rate(self, x: Positions, rates: Sequence[Scalar]) -> Scalar:
        rate = rates[self.leader - 1]
        return multiple(self._value(x, 2), multiple(rate, rate))

    def _value(self, x: Positions, order: int) -> Scalar:
        """The derivative of this order."""
        coefficients, total = [*self.coefficients], cast("Scalar", ZERO)
        for _ in range(order):
            coefficients = [plain(k * exact(a)) for k, a in enumerate(coefficients)][1:]
        for a in reversed(coefficients):
            total = multiple(total, coordinate(x[self.leader]))
            total = total + a if a else total
        return total


@dataclass(frozen=True)
class ExplicitLoop(KinematicLoop):
    """A loop with a law for each dependent joint: a polynomial, or linear ones of a planar loop in
    which opposite links stay parallel. It closes at all positions and has no dead points, since
    links that cross are not in it."""

    closure: Closure
    joint_bodies: tuple[int, ...]
    laws: tuple[LinearAngle | JointPolynomial, ...]

    @property
    def closures(self) -> tuple[Closure, ...]:
        return (self.closure,)

    @property
    def bodies(self) -> list[int]:
        return [*self.joint_bodies]

    def positions(self, x: Positions) -> dict[int, Any]:
        pairs = zip(self.dependent, self.laws, strict=True)
        return {body: law.position(x) for body, law in pairs}

    def columns(self, x: Positions) -> dict[int, GapRate]:
        """The derivatives of the differences from the laws."""
        slopes = [law.slopes(x) for law in self.laws]
        found = dict[int, GapRate]()
        for body in self.bodies:
            found[body] = [-row[body] if body in row else ZERO for row in slopes]
        for k, body in enumerate(self.dependent):
            found[body] = [1.0 if i == k else ZERO for i in range(len(self.laws))]
        return found

    def drift(self, x: Positions, rates: Sequence[Scalar]) -> GapRate:
        return [-law.second_rate(x, rates) for law in self.laws]

    def dependent_rates(
        self, columns: Mapping[int, GapRate], sums: Sequence[GapRate]
    ) -> list[GapRate]:
        return [[-x for x in motion] for motion in sums]


def as_parallelogram(loop: PlanarLoop) -> KinematicLoop:
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
    return ExplicitLoop(loop.closure, tuple(loop.bodies), tuple(angles))


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
        follower, leader = first.bodies
        turns = model.body(follower).joint.type.unit == "rad"
        law = JointPolynomial(leader, first.polynomial, turns)
        return ExplicitLoop(first, first.bodies, (law,))
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


# -- positions of a robot --------------------------------------------------------------------------


def closing_positions(coupling: Any, q: Sequence[float]) -> tuple[float, ...]:
    """The positions q, or the nearest of some between them and a centre at which all loops close
    away from dead points; quaternions stay as they are. Of loops that can be crossed there is no
    dead point between these and the centre either: beyond it they are another mechanism."""
    center, newton_positions = _center(coupling), {place for _, place in coupling.newton_positions}
    parts = ((place, *coupling.joint_parts[body - 1]) for body, place in coupling.newton_positions)
    turning = {place for place, joint, at in parts if joint.positions[at].unit == "rad"}
    largest = coupling.sine(center)
    min_sine = MIN_SINE if largest >= MIN_SINE else 0.5 * largest
    unit = {n: q[n] for four in coupling.quaternions for n in range(four.start, four.stop)}
    for k in range(STEPS_TO_CENTER):
        fraction = 1 - k / STEPS_TO_CENTER
        moved = [round(c + fraction * (x - c), 4) for x, c in zip(q, center, strict=True)]
        moved = closed_by_newton(
            coupling, [center[n] if n in newton_positions else x for n, x in enumerate(moved)]
        )
        if turning:  # Newton's method may go through some turns
            moved = [
                math.remainder(x, math.tau) if n in turning else x for n, x in enumerate(moved)
            ]
            moved = closed_by_newton(coupling, moved)
        if coupling.sine(moved) >= min_sine:
            if any(loop.can_be_crossed for loop in coupling.loops):
                moved = [*_last_before_dead_point(coupling, center, moved, min_sine)]
            return tuple(unit.get(n, x) for n, x in enumerate(moved))
    return tuple(unit.get(n, x) for n, x in enumerate(center))


def _last_before_dead_point(
    coupling: Any, center: Sequence[float], q: Sequence[float], least: float
) -> Sequence[float]:
    """The last positions on the way from the centre to q before one with a smaller sine."""
    way = [b - a for a, b in zip(center, q, strict=True)]
    steps, last = int(max(map(abs, way)) / DEAD_POINT_SEARCH_STEP) + 1, center
    for k in range(1, steps):
        drawn = [round(a + k / steps * w, 4) for a, w in zip(center, way, strict=True)]
        place = closed_by_newton(coupling, drawn)
        if coupling.sine(place) < least:
            return last
        last = place
    return q


def closed_by_newton(coupling: Any, q: Sequence[float]) -> list[float]:
    """The positions q with all loops of Newton's method closed, if it converges; it does not if its
    steps do not become shorter."""
    out, shortest, failures = (
        list[Any](q),
        math.inf,
        0 if coupling.newton_positions else MAX_GROWING_STEPS,
    )
    try:
        while failures < MAX_GROWING_STEPS and shortest >= MIN_STEP:
            before, out = out, [plain(x) for x in coupling.newton_step(out)[0]]
            step = max(abs(a - b) for a, b in zip(before, out, strict=True))
            failures, shortest = failures + (step >= shortest), min(step, shortest)
    except (ValueError, ZeroDivisionError, OverflowError):
        return list(q)
    return out


MAX_GROWING_STEPS: Final = 5
"""Steps of Newton's method that are not the shortest so far, after which it is given up."""
MIN_STEP: Final = 1e-14
"""The last step of Newton's method (rad or m)."""
MIN_SAMPLES: Final = 40
"""How many positions are tried for a larger sine than `MIN_SINE_NEAR_DEAD_POINTS`."""
DEAD_POINT_SEARCH_STEP: Final = 0.1
"""The largest step between positions at which dead points are looked for (rad or m)."""
STEPS_TO_CENTER: Final = 32
"""How many positions are tried between one drawn at random and the centre."""


@lru_cache(maxsize=8)
def _center(coupling: Any) -> tuple[float, ...]:
    """Positions at which all loops close away from dead points: 0 if they do. Raises OptionError
    where none are found."""
    newton_positions, random, drives = dict(coupling.newton_positions), Random(0), coupling.maps
    samples = {b: p for loop in coupling.loops if newton_positions for b, p in loop.sample.items()}
    start = {
        newton_positions[b] if b in newton_positions else drives[b - 1].position_index: round(p, 4)
        for b, p in samples.items()
        if b in newton_positions or drives[b - 1].terms
    }
    best = tuple(closed_by_newton(coupling, [start.get(k, 0.0) for k in range(coupling.positions)]))
    sine, good = coupling.sine(best), min(loop.sufficient_sine for loop in coupling.loops)
    for k in range(MAX_SAMPLES):
        if sine >= good or (k >= MIN_SAMPLES and sine >= MIN_SINE_NEAR_DEAD_POINTS):
            break
        drawn = [round(random.uniform(-3.14, 3.14), 4) for _ in best]
        trial = tuple(closed_by_newton(coupling, [start.get(k, x) for k, x in enumerate(drawn)]))
        moved = coupling.sine(trial)
        best, sine = (trial, moved) if moved > sine else (best, sine)
    if sine < MIN_SINE_NEAR_DEAD_POINTS:
        names = ", ".join(c.name for loop in coupling.loops for c in loop.closures)
        raise OptionError(
            f"the closed loops of this robot ({shown(names)}) do not close at any of {MAX_SAMPLES} "
            "positions that were tried; correct the lengths of their links"
        )
    return best
