"""The Coriolis matrix whose Ṁ - 2C is skew, with the moments of velocity fields that it is made of.

Notes for all of this file. J_i(r) is the velocity of a point r at unit rate of joint i, J_i = σ × ρ + t with
ρ = r - o_i; σ is the joint's axis where it turns and t where it slides. For a cloud of point masses
C_ij = ∫ J_iᵀ J̇_j dm (Echeandia & Wensing 2021, eq. 9), so that for an ancestor j of i

    C_ji = S_jᵀ F1,   F1 = ∫ J̇_i dm and its moment,
    C_ij = σ̇_j·n2 + σ_j·n3 + ṫ_j·f2,   (f2, n2) = ∫ J_i dm and its moment,   n3 = ∫ ρ̇ × J_i dm.

Three choices keep this small. Rates are taken against the frame at hand, ρ̇ = w × ρ + ρ', where ρ' comes from the
joints further out alone: no velocity of an origin ever appears. All is formed in the joint frame, the one
that the parent carries and from which the joint turns: what is turned there by the joint's angle is the composite
body, once, instead of every column. And of n3 no linear part exists.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.joints import JointType
from symgen.mechanics.spatial import EZ, NO_INERTIA, NULL, Force, Inertia, Second, Step, Turn, Vector, along
from symgen.mechanics.system import Placement, System
from symgen.scalar import ZERO, Scalar

Coordinates = Sequence[Scalar]
Entries = dict[tuple[int, int], Scalar]


@dataclass(frozen=True, slots=True)
class Flow:
    """Moments of a velocity field u over a cloud of mass: p = ∫ u dm and the 3x3 matrix K = ∫ u rᵀ dm.

    These 12 numbers are all there is in the 36 of the body-level factor B(v, I) (Echeandia 2020, eq. 3.1).
    `k[a][b]` has the component a of u and b of r.
    """

    p: Vector
    k: tuple[Vector, Vector, Vector]

    def __add__(self, other: "Flow") -> "Flow":
        (a, b, c), (x, y, z) = self.k, other.k
        return Flow(self.p + other.p, (a + x, b + y, c + z))

    def scaled(self, rate: Scalar) -> "Flow":
        a, b, c = self.k
        return Flow(self.p.scaled(rate), (a.scaled(rate), b.scaled(rate), c.scaled(rate)))

    @property
    def planar(self) -> Scalar:
        """K_xx + K_yy."""
        return self.k[0].x + self.k[1].y

    @property
    def spun(self) -> Force:
        """The force field z × u: its sum and its moment ∫ r × (z × u) dm."""
        return Force(EZ.cross(self.p), Vector(-self.k[0].z, -self.k[1].z, self.planar))

    @property
    def swept(self) -> Vector:
        """∫ u × (z × r) dm."""
        return Vector(-self.k[2].x, -self.k[2].y, self.planar)

    def moved_in(self, step: Step) -> "Flow":
        """The same field about the frame from which `step` leads to the present one."""
        if isinstance(step, Turn):
            return Flow(self.p.turned(-step), _turned_in(self.k, step))
        arm = along(step.axis, step.length)
        a, b, c = (row + arm.scaled(u) for row, u in zip(self.k, self.p, strict=True))
        return Flow(self.p, (a, b, c))

    def named(self, label: str) -> "Flow":
        self.p.named(f"p{label}")
        for row, axis in zip(self.k, "xyz", strict=True):
            row.named(f"K{label}_{axis}")
        return self


NO_FLOW = Flow(NULL, (NULL, NULL, NULL))


def _turned_in(k: Sequence[Vector], turn: Turn) -> tuple[Vector, Vector, Vector]:
    """R K Rᵀ; as for the second moment, the in-plane block costs four products."""
    if turn.angle.is_zero:
        return k[0], k[1], k[2]
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


def _block(ii: Scalar, ij: Scalar, ji: Scalar, jj: Scalar, c: Scalar, s: Scalar) -> tuple[Scalar, ...]:
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
    return Flow(joint.momentum(inertia).linear, (-y, x, inertia.h.scaled(slide_axis(joint).z)))


def own_steps(place: Placement, q: Scalar) -> tuple[Step, ...]:
    """From the joint frame to the body's: the part of the way that the coordinate moves, and r."""
    return place.steps(q)[len(place.landing.steps):]


