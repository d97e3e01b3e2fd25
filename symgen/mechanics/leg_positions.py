"""Positions of spatial loops: of legs in closed form, of others by Newton's method.

A leg reaches for a point P with two joints that turn about intersecting axes, such as a universal
joint, at a point C, and a third joint before or behind these, or on the other side of the loop. The
third joint makes the distance from C to P that of the leg: a circle and a sphere if it turns, a
line and a sphere if it slides. Of the two others, the second makes the height of the leg's end
along the axis of the first that of P, and the first turns it to P. (Paden, Kinematics and Control
of Robot Manipulators, 1986, subproblems 1 and 3.)"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations
from random import Random
from typing import Any, Final

import numpy as np

from symgen.mechanics.kinematic_loop import (
    MIN_SINE,
    MIN_SINE_NEAR_DEAD_POINTS,
    PARALLEL_TOLERANCE,
    Direction,
    LoopError,
    Positions,
    UnitAngle,
)
from symgen.mechanics.spatial import ZERO_VECTOR, Rotation, Vector
from symgen.mechanics.spatial_loop import (
    AXES,
    CutSides,
    PositionSolution,
    SpatialChain,
    SpatialLoop,
    forward_chain,
    rotated_rows,
)
from symgen.numbers.decimals import norm
from symgen.numbers.operations import sqrt
from symgen.numbers.scalar import ZERO, Scalar, plain, positive

JointIndex = tuple[int, int]
"""A joint of a loop: its side and its index there."""


def _angle_of_linear_equation(a: Scalar, b: Scalar, right: Scalar, sign: int) -> UnitAngle:
    """A solution of a cos θ + b sin θ = right."""
    square = a * a + b * b
    inverse, root = 1.0 / square, sign * sqrt(positive(square - right * right))
    return UnitAngle(
        ((Direction((a * right - b * root) * inverse, (b * right + a * root) * inverse), 1),)
    )


def _chain_after(side: SpatialChain, k: int, until: int) -> SpatialChain:
    """The part of a chain from the frame after the joint `k` to the origin of the joint `until`."""
    return SpatialChain(side.joints[k + 1 : until], side.arm_after(until - 1))


def joint_position_for_distance(
    side: SpatialChain, x: Positions, k: int, until: int, far: Vector, square: Scalar, sign: int
) -> Any:
    """The position of the joint `k` at which the origin of the joint `until` has a distance from
    the point `far` whose square is given."""
    _, origin, rows = forward_chain(side, x, k)
    joint = side.joints[k]
    q = (origin - far).expressed_after(Rotation.by(rotated_rows(rows, joint.rotation)))
    rest = forward_chain(_chain_after(side, k, until), x)[1]
    if joint.slides:
        e = q + rest
        return sign * sqrt(positive(square - e.x * e.x - e.y * e.y)) - e.z
    right = 0.5 * (square - q.dot(q) - rest.dot(rest)) - q.z * rest.z
    return _angle_of_linear_equation(
        q.x * rest.x + q.y * rest.y, q.y * rest.x - q.x * rest.y, right, sign
    )


@dataclass(frozen=True)
class Rod:
    """The joint that keeps a constant distance between the ends of its loop."""

    cut: CutSides
    third: JointIndex

    def points(self, x: Positions) -> list[Vector]:
        """The two points, by the side of the loop."""
        return [forward_chain(side, x)[1] for side in self.cut.sides]

    def square(self, x: Positions) -> Scalar:
        """The square of the distance of the two points."""
        return self.cut.closure.length**2

    @property
    def constant_distances(self) -> dict[int, CutSides]:
        """The constant distance of each joint that one determines."""
        return dict.fromkeys(self.cut.closure.dependent, self.cut)

    def __call__(self, x: Positions) -> dict[int, Any]:
        """The position of the joint."""
        (s, k), sides, sign = self.third, self.cut.sides, self.cut.closure.branch
        far, count = forward_chain(sides[1 - s], x)[1], len(sides[s].joints)
        angle = joint_position_for_distance(sides[s], x, k, count, far, self.square(x), sign)
        return {sides[s].joints[k].body: angle}


@dataclass(frozen=True)
class Leg:
    """Two joints with intersecting axes, of which `pair` is the first, and a `third` one."""

    cut: CutSides
    pair: JointIndex
    third: JointIndex

    @property
    def constant_distances(self) -> dict[int, CutSides]:
        """The constant distance of the third joint, unless it is beyond the pair: that from where
        the pair's axes intersect to the other end."""
        (s, j), (side, k), sides = self.pair, self.third, self.cut.sides
        beyond = _chain_after(sides[s], j + 1, len(sides[s].joints))
        if (side == s and k > j) or beyond.joints:
            return {}
        before = replace(sides[s], joints=sides[s].joints[:j], tip=sides[s].arm_after(j - 1))
        length = norm(*map(plain, beyond.tip))
        closure = replace(self.cut.closure, joint="distance", length=length)
        ends = (before, sides[1]) if s == 0 else (sides[0], before)
        return {sides[side].joints[k].body: CutSides(closure, ends)}

    def __call__(self, x: Positions) -> dict[int, Any]:
        """The positions of the three joints."""
        (s, j), (side, k) = self.pair, self.third
        chain, other = self.cut.sides[s], self.cut.sides[1 - s]
        sign = 1 if self.cut.closure.branch > 0 else -1
        if side == s and k > j:
            center, target = forward_chain(chain, x, j)[1], forward_chain(other, x)[1]
            away, behind = target - center, _chain_after(chain, j + 1, len(chain.joints))
            ends = k - j - 2, len(behind.joints), ZERO_VECTOR, away.dot(away)
            third = joint_position_for_distance(behind, x, *ends, sign)
        elif side == s:
            ends = k, j, forward_chain(other, x)[1], self.square(x)
            third = joint_position_for_distance(chain, x, *ends, sign)
        else:
            ends = k, len(other.joints), forward_chain(chain, x, j)[1], self.square(x)
            third = joint_position_for_distance(other, x, *ends, sign)
        found = {self.cut.sides[side].joints[k].body: third}
        return found | self.positions_of_pair({**x, **found})

    def points(self, x: Positions) -> list[Vector]:
        """The point at which the axes of the pair intersect and the end of the leg, by the side of
        the loop."""
        counts = [self.pair[1] if s == self.pair[0] else None for s in (0, 1)]
        sides = zip(self.cut.sides, counts, strict=True)
        return [forward_chain(side, x, count)[1] for side, count in sides]

    def square(self, x: Positions) -> Scalar:
        """The square of the distance of the two points."""
        arm = self._arm(x)
        return arm.dot(arm)

    def _arm(self, x: Positions) -> Vector:
        """From one to the other point, in the axes of the pair's second body."""
        s, j = self.pair
        chain = self.cut.sides[s]
        return forward_chain(_chain_after(chain, j + 1, len(chain.joints)), x)[1]

    def positions_of_pair(self, x: Positions) -> dict[int, Any]:
        """The positions of the pair at which the leg's end is where the other side has it."""
        s, j = self.pair
        side, points, arm = self.cut.sides[s], self.points(x), self._arm(x)
        first, second = side.joints[j], side.joints[j + 1]
        run = j
        while run and side.joints[run].rotation is None and not side.joints[run - 1].slides:
            run -= 1
        rows = rotated_rows(forward_chain(side, x, run)[2], side.joints[run].rotation)
        to = (points[1 - s] - points[s]).expressed_after(Rotation.by(rows))
        before = (second.rotation or Rotation.by(AXES)).rows
        height = before[2]
        sign = -1 if abs(self.cut.closure.branch) == 1 else 1
        angle = _angle_of_linear_equation(
            height.x * arm.x + height.y * arm.y,
            height.y * arm.x - height.x * arm.y,
            to.z - height.z * arm.z,
            sign,
        )
        c, s_ = angle.applied("cos"), angle.applied("sin")
        reached = Vector(c * arm.x - s_ * arm.y, s_ * arm.x + c * arm.y, arm.z)
        flat = [row.dot(reached) for row in before[:2]]
        k = 1 if flat[0] is ZERO else 0
        if flat[1 - k] is ZERO and height.z is ZERO and before[k].z is ZERO:
            # flat[k] is the root of the angle, with the sign of the branch
            ahead = plain(before[k].y * height.x - before[k].x * height.y) * sign > 0
            inverse = 1.0 / flat[k] if ahead else -(1.0 / -flat[k])
            u, v = to.x * inverse, to.y * inverse
            turn = UnitAngle(((Direction(v, -u) if k else Direction(u, v), 1),))
        else:
            inverse = 1.0 / (flat[0] * flat[0] + flat[1] * flat[1])
            u, v = flat[0] * inverse, flat[1] * inverse
            direction = Direction(to.x * u + to.y * v, to.y * u - to.x * v)
            turn = UnitAngle(((direction, 1),))
        before_it = sum((UnitAngle.of(x[h.body]) for h in side.joints[run:j]), UnitAngle(()))
        return {first.body: turn - before_it, second.body: angle}


