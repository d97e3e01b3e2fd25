"""The quantities symgen can compute: one row each, read by the compiler, the languages, the CLI and the tests."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeVar

from symgen.mechanics.parameters import REGROUPINGS

Algorithm = Callable[..., Any]
"""Called with a System and the quantity's inputs; returns the entries of the output, row-major, as a list,
or a tuple of such lists where there are several outputs."""

Registered = TypeVar("Registered", bound=Algorithm)

Shape = tuple[str | int, ...]
"""Sizes of an array: numbers, or names of sizes that depend on the robot (``"n"``: coordinates)."""


@dataclass(frozen=True, slots=True)
class Array:
    """An array that a generated function reads or writes, row-major."""

    name: str
    meaning: str
    unit: str
    shape: Shape = ("n",)

    def sizes(self, dimensions: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(dimensions[d] if isinstance(d, str) else d for d in self.shape)


INPUTS: Final[dict[str, Array]] = {
    row.name: row
    for row in (
        Array("q", "joint positions", "rad | m"),
        Array("qd", "joint velocities", "rad/s | m/s"),
        Array("qdd", "joint accelerations", "rad/s^2 | m/s^2"),
        Array("qd_r", "reference velocities", "rad/s | m/s"),
        Array("qdd_r", "reference accelerations", "rad/s^2 | m/s^2"),
        Array("ten", "inertial parameters, ten a body", "kg, kg m, kg m^2", ("ten",)),
        Array("tau", "joint forces", "N m | N"),
        Array("g", "free fall in the root link's axes", "m/s^2", (3,)),
        Array("par", "regrouped inertial parameters", "kg, kg m, kg m^2", ("par",)),
        Array("pi", "inertial parameters, ten a link", "kg, kg m, kg m^2", ("pi",)),
    )
}
"""Every input, in argument order. The last three come by options, not by quantity."""


@dataclass(frozen=True, slots=True)
class Formulation:
    """One way to compute a quantity: an algorithm on a choice of regrouped parameters."""

    name: str
    regrouping: str
    algorithm: Algorithm
    source: str


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity: its inputs in argument order, its outputs and the ways to compute it.

    Where `option` is not empty, the quantity is that of a link to be named: see `of`.
    """

    name: str
    formula: str
    inputs: tuple[str, ...]
    outputs: tuple[Array, ...]
    needs_gravity: bool
    formulations: tuple[Formulation, ...]
    needs_inertia: bool = True
    option: str = ""

    def of(self, value: str) -> "Quantity":
        """This quantity of the link `value`, whose name its outputs bear too."""
        suffix = re.sub(r"\W", "_", value, flags=re.ASCII)
        ways = tuple(replace(w, algorithm=partial(w.algorithm, **{self.option: value})) for w in self.formulations)
        outputs = tuple(replace(out, name=f"{out.name}_{suffix}") for out in self.outputs)
        return replace(self, name=f"{self.name}:{value}", formulations=ways, outputs=outputs, option="")


QUANTITIES: Final[dict[str, Quantity]] = {}


def quantity(
    name: str, formula: str, *, inputs: Sequence[str], outputs: Sequence[Array], source: str,
    needs_gravity: bool = True, needs_inertia: bool = True, option: str = "",
    regroupings: Sequence[str] = tuple(REGROUPINGS),
) -> Callable[[Registered], Registered]:
    """Register the decorated algorithm as a way to compute quantity `name`, on each of `regroupings`.

    A second algorithm registered for one name is one more formulation of it.
    """

    def register(algorithm: Registered) -> Registered:
        stem = algorithm.__name__.removeprefix(name)
        title = algorithm.__module__.rsplit(".", 1)[-1] + stem
        ways = tuple(Formulation(f"{title}/{r}", r, algorithm, source) for r in regroupings)
        known = QUANTITIES[name].formulations if name in QUANTITIES else ()
        QUANTITIES[name] = Quantity(
            name, formula, tuple(inputs), tuple(outputs), needs_gravity, known + ways, needs_inertia, option
        )
        return algorithm

    return register
