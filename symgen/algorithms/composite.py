"""The mass matrix by composite rigid bodies, and in factors, M = Lᵀ D L, without fill where the
robot is a tree.

L_ij vanishes there unless j is an ancestor of i (Featherstone, Rigid Body Dynamics Algorithms,
2008, ch. 6). Where joints are coupled, the pattern of M itself tells which coordinates an
elimination reaches."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations_with_replacement, product

from symgen.algorithms.fluids import with_added_mass
from symgen.algorithms.registry import Array, quantity
from symgen.algorithms.requirements import requirement
from symgen.mechanics.canonical_model import CanonicalModel, cached_by_positions, no_section
from symgen.mechanics.inertia import NO_INERTIA, Inertia
from symgen.mechanics.moments import shift_to_parent_named
from symgen.mechanics.spatial import ZERO_FORCE, Force, multiple
from symgen.numbers.scalar import ZERO, Scalar, by_columns, named, positive

Entries = dict[tuple[int, int], Scalar]
Momenta = dict[int, tuple[Scalar, Force]]


_mass_matrix_row = partial(
    quantity,
    "mass_matrix",
    "M(q)",
    inputs=("q",),
    needs_gravity=False,
    outputs=(Array("M", "joint-space inertia, symmetric", "kg m^2 | kg m | kg", ("n", "n")),),
    source="Featherstone, Rigid Body Dynamics Algorithms (2008), table 6.2",
)


@requirement("only robots with at most three bodies to a coordinate")
def few_follow(system: CanonicalModel) -> bool:
    """Whether there are at most three bodies for each coordinate."""
    return system.size <= 3 * system.coupling.velocities


_row = _mass_matrix_row(applicable=few_follow, closed_loops=True)


@_row
@cached_by_positions
def mass_matrix(system: CanonicalModel, q: Sequence[Scalar]) -> list[Scalar]:
    """Joint-space inertia M(q), n x n, symmetric, row-major (kg m², kg m, kg).

    Entries between branches are structural zeros.
    """
    rigid = _mass_matrix(system, q, _inertias(system), _Columns(system, q))
    return with_added_mass(system, q, rigid)


@requirement("only robots with joints that follow others or with rotors")
def coupled(system: CanonicalModel) -> bool:
    """Whether there are joints that follow others, or rotors."""
    return system.size != system.coupling.velocities


@_mass_matrix_row(applicable=coupled, closed_loops=True)
def mass_matrix_shared(system: CanonicalModel, q: Sequence[Scalar]) -> list[Scalar]:
    """Where joints are coupled: Gᵀ M G at the bodies that lead, and none of those that follow, from
    one momentum for all that a coordinate moves."""
    rigid = _mass_matrix(system, q, _inertias(system), _SharedColumns(system, q))
    return with_added_mass(system, q, rigid)


@_row
def mass_matrix_axial(system: CanonicalModel, q: Sequence[Scalar]) -> list[Scalar]:
    """M by composite bodies, n x n, with every composite's moment about its axis kept apart, for
    robots with parallel first joints."""
    inertias = {i: replace(n, s=n.s.keeping_polar()) for i, n in _inertias(system).items()}
    return _mass_matrix(system, q, inertias, _Columns(system, q))


def _inertias(system: CanonicalModel) -> dict[int, Inertia]:
    return {i: system.body(i).inertia for i in system.outward}


def _mass_matrix(
    system: CanonicalModel,
    q: Sequence[Scalar],
    inertias: Mapping[int, Inertia],
    columns: "_Columns",
) -> list[Scalar]:
    composite = dict.fromkeys(range(system.size + 1), NO_INERTIA)
    for i in system.inward:
        body = system.body(i)
        with system.section(i, "composite body"):
            composite[i] = (composite[i] + inertias[i]).named(f"{i}")
            columns.add(i, body.joint.momentum(composite[i]))
            steps = system.steps(i, q)
            composite[body.parent] += shift_to_parent_named(composite[i], steps, f"{i}")
    n = system.size
    matrix: list[Scalar] = [ZERO] * (n * n)  # without a look at each entry of long chains
    for (i, j), entry in columns.entries.items():
        matrix[n * (i - 1) + j - 1] = matrix[n * (j - 1) + i - 1] = entry
    return matrix


class _Columns:
    """Column by column: the momentum of what moves with each joint at its unit rate."""

    def __init__(self, system: CanonicalModel, q: Sequence[Scalar]) -> None:
        self.system, self.q = system, q
        self.entries: Entries = {}

    def add(self, i: int, momentum: Force) -> None:
        """M_ji for `i` and its ancestors j: the momentum at unit rate of joint i, felt by joint j.

        Where there is none in any state, no ancestor feels it, and nothing is carried to it."""
        self.entries[i, i] = self.system.body(i).joint.project(momentum)
        at = i
        for j in () if momentum.is_zero else self.system.ancestors(i):
            momentum = self.carried(at, momentum, f"{i}_{at}" if at != i else f"{i}")
            entry = self.system.body(j).joint.project(momentum.named(f"{i}_{j}"))
            self.entries[max(i, j), min(i, j)] = entry
            at = j

    def carried(self, i: int, momentum: Force, label: str) -> Force:
        """In the axes of the parent of body `i`; the label names it in generated code."""
        steps = self.system.steps(i, self.q)
        return shift_to_parent_named(momentum, steps, label)


class _SharedColumns(_Columns):
    """Where several bodies move by one coordinate, one momentum for all of them: that of all that
    it moves beyond each body, as a factor and what it scales. What their joints feel counts for the
    one that leads: entries are those of Gᵀ M G at leaders, and none of the bodies that follow."""

    def __init__(self, system: CanonicalModel, q: Sequence[Scalar]) -> None:
        super().__init__(system, q)
        self.leaders = system.leaders
        self.same = operator.is_ if system.coupling.bias_accelerations else operator.eq
        self.beyond: dict[int, Momenta] = {i: {} for i in range(system.size + 1)}

    def add(self, i: int, momentum: Force) -> None:
        """Adds the entries of joint i: those with the coordinates that move bodies beyond it, and
        of its own."""
        factorize = (term.factor for term in self.system.coupling.maps[i - 1].terms)
        leading = [*zip(self.leaders[i - 1], factorize, strict=True)]
        moving = {
            at: (k, total.named(f"{at}_{i}")) for at, (k, total) in self.beyond.pop(i).items()
        }
        project = self.system.body(i).joint.project
        for at, factor in leading:
            for other, (k, total) in moving.items():
                multiplicity = 2.0 if other == at else 1.0
                self._add_entry(at, other, multiple(multiplicity * factor * k, project(total)))
            for other, other_factor in leading:
                if other >= at:
                    self._add_entry(at, other, multiple(factor * other_factor, project(momentum)))
        parts = (*moving.items(), *((at, (k, momentum)) for at, k in leading))
        self._pass_to_parent(i, _sum(parts, self.same))

    def _pass_to_parent(self, i: int, moving: Momenta) -> None:
        """The momenta to the parent of body i."""
        parent = self.system.body(i).parent
        at_parent = (
            (at, (k, self.carried(i, x, f"{at}_{i}")))
            for at, (k, x) in moving.items()
            if not x.is_zero
        )
        if parent:
            self.beyond[parent] = _sum((*self.beyond[parent].items(), *at_parent), self.same)

    def _add_entry(self, i: int, j: int, entry: Scalar) -> None:
        at = max(i, j), min(i, j)
        self.entries[at] = self.entries.get(at, ZERO) + entry


def _sum(
    parts: Iterable[tuple[int, tuple[Scalar, Force]]], same: Callable[[Scalar, Scalar], bool]
) -> Momenta:
    """Momenta by leader; factors are multiplied out where they are not the same."""
    momenta: Momenta = {}
    for at, (k, momentum) in parts:
        factor, before = momenta.get(at, (k, ZERO_FORCE))
        if same(factor, k):
            momenta[at] = k, before + momentum
        else:
            momenta[at] = 1.0, _scaled(factor, before) + _scaled(k, momentum)
    return momenta


def _scaled(k: Scalar, momentum: Force) -> Force:
    return momentum if isinstance(k, (int, float)) and k == 1 else momentum.scaled(k)


@dataclass(frozen=True, slots=True)
class EliminationPattern:
    """The order in which coordinates are eliminated, and those that each elimination reaches."""

    inward: tuple[int, ...]
    above: Mapping[int, tuple[int, ...]]


def elimination_pattern(system: CanonicalModel, entries: Sequence[Scalar]) -> EliminationPattern:
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
    l_entries: Entries
    inverse_d: Entries

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x of M x = b."""
        x = dict(enumerate(b, 1))
        for block in self.blocks:
            for i, j in product(block, self.pattern.above[min(block)]):
                x[j] = x[j] - self.l_entries[i, j] * x[i]
            x |= {i: sum((x[j] * self.inverse_d[i, j] for j in block), ZERO) for i in block}
        for block in reversed(self.blocks):
            for i, j in product(block, self.pattern.above[min(block)]):
                x[i] = x[i] - self.l_entries[i, j] * x[j]
        return [x[i] for i in sorted(x)]

    def solve_columns(self, matrix: Sequence[Scalar]) -> list[Scalar]:
        """X of M X = B, both n x m, row-major."""
        n = len(self.pattern.inward)
        m = len(matrix) // n
        l_indices = [(i, j) for b in self.blocks for i, j in product(b, self.pattern.above[min(b)])]
        diagonal = [(i, j) for b in self.blocks for i, j in product(b, b)]

        def solve(shared: Sequence[Scalar], column: Sequence[Scalar]) -> list[Scalar]:
            entries = dict(zip((*l_indices, *diagonal), shared, strict=True))
            return replace(self, l_entries=entries, inverse_d=entries).solve(column)

        shared = [*(self.l_entries[k] for k in l_indices), *(self.inverse_d[k] for k in diagonal)]
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
        return sum((self.l_entries[i, k] * inverse[k, j] for k in above), ZERO)


