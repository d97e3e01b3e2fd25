"""Displacements, motions and brackets of a robot's positions: what a derivative in q is.

A coordinate moves by adding; positions with a quaternion, as x, y, z, qx, qy, qz, qw of a floating
joint, along a twist in the body's axes, q exp(ξ), where moves do not commute. (Murray, Li & Sastry,
A Mathematical Introduction to Robotic Manipulation, 1994, ch. 2.)"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from symgen.mechanics.spatial import Vector
from symgen.numbers.types import DecimalArray
from symgen.proof.reference_kinematics import JOINTS, bodies_of_joint, orientation
from symgen.proof.reference_model import ReferenceModel, matvec

"""An array of objects: numbers of many digits, or floats."""


class Tangent(Protocol):
    """How the positions of a joint move along its velocities."""

    @property
    def positions(self) -> int:
        """How many there are."""

    @property
    def velocities(self) -> int:
        """How many there are."""

    def moved(self, q: DecimalArray, change: DecimalArray) -> DecimalArray:
        """Positions displaced along a small change, right to its third power."""

    def turned_acceleration(self, v: DecimalArray) -> DecimalArray:
        """The part that a motion at constant velocity numbers adds to half the square of time."""

    def bracket(self, a: DecimalArray, b: DecimalArray) -> DecimalArray:
        """[a, b] as derivations: along a of that along b less along b of that along a."""


@dataclass(frozen=True)
class TangentLine:
    """One coordinate, whose rate is the velocity."""

    positions = velocities = 1

    def moved(self, q: DecimalArray, change: DecimalArray) -> DecimalArray:
        return q + change

    def turned_acceleration(self, v: DecimalArray) -> DecimalArray:
        return 0 * v

    def bracket(self, a: DecimalArray, b: DecimalArray) -> DecimalArray:
        return 0 * a


@dataclass(frozen=True)
class TangentInBodyAxes:
    """Positions of `translation_count` translations (3 or none) and a unit quaternion, with a twist
    in the axes of the body."""

    translation_count: int

    @property
    def positions(self) -> int:
        return self.translation_count + 4

    @property
    def velocities(self) -> int:
        return self.translation_count + 3

    def moved(self, q: DecimalArray, change: DecimalArray) -> DecimalArray:
        """The quaternion is turned by (φ/2, 1) made a unit one: an angle of |φ| to φ³/12."""
        n = self.translation_count
        q, change = np.broadcast_arrays(q[..., :], _padded(change, n + 4))
        four = [q[..., k] for k in range(n, n + 4)]
        half = [change[..., k] / 2 for k in range(n, n + 3)]
        size = np.frompyfunc(lambda e: e.sqrt() if hasattr(e, "sqrt") else e**0.5, 1, 1)(
            1 + sum(x * x for x in half)
        )
        turn = [*(x / size for x in half), 1 / size]
        shift = matvec(orientation(four), Vector(*(change[..., k] for k in range(3)))) if n else ()
        place = [q[..., k] + d for k, d in enumerate(shift)]
        return np.stack([*place, *_hamilton(four, turn)], axis=-1)

    def turned_acceleration(self, v: DecimalArray) -> DecimalArray:
        """The axes turn with the body: w × v."""
        turned = (
            np.cross(v[..., self.translation_count :], v[..., : self.translation_count])
            if self.translation_count
            else 0 * v
        )
        return np.concatenate([turned, 0 * turned], axis=-1) if self.translation_count else turned

    def bracket(self, a: DecimalArray, b: DecimalArray) -> DecimalArray:
        """The bracket of two twists: w × u' - w' × u and w × w'."""
        n = self.translation_count
        (u, w), (other_u, other_w) = ((x[..., :n], x[..., n:]) for x in (a, b))
        angular = np.cross(w, other_w)
        if not n:
            return angular
        linear = np.cross(w, other_u) - np.cross(other_w, u)
        return np.concatenate([linear, angular], axis=-1)


def _padded(change: DecimalArray, size: int) -> DecimalArray:
    """A change with zeros behind, so that it can be laid beside the positions."""
    zeros = np.zeros((*change.shape[:-1], size - change.shape[-1]), object)
    return np.concatenate([change, zeros], axis=-1)


def _hamilton(a: list[DecimalArray], b: list[DecimalArray]) -> list[DecimalArray]:
    """The product of two quaternions x, y, z, w."""
    (*u, s), (*v, t) = a, b
    x, y = Vector(*u), Vector(*v)
    return [*(y.scaled(s) + x.scaled(t) + x.cross(y)), s * t - x.dot(y)]


@dataclass(frozen=True)
class TangentBlock:
    """Positions and velocities that belong together: where they start."""

    tangent: Tangent
    q: int
    v: int

    @property
    def position_slice(self) -> slice:
        """Where its positions are among all positions."""
        return slice(self.q, self.q + self.tangent.positions)

    @property
    def velocity_slice(self) -> slice:
        """Where its velocities are among all velocities."""
        return slice(self.v, self.v + self.tangent.velocities)


def blocks(robot: ReferenceModel) -> list[TangentBlock]:
    """All positions and velocities of the user."""
    return sorted(set(_blocks(robot)), key=lambda block: block.q)


def _blocks(robot: ReferenceModel) -> Iterator[TangentBlock]:
    for i, part in enumerate(robot.parts, 1):
        place = JOINTS[part.kind].translation_count
        if place is None:
            yield from (
                TangentBlock(TangentLine(), position, index) for index, position, _ in part.terms
            )
        elif part.at == 0:
            first = min(robot.part(k).terms[0][0] for k in bodies_of_joint(robot, i))
            yield TangentBlock(TangentInBodyAxes(place), part.place, first)


def displaced(robot: ReferenceModel, q: DecimalArray, change: DecimalArray) -> DecimalArray:
    """Positions (..., nq) moved along a change (..., n)."""
    parts = [
        b.tangent.moved(q[..., b.position_slice], change[..., b.velocity_slice])
        for b in blocks(robot)
    ]
    shape = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    wide = [np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts]
    return np.concatenate(wide, axis=-1)


def turned_accelerations(robot: ReferenceModel, v: DecimalArray) -> DecimalArray:
    """The part of the displacement by half the square of time that velocities v add."""
    return np.concatenate(
        [
            b.tangent.turned_acceleration(v[..., b.velocity_slice])
            for b in sorted(blocks(robot), key=lambda block: block.v)
        ],
        axis=-1,
    )


def brackets(robot: ReferenceModel) -> DecimalArray:
    """B[j, k] = [e_j, e_k] of unit velocities, n x n x n whole numbers."""
    n = robot.velocities
    table, eye = np.zeros((n, n, n), int), np.eye(n, dtype=int)
    for b in blocks(robot):
        for j in range(n)[b.velocity_slice]:
            for k in range(n)[b.velocity_slice]:
                table[j, k, b.velocity_slice] = b.tangent.bracket(
                    eye[j, b.velocity_slice], eye[k, b.velocity_slice]
                )
    return table
