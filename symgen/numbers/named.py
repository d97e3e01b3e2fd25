"""Numbers of a robot that have a name: lengths and masses given as SymPy symbols.

A `NamedNumber` is the expression that a user gave and a float beside it. Structure is decided on
the float, a stand-in that no formula vanishes at by accident; arithmetic with other numbers goes on
with both. So all that is done with a robot's constants, such as laying canonical frames, gives its
formulas too. Where code is generated such a number is refused: nobody knows its value."""

import hashlib
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from symgen.errors import OptionError

if TYPE_CHECKING:
    import sympy


def _on_value_and_expression(
    operation: Callable[[Any, Any], Any],
) -> Callable[["NamedNumber", Any], Any]:
    """The operation on values and on expressions; a plain number where no symbol is left."""

    def result(a: "NamedNumber", b: Any) -> Any:
        if hasattr(b, "free_symbols"):
            return operation(a.expression, b)
        if not isinstance(b, (int, float)):
            return NotImplemented
        return named_or_plain(
            operation(float(a), float(b)), operation(a.expression, as_expression(b))
        )

    return result


class NamedNumber(float):
    """A float that stands in for a SymPy expression of real symbols. It equals only what is the
    same expression, never a plain number: what vanishes has become one."""

    __slots__ = ("expression",)
    expression: "sympy.Expr"
    _op_priority = 11.0
    """SymPy's expressions leave operations with it to the methods below."""

    def __new__(cls, value: float, expression: "sympy.Expr") -> "NamedNumber":
        number = super().__new__(cls, value)
        number.expression = expression
        return number

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedNumber, (float(self), self.expression)

    def __repr__(self) -> str:
        return str(self.expression)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedNumber) and bool(self.expression == other.expression)

    def __hash__(self) -> int:
        return hash(self.expression)

    def __neg__(self) -> "NamedNumber":
        return NamedNumber(-float(self), -self.expression)

    def __abs__(self) -> "NamedNumber":
        return -self if self < 0 else self

    __add__ = _on_value_and_expression(operator.add)
    __radd__ = _on_value_and_expression(lambda a, b: b + a)
    __sub__ = _on_value_and_expression(operator.sub)
    __rsub__ = _on_value_and_expression(lambda a, b: b - a)
    __mul__ = _on_value_and_expression(operator.mul)
    __rmul__ = _on_value_and_expression(lambda a, b: b * a)
    __truediv__ = _on_value_and_expression(operator.truediv)
    __rtruediv__ = _on_value_and_expression(lambda a, b: b / a)


def named_or_plain(value: float, expression: "sympy.Expr") -> float:
    """The number with this expression, a plain one where it has no symbols."""
    return NamedNumber(value, expression) if expression.free_symbols else float(expression)


def as_expression(x: float) -> "sympy.Expr":
    """A number as SymPy has it: the exact fraction that its shortest decimal is."""
    import sympy

    if isinstance(x, NamedNumber):
        return x.expression
    decimal = getattr(x, "decimal", None)
    return sympy.Rational(str(decimal) if decimal is not None else repr(float(x)))


def named_or_float(x: Any) -> float:
    """A number that a user gave: a float, or SymPy's expression of real symbols as a `NamedNumber`.

    Raises TypeError, ValueError for what is neither."""
    symbols = getattr(x, "free_symbols", None)
    if not symbols:
        return x if isinstance(x, NamedNumber) else float(x)
    real = x.xreplace({s: with_assumptions(s) for s in symbols})
    value = float(real.xreplace({s: stand_in(s.name) for s in real.free_symbols}))
    if not math.isfinite(value):
        raise ValueError(f"{x} is not finite")
    return NamedNumber(value, real)


def with_assumptions(symbol: "sympy.Symbol") -> "sympy.Symbol":
    """The symbol as a real one: lengths and masses are no complex numbers."""
    import sympy

    return symbol if symbol.is_real else sympy.Symbol(symbol.name, real=True)


def stand_in(name: str) -> float:
    """The number that stands in for a symbol: between 1/2 and 3/2, another for every name, the
    same on every machine."""
    digits = int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")
    return 0.5 + digits / 2**48


def no_value_error(x: NamedNumber) -> OptionError:
    """The error that says that no code can be made of such a number."""
    return OptionError(
        f"the robot has a symbol in {x!r}, which has no value; give it one with "
        "robot.subs({...}), or look at robot.symbolic"
    )
