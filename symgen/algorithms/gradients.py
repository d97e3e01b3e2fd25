"""The derivatives of inverse dynamics, joint by joint: what the quantities of `derivatives` are
made of.

Symbols of `coriolis`: J_i the velocity field of joint i, (f2, n2) its momentum and n3 at an
ancestor j. The acceleration of a point depends on q_i through J_i alone, ∂r̈/∂q_i = J̈_i and
∂r̈/∂q̇_i = 2 J̇_i. Hence for j ⪯ i

    ∂τ_j/∂q_i = S_jᵀ F4,   F4 = ∫ J̈_i dm with its moment and, turned or moved with joint i, the
                           force on all bodies beyond it: σ × F, σ × N + t × F,
    ∂τ_i/∂q_j = σ̈_j·n2 + 2 σ̇_j·n3 + (a_j × σ_j + ẗ_j)·f2,
    ∂τ/∂q̇    = 2 C,   ∂τ/∂q̈ = M,

which are the expressions of Singh, Russell & Wensing (RA-L 2022), written for moments of mass.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgen.algorithms.christoffel import coriolis_matrix_from_symbols_up, velocity_derivatives
from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import (
    CoriolisColumn,
    Entries,
    column,
    composites,
    row_entry,
)
from symgen.algorithms.motion import JointMotion, Velocity, joint_motions, velocities
from symgen.algorithms.newton_euler import inertial_force, inverse_dynamics
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.inertia import inertia_times, second_moment_times
from symgen.mechanics.joint_type import Freedom
from symgen.mechanics.moments import MovingBody, shift_to_ancestors, shift_to_parent
from symgen.mechanics.rigid_motion import Motion
from symgen.mechanics.spatial import UNIT_Z, ZERO_FORCE, Force, Twist, Vector
from symgen.numbers.autodiff import jacobian
from symgen.numbers.scalar import Coordinates, Scalar


def force_rate(joint: Freedom, composite: MovingBody, x: Motion) -> Force:
    """F4 of the module's formulas less the load, in the joint frame; the rates of `composite` are
    doubled, and `x` is the motion of what carries the joint.

    With ρ̇ = w × ρ + ρ': 2 σ̇ × ρ̇ = 2 w (σ̇·ρ) + 2 σ̇ × ρ', and what the origin's acceleration a
    does is taken off."""
    sigma, t, inertia, rates = joint.S.w, joint.S.v, composite.inertia, composite.rates
    h, z_second = inertia.h, x @ UNIT_Z
    sigma_second, t_second, sigma_rate = (
        z_second.scaled(sigma.z),
        z_second.scaled(t.z),
        x.w.cross(sigma),
    )
    doubled_rate, origin_term = sigma_rate.scaled(2.0), sigma.cross(x.a)
    force = sigma_second.cross(h) + x.w.scaled(doubled_rate.dot(h)) + sigma_rate.cross(rates.p)
    moment = (
        inertia_times(inertia.s, sigma_second)
        + second_moment_times(inertia.s, doubled_rate).cross(x.w)
        + rates.moment_about(sigma_rate)
    )
    acceleration = t_second - origin_term
    return Force(force + acceleration.scaled(inertia.m), moment + h.cross(acceleration))


@dataclass(frozen=True, slots=True)
class SecondRate:
    """S̈ of an ancestor's joint as its column is read: ∂τ_i/∂q_j = w·n2 + v·f2 + σ̇·(2 n3)."""

    w: Vector
    v: Vector
    sigma_rate: Vector

    def entry(self, at: CoriolisColumn) -> Scalar:
        """The entry ∂τ_i/∂q_j, from the column `at` of joint j."""
        products = self.w.dot(at.momentum.angular) + self.v.dot(at.momentum.linear)
        return products + self.sigma_rate.dot(at.n3.angular)


@dataclass(frozen=True, slots=True)
class Gradients:
    """Entries of ∂τ/∂q, ∂τ/∂q̇ and M by row and column; springs are in the first, friction is not
    in the second."""

    dq: Entries
    dqd: Entries
    m: Entries


