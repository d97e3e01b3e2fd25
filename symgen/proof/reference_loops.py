"""Closed loops of the reference: positions by Newton's method on the gap between the two ends,
rates and accelerations by least squares on it, whatever the geometry. The closed forms under test
give the start of the iteration, which tells the assembly apart, and nothing else."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np

from symgen.mechanics.coupling import Coupling
from symgen.mechanics.kinematic_loop import CUT_JOINTS, CutJoint, as_number
from symgen.mechanics.model import Closure, RigidBodyModel, paths_of
from symgen.mechanics.spatial import ZERO_VECTOR, Vector
from symgen.numbers.scalar import ZERO, Scalar

ITERATIONS: Final = 4
"""Steps of Newton's method; each doubles the right digits, of which the start has at least 10."""


@dataclass(frozen=True)
class ReferenceLoop:
    """A frame on each of two bodies (0: the base) that a cut joint holds together: the origins, the
    axes as columns, what the joint holds, the bodies on the way to each end from their common
    carrier, and the bodies whose coordinates the loop determines."""

    bodies: tuple[int, int]
    points: tuple[Vector, Vector]
    axes: tuple[Sequence[Vector], Sequence[Vector]]
    cut: CutJoint
    length: Scalar
    paths: tuple[Sequence[int], Sequence[int]]
    dependent: tuple[int, ...]

    @classmethod
    def of(
        cls, closure: Closure, model: RigidBodyModel, vector: Callable[..., Any]
    ) -> "ReferenceLoop":
        """The loop of a closure; `vector` makes a vector of the reference of three numbers."""
        first, second = (vector(point) for point in closure.points)
        one, two = ([vector(v) for v in zip(*r, strict=True)] for r in closure.rotations)
        length = vector((closure.length, 0.0, 0.0)).x
        return cls(
            closure.bodies,
            (first, second),
            (one, two),
            CUT_JOINTS[closure.joint],
            length,
            paths_of(model, closure.bodies),
            closure.dependent,
        )

    def ends(self, poses: "Poses") -> tuple[Vector, Vector]:
        """The two points of the loop in the world."""
        pairs = zip(self.bodies, self.points, strict=True)
        first, second = (poses[i].origin + _in_world(poses[i], p) for i, p in pairs)
        return first, second

    def _placed(self, poses: "Poses") -> tuple[Vector, list[Vector], list[Vector]]:
        """From the second to the first point, and the axes at both, in the world."""
        first, second = self.ends(poses)
        one, two = (
            [_in_world(poses[i], e) for e in axes]
            for i, axes in zip(self.bodies, self.axes, strict=True)
        )
        return first - second, one, two

    def gaps(self, poses: "Poses") -> list[Scalar]:
        """The equations, each 0 where the loop closes."""
        (r, first, second), cut = self._placed(poses), self.cut
        return [
            *(r if cut.coincide else ()),
            *(first[k].dot(r) for k in cut.across),
            *([(r.dot(r) - self.length * self.length) / 2] if cut.distance else []),
            *(first[i].dot(second[j]) for i, j in cut.perpendicular),
        ]

    def columns(self, poses: "Poses") -> dict[int, list[Scalar]]:
        """The rates of the equations at unit rate of each joint."""
        (r, first, second), cut, out = self._placed(poses), self.cut, dict[int, list[Scalar]]()
        for sign, path, point in zip((1, -1), self.paths, self.ends(poses), strict=True):
            for i in path:
                w, v = (x.scaled(sign) for x in poses[i].twist(point))
                carried = w if sign > 0 else ZERO_VECTOR
                out[i] = [
                    *(v if cut.coincide else ()),
                    *(first[k].dot(v - carried.cross(r)) for k in cut.across),
                    *([r.dot(v)] if cut.distance else []),
                    *(w.dot(first[i].cross(second[j])) for i, j in cut.perpendicular),
                ]
        return out

    def second_rates(self, motion: "LoopMotion") -> list[Scalar]:
        """The second rates of the equations: what is seen from the first body, whose axes turn."""
        (r, first, second), cut = self._placed(motion.poses), self.cut
        pairs = [*zip(self.bodies, self.ends(motion.poses), strict=True)]
        moved = [motion.motions[i] for i in self.bodies]
        from_first, from_second = (motion.velocity(i, p) for i, p in pairs)
        v, (w, u) = from_first - from_second, (m.w for m in moved)
        from_first, from_second = (
            m.acceleration(p) for m, (_, p) in zip(moved, pairs, strict=True)
        )
        a, wd, spun = from_first - from_second, moved[0].wd, moved[0].wd - moved[1].wd
        seen, spin = a - wd.cross(r) - w.cross(v).scaled(2) + w.cross(w.cross(r)), w - u
        return [
            *(a if cut.coincide else ()),
            *(first[k].dot(seen) for k in cut.across),
            *([r.dot(a) + v.dot(v)] if cut.distance else []),
            *(
                spun.dot(first[i].cross(second[j]))
                + spin.dot(w.cross(first[i]).cross(second[j]) + first[i].cross(u.cross(second[j])))
                for i, j in cut.perpendicular
            ),
        ]


