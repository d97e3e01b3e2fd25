"""Pseudo-inertias as 4 x 4 arrays, and as ten numbers whose squares add up to those of the matrix.

P = [S h; hᵀ m], S = tr(I)/2 1 - I: a mass distribution exists exactly if P is positive semidefinite
(Wensing, Kim & Slotine, RA-L 2018, theorem 1). Seen from another frame it is T P Tᵀ with the
frame's 4 x 4 transform T."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.mechanics.pose import Pose

Numbers = NDArray[np.float64]

PAIRS: Final = tuple((i, j) for j in range(4) for i in range(j + 1))
"""The upper triangle, column by column: the order of conic solvers."""
ROOT2: Final = float(np.sqrt(2.0))


def pseudo(ten: Sequence[float] | Numbers) -> Numbers:
    """P of m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = (float(x) for x in ten)
    half = (xx + yy + zz) / 2
    return np.array(
        [
            [half - xx, -xy, -xz, hx],
            [-xy, half - yy, -yz, hy],
            [-xz, -yz, half - zz, hz],
            [hx, hy, hz, m],
        ]
    )


def ten_of(p: Numbers) -> Numbers:
    """The ten numbers of P."""
    (a, d, e), (_, b, f), (_, _, c) = p[0, :3], p[1, :3], p[2, :3]
    return np.array([p[3, 3], p[0, 3], p[1, 3], p[2, 3], b + c, -d, -e, a + c, -f, a + b])


def transform(pose: Pose) -> Numbers:
    """The 4 x 4 transform of a pose."""
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = pose.rotation, pose.position
    return whole


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
    return np.array([ten_of(columns @ unpacked(x) @ columns.T) for x in np.eye(10)]).T


def seen(pose: Pose) -> Numbers:
    """The map (10 x 10) from ten numbers about a frame to those about the one in which it has this
    pose."""
    t = transform(pose)
    return np.array([ten_of(t @ pseudo(x) @ t.T) for x in np.eye(10)]).T
