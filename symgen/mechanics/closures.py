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
from symgen.mechanics.kinematic_loop import GapMotion, KinematicLoop, Positions
from symgen.mechanics.model import Closure
from symgen.mechanics.unit_angle import Direction, UnitAngle
from symgen.numbers.decimals import norm
from symgen.numbers.operations import sqrt
from symgen.numbers.scalar import ZERO, Scalar, plain, positive

Plane = tuple[Scalar, Scalar]
"""A vector in the plane of a loop."""


@dataclass(frozen=True, slots=True)
class Hinge:
    """A joint of a loop: the body that it moves, and with all joints at 0 the `arm` from its origin
    to that of the next joint, or to the cut point. A joint that turns has the `sign` of its axis
    along the normal of the loop; one that slides has a `direction`."""

    body: int
    arm: Plane
    sign: int = 1
    direction: Plane | None = None


Chain = tuple[Hinge, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """A place in a chain: the origin of a joint, the rotation of what carries the joint, and its
    direction of sliding and displacement."""

    at: Plane
    turn: UnitAngle
    slide: Plane | None = None
    displacement: Plane = (ZERO, ZERO)
    arm: Plane = (ZERO, ZERO)


def _plus(a: Plane, b: Plane) -> Plane:
    return a[0] + b[0], a[1] + b[1]


def _minus(a: Plane, b: Plane) -> Plane:
    return a[0] - b[0], a[1] - b[1]


def _times(k: Scalar, a: Plane) -> Plane:
    return k * a[0], k * a[1]


def _across(a: Plane) -> Plane:
    """The vector after a quarter turn to the left."""
    return -a[1], a[0]


def _dot(a: Plane, b: Plane) -> Scalar:
    return a[0] * b[0] + a[1] * b[1]


def _cross(a: Plane, b: Plane) -> Scalar:
    return a[0] * b[1] - a[1] * b[0]


def _turned(a: Plane, turn: UnitAngle) -> Plane:
    c, s = turn.applied("cos"), turn.applied("sin")
    return c * a[0] - s * a[1], s * a[0] + c * a[1]


def _turn_between(target: Plane, source: Plane, square: Scalar) -> UnitAngle:
    """The rotation that takes a vector to another one of the same length, whose square is given."""
    unit = source[0] / square, source[1] / square
    return UnitAngle(((Direction(_dot(target, unit), _cross(unit, target)), 1),))


def _walk(chain: Sequence[Hinge], x: Positions, at: Plane, turn: UnitAngle) -> list[Reach]:
    """The places of the joints of a chain that starts at a point of a body with a rotation, and of
    its end."""
    places = []
    for hinge in chain:
        if hinge.direction is None:
            after = turn + _signed(hinge, UnitAngle.of(x[hinge.body]))
            place = Reach(at, turn, arm=_turned(hinge.arm, after))
        else:
            after, slide = turn, _turned(hinge.direction, turn)
            moved = _times(x[hinge.body], slide)
            place = Reach(at, turn, slide, moved, _turned(hinge.arm, turn))
        places.append(place)
        at, turn = _plus(_plus(at, place.displacement), place.arm), after
    return [*places, Reach(at, turn)]


STILL: Final = UnitAngle(())
ZERO_PLANE: Final[Plane] = (ZERO, ZERO)


def _circles(base: Plane, first: Scalar, second: Scalar, branch: int) -> Plane:
    """The point at two distances, whose squares are given, from the origin and from `base`: to the
    left of the base for the branch 1."""
    inverse = 1.0 / _dot(base, base)
    along = 0.5 * ((first - second) * inverse + 1.0)
    height = sqrt(positive(first * inverse - along * along))
    return _plus(_times(along, base), _times(branch * height, _across(base)))


def _on_line(start: Plane, unit: Plane, square: Scalar, branch: int) -> Scalar:
    """How far to go along a line from `start` until the distance from the origin has the square."""
    off = _cross(unit, start)
    return branch * sqrt(positive(square - off * off)) - _dot(start, unit)


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
        """The cut joint that closes it."""
        return (self.closure,)

    @property
    def bodies(self) -> list[int]:
        """The bodies of all joints of the loop."""
        return [hinge.body for chain in self.chains for hinge in chain]

    @property
    def size(self) -> float:
        """The length of its longest link (m)."""
        return max(norm(*map(plain, hinge.arm)) for chain in self.chains for hinge in chain)

    @property
    def sliding(self) -> set[int]:
        """The bodies whose joints slide."""
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
        slides = [p for p in (first, second) if self._hinge(p).direction is not None]
        if len(slides) == len(self.dependent):
            return self._of_sliders(x)
        if first[0] != second[0]:
            turning = second if slides == [first] else first
            if slides:
                return self._across_slider(x, slides[0], turning)
            return self._on_both_sides(x, first[1], second[1])
        before = self._before(x, first)
        base = _minus(self._ends(x, 1 - first[0]), before.at)
        turn_and_slide = self._slider_last if slides else self._on_one_side
        solve = self._slider_first if slides == [first] else turn_and_slide
        return solve(x, self.chains[first[0]], (first[1], second[1]), before, base)

    def _hinge(self, place: tuple[int, int]) -> Hinge:
        return self.chains[place[0]][place[1]]

    @property
    def _starts(self) -> tuple[Plane, Plane]:
        return ZERO_PLANE, self.start

    def _ends(self, x: Positions, side: int) -> Plane:
        return _walk(self.chains[side], x, self._starts[side], STILL)[-1].at

    def _before(self, x: Positions, place: tuple[int, int]) -> Reach:
        """The place of a joint."""
        side, k = place
        return _walk(self.chains[side][:k], x, self._starts[side], STILL)[-1]

    def _beyond(self, x: Positions, place: tuple[int, int]) -> Plane:
        """From the origin of a turning joint to the cut point, in the axes of its body."""
        side, k = place
        chain = self.chains[side]
        return _walk(chain[k + 1 :], x, chain[k].arm, STILL)[-1].at

    def _on_both_sides(self, x: Positions, i: int, j: int) -> dict[int, Any]:
        """Two turning joints on different sides: circle and circle."""
        a, b = self._before(x, (0, i)), self._before(x, (1, j))
        first, second = self._beyond(x, (0, i)), self._beyond(x, (1, j))
        base = _minus(b.at, a.at)
        squares = _dot(first, first), _dot(second, second)
        apex = _circles(base, *squares, self.closure.branch)
        turns = (
            _turn_between(apex, first, squares[0]),
            _turn_between(_minus(apex, base), second, squares[1]),
        )
        hinges = self.chains[0][i], self.chains[1][j]
        return {
            hinge.body: _signed(hinge, turn - place.turn)
            for hinge, turn, place in zip(hinges, turns, (a, b), strict=True)
        }

    def _across_slider(
        self, x: Positions, slider: tuple[int, int], turning: tuple[int, int]
    ) -> dict[int, Any]:
        """A joint that slides on one side and one that turns on the other: line and circle."""
        line, hinge = self._hinge(slider), self._hinge(turning)
        direction = _turned(line.direction or ZERO_PLANE, self._before(x, slider).turn)
        start = self._ends({**x, line.body: ZERO}, slider[0])
        center, reach = self._before(x, turning), self._beyond(x, turning)
        from_center, square = _minus(start, center.at), _dot(reach, reach)
        shift = _on_line(from_center, direction, square, self.closure.branch)
        point = _plus(from_center, _times(shift, direction))
        turn = _turn_between(point, reach, square) - center.turn
        return {line.body: shift, hinge.body: _signed(hinge, turn)}

    def _of_sliders(self, x: Positions) -> dict[int, Any]:
        """Two joints that slide: line and line."""
        at = {**x, **dict.fromkeys(self.dependent, ZERO)}
        gap, columns = _minus(self._ends(at, 0), self._ends(at, 1)), self.columns(at)
        a, b = ((columns[body][0], columns[body][1]) for body in self.dependent)
        area = _cross(a, b)
        inverse = area * (1.0 / positive(area * area))
        values = (_cross(b, gap) * inverse, -(_cross(a, gap) * inverse))
        return dict(zip(self.dependent, values, strict=True))

    def _on_one_side(
        self, x: Positions, chain: Chain, pair: tuple[int, int], before: Reach, base: Plane
    ) -> dict[int, Any]:
        """Two turning joints on one side, from the cut point as the other side has it: circle and
        circle."""
        first, second = (chain[k] for k in pair)
        between = _walk(chain[pair[0] + 1 : pair[1]], x, first.arm, STILL)[-1]
        far = _walk(chain[pair[1] + 1 :], x, second.arm, STILL)[-1].at
        near, squares = between.at, (_dot(between.at, between.at), _dot(far, far))
        apex = _circles(base, *squares, self.closure.branch)
        turn = _turn_between(apex, near, squares[0])
        after = _turn_between(_minus(base, apex), far, squares[1])
        return {
            first.body: _signed(first, turn - before.turn),
            second.body: _signed(second, after - turn - between.turn),
        }

    def _slider_last(
        self, x: Positions, chain: Chain, pair: tuple[int, int], before: Reach, base: Plane
    ) -> dict[int, Any]:
        """A joint that turns and one beyond it that slides, such as a cylinder: point and point."""
        first, second = chain[pair[0]], chain[pair[1]]
        between = _walk(chain[pair[0] + 1 : pair[1]], x, first.arm, STILL)[-1]
        direction = _turned(second.direction or ZERO_PLANE, between.turn)
        beyond = _plus(between.at, _turned(second.arm, between.turn))
        beyond = _walk(chain[pair[1] + 1 :], x, beyond, between.turn)[-1].at
        off, square = _cross(direction, beyond), _dot(base, base)
        if pair == (len(chain) - 2, len(chain) - 1):  # constants
            off = tidy(plain(off), norm(*map(plain, beyond)))
        size = sqrt(positive(square - off * off))
        length = self.closure.branch * size
        if off is ZERO:
            inverse = self.closure.branch * (1.0 / size)
            turn = Direction(_dot(base, direction) * inverse, _cross(direction, base) * inverse)
        else:
            arm = _plus(_times(length, direction), _times(off, _across(direction)))
            inverse = 1.0 / square
            turn = Direction(_dot(base, arm) * inverse, _cross(arm, base) * inverse)
        return {
            first.body: _signed(first, UnitAngle(((turn, 1),)) - before.turn),
            second.body: length - _dot(direction, beyond),
        }

    def _slider_first(
        self, x: Positions, chain: Chain, pair: tuple[int, int], before: Reach, base: Plane
    ) -> dict[int, Any]:
        """A joint that slides and one beyond it that turns: line and circle."""
        first, second = chain[pair[0]], chain[pair[1]]
        direction = _turned(first.direction or ZERO_PLANE, before.turn)
        start = _turned(first.arm, before.turn)
        center = _walk(chain[pair[0] + 1 : pair[1]], x, start, before.turn)[-1]
        far = _walk(chain[pair[1] + 1 :], x, second.arm, STILL)[-1].at
        square, from_end = _dot(far, far), _minus(center.at, base)
        shift = _on_line(from_end, direction, square, self.closure.branch)
        point = _minus(_minus(ZERO_PLANE, from_end), _times(shift, direction))
        return {
            first.body: shift,
            second.body: _signed(second, _turn_between(point, far, square) - center.turn),
        }

    # -- rates -------------------------------------------------------------------------------------

    def columns(self, x: Positions) -> dict[int, GapMotion]:
        """The Jacobian of the gap, from the end of the second chain to that of the first: a column
        for the joint of each body."""
        columns = dict[int, GapMotion]()
        for side, chain in enumerate(self.chains):
            *places, end = _walk(chain, x, self._starts[side], STILL)
            for hinge, place in zip(chain, places, strict=True):
                moved = place.slide
                if moved is None:
                    moved = _across(_minus(end.at, place.at))
                    moved = moved if hinge.sign > 0 else _minus(ZERO_PLANE, moved)
                columns[hinge.body] = _minus(ZERO_PLANE, moved) if side else moved
        return columns

    def drift(self, x: Positions, rates: Sequence[Scalar]) -> GapMotion:
        """The second derivative of the gap while the rates of all joints are constant."""
        total: list[Plane] = []
        for side, chain in enumerate(self.chains):
            places, a = _walk(chain, x, self._starts[side], STILL), ZERO_PLANE
            w: Scalar = ZERO
            for hinge, place in zip(chain, places, strict=False):
                rate = rates[hinge.body - 1]
                if place.slide is None:
                    w = w + _signed(hinge, rate)
                else:
                    a = _plus(a, _times(2.0 * (w * rate), _across(place.slide)))
                a = _minus(a, _times(w * w, _plus(place.displacement, place.arm)))
            total.append(a)
        return _minus(*total)

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
        self, columns: Mapping[int, GapMotion], sums: Sequence[GapMotion]
    ) -> list[GapMotion]:
        """The rates of the dependent joints that balance each of some motions of the gap."""
        a, b = ((columns[body][0], columns[body][1]) for body in self.dependent)
        inverse = 1.0 / positive(self.orientation * _cross(a, b))
        inverse = inverse if self.orientation > 0 else -inverse
        return [(_cross(b, (x, y)) * inverse, -(_cross(a, (x, y)) * inverse)) for x, y in sums]


def _signed(hinge: Hinge, x: Any) -> Any:
    return x if hinge.sign > 0 else -x
