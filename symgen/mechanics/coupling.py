"""How the user's coordinates drive those of the bodies: q_bodies = G q + c, with the same G for all
rates; with closed loops q_bodies = x(q), with rates G q̇ and accelerations G q̈ + k.

Joints that follow others or motors, and rotors, are bodies with coordinates of their own in every
algorithm, which this module projects: forces and matrices by Gᵀ, axis by axis. (Featherstone, Rigid
Body Dynamics Algorithms, 2008, section 3.2; for rotors Echeandia 2020, ch. 4.) Joints with a
quaternion have one position more than rates."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np

from symgen.errors import OptionError
from symgen.mechanics.joint_type import BodyAxesJoint, JointType
from symgen.mechanics.kinematic_loop import GapRate, KinematicLoop, UnitAngle
from symgen.mechanics.loop_groups import closing_positions, closure_groups, loop_of
from symgen.mechanics.model import Follow, RigidBodyModel
from symgen.mechanics.spatial import multiple, scale_constant
from symgen.numbers.scalar import ZERO, Scalar


@dataclass(frozen=True, slots=True)
class CouplingTerm:
    """One term of a coordinate of a body: `factor` (a number, or a scalar that
    depends on the state) times the user's velocity `velocity_index`, and for positions times the
    user's position `position_index`."""

    velocity_index: int
    position_index: int
    factor: Any = 1.0


@dataclass(frozen=True, slots=True)
class CoordinateMap:
    """The coordinate of a body as a linear function of the user's coordinates: the sum of its
    terms, plus `offset` for the position."""

    terms: tuple[CouplingTerm, ...]
    offset: float = 0.0
    follows: bool = False
    """Whether the coordinates are those of other bodies."""

    @property
    def position_index(self) -> int:
        """The index of the coordinate in the user's positions; only for a body with a coordinate of
        its own."""
        return self.terms[0].position_index

    @property
    def velocity_index(self) -> int:
        """The index of its rate in the user's velocities; only for a body with a coordinate of its
        own."""
        return self.terms[0].velocity_index

    def position(self, q: Sequence[Scalar]) -> Scalar:
        """The body's coordinate from all positions of the user."""
        parts = (scale_constant(term.factor, q[term.position_index]) for term in self.terms)
        return sum(parts, ZERO) + (self.offset or ZERO)

    def rate(self, v: Sequence[Scalar]) -> Scalar:
        """The body's rate from all velocities of the user."""
        return sum((multiple(term.factor, v[term.velocity_index]) for term in self.terms), ZERO)


def map_of_follower(follow: Follow, drives: Sequence[CoordinateMap]) -> CoordinateMap:
    """The map of a body that follows others, whose maps are given."""
    terms = dict[int, CouplingTerm]()
    for leader, by in ((leader, by) for leader, by in follow.terms if by):
        for term in drives[leader - 1].terms:
            before = terms[term.velocity_index].factor if term.velocity_index in terms else ZERO
            factor = before + multiple(by, term.factor)
            terms[term.velocity_index] = replace(term, factor=factor)
    return CoordinateMap(tuple(terms.values()), follows=True)


