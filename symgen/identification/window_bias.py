"""What windows of derivatives do to an estimate, beside noise.

A polynomial of order 4 about the middle of a window of length h leaves out what changes faster:
velocities and accelerations of smooth motion are off by terms in h⁴ (positions by h⁶). That is no
noise, and does not become less with more rows, as standard errors do. How large it is a wider
window tells (Richardson 1911): with regressors Y of the windows and Y' of windows r times as wide,
Y is off by (Y' - Y) / (r⁴ - 1), and least squares by -(YᵀWY)⁻¹ YᵀW (Y' - Y) β / (r⁴ - 1)."""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.cutoffs import rows_of_blocks
from symgen.identification.derivatives import ORDER, Derivation
from symgen.identification.equations import LinearEquations
from symgen.identification.recording import Reading
from symgen.identification.rounds import Settled

Numbers = NDArray[np.float64]

WIDER: Final = 1.5
"""A window by that of the fit."""


def window_bias(reading: Reading, settled: Settled, count: int) -> Numbers | None:
    """By how much the values (p) are off for the windows of derivatives, of some blocks evenly over
    the log; `count` equations are one of the fit. None where there are no windows, where equations
    are of intervals, or with instruments."""
    own = reading.derivation
    if own is None or reading.plan.interval or settled.instruments:
        return None
    wide = Derivation.of_cutoff(own.cutoff / WIDER, own.step, own.even)
    found, rows = settled.solution, 0
    right = np.zeros(len(found.values))
    for block in rows_of_blocks(reading, wide.half):
        both = [_equations(reading, settled, one, block, wide) for one in (own, wide)]
        used = both[0].used & both[1].used
        near, far = (replace(made, used=used).means(count) for made in both)
        off = (far.regressor - near.regressor) @ found.values
        off *= near.used / np.square(found.deviations)
        right += np.einsum("ncp,nc->p", near.regressor, off)
        rows += int(used.sum())
    if not rows:
        return None
    every = sum(settled.rows.rows(j) for j in settled.rows.channels)
    right *= every / rows / found.inflation / ((wide.reach / own.reach) ** ORDER - 1)
    half = np.linalg.solve(found.factor.T, right)
    return np.asarray(-np.linalg.solve(found.factor, half))


def _equations(
    reading: Reading, settled: Settled, own: Derivation, block: Numbers, wide: Derivation
) -> LinearEquations:
    """The equations of a block with some windows, at the rows that the widest ones leave."""
    samples, lost = replace(reading, derivation=own).samples(block), wide.half - own.half
    inner = samples.part(slice(lost, len(samples) - lost))
    return settled.equations.equations(inner)
