"""The Coriolis matrix whose Ṁ - 2C is skew.

Notes for this file, `christoffel` and `derivatives`. J_i(r) is the velocity of a point r at unit
rate of joint i, J_i = σ × ρ + t with ρ = r - o_i; σ is the joint's axis where it turns and t where
it slides. For a cloud of point masses C_ij = ∫ J_iᵀ J̇_j dm, so that for an ancestor j of i

    C_ji = S_jᵀ F1,   F1 = ∫ J̇_i dm and its moment,
    C_ij = σ̇_j·n2 + σ_j·n3 + (v_j × σ_j + ṫ_j)·f2,
    (f2, n2) = ∫ J_i dm and its moment,   n3 = ∫ ṙ × J_i dm.

These are the products of E20's algorithm 4, written for moments of mass. Three choices keep them
small. The rates of a composite body are taken against the frame at hand, ρ̇ = w × ρ + ρ', so that
ρ' comes from the joints further out alone and constant steps do not change it. All is formed in the
joint frame, the one that the parent carries and from which the joint turns: what is turned there by
the joint's angle is the composite body, once, and none of its columns. And n3 has no linear part to
carry."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.floating import twist_of
from symgen.mechanics.flow import (
    Cloud,
    Twist,
    carried,
    climb,
    slide_axis,
    spin_axis,
    times,
    twist_flow,
    usual_times,
)
from symgen.mechanics.inertia import Inertia
from symgen.mechanics.joints import JointType
from symgen.mechanics.spatial import EZ, NO_FORCE, NULL, Force, Step, Turn, Vector, along, axial
from symgen.mechanics.system import Placement, Position, System
from symgen.numbers.scalar import ZERO, Scalar

Coordinates = Sequence[Scalar]
Entries = dict[tuple[int, int], Scalar]


STILL = Twist(NULL, NULL)


@dataclass(frozen=True, slots=True)
class Spin:
    """Velocities at a joint: `w` and `v` of its body (angular, and of its origin) in the body's
    axes; `w_joint` and `v_joint` of its joint frame, which moves with the parent, in that frame's
    axes.

    Of a floating joint, whose frame is the body's, `carrier` is how its origin would move with the
    parent, and `relative` how the body moves against that."""

    w_joint: Vector = NULL
    v_joint: Vector = NULL
    w: Vector = NULL
    v: Vector = NULL
    carrier: Twist = STILL
    relative: Twist = STILL


def spins(system: System, q: Coordinates, qd: Coordinates) -> dict[int, Spin]:
    """The velocities at every body (rad/s and m/s, or at the scale of `qd`)."""
    found = {0: Spin()}
    for i in system.outward:
        with system.section(i, "velocity"):
            found[i] = _spin(system, i, found[system.body(i).parent], q, qd)
            found[i].w.named(f"w{i}")
    return found


def _spin(system: System, i: int, before: Spin, q: Coordinates, qd: Coordinates) -> Spin:
    if system.body(i).free:
        return _drifting(system, i, before, q[i - 1], qd)
    return _moved(system.body(i).placement, before, q[i - 1], qd[i - 1])


def _drifting(system: System, i: int, before: Spin, q: Position, qd: Coordinates) -> Spin:
    """In a floating joint, whose axes stay with the body: there its frame is the joint frame."""
    steps = system.body(i).placement.approach(q)
    if system.body(i).free == 1:
        carrier, relative = (
            Twist(before.v, before.w).seen_through(steps),
            Twist(*twist_of(qd[i - 1 : i + 5])),
        )
        whole = Twist(carrier.v + relative.v, carrier.w + relative.w)
    else:
        kept = Twist(before.v, before.w), before.carrier, before.relative
        whole, carrier, relative = (twist.seen_through(steps) for twist in kept)
    return Spin(whole.w, whole.v, whole.w, whole.v, carrier, relative)


def _moved(place: Placement, before: Spin, q: Scalar, qd: Scalar) -> Spin:
    landing, own = [*_turns(place.landing.steps)], [*_turns(place.own(q))]
    w_joint = before.w.turned_all(landing)
    v_joint = (before.v + before.w.cross(place.landing.offset)).turned_all(landing)
    w = axial(w_joint, place.joint.spin(qd)).turned_all(own)
    v = v_joint.turned_all(own) + w.cross(along(2, place.slide(q)))
    return Spin(w_joint, v_joint, w, axial(v, slide_axis(place.joint).z * qd))


def _turns(steps: Iterable[Step]) -> Iterator[Turn]:
    return (step for step in steps if isinstance(step, Turn))


def clouds(system: System, q: Coordinates, qd: Coordinates) -> Iterator[tuple[int, Cloud, Cloud]]:
    """Every body, from the leaves to the base, with its composite body in its joint frame.

    The first is seen from the body (its children's rates alone), the second from the parent's side;
    in a floating joint, whose axes stay with the body, both are the first."""
    total = dict.fromkeys(range(system.size + 1), Cloud())
    for i in system.inward:
        body = system.body(i)
        with system.section(i, "composite body"):
            whole = Cloud(
                (total[i].inertia + body.inertia).named(f"{i}"), total[i].rates.named(f"{i}")
            )
            inner = carried(whole, body.placement.own(q[i - 1]))
            outer = inner if body.free else inner.moving(body.joint, qd[i - 1])
            passed = drifted(inner, *twist_of(qd[i - 1 : i + 5])) if body.free == 1 else outer
            total[body.parent] = total[body.parent] + carried(
                passed, body.placement.approach(q[i - 1])
            )
        yield i, inner, outer


def drifted(cloud: Cloud, linear: Vector, angular: Vector) -> Cloud:
    """A floating body and all it carries, as seen from what carries it, against which it moves
    so."""
    return Cloud(cloud.inertia, cloud.rates + twist_flow(cloud.inertia, linear, angular))


@dataclass(frozen=True, slots=True)
class Column:
    """What joint i does to its ancestors: momentum (f2, n2), n3 of the module's formulas, and
    forces like F1."""

    momentum: Force
    whirl: Vector
    forces: tuple[Force, ...]

    def moved_in(self, step: Step) -> "Column":
        whirl = self.whirl.turned(-step) if isinstance(step, Turn) else self.whirl
        return Column(
            self.momentum.moved_in(step), whirl, tuple(f.moved_in(step) for f in self.forces)
        )

    def with_force(self, force: Force) -> "Column":
        """One more force to carry."""
        return Column(self.momentum, self.whirl, (*self.forces, force))


def column(joint: JointType, cloud: Cloud, x: Spin) -> Column:
    """The column of a joint from its composite body in the joint frame, as seen from the parent's
    side.

    With σ̇ = w × σ, ρ × (w × (σ × ρ)) + ρ × (σ × ρ') sums up to S_ii σ̇ - S σ̇ + w_z z × n2 + ∫ ρ ×
    (σ × ρ'), where S σ̇ serves n3 as well."""
    inertia, rates, turning = cloud.inertia, cloud.rates, spin_axis(joint).z
    w, h, s, slide = x.w_joint, inertia.h, inertia.s, slide_axis(joint)
    tilt, drag = w.cross(spin_axis(joint)), w.cross(slide)
    momentum, stretch = joint.momentum(inertia), times(s, tilt)
    lever = (EZ.cross(momentum.angular).scaled(w.z) + rates.spun.angular).scaled(turning)
    force = (w.cross(EZ.cross(h)) + rates.spun.linear).scaled(turning) + drag.scaled(inertia.m)
    moment = tilt.scaled(s.across) + lever - stretch.without(2) + h.cross(drag)
    whirl = stretch + rates.swept.scaled(turning) + (w.cross(h) + rates.p).cross(slide)
    return Column(momentum, whirl + x.v_joint.cross(momentum.linear), (Force(force, moment),))


def lean(joint: JointType, x: Spin, at: Column) -> Scalar:
    """∫ J_iᵀ J̇_j dm: the ancestor's joint j against the column of joint i."""
    spin, slide = spin_axis(joint), slide_axis(joint)
    leaning = Force(x.v.cross(spin) + x.w.cross(slide), x.w.cross(spin))
    return (
        leaning.angular.dot(at.momentum.angular)
        + leaning.linear.dot(at.momentum.linear)
        + at.whirl.dot(spin)
    )


def square(system: System, entries: Mapping[tuple[int, int], Scalar]) -> list[Scalar]:
    """The n x n matrix with these entries, row-major."""
    n = range(1, system.size + 1)
    return [entries.get((i, j), ZERO) for i in n for j in n]


C_MATRIX = Array("C", "Coriolis matrix, dM/dt - 2 C skew", "kg m^2/s | kg m/s | kg/s", ("n", "n"))


@quantity(
    "coriolis_matrix",
    "C(q, qd)",
    inputs=("q", "qd"),
    needs_gravity=False,
    outputs=(C_MATRIX,),
    source="Echeandia, Rigid-body dynamics algorithms (2020), algorithm 4; Echeandia & Wensing "
    "(2021)",
)
def coriolis_matrix(system: System, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """C(q, q̇), n x n, row-major: C q̇ + g is the bias, dM/dt = C + Cᵀ, and C_ij = Σ_k Γ_ijk
    q̇_k."""
    moving = spins(system, q, qd)
    entries: Entries = {}
    for i, _, outer in clouds(system, q, qd):
        with system.section(i, "column"):
            own = column(system.body(i).joint, outer, moving[i])
            entries[i, i] = system.body(i).joint.project(own.forces[0])
            for j, at, _ in climb(system, i, q, own):
                joint = system.body(j).joint
                entries[j, i], entries[i, j] = (
                    joint.project(at.forces[0]),
                    lean(joint, moving[j], at),
                )
    return square(system, entries)


@quantity(
    "coriolis_transpose_product",
    "C(q, qd)^T qd",
    inputs=("q", "qd"),
    needs_gravity=False,
    outputs=(Array("tau_ct", "gradient of the kinetic energy in q", "N m | N"),),
    source="Cᵀ q̇ = ∂T/∂q for the C of Christoffel symbols; De Luca & Mattone, ICRA 2005, for "
    "its use in observers",
)
def coriolis_transpose_product(system: System, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """Cᵀ q̇ = ∂T/∂q (N m or N, shape n), T the kinetic energy: what a momentum observer needs,
    without forming C.

    Moving joint i moves all bodies beyond it in the parent's velocity field, (Cᵀ q̇)_i = (v ×
    S_i)·P with P the momentum of these bodies."""
    moving = spins(system, q, qd)
    momenta = dict.fromkeys(range(system.size + 1), NO_FORCE)
    entries = [ZERO] * system.size
    for i in system.inward:
        body, x = system.body(i), moving[i]
        with system.section(i, "momentum"):
            momenta[i] = (momenta[i] + momentum_of(body.inertia, x)).named(f"{i}")
            entries[i - 1] = lean(body.joint, x, Column(momenta[i], NULL, ()))
            momenta[body.parent] = momenta[body.parent] + body.placement.carried_in(
                momenta[i], q[i - 1]
            )
    return entries


def momentum_of(inertia: Inertia, x: Spin) -> Force:
    """m v + w × h and (tr S - S) w + h × v about the body's origin."""
    w = x.w
    return Force(
        x.v.scaled(inertia.m) + w.cross(inertia.h), usual_times(inertia.s, w) + inertia.h.cross(x.v)
    )