def axial(v: Vector, x: Scalar) -> Vector:
    """v + x z. What a turn about z does to the rest of v is not affected, so its origin is remembered."""
    keeps = v.origin is not None and v.origin[1].axis == 2
    return Vector(v.x, v.y, v.z + x, origin=v.origin if keeps else None)


@dataclass(frozen=True, slots=True)
class Spin:
    """Angular velocity at a joint: the parent's in the axes of the joint frame, the body's in its own."""

    parent: Vector
    body: Vector


def spins(system: System, q: Coordinates, qd: Coordinates) -> dict[int, Spin]:
    """The angular velocities at every body (rad/s, or at the scale of `qd`)."""
    found = {0: Spin(NULL, NULL)}
    for i in system.outward:
        place = system.body(i).placement
        with system.section(i, "angular velocity"):
            before = found[system.body(i).parent].body.turned_all(_turns(place.landing.steps))
            w = axial(before, place.joint.spin(qd[i - 1]))
            found[i] = Spin(before, w.turned_all(_turns(own_steps(place, q[i - 1]))).named(f"w{i}"))
    return found


def _turns(steps: Iterable[Step]) -> Iterator[Turn]:
    return (step for step in steps if isinstance(step, Turn))


@dataclass(frozen=True, slots=True)
class Cloud:
    """A composite body: its inertia, and the field ρ' of its rates as seen from the frame at hand."""

    inertia: Inertia = NO_INERTIA
    rates: Flow = NO_FLOW

    def __add__(self, other: "Cloud") -> "Cloud":
        return Cloud(self.inertia + other.inertia, self.rates + other.rates)

    def carried(self, steps: Sequence[Step]) -> "Cloud":
        """The same about the frame from which constant `steps` lead to the present one."""
        inertia, rates = self.inertia, self.rates
        for step in reversed(steps):
            inertia, rates = inertia.moved_in(step), rates.moved_in(step)
        return Cloud(inertia, rates)

    def moving(self, joint: JointType, rate: Scalar) -> "Cloud":
        """As seen from the parent's side of the joint."""
        return Cloud(self.inertia, self.rates + joint_flow(joint, self.inertia).scaled(rate))


def clouds(system: System, q: Coordinates, qd: Coordinates) -> Iterator[tuple[int, Cloud, Cloud]]:
    """Every body, from the leaves to the base, with its composite body in its joint frame.

    The first is seen from the body (its children's rates alone), the second from the parent's side.
    """
    total = dict.fromkeys(range(system.dof + 1), Cloud())
    for i in system.inward:
        body = system.body(i)
        with system.section(i, "composite body"):
            whole = Cloud((total[i].inertia + body.inertia).named(f"{i}"), total[i].rates.named(f"{i}"))
            inner = whole.carried(own_steps(body.placement, q[i - 1]))
            outer = inner.moving(body.joint, qd[i - 1])
            total[body.parent] = total[body.parent] + outer.carried(body.placement.landing.steps)
        yield i, inner, outer


@dataclass(frozen=True, slots=True)
class Column:
    """What joint i does to its ancestors: momentum (f2, n2), n3 of the module's formulas, and forces like F1."""

    momentum: Force
    whirl: Vector
    forces: tuple[Force, ...]

    def carried(self, steps: Sequence[Step]) -> "Column":
        """At the frame from which `steps` lead to the present one, against the same origin still."""
        momentum, forces = self.momentum, self.forces
        for step in reversed(steps):
            momentum, forces = momentum.moved_in(step), tuple(f.moved_in(step) for f in forces)
        return Column(momentum, self.whirl.turned_all(-turn for turn in reversed([*_turns(steps)])), forces)

    def against(self, velocity: Vector) -> "Column":
        """Against an origin at which the present one has `velocity`."""
        return replace(self, whirl=self.whirl + velocity.cross(self.momentum.linear))


