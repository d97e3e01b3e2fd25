"""Derivatives for robots with closed loops, by differentiating what the user's coordinates give.

Positions, G and k depend on the user's coordinates q, so a derivative in q goes through the closed
form of the positions and through the elimination of the rates. The algorithms here run those of
other files on numbers that carry derivatives (`symgen.numbers.dual`, `symgen.numbers.reverse`),
with the coupling at the state of these numbers. C keeps its structure: with C of the tree from
Christoffel symbols, Gᵀ (C G + M Ġ) is that of the user's coordinates, since G q̇ are velocities of
the same mechanism (Featherstone 2008, section 8.2)."""

from collections.abc import Callable, Sequence
from functools import partial

from symgen.algorithms.christoffel import coriolis_matrix_from_symbols
from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.external_inputs import external_matrices
from symgen.algorithms.factors import MassMatrixFactors, coupled_mass_matrix, factors
from symgen.algorithms.forward_dynamics import driving
from symgen.algorithms.newton_euler import gravity, inverse_dynamics
from symgen.algorithms.registry import JOINTS, formulation_of
from symgen.algorithms.requirements import requirement
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.coordinate_map import multiple
from symgen.numbers.dual import along, tangents, unit
from symgen.numbers.reverse import Record, gradient, noted
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot

FORWARD = "forward differentiation through the closed loops"
REVERSE = "reverse differentiation through the closed loops"
EMBEDDED = "G^T (C G + M dG/dt), Featherstone (2008), section 8.2"


@requirement("only robots with closed loops and without quaternions")
def looped(system: CanonicalModel) -> bool:
    """Whether there are closed loops and all positions of the user are coordinates."""
    coupling = system.coupling
    return bool(coupling.loops) and not coupling.quaternions and not coupling.held


_on_user = partial(formulation_of, applicable=looped, coordinates=JOINTS, closed_loops=True)

Term = Callable[..., list[Scalar]]


