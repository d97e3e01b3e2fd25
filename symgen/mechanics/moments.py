"""Moments of a velocity field over a mass distribution, scalar-generic: the quantities of composite
bodies besides inertia."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Protocol, Self, TypeVar

from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import NO_INERTIA, Inertia
from symgen.mechanics.spatial import (
    UNIT_Z,
    ZERO_VECTOR,
    Force,
    Rotation,
    Step,
    Turn,
    Twist,
    Vector,
    axis_vector,
)
from symgen.numbers.scalar import PRIME, ZERO, Scalar, labelled


class Movable(Protocol):
    """A quantity that can be expressed in another frame: forces, inertias, moments."""

    def to_parent(self, step: Step) -> Self:
        """This quantity about the frame from which `step` leads to the present one."""


Thing = TypeVar("Thing", bound=Movable)


def shift_to_parent(quantity: Thing, steps: Sequence[Step]) -> Thing:
    """A force, inertia or momentum about the frame from which `steps` lead to the present frame."""
    for step in reversed(steps):
        quantity = quantity.to_parent(step)
    return quantity


class MovableByName(Movable, Protocol):
    """A movable quantity with names in generated code."""

    def named(self, label: str) -> Self:
        """Itself, named by `label`."""


Known = TypeVar("Known", bound=MovableByName)


def shift_to_parent_named(quantity: Known, steps: Sequence[Step], label: str) -> Known:
    """`shift_to_parent` with names of the intermediate values in generated code: the label, `PRIME`
    and a letter for each step. For example, f5a, f5b, ... are f5 on the way to the parent of body
    5."""
    last = len(steps) - 1
    for k, step in enumerate(reversed(steps)):
        moved = quantity.to_parent(step)
        quantity = moved if k == last else moved.named(f"{label}{PRIME}{ascii_lowercase[k]}")
    return quantity


def joint_label(i: int) -> str:
    """The label of quantities of body `i` in its joint frame, on the way to the frame of the
    parent."""
    return f"{i}{PRIME}j"


def shift_to_ancestors(
    system: CanonicalModel, i: int, q: Sequence[Scalar], quantity: Thing
) -> Iterator[tuple[int, Thing, Thing]]:
    """A quantity, given in the joint frame of `i`, in the body frame and in the joint frame of
    every ancestor j."""
    for j in system.ancestors(i):
        at_body = shift_to_parent(quantity, system.body(i).placement.to_joint_frame(q[i - 1]))
        quantity, i = shift_to_parent(at_body, system.to_body(j, q)), j
        yield j, at_body, quantity


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of a velocity field u over a cloud of mass: p = ∫ u dm and the 3x3 matrix K = ∫ u rᵀ
    dm.

    These 12 numbers are all there is in the 36 of the body-level factor B(v, I) (Echeandia 2020,
    eq. 3.1). `k[a][b]` has the component a of u and b of r; `known_polar` is K_xx + K_yy, which
    turns about z leave alone."""

    p: Vector
    k: tuple[Vector, Vector, Vector]
    known_polar: Scalar | None = None

    def __add__(self, other: "Moments") -> "Moments":
        (a, b, c), (x, y, z) = self.k, other.k
        return Moments(self.p + other.p, (a + x, b + y, c + z), self.polar + other.polar)

    def scaled(self, rate: Scalar) -> "Moments":
        """The moments of the field times a rate."""
        a, b, c = (row.scaled(rate) for row in self.k)
        return Moments(self.p.scaled(rate), (a, b, c), self.polar * rate)

    @property
    def polar(self) -> Scalar:
        """K_xx + K_yy."""
        return self.k[0].x + self.k[1].y if self.known_polar is None else self.known_polar

    @property
    def z_cross_u(self) -> Force:
        """The force field z × u: its sum and its moment ∫ r × (z × u) dm."""
        return Force(UNIT_Z.cross(self.p), Vector(-self.k[0].z, -self.k[1].z, self.polar))

    @property
    def u_cross_turning(self) -> Vector:
        """∫ u × (z × r) dm."""
        return Vector(-self.k[2].x, -self.k[2].y, self.polar)

    def moment_about(self, v: Vector) -> Vector:
        """∫ r × (v × u) dm = tr(K) v - K v."""
        x, y, z = self.k
        rows = (
            Vector(y.y + z.z, -x.y, -x.z),
            Vector(-y.x, x.x + z.z, -y.z),
            Vector(-z.x, -z.y, x.x + y.y),
        )
        return Vector(*(row.dot(v) for row in rows))

    def to_parent(self, step: Step) -> "Moments":
        """The moments about the frame from which `step` leads to the present one."""
        if isinstance(step, Turn):
            return Moments(
                self.p.expressed_after(-step),
                rotated_matrix(self.k, step),
                self.polar if step.axis == 2 else None,
            )
        arm = axis_vector(step.axis, step.length)
        a, b, c = (row + arm.scaled(u) for row, u in zip(self.k, self.p, strict=True))
        return Moments(self.p, (a, b, c), self.polar + arm.without(2).dot(self.p))

    def named(self, label: str) -> "Moments":
        """These moments, named for generated code."""
        self.p.named(f"p{label}")
        for row, axis in zip(self.k, "xyz", strict=True):
            row.named(f"K{label}_{axis}")
        return self


