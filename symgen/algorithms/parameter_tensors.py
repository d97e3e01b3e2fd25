"""Momenta, energies and dynamic terms as linear functions of the inertial parameters: their
regressors, or derivatives with respect to the parameters.

Columns of regressors for unit rates: what a unit twist finds, for each of the ten of a body, in the
motion of another (see `symgen.algorithms.regressors`, also for the order of the parameters, which
are the last index)."""

from functools import partial
from itertools import combinations_with_replacement

from symgen.algorithms.motion import (
    motions,
    potential_per_mass,
    twists,
    unit_twist_rates,
    unit_twists,
)
from symgen.algorithms.registry import Array, quantity
from symgen.algorithms.regressors import (
    joint_entries,
    linear_quantity,
    regressor_columns_of_body,
    regressor_entries,
    row_major_entries,
    velocities_as_accelerations,
    velocity_as_acceleration,
)
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.joint_forces import LAWS, JointState
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.rigid_motion import twist_at_frame
from symgen.mechanics.spatial import Twist
from symgen.numbers.autodiff import unit
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

MATRICES = "Garofalo, Ott & Albu-Schäffer, IROS 2013, eqs. 13a, 13c"
CHRISTOFFEL = "Echeandia & Wensing (2021), eq. 9, linear in the parameters"
_parameter_derivative = partial(
    quantity, needs_inertia=False, source=MATRICES, regroupings=(WHOLE,)
)
SHAPE = ("n", "n", "ten")


# -- momentum and energy ---------------------------------------------------------------------------


