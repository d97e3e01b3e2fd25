"""Closed loops: the coordinates that a loop determines, from the independent ones.

A closure joins a point of one link to a point of another by a cut joint. Both links are at the ends
of chains of joints that start at the same body, the carrier of the loop. The positions of the
dependent joints have a closed form; their rates follow from the Jacobian of the gap between the two
points by elimination, whatever the geometry. With the coordinates x of the tree and the
independent ones y, the gap Φ(x) = 0 gives ẋ = G ẏ and ẍ = G ÿ + k:

    G_d = -Φ_d⁻¹ Φ_i G_i,   k_d = -Φ_d⁻¹ (Φ̇ ẋ + Φ_i k_i)

(Featherstone, Rigid Body Dynamics Algorithms, 2008, section 8.8 and chapter 8.12.)

All vectors are in the axes of the loop: fixed to the carrier, with z along the joint axes of a
planar loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from symgen.mechanics.canonical_frames import tidy
from symgen.mechanics.kinematic_loop import Direction, GapRate, KinematicLoop, Positions, UnitAngle
from symgen.mechanics.model import Closure
from symgen.numbers.decimals import norm
from symgen.numbers.operations import sqrt
from symgen.numbers.scalar import ZERO, Scalar, plain, positive

Plane = tuple[Scalar, Scalar]
"""A vector in the plane of a loop."""


@dataclass(frozen=True, slots=True)
class PlanarJoint:
    """A joint of a loop: the body that it moves, and with all joints at 0 the `arm` from its origin
    to that of the next joint, or to the cut point. A joint that turns has the `sign` of its axis
    along the normal of the loop; one that slides has a `direction`."""

    body: int
    arm: Plane
    sign: int = 1
    direction: Plane | None = None


Chain = tuple[PlanarJoint, ...]


@dataclass(frozen=True, slots=True)
class ChainPoint:
    """A place in a chain: the origin of a joint, the rotation of what carries the joint, and its
    direction of sliding and displacement."""

    point: Plane
    rotation: UnitAngle
    slide: Plane | None = None
    displacement: Plane = (ZERO, ZERO)
    arm: Plane = (ZERO, ZERO)


def _sum(a: Plane, b: Plane) -> Plane:
    return a[0] + b[0], a[1] + b[1]


def _difference(a: Plane, b: Plane) -> Plane:
    return a[0] - b[0], a[1] - b[1]


def _scaled(k: Scalar, a: Plane) -> Plane:
    return k * a[0], k * a[1]


def _perpendicular(a: Plane) -> Plane:
    """The vector after a quarter turn to the left."""
    return -a[1], a[0]


def _dot(a: Plane, b: Plane) -> Scalar:
    return a[0] * b[0] + a[1] * b[1]


def _cross(a: Plane, b: Plane) -> Scalar:
    return a[0] * b[1] - a[1] * b[0]


def _rotated(a: Plane, rotation: UnitAngle) -> Plane:
    c, s = rotation.applied("cos"), rotation.applied("sin")
    return c * a[0] - s * a[1], s * a[0] + c * a[1]


def _rotation_between(target: Plane, source: Plane, square: Scalar) -> UnitAngle:
    """The rotation that takes a vector to another one of the same length, whose square is given."""
    unit = source[0] / square, source[1] / square
    return UnitAngle(((Direction(_dot(target, unit), _cross(unit, target)), 1),))


def _chain_points(
    chain: Sequence[PlanarJoint], x: Positions, point: Plane, rotation: UnitAngle
) -> list[ChainPoint]:
    """The places of the joints of a chain that starts at a point of a body with a rotation, and of
    its end."""
    places = []
    for joint in chain:
        if joint.direction is None:
            after = rotation + _with_axis_sign(joint, UnitAngle.of(x[joint.body]))
            place = ChainPoint(point, rotation, arm=_rotated(joint.arm, after))
        else:
            after, slide = rotation, _rotated(joint.direction, rotation)
            moved = _scaled(x[joint.body], slide)
            place = ChainPoint(point, rotation, slide, moved, _rotated(joint.arm, rotation))
        places.append(place)
        point, rotation = _sum(_sum(point, place.displacement), place.arm), after
    return [*places, ChainPoint(point, rotation)]


NO_ROTATION: Final = UnitAngle(())
ZERO_PLANE: Final[Plane] = (ZERO, ZERO)


def _intersected_circles(base: Plane, first: Scalar, second: Scalar, branch: int) -> Plane:
    """The point at two distances, whose squares are given, from the origin and from `base`: to the
    left of the base for the branch 1."""
    inverse = 1.0 / _dot(base, base)
    along = 0.5 * ((first - second) * inverse + 1.0)
    height = sqrt(positive(first * inverse - along * along))
    return _sum(_scaled(along, base), _scaled(branch * height, _perpendicular(base)))


def _distance_along_line(start: Plane, unit: Plane, square: Scalar, branch: int) -> Scalar:
    """How far to go along a line from `start` until the distance from the origin has the square."""
    offset = _cross(unit, start)
    return branch * sqrt(positive(square - offset * offset)) - _dot(start, unit)


@dataclass(frozen=True)
class PlanarLoop(KinematicLoop):
    """A loop whose joints turn about parallel axes or slide across them, two of them dependent.

    `chains` lead from the carrier to the cut point, the first from the origin of the loop's axes,
    the second from `start`. With `orientation` (1 or -1) the determinant of the dependent joints'
    velocities at the cut point is positive on the branch."""

    closure: Closure
    chains: tuple[Chain, Chain]
    start: Plane
    orientation: int = 1

    @property
    def closures(self) -> tuple[Closure, ...]:
        return (self.closure,)

    @property
    def bodies(self) -> list[int]:
        return [joint.body for chain in self.chains for joint in chain]

    @property
    def size(self) -> float:
        return max(norm(*map(plain, joint.arm)) for chain in self.chains for joint in chain)

    @property
    def sliding(self) -> set[int]:
        return {h.body for chain in self.chains for h in chain if h.direction is not None}

    @property
    def can_be_crossed(self) -> bool:
        """Whether its positions have a closed form. A crank and a rod of equal lengths fold where
        the slider is at the pivot of the crank."""
        return not self.closure.newton

    def positions(self, x: Positions) -> dict[int, Any]:
        """The positions of the dependent joints from those of the others in the loop."""
        places = {h.body: (k, n) for k, c in enumerate(self.chains) for n, h in enumerate(c)}
        first, second = sorted(places[body] for body in self.dependent)
        slides = [p for p in (first, second) if self._joint(p).direction is not None]
        if len(slides) == len(self.dependent):
            return self._two_sliders(x)
        if first[0] != second[0]:
            turning = second if slides == [first] else first
            if slides:
                return self._slider_and_pivot(x, slides[0], turning)
            return self._two_pivots_on_both_sides(x, first[1], second[1])
        before = self._point_of_joint(x, first)
        base = _difference(self._end_of_chain(x, 1 - first[0]), before.point)
        turn_and_slide = self._pivot_then_slider if slides else self._two_pivots_on_one_side
        solve = self._slider_then_pivot if slides == [first] else turn_and_slide
        return solve(x, self.chains[first[0]], (first[1], second[1]), before, base)

    def _joint(self, place: tuple[int, int]) -> PlanarJoint:
        return self.chains[place[0]][place[1]]

    @property
    def _starts(self) -> tuple[Plane, Plane]:
        return ZERO_PLANE, self.start

    def _end_of_chain(self, x: Positions, side: int) -> Plane:
        return _chain_points(self.chains[side], x, self._starts[side], NO_ROTATION)[-1].point

    def _point_of_joint(self, x: Positions, place: tuple[int, int]) -> ChainPoint:
        """The place of a joint."""
        side, k = place
        return _chain_points(self.chains[side][:k], x, self._starts[side], NO_ROTATION)[-1]

    def _arm_to_cut_point(self, x: Positions, place: tuple[int, int]) -> Plane:
        """From the origin of a turning joint to the cut point, in the axes of its body."""
        side, k = place
        chain = self.chains[side]
        return _chain_points(chain[k + 1 :], x, chain[k].arm, NO_ROTATION)[-1].point

    def _two_pivots_on_both_sides(self, x: Positions, i: int, j: int) -> dict[int, Any]:
        """Two turning joints on different sides: circle and circle."""
        a, b = self._point_of_joint(x, (0, i)), self._point_of_joint(x, (1, j))
        first, second = self._arm_to_cut_point(x, (0, i)), self._arm_to_cut_point(x, (1, j))
        base = _difference(b.point, a.point)
        squares = _dot(first, first), _dot(second, second)
        apex = _intersected_circles(base, *squares, self.closure.branch)
        turns = (
            _rotation_between(apex, first, squares[0]),
            _rotation_between(_difference(apex, base), second, squares[1]),
        )
        joints = self.chains[0][i], self.chains[1][j]
        return {
            joint.body: _with_axis_sign(joint, turn - place.rotation)
            for joint, turn, place in zip(joints, turns, (a, b), strict=True)
        }

    def _slider_and_pivot(
        self, x: Positions, slider: tuple[int, int], turning: tuple[int, int]
    ) -> dict[int, Any]:
        """A joint that slides on one side and one that turns on the other: line and circle."""
        slider_joint, pivot = self._joint(slider), self._joint(turning)
        direction = _rotated(
            slider_joint.direction or ZERO_PLANE, self._point_of_joint(x, slider).rotation
        )
        start = self._end_of_chain({**x, slider_joint.body: ZERO}, slider[0])
        center, reach = self._point_of_joint(x, turning), self._arm_to_cut_point(x, turning)
        from_center, square = _difference(start, center.point), _dot(reach, reach)
        shift = _distance_along_line(from_center, direction, square, self.closure.branch)
        point = _sum(from_center, _scaled(shift, direction))
        turn = _rotation_between(point, reach, square) - center.rotation
        return {slider_joint.body: shift, pivot.body: _with_axis_sign(pivot, turn)}

    def _two_sliders(self, x: Positions) -> dict[int, Any]:
        """Two joints that slide: line and line."""
        at_zero = {**x, **dict.fromkeys(self.dependent, ZERO)}
        gap, columns = (
            _difference(self._end_of_chain(at_zero, 0), self._end_of_chain(at_zero, 1)),
            self.columns(at_zero),
        )
        a, b = ((columns[body][0], columns[body][1]) for body in self.dependent)
        area = _cross(a, b)
        inverse = area * (1.0 / positive(area * area))
        values = (_cross(b, gap) * inverse, -(_cross(a, gap) * inverse))
        return dict(zip(self.dependent, values, strict=True))

    def _two_pivots_on_one_side(
        self, x: Positions, chain: Chain, pair: tuple[int, int], before: ChainPoint, base: Plane
    ) -> dict[int, Any]:
        """Two turning joints on one side, from the cut point as the other side has it: circle and
        circle."""
        first, second = (chain[k] for k in pair)
        between = _chain_points(chain[pair[0] + 1 : pair[1]], x, first.arm, NO_ROTATION)[-1]
        far = _chain_points(chain[pair[1] + 1 :], x, second.arm, NO_ROTATION)[-1].point
        near, squares = between.point, (_dot(between.point, between.point), _dot(far, far))
        apex = _intersected_circles(base, *squares, self.closure.branch)
        turn = _rotation_between(apex, near, squares[0])
        after = _rotation_between(_difference(base, apex), far, squares[1])
        return {
            first.body: _with_axis_sign(first, turn - before.rotation),
            second.body: _with_axis_sign(second, after - turn - between.rotation),
        }

    def _pivot_then_slider(
        self, x: Positions, chain: Chain, pair: tuple[int, int], before: ChainPoint, base: Plane
    ) -> dict[int, Any]:
        """A joint that turns and one beyond it that slides, such as a cylinder: point and point."""
        first, second = chain[pair[0]], chain[pair[1]]
        between = _chain_points(chain[pair[0] + 1 : pair[1]], x, first.arm, NO_ROTATION)[-1]
        direction = _rotated(second.direction or ZERO_PLANE, between.rotation)
        beyond = _sum(between.point, _rotated(second.arm, between.rotation))
        beyond = _chain_points(chain[pair[1] + 1 :], x, beyond, between.rotation)[-1].point
        offset, square = _cross(direction, beyond), _dot(base, base)
        if pair == (len(chain) - 2, len(chain) - 1):  # constants
            offset = tidy(plain(offset), norm(*map(plain, beyond)))
        size = sqrt(positive(square - offset * offset))
        length = self.closure.branch * size
        if offset is ZERO:
            inverse = self.closure.branch * (1.0 / size)
            turn = Direction(_dot(base, direction) * inverse, _cross(direction, base) * inverse)
        else:
            arm = _sum(_scaled(length, direction), _scaled(offset, _perpendicular(direction)))
            inverse = 1.0 / square
            turn = Direction(_dot(base, arm) * inverse, _cross(arm, base) * inverse)
        return {
            first.body: _with_axis_sign(first, UnitAngle(((turn, 1),)) - before.rotation),
            second.body: length - _dot(direction, beyond),
        }

    def _slider_then_pivot(
        self, x: Positions, chain: Chain, pair: tuple[int, int], before: ChainPoint, base: Plane
    ) -> dict[int, Any]:
        """A joint that slides and one beyond it that turns: line and circle."""
        first, second = chain[pair[0]], chain[pair[1]]
        direction = _rotated(first.direction or ZERO_PLANE, before.rotation)
        start = _rotated(first.arm, before.rotation)
        center = _chain_points(chain[pair[0] + 1 : pair[1]], x, start, before.rotation)[-1]
        far = _chain_points(chain[pair[1] + 1 :], x, second.arm, NO_ROTATION)[-1].point
        square, from_end = _dot(far, far), _difference(center.point, base)
        shift = _distance_along_line(from_end, direction, square, self.closure.branch)
        point = _difference(_difference(ZERO_PLANE, from_end), _scaled(shift, direction))
        return {
            first.body: shift,
            second.body: _with_axis_sign(
                second, _rotation_between(point, far, square) - center.rotation
            ),
        }

    # -- rates -------------------------------------------------------------------------------------

    def columns(self, x: Positions) -> dict[int, GapRate]:
        """The Jacobian of the gap, from the end of the second chain to that of the first: a column
        for the joint of each body."""
        columns = dict[int, GapRate]()
        for side, chain in enumerate(self.chains):
            *places, end = _chain_points(chain, x, self._starts[side], NO_ROTATION)
            for joint, place in zip(chain, places, strict=True):
                moved = place.slide
                if moved is None:
                    moved = _perpendicular(_difference(end.point, place.point))
                    moved = moved if joint.sign > 0 else _difference(ZERO_PLANE, moved)
                columns[joint.body] = _difference(ZERO_PLANE, moved) if side else moved
        return columns

    def drift(self, x: Positions, rates: Sequence[Scalar]) -> GapRate:
        """The second derivative of the gap while the rates of all joints are constant."""
        total: list[Plane] = []
        for side, chain in enumerate(self.chains):
            places, a = _chain_points(chain, x, self._starts[side], NO_ROTATION), ZERO_PLANE
            w: Scalar = ZERO
            for joint, place in zip(chain, places, strict=False):
                rate = rates[joint.body - 1]
                if place.slide is None:
                    w = w + _with_axis_sign(joint, rate)
                else:
                    a = _sum(a, _scaled(2.0 * (w * rate), _perpendicular(place.slide)))
                a = _difference(a, _scaled(w * w, _sum(place.displacement, place.arm)))
            total.append(a)
        return _difference(*total)

    def sine(self, x: Positions) -> float:
        """The sine of the angle between the motions that the dependent joints give the cut point,
        at numbers; 0 where the loop does not close. A joint that does not move it has none."""
        try:
            columns = self.columns({**x, **self.positions(x)})
        except (ValueError, ZeroDivisionError):  # the root of a negative number, or no distance
            return 0.0
        a, b = ([plain(e) for e in columns[body]] for body in self.dependent)
        size = norm(*a) * norm(*b)
        return (a[0] * b[1] - a[1] * b[0]) / size if size else 0.0

    def dependent_rates(
        self, columns: Mapping[int, GapRate], sums: Sequence[GapRate]
    ) -> list[GapRate]:
        """The rates of the dependent joints that balance each of some motions of the gap."""
        a, b = ((columns[body][0], columns[body][1]) for body in self.dependent)
        inverse = 1.0 / positive(self.orientation * _cross(a, b))
        inverse = inverse if self.orientation > 0 else -inverse
        return [(_cross(b, (x, y)) * inverse, -(_cross(a, (x, y)) * inverse)) for x, y in sums]


def _with_axis_sign(joint: PlanarJoint, x: Any) -> Any:
    return x if joint.sign > 0 else -x