def gradients(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> Gradients:
    """The derivatives of inverse dynamics; joint by joint, what it does to its ancestors and they
    to it."""
    motion, moving = joint_motions(system, q, qd, qdd), velocities(system, q, qd)
    load, out = subtree_loads(system, q, motion), Gradients({}, {}, {})
    doubled_rates = {i: x.scaled(2.0) for i, x in moving.items()}
    second = {i: _second_rate(system, i, motion[i], moving[i]) for i in system.outward}
    for i, from_carrier, from_axes in composites(system, q, doubled_rates):
        joint, alone = system.body(i).joint, len(system.bodies_of_joint(i)) == 1
        with system.section(i, "column"):
            rate = force_rate(joint, from_carrier, motion[i].carrier)
            rotated_load = joint.S.cross_force(load[i])
            own_column = column(joint, from_axes, doubled_rates[i].joint).with_force(
                rate + rotated_load if alone else rate
            )
            propagated = own_column if alone else own_column.with_force(rotated_load)
            out.m[i, i] = joint.project(own_column.momentum)
            out.dqd[i, i], slope = (joint.project(f) for f in own_column.forces)
            out.dq[i, i] = slope + system.body(i).passive.position_slope(q[i - 1])
            for j, at, _ in shift_to_ancestors(system, i, q, propagated):
                _add_pair(out, i, j, system, doubled_rates[j].body, second[j], at)
    return Gradients(out.dq, velocity_derivatives(system, out.dqd, out.m, qd), out.m)


def subtree_loads(
    system: CanonicalModel, q: Coordinates, motion: Mapping[int, JointMotion]
) -> dict[int, Force]:
    """The force on each body and all beyond it, in its joint frame (N, N m)."""
    total = dict.fromkeys(range(system.size + 1), ZERO_FORCE)
    at_joints = {}
    for i in system.inward:
        body = system.body(i)
        with system.section(i, "forces"):
            at_body = (total[i] + inertial_force(body, motion[i].body)).named(f"{i}")
            at_joints[i] = shift_to_parent(at_body, system.to_body(i, q))
            total[body.parent] = total[body.parent] + shift_to_parent(
                at_joints[i], body.placement.to_joint_frame(q[i - 1])
            )
    return at_joints


def _second_rate(
    system: CanonicalModel, i: int, motion: JointMotion, moving: Velocity
) -> SecondRate:
    """The second rate of joint `i`'s axis. For displacements along axes in the body it is how what
    carries them moves that counts."""
    place = system.body(i).placement
    x = place.select_against_axes(parent=motion.carrier, body=motion.body)
    v = place.select_against_axes(parent=moving.carrier, body=moving.body).v
    sigma, t, z_second = place.freedom.S.w, place.freedom.S.v, x @ UNIT_Z
    sigma_rate = x.w.cross(sigma)
    moved = x.a.cross(sigma) + v.cross(sigma_rate.scaled(2.0)) + z_second.scaled(t.z)
    return SecondRate(z_second.scaled(sigma.z), moved, sigma_rate)


def _add_pair(
    out: Gradients,
    i: int,
    j: int,
    system: CanonicalModel,
    doubled_rates: Twist,
    second: SecondRate,
    at: CoriolisColumn,
) -> None:
    """The slopes of joint i with its ancestor j, and of j with i. Where axes go with the body, what
    turns the load turns the axes of all bodies that stay together too."""
    joint = system.body(j).joint
    rate, displaced, *load = at.forces
    out.m[i, j] = out.m[j, i] = joint.project(at.momentum)
    slope = displaced if j in system.bodies_of_joint(i) else sum(load, displaced)
    out.dqd[j, i], out.dq[j, i] = joint.project(rate), joint.project(slope)
    out.dqd[i, j], out.dq[i, j] = row_entry(joint, doubled_rates, at), second.entry(at)


def gradients_by_duals(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> Gradients:
    """∂τ/∂q, ∂τ/∂q̇ and M from inverse dynamics on numbers that carry tangents, 2 C from the
    Christoffel symbols, and M.

    Where many joints are parallel or axes meet (UR5), what vanishes there makes this the shorter
    way."""
    n = system.size
    dq = by_entry(jacobian(lambda x: inverse_dynamics(system, x, qd, qdd), q), n)
    return Gradients(dq, rates_by_symbols(system, q, qd), by_entry(mass_matrix(system, q), n))


def rates_by_symbols(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> Entries:
    """∂τ/∂q̇, 2 C from the Christoffel symbols; of joints whose velocity is a twist the derivative
    in its numbers."""
    twice_c = by_entry(
        coriolis_matrix_from_symbols_up(system, q, [x * 2.0 for x in qd]), system.size
    )
    m = by_entry(mass_matrix(system, q), system.size) if system.joint_bodies else {}
    return velocity_derivatives(system, twice_c, m, qd)


def by_entry(values: Sequence[Scalar], n: int) -> Entries:
    """The entries of an n x n matrix by row and column, from 1."""
    return {(k // n + 1, k % n + 1): x for k, x in enumerate(values)}