def leg_of(cut: CutSides) -> Rod | Leg:
    """The closed form of a cut joint between two points. Raises LoopError where there is none."""
    closure = cut.closure
    indices = {
        h.body: (s, k) for s, side in enumerate(cut.sides) for k, h in enumerate(side.joints)
    }
    dependent = [indices[body] for body in closure.dependent]
    if closure.joint == "distance" and len(dependent) == 1:
        return Rod(cut, dependent[0])
    if closure.joint == "ball" and len(dependent) == LEG_JOINTS:
        pair = next(
            (place for place in dependent if _has_intersecting_axes(cut, place, dependent)), None
        )
        if pair is not None:
            (third,) = {*dependent} - {pair, (pair[0], pair[1] + 1)}
            return Leg(cut, pair, third)
    raise LoopError(
        "its positions have no closed form that is known; name other dependent joints, of which "
        "two turn about intersecting axes one after the other, or close it by a ball joint"
    )


LEG_JOINTS: Final = 3
"""The number of joints of a leg whose end is at a point."""


def _has_intersecting_axes(cut: CutSides, place: JointIndex, dependent: list[JointIndex]) -> bool:
    """Whether a joint and the next one are dependent, turn and have axes that intersect."""
    s, k = place
    if (s, k + 1) not in dependent:
        return False
    first, second = cut.sides[s].joints[k : k + 2]
    return (
        not (first.slides or second.slides)
        and second.rotation is not None
        and all(e is ZERO for e in second.arm)
    )


