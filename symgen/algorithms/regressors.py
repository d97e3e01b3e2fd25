"""Regressors: joint forces and wrenches as linear functions of the inertial parameters.

The power of a twist (w, v) of a body in the accelerations a + U r of its points is ∫ (v + w × r)·(a
+ U r) dm, which is linear in the ten moments of mass (Garofalo, Ott & Albu-Schäffer, IROS 2013,
eqs. 13-16). The unit twists of the joints are carried outward to every body, where they meet its
accelerations: less work than to carry ten wrenches a body inward.
Columns follow the ten of PARAMETER_NAMES of every body in body order, about the origin and in the
axes of the link that the joint moves, then the inertia of each rotor about its axis; those of base
regressors `symgen.mechanics.base_parameters`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from symgen.algorithms.motion import motions, unit_twists
from symgen.algorithms.registry import Array, quantity
from symgen.errors import OptionError
from symgen.mechanics.base_parameters import base_values
from symgen.mechanics.canonical_model import CanonicalModel, LinkFrame
from symgen.mechanics.independence import independent_parameters
from symgen.mechanics.joint_forces import FRICTION, JointState
from symgen.mechanics.parameters import WHOLE
from symgen.mechanics.rigid_motion import Motion, position_of, rotation_columns, twist_at_frame
from symgen.mechanics.spatial import ZERO_VECTOR, Twist, Vector
from symgen.numbers.scalar import ZERO, Coordinates, Scalar
from symgen.text import shown

SOURCE = "Garofalo, Ott & Albu-Schäffer, IROS 2013, eqs. 13-16"
linear_quantity = partial(
    quantity,
    closed_loops=True,
    needs_inertia=False,
    regroupings=(WHOLE,),
    source=SOURCE,
    method="regressors",
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


@linear_quantity(
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


@linear_quantity(
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


@linear_quantity(
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


@linear_quantity(
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


@linear_quantity(
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


@linear_quantity(
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


def check_outside_loops(system: CanonicalModel, i: int, name: str) -> None:
    """Raises OptionError if the force through the joint of body `i` depends on that of a cut joint,
    which joins a body beyond the joint with another one."""
    loops = (system.coupling.general or system.coupling).loops
    for closure in (closure for loop in loops for closure in loop.closures):
        beyond = [i == b or i in system.ancestors(b) for b in closure.bodies]
        if beyond[0] != beyond[1]:
            raise OptionError(
                f"{shown(name)}: the force in it depends on the closed loop "
                f"'{shown(closure.name)}', whose forces are not computed; name a link or joint "
                "that carries all links of the loop or none"
            )


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


# -- entries ---------------------------------------------------------------------------------------


CYCLES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def velocities_as_accelerations(twists: Mapping[int, Twist]) -> dict[int, Motion]:
    """Velocities as if they were accelerations of bodies at rest: what finds momenta in them."""
    return {i: velocity_as_acceleration(twist) for i, twist in twists.items()}


def velocity_as_acceleration(twist: Twist) -> Motion:
    """The motion of one body at rest, whose accelerations are the velocities of its twist."""
    return Motion(a=twist.v, base=twist.w)


def symmetric_part(x: Motion, i: int, j: int) -> Scalar:
    """Half of U_ij + U_ji."""
    return x.product(i, j) if x.reference_is_velocity else 0.5 * (x.product(i, j) + x.product(j, i))


def skew_part(x: Motion, k: int) -> Scalar:
    """Half of U_ji - U_ij for a cycle (i, j, k)."""
    i, j = (k + 1) % 3, (k + 2) % 3
    return x.wd[k] if x.reference_is_velocity else 0.5 * (x[j, i] - x[i, j])


def mass_entry(twist: Twist, x: Motion) -> Scalar:
    """The entry of a unit mass at the body's origin."""
    return twist.v.dot(x.a)


def first_moment_entry(twist: Twist, x: Motion, k: int) -> Scalar:
    """The entry of a unit first moment along axis `k`."""
    i, j = (k + 1) % 3, (k + 2) % 3
    z, a = twist.w, x.a
    return twist.v.dot(x.column(k)) + (a[i] * z[j] - a[j] * z[i])


