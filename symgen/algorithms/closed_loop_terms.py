"""Coriolis matrices and Christoffel symbols of robots with closed loops, and rates and gradients of
terms.

The rate Ġ of G completes what the bodies of the tree have: with C of the tree, Gᵀ (C G + M Ġ) is
that of the user's coordinates, since G q̇ are velocities of the same mechanism (Featherstone 2008,
section 8.2), and Gᵀ Cᵀ ẋ + Ġᵀ p with the momentum p is Cᵀ q̇. Rates and gradients come from
displacements along G (see `closed_loops`)."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement, product
from typing import Final

from symgen.algorithms.christoffel import coriolis_matrix_from_symbols
from symgen.algorithms.closed_loops import (
    FORWARD,
    Flow,
    Term,
    argument_gradient,
    change_of_argument,
    closed_loop_formulation,
    displaced_arguments,
    displaced_positions,
    mass_matrix_of_user,
    rate,
    second_rate,
    term_arguments,
    torques_of_user,
    unit_changes,
)
from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import coriolis_transpose_product
from symgen.algorithms.coriolis_newton_euler import coriolis_matrix_newton_euler, with_skew
from symgen.algorithms.energies import centroidal_momentum_matrix, com_jacobian
from symgen.algorithms.learning import observer_step
from symgen.algorithms.motion import motions
from symgen.algorithms.newton_euler import gravity, joint_wrench
from symgen.algorithms.parameter_tensors import momentum_rate_regressor, momentum_regressor
from symgen.algorithms.registry import QUANTITIES
from symgen.algorithms.regressors import joint_entries, row_major_entries
from symgen.algorithms.task_space import AXES
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.coupling import CoordinateMap, Coupling
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.spatial import ZERO_VECTOR
from symgen.numbers.autodiff import tangent, tangents, unit
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot

EMBEDDED = "G^T (C G + M dG/dt), Featherstone (2008), section 8.2"
RATE_LEVEL: Final = 3
"""The level of the numbers with the rate of G, above those of rates and second rates of terms."""
_whole_formulation = partial(closed_loop_formulation, source=EMBEDDED, regroupings=(WHOLE,))


def rate_of_map(system: CanonicalModel, x: Coordinates, qd: Coordinates) -> Coupling:
    """The coupling at positions of the bodies' joints with Ġ in place of G."""
    moving = system.coupling.at_positions(displaced_positions(system, x, qd, RATE_LEVEL))
    terms = (
        [replace(term, factor=tangent(term.factor, RATE_LEVEL)) for term in drive.terms]
        for drive in moving.maps
    )
    return replace(moving, maps=tuple(CoordinateMap(tuple(row)) for row in terms))


# -- Coriolis matrices -----------------------------------------------------------------------------


def _embedded_coriolis(term: Term, system: CanonicalModel, *at: Coordinates) -> list[Scalar]:
    """Gᵀ (C G + M Ġ) with a Coriolis matrix of the tree; `at` are the positions of the bodies'
    joints and q̇."""
    x, qd = at
    state, n = system.at_positions(x), len(qd)
    tree = state.coupling.matrix(term(state, x, state.coupling.body_rates(qd)))
    product = rate_of_map(system, x, qd).pull_back(mass_matrix(state, x), (system.size, None))
    rate_part = state.coupling.pull_back(product, (None, n))
    return [a + b for a, b in zip(tree, rate_part, strict=True)]


CORIOLIS = partial(_embedded_coriolis, coriolis_matrix_from_symbols)
NEWTON_EULER = partial(_embedded_coriolis, coriolis_matrix_newton_euler)


