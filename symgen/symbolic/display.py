"""Closed forms for display: short decimals and LaTeX names of inertial parameters."""

import re
from typing import Any, Final

import sympy

from symgen.mechanics.parameter_names import latex_name

DIGITS: Final = 14
"""Significant digits that survive the few operations by which coefficients are made; a decimal
that is shorter than this is what the robot's file means."""

PARAMETER: Final = re.compile(r"^(m|h[xyz]|I(?:xx|xy|xz|yy|yz|zz))(\d+)$")
"""The name of an inertial parameter of a body, as symbols are called."""


def with_short_decimals(expression: Any) -> Any:
    """The expression (or array) with each coefficient rounded to `DIGITS` significant digits where
    that makes it shorter: 0.0984 for 0.0983999999999999, and 2 for 2.0."""
    found = {
        x for entry in sympy.flatten([expression]) for x in sympy.sympify(entry).atoms(sympy.Float)
    }
    changes = {x: short for x in found if (short := _short(x)) is not x}
    if not changes:
        return expression
    if hasattr(expression, "applyfunc"):
        return expression.applyfunc(lambda entry: entry.xreplace(changes))
    return expression.xreplace(changes)


def _short(number: sympy.Float) -> sympy.Number:
    """The number with fewer digits, or itself where rounding does not remove three of them."""
    rounded = f"{float(number):.{DIGITS}g}"
    mantissa = rounded.partition("e")[0].lstrip("-").replace(".", "").strip("0")
    if len(mantissa) > DIGITS - 3:
        return number
    value = float(rounded)
    return sympy.Integer(int(value)) if value == int(value) else sympy.Float(rounded)


def as_text(expression: Any) -> str:
    """An expression as text that SymPy and Python read, decimals without trailing zeros."""
    return str(sympy.sstr(expression, full_prec=False))


def as_latex(expression: Any) -> str:
    r"""An expression in LaTeX; inertial parameters as I_{xx,2}, h_{x,2} and m_{2}."""
    symbols = {s for x in sympy.flatten([expression]) for s in sympy.sympify(x).free_symbols}
    names = {s: latex_name(f"{m[1]}_{m[2]}") for s in symbols if (m := PARAMETER.match(s.name))}
    return str(sympy.latex(expression, symbol_names=names))
