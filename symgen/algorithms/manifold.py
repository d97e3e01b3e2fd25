"""Positions moved along velocities, q ⊕ v, and what separates two positions.

Coordinates add. Where velocities are a twist in the body's axes, q ⊕ v is q times exp of the twist
(Murray, Li & Sastry, A mathematical introduction to robotic manipulation, 1994, eqs. 2.14 and 2.36;
the derivatives as in Solà, Deray & Atchuthan, A micro Lie theory for state estimation in robotics,
2018, sections 7.1 and 7.2, with linear parts first). Derivatives are in the tangent spaces of both
ends. Nothing here branches: θ = sqrt(|ω|² + TINY) makes sin(θ/2)/θ exact at rest."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from symgen.errors import OptionError
from symgen.mechanics.coupling import Coupling
from symgen.mechanics.joint_type import BodyAxesJoint, quaternion_rows, twist_from_rates
from symgen.mechanics.rigid_motion import matvec, transpose
from symgen.mechanics.spatial import ZERO_VECTOR, Twist, Vector
from symgen.numbers.autodiff import along, tangents
from symgen.numbers.operations import atan, cos, sign, sin, sqrt
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

Matrix = list[list[Scalar]]
QUATERNION: Final = 4
"""The number of positions that make up a quaternion."""
TINY: Final = 1e-30
"""Far below the square of any angle that shows (rad²), and a number of C's ``float`` too."""
SERIES_BELOW: Final = 0.25
"""Below this square of the angle (rad²) a series has more digits than a closed form."""
SERIES: Final = (1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800, -1 / 6227020800)
SERIES_FURTHER_TERMS: Final = (1 / 1307674368000, -1 / 355687428096000)
"""The coefficients of (θ - sin θ)/θ³ in powers of θ²."""


@dataclass(frozen=True)
class RotationVector:
    """The functions of a rotation vector that exp needs."""

    w: Vector

    @cached_property
    def square(self) -> Scalar:
        """θ², never zero."""
        return self.w.dot(self.w) + TINY

    @cached_property
    def angle(self) -> Scalar:
        """θ (rad)."""
        return sqrt(self.square)

    @cached_property
    def half_sine(self) -> Scalar:
        """sin(θ/2)/θ."""
        return sin(0.5 * self.angle) / self.angle

    @cached_property
    def half_cosine(self) -> Scalar:
        """cos(θ/2)."""
        return cos(0.5 * self.angle)

    @property
    def quaternion(self) -> tuple[Vector, Scalar]:
        """Vector and scalar of that of the turn."""
        return self.w.scaled(self.half_sine), self.half_cosine

    @cached_property
    def sine(self) -> Scalar:
        """sin θ/θ."""
        return 2.0 * self.half_sine * self.half_cosine

    @cached_property
    def cosine_factor(self) -> Scalar:
        """(1 - cos θ)/θ²."""
        return 2.0 * (self.half_sine * self.half_sine)

    @cached_property
    def sine_factor(self) -> Scalar:
        """(θ - sin θ)/θ³, right to what its products with θ² v need."""
        return (1.0 - self.sine) / self.square

    @cached_property
    def exact_sine_factor(self) -> Scalar:
        """(θ - sin θ)/θ³ to all digits: near zero by its series."""
        s = self.square
        total: Scalar = ZERO
        for x in reversed((*SERIES, *SERIES_FURTHER_TERMS)):
            total = total * s + x
        is_large = 0.5 + 0.5 * sign(s - SERIES_BELOW)
        return is_large * self.sine_factor + (1.0 - is_large) * total

    def shift(self, v: Vector) -> Vector:
        """V v: how far the origin gets in one unit of time at a constant twist."""
        once = self.w.cross(v)
        return v + once.scaled(self.cosine_factor) + self.w.cross(once).scaled(self.sine_factor)

    def left_jacobian(self, d: Vector, back: bool) -> Vector:
        """V d, or with `back` that for -w, by the exact functions."""
        once = self.w.cross(d)
        first = once.scaled(self.cosine_factor)
        second = self.w.cross(once).scaled(self.exact_sine_factor)
        return d + (-first if back else first) + second

    def shift_change(self, v: Vector, d: Vector) -> Vector:
        """The derivative of V v along the change d of w."""
        w, once = self.w, self.w.cross(v)
        turned = d.cross(once) + w.cross(d.cross(v))
        by_angle = once.scaled(self.sine - 2.0 * self.cosine_factor)
        by_angle = by_angle + w.cross(once).scaled(
            self.cosine_factor - 3.0 * self.exact_sine_factor
        )
        along = w.dot(d) / self.square
        moved = d.cross(v).scaled(self.cosine_factor) + turned.scaled(self.exact_sine_factor)
        return moved + by_angle.scaled(along)


