"""Elementary functions rounded correctly, so that generated numbers do not depend on the machine's
libm."""

import math
from decimal import Decimal, getcontext, localcontext
from functools import cache, lru_cache
from typing import Any, Final

DIGITS: Final = 40
"""Decimal digits of reference computations."""


@cache
def _context(digits: int = DIGITS) -> Any:
    from mpmath import mp

    context = mp.clone()
    context.dps = digits
    return context


def number(x: float) -> Any:
    """`x` as a number of `DIGITS` digits, for reference runs of scalar-generic code."""
    return _context().mpf(x)


def elementary(name: str, x: Decimal) -> Decimal:
    """A function of a decimal number, to the digits of the decimal context."""
    return _elementary(name, x, getcontext().prec)


@lru_cache(maxsize=1 << 14)
def _elementary(name: str, x: Decimal, digits: int) -> Decimal:
    """Kept: where derivatives are taken by small steps, most of the angles are the same."""
    if name in ("sin", "cos") and x.is_finite():
        return _turned(x, digits, int(name == "cos"))
    context = _context(digits)
    argument = context.mpf(str(x) if x.is_finite() else float(x))  # other words for infinity
    return Decimal(str(getattr(context, name)(argument)))


SPARE: Final = 12
"""Digits more than wanted, on the way to them."""


def _turned(x: Decimal, digits: int, quarters: int) -> Decimal:
    """The sine of x and so many right angles: Taylor's series near the next one. Decimal is of C,
    and mpmath, which has this too, takes longer to load than most sines that are wanted."""
    with localcontext(prec=digits + SPARE + max(0, x.adjusted())) as context:
        right = _pi(context.prec + SPARE) / 2
        near = (x / right).to_integral_value()
        remainder = x - near * right
        turns = int(near % 4 + quarters) % 4
        term = total = Decimal(1) if turns % 2 else remainder
        square, n = remainder * remainder, 1 if turns % 2 == 0 else 0
        while term and term.adjusted() >= total.adjusted() - context.prec:
            term *= -square / ((n + 1) * (n + 2))
            n += 2
            total += term
    with localcontext(prec=digits):
        return -total if turns >= 2 else +total


@cache
def _pi(digits: int) -> Decimal:
    """Machin's formula."""
    with localcontext(prec=digits + SPARE):
        return 16 * _arctangent(5) - 4 * _arctangent(239)


def _arctangent(n: int) -> Decimal:
    """The arctangent of 1/n, in the context's digits."""
    power, total, k = Decimal(1) / n, Decimal(0), 1
    while power.adjusted() > -getcontext().prec - 2:
        total += power / k
        power, k = -power / (n * n), k + 2
    return total


def in_decimals(digits: int = DIGITS) -> Any:
    """A context in which decimal numbers compute with so many digits: ten times as fast as
    `number`, but floats do not mix with them."""
    return localcontext(prec=digits)


def cos(x: float) -> float:
    """Correctly rounded cosine."""
    return float(_elementary("cos", Decimal(x), DIGITS))


def sin(x: float) -> float:
    """Correctly rounded sine."""
    return float(_elementary("sin", Decimal(x), DIGITS))


def atan2(y: float, x: float) -> float:
    """Correctly rounded angle of the point (x, y)."""
    return float(_context().atan2(y, x))


def norm(*xs: float) -> float:
    """Euclidean norm from IEEE operations alone."""
    size = max(abs(x) for x in xs)
    return size * math.sqrt(sum((x / size) ** 2 for x in xs)) if size > 0 else 0.0
