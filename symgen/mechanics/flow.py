"""Moments of a velocity field over a cloud of mass, scalar-generic: what composite bodies carry
besides inertia."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

from symgen.mechanics.inertia import NO_INERTIA, Inertia, Second
from symgen.mechanics.joints import JointType
from symgen.mechanics.spatial import EZ, NULL, Force, Orient, Step, Turn, Vector, along
from symgen.mechanics.system import System
from symgen.numbers.scalar import ZERO, Scalar


class Movable(Protocol):
    """What knows how to be seen from another frame: forces, inertias, flows and bundles of them."""

    def moved_in(self, step: Step) -> Self:
        """The same thing about the frame from which `step` leads to the present one."""


Thing = TypeVar("Thing", bound=Movable)


def carried(thing: Thing, steps: Sequence[Step]) -> Thing:
    """The same thing about the frame from which `steps` lead to the present one."""
    for step in reversed(steps):
        thing = thing.moved_in(step)
    return thing


def climb(
    system: System, i: int, q: Sequence[Scalar], thing: Thing
) -> Iterator[tuple[int, Thing, Thing]]:
    """What is given in the joint frame of `i`, in the body frame and in the joint frame of every
    ancestor j."""
    for j in system.ancestors(i):
        at_body = carried(thing, system.body(i).placement.approach(q[i - 1]))
        thing, i = carried(at_body, system.body(j).placement.own(q[j - 1])), j
        yield j, at_body, thing


@dataclass(frozen=True, slots=True)
class Flow:
    """Moments of a velocity field u over a cloud of mass: p = ∫ u dm and the 3x3 matrix K = ∫ u rᵀ
    dm.

    These 12 numbers are all there is in the 36 of the body-level factor B(v, I) (Echeandia 2020,
    eq. 3.1). `k[a][b]` has the component a of u and b of r; `sum` is K_xx + K_yy, which turns about
    z leave alone."""

    p: Vector
    k: tuple[Vector, Vector, Vector]
    sum: Scalar = None

    def __add__(self, other: "Flow") -> "Flow":
        (a, b, c), (x, y, z) = self.k, other.k
        return Flow(self.p + other.p, (a + x, b + y, c + z), self.planar + other.planar)

    def scaled(self, rate: Scalar) -> "Flow":
        a, b, c = (row.scaled(rate) for row in self.k)
        return Flow(self.p.scaled(rate), (a, b, c), self.planar * rate)

    @property
    def planar(self) -> Scalar:
        """K_xx + K_yy."""
        return self.k[0].x + self.k[1].y if self.sum is None else self.sum

    @property
    def spun(self) -> Force:
        """The force field z × u: its sum and its moment ∫ r × (z × u) dm."""
        return Force(EZ.cross(self.p), Vector(-self.k[0].z, -self.k[1].z, self.planar))

    @property
    def swept(self) -> Vector:
        """∫ u × (z × r) dm."""
        return Vector(-self.k[2].x, -self.k[2].y, self.planar)

    def moment_about(self, v: Vector) -> Vector:
        """∫ r × (v × u) dm = tr(K) v - K v."""
        x, y, z = self.k
        rows = (
            Vector(y.y + z.z, -x.y, -x.z),
            Vector(-y.x, x.x + z.z, -y.z),
            Vector(-z.x, -z.y, x.x + y.y),
        )
        return Vector(*(row.dot(v) for row in rows))

    def moved_in(self, step: Step) -> "Flow":
        """The same field about the frame from which `step` leads to the present one."""
        if isinstance(step, Turn):
            return Flow(
                self.p.turned(-step),
                turned_in(self.k, step),
                self.planar if step.axis == 2 else None,
            )
        arm = along(step.axis, step.length)
        a, b, c = (row + arm.scaled(u) for row, u in zip(self.k, self.p, strict=True))
        return Flow(self.p, (a, b, c), self.planar + arm.without(2).dot(self.p))

    def named(self, label: str) -> "Flow":
        self.p.named(f"p{label}")
        for row, axis in zip(self.k, "xyz", strict=True):
            row.named(f"K{label}_{axis}")
        return self


NO_FLOW = Flow(NULL, (NULL, NULL, NULL))


def turned_in(k: Sequence[Vector], turn: Turn) -> tuple[Vector, Vector, Vector]:
    """R K Rᵀ; as for the second moment, the in-plane block costs four products."""
    if turn.angle.is_zero:
        return k[0], k[1], k[2]
    if isinstance(turn, Orient):
        half = [Vector(*(row.dot(r) for r in turn.rows)) for row in k]
        a, b, d = (
            sum((h.scaled(x) for h, x in zip(half, row, strict=True)), NULL) for row in turn.rows
        )
        return a, b, d
    c, s = turn.angle.cos_sin
    n = turn.axis
    i, j = (n + 1) % 3, (n + 2) % 3
    out = [[ZERO] * 3 for _ in range(3)]
    out[i][i], out[i][j], out[j][i], out[j][j] = _block(k[i][i], k[i][j], k[j][i], k[j][j], c, s)
    out[i][n], out[j][n] = c * k[i][n] - s * k[j][n], s * k[i][n] + c * k[j][n]
    out[n][i], out[n][j] = c * k[n][i] - s * k[n][j], s * k[n][i] + c * k[n][j]
    out[n][n] = k[n][n]
    a, b, d = (Vector(*row) for row in out)
    return a, b, d


def _block(
    ii: Scalar, ij: Scalar, ji: Scalar, jj: Scalar, c: Scalar, s: Scalar
) -> tuple[Scalar, ...]:
    """The in-plane entries after a turn; whole right angles only permute and negate them."""
    if s is ZERO:
        return ii, ij, ji, jj
    if c is ZERO:
        return jj, -ji, -ij, ii
    t = c * (ii - jj) - s * (ij + ji)
    return jj + c * t, ij + s * t, ji + s * t, ii - c * t


def spin_axis(joint: JointType) -> Vector:
    """σ: the unit z axis where the joint turns its body, else nothing."""
    return along(2, joint.spin(1.0))


def slide_axis(joint: JointType) -> Vector:
    """t: the unit z axis where the joint shifts its body, else nothing."""
    return joint.thrust(NULL, ZERO, 1.0)


def joint_flow(joint: JointType, inertia: Inertia) -> Flow:
    """The moments of J: K = [σ]x S + t hᵀ."""
    s, spin = inertia.s, spin_axis(joint).z
    x, y = Vector(s.xx, s.xy, s.xz).scaled(spin), Vector(s.xy, s.yy, s.yz).scaled(spin)
    return Flow(
        joint.momentum(inertia).linear, (-y, x, inertia.h.scaled(slide_axis(joint).z)), ZERO
    )


def twist_flow(inertia: Inertia, linear: Vector, angular: Vector) -> Flow:
    """The moments of the velocities of a rigid body."""
    s, h = inertia.s, inertia.h
    columns = [
        angular.cross(Vector(s[0, k], s[1, k], s[2, k])) + linear.scaled(h[k]) for k in range(3)
    ]
    a, b, c = (Vector(*(column[k] for column in columns)) for k in range(3))
    return Flow(angular.cross(h) + linear.scaled(inertia.m), (a, b, c))


@dataclass(frozen=True, slots=True)
class Twist:
    """A motion seen from a frame: velocity (or acceleration) of the frame's origin, and angular
    velocity."""

    v: Vector
    w: Vector

    def seen_through(self, steps: Sequence[Step]) -> "Twist":
        """Seen from the frame to which `steps` lead."""
        v, w = self.v, self.w
        for step in steps:
            if isinstance(step, Turn):
                v, w = v.turned(step), w.turned(step)
            else:
                v = v + w.cross(along(step.axis, step.length))
        return Twist(v, w)


@dataclass(frozen=True, slots=True)
class Cloud:
    """A composite body: its inertia, and the field ρ' of its rates as seen from the frame at
    hand."""

    inertia: Inertia = NO_INERTIA
    rates: Flow = NO_FLOW

    def __add__(self, other: "Cloud") -> "Cloud":
        return Cloud(self.inertia + other.inertia, self.rates + other.rates)

    def moved_in(self, step: Step) -> "Cloud":
        return Cloud(self.inertia.moved_in(step), self.rates.moved_in(step))

    def moving(self, joint: JointType, rate: Scalar) -> "Cloud":
        """As seen from the parent's side of the joint."""
        return Cloud(self.inertia, self.rates + joint_flow(joint, self.inertia).scaled(rate))


def times(s: Second, v: Vector) -> Vector:
    """S v."""
    return Vector(*(s[i, 0] * v.x + s[i, 1] * v.y + s[i, 2] * v.z for i in range(3)))


def usual_times(s: Second, v: Vector) -> Vector:
    """(tr S - S) v = ∫ r × (v × r) dm: the usual inertia tensor times v."""
    return times(Second(s.yy + s.zz, -s.xy, -s.xz, s.xx + s.zz, -s.yz, s.xx + s.yy), v)
