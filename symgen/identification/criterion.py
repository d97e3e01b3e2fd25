"""How well a motion tells base parameters apart: the condition number of the stacked regressor, and its gradient.

Rows are divided by the force that each joint can give, so that joints count alike; columns are scaled to unit length,
so that units of parameters do not matter (Gautier & Khalil, IJRR 1992).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.kernel import Kernel

Numbers = NDArray[np.float64]

STEP: Final = 1e-6
"""Of central differences in rad, rad/s, rad/s² (or m): with doubles, errors are near 1e-10 of the regressor."""
POWER: Final = 4
"""Of the smooth condition number; the largest would be the number itself, which has kinks."""


def condition(rows: Numbers) -> tuple[float, float]:
    """The condition numbers of stacked rows as they are and with columns of unit length; infinite where a column is 0.
    """
    lengths = np.linalg.norm(rows, axis=0)
    if not lengths.all():
        return np.inf, np.inf
    return float(np.linalg.cond(rows)), float(np.linalg.cond(rows / lengths))


def smooth_condition(rows: Numbers) -> tuple[float, Numbers]:
    """log of a smooth stand-in for the scaled condition number of `rows` (m x b), and its gradient (m x b).

    With λ the eigenvalues of the Gram matrix of columns of unit length: ½ (log Σ λᵖ + log Σ λ⁻ᵖ) / p, which is at least
    log σ_max / σ_min and by log b / p at most above it.
    """
    lengths = np.linalg.norm(rows, axis=0) + 1e-300
    unit = rows / lengths
    values, vectors = np.linalg.eigh(unit.T @ unit)
    values = np.maximum(values, 1e-14)
    high, low = (values / values[-1]) ** POWER, (values[0] / values) ** POWER
    value = 0.5 * (np.log(high.sum()) + np.log(low.sum())) / POWER + 0.5 * np.log(values[-1] / values[0])
    slopes = 0.5 * (high / high.sum() - low / low.sum()) / values
    change = 2 * unit @ (vectors * slopes) @ vectors.T
    return float(value), (change - unit * np.sum(change * unit, axis=0)) / lengths


@dataclass(frozen=True)
class Sampled:
    """A regressor at states of a motion with its derivatives: values (N x n x b), slopes (3 n arrays of that shape, for
    positions, velocities and accelerations joint by joint)."""

    values: Numbers
    slopes: tuple[Numbers, ...]


def sampled(kernel: Kernel, states: tuple[Numbers, Numbers, Numbers]) -> Sampled:
    """The regressor at the states q, qd, qdd (N x n each) and its derivatives, by central differences."""
    n = states[0].shape[1]
    slopes = tuple(_slope(kernel, states, kind, joint) for kind in range(3) for joint in range(n))
    return Sampled(kernel(*states), slopes)


def _slope(kernel: Kernel, states: tuple[Numbers, Numbers, Numbers], kind: int, joint: int) -> Numbers:
    ends = []
    for sign in (1, -1):
        moved = [x.copy() for x in states]
        moved[kind][:, joint] += sign * STEP
        ends.append(kernel(*moved))
    return np.asarray((ends[0] - ends[1]) / (2 * STEP))
