"""Derivatives of inverse and forward dynamics, by the recursion of `gradients` or by
differentiating the algorithm (Singh, Russell & Wensing, RA-L 2022), and their products with changes
of the inputs, without any Jacobian."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from symgen.algorithms.composite import coupled_mass_matrix, factorize, mass_matrix
from symgen.algorithms.coriolis import Entries, square_matrix
from symgen.algorithms.forward_dynamics import (
    INVERSE,
    accelerating_forces,
    forward_dynamics_articulated,
    uncoupled,
)
from symgen.algorithms.gradients import Gradients, gradients, gradients_by_duals
from symgen.algorithms.kinematics import external_matrices, row_major, thrust_columns
from symgen.algorithms.motion import wrenches_in_link_axes
from symgen.algorithms.newton_euler import gravity, inverse_dynamics
from symgen.algorithms.registry import Array, quantity
from symgen.algorithms.requirements import requirement
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.numbers.autodiff import along, jacobian, tangents
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, set_restart_point

SOURCE = (
    "Singh, Russell & Wensing, Efficient analytical derivatives of rigid-body dynamics, RA-L 2022"
)
DIFFERENTIATED = "forward differentiation of inverse dynamics, Christoffel symbols"
MATRIX = ("n", "n")

Matrices = tuple[list[Scalar], ...]
"""Derivatives in the order of the outputs; those in external inputs only where there are any."""
Derivatives = Callable[[CanonicalModel, Coordinates, Coordinates, Coordinates], Gradients]

_inverse_derivatives = partial(
    quantity,
    "inverse_dynamics_derivatives",
    "dtau/dq, dtau/dqd, dtau/dqdd = M",
    depends_on_external_forces=True,
    inputs=("q", "qd", "qdd"),
    outputs=(
        Array(
            "dtau_dq",
            "derivative of joint forces with respect to q, one row per force",
            "N m/rad | N m/m | N/rad | N/m",
            MATRIX,
        ),
        Array(
            "dtau_dqd",
            "derivative of joint forces with respect to qd, one row per force",
            "N m s/rad | N s/m",
            MATRIX,
        ),
        Array("M", "joint-space inertia, symmetric", "kg m^2 | kg m | kg", MATRIX),
        Array(
            "dtau_dthrust",
            "derivative of joint forces with respect to the thrusts, minus the allocation matrix",
            "m | 1",
            ("n", "thrust"),
        ),
    ),
)
_forward_derivatives = partial(
    quantity,
    "forward_dynamics_derivatives",
    "dqdd/dq, dqdd/dqd, dqdd/dtau = M^-1",
    depends_on_external_forces=True,
    needs_inverse=True,
    inputs=("q", "qd", "tau"),
    outputs=(
        Array(
            "dqdd_dq",
            "derivative of accelerations with respect to q, one row per acceleration",
            "1/s^2 | rad/(m s^2)",
            MATRIX,
        ),
        Array(
            "dqdd_dqd",
            "derivative of accelerations with respect to qd, one row per acceleration",
            "1/s | rad/(m s)",
            MATRIX,
        ),
        INVERSE,
        Array(
            "dqdd_dw",
            "derivative of accelerations with respect to the external wrenches",
            "1/kg, 1/(kg m) | 1/(kg m), 1/(kg m^2)",
            ("n", "wrench"),
        ),
        Array(
            "dqdd_dthrust",
            "derivative of accelerations with respect to the thrusts",
            "1/kg | 1/(kg m)",
            ("n", "thrust"),
        ),
    ),
)


@_inverse_derivatives(source=SOURCE, applicable=wrenches_in_link_axes)
def inverse_dynamics_derivatives(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> Matrices:
    """∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ = M of τ = M q̈ + C q̇ + g, each n x n, row-major with a row for
    each force."""
    return _matrices(system, q, qd, gradients(system, q, qd, qdd))


@_inverse_derivatives(source=DIFFERENTIATED, regroupings=("minimal",))
def inverse_dynamics_derivatives_by_duals(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> Matrices:
    """∂τ/∂q, ∂τ/∂q̇ and M, n x n each, by forward differentiation and Christoffel symbols."""
    return _matrices(system, q, qd, gradients_by_duals(system, q, qd, qdd))


def _matrices(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, slopes: Gradients
) -> Matrices:
    thrusts = [-x for x in row_major(thrust_columns(system, q))]
    return (
        square_matrix(system, slopes.dq),
        square_matrix(system, with_friction_slopes(system, qd, slopes.dqd)),
        square_matrix(system, slopes.m),
        *([thrusts] if system.thrusters else ()),
    )


def with_friction_slopes(system: CanonicalModel, qd: Coordinates, dqd: Entries) -> Entries:
    """∂τ/∂q̇ with that of joint friction, which is viscous and, where it is smooth, Coulomb's."""
    return dqd | {
        (i, i): dqd[i, i] + system.body(i).passive.rate_slope(qd[i - 1]) for i in system.outward
    }