@dataclass(frozen=True, slots=True)
class Chart:
    """Positions that belong together, by their numbers among all positions, and their velocities:
    how they move along these. This one is a coordinate whose rate is the velocity."""

    position_indices: tuple[int, ...]
    velocity_indices: tuple[int, ...]

    def moved(self, q: Coordinates, v: Coordinates) -> list[Scalar]:
        """q ⊕ v."""
        return [q[0] + v[0]]

    def difference(self, q: Coordinates, to: Coordinates) -> list[Scalar]:
        """v with q ⊕ v = `to`."""
        return [to[0] - q[0]]

    def slopes(self, v: Coordinates) -> tuple[Matrix, Matrix]:
        """∂(q ⊕ v)/∂q and ∂(q ⊕ v)/∂v, by rows."""
        return [[1.0]], [[1.0]]

    def bracket(self, a: Coordinates, b: Coordinates) -> list[Scalar]:
        """a × b of two velocities, where they are twists."""
        return [ZERO]

    def transported(self, q: Coordinates, to: Coordinates, v: Coordinates) -> list[Scalar]:
        """The velocity `v` of positions `to`, in the axes of the body at `q`."""
        return [*v]

    def position_rates(self, q: Coordinates, v: Coordinates) -> list[Scalar]:
        """The rates of the positions `q` at the velocity `v`."""
        return [*v]


