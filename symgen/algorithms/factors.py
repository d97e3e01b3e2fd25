"""The mass matrix in factors, M = Lᵀ D L, without fill where the robot is a tree.

L_ij vanishes there unless j is an ancestor of i (Featherstone, Rigid Body Dynamics Algorithms,
2008, ch. 6). Where joints are coupled, the pattern of M itself tells which coordinates an
elimination reaches."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from symgen.algorithms.composite import coupled, mass_matrix, mass_matrix_shared
from symgen.mechanics.system import System, no_section
from symgen.numbers.scalar import ZERO, Scalar, named

Entries = dict[tuple[int, int], Scalar]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The order in which coordinates are eliminated, and those that each elimination reaches."""

    inward: tuple[int, ...]
    above: Mapping[int, tuple[int, ...]]


def pattern(system: System, entries: Sequence[Scalar]) -> Pattern:
    """That of the tree, or where joints are coupled that of the n x n matrix `entries`; coordinates
    from 1."""
    if system.coupling.trivial:
        inward = tuple(system.inward)
        return Pattern(inward, {i: tuple(system.ancestors(i)) for i in inward})
    inward, n = system.coordinates_inward, system.coupling.velocities
    near = {
        i: {j for j in inward if j != i and entries[(i - 1) * n + j - 1] is not ZERO}
        for i in inward
    }
    above: dict[int, tuple[int, ...]] = {}
    for at, k in enumerate(inward):
        above[k] = tuple(j for j in inward[at + 1 :] if j in near[k])
        for j in above[k]:
            near[j] |= {i for i in above[k] if i != j}
    return Pattern(inward, above)


@dataclass(frozen=True, slots=True)
class Factors:
    """M = Lᵀ D L: the entries of L below its unit diagonal by (coordinate, one above), and the
    reciprocals of D."""

    pattern: Pattern
    low: Entries
    inverse_d: dict[int, Scalar]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x of M x = b."""
        x = dict(enumerate(b, 1))
        for i in self.pattern.inward:
            for j in self.pattern.above[i]:
                x[j] = x[j] - self.low[i, j] * x[i]
            x[i] = x[i] * self.inverse_d[i]
        for i in reversed(self.pattern.inward):
            for j in self.pattern.above[i]:
                x[i] = x[i] - self.low[i, j] * x[j]
        return [x[i] for i in sorted(x)]

    def inverse(self) -> list[Scalar]:
        """M⁻¹, n x n, from L M⁻¹ = D⁻¹ L⁻ᵀ whose lower triangle is zero: row by row outward, no
        inverse of L needed."""
        found: Entries = {}
        done: list[int] = []
        for i in reversed(self.pattern.inward):
            for j in done:
                found[i, j] = found[j, i] = -self._from_above(found, i, j)
            found[i, i] = self.inverse_d[i] - self._from_above(found, i, i)
            done.append(i)
        return [found[i, j] for i in sorted(done) for j in sorted(done)]

    def _from_above(self, inverse: Entries, i: int, j: int) -> Scalar:
        return sum((self.low[i, k] * inverse[k, j] for k in self.pattern.above[i]), ZERO)


def factors(system: System, entries: Sequence[Scalar]) -> Factors:
    """Lᵀ D L of the n x n mass matrix `entries`, with one division a coordinate and no square
    roots."""
    n, way = system.coupling.velocities, pattern(system, entries)
    return _eliminated(way, entries, n, lambda k: system.sections(f"joint {k}: factors"))


def dense_factors(entries: Sequence[Scalar], n: int) -> Factors:
    """Those of any symmetric n x n matrix."""
    inward = tuple(range(n, 0, -1))
    way = Pattern(inward, {i: tuple(range(i - 1, 0, -1)) for i in inward})
    return _eliminated(way, entries, n, lambda k: no_section(""))


def _eliminated(
    way: Pattern,
    entries: Sequence[Scalar],
    n: int,
    section: Callable[[int], AbstractContextManager[None]],
) -> Factors:
    m = {(i, j): entries[(i - 1) * n + j - 1] for i in way.inward for j in (i, *way.above[i])}
    inverse_d = {}
    for k in way.inward:
        with section(k):
            inverse_d[k] = named(1.0 / m[k, k], f"d{k}")
            scaled = {i: named(m[k, i] * inverse_d[k], f"L{k}_{i}") for i in way.above[k]}
            for i in way.above[k]:
                for j in (i, *(j for j in way.above[i] if j in scaled)):
                    m[i, j] = m[i, j] - scaled[i] * m[k, j]
            m |= {(k, i): x for i, x in scaled.items()}
    return Factors(way, m, inverse_d)


def coupled_mass_matrix(system: System, q: Sequence[Scalar]) -> list[Scalar]:
    """M of the user's coordinates."""
    by_bodies = mass_matrix_shared if coupled(system) else mass_matrix
    return system.coupling.matrix(by_bodies(system, q))
