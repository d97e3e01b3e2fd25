"""Derivatives of the dynamics of robots with closed loops, by differentiating what the user's
coordinates give.

The positions x of the bodies' joints, G and k depend on the user's coordinates q. A small change dq
displaces x by G dq, whatever gives the positions: a closed form, Newton's method, a quaternion. So
the algorithms here run those of other files on positions with such displacements, on numbers that
carry derivatives (`symgen.numbers.autodiff`), with G and k at the displaced positions.
Second derivatives include the change of G."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from symgen.algorithms.adjoint_hessians import FourBlocks, hessian_from_factors
from symgen.algorithms.composite import MassMatrixFactors, coupled_mass_matrix, factorize
from symgen.algorithms.derivatives import ForwardDerivatives, Matrices
from symgen.algorithms.elastic import feedforward_from_torques, joint_torques, with_springs
from symgen.algorithms.forward_dynamics import accelerating_forces
from symgen.algorithms.kinematics import external_matrices
from symgen.algorithms.newton_euler import inverse_dynamics
from symgen.algorithms.registry import JOINTS, formulation_of
from symgen.algorithms.requirements import requirement
from symgen.algorithms.step_jacobians import euler_jacobians, rk4_jacobians
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.autodiff import Record, along, gradient, record_inputs, tangents, unit
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot

FORWARD = "forward differentiation along G of the closed loops"
REVERSE = "reverse differentiation along G of the closed loops"


@requirement("only robots with closed loops")
def has_closed_loops(system: CanonicalModel) -> bool:
    """Whether there are closed loops."""
    return bool(system.coupling.loops)


closed_loop_formulation = partial(
    formulation_of, applicable=has_closed_loops, coordinates=JOINTS, closed_loops=True
)

Term = Callable[..., list[Scalar]]
"""A term of the user's coordinates from the system, positions of the bodies' joints, and rates of
the user."""
Flow = Sequence[Coordinates]
"""Arguments of a term: positions of the bodies' joints, then rates of the user; or changes of these
along the user's coordinates."""


def term_arguments(
    system: CanonicalModel, q: Coordinates, *rates: Coordinates
) -> list[Coordinates]:
    """The arguments of a term at positions of the user."""
    return [system.coupling.body_positions(q), *rates]


def displaced_positions(
    system: CanonicalModel, x: Coordinates, directional_derivative: Coordinates, level: int = 1
) -> list[Any]:
    """The positions of the bodies' joints after a small change along the user's coordinates."""
    if all(d is ZERO for d in directional_derivative):
        return [*x]
    return along(x, system.coupling.at_positions(x).body_rates(directional_derivative), level)


def displaced_arguments(
    system: CanonicalModel, at: Flow, changes: Flow, level: int = 1
) -> list[list[Any]]:
    """The arguments of a term after small changes."""
    pairs = zip(at[1:], changes[1:], strict=True)
    return [
        displaced_positions(system, at[0], changes[0], level),
        *(along(v, d, level) for v, d in pairs),
    ]


def change_of_argument(
    k: int, directional_derivative: Coordinates, count: int
) -> list[Coordinates]:
    """A change of the argument `k` of so many."""
    return [
        directional_derivative if a == k else [ZERO] * len(directional_derivative)
        for a in range(count)
    ]


def unit_changes(system: CanonicalModel) -> list[list[Scalar]]:
    """The unit changes along the user's coordinates."""
    n = system.coupling.velocities
    return [unit(n, k) for k in range(n)]


def argument_gradient(term: Term, system: CanonicalModel, at: Flow, k: int) -> list[Scalar]:
    """The derivative of a term in its argument `k`, which is the last index."""
    units = unit_changes(system)
    columns = [
        tangents(term(system, *displaced_arguments(system, at, change_of_argument(k, u, len(at)))))
        for u in units
    ]
    return [column[i] for i in range(len(columns[0])) for column in columns]


def directional_derivative(term: Term, system: CanonicalModel, flow: Flow) -> list[Scalar]:
    """The derivative of a term along changes of its arguments: `flow` has these and then those."""
    count = len(flow) // 2
    at = term_arguments(system, *flow[:count])
    return tangents(term(system, *displaced_arguments(system, at, flow[count:])))


