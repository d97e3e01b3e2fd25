"""How a rigid body moves: angular velocity, its rate, and the acceleration of its origin.

An acceleration is classical, not spatial: a(r) = a + U r at the point r, with U = [wd]x + [w]x[w]x
(Khalil & Kleinfinger, ICRA 1986). With a reference velocity, wr in place of the second w, it is the
rate of the points' reference velocities along the motion (Niemeyer & Slotine, IJRR 1991)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from symgen.mechanics.inertia import SecondMoment
from symgen.mechanics.placement import Transform
from symgen.mechanics.spatial import UNIT_Z, ZERO_VECTOR, Pose, Turn, Twist, Vector, add_axial
from symgen.numbers.scalar import ZERO, Scalar, named, structural

Rows = tuple[Vector, Vector, Vector]


def rotation_rows(pose: Pose) -> Rows:
    """The rows of the rotation of a constant pose; zeros are structural."""
    a, b, c = (Vector(*(structural(x) for x in row)) for row in pose.rotation)
    return a, b, c


def rotation_columns(pose: Pose) -> Rows:
    """The columns of the rotation of a constant pose: the axes of its frame."""
    a, b, c = (Vector(*(structural(x) for x in pose.column(k))) for k in range(3))
    return a, b, c


def position_of(pose: Pose) -> Vector:
    """The position of a constant pose; zeros are structural."""
    return Vector(*(structural(x) for x in pose.position))


def matvec(rows: Rows, v: Vector) -> Vector:
    """A 3x3 matrix by its rows times a vector."""
    return Vector(*(row.dot(v) for row in rows))


def matmul(a: Rows, b: Rows) -> Rows:
    """The product of two 3x3 matrices, each by its rows."""
    columns = transpose(b)
    x, y, z = (Vector(*(row.dot(c) for c in columns)) for row in a)
    return x, y, z


def transpose(a: Rows) -> Rows:
    """The columns of a 3x3 matrix given by its rows."""
    x, y, z = (Vector(*(row[k] for row in a)) for k in range(3))
    return x, y, z


def twist_at_frame(x: Twist, pose: Pose) -> Twist:
    """The twist of a body at a frame of constant pose on it, in that frame's axes."""
    axes = rotation_columns(pose)
    return Twist(matvec(axes, x.w), matvec(axes, x.at(position_of(pose))))


