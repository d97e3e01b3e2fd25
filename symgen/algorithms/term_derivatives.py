"""Rates and gradients of the dynamic terms, by running their algorithms on numbers that carry
derivatives.

On a tape all that runs for several directions share is computed once, and what does not depend on a
coordinate is a structural zero. Rates are for robots with elastic joints, whose controllers need
those of all terms (Garofalo, Ott, Albu-Schäffer, On the closed form computation of the dynamic
matrices and their differentiations, IROS 2013). Their eqs. 25a and 25c are the rates of M and g; C
is Christoffel's here and so is its rate, which is not their eq. 25b."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Final

from symgen.algorithms.christoffel import (
    christoffel_symbols_full_up,
    coriolis_matrix_from_symbols_up,
)
from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import coriolis_matrix, square_matrix
from symgen.algorithms.derivatives import with_friction_slopes
from symgen.algorithms.gradients import rates_by_symbols
from symgen.algorithms.newton_euler import gravity, inverse_dynamics
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.autodiff import along, jacobian, tangents, unit
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

Entries = list[Scalar]
Term = Callable[..., Entries]
"""A term from the system and q, q̇, q̈, ..., as many as it reads."""
SOURCE = "Garofalo, Ott, Albu-Schäffer, IROS 2013; forward differentiation of the algorithm"
CORIOLIS = "forward differentiation of C as in Echeandia (2020), algorithm 4"
SYMBOLS = "forward differentiation of Christoffel symbols"
MATRIX, CUBE = ("n", "n"), ("n", "n", "n")


# -- rates -----------------------------------------------------------------------------------------


def rate(term: Term, system: CanonicalModel, *flow: Coordinates) -> Entries:
    """d/dt of a term; `flow` is q, q̇, q̈, ..., one more than the term reads."""
    return tangents(term(system, *(along(x, v) for x, v in pairwise(flow))))


def second_rate(term: Term, system: CanonicalModel, *flow: Coordinates) -> Entries:
    """d²/dt² of a term; `flow` has two more than it reads."""
    moving = (along(x, v) for x, v in pairwise(flow))
    return tangents(tangents(term(system, *(along(x, v, 2) for x, v in pairwise(moving))), 2))


def mass_matrix_rate_from_coriolis(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> Entries:
    """Ṁ = C + Cᵀ, n x n: next to nothing beside C."""
    c, n = coriolis_matrix(system, q, qd), system.size
    half = {(i, j): c[i * n + j] + c[j * n + i] for i in range(n) for j in range(i + 1)}
    return [half[max(i, j), min(i, j)] for i in range(n) for j in range(n)]


FLOW: Final = ("q", "qd", "qdd", "qddd", "qdddd")
_rate_quantity = partial(quantity, source=SOURCE, method="rates")
_matrix_rate = partial(_rate_quantity, needs_gravity=False)
_force_rate = partial(_rate_quantity, depends_on_external_forces=True, supports=("load",))

_mass_matrix_rate = partial(
    _matrix_rate,
    "mass_matrix_rate",
    "dM/dt",
    inputs=FLOW[:2],
    outputs=(
        Array("M_dot", "time derivative of M, symmetric", "kg m^2/s | kg m/s | kg/s", MATRIX),
    ),
)
_mass_matrix_rate(
    source="Echeandia & Wensing, Numerical methods to compute the Coriolis matrix (2021)"
)(mass_matrix_rate_from_coriolis)
_mass_matrix_rate()(partial(rate, mass_matrix))
_matrix_rate(
    "mass_matrix_second_rate",
    "d2M/dt2",
    inputs=FLOW[:3],
    only_minimal_competitive=True,
    outputs=(
        Array(
            "M_ddot",
            "second time derivative of M, symmetric",
            "kg m^2/s^2 | kg m/s^2 | kg/s^2",
            MATRIX,
        ),
    ),
)(partial(second_rate, mass_matrix))
for _derivative, _row in (
    (
        rate,
        partial(
            _matrix_rate,
            "coriolis_matrix_rate",
            "dC/dt",
            inputs=FLOW[:3],
            outputs=(
                Array("C_dot", "time derivative of C", "kg m^2/s^2 | kg m/s^2 | kg/s^2", MATRIX),
            ),
        ),
    ),
    (
        second_rate,
        partial(
            _matrix_rate,
            "coriolis_matrix_second_rate",
            "d2C/dt2",
            inputs=FLOW[:4],
            outputs=(
                Array(
                    "C_ddot",
                    "second time derivative of C",
                    "kg m^2/s^3 | kg m/s^3 | kg/s^3",
                    MATRIX,
                ),
            ),
        ),
    ),
):
    _row(source=CORIOLIS, only_minimal_competitive=True)(partial(_derivative, coriolis_matrix))
    _row(source=SYMBOLS, only_minimal_competitive=True, variant="_from_symbols")(
        partial(_derivative, coriolis_matrix_from_symbols_up)
    )
_rate_quantity(
    "gravity_rate",
    "dg/dt",
    inputs=FLOW[:2],
    only_minimal_competitive=True,
    outputs=(Array("tau_g_dot", "rate of the joint forces against gravity", "N m/s | N/s"),),
)(partial(rate, gravity))
_rate_quantity(
    "gravity_second_rate",
    "d2g/dt2",
    inputs=FLOW[:3],
    only_minimal_competitive=True,
    outputs=(
        Array("tau_g_ddot", "second rate of the joint forces against gravity", "N m/s^2 | N/s^2"),
    ),
)(partial(second_rate, gravity))
_force_rate(
    "inverse_dynamics_rate",
    "dtau/dt",
    inputs=FLOW[:4],
    outputs=(Array("tau_dot", "rate of the joint forces", "N m/s | N/s"),),
)(partial(rate, inverse_dynamics))
_force_rate(
    "inverse_dynamics_second_rate",
    "d2tau/dt2",
    inputs=FLOW,
    outputs=(Array("tau_ddot", "second rate of the joint forces", "N m/s^2 | N/s^2"),),
)(partial(second_rate, inverse_dynamics))
"""The six numbers of external wrenches stay constant."""


# -- gradients -------------------------------------------------------------------------------------

_mass_matrix_gradient = partial(
    quantity,
    "mass_matrix_gradient",
    "dM/dq",
    inputs=("q",),
    needs_gravity=False,
    method="tensors",
    only_minimal_competitive=True,
    outputs=(Array("M_q", "dM_ij/dq_k at [i, j, k]", "kg m^2 | kg m | kg, per rad | m", CUBE),),
)
_coriolis_matrix_gradient = partial(
    quantity,
    "coriolis_matrix_gradient",
    "dC/dq, dC/dqd",
    inputs=("q", "qd"),
    needs_gravity=False,
    method="tensors",
    only_minimal_competitive=True,
    outputs=(
        Array("C_q", "dC_ij/dq_k at [i, j, k]", "units of C per rad | m", CUBE),
        Array("C_qd", "dC_ij/dqd_k at [i, j, k]", "units of C per rad/s | m/s", CUBE),
    ),
)


def position_gradient(term: Term, system: CanonicalModel, q: Coordinates) -> Entries:
    """The derivative of a term in each position, which is the last index."""
    return jacobian(partial(term, system), q)


_mass_matrix_gradient(source=SOURCE)(partial(position_gradient, mass_matrix))


@_mass_matrix_gradient(source=SYMBOLS)
def mass_matrix_gradient_from_symbols(system: CanonicalModel, q: Coordinates) -> Entries:
    """∂M_ij/∂q_k, n x n x n, as Γ_ijk + Γ_jik, because Ṁ = C + Cᵀ at every velocity."""
    n, symbols = system.size, christoffel_symbols_full_up(system, q)
    half = {
        (i, j, k): symbols[(i * n + j) * n + k] + symbols[(j * n + i) * n + k]
        for i in range(n)
        for j in range(i + 1)
        for k in range(n)
    }
    return [half[max(i, j), min(i, j), k] for i in range(n) for j in range(n) for k in range(n)]


def coriolis_gradients(
    term: Term, system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> tuple[Entries, Entries]:
    """∂C_ij/∂q_k and ∂C_ij/∂q̇_k, n x n x n each; of Christoffel's C the latter are Christoffel
    symbols of the first kind."""
    return jacobian(lambda x: term(system, x, qd), q), jacobian(lambda x: term(system, q, x), qd)


_coriolis_matrix_gradient(source=CORIOLIS)(partial(coriolis_gradients, coriolis_matrix))
_coriolis_matrix_gradient(source=SYMBOLS, variant="_from_symbols")(
    partial(coriolis_gradients, coriolis_matrix_from_symbols_up)
)


quantity(
    "gravity_gradient",
    "dg/dq",
    inputs=("q",),
    source=SOURCE,
    method="tensors",
    only_minimal_competitive=True,
    outputs=(
        Array(
            "g_q",
            "dg_i/dq_k at [i, k], symmetric except for floating joints",
            "N m | N, per rad | m",
            ("n", "n"),
        ),
    ),
)(partial(position_gradient, gravity))
"""The Hessian of the potential energy where every q̇ is the rate of a q. Of floating joints it is
the derivative of g along unit twists, which is not symmetric."""


@quantity(
    "inverse_dynamics_second_derivatives",
    "d2tau",
    inputs=("q", "qd", "qdd"),
    source=SOURCE,
    method="tensors",
    depends_on_external_forces=True,
    only_minimal_competitive=True,
    outputs=(
        Array("tau_qq", "d(dtau_dq_ij)/dq_k at [i, j, k]", "N m | N, per (rad | m)^2", CUBE),
        Array("tau_qdqd", "d2tau_i/dqd_j dqd_k at [i, j, k]", "N m | N, per (rad/s | m/s)^2", CUBE),
        Array(
            "tau_qqd",
            "d2tau_i/dq_j dqd_k at [i, j, k]",
            "N m | N, per (rad | m) (rad/s | m/s)",
            CUBE,
        ),
        Array(
            "tau_qqdd",
            "d2tau_i/dq_j dqdd_k = dM_ik/dq_j at [i, j, k]",
            "kg m^2 | kg m | kg, per rad | m",
            CUBE,
        ),
    ),
)
def inverse_dynamics_second_derivatives(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> tuple[Entries, Entries, Entries, Entries]:
    """Second derivatives of inverse dynamics; those that are not here vanish (∂²τ/∂q̇∂q̈,
    ∂²τ/∂q̈²).

    ∂²τ/∂q² at [i, j, k] is the derivative of (∂τ/∂q)_ij along coordinate k. Coordinates commute,
    so it is the same at [i, k, j], but for the six displacements of one floating joint, which are
    along exp(ξ), ξ a unit twist in the body's axes: there the two differ by the derivative of τ
    along the bracket of both twists."""
    n = system.size
    inertia = jacobian(lambda x: mass_matrix(system, x), q)
    mixed: dict[tuple[int, int], Entries] = {}
    for k in range(n):
        for j in range(k + 1):
            mixed[k, j], mixed[j, k] = _mixed_derivatives(
                system, lambda x: inverse_dynamics(system, x, qd, qdd), q, k, j
            )
    positions = [mixed[j, k][i] for i in range(n) for j in range(n) for k in range(n)]
    rates = jacobian(lambda x: _damping(system, q, x), qd)
    damping = jacobian(lambda x: _damping(system, x, qd), q)
    return positions, rates, _last_indices_swapped(damping, n), _last_indices_swapped(inertia, n)


def _last_indices_swapped(entries: Entries, n: int) -> Entries:
    """The entries of an n x n x n array, the last two indices in the other order."""
    return [entries[(i * n + k) * n + j] for i in range(n) for j in range(n) for k in range(n)]


def _damping(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> Entries:
    """∂τ/∂q̇ with that of friction, the way that is short to differentiate: with nested tangents
    instead UR5 takes 4441 operations for all second derivatives in place of 2638."""
    return square_matrix(system, with_friction_slopes(system, qd, rates_by_symbols(system, q, qd)))


def _mixed_derivatives(
    system: CanonicalModel, term: Callable[[Coordinates], Entries], at: Coordinates, j: int, k: int
) -> tuple[Entries, Entries]:
    """∂(∂(term)/∂x_j)/∂x_k and ∂(∂(term)/∂x_k)/∂x_j; they differ where the displacements of one
    floating joint do not commute."""
    if not any(a == b or a in system.ancestors(b) for a, b in ((j + 1, k + 1), (k + 1, j + 1))):
        # no body moves with both joints
        return [ZERO] * system.size, [ZERO] * system.size
    first = _nested_derivative(term, at, j, k)
    if j == k or k + 1 not in system.bodies_of_joint(j + 1):
        return first, first
    return first, _nested_derivative(term, at, k, j)


def _nested_derivative(
    term: Callable[[Coordinates], Entries], at: Coordinates, j: int, k: int
) -> Entries:
    """∂(∂(term)/∂x_j)/∂x_k: what is differentiated by first is displaced last, q exp(s e_k)
    exp(t e_j)."""
    n = len(at)
    return tangents(tangents(term(along(along(at, unit(n, k)), unit(n, j), 2)), 2))
