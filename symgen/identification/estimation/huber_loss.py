"""A robust loss (Huber 1964) by modified residuals: a measurement that is further from the
prediction than a limit counts as if it were at the limit (Huber, Robust Statistics, 1981, ch. 7).

Equations stay linear in the parameters, so rows can be averaged and reduced as before."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from symgen.identification.data.samples import Samples
from symgen.identification.model.drive_columns import DriveUnknowns
from symgen.identification.model.equations import Equations, LinearEquations, Supports
from symgen.numbers.types import Numbers

LIMIT: Final = 3.0
"""Standard deviations of the residual beyond which a measurement is an outlier: of normal noise 0.3
% of the rows are, so that a log without outliers loses nothing."""


@dataclass(frozen=True)
class RobustEquations:
    """Equations whose measurements are at most `limits` (c) from the prediction by `values` (p)."""

    inner: Equations
    values: Numbers
    limits: Numbers

    @property
    def supports(self) -> Supports:
        """The columns that each channel depends on."""
        return self.inner.supports

    @property
    def drives(self) -> DriveUnknowns | None:
        """The unknowns of the last columns."""
        return self.inner.drives

    def equations(self, samples: Samples) -> LinearEquations:
        """The equations with limited residuals."""
        linear = self.inner.equations(samples)
        predicted = linear.regressor @ self.values
        residual = np.clip(linear.measured - predicted, -self.limits, self.limits)
        return replace(linear, measured=predicted + residual)
