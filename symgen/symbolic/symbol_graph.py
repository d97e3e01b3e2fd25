"""The symbols of a robot: names, meanings, and their display as text and LaTeX; and an expression
graph whose inputs are SymPy expressions, with its conversion to the format of `sympy.cse`."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import prod
from typing import Any, Final

import sympy

from symgen.algorithms import INPUTS
from symgen.compiler.passes import operands, upstream
from symgen.compiler.program import LEAVES, Index, Output, Program, Ref, Value
from symgen.mechanics.base_parameters import latex_name
from symgen.mechanics.joint_listing import position_coordinates
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import NamedNumber, Scalar
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


# -- graph -----------------------------------------------------------------------------------------


NumberFormat = Callable[[Decimal], sympy.Expr]
"""How coefficients are written."""


def as_float(c: Decimal) -> sympy.Expr:
    """Whole numbers as integers, other numbers as floats with 15 digits."""
    return (
        sympy.Integer(int(c))
        if c == int(c) and abs(c) < MAX_WHOLE_NUMBER
        else sympy.Float(float(c), 15)
    )


def as_fraction(c: Decimal) -> sympy.Expr:
    """The exact fraction, or a fraction with a small denominator if the difference is a rounding
    error."""
    exact = Fraction(c)
    simple = exact.limit_denominator(MAX_DENOMINATOR)
    near = abs(exact - simple) <= 4e-16 * abs(exact)
    return sympy.Rational(simple if near else exact)


MAX_WHOLE_NUMBER: Final = 10**6
MAX_DENOMINATOR: Final = 1000
"""Denominators up to this are simple."""


FUNCTION_EXPRESSIONS: Final[Mapping[str, Callable[[sympy.Expr], sympy.Expr]]] = {
    **{op.name: op for op in OPS.values() if not op.symbol},
    "inverse": lambda x: 1 / x,
}


ATOM_INPUT = "atom"
"""The input array that all of them are in."""


class SymbolicTape(Program):
    """An expression graph that accepts SymPy expressions. Sums, products and integer powers become
    operations, and numbers become constants. Any other expression is an atom, which is an input of
    the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.atoms: list[sympy.Expr] = []
        self._known: dict[sympy.Expr, Value] = {}

    def symbolic_constant(self, x: NamedNumber) -> Value:
        return self.value(self.on(x.expression))

    def of(self, expressions: Iterable[sympy.Expr]) -> list[Scalar]:
        """Add expressions to the graph."""
        return [self.on(x) for x in expressions]

    def on(self, expression: sympy.Expr) -> Scalar:
        """Add an expression to the graph."""
        if expression.is_number:
            return self.value(float(expression))
        if expression not in self._known:
            self._known[expression] = self.value(self._operations_of(expression))
        return self._known[expression]

    def _operations_of(self, expression: sympy.Expr) -> Scalar:
        parts = (
            list(map(self.on, expression.args)) if expression.is_Add or expression.is_Mul else []
        )
        if parts:
            total = parts[0]
            for part in parts[1:]:
                total = total + part if expression.is_Add else total * part
            return total
        base, power = expression.as_base_exp()
        if power.is_Integer and power != 1:
            return self._power(self.on(base), int(power))
        index = self._node(("input", ATOM_INPUT, len(self.atoms)))
        self.atoms.append(expression)
        return Value(self, index)

    def _power(self, base: Scalar, power: int) -> Scalar:
        total = base
        for _ in range(abs(power) - 1):
            total = total * base
        return 1.0 / total if power < 0 else total

    def atom(self, node: Index) -> sympy.Expr:
        """The expression of an input."""
        return self.atoms[self.nodes[node].b]


Replacements = list[tuple[sympy.Symbol, sympy.Expr]]


def replacements(
    tape: SymbolicTape,
    outputs: Sequence[Output],
    number: NumberFormat,
    symbols: Iterator[sympy.Symbol] | None,
    array: Callable[[Output, Sequence[sympy.Expr]], object],
) -> tuple[Replacements, list[object]]:
    """The live operations of a tape: each that is used more than once gets the next of `symbols`
    (without them none does); and the outputs, made into an `array` each. Equal to the tape's
    numbers to the last bit where SymPy leaves the order of sums alone, else to rounding."""
    nodes = upstream(tape, [ref.node for out in outputs for ref in out.refs if ref is not None])
    uses = Counter(k for index in nodes for k in operands(tape.nodes[index]))
    expressions, named = dict[Index, sympy.Expr](), Replacements()
    for index in nodes:
        expressions[index] = _expression(tape, index, expressions, number)
        if symbols is not None and uses[index] > 1 and tape.nodes[index].op not in LEAVES:
            name = next(symbols)
            named.append((name, expressions[index]))
            expressions[index] = name
    arrays = [
        array(out, [_signed_expression(ref, expressions) for ref in out.refs]) for out in outputs
    ]
    return named, arrays


def unshared_operations(tape: SymbolicTape, ref: Ref) -> int:
    """The number of operations of a value without sharing of subexpressions."""
    sizes = dict[Index, int]()
    for index in upstream(tape, [ref.node]):
        sizes[index] = sum(sizes[k] + 1 for k in operands(tape.nodes[index]))
    return sizes[ref.node]


def _expression(
    tape: SymbolicTape, index: Index, expressions: dict[Index, sympy.Expr], number: NumberFormat
) -> sympy.Expr:
    node = tape.nodes[index]
    if node.op == "input":
        return tape.atom(index)
    if node.op == "const":
        return number(Decimal(repr(node.a)))
    return OPS[node.op](*(expressions[k] for k in operands(node)))


def _signed_expression(ref: Ref | None, expressions: dict[Index, sympy.Expr]) -> sympy.Expr:
    if ref is None:
        return sympy.Integer(0)
    return -expressions[ref.node] if ref.negative else expressions[ref.node]
