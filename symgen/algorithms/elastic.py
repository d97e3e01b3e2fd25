"""Robots with elastic joints: their dynamics, its derivatives and steps, feedforward and control.

A spring with the stiffness K and the damping D connects motor and link. With its deflection δ = θ -
q it transmits τ = K δ + D δ̇ to the link, and the motor with the inertia B moves by its own
equation B θ̈ = τ_m - τ (Spong, Modeling and control of elastic joint robots, J. Dyn. Sys. Meas.
Control 1987). The state is (q, q̇, δ, δ̇), so positions of links may contain quaternions. Friction
is that between spring and link.

Without damping, positions and four derivatives of a motion determine the motor torques (De Luca &
Book, Robots with flexible elements, Springer Handbook of Robotics, eq. 11.36). So control can
linearise by feedback: with the springs' torques K δ and rates K δ̇ measured, the model gives
accelerations and jerks of the links, and the motor torque appears in their next derivative,
M q⁗ + ... = K δ̈ with B (q̈ + δ̈) = τ_m - K δ (Spong 1987, section 4). With damping it appears in
the jerk already."""

from collections.abc import Callable, Sequence
from functools import partial

from symgen.algorithms.composite import coupled_mass_matrix, factorize
from symgen.algorithms.controllers import (
    COMMAND,
    ControllerType,
    controller,
    difference_of,
    saturated,
    scaled_by,
    state_of_bodies,
    sum_of,
)
from symgen.algorithms.derivatives import (
    MATRIX,
    Derivatives,
    ForwardDerivatives,
    forward_derivatives,
)
from symgen.algorithms.forward_dynamics import (
    forward_dynamics,
    forward_dynamics_articulated,
    uncoupled,
)
from symgen.algorithms.gradients import gradients, gradients_by_duals
from symgen.algorithms.manifold import moved
from symgen.algorithms.motion import wrenches_in_link_axes
from symgen.algorithms.newton_euler import bias, inverse_dynamics
from symgen.algorithms.registry import JOINTS, Array, quantity
from symgen.algorithms.requirements import requirement
from symgen.algorithms.steps import (
    STAGES,
    Accelerations,
    TwoVectors,
    accelerations_of_user,
    axpy,
    rk4_sum,
    tangent_rate,
)
from symgen.algorithms.term_derivatives import rate, second_rate
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

SPONG = "Spong, J. Dyn. Sys. Meas. Control 1987"
SPRINGS = ("joint_stiffness", "spring_damping")
STATE = ("q", "qd", "delta", "deltad")
_elastic = partial(
    quantity, coordinates=JOINTS, needs_inverse=True, depends_on_external_forces=True, supports=()
)
FourBlocks = tuple[list[Scalar], list[Scalar], list[Scalar], list[Scalar]]


def joint_torques(
    springs: Sequence[Coordinates], delta: Coordinates, deltad: Coordinates
) -> list[Scalar]:
    """K δ + D δ̇."""
    return [k * x + d * v for k, d, x, v in zip(*springs, delta, deltad, strict=True)]


# -- dynamics --------------------------------------------------------------------------------------

_elastic_accelerations = partial(
    _elastic,
    "elastic_forward_dynamics",
    "qdd = M^-1 (K delta + D deltad - bias), thetadd = (tau_m - K delta - D deltad) / B",
    inputs=(*STATE, *SPRINGS, "motor_inertia", "tau_m"),
    method="elastic",
    outputs=(
        Array("qdd_elastic", "accelerations of the links", "rad/s^2 | m/s^2"),
        Array("thetadd", "accelerations of the motors at the joints", "rad/s^2 | m/s^2"),
    ),
)


def _accelerations(
    formulation: Accelerations, system: CanonicalModel, *inputs: Coordinates
) -> TwoVectors:
    """q̈ and θ̈, shape n each, from (q, q̇, δ, δ̇), K, D, B and the motor torques τ_m."""
    q, qd, delta, deltad, *springs, inertia, motor = inputs
    force = joint_torques(springs, delta, deltad)
    links = accelerations_of_user(formulation, system, q, qd, force)
    return links, [(t - f) / b for t, f, b in zip(motor, force, inertia, strict=True)]


_elastic_accelerations(source=f"{SPONG}; by factors of M", closed_loops=True)(
    partial(_accelerations, forward_dynamics)
)
_elastic_accelerations(
    source=f"{SPONG}; by articulated bodies", applicable=uncoupled, variant="_articulated"
)(partial(_accelerations, forward_dynamics_articulated))


