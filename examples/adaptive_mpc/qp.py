"""Quadratic programs of one sparsity and changing numbers, for PIQP's interior-point method.

Schwan, Jiang, Kuhn & Jones, "PIQP: A Proximal Interior-Point Quadratic Programming Solver", CDC
2023."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from examples.adaptive_mpc.inertia import Array

INFINITE = 1e30
"""What PIQP takes for no bound."""


class Blocks:
    """A sparse matrix made of dense blocks at fixed places, (row, column, rows, columns) each."""

    def __init__(self, shape: tuple[int, int], places: Sequence[tuple[int, int, int, int]]) -> None:
        from scipy.sparse import csc_matrix

        grids = [
            np.mgrid[r : r + height, c : c + width].reshape(2, -1) for r, c, height, width in places
        ]
        rows, columns = np.concatenate(grids, axis=1)
        self._order = np.lexsort((rows, columns))
        starts = np.searchsorted(columns[self._order], np.arange(shape[1] + 1))
        self.matrix: Any = csc_matrix((np.ones(len(rows)), rows[self._order], starts), shape)

    def fill(self, blocks: Sequence[Array]) -> Any:
        """The matrix with these numbers in its blocks."""
        self.matrix.data[:] = np.concatenate([block.ravel() for block in blocks])[self._order]
        return self.matrix


class Solver:
    """min 1/2 xᵀ P x + cᵀ x with A x = b and lower ≤ x ≤ upper; set up once, updated afterwards."""

    def __init__(self, multistage: bool = True) -> None:
        import piqp

        self._solver, self._solved = piqp.SparseSolver(), piqp.PIQP_SOLVED
        if multistage:
            self._solver.settings.kkt_solver = piqp.sparse_multistage
        self._ready = False

    def solve(self, P: Any, c: Array, A: Any, b: Array, lower: Array, upper: Array) -> bool:
        """Whether a solution was found; it is in `x`."""
        bounds = {"x_l": np.maximum(lower, -INFINITE), "x_u": np.minimum(upper, INFINITE)}
        (self._solver.update if self._ready else self._solver.setup)(P=P, c=c, A=A, b=b, **bounds)
        self._ready = True
        return bool(self._solver.solve() == self._solved)

    @property
    def x(self) -> Array:
        return np.array(self._solver.result.x)

    @property
    def iterations(self) -> int:
        return int(self._solver.result.info.iter)

    def reaction(self, A: Any) -> Array:
        """The forces of the constraints, Aᵀ y + z_upper - z_lower; minus the gradient where the
        point is optimal."""
        found = self._solver.result
        return np.array(A.T @ found.y + found.z_bu - found.z_bl)
