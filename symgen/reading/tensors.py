"""Inertia tensors as files and Python give them: whether a body has them."""

from typing import Final

import numpy as np

from symgen.mechanics.inertia_checks import negative_moment
from symgen.numbers.named import Named

MOMENT_ROUNDING: Final = 1e-9
"""A principal moment above minus this times the largest one is rounding in the file."""

SMALLEST: Final = 1e-9
"""So is a principal moment that stands for a radius of gyration below this (m)."""


def tensor_trouble(tensor: tuple[float, ...], mass: float) -> str:
    """Why no body has this tensor; empty where one can, and of symbols, of which nothing is
    known."""
    if any(isinstance(x, Named) for x in (*tensor, mass)):
        return ""
    size = max(map(abs, tensor))
    if not size:
        return ""
    xx, xy, xz, yy, yz, zz = (x / size for x in tensor)
    moments = np.linalg.eigvalsh(np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))))
    if moments[0] >= -max(MOMENT_ROUNDING * max(abs(moments)), mass * SMALLEST**2 / size):
        return ""
    return negative_moment(float(m) * size for m in moments)