NO_MOMENTS = Moments(ZERO_VECTOR, (ZERO_VECTOR, ZERO_VECTOR, ZERO_VECTOR))


def rotated_matrix(
    k: Sequence[Vector], turn: Turn, label: str = ""
) -> tuple[Vector, Vector, Vector]:
    """R K Rᵀ; as for the second moment, the in-plane block costs four products, of which the label
    names the common part in generated code."""
    if turn.angle.is_zero:
        return k[0], k[1], k[2]
    if isinstance(turn, Rotation):
        half = [Vector(*(row.dot(r) for r in turn.rows)) for row in k]
        a, b, d = (
            sum((h.scaled(x) for h, x in zip(half, row, strict=True)), ZERO_VECTOR)
            for row in turn.rows
        )
        return a, b, d
    c, s = turn.angle.cos_sin
    n = turn.axis
    i, j = (n + 1) % 3, (n + 2) % 3
    out: list[list[Scalar]] = [[ZERO] * 3 for _ in range(3)]
    out[i][i], out[i][j], out[j][i], out[j][j] = _block(
        (k[i][i], k[i][j], k[j][i], k[j][j]), c, s, label
    )
    out[i][n], out[j][n] = c * k[i][n] - s * k[j][n], s * k[i][n] + c * k[j][n]
    out[n][i], out[n][j] = c * k[n][i] - s * k[n][j], s * k[n][i] + c * k[n][j]
    out[n][n] = k[n][n]
    a, b, d = (Vector(*row) for row in out)
    return a, b, d


def _block(
    entries: tuple[Scalar, Scalar, Scalar, Scalar], c: Scalar, s: Scalar, label: str
) -> tuple[Scalar, ...]:
    """The in-plane entries after a turn; whole right angles only permute and negate them."""
    ii, ij, ji, jj = entries
    if s is ZERO:
        return ii, ij, ji, jj
    if c is ZERO:
        return jj, -ji, -ij, ii
    t = labelled(c * (ii - jj) - s * (ij + ji), "T", label)
    return jj + c * t, ij + s * t, ji + s * t, ii - c * t


def moments_of(inertia: Inertia, x: Twist) -> Moments:
    """The moments of the velocities of a rigid body: K = [w]x S + v hᵀ, p = w × h + m v."""
    s, h = inertia.s, inertia.h
    columns = [x.w.cross(Vector(s[0, k], s[1, k], s[2, k])) + x.v.scaled(h[k]) for k in range(3)]
    a, b, c = (Vector(*(column[k] for column in columns)) for k in range(3))
    along_z = all(part is ZERO for part in (x.w.x, x.w.y, x.v.x, x.v.y))
    p = x.w.cross(h) + x.v.scaled(inertia.m)
    return Moments(p, (a, b, c), ZERO if along_z else None)


