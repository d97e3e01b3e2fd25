"""Derivatives of the dynamic terms with respect to joint positions and velocities, one direction at
a time.

Each algorithm is run once for every coordinate on numbers that carry a unit tangent; on a tape all
that the runs share is computed once, and what does not depend on the coordinate is a structural
zero."""

from collections.abc import Callable
from functools import partial

from symgen.algorithms.christoffel import (
    christoffel_symbols_full_up,
    coriolis_matrix_from_symbols_up,
)
from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import coriolis_matrix, square_matrix
from symgen.algorithms.derivatives import with_friction_slopes
from symgen.algorithms.gradients import rates_by_symbols
from symgen.algorithms.newton_euler import gravity, inverse_dynamics
from symgen.algorithms.rates import CORIOLIS, SOURCE, SYMBOLS
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.dual import along, tangents, unit
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

Entries = list[Scalar]
CUBE = ("n", "n", "n")


def gradient(term: Callable[[Coordinates], Entries], at: Coordinates, level: int = 1) -> Entries:
    """∂(term)/∂x_k for each x_k of `at`, which is the last index."""
    n = len(at)
    columns = [tangents(term(along(at, unit(n, k), level)), level) for k in range(n)]
    return [column[i] for i in range(len(columns[0])) for column in columns]


_mass_matrix_gradient = partial(
    quantity,
    "mass_matrix_gradient",
    "dM/dq",
    inputs=("q",),
    needs_gravity=False,
    only_minimal_competitive=True,
    outputs=(Array("M_q", "dM_ij/dq_k at [i, j, k]", "kg m^2 | kg m | kg, per rad | m", CUBE),),
)
_coriolis_matrix_gradient = partial(
    quantity,
    "coriolis_matrix_gradient",
    "dC/dq, dC/dqd",
    inputs=("q", "qd"),
    needs_gravity=False,
    only_minimal_competitive=True,
    outputs=(
        Array("C_q", "dC_ij/dq_k at [i, j, k]", "units of C per rad | m", CUBE),
        Array("C_qd", "dC_ij/dqd_k at [i, j, k]", "units of C per rad/s | m/s", CUBE),
    ),
)


@_mass_matrix_gradient(source=SOURCE)
def mass_matrix_gradient(system: CanonicalModel, q: Coordinates) -> Entries:
    """∂M_ij/∂q_k, n x n x n."""
    return gradient(lambda x: mass_matrix(system, x), q)


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


@_coriolis_matrix_gradient(source=CORIOLIS)
def coriolis_matrix_gradient(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> tuple[Entries, Entries]:
    """∂C_ij/∂q_k and ∂C_ij/∂q̇_k, n x n x n each; the latter are Christoffel symbols of the first
    kind."""
    return _of_coriolis(coriolis_matrix, system, q, qd)


@_coriolis_matrix_gradient(source=SYMBOLS)
def coriolis_matrix_gradient_from_symbols(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> tuple[Entries, Entries]:
    """∂C_ij/∂q_k and ∂C_ij/∂q̇_k, n x n x n each, of C from Christoffel symbols."""
    return _of_coriolis(coriolis_matrix_from_symbols_up, system, q, qd)


def _of_coriolis(
    term: Callable[..., Entries], system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> tuple[Entries, Entries]:
    return gradient(lambda x: term(system, x, qd), q), gradient(lambda x: term(system, q, x), qd)


@quantity(
    "gravity_gradient",
    "dg/dq",
    inputs=("q",),
    source=SOURCE,
    only_minimal_competitive=True,
    outputs=(
        Array(
            "g_q",
            "dg_i/dq_k at [i, k], symmetric except for floating joints",
            "N m | N, per rad | m",
            ("n", "n"),
        ),
    ),
)
def gravity_gradient(system: CanonicalModel, q: Coordinates) -> Entries:
    """∂g_i/∂q_k, n x n; the Hessian of the potential energy where every q̇ is the rate of a q.

    Of floating joints it is the derivative of g along unit twists, which is not symmetric."""
    return gradient(lambda x: gravity(system, x), q)


@quantity(
    "inverse_dynamics_second_derivatives",
    "d2tau",
    inputs=("q", "qd", "qdd"),
    source=SOURCE,
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
    inertia = gradient(lambda x: mass_matrix(system, x), q)
    mixed: dict[tuple[int, int], Entries] = {}
    for k in range(n):
        for j in range(k + 1):
            mixed[k, j], mixed[j, k] = _mixed_derivatives(
                system, lambda x: inverse_dynamics(system, x, qd, qdd), q, k, j
            )
    positions = [mixed[j, k][i] for i in range(n) for j in range(n) for k in range(n)]
    rates = gradient(lambda x: _damping(system, q, x), qd)
    damping = gradient(lambda x: _damping(system, x, qd), q)
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
