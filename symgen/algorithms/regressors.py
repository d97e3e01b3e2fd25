"""Regressors: joint forces, wrenches, momenta and energies as linear functions of the inertial
parameters.

The unit twists of the joints are carried outward to every body, where they meet its
accelerations (see `symgen.algorithms.regressor_entries`): less work than to carry ten wrenches a
body inward.
Columns follow the ten of PARAMETER_NAMES of every body in body order, about the origin and in the
axes of the link that the joint moves, then the inertia of each rotor about its axis; those of base
regressors `symgen.mechanics.base_parameters`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from symgen.algorithms.motion import (
    PotentialPerMass,
    motions,
    potential_per_mass,
    twists,
    unit_twists,
)
from symgen.algorithms.registry import Array, quantity
from symgen.algorithms.regressor_entries import (
    moment_entries,
    regressor_columns_of_body,
    regressor_entries,
    velocities_as_accelerations,
)
from symgen.algorithms.requirements import check_outside_loops
from symgen.mechanics.base_parameters import base_values
from symgen.mechanics.canonical_model import CanonicalModel, LinkFrame
from symgen.mechanics.independence import independent_parameters
from symgen.mechanics.joint_forces import FRICTION, LAWS, JointState
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.rigid_motion import Motion, position_of, rotation_columns, twist_at_frame
from symgen.mechanics.spatial import ZERO_VECTOR, Twist
from symgen.numbers.scalar import ZERO, Coordinates, Scalar

SOURCE = "Garofalo, Ott & Albu-Schäffer, IROS 2013, eqs. 13-16"
_linear_quantity = partial(
    quantity, closed_loops=True, needs_inertia=False, regroupings=(WHOLE,), source=SOURCE
)
"""A quantity that is linear in the inertial parameters."""
SLOTINE_LI = (
    "Slotine & Li, IJRR 1987; with the C of Christoffel symbols (Echeandia & Wensing 2021, eq. 9) "
    "instead of the C of Garofalo et al. (2013), eq. 16"
)


def joint_entries(
    system: CanonicalModel, q: Coordinates, body_motions: Mapping[int, Motion]
) -> dict[tuple[int, int], Scalar]:
    """The entries of every joint for the inertial parameters of every body, by joint index and
    column."""
    return regressor_entries(system, unit_twists(system, q), body_motions)


def base_entries(
    system: CanonicalModel, q: Coordinates, body_motions: Mapping[int, Motion]
) -> dict[tuple[int, int], Scalar]:
    """The entries of every joint for every base parameter, by joint index and column."""
    units = unit_twists(system, q)
    entries: dict[tuple[int, int], Scalar] = {}
    for column, (i, k) in enumerate(independent_parameters(system).keys):
        with system.section(i, "columns"):
            entries |= {
                (j - 1, column): moment_entries(unit, body_motions[i])[k]()
                for j, unit in units[i].items()
            }
    return entries


def row_major_entries(
    entries: Mapping[tuple[int, int], Scalar], rows: int, columns: int
) -> list[Scalar]:
    """All entries row-major, structural zeros where there is none."""
    return [entries.get((i, j), ZERO) for i in range(rows) for j in range(columns)]


# -- quantities ------------------------------------------------------------------------------------

Y = Array("Y", "regressor, ten columns per body", "N m | N per kg, kg m, kg m^2", ("n", "y"))
Y_BASE = Array(
    "Y_b", "regressor, one column per base parameter", "N m | N per kg, kg m, kg m^2", ("n", "y_b")
)


def with_passive_columns(
    entries: Mapping[tuple[int, int], Scalar],
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates | None,
    columns: int,
) -> list[Scalar]:
    """All entries row-major; the columns of friction and springs are behind those of inertia.
    Those of friction are zero where `qd` is None."""
    columns_of = {
        column: (i, law) for column, (i, law) in enumerate(system.passive_columns, columns)
    }
    passive = {
        (i - 1, column): system.body(i).passive.column(
            law, JointState(q[i - 1], ZERO if qd is None else qd[i - 1])
        )
        for column, (i, law) in columns_of.items()
        if qd is not None or law not in FRICTION
    }
    return row_major_entries({**entries, **passive}, system.size, columns + len(columns_of))


@_linear_quantity(
    "regressor",
    "Y(q, qd, qdd) pi = tau",
    inputs=("q", "qd", "qdd"),
    outputs=(Y,),
)
def regressor(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> list[Scalar]:
    """Y with tau = Y π for the ten inertial parameters of each body, n x 10 n, row-major."""
    entries = joint_entries(system, q, motions(system, q, qd, qdd))
    return with_passive_columns(entries, system, q, qd, system.parameters)


@_linear_quantity(
    "base_regressor",
    "Y_b(q, qd, qdd) beta = tau",
    inputs=("q", "qd", "qdd"),
    outputs=(Y_BASE,),
)
def base_regressor(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> list[Scalar]:
    """Y_b with tau = Y_b β for the base parameters, n x b, row-major."""
    entries = base_entries(system, q, motions(system, q, qd, qdd))
    return with_passive_columns(entries, system, q, qd, len(independent_parameters(system).keys))


@_linear_quantity(
    "slotine_li_regressor",
    "Y(q, qd, qd_r, qdd_r) pi = M qdd_r + C qd_r + g",
    inputs=("q", "qd", "qd_r", "qdd_r"),
    outputs=(replace(Y, name="Y_r"),),
    source=SLOTINE_LI,
)
def slotine_li_regressor(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qd_r: Coordinates, qdd_r: Coordinates
) -> list[Scalar]:
    """Y_r with Y_r π = M q̈_r + C q̇_r + g, C that of `coriolis_matrix`; n x 10 n, row-major.

    C_ij = ∫ J_iᵀ dJ_j/dt dm (Echeandia & Wensing 2021, eq. 9), so the
    accelerations are the time derivatives of the reference velocities."""
    entries = joint_entries(system, q, motions(system, q, qd, qdd_r, qd_r))
    return with_passive_columns(entries, system, q, qd, system.parameters)


@_linear_quantity(
    "slotine_li_base_regressor",
    "Y_b(q, qd, qd_r, qdd_r) beta = M qdd_r + C qd_r + g",
    inputs=("q", "qd", "qd_r", "qdd_r"),
    outputs=(replace(Y_BASE, name="Y_rb"),),
    source=SLOTINE_LI,
)
def slotine_li_base_regressor(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qd_r: Coordinates, qdd_r: Coordinates
) -> list[Scalar]:
    """Y_rb with Y_rb β = M q̈_r + C q̇_r + g for the base parameters, n x b, row-major."""
    entries = base_entries(system, q, motions(system, q, qd, qdd_r, qd_r))
    return with_passive_columns(entries, system, q, qd, len(independent_parameters(system).keys))


@_linear_quantity(
    "base_parameters",
    "beta(pi)",
    inputs=("ten",),
    needs_gravity=False,
    outputs=(Array("beta", "base parameters", "kg | kg m | kg m^2", ("b",)),),
    source="Gautier & Khalil, IEEE T-RA 1990; Gautier, J. Robotic Systems 1991",
)
def base_parameters(system: CanonicalModel, ten: Sequence[Scalar]) -> list[Scalar]:
    """The base parameters from the inertial parameters of all bodies, b numbers (kg, kg m,
    kg m²)."""
    return base_values(system, ten)


@_linear_quantity(
    "wrench_regressor",
    "W(q, qd, qdd) pi = force and moment on a link",
    inputs=("q", "qd", "qdd"),
    subject="link",
    outputs=(
        Array(
            "W", "wrench regressor, ten columns per body", "N, N m per kg, kg m, kg m^2", (6, "ten")
        ),
    ),
)
def wrench_regressor(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates, *, link: str
) -> list[Scalar]:
    """W with W π the force and moment on the body of `link` through its joint, 6 x 10 n, row-major.

    Force first, moment about the link's origin, both in the link's axes: what a six-axis sensor
    feels."""
    return wrench_entries(system, (q, qd, qdd), system.link_frame(link), link)


def wrench_entries(
    system: CanonicalModel, state: Sequence[Coordinates], frame: LinkFrame, name: str
) -> list[Scalar]:
    """The regressor of the force and moment that move the body of a frame and all beyond it, about
    the origin of the frame in its axes, 6 x 10 n, row-major; `state` is (q, q̇, q̈). Raises
    OptionError where closed loops add to it."""
    check_outside_loops(system, frame.body, name)
    body_motions, units = motions(system, *state), _unit_twists_of_frame(system, state[0], frame)
    entries: dict[tuple[int, int], Scalar] = {}
    for i, columns in system.columns.items():
        read = regressor_columns_of_body(system, i, body_motions[i])
        for row, twist in enumerate(units.get(i, ())):
            entries |= {(row, k): x for k, x in zip(columns, read(twist), strict=True)}
    return row_major_entries(entries, 6, system.parameters)


def _unit_twists_of_frame(
    system: CanonicalModel, q: Coordinates, frame: LinkFrame
) -> dict[int, list[Twist]]:
    """The six unit twists about a frame, at its body and at all that the body carries; of a frame
    of the base at all that is on the robot."""
    axes, place = rotation_columns(frame.pose), position_of(frame.pose)
    units = {
        frame.body: [Twist(ZERO_VECTOR, e) for e in axes] + [Twist(e, place.cross(e)) for e in axes]
    }
    for i in (i for i in system.outward if system.body(i).on_robot):
        parent = system.body(i).parent
        before = units.get(parent, ())
        if not parent:
            before = [twist_at_frame(twist, system.roots[i]) for twist in before]
        if before:
            units[i] = [twist.to_child(system.steps(i, q)) for twist in before]
    return units


@_linear_quantity(
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


@_linear_quantity(
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


@_linear_quantity(
    "potential_energy_regressor",
    "u(q) pi = V",
    inputs=("q",),
    outputs=(Array("Y_V", "potential energy regressor", "J per kg, kg m, kg m^2", ("y_v",)),),
)
def potential_energy_regressor(system: CanonicalModel, q: Coordinates) -> list[Scalar]:
    """u with u·π the potential energy of gravity, zero at the root link's origin, 10 n numbers;
    then of each joint those of its spring, without the ½ k r² that no state changes."""
    entries = potential_per_mass(system, q)
    of_links = [
        x
        for i in system.link_bodies
        for x in _potential_entries(entries[i].seen_in(system.link_pose(i)))
    ]
    return [*of_links, *[ZERO] * len(system.rotors), *_spring_entries(system, q)]


def _spring_entries(system: CanonicalModel, q: Coordinates) -> Iterator[Scalar]:
    """The entries of the energy of springs for each coefficient, joint by joint."""
    for i, law in system.passive_columns:
        energy = LAWS[law].energy
        if energy is not None:
            yield energy(JointState(q[i - 1], ZERO), system.body(i).passive.shape)


def _potential_entries(potential: PotentialPerMass) -> list[Scalar]:
    return [potential.level, *potential.slope, *[ZERO] * 6]
