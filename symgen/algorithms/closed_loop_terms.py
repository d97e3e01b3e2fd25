"""Coriolis matrices and Christoffel symbols of robots with closed loops.

The rate Ġ of G completes what the bodies of the tree have: with C of the tree, Gᵀ (C G + M Ġ) is
that of the user's coordinates, since G q̇ are velocities of the same mechanism (Featherstone 2008,
section 8.2), and Gᵀ Cᵀ ẋ + Ġᵀ p with the momentum p is Cᵀ q̇. Rates and gradients come from
displacements along G (see `closed_loops`)."""

from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement, product
from typing import Final

from symgen.algorithms.christoffel import coriolis_matrix_from_symbols
from symgen.algorithms.closed_loops import (
    Term,
    closed_loop_formulation,
    displaced_positions,
    unit_changes,
)
from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import coriolis_transpose_product
from symgen.algorithms.coriolis_newton_euler import coriolis_matrix_newton_euler, with_skew
from symgen.algorithms.motion import motions
from symgen.algorithms.parameter_tensors import momentum_rate_regressor
from symgen.algorithms.regressors import joint_entries, momentum_regressor, row_major_entries
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.coupling import CoordinateMap, Coupling
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.spatial import ZERO_VECTOR
from symgen.numbers.dual import tangent, unit
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, dot

EMBEDDED = "G^T (C G + M dG/dt), Featherstone (2008), section 8.2"
RATE_LEVEL: Final = 3
"""The level of the numbers with the rate of G, above those of rates and second rates of terms."""
_of_whole = partial(closed_loop_formulation, source=EMBEDDED, regroupings=(WHOLE,))


def rate_of_map(system: CanonicalModel, x: Coordinates, qd: Coordinates) -> Coupling:
    """The coupling at positions of the bodies' joints with Ġ in place of G."""
    moving = system.coupling.at_positions(displaced_positions(system, x, qd, RATE_LEVEL))
    terms = (
        [replace(term, factor=tangent(term.factor, RATE_LEVEL)) for term in drive.terms]
        for drive in moving.drives
    )
    return replace(moving, drives=tuple(CoordinateMap(tuple(row)) for row in terms))


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


@_of_whole("momentum_rate_regressor")
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


@_of_whole("coriolis_matrix_by_parameters")
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
        moving = motions(state, x, xd, state.rest_accelerations, reference)
        entries = row_major_entries(joint_entries(state, x, moving), n, system.parameters)
        columns.append(state.coupling.pull_back(entries, (None, system.parameters)))
    width = system.parameters
    return [
        e for i in range(len(qd)) for column in columns for e in column[i * width : (i + 1) * width]
    ]


@_of_whole("coriolis_matrix_newton_euler_by_parameters")
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
