"""The quantities symgen can compute: one row each, read by the compiler, the languages, the CLI and the tests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from symgen.mechanics.parameters import REGROUPINGS
from symgen.mechanics.system import System
from symgen.scalar import Scalar

Array = Sequence[Scalar]
Algorithm = Callable[..., list[Scalar]]
"""Called with a System and the quantity's inputs; returns the output's entries, row-major."""


@dataclass(frozen=True, slots=True)
class Input:
    """An array that a generated function reads; its size is the number of coordinates."""

    name: str
    meaning: str
    unit: str


INPUTS: Final[dict[str, Input]] = {
    row.name: row
    for row in (
        Input("q", "joint positions", "rad | m"),
        Input("qd", "joint velocities", "rad/s | m/s"),
        Input("qdd", "joint accelerations", "rad/s^2 | m/s^2"),
    )
}


@dataclass(frozen=True, slots=True)
class Formulation:
    """One way to compute a quantity: an algorithm on a choice of regrouped parameters."""

    name: str
    regrouping: str
    algorithm: Algorithm
    source: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity: its inputs in argument order, its output (rank 1: n, rank 2: n x n) and how to compute it."""

    name: str
    formula: str
    inputs: tuple[str, ...]
    output: str
    rank: int
    unit: str
    needs_gravity: bool
    formulations: tuple[Formulation, ...]

    def shape(self, dof: int) -> tuple[int, ...]:
        return (dof,) * self.rank


QUANTITIES: Final[dict[str, Quantity]] = {}


def quantity(
    name: str, *, formula: str, inputs: Sequence[str], output: str, rank: int, unit: str, source: str,
    needs_gravity: bool = True,
) -> Callable[[Algorithm], Algorithm]:
    """Register the decorated algorithm as the way to compute quantity `name`, on every regrouping."""

    def register(algorithm: Algorithm) -> Algorithm:
        title = algorithm.__module__.rsplit(".", 1)[-1]
        ways = tuple(Formulation(f"{title}/{r}", r, algorithm, source) for r in REGROUPINGS)
        QUANTITIES[name] = Quantity(name, formula, tuple(inputs), output, rank, unit, needs_gravity, ways)
        return algorithm

    return register


def joint_wise(system: System, entries: dict[int, Scalar]) -> list[Scalar]:
    """Entries by body number as a list in coordinate order."""
    return [entries[i] for i in range(1, system.dof + 1)]