@closed_loop_formulation("coriolis_matrix", source=EMBEDDED)
def coriolis_matrix(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """C = Gᵀ (C_x G + M_x Ġ), n x n, from the Christoffel symbols of the tree."""
    return CORIOLIS(system, system.coupling.body_positions(q), qd)


@closed_loop_formulation("coriolis_matrix_newton_euler", source=EMBEDDED, regroupings=(WHOLE,))
def coriolis_matrix_newton_euler_embedded(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """The same with the Coriolis matrix of Newton-Euler equations."""
    return NEWTON_EULER(system, system.coupling.body_positions(q), qd)


@closed_loop_formulation("coriolis_transpose_product", source="G^T C^T dx/dt + dG/dt^T M dx/dt")
def coriolis_transpose_product_embedded(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """Cᵀ q̇, shape n."""
    state, x, _ = system.at_state(q)
    xd, n = state.coupling.body_rates(qd), system.size
    m = mass_matrix(state, x)
    momenta = [dot(m[i * n : i * n + n], xd) for i in range(n)]
    tree = state.coupling.forces(coriolis_transpose_product(state, x, xd))
    rate_part = rate_of_map(system, x, qd).forces(momenta)
    return [a + b for a, b in zip(tree, rate_part, strict=True)]


@closed_loop_formulation("momentum_observer", source=EMBEDDED, method="closed_loop_steps")
def momentum_observer(
    system: CanonicalModel, *inputs: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """The observer with Cᵀ q̇ of the user's coordinates."""
    return observer_step(system, coriolis_transpose_product_embedded(system, *inputs[:2]), *inputs)


# -- Christoffel symbols ---------------------------------------------------------------------------


def _symbols(system: CanonicalModel, q: Coordinates) -> dict[tuple[int, int, int], Scalar]:
    """Γ_ijk, of which the C of the unit velocity k has the entries [i, j]; j <= k where all
    velocities are rates of coordinates."""
    x, n = system.coupling.body_positions(q), system.coupling.velocities
    return {
        (i, j, k): entry
        for k in range(n)
        for (i, j), entry in zip(
            product(range(n), repeat=2), CORIOLIS(system, x, unit(n, k)), strict=True
        )
        if j <= k or system.coupling.quaternions
    }


@closed_loop_formulation("christoffel_symbols_full", source=EMBEDDED)
def christoffel_symbols_full(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """Γ_ijk at [i, j, k]."""
    symbols, n = _symbols(system, q), system.coupling.velocities
    triples = product(range(n), repeat=3)
    return [symbols[(i, j, k) if (i, j, k) in symbols else (i, k, j)] for i, j, k in triples]


@closed_loop_formulation("christoffel_symbols", source=EMBEDDED)
def christoffel_symbols(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """Γ_ijk of the pairs j <= k, row by row; of velocities that are no rates of coordinates the
    mean of both orders."""
    symbols, n = _symbols(system, q), range(system.coupling.velocities)
    pairs = ((i, j, k) for i in n for j, k in combinations_with_replacement(n, 2))
    return [
        0.5 * (symbols[i, j, k] + symbols[i, k, j])
        if j != k and (i, k, j) in symbols
        else symbols[i, j, k]
        for i, j, k in pairs
    ]


# -- by parameters ---------------------------------------------------------------------------------


@_whole_formulation("momentum_rate_regressor")
def momentum_rate_regressor_embedded(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """N with N π = Cᵀ q̇ - g, n x 10 n."""
    state, x, _ = system.at_state(q)
    xd, width = state.coupling.body_rates(qd), system.parameters
    tree = state.coupling.pull_back(momentum_rate_regressor(state, x, xd), (None, width))
    momenta = momentum_regressor(state, x, xd)
    rate_part = rate_of_map(system, x, qd).pull_back(momenta, (None, width))
    return [a + b for a, b in zip(tree, rate_part, strict=True)]


@_whole_formulation("coriolis_matrix_by_parameters")
def coriolis_matrix_by_parameters(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """∂C_ij/∂π_p, n x n x 10 n: column j is the Slotine-Li regressor without gravity of q̇_r = e_j
    and q̈_r = 0."""
    system = replace(system, gravity=dict.fromkeys(system.gravity, ZERO_VECTOR))
    columns = []
    for u in unit_changes(system):
        state, x, xd = system.at_state(q, qd, u)
        reference, n = state.coupling.body_rates(u), system.size
        moving = motions(state, x, xd, state.bias_accelerations, reference)
        entries = row_major_entries(joint_entries(state, x, moving), n, system.parameters)
        columns.append(state.coupling.pull_back(entries, (None, system.parameters)))
    width = system.parameters
    return [
        e for i in range(len(qd)) for column in columns for e in column[i * width : (i + 1) * width]
    ]


@_whole_formulation("coriolis_matrix_newton_euler_by_parameters")
def coriolis_matrix_newton_euler_by_parameters(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """The same of the second factorisation."""
    state, x, _ = system.at_state(q)
    n, width = system.size, system.parameters
    zeros: list[Scalar] = [ZERO] * (n * n * width)
    skew = with_skew(zeros, state, x, state.coupling.body_rates(qd))
    added = state.coupling.pull_back(skew, (None, None, width))
    known = coriolis_matrix_by_parameters(system, q, qd)
    return [a + b for a, b in zip(known, added, strict=True)]


# -- rates and gradients ---------------------------------------------------------------------------


_gradient_formulation = partial(closed_loop_formulation, source=FORWARD, method="closed_loop_rates")
_whole_gradient = partial(_gradient_formulation, regroupings=(WHOLE,))


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


def argument_gradients(
    term: Term, system: CanonicalModel, *at: Coordinates
) -> tuple[list[Scalar], ...]:
    """The derivatives of a term in each of its arguments."""
    flow = term_arguments(system, *at)
    return tuple(argument_gradient(term, system, flow, k) for k in range(len(at)))


def position_gradient(term: Term, system: CanonicalModel, *at: Coordinates) -> list[Scalar]:
    """The derivative of a term in the positions, which is the last index."""
    return argument_gradient(term, system, term_arguments(system, *at), 0)


for _kind, _derivative in (("rate", rate), ("second_rate", second_rate)):
    for _name, _term in RATES.items():
        if (_row := QUANTITIES.get(f"{_name}_{_kind}")) is not None:
            _known = {formulation.regrouping for formulation in _row.formulations}
            closed_loop_formulation(
                _row.name,
                source=FORWARD,
                regroupings=sorted(_known & {WHOLE}) or ("minimal",),
                method="closed_loops",
            )(partial(_derivative, _term))
_gradient_formulation("mass_matrix_gradient")(partial(position_gradient, mass_matrix_of_user))
_gradient_formulation("gravity_gradient")(partial(position_gradient, gravity_of_user))
_gradient_formulation("coriolis_matrix_gradient")(partial(argument_gradients, CORIOLIS))
_whole_gradient("coriolis_matrix_newton_euler_gradient")(partial(argument_gradients, NEWTON_EULER))


@_gradient_formulation("inverse_dynamics_second_derivatives")
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


@_whole_gradient("centroidal_momentum_rate")
def centroidal_momentum_rate(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> tuple[list[Scalar], list[Scalar]]:
    """Ȧ, 6 x n, and Ȧ q̇."""
    rates, n = rate(MOMENTUM, system, q, qd), len(qd)
    return rates, [dot(rates[k * n : k * n + n], qd) for k in range(6)]


@_whole_gradient("centroidal_momentum_gradient")
def centroidal_momentum_gradient(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """∂(A q̇)/∂q, 6 x n."""

    def momentum(system: CanonicalModel, x: Coordinates) -> list[Scalar]:
        a, n = MOMENTUM(system, x), len(qd)
        return [dot(a[k * n : k * n + n], qd) for k in range(6)]

    return position_gradient(momentum, system, q)


def _of_frame(
    derivative: Callable[..., list[Scalar]],
    jacobian: Term,
    system: CanonicalModel,
    *flow: Coordinates,
    link: str,
) -> list[Scalar]:
    """A derivative of the Jacobian of a link."""
    return derivative(partial(_rows_of_user, partial(jacobian, link=link)), system, *flow)


for _axes, _frame in AXES.items():
    for _name, _derivative in (
        ("frame_jacobian_dot", rate),
        ("frame_jacobian_ddot", second_rate),
        ("frame_hessian", position_gradient),
    ):
        _whole_gradient(f"{_name}_{_axes}")(partial(_of_frame, _derivative, _frame[2]))


@_whole_gradient("joint_wrench_derivatives")
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

    return argument_gradients(wrench, system, *at)
