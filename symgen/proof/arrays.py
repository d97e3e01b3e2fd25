"""Matrices in the last axes of arrays, of numbers of any kind: decimals, which NumPy's own products
do not take, too."""

from typing import Any

import numpy as np

from symgen.proof.states import decimals

Array = Any


def applied(matrix: Array, v: Array) -> Array:
    """M v: (..., m, n) and (..., n) give (..., m)."""
    return (matrix * v[..., None, :]).sum(-1)


def applied_transposed(matrix: Array, v: Array) -> Array:
    """Mᵀ v: (..., m, n) and (..., m) give (..., n)."""
    return (matrix * v[..., :, None]).sum(-2)


def product(a: Array, b: Array) -> Array:
    """A B: (..., l, m) and (..., m, n) give (..., l, n)."""
    return (a[..., :, :, None] * b[..., None, :, :]).sum(-2)


def eye(size: int) -> Array:
    """The unit matrix of decimals."""
    return decimals(np.eye(size))
