"""Entries of regressors: the power of a twist in the motion of a rigid body for each inertial
parameter.

The power of a twist (w, v) of a body in the accelerations a + U r of its points is ∫ (v + w × r)·(a
+ U r) dm, which is linear in the ten moments of mass (Garofalo, Ott & Albu-Schäffer, IROS 2013,
eqs. 13-16)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.rigid_motion import Motion, twist_at_frame
from symgen.mechanics.spatial import Twist, Vector
from symgen.numbers.scalar import Scalar

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
