"""How well a motion tells base parameters apart: the condition number of the stacked regressor, and
its gradient.

Rows are divided by the force that each joint can give, so that joints count alike; columns are
scaled to unit length, so that units of parameters do not matter (Gautier & Khalil, IJRR 1992)."""

from typing import Final

import numpy as np

from symgen.numbers.types import Numbers

POWER: Final = 4
"""Of the smooth condition number; the largest would be the number itself, which has kinks."""


def condition(rows: Numbers) -> tuple[float, float]:
    """The condition numbers of stacked rows as they are and with columns of unit length; infinite
    where a column is 0."""
    lengths = np.linalg.norm(rows, axis=0)
    if not lengths.all():
        return np.inf, np.inf
    return float(np.linalg.cond(rows)), float(np.linalg.cond(rows / lengths))


def smooth_condition(rows: Numbers) -> tuple[float, Numbers]:
    """log of a smooth stand-in for the scaled condition number of `rows` (m x b), and its gradient
    (m x b).

    With λ the eigenvalues of the Gram matrix of columns of unit length: ½ (log Σ λᵖ + log Σ λ⁻ᵖ) /
    p, which is at least log σ_max / σ_min and by log b / p at most above it."""
    lengths = np.linalg.norm(rows, axis=0) + 1e-300
    unit = rows / lengths
    values, vectors = np.linalg.eigh(unit.T @ unit)
    values = np.maximum(values, 1e-14)
    high, low = (values / values[-1]) ** POWER, (values[0] / values) ** POWER
    value = 0.5 * (np.log(high.sum()) + np.log(low.sum())) / POWER + 0.5 * np.log(
        values[-1] / values[0]
    )
    slopes = 0.5 * (high / high.sum() - low / low.sum()) / values
    change = 2 * unit @ (vectors * slopes) @ vectors.T
    return float(value), (change - unit * np.sum(change * unit, axis=0)) / lengths
