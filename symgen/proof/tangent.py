"""Displacements, motions and brackets of a robot's positions: what a derivative in q is.

A coordinate moves by adding; positions with a quaternion, as x, y, z, qx, qy, qz, qw of a floating
joint, along a twist in the body's axes, q exp(ξ), where moves do not commute. (Murray, Li & Sastry,
A Mathematical Introduction to Robotic Manipulation, 1994, ch. 2.)"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from symgen.mechanics.spatial import Vector
from symgen.numbers.scalar import DecimalArray
from symgen.proof.reference_kinematics import JOINTS, bodies_of_joint, orientation
from symgen.proof.reference_model import ReferenceModel, matvec


@dataclass(frozen=True)
class TangentBlock:
    """Positions and velocities that belong together, from index `q` and `v` on: one coordinate,
    whose rate is the velocity, or `translation_count` (3 or 0) translations and a unit quaternion,
    with a twist in the axes of the body."""

    q: int
    v: int
    translation_count: int | None = None

    @property
    def position_slice(self) -> slice:
        """The indices of its positions."""
        n = self.translation_count
        return slice(self.q, self.q + (1 if n is None else n + 4))

    @property
    def velocity_slice(self) -> slice:
        """The indices of its velocities."""
        n = self.translation_count
        return slice(self.v, self.v + (1 if n is None else n + 3))

    def displaced_by(self, q: DecimalArray, change: DecimalArray) -> DecimalArray:
        """Positions displaced along a small change, right to its third power: a quaternion is
        rotated by (φ/2, 1) made a unit one, an angle of |φ| to φ³/12."""
        n = self.translation_count
        if n is None:
            return q + change
        zeros = np.zeros((*change.shape[:-1], 1), object)
        q, change = np.broadcast_arrays(q[..., :], np.concatenate([change, zeros], axis=-1))
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
        """The part that a motion at constant velocity numbers adds to half the square of time:
        w × v, because the axes of the body rotate with it."""
        n = self.translation_count
        if not n:
            return 0 * v
        turned = np.cross(v[..., n:], v[..., :n])
        return np.concatenate([turned, 0 * turned], axis=-1)

    def bracket(self, a: DecimalArray, b: DecimalArray) -> DecimalArray:
        """[a, b] as derivations: along a of that along b less along b of that along a. Of two
        twists it is w × u' - w' × u and w × w'."""
        n = self.translation_count
        if n is None:
            return 0 * a
        (u, w), (other_u, other_w) = ((x[..., :n], x[..., n:]) for x in (a, b))
        angular = np.cross(w, other_w)
        if not n:
            return angular
        linear = np.cross(w, other_u) - np.cross(other_w, u)
        return np.concatenate([linear, angular], axis=-1)


def _hamilton(a: list[DecimalArray], b: list[DecimalArray]) -> list[DecimalArray]:
    """The product of two quaternions x, y, z, w."""
    (*u, s), (*v, t) = a, b
    x, y = Vector(*u), Vector(*v)
    return [*(y.scaled(s) + x.scaled(t) + x.cross(y)), s * t - x.dot(y)]


def blocks(robot: ReferenceModel) -> list[TangentBlock]:
    """All positions and velocities of the user."""
    return sorted(set(_blocks(robot)), key=lambda block: block.q)


def _blocks(robot: ReferenceModel) -> Iterator[TangentBlock]:
    for i, part in enumerate(robot.parts, 1):
        translation_count = JOINTS[part.kind].translation_count
        if translation_count is None:
            yield from (TangentBlock(position, index) for index, position, _ in part.terms)
        elif part.at == 0:
            first = min(robot.part(k).terms[0][0] for k in bodies_of_joint(robot, i))
            yield TangentBlock(part.position_index, first, translation_count)


def displaced(robot: ReferenceModel, q: DecimalArray, change: DecimalArray) -> DecimalArray:
    """Positions (..., nq) moved along a change (..., n). Those that loops determine stay: the
    reference finds them anew."""
    at = {
        b.q: b.displaced_by(q[..., b.position_slice], change[..., b.velocity_slice])
        for b in blocks(robot)
    }
    at |= {place: q[..., place : place + 1] for _, place in robot.newton_positions}
    parts = [at[place] for place in sorted(at)]
    shape = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    wide = [np.broadcast_to(part, (*shape, part.shape[-1])) for part in parts]
    return np.concatenate(wide, axis=-1)


def turned_accelerations(robot: ReferenceModel, v: DecimalArray) -> DecimalArray:
    """The part of the displacement by half the square of time that velocities v add."""
    return np.concatenate(
        [
            b.turned_acceleration(v[..., b.velocity_slice])
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
                table[j, k, b.velocity_slice] = b.bracket(
                    eye[j, b.velocity_slice], eye[k, b.velocity_slice]
                )
    return table
