"""Arithmetic that means the same for floats, complex numbers, SymPy expressions and tape values;
numbers with a name, and names of array types.

An algorithm written with ``+ - * /`` and the functions of `symgen.numbers.operations` runs
unchanged on any of them. Structural zeros are the object `ZERO`, not the number 0.0: whatever must
vanish for every state of a robot stays recognisable, so every kind of scalar follows the same path
through an algorithm.

Lengths and masses may be SymPy symbols. A `NamedNumber` is the expression that a user gave and a
float beside it. Structure is decided on the float, a stand-in that no formula vanishes at by
accident; arithmetic with other numbers goes on with both. So all that is done with a robot's
constants, such as laying canonical frames, gives its formulas too. Where code is generated such a
number is refused: nobody knows its value."""

import hashlib
import math
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from symgen.errors import OptionError

if TYPE_CHECKING:
    import sympy

Numbers = NDArray[np.float64]
"""An array of doubles of any shape; the docstring of what takes or returns it gives the shape."""

AnyArray = NDArray[Any]
"""An array of entries of any type."""

DecimalArray = Any
"""An array of `decimal.Decimal` or of other numbers that NumPy has no type for."""


# -- numbers with a name ---------------------------------------------------------------------------


def _on_value_and_expression(
    operation: Callable[[Any, Any], Any],
) -> Callable[["NamedNumber", Any], Any]:
    """The operation on values and on expressions; a plain number where no symbol is left."""

    def result(a: "NamedNumber", b: Any) -> Any:
        if hasattr(b, "free_symbols"):
            return operation(a.expression, b)
        if not isinstance(b, (int, float)):
            return NotImplemented
        value = operation(float(a), float(b))
        expression = operation(a.expression, as_expression(b))
        return NamedNumber(value, expression) if expression.free_symbols else float(expression)

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
    import sympy

    real = x.xreplace({s: s if s.is_real else sympy.Symbol(s.name, real=True) for s in symbols})
    value = float(real.xreplace({s: stand_in(s.name) for s in real.free_symbols}))
    if not math.isfinite(value):
        raise ValueError(f"{x} is not finite")
    return NamedNumber(value, real)


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


# -- scalars ---------------------------------------------------------------------------------------


class Scalar(Protocol):
    """A float, complex or decimal number, SymPy expression, tape value, dual, array of any of
    these, or `ZERO`: what has the arithmetic that algorithms use, and nothing else. It cannot be
    compared, and is no number for Python: generated code is straight-line.

    What kinds may meet is not said here; each refuses those that it does not know."""

    def __add__(self, other: Any, /) -> "Scalar": ...
    def __radd__(self, other: Any, /) -> "Scalar": ...
    def __sub__(self, other: Any, /) -> "Scalar": ...
    def __rsub__(self, other: Any, /) -> "Scalar": ...
    def __mul__(self, other: Any, /) -> "Scalar": ...
    def __rmul__(self, other: Any, /) -> "Scalar": ...
    def __truediv__(self, other: Any, /) -> "Scalar": ...
    def __rtruediv__(self, other: Any, /) -> "Scalar": ...
    def __neg__(self) -> "Scalar": ...


Coordinates = Sequence[Scalar]
"""Coordinates of a robot, or their rates, in the order of its joints."""


class Zero:
    """The structural zero: absorbs products, vanishes from sums."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy scalars defer to the methods below

    def __add__(self, other: Scalar) -> Scalar:
        return other

    __radd__ = __add__
    __rsub__ = __add__

    def __sub__(self, other: Scalar) -> Scalar:
        return -other

    def __mul__(self, other: Scalar) -> "Zero":
        return self

    __rmul__ = __mul__
    __truediv__ = __mul__

    def __rtruediv__(self, other: Scalar) -> "Zero":
        raise ZeroDivisionError(
            "division by an expression that is zero in every state of the robot"
        )

    def __neg__(self) -> "Zero":
        return self

    def __float__(self) -> float:
        return 0.0

    def __complex__(self) -> complex:
        return 0j

    def __repr__(self) -> str:
        return "ZERO"

    def __reduce__(self) -> str:
        """There is one of it, in every process."""
        return "ZERO"


ZERO: Final = Zero()


PRIME: Final = "'"
"""In a name for generated code: what is called so is on its way from one frame to another. It goes
by this name only where it has no other, and the prime is not written."""


def plain(x: Scalar) -> float:
    """The float that a constant of a model is, with its name where it has one
    (`symgen.numbers.scalar`). Raises TypeError for what has no value yet, such as tape values."""
    return x if isinstance(x, NamedNumber) else float(x)  # type: ignore[arg-type]


def structural(x: Scalar) -> Scalar:
    """`x`, or `ZERO` where `x` is the number zero: for constants of a model, which hold in every
    state."""
    return ZERO if isinstance(x, (int, float)) and x == 0 else x


def named(x: Scalar, name: str) -> Scalar:
    """`x` itself; a tape value remembers `name` for the generated code, unless it already has
    one."""
    label = getattr(x, "named", None)
    return x if label is None else label(name)


def labelled(x: Scalar, symbol: str, label: str) -> Scalar:
    """`x`, named by a symbol and a label where there is one."""
    return named(x, symbol + label) if label else x


def positive(x: Scalar) -> Scalar:
    """`x` itself, which must be positive; a tape remembers it as it remembers divisors, so that
    generated code can tell."""
    program = getattr(x, "program", None)
    if program is not None:
        program.positive_signs.setdefault(x.node, x.negative)  # type: ignore[attr-defined]
    return x


def by_columns(
    function: Callable[[Sequence[Scalar], Sequence[Scalar]], Sequence[Scalar]],
    shared: Sequence[Scalar],
    columns: Sequence[Sequence[Scalar]],
) -> list[Sequence[Scalar]]:
    """``function(shared, column)`` for each of `columns`; an expression graph records that the same
    operations compute all of them, so that generated code can have a loop."""
    results = [function(shared, column) for column in columns]
    program = next((p for x in shared if (p := getattr(x, "program", None)) is not None), None)
    if program is not None:
        program.add_column_loop(function, shared, columns, results)
    return results


def set_restart_point(solved: Iterable[Scalar], kept: Iterable[Scalar]) -> None:
    """Tell an expression graph that an algorithm starts again with the values `solved`, and that it
    reads those in `kept` again."""
    parts: list[list[Any]] = [[x for x in xs if hasattr(x, "node")] for xs in (solved, kept)]
    for program in {x.program for part in parts for x in part}:
        program.restart_point = tuple(frozenset(x.node for x in part) for part in parts)


FloatOrScalar = TypeVar("FloatOrScalar", float, Scalar)


def dot(a: Sequence[FloatOrScalar], b: Sequence[FloatOrScalar]) -> FloatOrScalar:
    """The sum of the products, entry by entry."""
    total: FloatOrScalar = sum_in_order((x * y for x, y in zip(a, b, strict=True)), ZERO)
    return total


def sum_in_order(terms: Iterable[Any], start: Any) -> Any:
    """`start` plus the terms, one addition after the other, as generated code adds. The built-in
    `sum` of floats compensates rounding errors since Python 3.12, so it has other last digits."""
    return reduce(operator.add, terms, start)
