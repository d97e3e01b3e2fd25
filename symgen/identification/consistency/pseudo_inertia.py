"""Pseudo-inertias as conic solvers have them: ten numbers whose squares add up to those of the
4 x 4 matrix (`symgen.mechanics.inertia`), and linear maps of these."""

from typing import Final

import numpy as np

from symgen.mechanics.inertia import (
    inertial_parameters_of,
    pseudo_inertia_in_parent,
    pseudo_inertia_matrix,
)
from symgen.mechanics.pose import Pose
from symgen.numbers.types import Numbers

PAIRS: Final = tuple((i, j) for j in range(4) for i in range(j + 1))
"""The upper triangle, column by column: the order of conic solvers."""
ROOT2: Final = float(np.sqrt(2.0))


def packed(p: Numbers) -> Numbers:
    """The upper triangle of a symmetric matrix, with √2 off the diagonal."""
    return np.array([p[i, j] * (1.0 if i == j else ROOT2) for i, j in PAIRS])


def unpacked(x: Numbers) -> Numbers:
    """The symmetric matrix of `packed`."""
    p = np.zeros((4, 4))
    for (i, j), value in zip(PAIRS, x, strict=True):
        p[i, j] = p[j, i] = value if i == j else value / ROOT2
    return p


def linear(columns: Numbers) -> Numbers:
    """The map (10 x 10) from `packed` X to the ten numbers of T X Tᵀ, for any 4 x 4 matrix T."""
    return np.array(
        [inertial_parameters_of(columns @ unpacked(x) @ columns.T) for x in np.eye(10)]
    ).T


def seen(pose: Pose) -> Numbers:
    """The map (10 x 10) from ten numbers about a frame to those about the one in which it has this
    pose."""
    return np.array(
        [
            inertial_parameters_of(pseudo_inertia_in_parent(pseudo_inertia_matrix(x), pose))
            for x in np.eye(10)
        ]
    ).T
