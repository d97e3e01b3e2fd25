"""Consistent least squares beside an entropic prior: the log-det divergence of each body's
pseudo-inertia from its prior's (Lee, Wensing & Park, "Geometric robot dynamic identification", T-RO
2020).

Least ½ |R (v - v₀)|² + w Σ (tr X - log det X - 4), where v are base parameters and coefficients of
drives, v₀ those of least squares, and P = L X Lᵀ is the pseudo-inertia of a link with the prior's L
Lᵀ. The divergence depends on no frame and no unit and grows beyond all bounds where a body would
become flat; so bodies are definite without a bound, and what the log does not tell stays at the
prior. The problem is convex; Newton's method with a line search finds its one answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.consistency.pseudo_inertia import packed, unpacked
from symgen.identification.consistency.sdp import BodiesError, Programme
from symgen.numbers.types import Numbers

STEPS: Final = 200
SETTLED: Final = 1e-9
"""Square of the Newton decrement by the weight: of the divergence,"""
ROUNDING: Final = 1e-13
"""and by the cost."""
FALL: Final = 10.0
"""By how much weights fall along the path."""
SHORTEST: Final = 1e-12
"""Of steps along the line."""


@dataclass(frozen=True)
class Entropic:
    """The problem: `factor` R (p x p) about `values` v₀, the base parameters of `programme` first,
    and the `weight` w of the divergence."""

    programme: Programme
    values: Numbers
    factor: Numbers
    weight: float

    def solution(self, positive: Sequence[int]) -> tuple[Numbers, Numbers]:
        """v, and standard parameters; the `positive` coefficients (by number) are not below 0.

        One that would be is held at 0, one after the other, the worst first. Raises BodiesError."""
        b, x = len(self.programme.constant), np.array(self.programme.start)
        drives, free = self.values[b:].copy(), np.ones(len(self.values) - b, np.bool_)
        for weight in self._weights(x, drives):
            x, drives = replace(self, weight=weight)._from(x, drives, free)
        bounded = np.isin(np.arange(len(drives)) + b, positive)
        while (low := bounded & free & (drives < 0)).any():
            worst = int(np.argmin(np.where(low, drives, 0.0)))
            free[worst], drives[worst] = False, 0.0
            x, drives = self._from(x, drives, free)
        return self._all_values(x, drives), self.programme.standard(x)

    def cost(self, x: Numbers, v: Numbers) -> float:
        """The function that is minimised; infinite where a body is not definite."""
        sizes = np.linalg.eigvalsh([unpacked(entries) for entries in x.reshape(-1, 10)])
        if sizes.min(initial=1.0) <= 0:
            return np.inf
        divergence = float(np.sum(sizes - np.log(sizes) - 1))
        residuals = self.factor @ (v - self.values)
        return float(residuals @ residuals) / 2 + self.weight * divergence

    def _weights(self, x: Numbers, drives: Numbers) -> list[float]:
        """Falling ones down to the own: from where the prior decides, a path that stays away from
        flat bodies leads to where the log does."""
        first = max(self.cost(x, self._all_values(x, drives)), self.weight)
        count = int(np.ceil(np.log(first / self.weight) / np.log(FALL)))
        return [*(first / FALL**k for k in range(count)), self.weight]

    def _from(
        self, x: Numbers, drives: Numbers, free: NDArray[np.bool_]
    ) -> tuple[Numbers, Numbers]:
        """X and drives that are best, from some on. Raises BodiesError."""
        for _ in range(STEPS):
            turned = _turns(x)
            step, decrement = self._step(x, drives, turned, free)
            cost = self.cost(x, self._all_values(x, drives))
            if decrement < SETTLED * self.weight + ROUNDING * cost:
                return x, drives
            x, drives = self._lower(x, drives, step, decrement, cost)
        raise BodiesError(
            "error: --entropic: the optimization of the bodies diverges; use another weight"
        )

    def _all_values(self, x: Numbers, drives: Numbers) -> Numbers:
        return np.concatenate([self.programme.matrix @ x + self.programme.constant, drives])

    def _step(
        self, x: Numbers, drives: Numbers, turned: Numbers, free: NDArray[np.bool_]
    ) -> tuple[tuple[Numbers, Numbers], float]:
        """The Newton step of X and of drives, and the square of its decrement.

        In the coordinates S of X + C S Cᵀ with X = C Cᵀ the Hessian of -log det is the identity, so
        that the step is that of least squares, which loses no digits."""
        b, n = len(self.programme.constant), len(x)
        root = np.sqrt(self.weight)
        columns = np.hstack(
            [self.factor[:, :b] @ self.programme.matrix @ turned, self.factor[:, b:][:, free]]
        )
        residuals = self.factor @ (self._all_values(x, drives) - self.values)
        slope = turned.T @ np.tile(packed(np.eye(4)), n // 10) - np.tile(packed(np.eye(4)), n // 10)
        regular = np.hstack([root * np.eye(n), np.zeros((n, columns.shape[1] - n))])
        rows, right = np.vstack([columns, regular]), np.concatenate([-residuals, -root * slope])
        solution = np.linalg.lstsq(rows, right, rcond=None)[0]
        of_drives = np.zeros(len(drives))
        of_drives[free] = solution[n:]
        return (turned @ solution[:n], of_drives), float(np.sum(np.square(rows @ solution)))

    def _lower(
        self,
        x: Numbers,
        drives: Numbers,
        step: tuple[Numbers, Numbers],
        decrement: float,
        before: float,
    ) -> tuple[Numbers, Numbers]:
        """A point along the step where the cost, which is `before` now, is lower (Armijo)."""
        length, rounding = 1.0, ROUNDING * before
        while True:
            moved = x + length * step[0], drives + length * step[1]
            after = self.cost(moved[0], self._all_values(*moved))
            if length < SHORTEST or after <= before - 0.1 * length * decrement + rounding:
                return moved
            length /= 2


def _turns(x: Numbers) -> Numbers:
    """The map from packed S of all links to packed C S Cᵀ, C Cᵀ = X; block by block."""
    matrix = np.zeros((len(x), len(x)))
    for k, entries in enumerate(x.reshape(-1, 10)):
        c, rows = np.linalg.cholesky(unpacked(entries)), slice(10 * k, 10 * k + 10)
        matrix[rows, rows] = np.array([packed(c @ unpacked(s) @ c.T) for s in np.eye(10)]).T
    return matrix
