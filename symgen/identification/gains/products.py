"""Least squares from products of rows, so that logs may be of any length, and standard errors from
leaving out parts of a log in turn (the jackknife)."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from symgen.numbers.types import Numbers

TINY: Final = 1e-11
"""Directions of the products that are this small count as not excited."""


def least_squares(gram: Numbers, right: Numbers) -> Numbers:
    """The least solutions (... p) of G x = r, in columns of unit length, where some directions are
    not excited."""
    sizes = np.sqrt(np.maximum(np.diagonal(gram, axis1=-2, axis2=-1), 1e-300))
    inverse = np.linalg.pinv(gram / (sizes[..., None] * sizes[..., None, :]), TINY, hermitian=True)
    return np.asarray((inverse @ (right / sizes)[..., None])[..., 0] / sizes)


def jackknife_errors(replicates: Sequence[Numbers]) -> Numbers:
    """The standard errors of values that were estimated again without each part of the data."""
    values = np.array(replicates)
    share = (len(values) - 1) / len(values)
    return np.asarray(np.sqrt(share * np.sum((values - values.mean(axis=0)) ** 2, axis=0)))