@dataclass(frozen=True)
class ReferencePolynomial:
    """The joint of a body whose position is a polynomial of that of another one: of each power of
    the position the exponent and the coefficient."""

    bodies: tuple[int, int]
    terms: Sequence[tuple[int, Scalar]]

    @property
    def dependent(self) -> tuple[int, ...]:
        """The body whose coordinate it determines."""
        return self.bodies[:1]

    def _sum(self, poses: "Poses", order: int) -> Scalar:
        """A derivative of the polynomial, by the powers of the position."""
        x = poses[self.bodies[1]].coordinate
        parts = (
            prod((a, *range(n - order + 1, n + 1), *[x] * (n - order)))
            for n, a in self.terms
            if n >= order
        )
        return sum(parts, ZERO)

    def gaps(self, poses: "Poses") -> list[Scalar]:
        """How far the joint is from the polynomial."""
        return [poses[self.bodies[0]].coordinate - self._sum(poses, 0)]

    def columns(self, poses: "Poses") -> dict[int, list[Scalar]]:
        """The rate of that at unit rate of each joint."""
        follower, leader = self.bodies
        return {follower: [1], leader: [-self._sum(poses, 1)]}

    def second_rates(self, motion: "LoopMotion") -> list[Scalar]:
        """The second rate of that."""
        (follower, leader), poses = self.bodies, motion.poses
        rate, a = motion.rates[leader - 1], motion.accelerations
        bent = self._sum(poses, 2) * rate * rate + self._sum(poses, 1) * a[leader - 1]
        return [a[follower - 1] - bent]


Loop = ReferenceLoop | ReferencePolynomial


Poses = Mapping[int, Any]
"""Bodies in the world (`symgen.proof.reference_kinematics.BodyInWorld`) by number."""


def _in_world(pose: Any, v: Vector) -> Vector:
    return Vector(*(row.dot(v) for row in pose.axes))


@dataclass(frozen=True)
class _System:
    """The Jacobian of the equations of all loops: for each loop the columns of its joints."""

    loops: Sequence[Loop]
    by: Sequence[Mapping[int, Sequence[Scalar]]]

    @classmethod
    def at(cls, loops: Sequence[Loop], poses: Poses) -> "_System":
        """The Jacobian at poses of the bodies."""
        return cls(loops, [loop.columns(poses) for loop in loops])

    def gap(self, rates: Sequence[Scalar]) -> list[list[Scalar]]:
        """The rates of the equations at rates of the joints."""
        out = []
        for by in self.by:
            rows = zip(*([x * rates[i - 1] for x in row] for i, row in by.items()), strict=True)
            out.append([sum(row, ZERO) for row in rows])
        return out

    def balanced(self, gaps: Sequence[Sequence[Scalar]]) -> dict[int, Scalar]:
        """The rates of the dependent joints that undo motions of the gaps, by least squares."""
        unknown = [i for loop in self.loops for i in loop.dependent]
        columns = [[by.get(i, ()) for by in self.by] for i in unknown]
        normal = [[self._product(a, b) for b in columns] for a in columns]
        right = [-self._product(a, gaps) for a in columns]
        return dict(zip(unknown, _solution(normal, right), strict=True))

    def _product(self, a: Sequence[Sequence[Scalar]], b: Sequence[Sequence[Scalar]]) -> Scalar:
        pairs = (zip(x, y, strict=False) for x, y in zip(a, b, strict=True))
        return sum((x * y for pair in pairs for x, y in pair), ZERO)


