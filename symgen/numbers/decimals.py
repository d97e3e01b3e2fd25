"""Numbers of a robot in exact decimal arithmetic, as long as they meet only one another: from where
parameters are regrouped (`symgen.mechanics.parameters`), before that they are floats, to the tape.

A file says 0.425 and 7.58e-3, and what dynamics makes of them, 0.425² or 1.39056646875 + 0.007555,
is a decimal again. In binary each step would round, and generated code would say
1.3981214687499999. An `Exact` is the double nearest to a decimal, which is kept beside it: sums,
differences and products of such numbers are rounded once, from the exact result."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from functools import cache
from typing import Any, Final

from symgen.numbers.named import Named
from symgen.numbers.scalar import Scalar

DIGITS: Final = 60
"""Longest decimal that is kept exactly; beyond, a result is a plain float."""

_CONTEXT: Final = Context(prec=DIGITS, traps=[Inexact, InvalidOperation, Overflow, DivisionByZero])


def _operation(
    exact: Callable[[Decimal, Decimal], Decimal], rounded: Callable[[float, Any], Any]
) -> Callable[[Any, Any], Any]:
    """The operation on decimals where both are and the result is not too long, else on floats;
    scalars of other kinds, which are met as often, do it themselves."""

    def result(a: "Exact", b: Any) -> Any:
        if type(b) is Exact or type(b) is int:
            try:
                return Exact(exact(a.decimal, b.decimal if type(b) is Exact else Decimal(b)))
            except ArithmeticError:
                return rounded(a, b)
        plain = isinstance(b, (float, int)) and not isinstance(b, Named)
        return rounded(a, b) if plain else NotImplemented

    return result


class Exact(float):
    """The double nearest to a decimal. Arithmetic with others of its kind, and with integers, is
    exact; with floats (states of a run) it is that of floats, with other scalars theirs."""

    __slots__ = ("decimal",)
    decimal: Decimal

    def __new__(cls, decimal: Decimal | str) -> "Exact":
        exact = Decimal(decimal)
        number = super().__new__(cls, exact)
        number.decimal = exact
        return number

    def __reduce__(self) -> tuple[Any, ...]:
        return Exact, (str(self.decimal),)

    __add__ = _operation(_CONTEXT.add, float.__add__)
    __radd__ = _operation(_CONTEXT.add, float.__radd__)
    __sub__ = _operation(_CONTEXT.subtract, float.__sub__)
    __mul__ = _operation(_CONTEXT.multiply, float.__mul__)
    __rmul__ = _operation(_CONTEXT.multiply, float.__rmul__)

    def __rsub__(self, other: Any) -> Any:
        return -(self - other) if type(other) is int else float.__rsub__(self, other)

    def __truediv__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, Named) else float.__truediv__(self, other)

    def __neg__(self) -> "Exact":
        return Exact(-self.decimal)

    def __abs__(self) -> "Exact":
        return Exact(abs(self.decimal))


def exact(x: Scalar) -> Scalar:
    """A float as the shortest decimal that reads back as it, other scalars as they are."""
    return Exact(repr(x)) if type(x) is float and x - x == 0 else x


def exactly(thing: Any) -> Any:
    """A thing with every float in it as an `Exact`: in tuples and in frozen dataclasses."""
    if isinstance(thing, tuple):
        return tuple(map(exactly, thing))
    changed = {}
    kind: type = type(thing)
    for name in _field_names(kind):
        value = getattr(thing, name)
        if (exact_value := exactly(value)) is not value:
            changed[name] = exact_value
    return replace(thing, **changed) if changed else exact(thing)


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """The arguments of the constructor of a dataclass; none for other types."""
    return tuple(f.name for f in fields(kind) if f.init) if is_dataclass(kind) else ()
