"""The symbols of a robot: names, meanings, and their display as text and LaTeX."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import sympy

from symgen.algorithms import INPUTS
from symgen.mechanics.base_parameters import latex_name
from symgen.mechanics.joint_listing import position_coordinates
from symgen.mechanics.model import RigidBodyModel
from symgen.text import html_table

SYMBOL_STEMS: Final[Mapping[str, str]] = {
    "qd": "qdot",
    "qdd": "qddot",
    "qddd": "qdddot",
    "qdddd": "qddddot",
    "qd_r": "qdot_r",
    "qdd_r": "qddot_r",
}
"""What SymPy prints well, by the name of an input: ``qdot1`` is a q with a dot in LaTeX."""

POSITION_INPUTS: Final = ("q", "dq")
VELOCITY_INPUTS: Final = (
    "qd",
    "qdd",
    "qddd",
    "qdddd",
    "qd_r",
    "qdd_r",
    "tau",
    "dqd",
    "dqdd",
    "dtau",
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of a symbol, its unit, and its value in the file of the robot."""

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
    model: RigidBodyModel, array: str, sizes: Mapping[str, int], joints: bool
) -> list[sympy.Symbol]:
    """The symbols of an input: q1, q2, ... or, by `joints`, q_shoulder, q_elbow, ...; free fall has
    g_x, g_y and g_z."""
    if array == "g":
        return [symbol(f"g_{axis}") for axis in "xyz"]
    stem, size = SYMBOL_STEMS.get(array, array), prod(INPUTS[array].sizes(sizes))
    names = _joint_names(model, array) if joints else []
    if len(names) == size:
        return [symbol(f"{stem}_{name}") for name in names]
    return [symbol(f"{stem}{k}") for k in range(1, size + 1)]


def _joint_names(model: RigidBodyModel, array: str) -> Sequence[str]:
    """The names of the entries of an input, where they are joints'; each an identifier, none
    twice."""
    if array in POSITION_INPUTS:
        names = [row.name for row in position_coordinates(model)]
    else:
        names = list(model.joint_names) if array in VELOCITY_INPUTS else []
    plain = [re.sub(r"\W", "_", name) for name in names]
    return plain if len(set(plain)) == len(plain) else []


def input_meanings(
    model: RigidBodyModel, array: str, symbols: Sequence[sympy.Symbol]
) -> dict[str, Meaning]:
    """The meanings of the symbols of an input."""
    row = INPUTS[array]
    if array in POSITION_INPUTS:
        texts = [f"{row.meaning}: {x.name}" for x in position_coordinates(model)]
    elif array in VELOCITY_INPUTS:
        texts = [f"{row.meaning}: {name}" for name in model.joint_names]
    else:
        texts = [f"{row.meaning}, entry {k}" for k in range(1, len(symbols) + 1)]
    return {s.name: Meaning(text, row.unit) for s, text in zip(symbols, texts, strict=False)}


SIGNIFICANT_DIGITS: Final = 14
"""Significant digits that survive the few operations by which coefficients are made; a decimal
that is shorter than this is what the robot's file means."""

PARAMETER_NAME: Final = re.compile(r"^(m|h[xyz]|I(?:xx|xy|xz|yy|yz|zz))(\d+)$")
"""The name of an inertial parameter of a body, as symbols are called."""


def with_short_decimals(expression: Any) -> Any:
    """The expression (or array) with each coefficient rounded to `SIGNIFICANT_DIGITS` significant
    digits where that makes it shorter: 0.0984 for 0.0983999999999999, and 2 for 2.0."""
    found = {
        x for entry in sympy.flatten([expression]) for x in sympy.sympify(entry).atoms(sympy.Float)
    }
    changes = {x: short for x in found if (short := _shortened(x)) is not x}
    if not changes:
        return expression
    if hasattr(expression, "applyfunc"):
        return expression.applyfunc(lambda entry: entry.xreplace(changes))
    return expression.xreplace(changes)


def _shortened(number: sympy.Float) -> sympy.Number:
    """The number with fewer digits, or itself where rounding does not remove three of them."""
    rounded = f"{float(number):.{SIGNIFICANT_DIGITS}g}"
    mantissa = rounded.partition("e")[0].lstrip("-").replace(".", "").strip("0")
    if len(mantissa) > SIGNIFICANT_DIGITS - 3:
        return number
    value = float(rounded)
    return sympy.Integer(int(value)) if value == int(value) else sympy.Float(rounded)


def as_text(expression: Any) -> str:
    """An expression as text that SymPy and Python read, decimals without trailing zeros."""
    return str(sympy.sstr(expression, full_prec=False))


def as_latex(expression: Any) -> str:
    r"""An expression in LaTeX; inertial parameters as I_{xx,2}, h_{x,2} and m_{2}."""
    symbols = {s for x in sympy.flatten([expression]) for s in sympy.sympify(x).free_symbols}
    names = {
        s: latex_name(f"{m[1]}_{m[2]}") for s in symbols if (m := PARAMETER_NAME.match(s.name))
    }
    return str(sympy.latex(expression, symbol_names=names))
