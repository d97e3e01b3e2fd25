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


UNDERFLOW: Final = Decimal(-(10**6))
"""Exponentials of smaller numbers are 0: they have no part in the digits of any sum."""


def elementary(name: str, x: Decimal) -> Decimal:
    """A function of a decimal number, to the digits of the decimal context."""
    if name in ("sin", "cos") and x.is_finite():
        return _sine_and_cosine(x, getcontext().prec)[name == "cos"]
    if name == "exp" and x < UNDERFLOW:
        return Decimal(0)
    return _elementary(name, x, getcontext().prec)


KEPT: Final = 1 << 14
"""Where derivatives are taken by small steps, most of the angles are the same."""


@lru_cache(maxsize=KEPT)
def _elementary(name: str, x: Decimal, digits: int) -> Decimal:
    context = _context(digits)
    argument = context.mpf(str(x) if x.is_finite() else float(x))  # other words for infinity
    return Decimal(str(getattr(context, name)(argument)))


SPARE: Final = 12
"""Digits more than wanted, on the way to them."""

ROUND: Final = Decimal("1e-14")
"""Whole numbers of this are near enough to any angle that little is left of the series, and far
enough apart that steps of derivatives have them in common."""


@lru_cache(maxsize=KEPT)
def _sine_and_cosine(x: Decimal, digits: int) -> tuple[Decimal, Decimal]:
    """Sine and cosine by the sums of three angles: right ones, a round one and what is left.
    Decimal is of C, and mpmath, which has this too, takes longer to load than most sines that are
    wanted."""
    with localcontext(prec=digits + SPARE + max(0, x.adjusted())) as context:
        right = _pi(context.prec + SPARE) / 2
        near = (x / right).to_integral_value()
        turned = x - near * right
        rounded = turned.quantize(ROUND)
        (s, c), (ds, dc) = _of_round(rounded, context.prec), _series(turned - rounded)
        s, c = s * dc + c * ds, c * dc - s * ds
        quarters = int(near % 4)
    with localcontext(prec=digits):
        sines = +s, +c, -s, -c
        return sines[quarters], sines[(quarters + 1) % 4]


@lru_cache(maxsize=KEPT)
def _of_round(x: Decimal, digits: int) -> tuple[Decimal, Decimal]:
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