@dataclass(frozen=True, slots=True)
class TwistChart(Chart):
    """Positions that end with a unit quaternion, with a twist in the body's axes: `units` has the
    unit twist of each velocity."""

    units: tuple[Twist, ...]

    def moved(self, q: Coordinates, v: Coordinates) -> list[Scalar]:
        """The quaternion is made a unit one as far as it is one to rounding, |q| to (3 - |q|²)/2,
        so that no step adds to the rounding of those before."""
        *place, x, y, z, w = q
        twist = twist_from_rates(self.units, v)
        turn, vector_part = RotationVector(twist.w), Vector(x, y, z)
        u, c = turn.quaternion
        end = vector_part.scaled(c) + u.scaled(w) + vector_part.cross(u)
        last = w * c - vector_part.dot(u)
        unit = 1.5 - 0.5 * (end.dot(end) + last * last)
        shift = matvec(quaternion_rows((x, y, z, w)), turn.shift(twist.v)) if place else ()
        moved = [a + b for a, b in zip(place, shift, strict=False)]
        return [*moved, *end.scaled(unit), last * unit]

    def difference(self, q: Coordinates, to: Coordinates) -> list[Scalar]:
        """The shorter turn, up to π."""
        u, last = self._relative(q, to)
        side = sign(last + TINY)
        u, last = u.scaled(side), last * side
        sine = sqrt(u.dot(u) + TINY)
        half = 2.0 * atan(sine / (1.0 + last))
        turn = u.scaled(2.0 * half / sine)
        linear = ZERO_VECTOR
        if len(q) > QUATERNION:
            linear = _inverse_left_jacobian(self._arm(q, to), turn, half * last / sine)
        return self._velocities_of(Twist(turn, linear))

    def slopes(self, v: Coordinates) -> tuple[Matrix, Matrix]:
        """The adjoint of exp backwards, and the right Jacobian of exp."""
        twist = twist_from_rates(self.units, v)
        turn = RotationVector(twist.w)
        u, c = turn.quaternion
        back = transpose(quaternion_rows((*u, c)))
        arm = turn.shift(twist.v)
        start = [Twist(matvec(back, s.w), matvec(back, s.v + s.w.cross(arm))) for s in self.units]
        along = [
            Twist(
                turn.left_jacobian(s.w, back=True),
                matvec(back, turn.left_jacobian(s.v, back=False) + turn.shift_change(twist.v, s.w)),
            )
            for s in self.units
        ]
        return self._matrix(start), self._matrix(along)

    def bracket(self, a: Coordinates, b: Coordinates) -> list[Scalar]:
        x, y = twist_from_rates(self.units, a), twist_from_rates(self.units, b)
        return self._velocities_of(x.cross(y))

    def transported(self, q: Coordinates, to: Coordinates, v: Coordinates) -> list[Scalar]:
        """The adjoint of the transform from the axes at `to` to those at `q` (Bullo & Murray,
        Automatica 1999)."""
        u, c = self._relative(q, to)
        twist, rows = twist_from_rates(self.units, v), quaternion_rows((*u, c))
        w, linear = matvec(rows, twist.w), matvec(rows, twist.v)
        shift = self._arm(q, to).cross(w) if len(q) > QUATERNION else ZERO_VECTOR
        return self._velocities_of(Twist(w, linear + shift))

    def position_rates(self, q: Coordinates, v: Coordinates) -> list[Scalar]:
        """The quaternion's rate is half its product with the angular velocity."""
        *place, x, y, z, w = q
        twist, vector_part = twist_from_rates(self.units, v), Vector(x, y, z)
        shift = matvec(quaternion_rows((x, y, z, w)), twist.v) if place else ()
        turn = (twist.w.scaled(w) + vector_part.cross(twist.w)).scaled(0.5)
        return [*shift, *turn, -0.5 * vector_part.dot(twist.w)]

    def _relative(self, q: Coordinates, to: Coordinates) -> tuple[Vector, Scalar]:
        """Vector and scalar of the quaternion that turns the axes at `q` into those at `to`."""
        (*a, w), (*b, c) = q[-QUATERNION:], to[-QUATERNION:]
        x, y = Vector(*a), Vector(*b)
        return y.scaled(w) - x.scaled(c) - x.cross(y), w * c + x.dot(y)

    def _arm(self, q: Coordinates, to: Coordinates) -> Vector:
        """From the origin at `q` to that at `to`, in the axes at `q`."""
        *start, x, y, z, w = q
        arm = Vector(*(e - s for e, s in zip(to, start, strict=False)))
        return matvec(transpose(quaternion_rows((x, y, z, w))), arm)

    def _velocities_of(self, x: Twist) -> list[Scalar]:
        """The velocities that make up a twist."""
        return [s.w.dot(x.w) + s.v.dot(x.v) for s in self.units]

    def _matrix(self, columns: Sequence[Twist]) -> Matrix:
        numbers = [self._velocities_of(x) for x in columns]
        return [[column[k] for column in numbers] for k in range(len(numbers))]


def _inverse_left_jacobian(arm: Vector, w: Vector, cotangent: Scalar) -> Vector:
    """V⁻¹ of an arm, with (θ/2) cot(θ/2)."""
    once = w.cross(arm)
    factor = (1.0 - cotangent) / (w.dot(w) + TINY)
    return arm - once.scaled(0.5) + w.cross(once).scaled(factor)


def charts(coupling: Coupling) -> list[Chart]:
    """All positions and velocities of the user, in the order of the positions."""
    return sorted(_charts(coupling), key=lambda chart: chart.position_indices)


def _charts(coupling: Coupling) -> Iterator[Chart]:
    pairs = [*zip(coupling.maps, coupling.joint_parts, strict=True)]
    terms = [t for drive, (joint, _) in pairs if not joint.in_body_axes for t in drive.terms]
    for place, index in dict.fromkeys((t.position_index, t.velocity_index) for t in terms):
        yield Chart((place,), (index,))
    for k, (drive, (joint, part)) in enumerate(pairs):
        if isinstance(joint, BodyAxesJoint) and not part:
            units = joint.units
            rates = tuple(coupling.maps[k + n].velocity_index for n in range(len(units)))
            places = range(drive.position_index, drive.position_index + len(joint.positions))
            yield TwistChart(tuple(places), rates, units)