_elastic_derivatives = partial(
    _elastic,
    "elastic_forward_dynamics_derivatives",
    "dqdd/dq, dqdd/dqd, M^-1 K, M^-1 D",
    inputs=(*STATE, *SPRINGS),
    method="elastic",
    outputs=(
        Array("dqdd_dq_elastic", "derivative of link accelerations in q", "1/s^2", MATRIX),
        Array("dqdd_dqd_elastic", "derivative of link accelerations in qd", "1/s", MATRIX),
        Array("dqdd_ddelta", "derivative of link accelerations in delta", "1/s^2", MATRIX),
        Array("dqdd_ddeltad", "derivative of link accelerations in deltad", "1/s", MATRIX),
    ),
)


def _derivatives(
    formulation: Derivatives, system: CanonicalModel, *inputs: Coordinates
) -> FourBlocks:
    """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂δ = M⁻¹ K and ∂q̈/∂δ̇ = M⁻¹ D, n x n each, row-major. The derivatives
    of θ̈ are diagonal: -K/B in δ, -D/B in δ̇ and 1/B in τ_m."""
    q, qd, delta, deltad, *springs = inputs
    slopes = forward_derivatives(
        system,
        system.coupling.body_positions(q),
        system.coupling.body_rates(qd),
        joint_torques(springs, delta, deltad),
        formulation,
    )
    return with_springs(slopes, springs)


def with_springs(slopes: ForwardDerivatives, springs: Sequence[Coordinates]) -> FourBlocks:
    """The four matrices from the derivatives of forward dynamics, with K and D."""
    n = len(slopes.qdd)
    by_delta, by_deltad = ([x * k[i % n] for i, x in enumerate(slopes.inverse)] for k in springs)
    return slopes.dq, slopes.dqd, by_delta, by_deltad


_elastic_derivatives(source=SPONG, applicable=wrenches_in_link_axes)(
    partial(_derivatives, gradients)
)
_elastic_derivatives(
    source=f"{SPONG}; dual numbers", regroupings=("minimal",), variant="_by_duals"
)(partial(_derivatives, gradients_by_duals))


# -- steps -----------------------------------------------------------------------------------------


def _step(
    method: str,
) -> Callable[..., Callable[[Callable[..., FourBlocks]], Callable[..., FourBlocks]]]:
    return partial(
        _elastic,
        f"elastic_step:{method}",
        f"(q, qd, delta, deltad) after a step h of {method}",
        method="elastic",
        inputs=(*STATE, *SPRINGS, "motor_inertia", "tau_m", "h"),
        outputs=(
            Array(f"q_elastic_{method}", "positions after the step", "rad | m", ("nq",)),
            Array(f"qd_elastic_{method}", "velocities after the step", "rad/s | m/s"),
            Array(f"delta_{method}", "deflections after the step", "rad | m"),
            Array(f"deltad_{method}", "rates of the deflections after the step", "rad/s | m/s"),
        ),
    )


def _euler(formulation: Accelerations, system: CanonicalModel, *inputs: Coordinates) -> FourBlocks:
    """(q⁺, q̇⁺, δ⁺, δ̇⁺) after a semi-implicit step of Euler: velocities first, then positions and
    deflections with the new velocities."""
    q, qd, delta, deltad, *constants, (h,) = inputs
    links, motors = _accelerations(formulation, system, q, qd, delta, deltad, *constants)
    qd_next = axpy(qd, h, links)
    rates = axpy(deltad, h, [a - b for a, b in zip(motors, links, strict=True)])
    return (
        moved(system.coupling, q, [h * v for v in qd_next]),
        qd_next,
        axpy(delta, h, rates),
        rates,
    )


def _rk4(formulation: Accelerations, system: CanonicalModel, *inputs: Coordinates) -> FourBlocks:
    """(q⁺, q̇⁺, δ⁺, δ̇⁺) after a step of Runge and Kutta's method of fourth order, torques held."""
    q, qd, delta, deltad, *constants, (h,) = inputs

    def slope(u: Coordinates, *at: list[Scalar]) -> tuple[list[Scalar], ...]:
        """The rates of u, q̇, δ and δ̇ at q ⊕ u."""
        q_stage = moved(system.coupling, q, u) if u else q
        links, motors = _accelerations(formulation, system, q_stage, *at, *constants)
        change = [a - b for a, b in zip(motors, links, strict=True)]
        return tangent_rate(system, u, at[0]) if u else at[0], links, at[2], change

    stage = slope([], [*qd], [*delta], [*deltad])
    slopes = [stage]
    for share, _ in STAGES:
        pairs = zip((qd, delta, deltad), stage[1:], strict=True)
        stage = slope([share * h * x for x in stage[0]], *(axpy(x, share * h, v) for x, v in pairs))
        slopes.append(stage)
    u, *rates = (rk4_sum(x) for x in zip(*slopes, strict=True))
    ends = [axpy(x, h / 6.0, v) for x, v in zip((qd, delta, deltad), rates, strict=True)]
    return moved(system.coupling, q, [(h / 6.0) * x for x in u]), ends[0], ends[1], ends[2]


