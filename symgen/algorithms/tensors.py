"""Derivatives of the dynamic terms with respect to joint positions and velocities, one direction at a time.

Each algorithm is run once for every coordinate on numbers that carry a unit tangent; on a tape all that the runs
share is computed once, and what does not depend on the coordinate is a structural zero.
"""

from collections.abc import Callable, Sequence

from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import coriolis_matrix
from symgen.algorithms.newton_euler import gravity, inverse_dynamics
from symgen.algorithms.registry import Array, quantity
from symgen.dual import along, tangents, unit
from symgen.mechanics.system import System
from symgen.scalar import ZERO, Scalar

Coordinates = Sequence[Scalar]
Entries = list[Scalar]
SOURCE = "Garofalo, Ott, Albu-Schäffer, IROS 2013; forward differentiation of the algorithm"
CUBE = ("n", "n", "n")


def gradient(term: Callable[[Coordinates], Entries], at: Coordinates, level: int = 1) -> Entries:
    """∂(term)/∂x_k for each x_k of `at`, which is the last index."""
    n = len(at)
    columns = [tangents(term(along(at, unit(n, k), level)), level) for k in range(n)]
    return [column[i] for i in range(len(columns[0])) for column in columns]


@quantity(
    "mass_matrix_gradient", "dM/dq", inputs=("q",), needs_gravity=False, source=SOURCE,
    only_minimal_pays=True,
    outputs=(Array("M_q", "dM_ij/dq_k at [i, j, k]", "kg m^2 | kg m | kg, per rad | m", CUBE),),
)
def mass_matrix_gradient(system: System, q: Coordinates) -> Entries:
    """∂M_ij/∂q_k, n x n x n."""
    return gradient(lambda x: mass_matrix(system, x), q)


@quantity(
    "coriolis_matrix_gradient", "dC/dq, dC/dqd", inputs=("q", "qd"), needs_gravity=False, source=SOURCE,
    only_minimal_pays=True,
    outputs=(
        Array("C_q", "dC_ij/dq_k at [i, j, k]", "units of C per rad | m", CUBE),
        Array("C_qd", "dC_ij/dqd_k at [i, j, k]", "units of C per rad/s | m/s", CUBE),
    ),
)
def coriolis_matrix_gradient(system: System, q: Coordinates, qd: Coordinates) -> tuple[Entries, Entries]:
    """∂C_ij/∂q_k and ∂C_ij/∂q̇_k, n x n x n each; the latter are Christoffel symbols of the first kind."""
    by_position = gradient(lambda x: coriolis_matrix(system, x, qd), q)
    return by_position, gradient(lambda x: coriolis_matrix(system, q, x), qd)


@quantity(
    "gravity_gradient", "dg/dq", inputs=("q",), source=SOURCE,
    only_minimal_pays=True,
    outputs=(Array("g_q", "dg_i/dq_k at [i, k], symmetric", "N m | N, per rad | m", ("n", "n")),),
)
def gravity_gradient(system: System, q: Coordinates) -> Entries:
    """∂g_i/∂q_k, n x n, the Hessian of the potential energy."""
    return gradient(lambda x: gravity(system, x), q)


@quantity(
    "inverse_dynamics_second_derivatives", "d2tau", inputs=("q", "qd", "qdd"), source=SOURCE,
    only_minimal_pays=True,
    outputs=(
        Array("tau_qq", "d2tau_i/dq_j dq_k at [i, j, k]", "N m | N, per (rad | m)^2", CUBE),
        Array("tau_qdqd", "d2tau_i/dqd_j dqd_k at [i, j, k]", "N m | N, per (rad/s | m/s)^2", CUBE),
        Array("tau_qqd", "d2tau_i/dq_j dqd_k at [i, j, k]", "N m | N, per (rad | m) (rad/s | m/s)", CUBE),
        Array("tau_qqdd", "d2tau_i/dq_j dqdd_k = dM_ik/dq_j at [i, j, k]", "kg m^2 | kg m | kg, per rad | m", CUBE),
    ),
)
def inverse_dynamics_second_derivatives(
    system: System, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> tuple[Entries, Entries, Entries, Entries]:
    """Second derivatives of inverse dynamics; those that are not here vanish (∂²τ/∂q̇∂q̈, ∂²τ/∂q̈²).

    In the displacements of a floating joint those of τ along exp(ξ), ξ a twist in the body's axes.
    """
    n, zeros = system.size, [ZERO] * system.size
    inertia = gradient(lambda x: mass_matrix(system, x), q)
    swapped = [inertia[(i * n + k) * n + j] for i in range(n) for j in range(n) for k in range(n)]

    def curvature(term: Callable[[Coordinates], Entries], at: Coordinates) -> Entries:
        half = {(j, k): _mixed(system, term, at, j, k) for k in range(n) for j in range(k + 1)}
        return [half[min(j, k), max(j, k)][i] for i in range(n) for j in range(n) for k in range(n)]

    positions = curvature(lambda x: inverse_dynamics(system, x, qd, qdd), q)
    rates = curvature(lambda x: inverse_dynamics(system, q, x, zeros), qd)
    columns = {(j, k): _moved_at_a_rate(system, q, qd, j, k) for k in range(n) for j in range(n)}
    both = [columns[j, k][i] for i in range(n) for j in range(n) for k in range(n)]
    return positions, rates, both, swapped


def _unrelated(system: System, j: int, k: int) -> bool:
    """Whether no body moves with both joints (from 0): then nothing depends on both of their coordinates."""
    return not any(a == b or a in system.ancestors(b) for a, b in ((j + 1, k + 1), (k + 1, j + 1)))


def _moved_at_a_rate(system: System, q: Coordinates, qd: Coordinates, j: int, k: int) -> Entries:
    """∂²τ/∂q_j∂q̇_k."""
    n = system.size
    if _unrelated(system, j, k):
        return [ZERO] * n
    y, x = along(q, unit(n, j)), along(qd, unit(n, k), 2)
    return tangents(tangents(inverse_dynamics(system, y, x, [ZERO] * n)), 2)


def _mixed(system: System, term: Callable[[Coordinates], Entries], at: Coordinates, j: int, k: int) -> Entries:
    """∂²(term)/∂x_j∂x_k; the displacements of a floating joint do not commute, there the mean of both orders."""
    if _unrelated(system, j, k):
        return [ZERO] * system.size
    first = _one_after_other(term, at, j, k)
    if j == k or not system.body(j + 1).free or system.first_of_run(j + 1) != system.first_of_run(k + 1):
        return first
    return [0.5 * (x + y) for x, y in zip(first, _one_after_other(term, at, k, j), strict=True)]


def _one_after_other(term: Callable[[Coordinates], Entries], at: Coordinates, j: int, k: int) -> Entries:
    n = len(at)
    return tangents(tangents(term(along(along(at, unit(n, j)), unit(n, k), 2)), 2))
