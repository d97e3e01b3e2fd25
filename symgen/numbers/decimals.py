"""Numbers of a robot in exact decimal arithmetic, as long as they meet only one another: from where
parameters are regrouped (`symgen.mechanics.parameters`), before that they are floats, to the tape.

A file says 0.425 and 7.58e-3, and what dynamics makes of them, 0.425² or 1.39056646875 + 0.007555,
is a decimal again. In binary each step would round, and generated code would say
1.3981214687499999. A `DecimalFloat` is the double nearest to a decimal, which is kept beside it:
sums, differences and products of such numbers are rounded once, from the exact result.

Elementary functions of decimals are correctly rounded, so that generated numbers do not depend on
the math library of the machine."""

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from decimal import (
    Context,
    Decimal,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
    getcontext,
    localcontext,
)
from functools import cache, lru_cache
from typing import Any, Final

from symgen.numbers.scalar import NamedNumber, Scalar, sum_in_order

DIGITS: Final = 60
"""Longest decimal that is kept exactly; beyond, a result is a plain float."""

_CONTEXT: Final = Context(prec=DIGITS, traps=[Inexact, InvalidOperation, Overflow, DivisionByZero])


def _exact_operation(
    exact: Callable[[Decimal, Decimal], Decimal], rounded: Callable[[float, Any], Any]
) -> Callable[[Any, Any], Any]:
    """The operation on decimals where both are and the result is not too long, else on floats;
    scalars of other kinds, which are met as often, do it themselves."""

    def result(a: "DecimalFloat", b: Any) -> Any:
        if type(b) is DecimalFloat or type(b) is int:
            try:
                return DecimalFloat(
                    exact(a.decimal, b.decimal if type(b) is DecimalFloat else Decimal(b))
                )
            except ArithmeticError:
                return rounded(a, b)
        plain = isinstance(b, (float, int)) and not isinstance(b, NamedNumber)
        return rounded(a, b) if plain else NotImplemented

    return result


class DecimalFloat(float):
    """The double nearest to a decimal. Arithmetic with others of its kind, and with integers, is
    exact; with floats (states of a run) it is that of floats, with other scalars theirs."""

    __slots__ = ("decimal",)
    decimal: Decimal

    def __new__(cls, decimal: Decimal | str) -> "DecimalFloat":
        exact = Decimal(decimal)
        number = super().__new__(cls, exact)
        number.decimal = exact
        return number

    def __reduce__(self) -> tuple[Any, ...]:
        return DecimalFloat, (str(self.decimal),)

    __add__ = _exact_operation(_CONTEXT.add, float.__add__)
    __radd__ = _exact_operation(_CONTEXT.add, float.__radd__)
    __sub__ = _exact_operation(_CONTEXT.subtract, float.__sub__)
    __mul__ = _exact_operation(_CONTEXT.multiply, float.__mul__)
    __rmul__ = _exact_operation(_CONTEXT.multiply, float.__rmul__)

    def __rsub__(self, other: Any) -> Any:
        return -(self - other) if type(other) is int else float.__rsub__(self, other)

    def __truediv__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, NamedNumber) else float.__truediv__(self, other)

    def __neg__(self) -> "DecimalFloat":
        return DecimalFloat(-self.decimal)

    def __abs__(self) -> "DecimalFloat":
        return DecimalFloat(abs(self.decimal))


def exact(x: Scalar) -> Scalar:
    """A float as the shortest decimal that reads back as it, other scalars as they are."""
    return DecimalFloat(repr(x)) if type(x) is float and x - x == 0 else x


def with_exact_floats(thing: Any) -> Any:
    """A thing with every float in it as a `DecimalFloat`: in tuples and in frozen dataclasses."""
    if isinstance(thing, tuple):
        return tuple(map(with_exact_floats, thing))
    changed = {}
    kind: type = type(thing)
    for name in _field_names(kind):
        value = getattr(thing, name)
        if (exact_value := with_exact_floats(value)) is not value:
            changed[name] = exact_value
    return replace(thing, **changed) if changed else exact(thing)


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """The arguments of the constructor of a dataclass; none for other types."""
    return tuple(f.name for f in fields(kind) if f.init) if is_dataclass(kind) else ()


REFERENCE_DIGITS: Final = 40
"""Decimal digits of reference computations."""


@cache
def _context(digits: int = REFERENCE_DIGITS) -> Any:
    from mpmath import mp

    context = mp.clone()
    context.dps = digits
    return context


def number(x: float) -> Any:
    """`x` as a number of `REFERENCE_DIGITS` digits, for reference runs of scalar-generic code."""
    return _context().mpf(x)


