"""The inertia of a body as its pseudo-inertia: mass, first and second moment, scalar-generic
(design notes 2)."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

import numpy as np

from symgen.mechanics.spatial import (
    ZERO_VECTOR,
    Force,
    Pose,
    Rotation,
    Step,
    Turn,
    Twist,
    Vector,
    axis_vector,
)
from symgen.numbers.scalar import ZERO, Numbers, Scalar, labelled, named, structural


@dataclass(frozen=True, slots=True)
class SecondMoment:
    """A symmetric 3x3 matrix, the second moment of mass ∫ r rᵀ dm (kg m²).

    `known_polar` may hold xx + yy as it was before turns about z, which leave it alone (see
    `keeping_polar`).
    `label` names what a turn makes of it on the way in generated code.
    """

    xx: Scalar
    xy: Scalar
    xz: Scalar
    yy: Scalar
    yz: Scalar
    zz: Scalar
    known_polar: Scalar | None = field(default=None, compare=False, repr=False, kw_only=True)
    label: str = field(default="", compare=False, repr=False, kw_only=True)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.xx, self.xy, self.xz, self.yy, self.yz, self.zz))

    def __add__(self, other: "SecondMoment") -> "SecondMoment":
        known = self.known_polar is not None or other.known_polar is not None
        total = self.polar + other.polar if known else None
        return SecondMoment(*(a + b for a, b in zip(self, other, strict=True)), known_polar=total)

    @property
    def polar(self) -> Scalar:
        """xx + yy, the moment about z."""
        return self.xx + self.yy if self.known_polar is None else self.known_polar

    def keeping_polar(self) -> "SecondMoment":
        """This matrix, which keeps xx + yy apart through turns about z: pays along parallel
        joints."""
        return replace(self, known_polar=self.polar)

    def __getitem__(self, ij: tuple[int, int]) -> Scalar:
        return tuple(self)[_PACKED[ij]]

    def named(self, symbol: str, label: str) -> "SecondMoment":
        """This matrix, its entries named for generated code: the symbol, the label, the axes."""
        for x, (i, j) in zip(self, UPPER_TRIANGLE, strict=True):
            named(x, f"{symbol}{label}_{'xyz'[i]}{'xyz'[j]}")
        return replace(self, label=label if symbol == "S" else symbol + label)

    def rotated(self, turn: Turn) -> "SecondMoment":
        """R S Rᵀ for the rotation of `turn`; the in-plane block costs five products (design notes
        2)."""
        if turn.angle.is_zero:
            return self
        if isinstance(turn, Rotation):
            return self._oriented(turn.rows)
        c, s = turn.angle.cos_sin
        k = turn.axis
        i, j = (k + 1) % 3, (k + 2) % 3
        ki, kj = self[k, i], self[k, j]
        block = self._block(i, j, c, s) | {
            (k, i): c * ki - s * kj,
            (k, j): s * ki + c * kj,
            (k, k): self[k, k],
        }
        entries = {_PACKED[ij]: x for ij, x in block.items()}
        return SecondMoment(
            *(entries[n] for n in range(6)), known_polar=self.known_polar if k == 2 else None
        )

    def _oriented(self, rows: Sequence[Vector]) -> "SecondMoment":
        """R S Rᵀ by the rows of R."""
        half = [
            Vector(*(Vector(self[k, 0], self[k, 1], self[k, 2]).dot(row) for k in range(3)))
            for row in rows
        ]
        return SecondMoment(*(rows[i].dot(half[j]) for i, j in UPPER_TRIANGLE))

    def _block(self, i: int, j: int, c: Scalar, s: Scalar) -> dict[tuple[int, int], Scalar]:
        """The in-plane entries after a turn; whole right angles only permute and negate them."""
        ii, ij, jj = self[i, i], self[i, j], self[j, j]
        if s is ZERO:
            return {(i, i): ii, (i, j): ij, (j, j): jj}
        if c is ZERO:
            return {(i, i): jj, (i, j): -ij, (j, j): ii}
        t = labelled(c * (ii - jj) - s * (2 * ij), "T", self.label)
        # where the block is round, its diagonal stays as the file has it, decimals included
        d = c * structural(ii - jj) - s * (2 * ij)
        return {(i, i): jj + c * d, (i, j): ij + s * t, (j, j): ii - c * d}


UPPER_TRIANGLE = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
_PACKED = {(i, j): n for n, pair in enumerate(UPPER_TRIANGLE) for i, j in (pair, pair[::-1])}
NO_SECOND = SecondMoment(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)


@dataclass(frozen=True, slots=True)
class Inertia:
    """The pseudo-inertia [S h; hᵀ m] about a frame's origin: mass, first and second moment."""

    m: Scalar
    h: Vector
    s: SecondMoment

    def __add__(self, other: "Inertia") -> "Inertia":
        return Inertia(self.m + other.m, self.h + other.h, self.s + other.s)

    def to_parent(self, step: Step) -> "Inertia":
        """The inertia about the frame from which `step` leads to the present one."""
        if isinstance(step, Turn):
            return Inertia(self.m, self.h.expressed_after(-step), self.s.rotated(step))
        return self._shifted(step.axis, step.length)

    def named(self, label: str) -> "Inertia":
        """This inertia, its entries named for generated code: m, h and S with the label."""
        named(self.m, f"m{label}")
        self.h.named(f"h{label}")
        return replace(self, s=self.s.named("S", label))

    def split(self, rows: AbstractSet[int]) -> "tuple[Inertia, Inertia]":
        """The entries in these rows and columns of the pseudo-inertia (0, 1, 2 and 3), and the
        rest."""
        entries = {(3, 3): self.m} | {(k, 3): self.h[k] for k in range(3)}
        entries |= {ij: self.s[ij] for ij in UPPER_TRIANGLE}
        inside = {ij: x for ij, x in entries.items() if rows & {*ij}}
        return _of_entries(inside), _of_entries({**entries, **dict.fromkeys(inside, ZERO)})

    def as_disc(self) -> "tuple[Inertia, Inertia]":
        """A disc about z with the same moment about that axis, and the rest."""
        half, s = 0.5 * self.s.polar, self.s
        disc = Inertia(ZERO, ZERO_VECTOR, SecondMoment(half, ZERO, ZERO, half, ZERO, ZERO))
        return disc, Inertia(
            self.m, self.h, SecondMoment(s.xx - half, s.xy, s.xz, s.yy - half, s.yz, s.zz)
        )

    def _shifted(self, k: int, d: Scalar) -> "Inertia":
        if d is ZERO:
            return self
        i, j = (k + 1) % 3, (k + 2) % 3
        moved = self.h + axis_vector(k, d * self.m)
        sums: list[Scalar] = [ZERO] * 6
        sums[_PACKED[k, k]] = (2 * d) * self.h[k] + (d * d) * self.m
        sums[_PACKED[k, i]] = d * self.h[i]
        sums[_PACKED[k, j]] = d * self.h[j]
        return Inertia(self.m, moved, self.s + SecondMoment(*sums))