Section = Callable[[int], AbstractContextManager[None]]


def factorize(system: CanonicalModel, entries: Sequence[Scalar]) -> MassMatrixFactors:
    """Lᵀ D L of the n x n mass matrix `entries`, with one division a coordinate and no square
    roots."""
    order = elimination_pattern(system, entries)
    blocks = tuple((i,) for i in order.inward)
    return _eliminated(order, blocks, entries, _factor_sections(system))


def factorize_in_pairs(system: CanonicalModel, entries: Sequence[Scalar]) -> MassMatrixFactors:
    """M = Lᵀ D L with blocks of two coordinates wherever a body that carries others is the only one
    to be paired with its parent: one division after the other for two coordinates. Leaves stay
    alone, as their own inertia about their joint is a number."""
    order = elimination_pattern(system, entries)
    leaves = {i for i in order.inward if not any(i in above for above in order.above.values())}
    blocks = list[tuple[int, ...]]()
    unpaired = {i for i in order.inward if i not in leaves}
    partners: dict[int, int] = {}
    for i in order.inward:
        parent, *others = order.above[i] or (0,)
        without_fill = (
            parent in unpaired and tuple(others) == order.above[parent]
        )  # else there is fill
        if i in unpaired and without_fill and parent < i:
            partners[parent] = i
            unpaired -= {i, parent}
    paired = set(partners.values())
    for i in order.inward:
        if i not in paired:
            blocks.append((partners[i], i) if i in partners else (i,))
    return _eliminated(order, tuple(blocks), entries, _factor_sections(system))


def _factor_sections(system: CanonicalModel) -> Section:
    return lambda k: system.sections(f"joint {k}: factors")


def factorize_dense(entries: Sequence[Scalar], n: int) -> MassMatrixFactors:
    """The factors Lᵀ D L of any symmetric n x n matrix, row-major."""
    inward = tuple(range(n, 0, -1))
    order = EliminationPattern(inward, {i: tuple(range(i - 1, 0, -1)) for i in inward})
    blocks = tuple((i,) for i in inward)
    return _eliminated(order, blocks, entries, lambda k: no_section(""))


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
