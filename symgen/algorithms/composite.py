"""The mass matrix by composite rigid bodies."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from symgen.algorithms.registry import Array, quantity
from symgen.mechanics.inertia import NO_INERTIA, Inertia
from symgen.mechanics.spatial import Force
from symgen.mechanics.system import System
from symgen.numbers.scalar import ZERO, Scalar

Entries = dict[tuple[int, int], Scalar]


_row = quantity(
    "mass_matrix",
    "M(q)",
    inputs=("q",),
    needs_gravity=False,
    outputs=(Array("M", "joint-space inertia, symmetric", "kg m^2 | kg m | kg", ("n", "n")),),
    source="Featherstone, Rigid Body Dynamics Algorithms (2008), table 6.2",
)


@_row
def mass_matrix(system: System, q: Sequence[Scalar]) -> list[Scalar]:
    """Joint-space inertia M(q), n x n, symmetric, row-major (kg m², kg m, kg).

    Entries between branches are structural zeros.
    """
    return _mass_matrix(system, q, {i: system.body(i).inertia for i in system.outward})


@_row
def mass_matrix_axial(system: System, q: Sequence[Scalar]) -> list[Scalar]:
    """The same with every composite's moment about its axis kept apart, for robots with parallel
    first joints."""
    inertias = {i: system.body(i).inertia for i in system.outward}
    return _mass_matrix(
        system, q, {i: replace(n, s=n.s.remembering()) for i, n in inertias.items()}
    )


def _mass_matrix(system: System, q: Sequence[Scalar], own: Mapping[int, Inertia]) -> list[Scalar]:
    composite = dict.fromkeys(range(system.size + 1), NO_INERTIA)
    entries: Entries = {}
    for i in system.inward:
        body = system.body(i)
        with system.section(i, "composite body"):
            composite[i] = (composite[i] + own[i]).named(f"{i}")
            entries |= _column(system, i, q, body.joint.momentum(composite[i]))
            composite[body.parent] += body.placement.carried_in(composite[i], q[i - 1])
    n = range(1, system.size + 1)
    return [entries.get((max(i, j), min(i, j)), ZERO) for i in n for j in n]


def _column(system: System, i: int, q: Sequence[Scalar], momentum: Force) -> Entries:
    """M_ji for `i` and its ancestors j: the momentum at unit rate of joint i, felt by joint j.

    Where there is none in any state, no ancestor feels it, and nothing is carried to it."""
    entries = {(i, i): system.body(i).joint.project(momentum)}
    here = i
    for j in () if momentum.is_zero else system.ancestors(i):
        momentum = system.body(here).placement.carried_in(momentum, q[here - 1])
        entries[max(i, j), min(i, j)] = system.body(j).joint.project(momentum.named(f"{i}_{j}"))
        here = j
    return entries
