"""The ten inertial parameters of a body as a pseudo-inertia, [S h; hᵀ m] with S = tr(I)/2 1 - I (4
x 4).

The map is linear, and a mass distribution exists exactly where the matrix is positive semidefinite
(Wensing, Kim & Slotine, RA-L 2018). Parameters are those of symgen: m, hx, hy, hz, Ixx, Ixy, Ixz,
Iyy, Iyz, Izz (kg, kg m, kg m²)."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]


def pseudo(ten: Array) -> Array:
    """The pseudo-inertia of ten parameters, 4 x 4."""
    m, hx, hy, hz, xx, xy, xz, yy, yz, zz = ten
    half = (xx + yy + zz) / 2
    return np.array(
        (
            (half - xx, -xy, -xz, hx),
            (-xy, half - yy, -yz, hy),
            (-xz, -yz, half - zz, hz),
            (hx, hy, hz, m),
        )
    )


def parameters(matrix: Array) -> Array:
    """The ten parameters of a pseudo-inertia."""
    s, h, m = matrix[:3, :3], matrix[:3, 3], matrix[3, 3]
    tensor = np.trace(s) * np.eye(3) - s
    return np.array((m, *h, *tensor[np.triu_indices(3)]))


BASIS: Array = np.array([pseudo(unit) for unit in np.eye(10)])
"""The pseudo-inertia is the sum of ten[k] BASIS[k]; 10 x 4 x 4."""


def moved(rotation: Array, position: Array) -> Array:
    """The matrix that takes ten parameters in a frame to those in one where the frame has this
    pose; 10 x 10."""
    to = np.eye(4)
    to[:3, :3], to[:3, 3] = rotation, position
    return np.array([parameters(to @ unit @ to.T) for unit in BASIS]).T


def box(
    mass: float, centre: tuple[float, float, float], sides: tuple[float, float, float]
) -> Array:
    """The ten parameters of a uniform box with its sides along the axes (kg, m, m)."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = mass * (np.diag(sides) ** 2 / 12 + np.outer(centre, centre))
    matrix[:3, 3] = matrix[3, :3] = mass * np.array(centre)
    matrix[3, 3] = mass
    return parameters(matrix)
