"""Time derivatives of the dynamic terms, by running their algorithms on numbers that carry their
rates.

For robots with elastic joints, whose controllers need the rates of all terms (Garofalo, Ott,
Albu-Schäffer, On the closed form computation of the dynamic matrices and their differentiations,
IROS 2013). Their eqs. 25a and 25c are the rates of M and g; C is Christoffel's here and so is its
rate, which is not their eq. 25b. With s = 1 for the first and 2 for the second derivative, each
takes as many derivatives of q as it needs."""

from collections.abc import Callable, Sequence
from functools import partial

from symgen.algorithms.christoffel import coriolis_matrix_from_symbols_up
from symgen.algorithms.composite import mass_matrix
from symgen.algorithms.coriolis import coriolis_matrix
from symgen.algorithms.newton_euler import gravity, inverse_dynamics
from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.dual import along, tangents
from symgen.numbers.scalar import Coordinates, Scalar

Term = Callable[..., list[Scalar]]
SOURCE = "Garofalo, Ott, Albu-Schäffer, IROS 2013; forward differentiation of the algorithm"
CORIOLIS = "forward differentiation of C as in Echeandia (2020), algorithm 4"
SYMBOLS = "forward differentiation of Christoffel symbols"


def rate(
    term: Term, system: CanonicalModel, flow: Sequence[Coordinates], reads: int
) -> list[Scalar]:
    """d/dt of a term that reads the first `reads` of q, q̇, q̈, ...; `flow` has one more of
    them."""
    return tangents(term(system, *(along(flow[k], flow[k + 1]) for k in range(reads))))


def second_rate(
    term: Term, system: CanonicalModel, flow: Sequence[Coordinates], reads: int
) -> list[Scalar]:
    """d²/dt² of such a term; `flow` has two more."""
    pairs = [along(flow[k], flow[k + 1]) for k in range(reads + 1)]
    return tangents(
        tangents(term(system, *(along(pairs[k], pairs[k + 1], 2) for k in range(reads))), 2)
    )


_mass_matrix_rate = partial(
    quantity,
    "mass_matrix_rate",
    "dM/dt",
    inputs=("q", "qd"),
    needs_gravity=False,
    outputs=(
        Array("M_dot", "time derivative of M, symmetric", "kg m^2/s | kg m/s | kg/s", ("n", "n")),
    ),
)


@_mass_matrix_rate(
    source="Echeandia & Wensing, Numerical methods to compute the Coriolis matrix (2021)"
)
def mass_matrix_rate_from_coriolis(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """Ṁ = C + Cᵀ, n x n: next to nothing beside C."""
    c, n = coriolis_matrix(system, q, qd), system.size
    half = {(i, j): c[i * n + j] + c[j * n + i] for i in range(n) for j in range(i + 1)}
    return [half[max(i, j), min(i, j)] for i in range(n) for j in range(n)]


@_mass_matrix_rate(source=SOURCE)
def mass_matrix_rate(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """Ṁ(q, q̇), n x n; equals C + Cᵀ."""
    return rate(mass_matrix, system, (q, qd), 1)


@quantity(
    "mass_matrix_second_rate",
    "d2M/dt2",
    inputs=("q", "qd", "qdd"),
    needs_gravity=False,
    source=SOURCE,
    only_minimal_competitive=True,
    outputs=(
        Array(
            "M_ddot",
            "second time derivative of M, symmetric",
            "kg m^2/s^2 | kg m/s^2 | kg/s^2",
            ("n", "n"),
        ),
    ),
)
def mass_matrix_second_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """M̈(q, q̇, q̈), n x n."""
    return second_rate(mass_matrix, system, flow, 1)


_coriolis_matrix_rate = partial(
    quantity,
    "coriolis_matrix_rate",
    "dC/dt",
    inputs=("q", "qd", "qdd"),
    needs_gravity=False,
    only_minimal_competitive=True,
    outputs=(Array("C_dot", "time derivative of C", "kg m^2/s^2 | kg m/s^2 | kg/s^2", ("n", "n")),),
)
_coriolis_matrix_second_rate = partial(
    quantity,
    "coriolis_matrix_second_rate",
    "d2C/dt2",
    inputs=("q", "qd", "qdd", "qddd"),
    needs_gravity=False,
    only_minimal_competitive=True,
    outputs=(
        Array(
            "C_ddot", "second time derivative of C", "kg m^2/s^3 | kg m/s^3 | kg/s^3", ("n", "n")
        ),
    ),
)


@_coriolis_matrix_rate(source=CORIOLIS)
def coriolis_matrix_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """Ċ(q, q̇, q̈), n x n."""
    return rate(coriolis_matrix, system, flow, 2)


@_coriolis_matrix_rate(source=SYMBOLS)
def coriolis_matrix_rate_from_symbols(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """Ċ, n x n, of C from Christoffel symbols."""
    return rate(coriolis_matrix_from_symbols_up, system, flow, 2)


@_coriolis_matrix_second_rate(source=CORIOLIS)
def coriolis_matrix_second_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """C̈(q, q̇, q̈, q⃛), n x n."""
    return second_rate(coriolis_matrix, system, flow, 2)


@_coriolis_matrix_second_rate(source=SYMBOLS)
def coriolis_matrix_second_rate_from_symbols(
    system: CanonicalModel, *flow: Coordinates
) -> list[Scalar]:
    """C̈, n x n, of C from Christoffel symbols."""
    return second_rate(coriolis_matrix_from_symbols_up, system, flow, 2)


@quantity(
    "gravity_rate",
    "dg/dt",
    inputs=("q", "qd"),
    source=SOURCE,
    only_minimal_competitive=True,
    outputs=(Array("tau_g_dot", "rate of the joint forces against gravity", "N m/s | N/s"),),
)
def gravity_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """ġ(q, q̇), shape n."""
    return rate(gravity, system, flow, 1)


@quantity(
    "gravity_second_rate",
    "d2g/dt2",
    inputs=("q", "qd", "qdd"),
    source=SOURCE,
    only_minimal_competitive=True,
    outputs=(
        Array("tau_g_ddot", "second rate of the joint forces against gravity", "N m/s^2 | N/s^2"),
    ),
)
def gravity_second_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """g̈(q, q̇, q̈), shape n."""
    return second_rate(gravity, system, flow, 1)


@quantity(
    "inverse_dynamics_rate",
    "dtau/dt",
    inputs=("q", "qd", "qdd", "qddd"),
    source=SOURCE,
    depends_on_external_forces=True,
    supports=("load",),
    outputs=(Array("tau_dot", "rate of the joint forces", "N m/s | N/s"),),
)
def inverse_dynamics_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """τ̇(q, q̇, q̈, q⃛), shape n; the six numbers of external wrenches stay constant."""
    return rate(inverse_dynamics, system, flow, 3)


@quantity(
    "inverse_dynamics_second_rate",
    "d2tau/dt2",
    inputs=("q", "qd", "qdd", "qddd", "qdddd"),
    source=SOURCE,
    depends_on_external_forces=True,
    supports=("load",),
    outputs=(Array("tau_ddot", "second rate of the joint forces", "N m/s^2 | N/s^2"),),
)
def inverse_dynamics_second_rate(system: CanonicalModel, *flow: Coordinates) -> list[Scalar]:
    """τ̈(q, q̇, q̈, q⃛, q⁗), shape n; the six numbers of external wrenches stay constant."""
    return second_rate(inverse_dynamics, system, flow, 3)