@_forward_derivatives(source=SOURCE, applicable=wrenches_in_link_axes)
def forward_dynamics_derivatives(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> Matrices:
    """∂q̈/∂q = -M⁻¹ ∂τ/∂q, ∂q̈/∂q̇ = -M⁻¹ ∂τ/∂q̇ and ∂q̈/∂τ = M⁻¹ at the accelerations that `tau`
    causes, n x n."""
    return as_outputs(forward_derivatives(system, q, qd, tau, gradients))


@_forward_derivatives(source=DIFFERENTIATED, regroupings=("minimal",))
def forward_dynamics_derivatives_by_duals(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> Matrices:
    """Derivatives of forward dynamics from those of inverse dynamics by dual numbers."""
    return as_outputs(forward_derivatives(system, q, qd, tau, gradients_by_duals))


@dataclass(frozen=True, slots=True)
class ForwardDerivatives:
    """q̈ of the user and its derivatives, row-major: in q, q̇ and τ (M⁻¹), in external wrenches and
    in thrusts (both M⁻¹ Jᵀ, empty where these are no inputs)."""

    qdd: list[Scalar]
    dq: list[Scalar]
    dqd: list[Scalar]
    inverse: list[Scalar]
    dwrench: list[Scalar]
    dthrust: list[Scalar]


def as_outputs(slopes: ForwardDerivatives) -> Matrices:
    """The derivatives of forward dynamics in the order of the outputs."""
    external = (slopes.dwrench, slopes.dthrust)
    return slopes.dq, slopes.dqd, slopes.inverse, *(x for x in external if x)


def forward_derivatives(
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    tau: Coordinates,
    formulation: Derivatives,
) -> ForwardDerivatives:
    """q̈ of the user and its derivatives.

    Solved with the sparse factors column by column; M⁻¹ itself would fill the zeros between
    branches."""
    at_rest = formulation(system, q, qd, [ZERO] * system.size)
    coupling = system.coupling
    solver = factorize(system, coupling.matrix(square_matrix(system, at_rest.m)))
    twice_c, half, n = square_matrix(system, at_rest.dqd), [0.5 * x for x in qd], len(qd)
    coriolis = [  # with g it is the bias, for far less than another recursion
        sum((twice_c[i * n + j] * half[j] for j in range(n)), ZERO) for i in range(n)
    ]
    rubbing = [
        system.body(i).passive.moving(rate) for i, rate in enumerate(qd, 1)
    ]  # g has what remains at rest
    parts = (coupling.forces(part) for part in (coriolis, gravity(system, q), rubbing))
    accelerating_forces = [t - c - g - f for t, c, g, f in zip(tau, *parts, strict=True)]
    qdd = solver.solve(accelerating_forces)
    set_restart_point(qdd, (*solver.l_entries.values(), *solver.inverse_d.values()))
    slopes = formulation(system, q, qd, coupling.body_rates(qdd))
    matrices = (
        coupling.matrix(square_matrix(system, x))
        for x in (slopes.dq, with_friction_slopes(system, qd, slopes.dqd))
    )
    dq, dqd = (solver.solve_columns([-x for x in matrix]) for matrix in matrices)
    inverse = solver.inverse()
    dwrench, dthrust = (
        solver.solve_columns(matrix) if matrix else [] for matrix in external_matrices(system, q)
    )
    return ForwardDerivatives(qdd, dq, dqd, inverse, dwrench, dthrust)


# -- fluids ----------------------------------------------------------------------------------------


@requirement("only robots with fluids around their links (--fluid)")
def in_fluid(system: CanonicalModel) -> bool:
    """Whether forces of fluids count, which are not quadratic in the velocities."""
    return bool(system.fluids)


DIRECTIONS = "forward differentiation of inverse dynamics along each coordinate"


@_inverse_derivatives(source=DIRECTIONS, applicable=in_fluid)
def inverse_dynamics_derivatives_by_directions(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> Matrices:
    """∂τ/∂q, ∂τ/∂q̇ and M, n x n each, one directional derivative for each column."""
    by_q = jacobian(lambda x: inverse_dynamics(system, x, qd, qdd), q)
    by_qd = jacobian(lambda x: inverse_dynamics(system, q, x, qdd), qd)
    thrusts = [-x for x in row_major(thrust_columns(system, q))]
    further = [thrusts] if system.thrusters else []
    return by_q, by_qd, [*mass_matrix(system, q)], *further


@_forward_derivatives(source=DIRECTIONS, applicable=in_fluid)
def forward_dynamics_derivatives_by_directions(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> Matrices:
    """∂q̈/∂q, ∂q̈/∂q̇ and M⁻¹ from directional derivatives of inverse dynamics at the accelerations
    that `tau` causes."""
    return as_outputs(forward_derivatives_by_directions(system, q, qd, tau))


def forward_derivatives_by_directions(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, tau: Coordinates
) -> ForwardDerivatives:
    """q̈ of the user and its derivatives in a fluid, whose forces are not quadratic in q̇."""
    coupling, solver = system.coupling, factorize(system, coupled_mass_matrix(system, q))
    qdd = solver.solve(accelerating_forces(system, q, qd, tau))
    slopes = inverse_dynamics_derivatives_by_directions(system, q, qd, coupling.body_rates(qdd))
    dq, dqd = (solver.solve_columns([-x for x in coupling.matrix(a)]) for a in slopes[:2])
    external = (solver.solve_columns(x) if x else [] for x in external_matrices(system, q))
    return ForwardDerivatives(qdd, dq, dqd, solver.inverse(), *external)


# -- Jacobian-vector products ----------------------------------------------------------------------


PRODUCTS = "forward differentiation of the algorithm"


@quantity(
    "inverse_dynamics_jvp",
    "tau_q dq + tau_qd dqd + M dqdd",
    source=PRODUCTS,
    depends_on_external_forces=True,
    supports=("load", "presliding"),
    inputs=("q", "qd", "qdd", "dq", "dqd", "dqdd"),
    method="products",
    outputs=(Array("tau_jvp", "change of the joint forces", "N m | N"),),
)
def inverse_dynamics_jvp(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """Change of τ along (dq, dq̇, dq̈), shape n."""
    at, by = inputs[:3], inputs[3:]
    return tangents(inverse_dynamics(system, *(along(x, d) for x, d in zip(at, by, strict=True))))


_forward_product = partial(
    quantity,
    "forward_dynamics_jvp",
    "qdd_q dq + qdd_qd dqd + Minv dtau",
    source=PRODUCTS,
    depends_on_external_forces=True,
    needs_inverse=True,
    inputs=("q", "qd", "tau", "dq", "dqd", "dtau"),
    outputs=(Array("qdd_jvp", "change of the joint accelerations", "rad/s^2 | m/s^2"),),
)


@_forward_product(method="products")
def forward_dynamics_jvp(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """Change of q̈ along (dq, dq̇, dτ), shape n: M⁻¹ (dτ - that of inverse dynamics at the
    accelerations that τ causes), so that no tangent goes through the factors of M."""
    q, qd, tau, dq, dqd, dtau = inputs
    coupling, solver = system.coupling, factorize(system, coupled_mass_matrix(system, q))
    qdd = coupling.body_rates(solver.solve(accelerating_forces(system, q, qd, tau)))
    at, by = (q, qd, qdd), (dq, dqd, [ZERO] * system.size)
    change = coupling.forces(inverse_dynamics_jvp(system, *at, *by))
    return solver.solve([d - x for d, x in zip(dtau, change, strict=True)])


@_forward_product(applicable=uncoupled, method="products")
def forward_dynamics_jvp_articulated(system: CanonicalModel, *inputs: Coordinates) -> list[Scalar]:
    """Change of q̈ along (dq, dq̇, dτ), shape n, by articulated bodies, best for long chains."""
    at, by = inputs[:3], inputs[3:]
    return tangents(
        forward_dynamics_articulated(system, *(along(x, d) for x, d in zip(at, by, strict=True)))
    )