def common_point(centers: Sequence[Vector], squares: Sequence[Scalar], sign: int) -> Vector:
    """The point whose distances from three centres have the given squares, on the side of their
    plane to which a × b points for the sign 1, with the vectors a and b from the first centre to
    the others."""
    a, b = (center - centers[0] for center in centers[1:])
    aa, ab, bb, normal = a.dot(a), a.dot(b), b.dot(b), a.cross(b)
    by_a, by_b = (
        0.5 * (squares[0] - square + size)
        for square, size in zip(squares[1:], (aa, bb), strict=True)
    )
    inverse = 1.0 / normal.dot(normal)
    along_a, along_b = (by_a * bb - by_b * ab) * inverse, (by_b * aa - by_a * ab) * inverse
    rest = squares[0] - (along_a * by_a + along_b * by_b)
    height = sign * sqrt(positive(rest * inverse))
    return centers[0] + a.scaled(along_a) + b.scaled(along_b) + normal.scaled(height)


@dataclass(frozen=True)
class Tripod:
    """Three legs of a platform, each with the side of its cut joint that has the sliding joints of
    the platform, from the index `first` on."""

    legs: tuple[Rod | Leg, ...]
    sides: tuple[int, ...]
    first: int

    def __call__(self, x: Positions) -> dict[int, Any]:
        """The positions of the platform's joints and of the legs' pairs."""
        pairs = [*zip(self.legs, self.sides, strict=True)]
        chain = self.legs[0].cut.sides[self.sides[0]]
        sliders = slice(self.first, self.first + LEG_JOINTS)
        bodies = [joint.body for joint in chain.joints[sliders]]
        at_zero = {**x, **dict.fromkeys(bodies, ZERO)}
        spheres = [(leg.points(at_zero), leg.square(at_zero), side) for leg, side in pairs]
        centers = [points[1 - side] - points[side] for points, _, side in spheres]
        sign = 1 if self.legs[0].cut.closure.branch > 0 else -1
        moved = common_point(centers, [square for _, square, _ in spheres], sign)
        stations = forward_chain(chain, at_zero)[0][sliders]
        found = {body: s.axis.dot(moved) for body, s in zip(bodies, stations, strict=True)}
        known = {**x, **found}
        for leg in (leg for leg in self.legs if isinstance(leg, Leg)):
            found |= leg.positions_of_pair(known)
        return found


def tripod_of(cuts: Sequence[CutSides]) -> Tripod:
    """The closed form of cut joints that determine each other's joints. Raises LoopError where
    there is none."""
    legs = tuple(leg_of(cut) for cut in cuts)
    sides = tuple(leg.third[0] for leg in legs)
    joints = [cut.sides[side].joints for cut, side in zip(cuts, sides, strict=True)]
    thirds = {h[leg.third[1]].body for h, leg in zip(joints, legs, strict=True)}
    first = min(leg.third[1] for leg in legs)
    zeros = dict.fromkeys((h.body for cut in cuts for s in cut.sides for h in s.joints), 0.0)
    axes = [s.axis for s in forward_chain(cuts[0].sides[sides[0]], zeros)[0]][
        first : first + LEG_JOINTS
    ]
    same = all({h.body for h in chain[first : first + LEG_JOINTS]} == thirds for chain in joints)
    across = (abs(plain(a.dot(b))) <= PARALLEL_TOLERANCE for a, b in combinations(axes, 2))
    slide = all(joint.slides for joint in joints[0][first : first + LEG_JOINTS])
    if len(cuts) != LEG_JOINTS or not (same and slide and all(across)):
        raise LoopError(
            "it and other loops determine each other's joints, and their positions have no closed "
            "form, as those of a platform that slides along three perpendicular axes on three legs"
        )
    return Tripod(legs, sides, first)


