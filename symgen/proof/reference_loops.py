"""Closed loops of the reference: positions by Newton's method on the gap between the two ends,
rates and accelerations by least squares on it, whatever the geometry. The closed forms under test
give the start of the iteration, which tells the assembly apart, and nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from symgen.mechanics.closures import as_number
from symgen.mechanics.coupling import Coupling
from symgen.mechanics.model import Closure
from symgen.mechanics.spatial import ZERO_VECTOR, Vector
from symgen.numbers.scalar import Scalar

ITERATIONS: Final = 4
"""Steps of Newton's method; each doubles the right digits, of which the start has at least 10."""


@dataclass(frozen=True)
class ReferenceLoop:
    """A point of each of two bodies (0: the base) that stay together, the bodies on the way to each
    end from their common carrier, and the bodies whose coordinates the loop determines."""

    bodies: tuple[int, int]
    points: tuple[Vector, Vector]
    paths: tuple[Sequence[int], Sequence[int]]
    dependent: tuple[int, ...]

    @classmethod
    def of(
        cls,
        closure: Closure,
        paths: tuple[Sequence[int], Sequence[int]],
        vector: Callable[..., Any],
    ) -> "ReferenceLoop":
        """The loop of a closure; `vector` makes a vector of the reference of three numbers."""
        first, second = (vector(point) for point in closure.points)
        return cls(closure.bodies, (first, second), paths, closure.dependent)


Poses = Mapping[int, Any]
"""Bodies in the world (`symgen.proof.reference_kinematics.BodyInWorld`) by number."""


def ends(loop: ReferenceLoop, poses: Poses) -> tuple[Vector, Vector]:
    """The two points of a loop in the world."""
    first, second = (
        poses[i].place + Vector(*(row.dot(p) for row in poses[i].axes))
        for i, p in zip(loop.bodies, loop.points, strict=True)
    )
    return first, second


def columns(loop: ReferenceLoop, poses: Poses) -> dict[int, Vector]:
    """The velocity of the first end against the second at unit rate of each joint of a loop."""
    points = ends(loop, poses)
    return {
        i: poses[i].twist(points[0])[1] if side == 0 else -poses[i].twist(points[1])[1]
        for side, path in enumerate(loop.paths)
        for i in path
    }


def _balanced(loop: ReferenceLoop, by: Mapping[int, Vector], gap: Vector) -> tuple[Scalar, Scalar]:
    """The rates of the dependent joints that undo a motion of the gap, by least squares."""
    a, b = (by[i] for i in loop.dependent)
    aa, ab, bb, ag, bg = a.dot(a), a.dot(b), b.dot(b), a.dot(gap), b.dot(gap)
    inverse = 1 / (aa * bb - ab * ab)
    return (ab * bg - bb * ag) * inverse, (ab * ag - aa * bg) * inverse


def with_loop_positions(
    loops: Sequence[ReferenceLoop],
    start: Sequence[Scalar],
    poses_at: Callable[[Sequence[Scalar]], Poses],
) -> list[Scalar]:
    """The coordinates of all bodies from a `start` in which those that loops determine are nearly
    right."""
    x = list(start)
    for _ in range(ITERATIONS):
        for loop in loops:
            poses = poses_at(x)
            first, second = ends(loop, poses)
            changes = _balanced(loop, columns(loop, poses), first - second)
            for i, change in zip(loop.dependent, changes, strict=True):
                x[i - 1] = x[i - 1] + change
    return x


def with_loop_rates(
    loops: Sequence[ReferenceLoop], poses: Poses, rates: Sequence[Scalar]
) -> list[Scalar]:
    """The rates of all bodies, of which those that loops determine are given as ZERO."""
    out = list(rates)
    for loop in loops:
        by = columns(loop, poses)
        gap = sum((v.scaled(out[i - 1]) for i, v in by.items()), ZERO_VECTOR)
        for i, rate in zip(loop.dependent, _balanced(loop, by, gap), strict=True):
            out[i - 1] = rate
    return out


def with_loop_accelerations(
    loops: Sequence[ReferenceLoop],
    poses: Poses,
    accelerations: Sequence[Scalar],
    motions_at: Callable[[Sequence[Scalar]], Mapping[int, Any]],
) -> list[Scalar]:
    """The accelerations of all bodies, of which those that loops determine are given as ZERO;
    `motions_at` gives the motions of the bodies at accelerations."""
    out = list(accelerations)
    for loop in loops:
        motions = motions_at(out)
        first, second = (
            motions[i].acceleration(point)
            for i, point in zip(loop.bodies, ends(loop, poses), strict=True)
        )
        by = columns(loop, poses)
        for i, x in zip(loop.dependent, _balanced(loop, by, first - second), strict=True):
            out[i - 1] = x
    return out


def loop_start(
    coupling: Coupling, q: Sequence[Scalar], number: Callable[[float], Scalar]
) -> list[Scalar]:
    """The coordinates that loops determine at positions of the user, numbers or arrays of one
    batch, as doubles have them; 0 for those of all other bodies."""
    given = np.broadcast_arrays(*(np.asarray(x, object) for x in q))
    out = np.full((len(coupling.drives), *given[0].shape), number(0.0), object)
    dependent = [body - 1 for loop in coupling.loops for body in loop.dependent]
    for index in np.ndindex(given[0].shape):
        x = coupling.body_positions([float(row[index]) for row in given])
        for k in dependent:
            out[(k, *index)] = number(as_number(x[k]))
    return [row[()] if row.ndim == 0 else row for row in out]
