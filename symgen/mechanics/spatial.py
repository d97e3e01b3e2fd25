"""Turns, shifts, vectors and forces, scalar-generic.

Frames are moved only by elementary steps, turns about a coordinate axis and shifts along one: that
is what keeps right angles free and every product countable. (Khalil & Kleinfinger, ICRA 1986;
design notes 1-2.)"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgen.numbers.decimals import atan2, norm
from symgen.numbers.operations import cos, sin
from symgen.numbers.scalar import ZERO, Scalar, dot, named, plain, structural

Triple = tuple[float, float, float]
Matrix3 = tuple[Triple, Triple, Triple]

IDENTITY: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, slots=True)
class Pose:
    """The pose X_AB of a frame B in a frame A: `rotation` (R_AB) maps components in B to components
    in A, `position` (p_AB_A) is the origin of B in A (m)."""

    rotation: Matrix3 = IDENTITY
    position: Triple = (0.0, 0.0, 0.0)

    def rotate(self, v: Triple) -> Triple:
        """R_AB v: the components in A of a free vector with components `v` in B."""
        r = self.rotation
        a, b, c = (r[i][0] * v[0] + r[i][1] * v[1] + r[i][2] * v[2] for i in range(3))
        return a, b, c

    def transform(self, v: Triple) -> Triple:
        """X_AB v: the coordinates in A of the point with coordinates `v` in B."""
        t, p = self.rotate(v), self.position
        return t[0] + p[0], t[1] + p[1], t[2] + p[2]

    def __matmul__(self, other: "Pose") -> "Pose":
        a, b, c = (self.rotate(other.column(i)) for i in range(3))
        return Pose(
            ((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])),
            self.transform(other.position),
        )

    def column(self, i: int) -> Triple:
        """Axis `i` of B in A."""
        return self.rotation[0][i], self.rotation[1][i], self.rotation[2][i]

    @property
    def inverse(self) -> "Pose":
        """X_BA: the pose of A in B."""
        r = Pose((self.column(0), self.column(1), self.column(2)))
        p = r.rotate(self.position)
        return Pose(r.rotation, (-p[0], -p[1], -p[2]))


def cross(a: Triple, b: Triple) -> Triple:
    """a × b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def axes_across(z: Triple) -> tuple[Triple, Triple]:
    """Two axes across a normal, those of the carrier where they are."""
    k = max(range(3), key=lambda i: (abs(z[i]), i))
    start = [0.0, 0.0, 0.0]
    start[(k + 1) % 3] = 1.0
    along = dot(start, z)
    x = [a - along * b for a, b in zip(start, z, strict=True)]
    length = norm(*x)
    unit = (x[0] / length, x[1] / length, x[2] / length)
    return unit, cross(z, unit)


@dataclass(frozen=True, slots=True)
class Angle:
    """The sum of joint coordinates (`variable`, rad) and a constant angle kept as its cosine and
    sine."""

    variable: Scalar = ZERO
    c0: Scalar = 1.0
    s0: Scalar = ZERO
    _known: Any = field(default=None, init=False, compare=False, repr=False)

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
        if self._known is None:
            object.__setattr__(self, "_known", self._cos_sin())  # asked for by all that turns
        return self._known  # type: ignore[no-any-return]

    def _cos_sin(self) -> tuple[Scalar, Scalar]:
        if self.variable is ZERO:
            return self.c0, self.s0
        if self.c0 is not ZERO and self.s0 is not ZERO:
            angle = self.variable + atan2(plain(self.s0), plain(self.c0))
            return cos(angle), sin(angle)
        c, s = cos(self.variable), sin(self.variable)
        return self.c0 * c - self.s0 * s, self.s0 * c + self.c0 * s


@dataclass(frozen=True, slots=True)
class Turn:
    """Rotation of a frame by `angle` about its own axis (0, 1, 2 for x, y, z)."""

    axis: int
    angle: Angle
    _back: Any = field(default=None, init=False, compare=False, repr=False)

    def __neg__(self) -> "Turn":
        if self._back is None:
            object.__setattr__(self, "_back", self._reversed())  # asked for by all carried inward
        return self._back  # type: ignore[no-any-return]

    def _reversed(self) -> "Turn":
        return Turn(self.axis, Angle(-self.angle.variable, self.angle.c0, -self.angle.s0))


@dataclass(frozen=True, slots=True)
class Rotation(Turn):
    """A general rotation of a frame, by its matrix: rows of the axes before, columns of the axes
    after."""

    rows: "tuple[Vector, Vector, Vector]"

    @classmethod
    def by(cls, rows: "Sequence[Vector]") -> "Rotation":
        """The rotation with these rows."""
        x, y, z = rows
        return cls(-1, Angle(ZERO, -1.0), (x, y, z))

    def _reversed(self) -> "Rotation":
        return Rotation.by([Vector(*(row[k] for row in self.rows)) for k in range(3)])


