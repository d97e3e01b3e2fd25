"""A robust loss: rows that are far off weigh less (Huber 1964), by reweighted least squares
(Holland & Welsch 1977)."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.identification.data.samples import Samples
from symgen.identification.model.drive_columns import DriveUnknowns
from symgen.identification.model.equations import Equations, LinearEquations, Supports
from symgen.numbers.types import Numbers

TUNING: Final = 1.345
"""Deviations beyond which a row weighs less; 95 % as efficient as least squares where noise is
normal."""
SHARE: Final = math.erf(TUNING / math.sqrt(2))
"""The weighted mean square of normal noise of variance 1: 2 Φ(TUNING) - 1."""


@dataclass(frozen=True)
class Reweighted:
    """Equations whose rows are scaled by the root of their weight min(1, k σ / |r|), with the
    residuals r of `values` (p) and the deviation σ of each channel (c)."""

    inner: Equations
    values: Numbers
    deviations: tuple[float, ...]

    @property
    def supports(self) -> Supports:
        """The columns of the equations themselves."""
        return self.inner.supports

    @property
    def drives(self) -> DriveUnknowns | None:
        """Whose columns are the last ones."""
        return self.inner.drives

    def equations(self, samples: Samples) -> LinearEquations:
        """The equations with weights."""
        linear = self.inner.equations(samples)
        residuals = np.abs(linear.measured - linear.regressor @ self.values)
        edge = TUNING * np.array(self.deviations)
        roots = np.sqrt(np.minimum(1.0, edge / np.maximum(residuals, 1e-300)))
        return LinearEquations(
            linear.regressor * roots[:, :, None], linear.measured * roots, linear.used
        )
