"""Forward dynamics with geared rotors by articulated bodies, O(n).

Joint i moves body i and the rotors of its drive, which stand on the same body p, the parent of i.
With the parent's acceleration a_p (from the motion without q̈), all seen at p, and n S_r the axis
of a rotor times its gear ratio,

    τ_i = D q̈_i + Uᵀ a_p + S_iᵀ f_i + Σ n S_rᵀ f_r,   U = I_i S_i + Σ n I_r S_r,
    D = S_iᵀ I_i S_i + Σ n² S_rᵀ I_r S_r,

where I_i is the articulated inertia of body i, f_i and f_r are forces without q̈. So p carries the
whole of body i and of the rotors, less U Uᵀ / D. (The idea is that of Echeandia 2020, algorithm 6;
derived anew, because as printed eqs. 4.24 and 4.25 lack the products of one body's and the other's
terms and τ_i counts twice.)"""

from dataclasses import dataclass, field

from symgen.algorithms.forward_dynamics import (
    NO_ARTICULATED,
    ArticulatedInertia,
    JointResponse,
    accelerations,
    articulated_from_rigid,
    forces_at_rest,
)
from symgen.algorithms.newton_euler import with_solved_loads
from symgen.algorithms.requirements import requirement
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.joint_forces import JointState
from symgen.mechanics.moments import shift_to_parent
from symgen.mechanics.spatial import ZERO_FORCE, ZERO_TWIST, Force
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, named


@requirement("only robots with rotors, and no other coupled joints")
def geared(system: CanonicalModel) -> bool:
    """Whether rotors are the only bodies that follow joints."""
    followers = {i: x for i, x in enumerate(system.leaders, 1) if x != (i,)}
    return bool(followers) and all(
        r in system.rotors
        and len(system.bodies_of_joint(r)) == 1
        and len(leaders) == 1
        and system.body(r).parent in (0, system.body(leaders[0]).parent)
        for r, leaders in followers.items()
    )


@dataclass(slots=True)
class ArticulatedSums:
    """The sums that travel to the base: inertia and force at every body, and of the rotors what
    joint i feels of them."""

    inertia: dict[int, ArticulatedInertia]
    force: dict[int, Force]
    momentum_of_rotors: dict[int, Force] = field(default_factory=dict)
    """Σ n I_r S_r at the parent of i."""
    inertia_of_rotors: dict[int, Scalar] = field(default_factory=dict)
    """Σ n² S_rᵀ I_r S_r."""
    torque: dict[int, Scalar] = field(default_factory=dict)
    """Σ n S_rᵀ f_r."""


@accelerations(applicable=geared, closed_loops=True)
@with_solved_loads
def forward_dynamics(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> list[Scalar]:
    """Joint accelerations q̈ = M⁻¹ (τ - C q̇ - g), shape n, by articulated bodies with rotors, best
    for long chains."""
    joints = _inward(system, q, qd, system.coupling.body_rates(tau))
    moving = {0: ZERO_TWIST}
    qdds: list[Scalar] = [ZERO] * system.dof
    for i in (i for i in system.outward if i in joints):
        body, before = system.body(i), moving[system.body(i).parent]
        with system.section(i, "acceleration"):
            u_over_d = joints[i].u_over_d
            qdd = (
                joints[i].drive_over_d
                - u_over_d.angular.dot(before.w)
                - u_over_d.linear.dot(before.v)
            )
            qdds[system.coupling.maps[i - 1].velocity_index] = qdd
            moving[i] = before.to_child(system.steps(i, q)) + body.S.at_rate(qdd)
    return qdds


def _inward(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> dict[int, JointResponse]:
    """How each joint gives way, U/D seen at the parent's frame."""
    at = ArticulatedSums(
        dict.fromkeys(range(system.size + 1), NO_ARTICULATED), forces_at_rest(system, q, qd)
    )
    for r in system.rotors:
        _add_rotor(system, r, at)
    return {
        i: _joint_response(system, i, q, qd, tau, at)
        for i in system.inward
        if i not in system.rotors
    }


def _add_rotor(system: CanonicalModel, r: int, at: ArticulatedSums) -> None:
    """A rotor as its carrier and its joint feel it."""
    body, (i,) = system.body(r), system.leaders[r - 1]
    ratio = system.coupling.maps[r - 1].terms[0].factor
    steps, momentum = body.placement.steps(ZERO), body.joint.momentum(body.inertia)
    at.inertia_of_rotors[i] = at.inertia_of_rotors.get(
        i, ZERO
    ) + ratio * ratio * body.joint.project(momentum)
    at.torque[i] = at.torque.get(i, ZERO) + ratio * body.joint.project(at.force[r])
    if body.parent:
        at_carrier = shift_to_parent(momentum.scaled(ratio), steps)
        at.momentum_of_rotors[i] = at.momentum_of_rotors.get(i, ZERO_FORCE) + at_carrier
        at.inertia[body.parent] = at.inertia[body.parent] + shift_to_parent(
            articulated_from_rigid(body.inertia), steps
        )
        at.force[body.parent] = at.force[body.parent] + shift_to_parent(at.force[r], steps)


def _joint_response(
    system: CanonicalModel,
    i: int,
    q: Coordinates,
    qd: Coordinates,
    tau: Coordinates,
    at: ArticulatedSums,
) -> JointResponse:
    """How joint i gives way; its parent gets what is left."""
    body, joint, steps = system.body(i), system.body(i).joint, system.steps(i, q)
    with system.section(i, "articulated body"):
        articulated = at.inertia[i] + articulated_from_rigid(body.inertia)
        u_force = articulated.times(joint.S)
        inverse_d = named(
            1.0 / (joint.project(u_force) + at.inertia_of_rotors.get(i, ZERO)), f"d{i}"
        )
        bias_force = joint.project(at.force[i]) + at.torque.get(i, ZERO)
        drive = tau[i - 1] - body.passive.force(JointState(q[i - 1], qd[i - 1])) - bias_force
        u = shift_to_parent(u_force, steps) + at.momentum_of_rotors.get(i, ZERO_FORCE)
        u_over_d = u.scaled(inverse_d)
        force_on_parent = shift_to_parent(at.force[i], steps) + u_over_d.scaled(drive)
        has_rotors = i in at.inertia_of_rotors
        apparent = shift_to_parent(
            articulated
            if has_rotors
            else articulated.apparent(joint, u_force, u_force.scaled(inverse_d)),
            steps,
        )
        apparent = apparent.minus_outer_product(u, u_over_d) if has_rotors else apparent
        at.inertia[body.parent] = at.inertia[body.parent] + apparent
        at.force[body.parent] = at.force[body.parent] + force_on_parent
    return JointResponse(u_over_d, drive * inverse_d)