@dataclass(frozen=True, slots=True)
class Shift:
    """Translation of a frame along its own axis (0, 1, 2) by `length` (m)."""

    axis: int
    length: Scalar

    def cross(self, v: "Vector") -> "Vector":
        """The cross product of the displacement and a vector."""
        d = self.length
        if self.axis == 2:
            return Vector(-(d * v.y), d * v.x, ZERO)
        along_x = self.axis == 0
        return Vector(ZERO, -(d * v.z), d * v.y) if along_x else Vector(d * v.z, ZERO, -(d * v.x))


Step = Turn | Shift


def is_identity(step: Step) -> bool:
    """True if the step does not move the frame."""
    return step.length is ZERO if isinstance(step, Shift) else step.angle.is_zero


@dataclass(slots=True, unsafe_hash=True)
class Vector:
    """Three components in some frame, never changed (a frozen one takes twice as long to make).

    `origin` remembers what the vector was before a run of turns about one axis, and their sum:
    where that original has a zero component, the turned vector is read off it with one turn by the
    summed angle (parallel joints), which costs two products instead of six operations."""

    x: Scalar
    y: Scalar
    z: Scalar
    origin: "tuple[Vector, Turn] | None" = field(
        default=None, compare=False, repr=False, kw_only=True
    )

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

    def to_parent(self, step: "Step") -> "Vector":
        """The vector in the axes from which `step` leads to the present ones."""
        return self.expressed_after(-step) if isinstance(step, Turn) else self

    def scaled(self, k: Scalar) -> "Vector":
        return Vector(k * self.x, k * self.y, k * self.z)

    def without(self, k: int) -> "Vector":
        """The vector with component `k` structurally zero."""
        return Vector(*(ZERO if i == k else x for i, x in enumerate(self)))

    def dot(self, other: "Vector") -> Scalar:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: "Vector") -> "Vector":
        a, b = self, other
        return Vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)

    def expressed_after(self, turn: Turn) -> "Vector":
        """The vector in the axes of the frame after the rotation `turn` (Rᵀ v)."""
        if turn.angle.is_zero:
            return self
        if turn.axis < 0 and isinstance(turn, Rotation):
            return sum((row.scaled(x) for row, x in zip(turn.rows, self, strict=True)), ZERO_VECTOR)
        root, total = self._source(turn)
        k, (c, s) = turn.axis, total.angle.cos_sin
        i, j = (k + 1) % 3, (k + 2) % 3
        out = [root.x, root.y, root.z]
        a, b = out[i], out[j]
        out[i], out[j] = c * a + s * b, c * b - s * a
        out[k] = self[k]
        return Vector(*out, origin=(root, total))

    def expressed_after_all(self, turns: Iterable[Turn]) -> "Vector":
        """The vector in the axes after several rotations, outermost first."""
        v = self
        for turn in turns:
            v = v.expressed_after(turn)
        return v

    @property
    def rotates_cheaply(self) -> bool:
        """True if a rotation about z costs fewer than six operations, because a component across z
        is zero, or was zero before the rotations about z that `origin` records."""
        root = self if self.origin is None or self.origin[1].axis != 2 else self.origin[0]
        return root.x is ZERO or root.y is ZERO

    def named(self, label: str, before: str = "_") -> "Vector":
        """This vector, with names of its components for generated code: label, `before`, axis."""
        named(self.x, f"{label}{before}x")
        named(self.y, f"{label}{before}y")
        named(self.z, f"{label}{before}z")
        return self

    def _source(self, turn: Turn) -> "tuple[Vector, Turn]":
        """The vector to turn and by what: the remembered original where it is sparser than the
        present one."""
        if self.origin is None or self.origin[1].axis != turn.axis:
            return self, turn
        root, before = self.origin
        if root[(turn.axis + 1) % 3] is not ZERO and root[(turn.axis + 2) % 3] is not ZERO:
            return self, turn
        return root, Turn(turn.axis, before.angle + turn.angle)


def add_axial(v: Vector, more: Vector) -> Vector:
    """v + more. If `more` is along z, the record of rotations about z in `v.origin` stays valid and
    is kept."""
    along_z = more.x is ZERO and more.y is ZERO
    keeps = along_z and v.origin is not None and v.origin[1].axis == 2
    z = v.z + more.z if along_z else ZERO
    return Vector(v.x, v.y, z, origin=v.origin if keeps else None) if along_z else v + more


ZERO_VECTOR = Vector(ZERO, ZERO, ZERO)
UNIT_Z = Vector(ZERO, ZERO, 1.0)