@dataclass(frozen=True)
class Motion:
    """How a rigid body or a frame moves, in its own axes.

    Along a run of parallel axes, whose rates add up to `run`, wd = `base` + w × run z: what turns
    from joint to joint is then `base` alone, which mostly has zeros in the plane. `label` names the
    entries of U in generated code."""

    w: Vector = ZERO_VECTOR
    wr: Vector = ZERO_VECTOR
    a: Vector = ZERO_VECTOR
    base: Vector = ZERO_VECTOR
    run: Scalar = ZERO
    label: str = ""

    @cached_property
    def wd(self) -> Vector:
        """The rate of wr, which mostly is w."""
        return self.base + self.w.cross(UNIT_Z).scaled(self.run)

    @property
    def reference_is_velocity(self) -> bool:
        """Whether the reference velocity is the velocity itself."""
        return self.w is self.wr

    def __getitem__(self, ij: tuple[int, int]) -> Scalar:
        """An entry of U: nine of them from six products where the velocities are true ones."""
        if ij not in self._entries:
            self._entries[ij] = self._entry(*ij)
        return self._entries[ij]

    @cached_property
    def _entries(self) -> dict[tuple[int, int], Scalar]:
        return {}

    def _entry(self, i: int, j: int) -> Scalar:
        if i == j:
            entry = -(self.square(i + 1) + self.square(i + 2))
        else:
            rate = self.wd[3 - i - j]
            entry = self.product(i, j) + (rate if (j + 1) % 3 == i else -rate)
        return named(entry, f"U{self.label}_{'xyz'[i]}{'xyz'[j]}") if self.label else entry

    def product(self, i: int, j: int) -> Scalar:
        """w_i wr_j."""
        return self.w[i] * self.wr[j]

    def square(self, i: int) -> Scalar:
        """w_i wr_i, the index counted round."""
        return self.w[i % 3] * self.wr[i % 3]

    def column(self, k: int) -> Vector:
        """U e_k."""
        return Vector(*(self[i, k] for i in range(3)))

    def __matmul__(self, r: Vector) -> Vector:
        """U r."""
        used = [(k, x) for k, x in enumerate(r) if x is not ZERO]
        return Vector(*[sum([self[i, k] * x for k, x in used], ZERO) for i in range(3)])

    def at(self, r: Vector) -> Vector:
        """The acceleration of the point `r`."""
        return self.a + self @ r

    def moment(self, s: SecondMoment, constant: bool) -> Vector:
        """vee(U S - (U S)ᵀ), the moment of the inertial forces of a body with second moment S
        (design notes 4)."""
        return Vector(
            *(
                self[k, i] * s[i, j]
                - self[j, i] * s[i, k]
                + self._diagonal(s, i, constant)
                + (self.square(k) - self.square(j)) * s[j, k]
                for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
            )
        )

    def _diagonal(self, s: SecondMoment, i: int, constant: bool) -> Scalar:
        """U_kj S_jj - U_jk S_kk; with constant S its sum and difference save the two entries of
        U, whose products are symmetric where the velocities are true ones."""
        j, k = (i + 1) % 3, (i + 2) % 3
        sj, sk = s[j, j], s[k, k]
        if constant and self.reference_is_velocity and sj is not ZERO and sk is not ZERO:
            return self.product(j, k) * (sj - sk) + self.wd[i] * (sj + sk)
        return self[k, j] * sj - self[j, k] * sk

    def fixed_to(self, transforms: Iterable[Transform], label: str = "") -> "Motion":
        """The motion of a frame fixed to this one, to which `transforms` lead; in generated code
        its origin's acceleration in the axes on the way is called by the label."""
        x = self
        for transform in transforms:
            a = x.at(transform.offset)
            x = x.turned(a.named(f"a{label}") if label else a, transform.turns)
        return x

    def turned(self, a: Vector, turns: Sequence[Turn]) -> "Motion":
        """Seen in other axes, with acceleration `a` of the origin in the present ones.

        Only turns about z keep wd in two parts, and only where that is less to turn."""
        parts = all(turn.axis == 2 for turn in turns) and self.base.rotates_cheaply
        base, run = (self.base, self.run) if parts else (self.wd, ZERO)
        w = self.w.expressed_after_all(turns)
        wr = w if self.reference_is_velocity else self.wr.expressed_after_all(turns)
        return Motion(
            w, wr, a.expressed_after_all(turns), base.expressed_after_all(turns), run, self.label
        )

    def moving(
        self, rate: Twist, reference: Twist, change: Twist, shift: Vector, label: str
    ) -> "Motion":
        """The motion of a body that moves against this frame, whose frame is only a `shift` along
        its axis away: at a velocity, a reference velocity and the latter's rate, all in its own
        axes. (F08, table 5.1, with classical accelerations)"""
        reference_is_rate = self.reference_is_velocity and rate is reference
        w = add_axial(self.w, rate.w)
        wr = w if reference_is_rate else add_axial(self.wr, reference.w)
        if reference.w.x is ZERO and reference.w.y is ZERO:
            base, run = add_axial(self.base, change.w), self.run + reference.w.z
        else:
            turning = (self.w if reference_is_rate else w).cross(reference.w)
            base, run = self.wd + change.w + turning, ZERO
        x = Motion(w, wr, self.a, base, run, label)
        a = x.at(shift) + change.v + self._drag(x, rate.v, reference.v, reference_is_rate)
        moved = Motion(w, wr, a, base, run, label)
        moved.__dict__["wd"] = x.wd  # it was computed
        return moved

    def _drag(
        self, body: "Motion", rate: Vector, reference: Vector, reference_is_rate: bool
    ) -> Vector:
        """The acceleration that velocities against a turning frame add at the body's origin."""
        if not reference_is_rate:
            return body.w.cross(reference) + self.wr.cross(rate)
        if rate.x is ZERO and rate.y is ZERO:
            half = body.w.cross(rate)
            return half + half
        return (self.w + body.w).cross(rate)

    def seen_in(self, pose: Pose) -> "Motion":
        """The motion of a frame of constant pose."""
        axes = rotation_columns(pose)
        w = matvec(axes, self.w)
        wr = w if self.reference_is_velocity else matvec(axes, self.wr)
        a, wd = matvec(axes, self.at(position_of(pose))), matvec(axes, self.wd)
        return Motion(w, wr, a, wd, label=f"{self.label}l")

    def named(self, label: str) -> "Motion":
        """This motion, its vectors named for generated code."""
        self.w.named(f"w{label}")
        if not self.reference_is_velocity:
            self.wr.named(f"wr{label}")
        self.wd.named(f"wd{label}")
        self.a.named(f"a{label}")
        return self
