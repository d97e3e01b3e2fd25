"""Standard parameters from base ones and a prior: the most probable ones under normal
distributions.

Before the log, π is normal about the prior π₀ with independent deviations D. That makes β = K π
normal about K π₀ with covariance K D² Kᵀ, which joins the least squares as further equations; given
β, the mean of π is π₀ + G (β - K π₀) with G = D² Kᵀ (K D² Kᵀ)⁻¹. Together that is the π of least |R
K π - z|² + |D⁻¹ (π - π₀)|²."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.identification.estimation.weighted_solve import GaussianPrior
from symgen.identification.model.estimate import BaseMapping
from symgen.numbers.types import Numbers

VAGUE: Final = 1e6
"""How little is known of a coefficient of friction beforehand: its deviation in N m s/rad or N
m."""


@dataclass(frozen=True)
class Prior:
    """The prior: what is believed of the standard parameters before the log; `deviation` has D
    (s)."""

    mapping: BaseMapping
    deviation: Numbers

    @property
    def _spread(self) -> Numbers:
        """K D² Kᵀ."""
        half = self.mapping.factors * self.deviation
        return np.asarray(half @ half.T)

    def of_values(self, friction: int) -> GaussianPrior:
        """The same of the base parameters and so many coefficients of friction, of which next to
        nothing is known."""
        b = len(self.mapping)
        factor = np.zeros((b + friction, b + friction))
        factor[:b, :b] = np.linalg.inv(np.linalg.cholesky(self._spread))
        factor[b:, b:] = np.eye(friction) / VAGUE
        mean = np.concatenate([self.mapping.base(self.mapping.prior), np.zeros(friction)])
        return GaussianPrior(factor, factor @ mean)

    def standard(self, base: Numbers, covariance: Numbers) -> tuple[Numbers, Numbers]:
        """Standard parameters (s) and their standard errors, of base parameters (b) and their
        covariance."""
        cross = (self.mapping.factors * self.deviation**2).T
        gain = np.linalg.solve(self._spread, cross.T).T
        values = self.mapping.prior + gain @ (base - self.mapping.base(self.mapping.prior))
        variance = (
            self.deviation**2
            - np.sum(gain * cross, axis=1)
            + np.sum((gain @ covariance) * gain, axis=1)
        )
        return values, np.sqrt(np.maximum(variance, 0.0))