@dataclass(frozen=True, slots=True)
class Coupling:
    """The coordinate maps of all bodies, and the numbers of velocities and of positions of the
    user. `joint_parts` has the joint type of each body and the index of the part that moves it.

    With `loops` (closed loops, each after those that it depends on), the maps of the joints that
    loops determine have no terms; `at` gives the coupling at a state, whose maps have G. Its
    `bias_accelerations` are the accelerations k of the bodies' joints at q̈ = 0."""

    maps: tuple[CoordinateMap, ...]
    joint_parts: tuple[tuple[JointType, int], ...]
    velocities: int
    positions: int
    loops: tuple[KinematicLoop, ...] = ()
    followers: tuple[tuple[int, Follow], ...] = ()
    """Bodies that follow a joint that a loop determines: rotors."""
    bias_accelerations: tuple[Scalar, ...] = ()
    newton_positions: tuple[tuple[int, int], ...] = ()
    """The bodies of `RigidBodyModel.found_by_newton`, each with the index of its position."""
    general: "Coupling | None" = None
    """Of a coupling at a state, the one for all states."""

    @property
    def is_identity(self) -> bool:
        """True if the coordinates of the bodies are those of the user, in the same order, without
        quaternions. Of a robot with closed loops they never are."""
        if self.loops or self.bias_accelerations:
            return False
        one_by_one = all(
            drive == CoordinateMap((CouplingTerm(k, k),)) for k, drive in enumerate(self.maps)
        )
        return one_by_one and not self.quaternions

    def at(
        self,
        q: Sequence[Scalar],
        v: Sequence[Scalar] | None = None,
        reference: Sequence[Scalar] | None = None,
    ) -> "tuple[Coupling, list[Any]]":
        """The coupling at a state and the positions of the bodies' joints there
        (`at_positions`)."""
        x = self.body_positions(q)
        return self.at_positions(x, v, reference), x

    def at_positions(
        self,
        x: Sequence[Any],
        v: Sequence[Scalar] | None = None,
        reference: Sequence[Scalar] | None = None,
    ) -> "Coupling":
        """The coupling at positions of the bodies' joints; the coupling itself if there are no
        closed loops. Its bias is Ġ q̇ at the velocities, or Ġ q̇_r with those of a reference, and
        zero without velocities."""
        if not self.loops:
            return self
        by_body, drives = dict(enumerate(x, 1)), [*self.maps]
        columns = [loop.columns(by_body) for loop in self.loops]
        for loop, column in zip(self.loops, columns, strict=True):
            self._add_dependent_rows(loop, column, drives)
        for i, follow in self.followers:
            drives[i - 1] = map_of_follower(follow, drives)
        at_state = replace(
            self, maps=tuple(drives), loops=(), bias_accelerations=(ZERO,) * len(x), general=self
        )
        if v is None:
            return at_state
        rates, rest = (
            _quadratic_rates(at_state, v, reference),
            dict(enumerate(at_state.bias_accelerations, 1)),
        )
        for loop, column in zip(self.loops, columns, strict=True):
            first, *minus = (loop.drift(by_body, r) for r in rates)
            drift = [a - b for a, b in zip(first, *minus, strict=True)] if minus else first
            (solution,) = loop.dependent_rates(column, [loop.gap_rate(column, rest, drift)])
            rest |= dict(zip(loop.dependent, solution, strict=True))
        for i, follow in self.followers:
            rest[i] = sum((multiple(by, rest[k]) for k, by in follow.terms), ZERO)
        return replace(at_state, bias_accelerations=tuple(rest[i] for i in sorted(rest)))

    def sine(self, q: Sequence[float]) -> float:
        """The least sine of the loops (`PlanarLoop.sine`) at positions: 0 where one is at a dead
        point or does not close, 1 without loops."""
        try:
            x = dict(enumerate(self.body_positions(q), 1))
            return min((abs(loop.sine(x)) for loop in self.loops), default=1.0)
        except (ValueError, ZeroDivisionError):
            return 0.0

    def closing_positions(self, q: Sequence[float]) -> tuple[float, ...]:
        """The positions q, or the nearest of some between them and a centre at which all loops
        close away from dead points. For states that are drawn at random."""
        return closing_positions(self, q) if self.loops else tuple(q)

    def newton_step(
        self, q: Sequence[Scalar], at: Sequence[Scalar] | None = None
    ) -> tuple[list[Scalar], list[Scalar]]:
        """The positions after a step of Newton's method on those of `newton_positions`, by default
        with the Jacobian `at` these positions, and the gaps before the step."""
        out, gaps, index_of_body = [*q], list[Scalar](), dict(self.newton_positions)
        for loop in self.loops:
            if not loop.closures[0].newton:
                continue
            x = dict(enumerate(self.body_positions(out), 1))
            gap = loop.gap(x)
            at_jacobian = x if at is None else dict(enumerate(self.body_positions(at), 1))
            (changes,) = loop.dependent_rates(loop.columns(at_jacobian), [gap])
            gaps += loop.independent_equations(gap)
            for body, change in zip(loop.dependent, changes, strict=True):
                out[index_of_body[body]] = out[index_of_body[body]] + change
        return out, gaps

    def _add_dependent_rows(
        self, loop: KinematicLoop, columns: Mapping[int, GapRate], drives: list[CoordinateMap]
    ) -> None:
        """Puts the rows of G of the dependent joints of a loop."""
        others = {*loop.bodies} - {*loop.dependent}
        rows = {body: {t.velocity_index: t for t in drives[body - 1].terms} for body in others}
        known = {k: t for row in rows.values() for k, t in sorted(row.items())}
        none = CouplingTerm(0, 0, ZERO)
        sums = [
            loop.gap_rate(columns, {b: row.get(k, none).factor for b, row in rows.items()})
            for k in known
        ]
        solutions = loop.dependent_rates(columns, sums)
        for n, body in enumerate(loop.dependent):
            pairs = zip(known.values(), solutions, strict=True)
            terms = (replace(term, factor=solution[n]) for term, solution in pairs)
            drives[body - 1] = CoordinateMap(tuple(terms), follows=True)

    def body_positions(self, q: Sequence[Scalar]) -> list[Any]:
        """The positions of the joints of the bodies from the user's positions q (nq)."""
        x: list[Any] = [
            joint.configuration(part, q, drive.position_index)
            if isinstance(joint, BodyAxesJoint)
            else drive.position(q)
            for (joint, part), drive in zip(self.joint_parts, self.maps, strict=True)
        ]
        if not self.loops:
            return x
        by_body = dict(enumerate(x, 1)) | {body: q[place] for body, place in self.newton_positions}
        for i, (joint, at) in enumerate(self.joint_parts, 1):
            if not joint.in_body_axes and joint.positions[at].unit == "rad":
                by_body[i] = UnitAngle.of(by_body[i])
        for loop in self.loops:
            by_body |= loop.positions(by_body)
        return [by_body[i] for i in range(1, len(x) + 1)]

    def body_rates(self, v: Sequence[Scalar]) -> list[Scalar]:
        """The rates (or accelerations, or changes) of the joints of the bodies from the user's
        (n)."""
        return [drive.rate(v) for drive in self.maps]

    def body_accelerations(self, a: Sequence[Scalar]) -> list[Scalar]:
        """The accelerations of the joints of the bodies from the user's (n)."""
        rates = self.body_rates(a)
        return (
            [x + k for x, k in zip(rates, self.bias_accelerations, strict=True)]
            if self.bias_accelerations
            else rates
        )

    def pull_back(self, values: Sequence[Scalar], axes: Sequence[int | None]) -> list[Scalar]:
        """Gᵀ applied to a row-major array of the bodies. `axes` has the size of each axis, None for
        an axis over bodies, to which Gᵀ is applied."""
        if self.is_identity:
            return list(values)
        if self.bias_accelerations:
            return self._pull_back_at_state(list(values), axes)
        by_body = [
            [(term.velocity_index, term.factor) for term in drive.terms] for drive in self.maps
        ]
        targets = [by_body if axis is None else [[(k, 1.0)] for k in range(axis)] for axis in axes]
        shape = [self.velocities if axis is None else axis for axis in axes]
        out: list[Scalar] = [ZERO] * prod(shape)
        for terms, value in zip(product(*targets), values, strict=True):
            for ways in product(*terms) if value is not ZERO else ():
                place, factor = 0, 1.0
                for (index, by), size in zip(ways, shape, strict=True):
                    place, factor = place * size + index, factor * by
                out[place] = out[place] + scale_constant(factor, value)
        return out

    def _pull_back_at_state(self, values: list[Scalar], axes: Sequence[int | None]) -> list[Scalar]:
        """`pull_back` with a G that depends on the state, one axis after the other. Of a matrix
        that is symmetric by construction, one half is computed."""
        bodies, n = len(self.maps), self.velocities
        shape = [bodies if axis is None else axis for axis in axes]
        symmetric = [*axes] == [None, None] and all(
            values[i * bodies + j] is values[j * bodies + i]
            for i in range(bodies)
            for j in range(i)
        )
        for k in (k for k, axis in enumerate(axes) if axis is None):
            before, after = prod(shape[:k]), prod(shape[k + 1 :])
            out: list[Scalar] = [ZERO] * (before * n * after)
            upper = symmetric and k == 1
            for a, i, b in product(range(before), range(bodies), range(after)):
                value = values[(a * bodies + i) * after + b]
                for term in self.maps[i].terms if value is not ZERO else ():
                    if not upper or a <= term.velocity_index:
                        at = (a * n + term.velocity_index) * after + b
                        out[at] = out[at] + multiple(term.factor, value)
            values, shape[k] = out, n
        if symmetric:
            return [values[min(i, j) * n + max(i, j)] for i in range(n) for j in range(n)]
        return values

    @property
    def velocity_matrix(self) -> Any:
        """G (bodies by velocities). Raises OptionError where it depends on the state."""
        if self.loops:
            raise OptionError(STATE_DEPENDENT)
        matrix = np.zeros((len(self.maps), self.velocities))
        for k, drive in enumerate(self.maps):
            for term in drive.terms:
                matrix[k, term.velocity_index] = term.factor
        return matrix

    @property
    def position_map(self) -> tuple[Any, Any]:
        """The coordinates of the bodies as a matrix (bodies by positions) times the user's
        positions plus offsets. Rows of joints with a quaternion are zero. Raises OptionError for
        robots with closed loops."""
        if self.loops:
            raise OptionError(STATE_DEPENDENT)
        matrix, offsets = np.zeros((len(self.maps), self.positions)), np.zeros(len(self.maps))
        for k, drive in enumerate(self.maps):
            for term in () if self.joint_parts[k][0].in_body_axes else drive.terms:
                matrix[k, term.position_index], offsets[k] = term.factor, drive.offset
        return matrix, offsets

    def normalized(self, q: Sequence[float]) -> list[float]:
        """Positions with unit quaternions, at which closed loops close (`closing_positions`)."""
        unit = list(q)
        for quaternion in self.quaternions:
            size = math.hypot(*unit[quaternion])
            unit[quaternion] = [x / size for x in unit[quaternion]]
        return [*self.closing_positions(unit)]

    @property
    def quaternions(self) -> list[slice]:
        """The slices of the positions that are quaternions."""
        firsts = zip(self.maps, self.joint_parts, strict=True)
        leading = ((d, joint) for d, (joint, part) in firsts if part == 0 and not d.follows)
        pairs = ((d.position_index, joint.quaternion) for d, joint in leading)
        return [slice(place + q.start, place + q.stop) for place, q in pairs if q is not None]

    def forces(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """Gᵀ τ."""
        return self.pull_back(tau, (None,))

    def matrix(self, m: Sequence[Scalar]) -> list[Scalar]:
        """Gᵀ M G."""
        return self.pull_back(m, (None, None))


UNCOUPLED: Final = Coupling((), (), 0, 0)


def _quadratic_rates(
    coupling: Coupling, v: Sequence[Scalar], reference: Sequence[Scalar] | None
) -> list[list[Scalar]]:
    """Rates of the bodies' joints of which the quadratic form Ġ q̇ is to be computed: those at the
    velocities, or two whose difference is the bilinear form Ġ q̇_r."""
    if reference is None or reference is v:
        return [coupling.body_rates(v)]
    pairs = [*zip(coupling.body_rates(v), coupling.body_rates(reference), strict=True)]
    return [[0.5 * (a + b) for a, b in pairs], [0.5 * (a - b) for a, b in pairs]]


STATE_DEPENDENT: Final = "robots with closed loops are not supported here; remove the loops"


@lru_cache(maxsize=8)
def coupling_of(model: RigidBodyModel) -> Coupling:
    """How the coordinates of a robot's user drive its bodies: in the order of the joints, those
    that follow another left out."""
    index, place, drives = 0, 0, dict[int, CoordinateMap]()
    by_newton, newton_positions = model.found_by_newton, list[tuple[int, int]]()
    for i, joint in model.positioned:
        if i in by_newton:
            newton_positions.append((i, place))
            place += 1
            continue
        step = 0 if joint.type.in_body_axes else 1
        for k, part in enumerate(joint.type.parts(joint)):
            drives[i + k] = CoordinateMap((CouplingTerm(index + part.velocity, place + step * k),))
        index += len(joint.type.velocities)
        place += len(joint.type.positions)
    determined = {body for closure in model.closures for body in closure.dependent}
    followers = list[tuple[int, Follow]]()
    for i, body in enumerate(model.bodies, 1):
        if body.follows is None:
            continue
        if i in determined or determined.intersection(leader for leader, _ in body.follows.terms):
            drives[i] = CoordinateMap((), 0.0, True)
            followers += [(i, body.follows)] if body.follows.terms else []
            continue
        terms = (
            CouplingTerm(drives[leader].velocity_index, drives[leader].position_index, factor)
            for leader, factor in body.follows.terms
        )
        drives[i] = CoordinateMap(tuple(terms), body.follows.offset, True)
    ordered = tuple(drives[i] for i in range(1, model.size + 1))
    parts = tuple((b.joint.type, b.at) for b in model.bodies)
    loops = tuple(loop_of(model, group) for group in closure_groups(model, model.closures))
    made = Coupling(ordered, parts, index, place, loops, tuple(followers))
    return replace(made, newton_positions=tuple(newton_positions))