@linear_quantity(
    "momentum_regressor",
    "P(q, qd) pi = M qd",
    inputs=("q", "qd"),
    needs_gravity=False,
    outputs=(
        Array(
            "P",
            "momentum regressor, ten columns per body",
            "s N m | N s per kg, kg m, kg m^2",
            ("n", "ten"),
        ),
    ),
)
def momentum_regressor(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> list[Scalar]:
    """P with P π = M q̇, the generalised momentum, n x 10 n, row-major."""
    entries = joint_entries(system, q, velocities_as_accelerations(twists(system, q, qd)))
    return row_major_entries(entries, system.size, system.parameters)


@linear_quantity(
    "kinetic_energy_regressor",
    "k(q, qd) pi = T",
    inputs=("q", "qd"),
    needs_gravity=False,
    outputs=(Array("Y_T", "kinetic energy regressor", "J per kg, kg m, kg m^2", ("ten",)),),
)
def kinetic_energy_regressor(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """k with k·π the kinetic energy, 10 n numbers."""
    body_twists = twists(system, q, qd)
    of_links = [
        x
        for i in system.link_bodies
        for x in _kinetic_entries(twist_at_frame(body_twists[i], system.link_pose(i)))
    ]
    return of_links + [_rotor_entry(system, i, body_twists[i]) for i in system.rotors]


def _rotor_entry(system: CanonicalModel, i: int, twist: Twist) -> Scalar:
    """The kinetic energy of a rotor by its parameter."""
    moment = system.body(i).joint.rotor_moment
    if moment == "J":
        return 0.5 * (twist.w.z * twist.w.z)
    velocity = twist.v if moment == "m" else twist.w
    return 0.5 * velocity.dot(velocity)


def _kinetic_entries(twist: Twist) -> list[Scalar]:
    """The kinetic energy of a body at a twist for each unit inertial parameter."""
    v, w = twist.v, twist.w
    spins = [w[i] * w[j] for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    halves = (x if k in (1, 2, 4) else 0.5 * x for k, x in enumerate(spins))
    return [0.5 * v.dot(v), *v.cross(w), *halves]


@linear_quantity(
    "potential_energy_regressor",
    "u(q) pi = V",
    inputs=("q",),
    outputs=(Array("Y_V", "potential energy regressor", "J per kg, kg m, kg m^2", ("y_v",)),),
)
def potential_energy_regressor(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """u with u·π the potential energy of gravity, zero at the root link's origin, 10 n numbers;
    then of each joint those of its spring, without the ½ k r² that no state changes."""
    potentials, entries = potential_per_mass(system, q), list[Scalar]()
    for i in system.link_bodies:
        potential = potentials[i].seen_in(system.link_pose(i))
        entries += [potential.level, *potential.slope, *[ZERO] * 6]
    entries += [ZERO] * len(system.rotors)
    for i, law in system.passive_columns:
        energy = LAWS[law].energy
        if energy is not None:
            entries.append(energy(JointState(q[i - 1], ZERO), system.body(i).passive.shape))
    return entries


# -- matrices --------------------------------------------------------------------------------------


@_parameter_derivative(
    "mass_matrix_by_parameters",
    "dM/dpi",
    closed_loops=True,
    inputs=("q",),
    needs_gravity=False,
    outputs=(
        Array("M_pi", "dM_ij/dpi_p at [i, j, p]", "kg m^2 | kg m | kg per kg, kg m, kg m^2", SHAPE),
    ),
)
def mass_matrix_by_parameters(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """∂M_ij/∂π_p, n x n x 10 n, row-major; symmetric in i and j.

    M_ij = ∫ J_i · J_j dm: what twist i finds in the velocities of twist j.
    """
    n, units = system.size, unit_twists(system, q)
    entries: dict[tuple[int, int], Scalar] = {}
    for b, columns in system.columns.items():
        with system.section(b, "inertia of unit parameters"):
            for (i, first), (j, second) in combinations_with_replacement(units[b].items(), 2):
                read = regressor_columns_of_body(system, b, velocity_as_acceleration(second))
                for p, x in zip(columns, read(first), strict=True):
                    entries[(i - 1) * n + j - 1, p] = entries[(j - 1) * n + i - 1, p] = x
    return row_major_entries(entries, n * n, system.parameters)


@_parameter_derivative(
    "coriolis_matrix_by_parameters",
    "dC/dpi",
    inputs=("q", "qd"),
    needs_gravity=False,
    outputs=(Array("C_pi", "dC_ij/dpi_p at [i, j, p]", "units of C per kg, kg m, kg m^2", SHAPE),),
    source=CHRISTOFFEL,
)
def coriolis_matrix_by_parameters(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """∂C_ij/∂π_p, n x n x 10 n, row-major, C that of `coriolis_matrix`.

    That is Christoffel's C, not that of Garofalo, Ott & Albu-Schäffer (their eq. 13b). Its column
    j is M q̈_r + C q̇_r for q̇_r = e_j and q̈_r = 0: a Slotine-Li regressor without gravity."""
    n, weightless = system.size, system.weightless
    entries: dict[tuple[int, int], Scalar] = {}
    for j in range(n):
        moving = motions(weightless, q, qd, [ZERO] * n, unit(n, j))
        columns = joint_entries(weightless, q, moving)
        entries |= {(i * n + j, p): x for (i, p), x in columns.items()}
    return row_major_entries(entries, n * n, system.parameters)


@_parameter_derivative(
    "gravity_by_parameters",
    "dg/dpi",
    closed_loops=True,
    inputs=("q",),
    outputs=(Array("g_pi", "dg_i/dpi_p at [i, p]", "N m | N per kg, kg m, kg m^2", ("n", "ten")),),
)
def gravity_by_parameters(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """∂g_i/∂π_p, n x 10 n, row-major: the regressor at rest."""
    zeros = [ZERO] * system.size
    return row_major_entries(
        joint_entries(system, q, motions(system, q, zeros, zeros)),
        system.size,
        system.parameters,
    )


@_parameter_derivative(
    "momentum_rate_regressor",
    "N(q, qd) pi = C^T qd - g",
    inputs=("q", "qd"),
    outputs=(
        Array(
            "N",
            "regressor of C^T qd - g = d(M qd)/dt - tau, ten columns per body",
            "N m | N per kg, kg m, kg m^2",
            ("n", "ten"),
        ),
    ),
    source="De Luca & Mattone, ICRA 2003, eq. 6, and ICRA 2005 for Cᵀ q̇ as ∂T/∂q",
)
def momentum_rate_regressor(
    system: CanonicalModel, q: Coordinates, qd: Coordinates
) -> list[Scalar]:
    """N with N π = Cᵀ q̇ - g, n x 10 n, row-major: d/dt (M q̇) = τ + Cᵀ q̇ - g, for dM/dt = C +
    Cᵀ, with τ less friction and with what external wrenches give, where there are any.

    The momentum of joint j is ∫ J_j · ṙ dm, so Cᵀ q̇, all of its rate that is not ∫ J_j · r̈ dm, is
    ∫ J̇_j · ṙ dm: what the rate of unit twist j finds in the velocities. (What J_j changes by at a
    point because that moves is across ṙ.)"""
    moving, zeros = twists(system, q, qd), [ZERO] * system.size
    by_momentum = regressor_entries(
        system, unit_twist_rates(system, q, moving), velocities_as_accelerations(moving)
    )
    at_rest = joint_entries(system, q, motions(system, q, zeros, zeros))
    entries = {
        at: by_momentum.get(at, ZERO) - at_rest.get(at, ZERO) for at in {**by_momentum, **at_rest}
    }
    return row_major_entries(entries, system.size, system.parameters)
