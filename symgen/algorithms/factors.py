"""The mass matrix in factors, M = Lᵀ D L, without fill where the robot is a tree.

L_ij vanishes there unless j is an ancestor of i (Featherstone, Rigid Body Dynamics Algorithms,
2008, ch. 6). Where joints are coupled, the pattern of M itself tells which coordinates an
elimination reaches."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product

from symgen.algorithms.composite import coupled, mass_matrix, mass_matrix_shared
from symgen.mechanics.canonical_model import CanonicalModel, no_section
from symgen.numbers.scalar import ZERO, Scalar, by_columns, named, positive

Entries = dict[tuple[int, int], Scalar]


@dataclass(frozen=True, slots=True)
class EliminationPattern:
    """The order in which coordinates are eliminated, and those that each elimination reaches."""

    inward: tuple[int, ...]
    above: Mapping[int, tuple[int, ...]]


def pattern(system: CanonicalModel, entries: Sequence[Scalar]) -> EliminationPattern:
    """The pattern of the tree or, where joints are coupled, of the n x n matrix `entries`;
    coordinates from 1."""
    if system.coupling.is_identity:
        inward = tuple(system.inward)
        return EliminationPattern(inward, {i: tuple(system.ancestors(i)) for i in inward})
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
    return EliminationPattern(inward, above)


Blocks = tuple[tuple[int, ...], ...]
"""The coordinates in the order of elimination, one or two at once."""


@dataclass(frozen=True, slots=True)
class MassMatrixFactors:
    """M = Lᵀ D L, D with blocks of one or two coordinates: the entries of L beside its unit
    diagonal by (coordinate, one above its block), and those of the inverses of the blocks."""

    pattern: EliminationPattern
    blocks: Blocks
    low: Entries
    inverse_d: Entries

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x of M x = b."""
        x = dict(enumerate(b, 1))
        for block in self.blocks:
            for i, j in product(block, self.pattern.above[min(block)]):
                x[j] = x[j] - self.low[i, j] * x[i]
            x |= {i: sum((x[j] * self.inverse_d[i, j] for j in block), ZERO) for i in block}
        for block in reversed(self.blocks):
            for i, j in product(block, self.pattern.above[min(block)]):
                x[i] = x[i] - self.low[i, j] * x[j]
        return [x[i] for i in sorted(x)]

    def solve_columns(self, matrix: Sequence[Scalar]) -> list[Scalar]:
        """X of M X = B, both n x m, row-major."""
        n = len(self.pattern.inward)
        m = len(matrix) // n
        low = [(i, j) for b in self.blocks for i, j in product(b, self.pattern.above[min(b)])]
        diagonal = [(i, j) for b in self.blocks for i, j in product(b, b)]

        def solve(shared: Sequence[Scalar], column: Sequence[Scalar]) -> list[Scalar]:
            entries = dict(zip((*low, *diagonal), shared, strict=True))
            return replace(self, low=entries, inverse_d=entries).solve(column)

        shared = [*(self.low[k] for k in low), *(self.inverse_d[k] for k in diagonal)]
        columns = by_columns(solve, shared, [matrix[k::m] for k in range(m)])
        return [column[i] for i in range(n) for column in columns]

    def inverse(self) -> list[Scalar]:
        """M⁻¹, n x n, from L M⁻¹ = D⁻¹ L⁻ᵀ whose lower triangle is zero: row by row outward, no
        inverse of L needed."""
        entries: Entries = {}
        inner: list[int] = []
        for block in reversed(self.blocks):
            above = self.pattern.above[min(block)]
            for i, j in product(block, inner):
                entries[i, j] = entries[j, i] = -self._from_above(entries, above, i, j)
            for i, j in combinations_with_replacement(block, 2):
                entry = self.inverse_d[i, j] - self._from_above(entries, above, i, j)
                entries[i, j] = entries[j, i] = entry
            inner += block
        return [entries[i, j] for i in sorted(inner) for j in sorted(inner)]

    def _from_above(self, inverse: Entries, above: Sequence[int], i: int, j: int) -> Scalar:
        return sum((self.low[i, k] * inverse[k, j] for k in above), ZERO)


Section = Callable[[int], AbstractContextManager[None]]


