"""The terms that are added where velocities are a twist: the axes of such a joint turn with its
body.

Its rates are not the derivatives of coordinates, so the connection Γ_ijk, with C_ij = Σ_k Γ_ijk
v_k, is not symmetric in j and k: Γ_ijk - Γ_ikj = M_i·(S_k × S_j), the momentum of joint i along the
commutator of two unit twists. All else, Ṁ = C + Cᵀ and C v + g = bias, is as ever."""

from collections.abc import Iterator
from itertools import combinations

from symgen.algorithms.composite import mass_matrix
from symgen.mechanics.canonical_model import CanonicalModel, cached_by_positions
from symgen.mechanics.spatial import Twist
from symgen.numbers.scalar import ZERO, Coordinates, Scalar, plain

Entries = dict[tuple[int, int], Scalar]


def commutators(system: CanonicalModel) -> Iterator[tuple[int, int, int, float]]:
    """The cross products of the unit twists of bodies that stay together: k, j, l and ±1 where S_k
    × S_j = ±S_l, j before k."""
    for run in dict.fromkeys(system.joint_bodies.values()):
        units = dict(zip(run, system.body(run[0]).placement.twists, strict=True))
        for j, k in combinations(run, 2):
            yield from ((k, j, i, sign) for i, sign in _along(units[k].cross(units[j]), units))


def _along(x: Twist, units: dict[int, Twist]) -> Iterator[tuple[int, float]]:
    """The unit twist that `x` is, and its sign; nothing where it vanishes."""
    for i, unit in units.items():
        product = x.w.dot(unit.w) + x.v.dot(unit.v)
        if product is not ZERO and product:
            yield i, plain(product)


@cached_by_positions
def torsion(system: CanonicalModel, q: Coordinates) -> dict[tuple[int, int, int], Scalar]:
    """½ M_i·(S_k × S_j) by (i, j, k), for j before k in a run of bodies that stay together; the
    negative where they are swapped."""
    if not system.joint_bodies:
        return {}
    m, n = mass_matrix(system, q), system.size
    return {
        (i, j, k): 0.5 * sign * m[(i - 1) * n + along - 1]
        for k, j, along, sign in commutators(system)
        for i in range(1, n + 1)
    }


def velocity_derivatives(
    system: CanonicalModel, twice_c: Entries, m: Entries, qd: Coordinates
) -> Entries:
    """∂(C v)/∂v from 2 C and M: where velocities are a twist v, column k less M (v × S_k)."""
    entries = dict(twice_c)
    for k, j, along, sign in commutators(system):
        for i in range(1, system.size + 1):
            weight = sign * m.get((i, along), ZERO)
            entries[i, k] = entries.get((i, k), ZERO) + weight * qd[j - 1]
            entries[i, j] = entries.get((i, j), ZERO) - weight * qd[k - 1]
    return entries
