"""Which unknowns of drives no motion can tell from base parameters: the inertia of the first rotor
of a standing arm is part of an inertia about the same axis."""

from collections.abc import Callable
from typing import Final

import numpy as np

from symgen.identification.drives import DriveUnknowns
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

    Columns with a sign or a speed are left alone: nothing else jumps or saturates."""
    plain = [
        k
        for k, column in enumerate(drives.columns)
        if not (TERMS[column.term].signed or TERMS[column.term].speeds)
    ]
    if not plain:
        return ()
    samples = _random(model)
    rows = equations(drives.only(plain)).equations(samples).regressor
    width = rows.shape[2]
    chosen = {*independent_columns(rows.reshape(-1, width)).chosen}
    first = width - len(plain)
    return tuple(k for n, k in enumerate(plain) if first + n not in chosen)


def _random(model: Model, seed: int = 0) -> Samples:
    random, coupling = np.random.default_rng(seed), coupling_of(model)
    sizes = coupling.positions, coupling.velocities, coupling.velocities
    q, qd, qdd = (random.uniform(-2, 2, (STATES, size)) for size in sizes)
    for four in coupling.quaternions:
        q[:, four] /= np.linalg.norm(q[:, four], axis=1, keepdims=True)
    t = np.arange(STATES, dtype=np.float64)
    return Samples.of(t, *(np.asarray(x, np.float64) for x in (q, qd, qdd, 0 * qd)))
