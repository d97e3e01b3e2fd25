"""Sine and cosine of ``--trig inline``: accurate, and exact in every quadrant."""

import math

import mpmath
import numpy as np

from symgen.languages.sines import SINE_LIMITS
from symgen.numbers.trig import SINES, TYPES, sincos
from tests.support.sines import ULP, angles, error, large_angles, scalars


@scalars
def test_errors_are_below_two_ulp(scalar):
    x = angles(scalar)
    for got, function in zip(sincos(x, scalar), (mpmath.sin, mpmath.cos), strict=True):
        assert got.dtype == TYPES[scalar]
        assert error(x, got, function, scalar) < ULP


@scalars
def test_the_numbers_are_those_of_the_type(scalar):
    n, real = SINES[scalar], TYPES[scalar]
    assert all(float(real(x)) == x for x in (n.shift, *n.half_pi, *n.sine, *n.cosine))
    with mpmath.workdps(60):
        exact = sum(map(mpmath.mpf, n.half_pi))
        assert abs(exact - mpmath.pi / 2) * n.bound < 2.0 ** (-110 if scalar == "double" else -55)
    for part in n.half_pi[:-1]:
        digits = int(math.frexp(part)[0] * 2**53)
        kept = 53 - (digits & -digits).bit_length() + 1
        assert kept + math.ceil(math.log2(n.bound / 1.5)) <= (53 if scalar == "double" else 24)


@scalars
def test_no_number_gives_no_number(scalar):
    with np.errstate(invalid="ignore"):
        found = sincos(np.array([np.nan, np.inf, -np.inf], TYPES[scalar]), scalar)
    assert np.isnan(found).all()


@scalars
def test_beyond_the_bound_results_are_at_most_one_or_nan(scalar):
    x = large_angles(scalar)
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.array(sincos(x, scalar), float)
    limit = float(SINE_LIMITS[scalar][0])
    assert np.isnan(found[:, np.abs(x) > limit]).all()
    assert np.isfinite(found[:, np.abs(x) < limit / 1.1]).all()
    numbers = found[np.isfinite(found)]
    assert numbers.size > 1000 and np.abs(numbers).max() <= 1.0 + np.finfo(TYPES[scalar]).eps


@scalars
def test_the_turn_of_a_quadrant_is_exact(scalar):
    real = TYPES[scalar]
    c, s = (np.array(x, real) for x in ([1, 0, -1, 0], [0, 1, 0, -1]))
    k = np.arange(4)
    found_s, found_c = sincos((k * math.pi / 2).astype(real), scalar)
    assert np.array_equal(np.rint(found_s), s) and np.array_equal(np.rint(found_c), c)
    assert found_c[0] == 1.0 and found_s[1] == 1.0 and found_c[2] == -1.0 and found_s[3] == -1.0
