"""Derivatives of steps, elastic joints and the momentum observer for robots with closed loops (see
`closed_loops`)."""

from symgen.algorithms.adjoint_hessians import Four
from symgen.algorithms.closed_loop_terms import EMBEDDED, coriolis_transpose_product_embedded
from symgen.algorithms.closed_loops import FORWARD, accelerated, on_user, rate, second_rate, torques
from symgen.algorithms.derivatives import Matrices
from symgen.algorithms.elastic import fed_forward, joint_torques, with_springs
from symgen.algorithms.observers import observed
from symgen.algorithms.step_jacobians import euler_jacobians, rk4_jacobians
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.scalar import Coordinates, Scalar


@on_user("step_jacobians:euler", source=FORWARD)
def step_jacobians_euler(system: CanonicalModel, *at: Coordinates) -> Matrices:
    """A and B of a semi-implicit step of Euler."""
    return euler_jacobians(accelerated, system, *at)


@on_user("step_jacobians:rk4", source=FORWARD)
def step_jacobians_rk4(system: CanonicalModel, *at: Coordinates) -> Matrices:
    """A and B of a step of Runge and Kutta's method of fourth order."""
    return rk4_jacobians(accelerated, system, *at)


@on_user("elastic_forward_dynamics_derivatives", source=FORWARD)
def elastic_forward_dynamics_derivatives(system: CanonicalModel, *inputs: Coordinates) -> Four:
    """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂δ = M⁻¹ K and ∂q̈/∂δ̇ = M⁻¹ D, n x n each."""
    q, qd, delta, deltad, *springs = inputs
    slopes = accelerated(system, q, qd, joint_torques(springs, delta, deltad))
    return with_springs(slopes, springs)


@on_user("elastic_feedforward", source=FORWARD)
def elastic_feedforward(
    system: CanonicalModel, *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Motor torques, deflections and their rates of a motion given by q to q⁗."""
    flow, x = inputs[: len(inputs) - 2], system.coupling.body_positions(inputs[0])
    forces = (
        torques(system, x, *flow[1:3]),
        rate(torques, system, *flow[:4]),
        second_rate(torques, system, *flow),
    )
    return fed_forward(forces, *inputs)


@on_user("momentum_observer", source=EMBEDDED)
def momentum_observer(
    system: CanonicalModel, *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """The observer with Cᵀ q̇ of the user's coordinates."""
    return observed(system, coriolis_transpose_product_embedded(system, *inputs[:2]), *inputs)
