"""Rates and gradients of terms for robots with closed loops, from displacements along G (see
`closed_loops`)."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Final

from symgen.algorithms.closed_loop_terms import CORIOLIS, NEWTON_EULER
from symgen.algorithms.closed_loops import (
    FORWARD,
    Flow,
    Term,
    argument_gradient,
    change_of_argument,
    closed_loop_formulation,
    displaced_arguments,
    mass_matrix_of_user,
    rate,
    second_rate,
    term_arguments,
    torques_of_user,
    unit_changes,
)
from symgen.algorithms.energies import centroidal_momentum_matrix, com_jacobian
from symgen.algorithms.joint_wrenches import joint_wrench
from symgen.algorithms.newton_euler import gravity
from symgen.algorithms.registry import QUANTITIES
from symgen.algorithms.task_space import AXES
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.parameters import WHOLE
from symgen.numbers.dual import tangents
from symgen.numbers.scalar import Coordinates, Scalar, dot

_whole_formulation = partial(closed_loop_formulation, source=FORWARD, regroupings=(WHOLE,))


def gravity_of_user(system: CanonicalModel, x: Coordinates) -> list[Scalar]:
    """The joint forces of the user against gravity."""
    system = system.at_positions(x)
    return system.coupling.forces(gravity(system, x))


def _rows_of_user(term: Term, system: CanonicalModel, x: Coordinates) -> list[Scalar]:
    """A matrix of six or three rows in the user's coordinates."""
    system = system.at_positions(x)
    entries = term(system, x)
    return system.coupling.pull_back(entries, (len(entries) // system.size, None))


CENTRE = partial(_rows_of_user, com_jacobian)
MOMENTUM = partial(_rows_of_user, centroidal_momentum_matrix)
RATES: Final[dict[str, Term]] = {
    "mass_matrix": mass_matrix_of_user,
    "gravity": gravity_of_user,
    "inverse_dynamics": torques_of_user,
    "coriolis_matrix": CORIOLIS,
    "coriolis_matrix_newton_euler": NEWTON_EULER,
    "com_jacobian": CENTRE,
}
"""The terms that have rates or second rates, by quantity."""


def _register_rates(kind: str, algorithm: Callable[..., list[Scalar]]) -> None:
    """Registers a rate or a second rate of each term that has one."""
    for name, term in RATES.items():
        row = f"{name}_{kind}"
        if row in QUANTITIES:
            known = {f.regrouping for f in QUANTITIES[row].formulations}
            closed_loop_formulation(
                row,
                source=FORWARD,
                regroupings=sorted(known & {WHOLE}) or ("minimal",),
                method="closed_loops",
            )(partial(algorithm, term))


_register_rates("rate", rate)
_register_rates("second_rate", second_rate)


@closed_loop_formulation("mass_matrix_gradient", source=FORWARD)
def mass_matrix_gradient(system: CanonicalModel, *at: Coordinates) -> list[Scalar]:
    """∂M_ij/∂q_k at [i, j, k]."""
    return argument_gradient(mass_matrix_of_user, system, term_arguments(system, *at), 0)


@closed_loop_formulation("gravity_gradient", source=FORWARD)
def gravity_gradient(system: CanonicalModel, *at: Coordinates) -> list[Scalar]:
    """∂g_i/∂q_k at [i, k]."""
    return argument_gradient(gravity_of_user, system, term_arguments(system, *at), 0)


@closed_loop_formulation("coriolis_matrix_gradient", source=FORWARD)
def coriolis_matrix_gradient(system: CanonicalModel, *at: Coordinates) -> tuple[list[Scalar], ...]:
    """∂C_ij/∂q_k and ∂C_ij/∂q̇_k, n x n x n each."""
    return tuple(
        argument_gradient(CORIOLIS, system, term_arguments(system, *at), k) for k in (0, 1)
    )


@_whole_formulation("coriolis_matrix_newton_euler_gradient")
def coriolis_matrix_newton_euler_gradient(
    system: CanonicalModel, *at: Coordinates
) -> tuple[list[Scalar], ...]:
    """∂C_ij/∂q_k and ∂C_ij/∂q̇_k of the second factorisation, n x n x n each."""
    return tuple(
        argument_gradient(NEWTON_EULER, system, term_arguments(system, *at), k) for k in (0, 1)
    )


@closed_loop_formulation("inverse_dynamics_second_derivatives", source=FORWARD)
def inverse_dynamics_second_derivatives(
    system: CanonicalModel, *at: Coordinates
) -> tuple[list[Scalar], ...]:
    """∂(∂τ_i/∂q_j)/∂q_k, ∂²τ_i/∂q̇_j∂q̇_k, ∂²τ_i/∂q_j∂q̇_k and ∂M_ik/∂q_j at [i, j, k]."""
    flow, n = term_arguments(system, *at), system.coupling.velocities
    inertia = argument_gradient(mass_matrix_of_user, system, flow[:1], 0)
    swapped = [inertia[(i * n + k) * n + j] for i, j, k in product(range(n), repeat=3)]
    return (*(_mixed_derivative(system, flow, a, b) for a, b in ((0, 0), (1, 1), (0, 1))), swapped)


def _mixed_derivative(system: CanonicalModel, at: Flow, a: int, b: int) -> list[Scalar]:
    """∂(∂τ_i/∂x_j)/∂y_k at [i, j, k], x the argument `a` and y the argument `b`. Of what commutes
    one half is computed."""
    n, units = range(system.coupling.velocities), unit_changes(system)
    half = a == b and not (a == 0 and system.coupling.quaternions)

    def column(j: int, k: int) -> list[Scalar]:
        moved = displaced_arguments(system, at, change_of_argument(b, units[k], len(at)))
        moved = displaced_arguments(system, moved, change_of_argument(a, units[j], len(at)), 2)
        return tangents(tangents(torques_of_user(system, *moved), 2))

    columns = {(j, k): column(j, k) for j in n for k in n if k <= j or not half}
    pairs = [columns[(j, k) if (j, k) in columns else (k, j)] for j in n for k in n]
    return [pair[i] for i in n for pair in pairs]


@_whole_formulation("centroidal_momentum_rate")
def centroidal_momentum_rate(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> tuple[list[Scalar], list[Scalar]]:
    """Ȧ, 6 x n, and Ȧ q̇."""
    rates, n = rate(MOMENTUM, system, q, qd), len(qd)
    return rates, [dot(rates[k * n : k * n + n], qd) for k in range(6)]


@_whole_formulation("centroidal_momentum_gradient")
def centroidal_momentum_gradient(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """∂(A q̇)/∂q, 6 x n."""

    def momentum(system: CanonicalModel, x: Coordinates) -> list[Scalar]:
        a, n = MOMENTUM(system, x), len(qd)
        return [dot(a[k * n : k * n + n], qd) for k in range(6)]

    return argument_gradient(momentum, system, term_arguments(system, q), 0)


def _register_frame(axes: str, jacobian: Term) -> None:
    """Rates and gradient of the Jacobian of a link."""

    def of(link: str) -> Term:
        return partial(_rows_of_user, partial(jacobian, link=link))

    @_whole_formulation(f"frame_jacobian_dot_{axes}")
    def matrix_rate(system: CanonicalModel, *flow: Coordinates, link: str) -> list[Scalar]:
        """dJ/dt, 6 x n."""
        return rate(of(link), system, *flow)

    @_whole_formulation(f"frame_jacobian_ddot_{axes}")
    def matrix_second_rate(system: CanonicalModel, *flow: Coordinates, link: str) -> list[Scalar]:
        """d²J/dt², 6 x n."""
        return second_rate(of(link), system, *flow)

    @_whole_formulation(f"frame_hessian_{axes}")
    def hessian(system: CanonicalModel, q: Coordinates, *, link: str) -> list[Scalar]:
        """∂J/∂q, 6 x n x n."""
        return argument_gradient(of(link), system, term_arguments(system, q), 0)


for _axes, _row in AXES.items():
    _register_frame(_axes, _row[2])


@_whole_formulation("joint_wrench_derivatives")
def joint_wrench_derivatives(
    system: CanonicalModel, *at: Coordinates, joint: str
) -> tuple[list[Scalar], ...]:
    """∂w/∂q, ∂w/∂q̇ and ∂w/∂q̈ of the wrench in the joint's axes, each 6 x n."""

    def wrench(
        system: CanonicalModel, x: Coordinates, qd: Coordinates, qdd: Coordinates
    ) -> list[Scalar]:
        state = system.at_positions(x, qd)
        rates, accelerations = state.coupling.body_rates(qd), state.coupling.body_accelerations(qdd)
        return joint_wrench(state, x, rates, accelerations, joint=joint)

    return tuple(
        argument_gradient(wrench, system, term_arguments(system, *at), k) for k in range(len(at))
    )