def _solution(matrix: list[list[Scalar]], right: list[Scalar]) -> list[Scalar]:
    """The solution of a system with a positive definite matrix."""
    n = len(right)
    for k in range(n):
        for i in range(k + 1, n):
            if matrix[i][k] is not ZERO:
                factor = matrix[i][k] / matrix[k][k]
                pairs = zip(matrix[i], matrix[k], strict=True)
                matrix[i] = [x - factor * y for x, y in pairs]
                right[i] = right[i] - factor * right[k]
    x: list[Scalar] = [ZERO] * n
    for k in reversed(range(n)):
        known = sum((matrix[k][j] * x[j] for j in range(k + 1, n)), ZERO)
        x[k] = (right[k] - known) / matrix[k][k]
    return x


def with_loop_positions(
    loops: Sequence[Loop],
    start: Sequence[Scalar],
    poses_at: Callable[[Sequence[Scalar]], Poses],
) -> list[Scalar]:
    """The coordinates of all bodies from a `start` in which those that loops determine are nearly
    right."""
    x = list(start)
    for _ in range(ITERATIONS):
        poses = poses_at(x)
        gaps = [loop.gaps(poses) for loop in loops]
        for i, change in _System.at(loops, poses).balanced(gaps).items():
            x[i - 1] = x[i - 1] + change
    return x


def with_loop_rates(loops: Sequence[Loop], poses: Poses, rates: Sequence[Scalar]) -> list[Scalar]:
    """The rates of all bodies, of which those that loops determine are given as ZERO."""
    out, system = list(rates), _System.at(loops, poses)
    for i, rate in system.balanced(system.gap(out)).items():
        out[i - 1] = rate
    return out


@dataclass(frozen=True)
class LoopMotion:
    """A motion in which the accelerations that loops determine are ZERO: poses, rates and
    accelerations of the joints, motions of the bodies, and the bodies that carry one."""

    poses: Poses
    rates: Sequence[Scalar]
    accelerations: Sequence[Scalar]
    motions: Mapping[int, Any]
    path: Callable[[int], Iterable[int]]

    def velocity(self, i: int, point: Vector) -> Vector:
        """The velocity of a body's particle at a point."""
        parts = (self.poses[k].twist(point)[1].scaled(self.rates[k - 1]) for k in self.path(i))
        return sum(parts, ZERO_VECTOR)


def with_loop_accelerations(loops: Sequence[Loop], motion: LoopMotion) -> list[Scalar]:
    """The accelerations of all bodies."""
    out, gaps = [*motion.accelerations], [loop.second_rates(motion) for loop in loops]
    for i, x in _System.at(loops, motion.poses).balanced(gaps).items():
        out[i - 1] = x
    return out


def loop_start(
    coupling: Coupling, q: Sequence[Scalar], number: Callable[[float], Scalar]
) -> list[Scalar]:
    """The coordinates that loops determine at positions of the user, numbers or arrays of one
    batch, as doubles have them; 0 for those of all other bodies."""
    given = np.broadcast_arrays(*(np.asarray(x, object) for x in q))
    out = np.full((len(coupling.maps), *given[0].shape), number(0.0), object)
    dependent = [body - 1 for loop in coupling.loops for body in loop.dependent]
    for index in np.ndindex(given[0].shape):
        x = coupling.body_positions([float(row[index]) for row in given])
        for k in dependent:
            out[(k, *index)] = number(as_number(x[k]))
    return [row[()] if row.ndim == 0 else row for row in out]
