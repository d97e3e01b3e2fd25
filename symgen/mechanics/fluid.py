"""The fluid around a link: what it displaces, the mass that moves with it, and drag."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from symgen.mechanics.spatial import Pose, Triple

SIX: Final = 6
UPPER_ENTRIES: Final = SIX * (SIX + 1) // 2
"""The entries of a symmetric 6 x 6 matrix."""


@dataclass(frozen=True, slots=True)
class QuadraticDrag:
    """A part of quadratic drag: the force (an entry of the six) is `coefficient` times two entries
    of the relative velocity ν, ν_velocity and the absolute value of ν_speed, or ν_speed itself if
    it is `signed`."""

    force: int
    velocity: int
    speed: int
    coefficient: float
    signed: bool = False


@dataclass(frozen=True, slots=True)
class LinkFluid:
    """The fluid around a link, or around a part of it. All numbers are about the origin of a frame
    in its axes, which has `pose` on the link; matrices and six-vectors have linear parts first.

    `displaced` is the mass of the displaced fluid (kg), density times volume, and `centre` its
    centre (m). `added_mass` is the upper triangle of the symmetric 6 x 6 matrix M_A, row by row
    (kg, kg m, kg m²). `linear_drag` is the 6 x 6 matrix D, row by row (N s/m, N s/rad, N m s/rad),
    and `quadratic_drag` has the terms with a coefficient (N s²/m², N m s²/rad²); both are positive
    on the diagonal for drag that brakes. `current` is the constant velocity of the fluid in root
    axes (m/s), without rotation. `trouble` says why the forces cannot be computed, with the place
    in the file and the way out; else empty."""

    displaced: float = 0.0
    centre: Triple = (0.0, 0.0, 0.0)
    added_mass: tuple[float, ...] = (0.0,) * UPPER_ENTRIES
    linear_drag: tuple[float, ...] = (0.0,) * SIX**2
    quadratic_drag: tuple[QuadraticDrag, ...] = ()
    current: Triple = (0.0, 0.0, 0.0)
    pose: Pose = Pose()
    trouble: str = ""

    @property
    def mass_rows(self) -> list[list[float]]:
        """M_A by rows."""
        entries = iter(self.added_mass)
        rows = [[0.0] * SIX for _ in range(SIX)]
        for i, j in triangle():
            rows[i][j] = rows[j][i] = next(entries)
        return rows

    @property
    def drag_rows(self) -> list[tuple[float, ...]]:
        """D by rows."""
        return [self.linear_drag[SIX * i : SIX * i + SIX] for i in range(SIX)]


def diagonal_matrix(entries: Sequence[float]) -> tuple[float, ...]:
    """A 6 x 6 matrix with these entries on its diagonal, row by row."""
    return tuple(entries[i] if i == j else 0.0 for i in range(SIX) for j in range(SIX))


def quadratic_terms(rows: Sequence[Sequence[float]]) -> tuple[QuadraticDrag, ...]:
    """The terms of D₂ (|ν| ν) for a 6 x 6 matrix D₂ by its rows."""
    return tuple(
        QuadraticDrag(i, j, j, x) for i, row in enumerate(rows) for j, x in enumerate(row) if x
    )


def triangle() -> Iterator[tuple[int, int]]:
    """The places of the upper triangle of a 6 x 6 matrix, row by row."""
    return ((i, j) for i in range(SIX) for j in range(i, SIX))


@dataclass(frozen=True, slots=True)
class FluidOnBody:
    """The fluid around a link of a body; the frame of its numbers has `pose` in that of the
    body."""

    body: int
    pose: Pose
    fluid: LinkFluid