def rate(term: Term, system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """The rate of a term along a motion of the user, of which `flow` has one derivative more than
    the term."""
    return directional_derivative(term, system, (*flow[: len(flow) - 1], *flow[1:]))


def second_rate(term: Term, system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """The second rate of a term along a motion, of which `flow` has two derivatives more."""
    at, count = term_arguments(system, *flow), len(flow) - 1
    moving = displaced_arguments(system, at[:count], at[1:])
    again = displaced_arguments(system, moving[: count - 1], moving[1:], 2)
    return tangents(tangents(term(system, *again), 2))


# -- terms -----------------------------------------------------------------------------------------


def torques_of_user(
    system: CanonicalModel, x: Coordinates, qd: Coordinates, qdd: Coordinates
) -> list[Scalar]:
    """The joint forces of the user."""
    system = system.at_positions(x, qd)
    rates, accelerations = system.coupling.body_rates(qd), system.coupling.body_accelerations(qdd)
    return system.coupling.forces(inverse_dynamics(system, x, rates, accelerations))


def mass_matrix_of_user(system: CanonicalModel, x: Coordinates) -> list[Scalar]:
    """The mass matrix of the user."""
    return coupled_mass_matrix(system.at_positions(x), x)


def solved_accelerations(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> tuple[list[Any], MassMatrixFactors, list[Scalar]]:
    """The positions of the bodies' joints, the factors of the mass matrix, and the accelerations of
    the user."""
    state, x, xd = system.at_state(q, qd)
    solver = factorize(state, coupled_mass_matrix(state, x))
    return x, solver, solver.solve(accelerating_forces(state, x, xd, tau))


# -- inverse dynamics ------------------------------------------------------------------------------


@closed_loop_formulation("inverse_dynamics_derivatives", source=FORWARD)
def inverse_dynamics_derivatives(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> Matrices:
    """∂τ/∂q, ∂τ/∂q̇ and M, n x n each, and that in the thrusts, if there are any."""
    state, x, _ = system.at_state(q)
    thrusts, at = external_matrices(state, x)[1], (x, qd, qdd)
    external = ([-e for e in thrusts],) if thrusts else ()
    return (
        *(argument_gradient(torques_of_user, system, at, k) for k in (0, 1)),
        mass_matrix_of_user(system, x),
        *external,
    )


@closed_loop_formulation("inverse_dynamics_jvp", source=FORWARD)
def inverse_dynamics_jvp(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """Change of τ along (dq, dq̇, dq̈), shape n."""
    return directional_derivative(torques_of_user, system, inputs)


def weighted_gradients(
    system: CanonicalModel, at: Flow, lam: Coordinates, moved: tuple[int, Coordinates] | None = None
) -> list[list[Scalar]]:
    """The gradients of λᵀ τ in the user's q, q̇ and q̈, or of its slope along a direction of the
    argument `moved[0]`."""
    record, size = Record(), system.size
    (x, dx), (v, dv), (a, da) = (record_inputs(record, values) for values in at)
    if moved is None:
        result = dot(torques_of_user(system, x, v, a), lam)
    else:
        changes = change_of_argument(*moved, len(at))
        (result,) = tangents(
            [dot(torques_of_user(system, *displaced_arguments(system, [x, v, a], changes)), lam)]
        )
    by, n = gradient(result, [*dx, *dv, *da]), len(dv)
    forces = system.coupling.at_positions(at[0]).forces(by[:size])
    return [forces, by[size : size + n], by[size + n :]]


@closed_loop_formulation("inverse_dynamics_vjp", source=REVERSE)
def inverse_dynamics_vjp(system: CanonicalModel, *inputs: Coordinates) -> tuple[list[Scalar], ...]:
    """λᵀ ∂τ/∂q, λᵀ ∂τ/∂q̇ and λᵀ M, each of shape n."""
    *at, lam = inputs
    return tuple(weighted_gradients(system, term_arguments(system, *at), lam))


@closed_loop_formulation("inverse_dynamics_hessian", source=f"{REVERSE}, of slopes")
def inverse_dynamics_hessian(system: CanonicalModel, *inputs: Coordinates) -> FourBlocks:
    """The blocks of ∂²(λᵀ τ)/∂(q, q̇, q̈)² that do not vanish: in q twice, q and q̇, q̇ twice, q
    and q̈, each n x n with a row for the first."""
    *at, lam = inputs
    return second_derivatives(system, term_arguments(system, *at), lam)


def second_derivatives(system: CanonicalModel, at: Flow, lam: Coordinates) -> FourBlocks:
    """The same from positions of the bodies' joints."""
    units = unit_changes(system)
    by_q = [weighted_gradients(system, at, lam, (0, u)) for u in units]
    qdqd = [x for u in units for x in weighted_gradients(system, at, lam, (1, u))[1]]
    qq, qqd, qqdd = ([x for row in by_q for x in row[k]] for k in range(3))
    return qq, qqd, qdqd, qqdd


# -- forward dynamics ------------------------------------------------------------------------------


def acceleration_derivatives(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> ForwardDerivatives:
    """q̈ of the user and its derivatives."""
    x, solver, qdd = solved_accelerations(system, q, qd, tau)
    at = x, qd, qdd
    dq, dqd = (
        solver.solve_columns([-e for e in argument_gradient(torques_of_user, system, at, k)])
        for k in (0, 1)
    )
    matrices = external_matrices(system.at_positions(x), x)
    wrenches, thrusts = (solver.solve_columns(a) if a else [] for a in matrices)
    return ForwardDerivatives(qdd, dq, dqd, solver.inverse(), wrenches, thrusts)


@closed_loop_formulation("forward_dynamics_derivatives", source=FORWARD)
def forward_dynamics_derivatives(system: CanonicalModel, *at: Coordinates) -> Matrices:
    """∂q̈/∂q = -M⁻¹ ∂τ/∂q, ∂q̈/∂q̇ = -M⁻¹ ∂τ/∂q̇ and M⁻¹, n x n each, and those in external
    wrenches and thrusts, if there are any."""
    by = acceleration_derivatives(system, *at)
    return by.dq, by.dqd, by.inverse, *(x for x in (by.dwrench, by.dthrust) if x)


@closed_loop_formulation("forward_dynamics_jvp", source=FORWARD)
def forward_dynamics_jvp(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """Change of q̈ along (dq, dq̇, dτ), shape n."""
    q, qd, tau, dq, dqd, dtau = inputs
    x, solver, qdd = solved_accelerations(system, q, qd, tau)
    moved = displaced_arguments(system, (x, qd, qdd), (dq, dqd, [ZERO] * len(qdd)))
    changes = tangents(torques_of_user(system, *moved))
    return solver.solve([d - c for d, c in zip(dtau, changes, strict=True)])


@closed_loop_formulation("forward_dynamics_vjp", source=REVERSE)
def forward_dynamics_vjp(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates, lam: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """λᵀ ∂q̈/∂q, λᵀ ∂q̈/∂q̇ and μ = M⁻¹ λ, each of shape n."""
    x, solver, qdd = solved_accelerations(system, q, qd, tau)
    mu = solver.solve(lam)
    by_q, by_qd, _ = weighted_gradients(system, (x, qd, qdd), mu)
    return [-e for e in by_q], [-e for e in by_qd], mu


@closed_loop_formulation(
    "forward_dynamics_hessian", source=f"by mu = M^-1 lambda; {REVERSE}, of slopes"
)
def forward_dynamics_hessian(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates, lam: Coordinates
) -> FourBlocks:
    """The blocks of ∂²(λᵀ q̈)/∂(q, q̇, τ)² that do not vanish: in q twice, q and q̇, q̇ twice, q
    and τ, each n x n with a row for the first."""
    x, solver, qdd = solved_accelerations(system, q, qd, tau)
    at = x, qd, qdd
    by_q, by_qd = (argument_gradient(torques_of_user, system, at, k) for k in (0, 1))
    return hessian_from_factors(
        solver, second_derivatives(system, at, solver.solve(lam)), by_q, by_qd
    )


# -- steps and elastic joints ----------------------------------------------------------------------


_step_formulation = partial(closed_loop_formulation, source=FORWARD, method="closed_loop_steps")


@_step_formulation("step_jacobians:euler")
def step_jacobians_euler(system: CanonicalModel, *at: Coordinates) -> Matrices:
    """A and B of a semi-implicit step of Euler."""
    return euler_jacobians(acceleration_derivatives, system, *at)


@_step_formulation("step_jacobians:rk4")
def step_jacobians_rk4(system: CanonicalModel, *at: Coordinates) -> Matrices:
    """A and B of a step of Runge and Kutta's method of fourth order."""
    return rk4_jacobians(acceleration_derivatives, system, *at)


@_step_formulation("elastic_forward_dynamics_derivatives")
def elastic_forward_dynamics_derivatives(
    system: CanonicalModel, *inputs: Coordinates
) -> FourBlocks:
    """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂δ = M⁻¹ K and ∂q̈/∂δ̇ = M⁻¹ D, n x n each."""
    q, qd, delta, deltad, *springs = inputs
    slopes = acceleration_derivatives(system, q, qd, joint_torques(springs, delta, deltad))
    return with_springs(slopes, springs)


@_step_formulation("elastic_feedforward")
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