def turning_of(k: Sequence[Vector]) -> Vector:
    """∫ r × u dm of the matrix ∫ u rᵀ dm."""
    x, y, z = k
    return Vector(z.y - y.z, x.z - z.x, y.x - x.y)


@dataclass(frozen=True, slots=True)
class PairedMoments:
    """The moments p = ∫ u dm and K = ∫ u rᵀ dm of a velocity field, with the sums of two entries
    each on the diagonal of K (`pairs`), which cost less than the entries."""

    p: Vector
    k: tuple[Vector, Vector, Vector]
    pairs: Vector

    def __add__(self, other: "PairedMoments") -> "PairedMoments":
        (a, b, c), (x, y, z) = self.k, other.k
        return PairedMoments(self.p + other.p, (a + x, b + y, c + z), self.pairs + other.pairs)

    def about(self, shift: Vector) -> "PairedMoments":
        """The moments about the point from which `shift` leads to the present one."""
        x, y, z = (a * b for a, b in zip(self.p, shift, strict=True))
        a, b, c = (row + shift.scaled(u) for row, u in zip(self.k, self.p, strict=True))
        return PairedMoments(self.p, (a, b, c), self.pairs + Vector(y + z, x + z, x + y))

    @property
    def moment(self) -> Vector:
        """∫ r × u dm."""
        return turning_of(self.k)

    def along(self, w: Vector) -> Vector:
        """∫ (w × r) × u dm = Kᵀ w - tr(K) w."""
        x, y, z = self.k
        d = self.pairs
        return Vector(
            y.x * w.y + z.x * w.z - d.x * w.x,
            x.y * w.x + z.y * w.z - d.y * w.y,
            x.z * w.x + y.z * w.y - d.z * w.z,
        )


NO_PAIRED_MOMENTS = PairedMoments(ZERO_VECTOR, (ZERO_VECTOR, ZERO_VECTOR, ZERO_VECTOR), ZERO_VECTOR)


def paired_moments_of(inertia: Inertia, u: Twist) -> PairedMoments:
    """The moments of a rigid body's velocities at a twist, where products on the diagonal of [w]x S
    cancel in pairs."""
    x = moments_of(inertia, u)
    s, a, b, c = inertia.s, *(v * h for v, h in zip(u.v, inertia.h, strict=True))
    yz, xz, xy = u.w.x * s.yz, u.w.y * s.xz, u.w.z * s.xy
    return PairedMoments(x.p, x.k, Vector(xy - xz + b + c, yz - xy + a + c, xz - yz + (a + b)))


@dataclass(frozen=True, slots=True)
class MovingBody:
    """A composite body: its inertia, and the moments of its points' velocities as seen from the
    frame at hand."""

    inertia: Inertia = NO_INERTIA
    rates: Moments = NO_MOMENTS

    def __add__(self, other: "MovingBody") -> "MovingBody":
        return MovingBody(self.inertia + other.inertia, self.rates + other.rates)

    def to_parent(self, step: Step) -> "MovingBody":
        """Inertia and moments about the frame from which `step` leads to the present one."""
        return MovingBody(self.inertia.to_parent(step), self.rates.to_parent(step))

    def named(self, label: str) -> "MovingBody":
        """Inertia and moments, named for generated code."""
        return MovingBody(self.inertia.named(label), self.rates.named(label))

    def moving(self, x: Twist) -> "MovingBody":
        """Inertia and moments as seen from a frame against which the present one moves with twist
        `x`."""
        return MovingBody(self.inertia, self.rates + moments_of(self.inertia, x))
