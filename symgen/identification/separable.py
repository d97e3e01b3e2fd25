"""Which unknowns of drives no motion can tell from base parameters: the inertia of the first rotor
of a standing arm is part of an inertia about the same axis."""

from collections.abc import Callable
from typing import Final

import numpy as np

from symgen.identification.drives import DriveColumn, DriveUnknowns
from symgen.identification.equations import Equations
from symgen.identification.samples import Samples
from symgen.identification.terms import TERMS
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.independence import independent_columns
from symgen.mechanics.model import Model

STATES: Final = 64
"""Random states that tell; each gives an equation a joint."""


def inseparable(
    model: Model, drives: DriveUnknowns, equations: Callable[[DriveUnknowns], Equations]
) -> tuple[int, ...]:
    """The numbers of the columns of drives that depend on those before them in every state.

    Nothing else jumps or saturates as columns with a sign or a speed do, but those of joints that
    move as one before does."""
    again = _again(drives)
    plain = [k for k, column in enumerate(drives.columns) if not _jumps(column)]
    if not plain:
        return again
    samples = _random(model)
    rows = equations(drives.only(plain)).equations(samples).regressor
    width = rows.shape[2]
    chosen = {*independent_columns(rows.reshape(-1, width)).chosen}
    first = width - len(plain)
    depending = [k for n, k in enumerate(plain) if first + n not in chosen]
    return tuple(sorted((*again, *depending)))


def _jumps(column: DriveColumn) -> bool:
    """Whether a column has a sign or a speed."""
    return TERMS[column.term].signed or bool(TERMS[column.term].speeds)


def _again(drives: DriveUnknowns) -> tuple[int, ...]:
    """The numbers of the columns with a sign or a speed whose joint has the rate of one before
    times a factor, as a follower has, and its speed times the same."""
    found, rates = list[int](), drives.joints.rates
    for k, column in enumerate(drives.columns):
        own = rates[column.joint]
        for other in drives.columns[:k] if _jumps(column) else ():
            there = rates[other.joint]
            factor = own @ there / (there @ there) if there.any() else 0.0
            alike = other.term == column.term and np.allclose(
                own, factor * there, rtol=0, atol=1e-9
            )
            if alike and np.isclose(column.speed, abs(factor) * other.speed, rtol=1e-6, atol=0):
                found.append(k)
                break
    return tuple(found)


def _random(model: Model, seed: int = 0) -> Samples:
    random, coupling = np.random.default_rng(seed), coupling_of(model)
    sizes = coupling.positions, coupling.velocities, coupling.velocities
    q, qd, qdd = (random.uniform(-2, 2, (STATES, size)) for size in sizes)
    for four in coupling.quaternions:
        q[:, four] /= np.linalg.norm(q[:, four], axis=1, keepdims=True)
    t = np.arange(STATES, dtype=np.float64)
    return Samples.of(t, *(np.asarray(x, np.float64) for x in (q, qd, qdd, 0 * qd)))