EXP_UNDERFLOW: Final = Decimal(-(10**6))
"""Exponentials of smaller numbers are 0: they have no part in the digits of any sum."""


def elementary_function(name: str, x: Decimal) -> Decimal:
    """A function of a decimal number, to the digits of the decimal context."""
    if name == "exp" and x < EXP_UNDERFLOW:
        return Decimal(0)
    if name in ("sin", "cos") and x.is_finite():
        return _sine_and_cosine(x, getcontext().prec)[name == "cos"]
    return _elementary(name, x, getcontext().prec)


CACHE_SIZE: Final = 1 << 14
"""Where derivatives are taken by small steps, most of the angles are the same."""


@lru_cache(maxsize=CACHE_SIZE)
def _elementary(name: str, x: Decimal, digits: int) -> Decimal:
    context = _context(digits)
    argument = context.mpf(str(x) if x.is_finite() else float(x))  # other words for infinity
    return Decimal(str(getattr(context, name)(argument)))


GUARD_DIGITS: Final = 12
"""Digits more than wanted, on the way to them."""

ANGLE_GRID: Final = Decimal("1e-14")
"""Whole numbers of this are near enough to any angle that little is left of the series, and far
enough apart that steps of derivatives have them in common."""


@lru_cache(maxsize=CACHE_SIZE)
def _sine_and_cosine(x: Decimal, digits: int) -> tuple[Decimal, Decimal]:
    """Sine and cosine by the sums of three angles: right ones, a round one and what is left.
    Decimal is of C, and mpmath, which has this too, takes longer to load than most sines that are
    wanted."""
    with localcontext(prec=digits + GUARD_DIGITS + max(0, x.adjusted())) as context:
        quarter_turn = _pi(context.prec + GUARD_DIGITS) / 2
        quarter_turns = (x / quarter_turn).to_integral_value()
        remainder = x - quarter_turns * quarter_turn
        rounded = remainder.quantize(ANGLE_GRID)
        (s, c), (ds, dc) = _grid_sine_cosine(rounded, context.prec), _series(remainder - rounded)
        s, c = s * dc + c * ds, c * dc - s * ds
        quadrant = int(quarter_turns % 4)
    with localcontext(prec=digits):
        sines = +s, +c, -s, -c
        return sines[quadrant], sines[(quadrant + 1) % 4]


@lru_cache(maxsize=CACHE_SIZE)
def _grid_sine_cosine(x: Decimal, digits: int) -> tuple[Decimal, Decimal]:
    """The sine and cosine, in so many digits, of an angle that many have in common."""
    return _series(x)


def _series(x: Decimal) -> tuple[Decimal, Decimal]:
    """The sine and cosine of a small angle by Taylor's series, in the context's digits."""
    square, digits, totals = -x * x, getcontext().prec, []
    for n, term in ((1, x), (0, Decimal(1))):
        total = term
        least = total.adjusted() - digits
        while term and term.adjusted() >= least:
            term = term * square / ((n + 1) * (n + 2))
            n += 2
            total += term
        totals.append(total)
    return totals[0], totals[1]


@cache
def _pi(digits: int) -> Decimal:
    """Machin's formula."""
    with localcontext(prec=digits + GUARD_DIGITS):
        return 16 * _arctangent(5) - 4 * _arctangent(239)


def _arctangent(n: int) -> Decimal:
    """The arctangent of 1/n, in the context's digits."""
    power, total, k = Decimal(1) / n, Decimal(0), 1
    while power.adjusted() > -getcontext().prec - 2:
        total += power / k
        power, k = -power / (n * n), k + 2
    return total


def decimal_precision(digits: int = REFERENCE_DIGITS) -> Any:
    """A context in which decimal numbers compute with so many digits: ten times as fast as
    `number`, but floats do not mix with them."""
    return localcontext(prec=digits)


@lru_cache(maxsize=CACHE_SIZE)
def correctly_rounded(name: str, x: float) -> float:
    """An elementary function of a float, correctly rounded; no zero is negative, as the cache takes
    both for one."""
    with decimal_precision():
        return float(elementary_function(name, Decimal(x))) + 0.0


def cos(x: float) -> float:
    """Correctly rounded cosine."""
    return correctly_rounded("cos", x)


def sin(x: float) -> float:
    """Correctly rounded sine."""
    return correctly_rounded("sin", x)


def atan2(y: float, x: float) -> float:
    """Correctly rounded angle of the point (x, y)."""
    return float(_context().atan2(y, x))


def norm(*xs: float) -> float:
    """Euclidean norm from IEEE operations alone."""
    size = max(abs(x) for x in xs)
    return size * math.sqrt(sum_in_order(((x / size) ** 2 for x in xs), 0.0)) if size > 0 else 0.0
