"""The error of an array against the one of another library."""

import numpy as np

from symgen.numbers.scalar import AnyArray


def relative(found: AnyArray, expected: AnyArray, scale: float = 0.0) -> float:
    """The largest difference, relative to the largest entry of `expected`, to `scale` or to 1e-6
    (balanced robots), whichever is largest."""
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), scale, 1e-6))
