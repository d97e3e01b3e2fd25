"""Fits to products of rows, so that logs may be of any length: of drive gains (force by ampere, all
else that the forces depend on, and noise of currents alone), and standard errors from leaving out
parts of a log in turn (the jackknife)."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from symgen.errors import SymgenError
from symgen.numbers.types import Numbers

ROUNDS: Final = 60
SETTLED: Final = 1e-10
TINY: Final = 1e-11
"""Directions of the products that are this small count as not excited."""


def solved(
    gram: Numbers, mass: float, start: Numbers | None = None
) -> tuple[Numbers, Numbers, Numbers]:
    """Gains (n), what is left of each current (n) and all other unknowns (p), by Gauss-Newton
    steps, from the products (n x p + 2 x p + 2) of rows [A_j, L_j of the mass, i_j] of each joint;
    `start` are gains to begin with. Raises SymgenError where the logs do not tell the scale."""
    inner, current = gram[:, :-1, :-1], gram[:, :-1, -1]
    size, p = np.maximum(gram[:, -1, -1], 1e-300), gram.shape[1] - 2
    g = 1 / (_first(inner, current, size, mass) if start is None else start)
    weights, unknowns = 1 / size, np.append(np.zeros(p), mass)
    for number in range(ROUNDS + 1):
        along = inner @ unknowns
        slope = (weights * g) @ (g[:, None] * along - current)[:, :p]
        top = np.einsum("j,jpq->pq", weights * g**2, inner[:, :p, :p])
        if number == 0:  # the gains stay as they are
            unknowns[:p] += least_squares(top, -slope)
            continue
        squares, products = along @ unknowns, current @ unknowns
        side = ((weights * g)[:, None] * along[:, :p]).T
        hessian = np.block([[top, side], [side.T, np.diag(weights * squares)]])
        slope_of_gains = weights * (g * squares - products)
        step = least_squares(hessian, -np.concatenate([slope, slope_of_gains]))
        unknowns[:p] += step[:p]
        g, before = np.maximum(g + step[p:], 0.2 * g), g
        squares, products = inner @ unknowns @ unknowns, current @ unknowns
        rest = np.maximum(size - 2 * g * products + g**2 * squares, 0.0)
        weights = 1 / np.maximum(rest, 1e-12 * size)
        if np.max(np.abs(g / before - 1)) < SETTLED:
            break
    return 1 / g, np.sqrt(rest / size), unknowns[:p]


def _first(inner: Numbers, current: Numbers, size: Numbers, mass: float) -> Numbers:
    """Gains to begin with: least squares of A x - i k = - m L, each joint by its size, with k
    eliminated."""
    p = inner.shape[1] - 1
    reduced = inner - current[:, :, None] * current[:, None] / size[:, None, None]
    total = np.einsum("j,jpq->pq", 1 / size, reduced)
    x = least_squares(total[:p, :p], -mass * total[:p, p])
    gains = current @ np.append(x, mass) / size
    if not (gains > 0).all():
        raise SymgenError(
            "error: the gains cannot be estimated: the difference of the currents of the two runs "
            "does not correspond to the weight of the load; check that the first log is the one "
            "without the load and that --mass is in kg"
        )
    return np.asarray(gains)


def least_squares(gram: Numbers, right: Numbers) -> Numbers:
    """The least solutions (... p) of G x = r, in columns of unit length, where some directions are
    not excited."""
    sizes = np.sqrt(np.maximum(np.diagonal(gram, axis1=-2, axis2=-1), 1e-300))
    inverse = np.linalg.pinv(gram / (sizes[..., None] * sizes[..., None, :]), TINY, hermitian=True)
    return np.asarray((inverse @ (right / sizes)[..., None])[..., 0] / sizes)


def jackknife_errors(replicates: Sequence[Numbers]) -> Numbers:
    """The standard errors of values that were estimated again without each part of the data."""
    values = np.array(replicates)
    share = (len(values) - 1) / len(values)
    return np.asarray(np.sqrt(share * np.sum((values - values.mean(axis=0)) ** 2, axis=0)))