def torques(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> list[Scalar]:
    """The joint forces of the user."""
    state, x, xd = system.at_state(q, qd)
    accelerations = state.coupling.body_accelerations(qdd)
    return state.coupling.forces(inverse_dynamics(state, x, xd, accelerations))


def masses(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """The mass matrix of the user."""
    state, x, _ = system.at_state(q)
    return coupled_mass_matrix(state, x)


def weights(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """The joint forces of the user against gravity."""
    state, x, _ = system.at_state(q)
    return state.coupling.forces(gravity(state, x))


def solved(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> tuple[MassMatrixFactors, list[Scalar]]:
    """The factors of the mass matrix, and the accelerations of the user."""
    state, x, xd = system.at_state(q, qd)
    solver = factors(state, coupled_mass_matrix(state, x))
    return solver, solver.solve(driving(state, x, xd, tau))


def slopes(term: Term, system: CanonicalModel, at: Sequence[Coordinates], k: int) -> list[Scalar]:
    """The derivative of a term in the coordinates of its argument `k`, a row for each entry."""
    n = len(at[k])
    columns = [
        tangents(term(system, *at[:k], along(at[k], unit(n, j)), *at[k + 1 :])) for j in range(n)
    ]
    return [column[i] for i in range(len(columns[0])) for column in columns]


def change(term: Term, system: CanonicalModel, flow: Sequence[Coordinates]) -> list[Scalar]:
    """The derivative of a term along changes of its arguments: `flow` has these and then those."""
    count = len(flow) // 2
    pairs = zip(flow[:count], flow[count:], strict=True)
    return tangents(term(system, *(along(x, d) for x, d in pairs)))


def rate(term: Term, system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """The rate of a term along a motion, of which `flow` has one derivative more than the term."""
    return change(term, system, (*flow[: len(flow) - 1], *flow[1:]))


# -- inverse dynamics ------------------------------------------------------------------------------


@_on_user("inverse_dynamics_derivatives", source=FORWARD)
def inverse_dynamics_derivatives(
    system: CanonicalModel, *at: Coordinates
) -> tuple[list[Scalar], ...]:
    """∂τ/∂q, ∂τ/∂q̇ and M, n x n each, and that in the thrusts, if there are any."""
    state, x, _ = system.at_state(at[0])
    thrusts = external_matrices(state, x)[1]
    external = ([-e for e in thrusts],) if thrusts else ()
    return (*(slopes(torques, system, at, k) for k in (0, 1)), masses(system, at[0]), *external)


@_on_user("inverse_dynamics_jvp", source=FORWARD)
def inverse_dynamics_jvp(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """Change of τ along (dq, dq̇, dq̈), shape n."""
    return change(torques, system, inputs)


@_on_user("inverse_dynamics_vjp", source=REVERSE)
def inverse_dynamics_vjp(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, lam: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """λᵀ ∂τ/∂q, λᵀ ∂τ/∂q̇ and λᵀ M, each of shape n."""
    record = Record()
    (x, dx), (v, dv), (a, da) = (noted(record, values) for values in (q, qd, qdd))
    felt = gradient(dot(torques(system, x, v, a), lam), [*dx, *dv, *da])
    n = len(qd)
    return felt[:n], felt[n : 2 * n], felt[2 * n :]


@_on_user("inverse_dynamics_rate", source=FORWARD)
def inverse_dynamics_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """τ̇(q, q̇, q̈, q⃛), shape n."""
    return rate(torques, system, *flow)


# -- forward dynamics ------------------------------------------------------------------------------


@_on_user("forward_dynamics_derivatives", source=FORWARD)
def forward_dynamics_derivatives(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> tuple[list[Scalar], ...]:
    """∂q̈/∂q = -M⁻¹ ∂τ/∂q, ∂q̈/∂q̇ = -M⁻¹ ∂τ/∂q̇ and M⁻¹, n x n each, and those in external
    wrenches and thrusts, if there are any."""
    solver, qdd = solved(system, q, qd, tau)
    at = q, qd, qdd
    dq, dqd = (solver.solve_columns([-x for x in slopes(torques, system, at, k)]) for k in (0, 1))
    state, x, _ = system.at_state(q)
    external = (solver.solve_columns(a) for a in external_matrices(state, x) if a)
    return dq, dqd, solver.inverse(), *external


@_on_user("forward_dynamics_jvp", source=FORWARD)
def forward_dynamics_jvp(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """Change of q̈ along (dq, dq̇, dτ), shape n."""
    q, qd, tau, dq, dqd, dtau = inputs
    solver, qdd = solved(system, q, qd, tau)
    moved = change(torques, system, (q, qd, qdd, dq, dqd, [ZERO] * len(qdd)))
    return solver.solve([d - x for d, x in zip(dtau, moved, strict=True)])


@_on_user("forward_dynamics_vjp", source=REVERSE)
def forward_dynamics_vjp(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates, lam: Coordinates
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """λᵀ ∂q̈/∂q, λᵀ ∂q̈/∂q̇ and μ = M⁻¹ λ, each of shape n."""
    solver, qdd = solved(system, q, qd, tau)
    mu = solver.solve(lam)
    by_q, by_qd, _ = inverse_dynamics_vjp(system, q, qd, qdd, mu)
    return [-x for x in by_q], [-x for x in by_qd], mu


# -- terms -----------------------------------------------------------------------------------------


@_on_user("coriolis_matrix", source=EMBEDDED)
def coriolis_matrix(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """C = Gᵀ (C_x G + M_x Ġ), n x n, from the Christoffel symbols of the tree."""
    state, x, xd = system.at_state(q, qd)
    embedded = state.coupling.matrix(coriolis_matrix_from_symbols(state, x, xd))
    moving, _ = system.coupling.at(along(q, qd))
    size, n = system.size, len(qd)
    m = mass_matrix(state, x)
    product: list[Scalar] = [ZERO] * (size * n)
    for k, drive in enumerate(moving.drives):
        by = tangents([term.factor for term in drive.terms])
        for term, factor in zip(drive.terms, by, strict=True):
            for i in range(size) if factor is not ZERO else ():
                at = i * n + term.velocity_index
                product[at] = product[at] + multiple(factor, m[i * size + k])
    drifting = state.coupling.pull_back(product, (None, n))
    return [a + b for a, b in zip(embedded, drifting, strict=True)]


@_on_user("coriolis_transpose_product", source=EMBEDDED)
def coriolis_transpose_product(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """Cᵀ q̇, shape n."""
    c, n = coriolis_matrix(system, q, qd), len(qd)
    return [dot([c[i * n + k] for i in range(n)], qd) for k in range(n)]


@_on_user("mass_matrix_rate", source=FORWARD)
def mass_matrix_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """Ṁ(q, q̇), n x n."""
    return rate(masses, system, *flow)


@_on_user("mass_matrix_gradient", source=FORWARD)
def mass_matrix_gradient(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """∂M_ij/∂q_k at [i, j, k]."""
    return slopes(masses, system, (q,), 0)


@_on_user("gravity_rate", source=FORWARD)
def gravity_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """ġ(q, q̇), shape n."""
    return rate(weights, system, *flow)


@_on_user("gravity_gradient", source=FORWARD)
def gravity_gradient(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """∂g_i/∂q_k at [i, k]."""
    return slopes(weights, system, (q,), 0)


@_on_user("christoffel_symbols_full", source=FORWARD)
def christoffel_symbols_full(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """Γ_ijk = (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i) / 2 at [i, j, k]."""
    m, n = mass_matrix_gradient(system, q), len(q)

    def entry(i: int, j: int, k: int) -> Scalar:
        return m[(i * n + j) * n + k]

    return [
        0.5 * (entry(i, j, k) + entry(i, k, j) - entry(j, k, i))
        for i in range(n)
        for j in range(n)
        for k in range(n)
    ]


@_on_user("christoffel_symbols", source=FORWARD)
def christoffel_symbols(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """Γ_ijk of the pairs j <= k, row by row."""
    full, n = christoffel_symbols_full(system, q), len(q)
    return [full[(i * n + j) * n + k] for i in range(n) for j in range(n) for k in range(j, n)]
