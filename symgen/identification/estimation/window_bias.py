"""The bias that windows of derivatives give an estimate, beside noise.

A polynomial of order 4 about the middle of a window of length h leaves out what changes faster:
velocities and accelerations of smooth motion are off by terms in h⁴ (positions by h⁶). That is no
noise, and does not become less with more rows, as standard errors do. How large it is a wider
window tells (Richardson 1911): with regressors Y of the windows and Y' of windows r times as wide,
Y is off by (Y' - Y) / (r⁴ - 1), and least squares by -(YᵀWY)⁻¹ YᵀW (Y' - Y) β / (r⁴ - 1)."""

from dataclasses import replace
from typing import Final

import numpy as np

from symgen.identification.data.dataset import Reading
from symgen.identification.data.differentiation import ORDER, Derivation
from symgen.identification.diagnostics.cutoffs import rows_of_blocks
from symgen.identification.estimation.iterative import FittedSystem
from symgen.identification.model.equations import LinearEquations
from symgen.numbers.types import Numbers

WIDER: Final = 1.5
"""A window by that of the fit."""


def window_bias(reading: Reading, fit: FittedSystem, count: int) -> Numbers | None:
    """The errors of the values (p) by the windows of derivatives, of some blocks evenly over the
    log; `count` equations are one of the fit. None where there are no windows."""
    narrow = reading.derivation
    if narrow is None:
        return None
    wide = Derivation.of_cutoff(narrow.cutoff / WIDER, narrow.step, narrow.even)
    solution, rows = fit.solution, 0
    right = np.zeros(len(solution.values))
    for block in rows_of_blocks(reading, wide.half):
        pairs = [_equations(reading, fit, derivation, block, wide) for derivation in (narrow, wide)]
        used = pairs[0].used & pairs[1].used
        near, far = (replace(linear, used=used).means(count) for linear in pairs)
        off = (far.regressor - near.regressor) @ solution.values
        off *= near.used / np.square(solution.deviations)
        right += np.einsum("ncp,nc->p", near.regressor, off)
        rows += int(used.sum())
    if not rows:
        return None
    total = sum(fit.rows.rows(j) for j in fit.rows.channels)
    right *= total / rows / solution.inflation / ((wide.reach / narrow.reach) ** ORDER - 1)
    half = np.linalg.solve(solution.factor.T, right)
    return np.asarray(-np.linalg.solve(solution.factor, half))


def _equations(
    reading: Reading, fit: FittedSystem, derivation: Derivation, block: Numbers, wide: Derivation
) -> LinearEquations:
    """The equations of a block with some windows, at the rows that the widest ones leave."""
    samples, lost = (
        replace(reading, derivation=derivation).samples(block),
        wide.half - derivation.half,
    )
    inner = samples.part(slice(lost, len(samples) - lost))
    return fit.equations.equations(inner)
