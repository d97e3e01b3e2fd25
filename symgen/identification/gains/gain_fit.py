"""The fit of drive gains to products of rows: force by ampere, all else that the forces depend on,
and noise of currents alone."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.errors import SymgenError
from symgen.numbers.types import Numbers

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
    def of(cls, gram: Numbers, mass: float) -> "Products":
        """Of products of rows, the load of so many kg."""
        p = gram.shape[1] - 2
        return cls(
            gram[:, :p, :p],
            mass * gram[:, :p, p],
            gram[:, :p, p + 1],
            mass**2 * gram[:, p, p],
            mass * gram[:, p, p + 1],
            np.maximum(gram[:, p + 1, p + 1], 1e-300),
        )

    def forces(self, x: Numbers) -> tuple[Numbers, Numbers]:
        """The squares of the forces of all but gains, and their products with currents (n)."""
        along = self.grams @ x
        squares = along @ x + 2 * self.load @ x + self.heavy
        return squares, self.current @ x + self.mixed


def solved(
    gram: Numbers, mass: float, start: Numbers | None = None
) -> tuple[Numbers, Numbers, Numbers]:
    """Gains (n), what is left of each current (n) and all other unknowns (p) from products of rows,
    by Gauss-Newton steps; `start` are gains to begin with. Raises SymgenError where the logs do not
    tell the scale."""
    products, n = Products.of(gram, mass), len(gram)
    k = _first(gram, mass) if start is None else start
    g, weights = 1 / k, 1 / products.squares
    x = _least(
        np.einsum("j,jpq->pq", weights * g**2, products.grams),
        (weights * g) @ (products.current - g[:, None] * products.load),
    )
    for _ in range(ROUNDS):
        squares, along = products.forces(x)
        mixed = products.grams @ x + products.load
        top = np.einsum("j,jpq->pq", weights * g**2, products.grams)
        side = ((weights * g)[:, None] * mixed).T
        hessian = np.block([[top, side], [side.T, np.diag(weights * squares)]])
        slope_x = (weights * g) @ (g[:, None] * mixed - products.current)
        slope_g = weights * (g * squares - along)
        step = _least(hessian, -np.concatenate([slope_x, slope_g]))
        x, g, before = x + step[:-n], np.maximum(g + step[-n:], 0.2 * g), g
        squares, along = products.forces(x)
        rest = np.maximum(products.squares - 2 * g * along + g**2 * squares, 0.0)
        weights = 1 / np.maximum(rest, 1e-12 * products.squares)
        if np.max(np.abs(g / before - 1)) < SETTLED:
            break
    return 1 / g, np.sqrt(rest / products.squares), x


def _first(products: Numbers, mass: float) -> Numbers:
    """Gains to begin with: least squares of A x - i k = - m L, each joint by its size."""
    n, p = len(products), products.shape[1] - 2
    gram, right = np.zeros((p + n, p + n)), np.zeros(p + n)
    for j, product in enumerate(products):
        keep = [*range(p), p + 1]
        place = [*range(p), p + j]
        block = product[np.ix_(keep, keep)].copy()
        block[-1] *= -1
        block[:, -1] *= -1
        side = -mass * product[keep, p]
        side[-1] = -side[-1]
        weight = 1 / max(product[p + 1, p + 1], 1e-300)
        gram[np.ix_(place, place)] += weight * block
        right[place] += weight * side
    solution = _least(gram, right)[p:]
    if not (solution > 0).all():
        raise SymgenError(
            "error: the gains cannot be estimated: the difference of the currents of the two runs "
            "does not correspond to the weight of the load; check that the first log is the one "
            "without the load and that --mass is in kg"
        )
    return solution


def _least(gram: Numbers, right: Numbers) -> Numbers:
    """The least solution of G x = r, in columns of unit length, where some are not excited."""
    lengths = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    values, vectors = np.linalg.eigh(gram / np.outer(lengths, lengths))
    good = values > TINY * values[-1]
    inverse = np.where(good, 1 / np.where(good, values, 1.0), 0.0)
    return np.asarray(vectors @ (inverse * (vectors.T @ (right / lengths))) / lengths)