for _method, _integrator, _source in (
    ("euler", _euler, f"semi-implicit Euler; {SPONG}; by "),
    ("rk4", _rk4, f"Munthe-Kaas 1999; {SPONG}; by "),
):
    _row = _step(_method)
    _row(source=_source + "factors of M", closed_loops=True)(partial(_integrator, forward_dynamics))
    _row(source=_source + "articulated bodies", applicable=uncoupled, variant="_articulated")(
        partial(_integrator, forward_dynamics_articulated)
    )


# -- feedforward -----------------------------------------------------------------------------------


@quantity(
    "elastic_feedforward",
    "tau + B (qdd + d2tau/dt2 / K), tau / K",
    inputs=("q", "qd", "qdd", "qddd", "qdddd", "joint_stiffness", "motor_inertia"),
    coordinates=JOINTS,
    depends_on_external_forces=True,
    supports=(),
    source="Spong 1987; De Luca & Book, Springer Handbook of Robotics, eq. 11.36",
    outputs=(
        Array("tau_motor", "motor torques, at the joints", "N m | N"),
        Array("deflection", "deflection of the springs, motor positions minus q", "rad | m"),
        Array("deflection_dot", "rate of the deflection", "rad/s | m/s"),
    ),
)
def elastic_feedforward(
    system: CanonicalModel, *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Motor torques of a motion given by q to q⁗, the deflections θ - q of the joints and their
    rates, each of shape n; friction is that between spring and link."""
    flow, coupling = inputs[: len(inputs) - 2], system.coupling
    at = [coupling.body_positions(flow[0]), *(coupling.body_rates(x) for x in flow[1:])]
    tau = coupling.forces(inverse_dynamics(system, *at[:3]))
    first = coupling.forces(rate(inverse_dynamics, system, *at[:4]))
    second = coupling.forces(second_rate(inverse_dynamics, system, *at))
    return feedforward_from_torques((tau, first, second), *inputs)


def feedforward_from_torques(
    torques: Sequence[list[Scalar]], *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """The same from the joint forces of the user and their first two rates."""
    (tau, first, second), (*flow, stiffness, inertia) = torques, inputs
    compliance = [1.0 / k for k in stiffness]
    motor = [
        t + b * (a + x * s)
        for t, b, a, x, s in zip(tau, inertia, flow[2], second, compliance, strict=True)
    ]
    return (
        motor,
        [t * s for t, s in zip(tau, compliance, strict=True)],
        [t * s for t, s in zip(first, compliance, strict=True)],
    )


# -- control ---------------------------------------------------------------------------------------


REFERENCE = ("q_ref", "qd_ref", "qdd_ref", "qddd_ref", "qdddd_ref")


@requirement("only robots without ball and floating joints")
def without_quaternions(system: CanonicalModel) -> bool:
    """Whether all positions are coordinates, whose errors have rates that are differences."""
    return not system.coupling.quaternions


@controller(
    ControllerType(
        "elastic_feedback_linearization",
        "feedback linearisation: links behind elastic joints follow a reference motion",
        step=("q", "qd", "delta", "deltad", *REFERENCE),
        gains={
            "k_p": (1e4,),
            "k_d": (4e3,),
            "k_a": (600.0,),
            "k_j": (40.0,),
            "limit": (500.0,),
            "joint_stiffness": (400.0,),
            "motor_inertia": (0.5,),
        },
        by_inertia=("joint_stiffness", "motor_inertia"),
        forces="u_elastic",
        units={"k_p": "1/s^4", "k_d": "1/s^3"},
    ),
    "u_elastic = K delta + B (qdd + d2tau/dt2 / K) with q'''' = qdddd_ref + k_j e''' + k_a e'' + "
    "k_d e' + k_p e within limit",
)(
    depends_on_external_forces=True,
    supports=(),
    needs_inverse=True,
    method="elastic_control",
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
    change = coupling.forces(rate(inverse_dynamics, system, *flow, zeros))
    qddd = solver.solve(difference_of(scaled_by(stiffness, deltad), change))
    errors = map(difference_of, reference, (q, qd, qdd, qddd))
    snap = sum_of(reference[4], *map(scaled_by, (k_p, k_d, k_a, k_j), errors))
    flow += map(coupling.body_rates, (qddd, snap))
    second = coupling.forces(second_rate(inverse_dynamics, system, *flow))
    motor = [a + t / k for a, t, k in zip(qdd, second, stiffness, strict=True)]
    return saturated(sum_of(spring, scaled_by(inertia, motor)), limit)
