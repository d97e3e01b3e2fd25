"""Control of robots with elastic joints by feedback linearisation (see `controllers`, `elastic`).

Positions of the links follow motions that are four times differentiable: with the springs' torques
K δ and rates K δ̇ measured, the model gives accelerations and jerks of the links, and the motor
torque appears in their next derivative, M q⁗ + ... = K δ̈ with B (q̈ + δ̈) = τ_m - K δ (Spong,
Modeling and control of elastic joint robots, J. Dyn. Sys. Meas. Control 1987, section 4). Springs
have no damping here: with it the motor torque appears in the jerk already."""

from symgen.algorithms.composite import coupled_mass_matrix, factorize
from symgen.algorithms.controllers import (
    COMMAND,
    controller,
    difference_of,
    saturated,
    scaled_by,
    state_of_bodies,
    sum_of,
)
from symgen.algorithms.newton_euler import bias, inverse_dynamics
from symgen.algorithms.rates import rate, second_rate
from symgen.algorithms.registry import Array
from symgen.algorithms.requirements import requirement
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

REFERENCE = ("q_ref", "qd_ref", "qdd_ref", "qddd_ref", "qdddd_ref")


@requirement("only robots without ball and floating joints")
def without_quaternions(system: CanonicalModel) -> bool:
    """Whether all positions are coordinates, whose errors have rates that are differences."""
    return not system.coupling.quaternions


@controller(
    "elastic_feedback_linearization",
    "feedback linearisation: links behind elastic joints follow a reference motion",
    "u_elastic = K delta + B (qdd + d2tau/dt2 / K) with q'''' = qdddd_ref + k_j e''' + k_a e'' + "
    "k_d e' + k_p e within limit",
    step=("q", "qd", "delta", "deltad", *REFERENCE),
    gains={
        "k_p": 1e4,
        "k_d": 4e3,
        "k_a": 600.0,
        "k_j": 40.0,
        "limit": 500.0,
        "joint_stiffness": 400.0,
        "motor_inertia": 0.5,
    },
    by_inertia=("joint_stiffness", "motor_inertia"),
    forces="u_elastic",
    units={"k_p": "1/s^4", "k_d": "1/s^3"},
)(
    depends_on_external_forces=True,
    supports=(),
    needs_inverse=True,
    applicable=without_quaternions,
    inputs=(
        *("q", "qd", *REFERENCE, "k_p", "k_d", "k_a", "k_j", "limit"),
        *("joint_stiffness", "motor_inertia", "delta", "deltad"),
    ),
    source="Spong 1987, section 4; De Luca & Book, Springer Handbook of Robotics, section 11.2",
    outputs=(Array("u_elastic", *COMMAND),),
)
def elastic_feedback_linearization(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """τ_m = K δ + B (q̈ + τ̈/K) within ±limit, shape n: τ̈ is the second rate of the joint forces
    of the model along q̈ and q⃛, which follow from K δ and K δ̇, and the wanted q⁗ = q⁗_ref + k_j
    (q⃛_ref - q⃛) + k_a (q̈_ref - q̈) + k_d (q̇_ref - q̇) + k_p (q_ref - q). Friction is that at the
    measured velocity."""
    q, qd, *reference, k_p, k_d, k_a, k_j, limit, stiffness, inertia, delta, deltad = inputs
    coupling, zeros = system.coupling, [ZERO] * system.size
    _, positions, rates, *_ = state_of_bodies(system, q, qd)
    solver = factorize(system, coupled_mass_matrix(system, positions))
    spring = scaled_by(stiffness, delta)
    qdd = solver.solve(difference_of(spring, coupling.forces(bias(system, positions, rates))))
    flow = [positions, rates, coupling.body_rates(qdd)]
    change = coupling.forces(rate(inverse_dynamics, system, [*flow, zeros], 3))
    qddd = solver.solve(difference_of(scaled_by(stiffness, deltad), change))
    errors = map(difference_of, reference, (q, qd, qdd, qddd))
    snap = sum_of(reference[4], *map(scaled_by, (k_p, k_d, k_a, k_j), errors))
    flow += map(coupling.body_rates, (qddd, snap))
    second = coupling.forces(second_rate(inverse_dynamics, system, flow, 3))
    motor = [a + t / k for a, t, k in zip(qdd, second, stiffness, strict=True)]
    return saturated(sum_of(spring, scaled_by(inertia, motor)), limit)
