"""An expression graph whose inputs are SymPy expressions, and its conversion to the format of
`sympy.cse`: an ordered list of replacements, and the reduced expressions."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final

import sympy

from symgen.compiler.passes import operands, upstream
from symgen.compiler.program import LEAVES, Index, Output, Program, Ref, Value
from symgen.numbers.named import NamedNumber
from symgen.numbers.operations import OPS
from symgen.numbers.scalar import Scalar

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
