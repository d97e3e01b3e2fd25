"""The triangular factors of a block of samples."""

from collections.abc import Iterator
from typing import Final

from symgen.identification.data.samples import Samples
from symgen.identification.estimation.triangular_factors import (
    Batches,
    TriangularFactors,
    combined,
    factored,
)
from symgen.identification.model.equations import Equations

MAX_ENTRIES: Final = 1 << 20
"""Entries of a regressor that are computed at a time: a few megabytes, which stay in the cache."""
MIN_ROWS: Final = 64
"""Rows that are computed at a time at least."""


def block_factors(equations: Equations, samples: Samples, parts: int = 1, mean: int = 1) -> Batches:
    """The factors of a block of samples, cut into `parts` consecutive parts of the same length: of
    all channels and, if `mean` is more than 1, of the means of `mean` equations of each channel."""
    size = -(-max(len(samples), 1) // parts)
    results = (
        combined(_pieces(equations, samples.part(slice(start, start + size)), mean))
        for start in range(0, len(samples), size)
    )
    return tuple(filter(None, results))


def _pieces(equations: Equations, samples: Samples, mean: int) -> Iterator[TriangularFactors]:
    width = max(len(columns) for columns in equations.supports) * len(equations.supports)
    size = max(1 << (MAX_ENTRIES // width).bit_length() - 1, MIN_ROWS)
    for start in range(0, len(samples), size):
        linear = equations.equations(samples.part(slice(start, start + size)))
        kinds = [linear, linear.means(mean)] if mean > 1 else [linear]
        reductions = [factored(x.regressor, x.measured, equations.supports, x.used) for x in kinds]
        yield TriangularFactors(
            tuple(n for reduction in reductions for n in reduction.rows),
            tuple(r for reduction in reductions for r in reduction.factors),
        )
