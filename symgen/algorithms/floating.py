"""What is different where velocities are a twist: the axes of a floating joint turn with its body.

Its rates are not the derivatives of coordinates, so the connection Γ_ijk, with C_ij = Σ_k Γ_ijk
v_k, is not symmetric in j and k: Γ_ijk - Γ_ikj = M_i·(S_k × S_j), the momentum of joint i along the
commutator of two unit twists. All else, Ṁ = C + Cᵀ and C v + g = bias, is as ever."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from symgen.algorithms.composite import mass_matrix
from symgen.mechanics.floating import RUN
from symgen.mechanics.system import System
from symgen.numbers.scalar import ZERO, Scalar

Coordinates = Sequence[Scalar]
Entries = dict[tuple[int, int], Scalar]


def runs(system: System) -> list[int]:
    """The first body of every floating joint."""
    return [i for i in range(1, system.size + 1) if system.body(i).free == 1]


def commutators(first: int) -> Iterator[tuple[int, int, int, float]]:
    """Of the unit twists of a run: k, j, l and ±1 where S_k × S_j = ±S_l, j before k in the run."""
    for (a, (kind_a, j)), (b, (kind_b, k)) in combinations(enumerate(RUN), 2):
        if j != k and (kind_a, kind_b) != ("prismatic", "prismatic"):
            sign = 1.0 if (k + 1) % 3 == j else -1.0
            yield first + b, first + a, first + RUN.index((kind_a, 3 - j - k)), sign


def torsion(system: System, q: Coordinates) -> dict[tuple[int, int, int], Scalar]:
    """½ M_i·(S_k × S_j) by (i, j, k), for j before k in a run; the negative where they are
    swapped."""
    if not runs(system):
        return {}
    m, n = mass_matrix(system, q), system.size
    return {
        (i, j, k): 0.5 * sign * m[(i - 1) * n + along - 1]
        for first in runs(system)
        for k, j, along, sign in commutators(first)
        for i in range(1, n + 1)
    }


def by_rates(system: System, twice_c: Entries, m: Entries, qd: Coordinates) -> Entries:
    """∂(C v)/∂v from 2 C and M: column k of a floating joint less M (v × S_k), v the joint's own
    twist."""
    found = dict(twice_c)
    for first in runs(system):
        for k, j, along, sign in commutators(first):
            for i in range(1, system.size + 1):
                weight = sign * m.get((i, along), ZERO)
                found[i, k] = found.get((i, k), ZERO) + weight * qd[j - 1]
                found[i, j] = found.get((i, j), ZERO) - weight * qd[k - 1]
    return found
