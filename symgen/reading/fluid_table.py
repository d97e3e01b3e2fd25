"""Fluids around links from the file of ``--actuators``."""

from collections.abc import Collection
from typing import Final

from symgen.mechanics.fluid import (
    SIX,
    TRIANGLE,
    LinkFluid,
    diagonal_matrix,
    quadratic_terms,
    triangle,
)
from symgen.reading.toml_reader import Table

KEYS: Final = (
    *("density", "volume", "centre_of_buoyancy", "added_mass"),
    *("linear_drag", "quadratic_drag", "current"),
)


def of_links(table: Table, names: Collection[str]) -> dict[str, tuple[LinkFluid, ...]]:
    """The fluid of each link of a table ``[links]``. Raises RobotError."""
    table.only(names, "link")
    return {name: (_fluid(table.table(name)),) for name in table.data}


def _fluid(row: Table) -> LinkFluid:
    row.only(KEYS)
    density, volume = row.number("density", 0.0), row.number("volume", 0.0)
    if volume and density is None:
        raise row.error("volume", "needs density (kg/m^3), as in density = 1000.0")
    linear, quadratic = _drag(row, "linear_drag"), _drag(row, "quadratic_drag")
    return LinkFluid(
        (density or 0.0) * (volume or 0.0),
        row.triple("centre_of_buoyancy") or (0.0, 0.0, 0.0),
        _added_mass(row),
        linear,
        quadratic_terms([quadratic[SIX * i : SIX * i + SIX] for i in range(SIX)]),
        row.triple("current") or (0.0, 0.0, 0.0),
    )


def _drag(row: Table, key: str) -> tuple[float, ...]:
    """A matrix of drag from its diagonal, which is not negative, or from all of it."""
    if key not in row.data:
        return (0.0,) * SIX**2
    values = row.numbers(key)
    if len(values) == SIX:
        return diagonal_matrix(row.numbers(key, 0.0))
    if len(values) != SIX**2:
        raise row.error(
            key, f"has {len(values)} numbers; give the diagonal (6) or the matrix row by row (36)"
        )
    return tuple(values)


def _added_mass(row: Table) -> tuple[float, ...]:
    """The upper triangle of M_A from its diagonal, its upper triangle or all of it."""
    if "added_mass" not in row.data:
        return (0.0,) * TRIANGLE
    values = row.numbers("added_mass")
    if len(values) == SIX:
        return tuple(values[i] if i == j else 0.0 for i, j in triangle())
    if len(values) == TRIANGLE:
        return tuple(values)
    if len(values) != SIX * SIX:
        raise row.error(
            "added_mass",
            f"has {len(values)} numbers; give the diagonal (6), the upper triangle row by row (21) "
            "or the matrix (36)",
        )
    for i, j in triangle():
        if values[SIX * i + j] != values[SIX * j + i]:
            raise row.error("added_mass", f"is not symmetric at row {i + 1}, column {j + 1}")
    return tuple(values[SIX * i + j] for i, j in triangle())
