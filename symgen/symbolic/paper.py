"""A tape whose inputs are SymPy expressions: symbols of coordinates, of masses and of lengths."""

from collections.abc import Iterable

import sympy

from symgen.compiler.program import Program
from symgen.compiler.value import Index, Value
from symgen.numbers.named import Named
from symgen.numbers.scalar import Scalar

ATOM = "atom"
"""The input array that all of them are in."""


class Paper(Program):
    """A tape that takes expressions: sums, products and whole powers become operations, numbers
    constants, and everything else is an atom, an input of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.atoms: list[sympy.Expr] = []
        self._known: dict[sympy.Expr, Value] = {}

    def known(self, x: Named) -> Value:
        return self.value(self.on(x.expression))

    def of(self, expressions: Iterable[sympy.Expr]) -> list[Scalar]:
        """Expressions on this tape."""
        return [self.on(x) for x in expressions]

    def on(self, expression: sympy.Expr) -> Scalar:
        """An expression on this tape."""
        if expression.is_number:
            return self.value(float(expression))
        if expression not in self._known:
            self._known[expression] = self.value(self._made_of(expression))
        return self._known[expression]

    def _made_of(self, expression: sympy.Expr) -> Scalar:
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
        return self._atom(expression)

    def _power(self, base: Scalar, power: int) -> Scalar:
        total = base
        for _ in range(abs(power) - 1):
            total = total * base
        return 1.0 / total if power < 0 else total

    def _atom(self, expression: sympy.Expr) -> Value:
        index = self._node(("input", ATOM, len(self.atoms)))
        self.atoms.append(expression)
        return Value(self, index)

    def atom(self, node: Index) -> sympy.Expr:
        """The expression of an input."""
        return self.atoms[self.nodes[node].b]
