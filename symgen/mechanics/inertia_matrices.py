"""Pseudo-inertias and poses as 4 x 4 arrays.

P = [S h; hᵀ m], S = tr(I)/2 1 - I: a mass distribution exists exactly if P is positive semidefinite
(Wensing, Kim & Slotine, RA-L 2018, theorem 1). Seen from another frame it is T P Tᵀ with the
frame's 4 x 4 transform T."""

from collections.abc import Sequence

import numpy as np

from symgen.mechanics.pose import Pose
from symgen.numbers.types import Numbers


def pseudo_inertia_matrix(ten: Sequence[float] | Numbers) -> Numbers:
    """P (4 x 4) of m, hx, hy, hz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz (kg, kg m, kg m²)."""
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


def inertial_parameters_of(p: Numbers) -> Numbers:
    """The ten inertial parameters of P (4 x 4)."""
    (a, d, e), (_, b, f), (_, _, c) = p[0, :3], p[1, :3], p[2, :3]
    return np.array([p[3, 3], p[0, 3], p[1, 3], p[2, 3], b + c, -d, -e, a + c, -f, a + b])


def homogeneous_transform(pose: Pose) -> Numbers:
    """The 4 x 4 homogeneous transform of a pose."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.rotation, pose.position
    return matrix


def pseudo_inertia_in_parent(p: Numbers, pose: Pose) -> Numbers:
    """P about the frame in which its present frame has `pose`."""
    to = homogeneous_transform(pose)
    return np.asarray(to @ p @ to.T)


def inertia_about_centre(
    ten: Sequence[float] | Numbers,
) -> tuple[tuple[float, ...], tuple[tuple[float, ...], ...]]:
    """The centre of mass (m) of ten numbers with a mass, and the rows of the inertia about it
    (kg m²), in the same axes."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = ten
    x, y, z = hx / m, hy / m, hz / m
    a, b, c = xy + m * x * y, xz + m * x * z, yz + m * y * z
    rows = (
        (xx - m * (y * y + z * z), a, b),
        (a, yy - m * (x * x + z * z), c),
        (b, c, zz - m * (x * x + y * y)),
    )
    return (x, y, z), rows


def central_moments(p: Numbers) -> Numbers:
    """S (3 x 3) about the centre of mass; that of P where there is no mass."""
    m, h, about = p[3, 3], p[:3, 3], p[:3, :3]
    return np.asarray(about - np.outer(h, h) / m if m else about)
