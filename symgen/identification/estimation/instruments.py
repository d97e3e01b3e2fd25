"""Instrumental variables: least squares whose regressors are noisy are biased; instruments that
follow the regressors and know nothing of the noise make up for it.

The instruments Z are the regressors of the motion that was commanded, which no sensor's noise
enters, not even through the controller. (ZᵀWY)⁻¹ ZᵀWτ is the estimate (Young, Recursive Estimation
and Time-Series Analysis, 2011, ch. 7; Janot, Vandanjon & Gautier, IEEE Trans. Control Systems
Technology 2014, who simulate the loop for Z, with a controller that they know)."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from symgen.identification.data.samples import Samples
from symgen.identification.estimation.triangular_factors import TriangularFactors, triangle
from symgen.identification.estimation.weighted_solve import TriangularSystem, settled_deviations
from symgen.identification.model.drive_columns import DriveUnknowns
from symgen.identification.model.equations import Equations, LinearEquations, Supports
from symgen.identification.model.estimate import Solution
from symgen.numbers.types import Numbers

WEAK: Final = 0.3
"""Least correlation of a combination of regressors with the instruments."""


@dataclass(frozen=True)
class Instrumented:
    """Equations beside their instruments: the columns of Z, then those of Y."""

    inner: Equations
    size: int
    """Columns of the equations themselves."""

    @property
    def supports(self) -> Supports:
        """The columns of Z, then those of Y."""
        return tuple(
            (*columns, *(self.size + c for c in columns)) for columns in self.inner.supports
        )

    @property
    def drives(self) -> DriveUnknowns | None:
        """Whose columns are the last ones."""
        return self.inner.drives

    def equations(self, samples: Samples) -> LinearEquations:
        """Both at each sample."""
        linear = self.inner.equations(samples)
        q, qd, qdd = np.split(samples.reference, 3, axis=1)
        commanded = self.inner.equations(replace(samples, q=q, qd=qd, qdd=qdd))
        columns = np.concatenate([commanded.regressor, linear.regressor], axis=2)
        return LinearEquations(columns, linear.measured, linear.used)


@dataclass(frozen=True)
class Instruments:
    """Equations with instruments by their factors: those of [Z Y τ] (`stacked`), and of [Y τ]
    (`plain`), whose residuals are those of the estimate."""

    stacked: TriangularSystem

    @property
    def size(self) -> int:
        """How many values."""
        return self.stacked.size // 2

    @property
    def plain(self) -> TriangularSystem:
        """The equations without instruments."""
        return self.stacked.only(range(self.size, 2 * self.size))

    def solution(self) -> Solution:
        """The estimate; RᵀR of its factor is the inverse of the covariance (ZᵀY)⁻¹ ZᵀZ (YᵀZ)⁻¹ of
        white residuals, deviations of channels are those of its residuals."""
        return settled_deviations(self.plain, self._solved)

    def _solved(self, deviations: tuple[float, ...]) -> tuple[Numbers, Numbers]:
        """With Z = Q R₁, both sides of Zᵀ Y x = Zᵀ τ are R₁ᵀ times the rows of Q."""
        p, factor = self.size, self.stacked.weighted(deviations)
        rows = factor[:p, p : 2 * p]
        return np.asarray(np.linalg.solve(rows, factor[:p, 2 * p])), triangle(rows)

    def weakest(self, solution: Solution) -> float:
        """The least correlation of a combination of regressors with the instruments, 0 to 1."""
        p, factor = self.size, self.stacked.weighted(solution.deviations)
        seen = factor[:p, p : 2 * p] @ np.linalg.inv(triangle(factor[: 2 * p, p : 2 * p])[:p])
        return float(np.linalg.svd(seen, compute_uv=False)[-1])

    def errors(self, solution: Solution) -> Numbers | None:
        """Robust standard errors (p) by the delete-one-batch jackknife, as in `robust`; None where
        there are too few batches."""
        parts = [self._products(batch, solution) for batch in self.stacked.batches]
        if len(parts) < 2:
            return None
        total = sum(a for a, _ in parts)
        steps = np.array([np.linalg.solve(total - a, score) for a, score in parts])
        return np.asarray(np.sqrt((len(parts) - 1) / len(parts) * np.sum(steps**2, axis=0)))

    def _products(self, batch: TriangularFactors, solution: Solution) -> tuple[Numbers, Numbers]:
        """ZᵀWY and ZᵀW r of a batch."""
        p = self.size
        product, score = np.zeros((p, p)), np.zeros(p)
        for j, columns in enumerate(self.stacked.supports):
            factor = batch.factors[j] / solution.deviations[j]
            half, places = (factor.shape[1] - 1) // 2, list(columns[: len(columns) // 2])
            z, y = factor[:, :half], factor[:, half : 2 * half]
            product[np.ix_(places, places)] += z.T @ y
            score[places] += z.T @ (factor[:, -1] - y @ solution.values[places])
        return product, score