def column(joint: JointType, cloud: Cloud, w: Vector) -> Column:
    """The column of a joint from its composite body in the joint frame, whose own rates are against a frame at `w`.

    With σ̇ = w × σ, ρ × (w × (σ × ρ)) + ρ × (σ × ρ') sums up to S_ii σ̇ - S σ̇ + w_z z × n2 + ∫ ρ × (σ × ρ'), where
    S σ̇ serves n3 as well.
    """
    inertia, rates, turning = cloud.inertia, cloud.rates, spin_axis(joint).z
    h, s, slide = inertia.h, inertia.s, slide_axis(joint)
    tilt, drag = w.cross(spin_axis(joint)), w.cross(slide)
    momentum, stretch = joint.momentum(inertia), times(s, tilt)
    lever = (EZ.cross(momentum.angular).scaled(w.z) + rates.spun.angular).scaled(turning)
    force = (w.cross(EZ.cross(h)) + rates.spun.linear).scaled(turning) + drag.scaled(inertia.m)
    moment = tilt.scaled(s.xx + s.yy) + lever - stretch.without(2) + h.cross(drag)
    whirl = stretch + rates.swept.scaled(turning) + (w.cross(h) + rates.p).cross(slide)
    return Column(momentum, whirl, (Force(force, moment),))


def times(s: Second, v: Vector) -> Vector:
    """S v."""
    return Vector(*(s[i, 0] * v.x + s[i, 1] * v.y + s[i, 2] * v.z for i in range(3)))


def ascent(
    system: System, i: int, q: Coordinates, qd: Coordinates, moving: Mapping[int, Spin], at: Column
) -> Iterator[tuple[int, Column]]:
    """The column of joint `i`, given in its joint frame, in the body frame of every ancestor."""
    here = i
    for j in system.ancestors(i):
        landing, place, w = system.body(here).placement.landing, system.body(j).placement, moving[j].body
        at = at.carried(landing.steps).against(w.cross(landing.offset))
        yield j, at
        along_axis = w.cross(along(2, place.slide(q[j - 1]))) + slide_axis(place.joint).scaled(qd[j - 1])
        at, here = at.against(along_axis).carried(own_steps(place, q[j - 1])), j


def lean(joint: JointType, w: Vector, at: Column) -> Scalar:
    """∫ J_iᵀ J̇_j dm: an ancestor's joint j, its body turning at `w`, against the column of joint i."""
    spin, slide = spin_axis(joint), slide_axis(joint)
    turned = w.cross(spin).dot(at.momentum.angular) + at.whirl.dot(spin)
    return turned + w.cross(slide).dot(at.momentum.linear)


@quantity(
    "coriolis_matrix", "C(q, qd)", inputs=("q", "qd"), needs_gravity=False,
    outputs=(Array("C", "Coriolis matrix, dM/dt - 2 C skew", "kg m^2/s | kg m/s | kg/s", ("n", "n")),),
    source="Echeandia & Wensing, Numerical methods to compute the Coriolis matrix (2021); Echeandia (2020), algorithm 4",
)
def coriolis_matrix(system: System, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """C(q, q̇), n x n, row-major: C q̇ + g is the bias, dM/dt = C + Cᵀ, and C_ij = Σ_k Γ_ijk q̇_k."""
    moving = spins(system, q, qd)
    entries: Entries = {}
    for i, inner, outer in clouds(system, q, qd):
        with system.section(i, "column"):
            own = column(system.body(i).joint, outer, moving[i].parent)
            entries[i, i] = system.body(i).joint.project(own.forces[0])
            for j, at in ascent(system, i, q, qd, moving, own):
                joint = system.body(j).joint
                entries[j, i], entries[i, j] = joint.project(at.forces[0]), lean(joint, moving[j].body, at)
    n = range(1, system.dof + 1)
    return [entries.get((i, j), ZERO) for i in n for j in n]