def factors(system: CanonicalModel, entries: Sequence[Scalar]) -> MassMatrixFactors:
    """Lᵀ D L of the n x n mass matrix `entries`, with one division a coordinate and no square
    roots."""
    order = pattern(system, entries)
    return _eliminated(order, _one_by_one(order), entries, _sections(system))


def factors_by_pairs(system: CanonicalModel, entries: Sequence[Scalar]) -> MassMatrixFactors:
    """M = Lᵀ D L with blocks of two coordinates wherever a body that carries others is the only one
    to be paired with its parent: one division after the other for two coordinates. Leaves stay
    alone, as their own inertia about their joint is a number."""
    order = pattern(system, entries)
    leaves = {i for i in order.inward if not any(i in above for above in order.above.values())}
    blocks = list[tuple[int, ...]]()
    free = {i for i in order.inward if i not in leaves}
    mates: dict[int, int] = {}
    for i in order.inward:
        parent, *others = order.above[i] or (0,)
        without_fill = parent in free and tuple(others) == order.above[parent]  # else there is fill
        if i in free and without_fill and parent < i:
            mates[parent] = i
            free -= {i, parent}
    waiting = set(mates.values())
    for i in order.inward:
        if i not in waiting:
            blocks.append((mates[i], i) if i in mates else (i,))
    return _eliminated(order, tuple(blocks), entries, _sections(system))


def _one_by_one(order: EliminationPattern) -> Blocks:
    return tuple((i,) for i in order.inward)


def _sections(system: CanonicalModel) -> Section:
    return lambda k: system.sections(f"joint {k}: factors")


def dense_factors(entries: Sequence[Scalar], n: int) -> MassMatrixFactors:
    """The factors Lᵀ D L of any symmetric n x n matrix, row-major."""
    inward = tuple(range(n, 0, -1))
    order = EliminationPattern(inward, {i: tuple(range(i - 1, 0, -1)) for i in inward})
    return _eliminated(order, _one_by_one(order), entries, lambda k: no_section(""))


def _eliminated(
    order: EliminationPattern, blocks: Blocks, entries: Sequence[Scalar], section: Section
) -> MassMatrixFactors:
    n = len(order.inward)
    m = {(i, j): entries[(i - 1) * n + j - 1] for i in order.inward for j in (i, *order.above[i])}
    inverse_d: Entries = {}
    for block in blocks:
        above = order.above[min(block)]
        with section(block[0]):
            inverse, scaled = (_single if len(block) < 2 else _pair)(m, block, above)
            inverse_d |= inverse
            for i in above:
                for j in (i, *(j for j in order.above[i] if j in above)):
                    for k in block:
                        m[i, j] = m[i, j] - scaled[k, i] * m[k, j]
            m |= scaled
    return MassMatrixFactors(order, blocks, m, inverse_d)


def _single(m: Entries, block: Sequence[int], above: Sequence[int]) -> tuple[Entries, Entries]:
    """The inverse of a pivot, and the row of L."""
    (k,) = block
    inverse = named(1.0 / m[k, k], f"d{k}")
    return {(k, k): inverse}, {(k, i): named(m[k, i] * inverse, f"L{k}_{i}") for i in above}


def _pair(m: Entries, block: Sequence[int], above: Sequence[int]) -> tuple[Entries, Entries]:
    """The inverse of a pivot of two coordinates, by one division, and its rows of L, which wait for
    no inverse but the determinant's. It is positive where the determinant and one entry are."""
    k, j = block
    a, b, c = positive(m[k, k]), m[k, j], m[j, j]
    r = named(1.0 / (a * c - b * b), f"d{k}_{j}")
    inverse = {(k, k): c * r, (j, j): a * r, (k, j): -(b * r)}
    inverse[j, k] = inverse[k, j]
    rows = {}
    for i in above:
        u, v = m[k, i], m[j, i]
        rows[k, i] = named((c * u - b * v) * r, f"L{k}_{i}")
        rows[j, i] = named((a * v - b * u) * r, f"L{j}_{i}")
    return inverse, rows


def coupled_mass_matrix(system: CanonicalModel, q: Sequence[Scalar]) -> list[Scalar]:
    """M of the user's coordinates."""
    by_bodies = mass_matrix_shared if coupled(system) else mass_matrix
    return system.coupling.matrix(by_bodies(system, q))