def second_moment_entry(twist: Twist, x: Motion, i: int, j: int) -> Scalar:
    """The entry of a unit second moment of the axes `i` and `j`: i, or j next to i."""
    z, k = twist.w, 3 - i - j
    if i == j:
        j, k = (i + 1) % 3, (i + 2) % 3
        return z[k] * x[j, i] - z[j] * x[k, i]
    difference = x.square(j) - x.square(i)  # U_jj - U_ii
    return z[i] * x[k, i] - z[j] * x[k, j] + z[k] * difference


def regressor_columns_of_body(
    system: CanonicalModel, i: int, x: Motion
) -> Callable[[Twist], list[Scalar]]:
    """The function that gives the power of a twist of body `i` in its x (both in its canonical
    frame) for each of its parameters: the ten inertial ones, or that of a rotor."""
    if i in system.rotors:
        return ROTOR_ENTRIES[system.body(i).joint.rotor_moment](x)
    link_pose = system.link_pose(i)
    at_link = x.seen_in(link_pose)
    return lambda twist: inertial_parameter_entries(twist_at_frame(twist, link_pose), at_link)


def _isotropic_entry(z: Vector, x: Motion) -> Scalar:
    """The entry of a body with unit inertia about all axes."""
    xx, yy, zz = (_spin_entry(z, x, *cycle) for cycle in CYCLES)
    return xx + yy + zz


ROTOR_ENTRIES: Final[dict[str, Callable[[Motion], Callable[[Twist], list[Scalar]]]]] = {
    "J": lambda x: lambda twist: [_spin_entry(twist.w, x, *CYCLES[2])],
    "Jo": lambda x: lambda twist: [_isotropic_entry(twist.w, x)],
    "m": lambda x: lambda twist: [mass_entry(twist, x)],
}
"""The function that gives the entries of a rotor in its motion, by the parameter of the rotor."""


def regressor_entries(
    system: CanonicalModel, units: Mapping[int, Mapping[int, Twist]], moving: Mapping[int, Motion]
) -> dict[tuple[int, int], Scalar]:
    """The power of twists of every body, by body and joint, in its motion for its ten inertial
    parameters, by joint index and column."""
    entries: dict[tuple[int, int], Scalar] = {}
    for i, columns in system.columns.items():
        with system.section(i, "columns"):
            row_of_twist = regressor_columns_of_body(system, i, moving[i])
            for j, twist in units[i].items():
                entries |= {
                    (j - 1, k): x for k, x in zip(columns, row_of_twist(twist), strict=True)
                }
    return entries


def moment_entries(twist: Twist, x: Motion) -> list[Callable[[], Scalar]]:
    """An entry, to be computed, for each of `symgen.mechanics.independence.MOMENTS`."""
    pairs = ((0, 0), (0, 1), (2, 0), (1, 1), (1, 2), (2, 2))
    return [
        lambda: mass_entry(twist, x),
        *(partial(first_moment_entry, twist, x, k) for k in range(3)),
        *(partial(second_moment_entry, twist, x, i, j) for i, j in pairs),
        lambda: 0.5 * (second_moment_entry(twist, x, 0, 0) + second_moment_entry(twist, x, 1, 1)),
        lambda: _isotropic_entry(twist.w, x),
    ]


def inertial_parameter_entries(twist: Twist, x: Motion) -> list[Scalar]:
    """An entry for each of the ten inertial parameters, from those of the second moments."""
    xy, yz, zx = (-second_moment_entry(twist, x, i, j) for i, j, _ in CYCLES)
    xx, yy, zz = (_spin_entry(twist.w, x, *cycle) for cycle in CYCLES)
    first = (first_moment_entry(twist, x, k) for k in range(3))
    return [mass_entry(twist, x), *first, xx, xy, zx, yy, yz, zz]


def _spin_entry(z: Vector, x: Motion, i: int, j: int, k: int) -> Scalar:
    """The entry of a unit I_ii: half of S_jj + S_kk - S_ii."""
    return z[i] * skew_part(x, i) + z[j] * symmetric_part(x, i, k) - z[k] * symmetric_part(x, i, j)
