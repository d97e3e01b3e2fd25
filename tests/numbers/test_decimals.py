"""Numbers of the file: exact among themselves, floats towards anything else."""

import copy
import operator
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import Program
from symgen.mechanics.spatial import Angle, Shift, Vector
from symgen.numbers.decimals import DIGITS, DecimalFloat, exact, with_exact_floats
from symgen.numbers.scalar import ZERO
from symgen.numbers.scalar import named_or_float as given_by_user

SHORT = st.decimals(-1000, 1000, places=6).map(lambda x: x + Decimal(0))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(SHORT, SHORT, SHORT)
def test_rounded_once(a, b, c):
    """a b + c - a is the double nearest to the exact result, and so is each step."""
    x, y, z = map(DecimalFloat, (a, b, c))
    wanted = Fraction(a) * Fraction(b) + Fraction(c) - Fraction(a)
    got = x * y + z - x
    assert type(got) is DecimalFloat and Fraction(got.decimal) == wanted and got == float(wanted)
    assert -got == float(-wanted) and abs(got) == float(abs(wanted))


def test_what_rounds_in_binary():
    assert 0.1 + 0.2 != 0.3 and DecimalFloat("0.1") + DecimalFloat("0.2") == 0.3
    assert repr(DecimalFloat("1.39056646875") + DecimalFloat("0.007555")) == "1.39812146875"
    assert (
        3 * DecimalFloat("0.1") == DecimalFloat("0.1") * 3 == 0.3 and 1 - DecimalFloat("0.9") == 0.1
    )


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv])
@pytest.mark.parametrize("other", [0.3, 1.0, np.float64(0.3), 0.3 + 0.1j, mp.mpf("0.3")])
def test_with_others_it_is_a_float(op, other):
    """States of a run are floats, and C rounds what it makes of them."""
    for got, wanted in (
        (op(DecimalFloat("0.1"), other), op(0.1, other)),
        (op(other, DecimalFloat("0.1")), op(other, 0.1)),
    ):
        assert got == wanted and type(got) is not DecimalFloat


def test_arrays_symbols_and_tapes():
    array = np.array([DecimalFloat("0.1"), 0.5]) * DecimalFloat("0.2")
    assert array.dtype == np.float64 and array.tolist() == [0.1 * 0.2, 0.5 * 0.2]
    x = sympy.Symbol("x")
    assert DecimalFloat("0.5") * x == 0.5 * x
    program = Program()
    (q,) = program.input("q", (1,))
    program.output(
        "y",
        (2,),
        [
            DecimalFloat("0.1") * q + DecimalFloat("0.1") * DecimalFloat("0.2"),
            DecimalFloat("0.1") * ZERO,
        ],
    )
    assert evaluate(program, {"q": [0.7]})["y"] == [0.1 * 0.7 + 0.02, ZERO]


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_with_numbers_that_have_a_name_it_keeps_the_name(op):
    a = sympy.Symbol("a", real=True)
    half, half_of_sympy = DecimalFloat("0.5"), sympy.Rational(1, 2)
    assert op(half, given_by_user(a)).expression == op(half_of_sympy, a)
    assert op(given_by_user(a), half).expression == op(a, half_of_sympy)


def test_long_decimals_become_floats():
    third = DecimalFloat("0." + "3" * 40)
    assert type(third * third) is float and third * third == (1 / 3) * (1 / 3)
    assert len((third * DecimalFloat("0.1")).decimal.as_tuple().digits) <= DIGITS
    large = DecimalFloat("1e300") * DecimalFloat("1e300")
    assert type(large) is DecimalFloat and large == float("inf")  # as a float is


def test_copies():
    x = DecimalFloat("0.1") * DecimalFloat("0.2")
    for same in (copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert same == x and same.decimal == x.decimal


def test_of_whole_things():
    """Floats in them, and nothing else; what has none is the same object."""
    v = with_exact_floats(Vector(0.1, ZERO, 2))
    assert type(v.x) is DecimalFloat and v.y is ZERO and type(v.z) is int
    assert type(with_exact_floats((Shift(2, 0.25),))[0].length) is DecimalFloat
    nothing = Angle(ZERO, ZERO, ZERO)
    assert with_exact_floats(nothing) is nothing
    assert exact("text") == "text" and type(exact(float("inf"))) is float
