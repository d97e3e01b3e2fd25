"""The fit of drive gains to products of rows: force by ampere, all else that the forces depend on,
and noise of currents alone."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.errors import SymgenError

Numbers = NDArray[np.float64]

ROUNDS: Final = 60
SETTLED: Final = 1e-10
TINY: Final = 1e-11
"""Directions of the products that are this small count as not excited."""


@dataclass(frozen=True)
class Products:
    """Products of each joint: `grams` (n x p x p) of A_j; `load` (n x p) of A_j with the mass's
    column L_j, `current` (n x p) with i_j; `heavy` (n) of L_j, `mixed` of L_j with i_j, `squares`
    of i_j."""

    grams: Numbers
    load: Numbers
    current: Numbers
    heavy: Numbers
    mixed: Numbers
    squares: Numbers

    @classmethod
    def of(cls, whole: Numbers, mass: float) -> "Products":
        """Of products of rows, the load of so many kg."""
        p = whole.shape[1] - 2
        return cls(
            whole[:, :p, :p],
            mass * whole[:, :p, p],
            whole[:, :p, p + 1],
            mass**2 * whole[:, p, p],
            mass * whole[:, p, p + 1],
            np.maximum(whole[:, p + 1, p + 1], 1e-300),
        )

    def forces(self, x: Numbers) -> tuple[Numbers, Numbers]:
        """The squares of the forces of all but gains, and their products with currents (n)."""
        along = self.grams @ x
        squares = along @ x + 2 * self.load @ x + self.heavy
        return squares, self.current @ x + self.mixed


def solved(
    whole: Numbers, mass: float, start: Numbers | None = None
) -> tuple[Numbers, Numbers, Numbers]:
    """Gains (n), what is left of each current (n) and all other unknowns (p) from products of rows,
    by Gauss-Newton steps; `start` are gains to begin with. Raises SymgenError where the logs do not
    tell the scale."""
    made, n = Products.of(whole, mass), len(whole)
    k = _first(whole, mass) if start is None else start
    g, weights = 1 / k, 1 / made.squares
    x = _least(
        np.einsum("j,jpq->pq", weights * g**2, made.grams),
        (weights * g) @ (made.current - g[:, None] * made.load),
    )
    for _ in range(ROUNDS):
        squares, along = made.forces(x)
        mixed = made.grams @ x + made.load
        top = np.einsum("j,jpq->pq", weights * g**2, made.grams)
        side = ((weights * g)[:, None] * mixed).T
        gram = np.block([[top, side], [side.T, np.diag(weights * squares)]])
        slope_x = (weights * g) @ (g[:, None] * mixed - made.current)
        slope_g = weights * (g * squares - along)
        step = _least(gram, -np.concatenate([slope_x, slope_g]))
        x, g, before = x + step[:-n], np.maximum(g + step[-n:], 0.2 * g), g
        squares, along = made.forces(x)
        rest = np.maximum(made.squares - 2 * g * along + g**2 * squares, 0.0)
        weights = 1 / np.maximum(rest, 1e-12 * made.squares)
        if np.max(np.abs(g / before - 1)) < SETTLED:
            break
    return 1 / g, np.sqrt(rest / made.squares), x


def _first(products: Numbers, mass: float) -> Numbers:
    """Gains to begin with: least squares of A x - i k = - m L, each joint by its size."""
    n, p = len(products), products.shape[1] - 2
    gram, right = np.zeros((p + n, p + n)), np.zeros(p + n)
    for j, one in enumerate(products):
        keep = [*range(p), p + 1]
        place = [*range(p), p + j]
        own = one[np.ix_(keep, keep)].copy()
        own[-1] *= -1
        own[:, -1] *= -1
        side = -mass * one[keep, p]
        side[-1] = -side[-1]
        weight = 1 / max(one[p + 1, p + 1], 1e-300)
        gram[np.ix_(place, place)] += weight * own
        right[place] += weight * side
    found = _least(gram, right)[p:]
    if not (found > 0).all():
        raise SymgenError(
            "error: the logs do not tell the gains: the currents of the two runs do not differ as "
            "a load's weight makes them; are the logs in the right order, and is the mass in kg?"
        )
    return found


def _least(gram: Numbers, right: Numbers) -> Numbers:
    """The least solution of G x = r, in columns of unit length, where some are not excited."""
    lengths = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / np.outer(lengths, lengths))
    good = values > TINY * values[-1]
    inverse = np.where(good, 1 / np.where(good, values, 1.0), 0.0)
    return np.asarray(vectors @ (inverse * (vectors.T @ (right / lengths))) / lengths)
