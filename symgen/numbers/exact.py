"""Elementary functions rounded correctly, so that generated numbers do not depend on the machine's
libm."""

import math
from decimal import Decimal, getcontext, localcontext
from functools import cache, lru_cache
from typing import Any

DIGITS = 40
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
    context = _context(digits)
    return Decimal(str(getattr(context, name)(context.mpf(str(x)))))


def in_decimals(digits: int = DIGITS) -> Any:
    """A context in which decimal numbers compute with so many digits: ten times as fast as
    `number`, but floats do not mix with them."""
    return localcontext(prec=digits)


def cos(x: float) -> float:
    """Correctly rounded cosine."""
    return float(_context().cos(x))


def sin(x: float) -> float:
    """Correctly rounded sine."""
    return float(_context().sin(x))


def atan2(y: float, x: float) -> float:
    """Correctly rounded angle of the point (x, y)."""
    return float(_context().atan2(y, x))


def norm(*xs: float) -> float:
    """Euclidean norm from IEEE operations alone."""
    size = max(abs(x) for x in xs)
    return size * math.sqrt(sum((x / size) ** 2 for x in xs)) if size > 0 else 0.0
