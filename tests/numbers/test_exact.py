"""Sines and cosines in decimals against mpmath's."""

import math
import random
from decimal import Decimal, localcontext

import numpy as np
import pytest
from mpmath import mp

from symgen.numbers import decimals as exact
from symgen.numbers.decimals import elementary_function
from symgen.numbers.operations import OPS

ODD = ("0", "-0.0", "1e-300", "1e15", "3.14159", "0.7853981633974483", "1", "-1", "2", "1e-60")


@pytest.mark.parametrize("digits", [40, 60])
def test_sines_of_decimals_are_within_a_unit_of_their_last_digit(digits):
    rng = random.Random(1)
    drawn = [rng.uniform(-10, 10) * 10 ** rng.randint(-25, 18) for _ in range(300)]
    steps = [
        Decimal(x) + d for x in (0.7, -2.5) for d in map(Decimal, ("1e-17", "-1e-30", "1e-14"))
    ]
    for x in (*map(Decimal, ODD), *map(Decimal, drawn), *steps):
        for name in ("sin", "cos"):
            with localcontext(prec=digits):
                got = elementary_function(name, x)
            with mp.workdps(digits + 40):
                wanted = getattr(mp, name)(mp.mpf(str(x)))
                error = abs(mp.mpf(str(got)) - wanted)
                assert error <= abs(wanted) * mp.mpf(10) ** (1 - digits) * 0.51, (name, x)


def test_floats_are_the_nearest():
    rng = random.Random(2)
    for x in (0.0, 5e-324, 3.141592653589793, *(rng.uniform(-20, 20) for _ in range(300))):
        with mp.workdps(60):
            assert exact.sin(x) == float(mp.sin(mp.mpf(x)))
            assert exact.cos(x) == float(mp.cos(mp.mpf(x)))


@pytest.mark.parametrize("name", [op.name for op in OPS.values() if op.arity == 1])
@pytest.mark.parametrize("x", ["Infinity", "-Infinity", "NaN"])
def test_infinite_decimals_give_what_floats_give_or_an_arithmetic_error(name, x):
    """As where a loop in decimals runs away: the controllers' records."""
    try:
        got = float(OPS[name](Decimal(x)))
    except ArithmeticError:
        return
    with np.errstate(invalid="ignore"):
        wanted = float(OPS[name](np.array(float(x))))
    assert got == wanted or (math.isnan(got) and math.isnan(wanted)), (name, x)
