"""The mass matrix by composite rigid bodies."""

from collections.abc import Sequence

from symgen.mechanics.spatial import NO_INERTIA
from symgen.mechanics.system import System
from symgen.scalar import ZERO, Scalar


def mass_matrix(system: System, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Joint-space inertia M(q), n x n, symmetric (kg m², kg m, kg). F08 table 6.2, in pseudo-inertia form.

    Entries between branches are structural zeros.
    """
    n = system.dof
    composite = {}
    matrix = [[ZERO] * n for _ in range(n)]
    for i in system.inward:
        body = system.body(i)
        composite[i] = composite.get(i, NO_INERTIA) + body.inertia
        _column(system, i, q, body.joint.momentum(composite[i]), matrix)
        inertia = composite[i]
        for step in reversed(body.placement.steps(q[i - 1])):
            inertia = inertia.moved_in(step)
        composite[body.parent] = composite.get(body.parent, NO_INERTIA) + inertia
    return matrix


def _column(system, i, q, momentum, matrix):
    matrix[i - 1][i - 1] = system.body(i).joint.project(momentum)
    j = i
    for parent in system.ancestors(i):
        for step in reversed(system.body(j).placement.steps(q[j - 1])):
            momentum = momentum.moved_in(step)
        j = parent
        entry = system.body(j).joint.project(momentum)
        matrix[i - 1][j - 1] = matrix[j - 1][i - 1] = entry
