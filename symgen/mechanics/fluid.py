"""The fluid around a link: what it displaces, the mass that moves with it, and drag."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from symgen.mechanics.pose import Pose, Triple

SIX: Final = 6
TRIANGLE: Final = SIX * (SIX + 1) // 2
"""The entries of a symmetric 6 x 6 matrix."""


@dataclass(frozen=True, slots=True)
class LinkFluid:
    """The fluid around a link. All numbers are about the origin of the link in its axes; matrices
    and six-vectors have linear parts first.

    `displaced` is the mass of the displaced fluid (kg), density times volume, and `centre` its
    centre (m). `added_mass` is the upper triangle of the symmetric 6 x 6 matrix M_A, row by row
    (kg, kg m, kg m²). `linear_drag` and `quadratic_drag` are the diagonals of D and of the matrix
    that |ν| ν multiplies (N s/m, N m s/rad; N s²/m², N m s²/rad²), positive for drag that brakes.
    `current` is the constant velocity of the fluid in root axes (m/s), without rotation."""

    displaced: float = 0.0
    centre: Triple = (0.0, 0.0, 0.0)
    added_mass: tuple[float, ...] = (0.0,) * TRIANGLE
    linear_drag: tuple[float, ...] = (0.0,) * SIX
    quadratic_drag: tuple[float, ...] = (0.0,) * SIX
    current: Triple = (0.0, 0.0, 0.0)

    @property
    def rows(self) -> list[list[float]]:
        """M_A by rows."""
        entries = iter(self.added_mass)
        rows = [[0.0] * SIX for _ in range(SIX)]
        for i, j in triangle():
            rows[i][j] = rows[j][i] = next(entries)
        return rows


def triangle() -> Iterator[tuple[int, int]]:
    """The places of the upper triangle of a 6 x 6 matrix, row by row."""
    return ((i, j) for i in range(SIX) for j in range(i, SIX))


@dataclass(frozen=True, slots=True)
class FluidOnBody:
    """The fluid around a link of a body, whose frame has `pose` in the frame of the body."""

    body: int
    pose: Pose
    fluid: LinkFluid
