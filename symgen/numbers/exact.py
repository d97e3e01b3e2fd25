"""Elementary functions rounded correctly, so that generated numbers do not depend on the machine's
libm."""

import math
from decimal import Decimal, getcontext, localcontext
from functools import cache, lru_cache
from typing import Any

from symgen.numbers.named import Named, expression, made

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
    if isinstance(x, Named) or isinstance(y, Named):
        return _of_names("atan2", math.atan2(y, x), y, x)
    return float(_context().atan2(y, x))


def _of_names(name: str, value: float, *xs: float) -> float:
    """A function of SymPy of numbers some of which have names."""
    import sympy

    return made(value, getattr(sympy, name)(*map(expression, xs)))


def norm(*xs: float) -> float:
    """Euclidean norm from IEEE operations alone."""
    if any(isinstance(x, Named) for x in xs):
        return _norm_of_names([x for x in xs if isinstance(x, Named) or x])
    size = max(abs(x) for x in xs)
    return size * math.sqrt(sum((x / size) ** 2 for x in xs)) if size > 0 else 0.0


def _norm_of_names(xs: list[float]) -> float:
    """The same of numbers other than 0; of one alone without a root."""
    if len(xs) == 1:
        return abs(xs[0])
    return _of_names("sqrt", math.hypot(*xs), sum(x * x for x in xs))
