"""The mass matrix by composite rigid bodies."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from symgen.algorithms.fluids import with_added_mass
from symgen.algorithms.registry import Array, quantity
from symgen.algorithms.requirements import requirement
from symgen.mechanics.canonical_model import CanonicalModel, cached_by_positions
from symgen.mechanics.inertia import NO_INERTIA, Inertia
from symgen.mechanics.moments import shift_to_parent_named
from symgen.mechanics.spatial import ZERO_FORCE, Force, multiple
from symgen.numbers.scalar import ZERO, Scalar

Entries = dict[tuple[int, int], Scalar]
Momenta = dict[int, tuple[Scalar, Force]]


_formulation = partial(
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


_row = _formulation(applicable=few_follow, closed_loops=True)


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


@_formulation(applicable=coupled, closed_loops=True)
def mass_matrix_shared(system: CanonicalModel, q: Sequence[Scalar]) -> list[Scalar]:
    """Where joints are coupled: Gᵀ M G at the bodies that lead, and none of those that follow, from
    one momentum for all that a coordinate moves."""
    rigid = _mass_matrix(system, q, _inertias(system), _SharedColumns(system, q))
    return with_added_mass(system, q, rigid)


@_row
def mass_matrix_axial(system: CanonicalModel, q: Sequence[Scalar]) -> list[Scalar]:
    """M by composite bodies, n x n, with every composite's moment about its axis kept apart, for
    robots with parallel first joints."""
    inertias = {i: replace(n, s=n.s.remembering()) for i, n in _inertias(system).items()}
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
    for (i, j), felt in columns.entries.items():
        matrix[n * (i - 1) + j - 1] = matrix[n * (j - 1) + i - 1] = felt
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
            felt = self.system.body(j).joint.project(momentum.named(f"{i}_{j}"))
            self.entries[max(i, j), min(i, j)] = felt
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
        self.same = operator.is_ if system.coupling.rest else operator.eq
        self.beyond: dict[int, Momenta] = {i: {} for i in range(system.size + 1)}

    def add(self, i: int, momentum: Force) -> None:
        """Adds the entries of joint i: those with the coordinates that move bodies beyond it, and
        of its own."""
        factors = (term.factor for term in self.system.coupling.drives[i - 1].terms)
        leading = [*zip(self.leaders[i - 1], factors, strict=True)]
        moving = {
            at: (k, total.named(f"{at}_{i}")) for at, (k, total) in self.beyond.pop(i).items()
        }
        project = self.system.body(i).joint.project
        for at, factor in leading:
            for other, (k, total) in moving.items():
                twice = 2.0 if other == at else 1.0
                self._count(at, other, multiple(twice * factor * k, project(total)))
            for other, far in leading:
                if other >= at:
                    self._count(at, other, multiple(factor * far, project(momentum)))
        parts = (*moving.items(), *((at, (k, momentum)) for at, k in leading))
        self._pass(i, _sum(parts, self.same))

    def _pass(self, i: int, moving: Momenta) -> None:
        """The momenta to the parent of body i."""
        parent = self.system.body(i).parent
        at_parent = (
            (at, (k, self.carried(i, x, f"{at}_{i}")))
            for at, (k, x) in moving.items()
            if not x.is_zero
        )
        if parent:
            self.beyond[parent] = _sum((*self.beyond[parent].items(), *at_parent), self.same)

    def _count(self, i: int, j: int, felt: Scalar) -> None:
        at = max(i, j), min(i, j)
        self.entries[at] = self.entries.get(at, ZERO) + felt


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