def scale_constant(k: Scalar, x: Scalar) -> Scalar:
    """k x for a constant k. Factors 0, 1 and -1 cost nothing and change no bit of any scalar."""
    return ZERO if k is ZERO else x if k == 1 else -x if k == -1 else k * x


def axis_vector(axis: int, length: Scalar) -> Vector:
    """The vector of `length` along a coordinate axis."""
    x, y, z = (length, ZERO, ZERO) if axis == 0 else (ZERO, length, ZERO)
    return Vector(x, y, z) if axis < 2 else Vector(ZERO, ZERO, length)


@dataclass(frozen=True, slots=True)
class Twist:
    """The spatial velocity of a rigid body (or an acceleration likewise) at a frame, in its axes:
    angular velocity `w` (rad/s) and velocity `v` of the origin (m/s), w × r + v at r."""

    w: Vector = ZERO_VECTOR
    v: Vector = ZERO_VECTOR

    def __add__(self, other: "Twist") -> "Twist":
        return Twist(add_axial(self.w, other.w), add_axial(self.v, other.v))

    def scaled(self, rate: Scalar) -> "Twist":
        return Twist(self.w.scaled(rate), self.v.scaled(rate))

    def at_rate(self, rate: Scalar) -> "Twist":
        """A unit twist, whose numbers are constants, at a rate."""
        w, v = (Vector(*(scale_constant(x, rate) for x in part)) for part in (self.w, self.v))
        return Twist(w, v)

    def cross(self, other: "Twist") -> "Twist":
        """The rate of a twist that is fixed to a body with this twist, v × m (F08, eq. 2.29)."""
        w, v = self.w, self.v
        return Twist(w.cross(other.w), w.cross(other.v) + v.cross(other.w))

    def cross_force(self, force: "Force") -> "Force":
        """The rate of a force that is fixed to a body with this twist, v ×* f (F08, eq. 2.30)."""
        w, v = self.w, self.v
        return Force(w.cross(force.linear), w.cross(force.angular) + v.cross(force.linear))

    def power(self, force: "Force") -> Scalar:
        """The power of a force at this twist."""
        return self.w.dot(force.angular) + self.v.dot(force.linear)

    def at(self, r: Vector) -> Vector:
        """The velocity of the point `r`."""
        return self.v + self.w.cross(r)

    def to_child(self, steps: "Iterable[Step]") -> "Twist":
        """The twist at the frame to which `steps` lead, in its axes."""
        w, v = self.w, self.v
        for step in steps:
            if isinstance(step, Turn):
                w, v = w.expressed_after(step), v.expressed_after(step)
            else:
                v = v - step.cross(w)
        return Twist(w, v)

    def named(self, label: str) -> "Twist":
        """This twist, its vectors named for generated code."""
        self.w.named(f"w{label}")
        self.v.named(f"v{label}")
        return self


ZERO_TWIST = Twist()


@dataclass(frozen=True, slots=True)
class Force:
    """A spatial force at a frame's origin: force (N) and moment (N m), or momentum likewise."""

    linear: Vector
    angular: Vector

    def __add__(self, other: "Force") -> "Force":
        return Force(self.linear + other.linear, self.angular + other.angular)

    @property
    def is_zero(self) -> bool:
        """True if the force is zero in every state."""
        return all(x is ZERO for x in (*self.linear, *self.angular))

    def scaled(self, k: Scalar) -> "Force":
        return Force(self.linear.scaled(k), self.angular.scaled(k))

    def to_parent(self, step: Step) -> "Force":
        """The force at the frame from which `step` leads to the present frame."""
        if isinstance(step, Shift):
            return Force(self.linear, self.angular + step.cross(self.linear))
        back = -step
        return Force(self.linear.expressed_after(back), self.angular.expressed_after(back))

    def __neg__(self) -> "Force":
        return Force(-self.linear, -self.angular)

    def placed(self, pose: Pose) -> "Force":
        """The force at the frame in which its present frame has `pose`."""
        rows = [Vector(*(structural(x) for x in row)) for row in pose.rotation]
        linear, angular = (
            Vector(*(row.dot(v) for row in rows)) for v in (self.linear, self.angular)
        )
        arm = Vector(*(structural(x) for x in pose.position))
        return Force(linear, angular + arm.cross(linear))

    def named(self, label: str) -> "Force":
        """This force, its vectors named for generated code."""
        self.linear.named(f"f{label}")
        self.angular.named(f"n{label}")
        return self


ZERO_FORCE = Force(ZERO_VECTOR, ZERO_VECTOR)


def multiple(factor: Scalar, x: Scalar) -> Scalar:
    """x times a factor, which is a constant or an entry of G at a state."""
    return scale_constant(factor, x) if isinstance(factor, (int, float)) else factor * x
