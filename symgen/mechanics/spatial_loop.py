"""Closed loops in space: the equations of cut joints, their Jacobian and their second derivative.

Each equation is a scalar product u · v = constant of two vectors that move with the two ends of a
loop (`symgen.mechanics.kinematic_loop`), so its derivatives follow from the product rule and the
motion of the two ends. All vectors are in the axes of the carrier of the loop. (Featherstone, Rigid
Body Dynamics Algorithms, 2008, section 8.8; motions of the ends by classical accelerations.)"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from symgen.mechanics.elimination import Elimination
from symgen.mechanics.kinematic_loop import (
    CUT_JOINTS,
    MIN_SINE,
    CutJoint,
    GapRate,
    KinematicLoop,
    Positions,
)
from symgen.mechanics.model import Closure
from symgen.mechanics.rigid_motion import Rows, matmul, matvec
from symgen.mechanics.spatial import ZERO_VECTOR, Angle, Rotation, Turn, Vector
from symgen.numbers.decimals import norm
from symgen.numbers.scalar import ZERO, Scalar, plain

AXES: Final[Rows] = (Vector(1.0, ZERO, ZERO), Vector(ZERO, 1.0, ZERO), Vector(ZERO, ZERO, 1.0))


@dataclass(frozen=True, slots=True)
class SpatialJoint:
    """A joint of a loop: the body that it moves, the `arm` from the origin of the frame before it
    to its own origin, and the rotation from that frame to its own axes (None: the same axes), of
    which z is the axis of the joint, about which it turns or along which it `slides`."""

    body: int
    arm: Vector
    rotation: Rotation | None
    slides: bool


@dataclass(frozen=True, slots=True)
class SpatialChain:
    """A chain of joints from the carrier of a loop to a cut joint, whose frame has the origin `tip`
    and the rows `axes` of its rotation in the frame after the last joint."""

    joints: tuple[SpatialJoint, ...]
    tip: Vector
    axes: Rows = AXES

    def arm_after(self, k: int) -> Vector:
        """From the origin of the joint `k` to that of the next one, or to the tip."""
        return self.joints[k + 1].arm if k + 1 < len(self.joints) else self.tip


class JointAtState(NamedTuple):
    """A joint of a chain at a state: its origin and its axes before it moves (rows of the
    rotation), and the vector from its origin to the next one."""

    origin: Vector
    rows: Rows
    segment: Vector

    @property
    def axis(self) -> Vector:
        """The axis of the joint."""
        return Vector(*(row.z for row in self.rows))


def rotated_rows(rows: Rows, turn: Turn | None) -> Rows:
    """The rows of a rotation, followed by a turn."""
    if turn is None:
        return rows
    x, y, z = (row.expressed_after(turn) for row in rows)
    return x, y, z


def forward_chain(
    side: SpatialChain, x: Positions, count: int | None = None
) -> tuple[list[JointAtState], Vector, Rows]:
    """The first `count` joints of a chain, by default all, and the origin and axes of the frame
    after them; the origin is that of the next joint, or the tip."""
    joints = side.joints[:count]
    origin, rows = (joints[0].arm if joints else side.arm_after(-1)), AXES
    stations = []
    for k, joint in enumerate(joints):
        before = rotated_rows(rows, joint.rotation)
        rows = before if joint.slides else rotated_rows(before, Turn(2, Angle(x[joint.body])))
        segment = matvec(rows, side.arm_after(k))
        if joint.slides:
            segment = segment + Vector(*(row.z for row in before)).scaled(x[joint.body])
        stations.append(JointAtState(origin, before, segment))
        origin = origin + segment
    return stations, origin, rows


class VectorWithRates(NamedTuple):
    """A vector with its first two rates."""

    value: Vector
    rate: Vector = ZERO_VECTOR
    second_rate: Vector = ZERO_VECTOR

    def __sub__(self, other: "VectorWithRates") -> "VectorWithRates":
        return VectorWithRates(*(a - b for a, b in zip(self, other, strict=True)))


class FrameMotion(NamedTuple):
    """The frame at an end of a chain in motion: its origin, its angular velocity, the rate of that,
    and its axes."""

    point: VectorWithRates
    w: Vector
    wd: Vector
    axes: Rows

    def axis(self, k: int) -> VectorWithRates:
        """An axis of the frame."""
        e = Vector(*(row[k] for row in self.axes))
        product_rate = self.w.cross(e)
        return VectorWithRates(e, product_rate, self.wd.cross(e) + self.w.cross(product_rate))


Product = tuple[VectorWithRates, VectorWithRates]


def constraint_products(cut: CutJoint, first: FrameMotion, second: FrameMotion) -> list[Product]:
    """The scalar products that a cut joint holds constant."""
    r = first.point - second.point
    pairs = [(VectorWithRates(e), r) for e in AXES] if cut.coincide else []
    pairs += [(first.axis(k), r) for k in cut.across]
    pairs += [(r, r)] if cut.distance else []
    return pairs + [(first.axis(i), second.axis(j)) for i, j in cut.perpendicular]


def product_value(pair: Product) -> Scalar:
    """A product; half of it if it is the square of a vector."""
    product = pair[0].value.dot(pair[1].value)
    return 0.5 * product if pair[0] is pair[1] else product


def product_rate(pair: Product) -> Scalar:
    """The rate of `product_value`."""
    u, v = pair
    one = u.value.dot(v.rate)
    return one if u is v else u.rate.dot(v.value) + one


def product_second_rate(pair: Product) -> Scalar:
    """The second rate of `product_value`."""
    u, v = pair
    one, across = u.value.dot(v.second_rate), u.rate.dot(v.rate)
    return across + one if u is v else u.second_rate.dot(v.value) + 2.0 * across + one


@dataclass(frozen=True)
class CutSides:
    """A cut joint with the two chains that it joins."""

    closure: Closure
    sides: tuple[SpatialChain, SpatialChain]

    @property
    def cut(self) -> CutJoint:
        """What the cut joint holds."""
        return CUT_JOINTS[self.closure.joint]

    def gap(self, x: Positions) -> GapRate:
        """The equations, each 0 where the loop closes."""
        ends = []
        for side in self.sides:
            _, origin, rows = forward_chain(side, x)
            ends.append(
                FrameMotion(
                    VectorWithRates(origin), ZERO_VECTOR, ZERO_VECTOR, _product(rows, side.axes)
                )
            )
        gaps = [product_value(pair) for pair in constraint_products(self.cut, *ends)]
        if self.cut.distance:
            gaps[0] = gaps[0] - 0.5 * self.closure.length**2
        return gaps

    def columns(self, x: Positions) -> dict[int, GapRate]:
        """The derivatives of the equations, a column for each joint."""
        walks = [forward_chain(side, x) for side in self.sides]
        tips = [VectorWithRates(origin) for _, origin, _ in walks]
        axes = [_product(rows, s.axes) for (_, _, rows), s in zip(walks, self.sides, strict=True)]
        ends_at_rest = [
            FrameMotion(p, ZERO_VECTOR, ZERO_VECTOR, e) for p, e in zip(tips, axes, strict=True)
        ]
        columns = dict[int, GapRate]()
        for n, (stations, _, _) in enumerate(walks):
            reach = ZERO_VECTOR
            for joint, station in reversed([*zip(self.sides[n].joints, stations, strict=True)]):
                reach, axis = station.segment + reach, station.axis
                w, v = (ZERO_VECTOR, axis) if joint.slides else (axis, axis.cross(reach))
                tip, last = self.sides[n].tip, joint is self.sides[n].joints[-1]
                # of parallel axes, chains have the sines of sums of angles
                has_own_axis = joint.rotation is not None and not joint.slides
                if last and has_own_axis and ZERO in (tip.x, tip.y):
                    arm = matvec(rotated_rows(AXES, Turn(2, Angle(x[joint.body]))), tip)
                    v = matvec(station.rows, Vector(-arm.y, arm.x, ZERO))
                moved = FrameMotion(VectorWithRates(tips[n].value, v), w, ZERO_VECTOR, axes[n])
                ends = (moved, ends_at_rest[1]) if n == 0 else (ends_at_rest[0], moved)
                columns[joint.body] = [
                    product_rate(pair) for pair in constraint_products(self.cut, *ends)
                ]
        return columns

    def drift(self, x: Positions, rates: Sequence[Scalar]) -> GapRate:
        """The second rates of the equations while the rates of the joints are constant."""
        ends = []
        for side in self.sides:
            stations, origin, rows = forward_chain(side, x)
            w, wd, v, a = (ZERO_VECTOR,) * 4
            for joint, station in zip(side.joints, stations, strict=True):
                moved = station.axis.scaled(rates[joint.body - 1])
                if joint.slides:
                    half = w.cross(moved)
                    v, a = v + moved, a + half + half
                else:
                    wd = wd + w.cross(moved)
                    w = w + moved
                across = w.cross(station.segment)
                v, a = v + across, a + wd.cross(station.segment) + w.cross(across)
            ends.append(
                FrameMotion(VectorWithRates(origin, v, a), w, wd, _product(rows, side.axes))
            )
        return [product_second_rate(pair) for pair in constraint_products(self.cut, *ends)]


def _product(a: Rows, b: Rows) -> Rows:
    return a if b is AXES else matmul(a, b)


PositionSolution = Callable[[Positions], dict[int, Any]]
"""Positions of the dependent joints of a loop from those of the others."""


@dataclass(frozen=True)
class SpatialLoop(KinematicLoop):
    """Cut joints that determine the coordinates of their dependent joints together: positions by a
    closed form, rates by elimination (`symgen.mechanics.elimination`)."""

    cuts: tuple[CutSides, ...]
    solution: PositionSolution
    elimination: Elimination | None = field(default=None)

    @property
    def closures(self) -> tuple[Closure, ...]:
        return tuple(cut.closure for cut in self.cuts)

    @property
    def joints(self) -> Iterator[SpatialJoint]:
        """All joints of the loop; one of several chains occurs several times."""
        return (h for cut in self.cuts for side in cut.sides for h in side.joints)

    @property
    def bodies(self) -> list[int]:
        return [*dict.fromkeys(joint.body for joint in self.joints)]

    @property
    def sufficient_sine(self) -> float:
        """A least singular value that is large enough: lengths and angles are compared in it."""
        return MIN_SINE

    @property
    def size(self) -> float:
        tips = [side.tip for cut in self.cuts for side in cut.sides]
        return max(norm(*map(plain, arm)) for arm in (*tips, *(h.arm for h in self.joints)))

    @property
    def sliding(self) -> set[int]:
        return {joint.body for joint in self.joints if joint.slides}

    def positions(self, x: Positions) -> dict[int, Any]:
        return self.solution(x)

    def columns(self, x: Positions) -> dict[int, GapRate]:
        """The Jacobian of the gap: a column for the joint of each body."""
        parts = [cut.columns(x) for cut in self.cuts]
        zeros = [[ZERO] * cut.cut.rows for cut in self.cuts]
        return {
            body: [e for part, zero in zip(parts, zeros, strict=True) for e in part.get(body, zero)]
            for body in self.bodies
        }

    def constant_distance(self, body: int) -> CutSides | None:
        """The constant distance that alone determines the joint of a body, if the closed form of
        the positions has one."""
        return getattr(self.solution, "constant_distances", {}).get(body)

    def gap(self, x: Positions) -> GapRate:
        """The equations of all cut joints, each 0 where the loop closes."""
        return [e for cut in self.cuts for e in cut.gap(x)]

    def independent_equations(self, gap: GapRate) -> GapRate:
        return [gap[k] for k in self.elimination.rows] if self.elimination else gap

    def drift(self, x: Positions, rates: Sequence[Scalar]) -> GapRate:
        return [e for cut in self.cuts for e in cut.drift(x, rates)]

    def matrix(self, columns: Mapping[int, GapRate]) -> list[list[Scalar]]:
        """The Jacobian of the gap in the dependent joints."""
        by = [columns[body] for body in self.dependent]
        return [[column[k] for column in by] for k in range(len(by[0]))]

    def dependent_rates(
        self, columns: Mapping[int, GapRate], sums: Sequence[GapRate]
    ) -> list[GapRate]:
        """The rates of the dependent joints that balance each of some motions of the gap."""
        matrix = self.matrix(columns)
        order = self.elimination or Elimination.of(matrix)
        return [[-x for x in row] for row in order.solve(matrix, sums)]

    def sine(self, x: Positions) -> float:
        """The least singular value of the dependent joints' Jacobian with unit columns, at numbers;
        0 where the loop does not close."""
        try:
            matrix = self.matrix(self.columns({**x, **self.positions(x)}))
        except (ValueError, ZeroDivisionError):
            return 0.0
        if self.elimination is not None and not self.elimination.has_signs_of_sample(matrix):
            return 0.0
        numbers = np.array([[plain(e) for e in row] for row in matrix])
        sizes = np.linalg.norm(numbers, axis=0)
        if not sizes.all():
            return 0.0
        return float(np.linalg.svd(numbers / sizes, compute_uv=False)[-1])
