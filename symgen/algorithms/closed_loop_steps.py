"""Derivatives of steps, elastic joints and the momentum observer for robots with closed loops (see
`closed_loops`)."""

from symgen.algorithms.adjoint_hessians import FourBlocks
from symgen.algorithms.closed_loop_terms import EMBEDDED, coriolis_transpose_product_embedded
from symgen.algorithms.closed_loops import (
    FORWARD,
    acceleration_derivatives,
    closed_loop_formulation,
    rate,
    second_rate,
    torques_of_user,
)
from symgen.algorithms.derivatives import Matrices
from symgen.algorithms.elastic import feedforward_from_torques, joint_torques, with_springs
from symgen.algorithms.learning import observer_step
from symgen.algorithms.step_jacobians import euler_jacobians, rk4_jacobians
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.scalar import Coordinates, Scalar


@closed_loop_formulation("step_jacobians:euler", source=FORWARD)
def step_jacobians_euler(system: CanonicalModel, *at: Coordinates) -> Matrices:
    """A and B of a semi-implicit step of Euler."""
    return euler_jacobians(acceleration_derivatives, system, *at)


@closed_loop_formulation("step_jacobians:rk4", source=FORWARD)
def step_jacobians_rk4(system: CanonicalModel, *at: Coordinates) -> Matrices:
    """A and B of a step of Runge and Kutta's method of fourth order."""
    return rk4_jacobians(acceleration_derivatives, system, *at)


@closed_loop_formulation("elastic_forward_dynamics_derivatives", source=FORWARD)
def elastic_forward_dynamics_derivatives(
    system: CanonicalModel, *inputs: Coordinates
) -> FourBlocks:
    """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂δ = M⁻¹ K and ∂q̈/∂δ̇ = M⁻¹ D, n x n each."""
    q, qd, delta, deltad, *springs = inputs
    slopes = acceleration_derivatives(system, q, qd, joint_torques(springs, delta, deltad))
    return with_springs(slopes, springs)


@closed_loop_formulation("elastic_feedforward", source=FORWARD)
def elastic_feedforward(
    system: CanonicalModel, *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Motor torques, deflections and their rates of a motion given by q to q⁗."""
    flow, x = inputs[: len(inputs) - 2], system.coupling.body_positions(inputs[0])
    forces = (
        torques_of_user(system, x, *flow[1:3]),
        rate(torques_of_user, system, *flow[:4]),
        second_rate(torques_of_user, system, *flow),
    )
    return feedforward_from_torques(forces, *inputs)


@closed_loop_formulation("momentum_observer", source=EMBEDDED)
def momentum_observer(
    system: CanonicalModel, *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """The observer with Cᵀ q̇ of the user's coordinates."""
    return observer_step(system, coriolis_transpose_product_embedded(system, *inputs[:2]), *inputs)