@dataclass(frozen=True)
class NewtonLoop(SpatialLoop):
    """Cut joints without a known closed form: the positions of the dependent joints are the user's,
    found by Newton's method (``loop_closure``). Equations that depend on the others are left out by
    the elimination."""

    solution: PositionSolution = field(default=lambda x: {})

    def newton_changes(self, x: Positions) -> dict[int, float]:
        """A step of Newton's method, to be subtracted from the dependent positions."""
        matrix = [[plain(e) for e in row] for row in self.matrix(self.columns(x))]
        gap = [plain(e) for e in self.gap(x)]
        step = np.linalg.lstsq(np.array(matrix), np.array(gap), rcond=None)[0]
        return dict(zip(self.dependent, map(float, step), strict=True))

    def closed(self, x: Positions) -> Positions:
        """Positions of all joints at which the loop closes, by iteration from a start; steps are
        those of least squares, which exist at dead points."""
        out = dict(x)
        for _ in range(MAX_ITERATIONS):
            step = self.newton_changes(out)
            longest = max(map(abs, step.values()))
            if longest < GAP_TOLERANCE:
                break
            share = min(1.0, MAX_STEP / (longest or 1.0))
            out |= {b: out[b] - share * change for b, change in step.items()}
        turning = {*self.dependent} - self.sliding
        return out | {b: math.remainder(out[b], math.tau) for b in turning}

    def closes(self, x: Positions) -> bool:
        """Whether its equations hold, but for digits also those that the elimination leaves out:
        the others of a spherical linkage hold in its mirror image."""
        gap, size = self.gap(x), self.size
        independent = norm(*map(plain, self.independent_equations(gap)))
        every = norm(*map(plain, gap))
        return independent <= GAP_TOLERANCE * size and every <= REDUNDANT_GAP_TOLERANCE * size

    def sine(self, x: Positions) -> float:
        """The least singular value as of other loops; 0 where the equations do not hold."""
        return super().sine(x) if self.closes(x) else 0.0

    @property
    def sample(self) -> Positions:
        """Positions of all joints at which the loop closes, the independent ones at 0 if it closes
        there. Raises LoopError where the iteration does not converge."""
        return _sample_of(self.cuts)


@lru_cache(maxsize=64)
def _sample_of(cuts: tuple[CutSides, ...]) -> Positions:
    """`NewtonLoop.sample` of its cut joints: a search that every reading of the loop repeats."""
    loop, random, best, found = NewtonLoop(cuts), Random(0), 0.0, None
    x = dict.fromkeys(loop.bodies, 0.0)
    chosen = len(loop.dependent) <= sum(cut.cut.rows for cut in cuts)
    for k in range(MAX_STARTS):
        trial = loop.closed(x)
        near = norm(*map(plain, loop.gap(trial))) <= REDUNDANT_GAP_TOLERANCE * loop.size
        closes = near and max(map(abs, loop.newton_changes(trial).values())) < STEP_TOLERANCE
        sine = SpatialLoop.sine(loop, trial) if closes else 0.0
        if sine > best or (closes and found is None):
            best, found = sine, trial
        if best >= MIN_SINE or (chosen and k >= MIN_STARTS and best >= MIN_SINE_NEAR_DEAD_POINTS):
            break
        moved = loop.dependent if k < MAX_STARTS // 2 else loop.bodies
        x |= {b: random.uniform(-1.0, 1.0) for b in moved}
    if found is None:
        raise LoopError(
            f"Newton's method does not close it from any of {MAX_STARTS} starts; correct the "
            "lengths of its links, or name other dependent joints"
        )
    return found


MAX_STARTS: Final = 40
"""How many starts of Newton's method are tried at generation."""
MIN_STARTS: Final = 6
"""How many starts are tried for a larger sine than `MIN_SINE_NEAR_DEAD_POINTS`."""
MAX_STEP: Final = 0.5
"""The longest step at generation (rad or m)."""
MAX_ITERATIONS: Final = 30
"""Steps of Newton's method at generation."""
GAP_TOLERANCE: Final = 1e-13
"""The largest gap of a loop that is closed, as a part of its size."""
STEP_TOLERANCE: Final = 1e-9
"""The longest step of Newton's method that is left (rad or m)."""
REDUNDANT_GAP_TOLERANCE: Final = 1e-3
"""The largest gap of equations that others imply but for digits, as a part of the loop's size."""
