"""The symbols of a robot on paper: what they are called and what they mean."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import sympy

from symgen.algorithms import INPUTS
from symgen.mechanics.coupling import positions
from symgen.mechanics.model import Model
from symgen.text import html_table

STEMS: Final[Mapping[str, str]] = {
    "qd": "qdot",
    "qdd": "qddot",
    "qddd": "qdddot",
    "qdddd": "qddddot",
    "qd_r": "qdot_r",
    "qdd_r": "qddot_r",
}
"""What SymPy prints well, by the name of an input: ``qdot1`` is a q with a dot in LaTeX."""

BY_POSITION: Final = ("q", "dq")
BY_VELOCITY: Final = ("qd", "qdd", "qddd", "qdddd", "qd_r", "qdd_r", "tau", "dqd", "dqdd", "dtau")


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a symbol: in words, its unit, and its value in the robot's file."""

    meaning: str
    unit: str
    value: float | None = None


class Meanings(dict[str, Meaning]):
    """The meanings of symbols by name, which notebooks show as a table."""

    def _repr_html_(self) -> str:
        rows = (
            (name, x.meaning, x.unit, "" if x.value is None else f"{x.value:.6g}")
            for name, x in self.items()
        )
        return html_table("symbols", ("symbol", "meaning", "unit", "value"), rows)


def symbol(name: str) -> sympy.Symbol:
    """A real symbol."""
    return sympy.Symbol(name, real=True)


def input_symbols(
    model: Model, array: str, sizes: Mapping[str, int], joints: bool
) -> list[sympy.Symbol]:
    """The symbols of an input: q1, q2, ... or, by `joints`, q_shoulder, q_elbow, ...; free fall has
    g_x, g_y and g_z."""
    if array == "g":
        return [symbol(f"g_{axis}") for axis in "xyz"]
    stem, size = STEMS.get(array, array), prod(INPUTS[array].sizes(sizes))
    names = _joint_names(model, array) if joints else []
    if len(names) == size:
        return [symbol(f"{stem}_{name}") for name in names]
    return [symbol(f"{stem}{k}") for k in range(1, size + 1)]


def _joint_names(model: Model, array: str) -> Sequence[str]:
    """The names of the entries of an input, where they are joints'; each an identifier, none
    twice."""
    if array in BY_POSITION:
        names = [row.name for row in positions(model)]
    else:
        names = list(model.joint_names) if array in BY_VELOCITY else []
    plain = [re.sub(r"\W", "_", name) for name in names]
    return plain if len(set(plain)) == len(plain) else []


def input_meanings(model: Model, array: str, symbols: Sequence[sympy.Symbol]) -> dict[str, Meaning]:
    """The meanings of the symbols of an input."""
    row = INPUTS[array]
    if array in BY_POSITION:
        texts = [f"{row.meaning}: {x.name}" for x in positions(model)]
    elif array in BY_VELOCITY:
        texts = [f"{row.meaning}: {name}" for name in model.joint_names]
    else:
        texts = [f"{row.meaning}, entry {k}" for k in range(1, len(symbols) + 1)]
    return {s.name: Meaning(text, row.unit) for s, text in zip(symbols, texts, strict=False)}
