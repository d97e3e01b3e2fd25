"""Vectors, poses and the pseudo-inertia, scalar-generic.

Frames are moved only by elementary steps, turns about a coordinate axis and shifts along one: that is what
keeps right angles free and every product countable. (Khalil & Kleinfinger, ICRA 1986; design notes 1-2.)
"""


from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from symgen.exact import atan2
from symgen.mechanics.model import Pose
from symgen.scalar import ZERO, Scalar, cos, named, sin, structural


@dataclass(frozen=True, slots=True)
class Angle:
    """The sum of joint coordinates (`variable`, rad) and a constant angle kept as its cosine and sine."""

    variable: Scalar = ZERO
    c0: Scalar = 1.0
    s0: Scalar = ZERO

    @property
    def is_zero(self) -> bool:
        return self.variable is ZERO and self.s0 is ZERO and self.c0 == 1.0

    def __add__(self, other: "Angle") -> "Angle":
        c = self.c0 * other.c0 - self.s0 * other.s0
        s = self.s0 * other.c0 + self.c0 * other.s0
        return Angle(self.variable + other.variable, structural(c), structural(s))

    @property
    def cos_sin(self) -> tuple[Scalar, Scalar]:
        """Cosine and sine; a constant part of whole right angles only swaps or negates them."""
        if self.variable is ZERO:
            return self.c0, self.s0
        if self.c0 is not ZERO and self.s0 is not ZERO:
            whole = self.variable + atan2(self.s0, self.c0)
            return cos(whole), sin(whole)
        c, s = cos(self.variable), sin(self.variable)
        return self.c0 * c - self.s0 * s, self.s0 * c + self.c0 * s


@dataclass(frozen=True, slots=True)
class Turn:
    """Rotation of a frame about its own axis (0, 1, 2 for x, y, z) by `angle`."""

    axis: int
    angle: Angle

    def __neg__(self) -> "Turn":
        a = self.angle
        return Turn(self.axis, Angle(-a.variable, a.c0, -a.s0))


@dataclass(frozen=True, slots=True)
class Shift:
    """Translation of a frame along its own axis (0, 1, 2) by `length` (m)."""

    axis: int
    length: Scalar


Step = Turn | Shift


@dataclass(frozen=True, slots=True)
class Vector:
    """Three components in some frame.

    `origin` remembers what the vector was before a run of turns about one axis, and their sum: where that
    original has a zero component, the turned vector is read off it with one turn by the summed angle
    (parallel joints), which costs two products instead of six operations.
    """

    x: Scalar
    y: Scalar
    z: Scalar
    origin: "tuple[Vector, Turn] | None" = field(default=None, compare=False, repr=False, kw_only=True)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))

    def __getitem__(self, i: int) -> Scalar:
        return (self.x, self.y, self.z)[i]

    def __add__(self, other: "Vector") -> "Vector":
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: "Vector") -> "Vector":
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> "Vector":
        return Vector(-self.x, -self.y, -self.z)

    def scaled(self, k: Scalar) -> "Vector":
        return Vector(k * self.x, k * self.y, k * self.z)

    def without(self, k: int) -> "Vector":
        """The same vector with component `k` structurally zero."""
        return Vector(*(ZERO if i == k else x for i, x in enumerate(self)))

    def dot(self, other: "Vector") -> Scalar:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: "Vector") -> "Vector":
        a, b = self, other
        return Vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)

    def turned(self, turn: Turn) -> "Vector":
        """The same vector in the axes of a frame turned by `turn` (R^T v)."""
        if turn.angle.is_zero:
            return self
        root, total = self._source(turn)
        k = turn.axis
        i, j = (k + 1) % 3, (k + 2) % 3
        c, s = total.angle.cos_sin
        out = [root[k]] * 3
        out[i], out[j] = c * root[i] + s * root[j], c * root[j] - s * root[i]
        out[k] = self[k]
        return Vector(*out, origin=(root, total))

    def turned_all(self, turns: Iterable[Turn]) -> "Vector":
        """The same vector in the axes of a frame turned several times, outermost turn first."""
        v = self
        for turn in turns:
            v = v.turned(turn)
        return v

    def named(self, label: str) -> "Vector":
        """This vector, its components named for generated code."""
        for x, axis in zip(self, "xyz", strict=True):
            named(x, f"{label}_{axis}")
        return self

    def _source(self, turn: Turn) -> "tuple[Vector, Turn]":
        """The vector to turn and by what: the remembered original where it is sparser than the present one."""
        if self.origin is None or self.origin[1].axis != turn.axis:
            return self, turn
        root, before = self.origin
        in_plane = [root[(turn.axis + k) % 3] for k in (1, 2)]
        if all(x is not ZERO for x in in_plane):
            return self, turn
        return root, Turn(turn.axis, before.angle + turn.angle)


def axial(v: Vector, x: Scalar) -> Vector:
    """v + x z. What a turn about z does to the rest of v is not affected, so its origin is remembered."""
    keeps = v.origin is not None and v.origin[1].axis == 2
    return Vector(v.x, v.y, v.z + x, origin=v.origin if keeps else None)


NULL = Vector(ZERO, ZERO, ZERO)
EZ = Vector(ZERO, ZERO, 1.0)