def moved(coupling: Coupling, q: Coordinates, v: Coordinates) -> list[Scalar]:
    """q ⊕ v of the user's coordinates. Raises OptionError where Newton's method gives some of
    them."""
    if coupling.newton_positions:
        raise OptionError(
            "a step moves positions of closed loops that have no closed form; choose dependent "
            "joints that have one"
        )
    positions: list[Scalar] = [ZERO] * coupling.positions
    for chart in charts(coupling):
        at, by = _picked(q, chart.position_indices), _picked(v, chart.velocity_indices)
        for k, x in zip(chart.position_indices, chart.moved(at, by), strict=True):
            positions[k] = x
    return positions


def slopes(coupling: Coupling, v: Coordinates) -> tuple[Matrix, Matrix]:
    """∂(q ⊕ v)/∂q and ∂(q ⊕ v)/∂v, n x n, by rows."""
    start: Matrix = [[ZERO] * coupling.velocities for _ in v]
    along = [[*row] for row in start]
    for chart in charts(coupling):
        for matrix, block in zip(
            (start, along), chart.slopes([v[k] for k in chart.velocity_indices]), strict=True
        ):
            for i, row in zip(chart.velocity_indices, block, strict=True):
                for j, x in zip(chart.velocity_indices, row, strict=True):
                    matrix[i][j] = x
    return start, along


def _picked(values: Coordinates, places: Sequence[int]) -> list[Scalar]:
    return [values[k] for k in places]


def _velocities(coupling: Coupling, of_chart: Callable[[Chart], Sequence[Scalar]]) -> list[Scalar]:
    """The velocities of all charts, each with those that a function gives."""
    velocities: list[Scalar] = [ZERO] * coupling.velocities
    for chart in charts(coupling):
        for k, x in zip(chart.velocity_indices, of_chart(chart), strict=True):
            velocities[k] = x
    return velocities


def bracket(coupling: Coupling, a: Coordinates, b: Coordinates) -> list[Scalar]:
    """[a, b] of velocities that are twists, zero where they are rates of coordinates."""
    return _velocities(
        coupling, lambda x: x.bracket(*(_picked(v, x.velocity_indices) for v in (a, b)))
    )


def displacement(coupling: Coupling, q: Coordinates, to: Coordinates) -> list[Scalar]:
    """v with q ⊕ v = `to`; of turns the shorter, below π."""
    return _velocities(
        coupling, lambda x: x.difference(*(_picked(p, x.position_indices) for p in (q, to)))
    )


def transported(
    coupling: Coupling, q: Coordinates, to: Coordinates, v: Coordinates
) -> list[Scalar]:
    """The velocities `v` of a robot at `to`, twists turned into the axes of the bodies at `q`: what
    can be compared with velocities at `q` (Bullo & Murray, Tracking for fully actuated mechanical
    systems: a geometric framework, Automatica 1999)."""
    return _velocities(
        coupling,
        lambda x: x.transported(
            _picked(q, x.position_indices),
            _picked(to, x.position_indices),
            _picked(v, x.velocity_indices),
        ),
    )


def difference_rate(
    coupling: Coupling,
    course: tuple[Coordinates, Coordinates],
    to: tuple[Coordinates, Coordinates],
) -> list[Scalar]:
    """The rate of the velocity that leads from the positions of `course` to those of `to`: each is
    a pair of positions and velocities."""

    def of_chart(chart: Chart) -> list[Scalar]:
        ends = []
        for q, v in (course, to):
            at = _picked(q, chart.position_indices)
            rates = chart.position_rates(at, _picked(v, chart.velocity_indices))
            ends.append(along(at, rates))
        return tangents(chart.difference(*ends))

    return _velocities(coupling, of_chart)