NO_INERTIA = Inertia(ZERO, ZERO_VECTOR, NO_SECOND)


def _of_entries(entries: Mapping[tuple[int, int], Scalar]) -> Inertia:
    """The pseudo-inertia with these entries on and above its diagonal, zero elsewhere."""
    h = Vector(*(entries.get((k, 3), ZERO) for k in range(3)))
    s = SecondMoment(*(entries.get(ij, ZERO) for ij in UPPER_TRIANGLE))
    return Inertia(entries.get((3, 3), ZERO), h, s)


def second_moment_times(s: SecondMoment, v: Vector) -> Vector:
    """S v for a symmetric 3x3 matrix."""
    return Vector(*(s[i, 0] * v.x + s[i, 1] * v.y + s[i, 2] * v.z for i in range(3)))


def inertia_times(s: SecondMoment, v: Vector) -> Vector:
    """(tr S - S) v = ∫ r × (v × r) dm: the usual inertia tensor times v, from the second moment."""
    return second_moment_times(
        SecondMoment(s.yy + s.zz, -s.xy, -s.xz, s.xx + s.zz, -s.yz, s.xx + s.yy), v
    )


def spatial_momentum(inertia: Inertia, x: Twist) -> Force:
    """I v, the momentum of a body at a twist: m v + w × h, and (tr S - S) w + h × v about the
    body's origin (F08, eq. 2.63)."""
    w, v = x.w, x.v
    return Force(
        v.scaled(inertia.m) + w.cross(inertia.h), inertia_times(inertia.s, w) + inertia.h.cross(v)
    )


# -- 4 x 4 arrays ----------------------------------------------------------------------------------


def pseudo_inertia_matrix(ten: Sequence[float] | Numbers) -> Numbers:
    """P (4 x 4) of m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz (kg, kg m, kg m²)."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = (float(x) for x in ten)
    half = (xx + yy + zz) / 2
    return np.array(
        [
            [half - xx, -xy, -xz, hx],
            [-xy, half - yy, -yz, hy],
            [-xz, -yz, half - zz, hz],
            [hx, hy, hz, m],
        ]
    )


def inertial_parameters_of(p: Numbers) -> Numbers:
    """The ten inertial parameters of P (4 x 4)."""
    (a, d, e), (_, b, f), (_, _, c) = p[0, :3], p[1, :3], p[2, :3]
    return np.array([p[3, 3], p[0, 3], p[1, 3], p[2, 3], b + c, -d, -e, a + c, -f, a + b])


def homogeneous_transform(pose: Pose) -> Numbers:
    """The 4 x 4 homogeneous transform of a pose."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.rotation, pose.position
    return matrix


def pseudo_inertia_in_parent(p: Numbers, pose: Pose) -> Numbers:
    """P about the frame in which its present frame has `pose`."""
    to = homogeneous_transform(pose)
    return np.asarray(to @ p @ to.T)


def inertia_about_centre(
    ten: Sequence[float] | Numbers,
) -> tuple[tuple[float, ...], tuple[tuple[float, ...], ...]]:
    """The centre of mass (m) of ten numbers with a mass, and the rows of the inertia about it
    (kg m²), in the same axes."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = ten
    x, y, z = hx / m, hy / m, hz / m
    a, b, c = xy + m * x * y, xz + m * x * z, yz + m * y * z
    rows = (
        (xx - m * (y * y + z * z), a, b),
        (a, yy - m * (x * x + z * z), c),
        (b, c, zz - m * (x * x + y * y)),
    )
    return (x, y, z), rows


def central_moments(p: Numbers) -> Numbers:
    """S (3 x 3) about the centre of mass; that of P where there is no mass."""
    m, h, about = p[3, 3], p[:3, 3], p[:3, :3]
    return np.asarray(about - np.outer(h, h) / m if m else about)