def along(axis: int, length: Scalar) -> Vector:
    """The vector of `length` along a coordinate axis."""
    parts = [ZERO, ZERO, ZERO]
    parts[axis] = length
    return Vector(*parts)


@dataclass(frozen=True, slots=True)
class Force:
    """A spatial force at a frame's origin: force (N) and moment (N m), or momentum likewise."""

    linear: Vector
    angular: Vector

    def __add__(self, other: "Force") -> "Force":
        return Force(self.linear + other.linear, self.angular + other.angular)

    def moved_in(self, step: Step) -> "Force":
        """The same force at the frame from which `step` leads to the present one."""
        if isinstance(step, Shift):
            return Force(self.linear, self.angular + along(step.axis, step.length).cross(self.linear))
        return Force(self.linear.turned(-step), self.angular.turned(-step))

    def __neg__(self) -> "Force":
        return Force(-self.linear, -self.angular)

    def placed(self, pose: Pose) -> "Force":
        """The same force at the frame in which its present frame has `pose`."""
        rows = [Vector(*(structural(x) for x in row)) for row in pose.rotation]
        linear, angular = (Vector(*(row.dot(v) for row in rows)) for v in (self.linear, self.angular))
        arm = Vector(*(structural(x) for x in pose.position))
        return Force(linear, angular + arm.cross(linear))

    def named(self, label: str) -> "Force":
        self.linear.named(f"f{label}")
        self.angular.named(f"n{label}")
        return self


NO_FORCE = Force(NULL, NULL)


@dataclass(frozen=True, slots=True)
class Second:
    """A symmetric 3x3 matrix, the second moment of mass ∫ r rᵀ dm (kg m²).

    `sum` may hold xx + yy as it was before turns about z, which leave it alone; see `remembering`.
    """

    xx: Scalar
    xy: Scalar
    xz: Scalar
    yy: Scalar
    yz: Scalar
    zz: Scalar
    sum: Scalar | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.xx, self.xy, self.xz, self.yy, self.yz, self.zz))

    def __add__(self, other: "Second") -> "Second":
        known = self.sum is not None or other.sum is not None
        total = self.across + other.across if known else None
        return Second(*(a + b for a, b in zip(self, other, strict=True)), sum=total)

    @property
    def across(self) -> Scalar:
        """xx + yy, the moment about z."""
        return self.xx + self.yy if self.sum is None else self.sum

    def remembering(self) -> "Second":
        """The same matrix, which keeps xx + yy apart through turns about z: pays along parallel joints."""
        return replace(self, sum=self.across)

    def __getitem__(self, ij: tuple[int, int]) -> Scalar:
        return tuple(self)[_PACKED[ij]]

    def turned_in(self, turn: Turn) -> "Second":
        """R S Rᵀ for the rotation of `turn`; the in-plane block costs five products (design notes 2)."""
        if turn.angle.is_zero:
            return self
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
        return Second(*(entries[n] for n in range(6)), sum=self.sum if k == 2 else None)

    def _block(self, i: int, j: int, c: Scalar, s: Scalar) -> dict[tuple[int, int], Scalar]:
        """The in-plane entries after a turn; whole right angles only permute and negate them."""
        ii, ij, jj = self[i, i], self[i, j], self[j, j]
        if s is ZERO:
            return {(i, i): ii, (i, j): ij, (j, j): jj}
        if c is ZERO:
            return {(i, i): jj, (i, j): -ij, (j, j): ii}
        t = c * (ii - jj) - s * (2.0 * ij)
        return {(i, i): jj + c * t, (i, j): ij + s * t, (j, j): ii - c * t}


_PACKED = {(i, j): n for n, pair in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
           for i, j in (pair, pair[::-1])}
NO_SECOND = Second(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)


@dataclass(frozen=True, slots=True)
class Inertia:
    """The pseudo-inertia [S h; hᵀ m] about a frame's origin: mass, first and second moment."""

    m: Scalar
    h: Vector
    s: Second

    def __add__(self, other: "Inertia") -> "Inertia":
        return Inertia(self.m + other.m, self.h + other.h, self.s + other.s)

    def moved_in(self, step: Step) -> "Inertia":
        """The same body about the frame from which `step` leads to the present one."""
        if isinstance(step, Turn):
            return Inertia(self.m, self.h.turned(-step), self.s.turned_in(step))
        return self._shifted(step.axis, step.length)

    def named(self, label: str) -> "Inertia":
        named(self.m, f"m{label}")
        self.h.named(f"h{label}")
        for x, axes in zip(self.s, ("xx", "xy", "xz", "yy", "yz", "zz"), strict=True):
            named(x, f"S{label}_{axes}")
        return self

    def _shifted(self, k: int, d: Scalar) -> "Inertia":
        if d is ZERO:
            return self
        i, j = (k + 1) % 3, (k + 2) % 3
        moved = self.h + along(k, d * self.m)
        sums = [ZERO] * 6
        sums[_PACKED[k, k]] = (2.0 * d) * self.h[k] + (d * d) * self.m
        sums[_PACKED[k, i]] = d * self.h[i]
        sums[_PACKED[k, j]] = d * self.h[j]
        return Inertia(self.m, moved, self.s + Second(*sums))


NO_INERTIA = Inertia(ZERO, NULL, NO_SECOND)
