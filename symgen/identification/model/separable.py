"""Which unknowns of drives no motion can tell from parameters before them: the inertia of the first
rotor of a standing arm is part of an inertia about the same axis, a follower's friction part of its
leader's."""

from collections.abc import Callable
from typing import Final

import numpy as np

from symgen.identification.data.samples import Samples
from symgen.identification.model.drive_columns import DriveColumn, DriveUnknowns, ShapePairs
from symgen.identification.model.equations import Equations
from symgen.mechanics.coupling import Coupling, coupling_of
from symgen.mechanics.independence import independent_columns
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.scalar import Numbers

States = tuple[Numbers, Numbers, Numbers]
"""q (N x nq), qd and qdd (N x n each)."""

STATES: Final = 64
"""Random states that tell which unknowns there are; each gives an equation a channel."""


def random_states(coupling: Coupling) -> States:
    """States of a robot, the same ones at every call; quaternions are unit ones."""
    random = np.random.default_rng(0)
    sizes = coupling.positions, coupling.velocities, coupling.velocities
    q, qd, qdd = (random.uniform(-2, 2, (STATES, size)) for size in sizes)
    for four in coupling.quaternions:
        q[:, four] /= np.linalg.norm(q[:, four], axis=1, keepdims=True)
    return q, qd, qdd


def separable(regressor: Numbers, last: int) -> list[int]:
    """The numbers of those of the `last` columns of a regressor (N x n x w, at `random_states`)
    that motions can tell from the columns before them."""
    width = regressor.shape[2]
    chosen = independent_columns(regressor.reshape(-1, width)).chosen
    return sorted(k for k in chosen if k >= width - last)


def inseparable(
    model: RigidBodyModel, drives: DriveUnknowns, equations: Callable[[DriveUnknowns], Equations]
) -> tuple[int, ...]:
    """The numbers of the columns of drives that depend on those before them in every state.

    Nothing else jumps or saturates as columns with a sign or a speed do, but those of joints that
    move as one before does."""
    repeated = _repeated(drives)
    plain = [k for k, column in enumerate(drives.columns) if not _jumps(column)]
    if not plain:
        return repeated
    regressor = equations(drives.only(plain)).equations(_random(model)).regressor
    first = regressor.shape[2] - len(plain)
    kept = {plain[k - first] for k in separable(regressor, len(plain))}
    return tuple(sorted((*repeated, *(k for k in plain if k not in kept))))


def _jumps(column: DriveColumn) -> bool:
    """Whether a column has a sign or a shape parameter."""
    return column.row.has_width or bool(column.row.shape)


def _repeated(drives: DriveUnknowns) -> tuple[int, ...]:
    """The numbers of the columns with a sign or a speed whose joint has the rate of one before
    times a factor, as a follower has, and its speed times the same."""
    repeated, rates = list[int](), drives.joints.rates
    for k, column in enumerate(drives.columns):
        rate = rates[column.joint]
        for before in drives.columns[:k] if _jumps(column) else ():
            other = rates[before.joint]
            factor = rate @ other / (other @ other) if other.any() else 0.0
            alike = before.law == column.law and np.allclose(
                rate, factor * other, rtol=0, atol=1e-9
            )
            if alike and _scaled(before.shape, abs(factor), column.shape):
                repeated.append(k)
                break
    return tuple(repeated)


def _scaled(shape: ShapePairs, factor: float, other: ShapePairs) -> bool:
    """Whether shape parameters are those of a joint that moves `factor` times as fast."""
    wanted = [x if name == "power_exponent" else factor * x for name, x in shape]
    return np.allclose(wanted, [x for _, x in other], rtol=1e-6, atol=0)


def _random(model: RigidBodyModel) -> Samples:
    q, qd, qdd = random_states(coupling_of(model))
    t = np.arange(STATES, dtype=np.float64)
    return Samples.of(t, q, qd, qdd, np.zeros_like(qd))
