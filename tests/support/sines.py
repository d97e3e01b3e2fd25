"""Angles that are hard for a sine, and errors in units of the last place."""

import math
from functools import cache

import mpmath
import numpy as np
import pytest
from mpmath import libmp

from symgen.numbers.trig import SINES, TYPES, sincos

ULP = 2.0


scalars = pytest.mark.parametrize("scalar", SINES)


BOTH = ("inverse_dynamics", "forward_dynamics")


def neighbours(x, real):
    return np.concatenate([x, np.nextafter(x, real(0)), np.nextafter(x, real(np.inf))])


def _hardest(steps):
    """Of the multiples of pi/2 the first, and those that lie nearest to a number of double
    precision."""
    s, c = sincos(steps * (math.pi / 2), "double")
    near = np.argsort(np.minimum(np.abs(s), np.abs(c)), kind="stable")[:3000]
    return np.union1d(steps[:2000], steps[near])


@cache
def angles(scalar):
    """Random ones at all sizes, and the hard ones: beside every multiple of pi/4 (of pi/2 where
    they are many)."""
    real, bound = TYPES[scalar], SINES[scalar].bound
    rng = np.random.RandomState(1)
    dense = [rng.uniform(-size, size, 6000).astype(real) for size in (bound, 100, 4, 0.8)]
    steps = _hardest(np.arange(1, int(bound / (math.pi / 2))))
    hard = np.concatenate([steps, steps + 0.5 if scalar == "float" else steps[:2000] + 0.5]) * (
        math.pi / 2
    )
    tiny = np.array([0.0, 1e-3, 1e-8, 1e-30, float(np.finfo(real).tiny)])
    found = np.concatenate([*dense, neighbours(hard.astype(real), real), tiny.astype(real)])
    found = np.concatenate([found, -found])
    return found[np.abs(found) <= bound]


@cache
def large_angles(scalar):
    """Angles from the bound of the error to the largest number, evenly spread in their size."""
    real, rng = TYPES[scalar], np.random.RandomState(2)
    sizes = np.exp(rng.uniform(np.log(SINES[scalar].bound), np.log(np.finfo(real).max), 8000))
    sizes[:4000] = SINES[scalar].bound * np.exp(
        rng.uniform(0.0, np.log(1e14 if scalar == "double" else 1e5), 4000)
    )
    rng.shuffle(sizes)
    return (rng.choice([-1.0, 1.0], 8000) * sizes).astype(real)


def error(x, got, function, scalar):
    """Largest error in units in the last place: of float by the double of libm, which is some
    hundred million times as near, of double by mpmath, in 120 bits."""
    places, left = np.spacing(np.abs(got)).astype(float), []
    if scalar == "float":
        own = {mpmath.sin: math.sin, mpmath.cos: math.cos}[function]
        left = [g - own(v) for g, v in zip(got.tolist(), x.tolist(), strict=True)]
    else:
        own = {mpmath.sin: libmp.mpf_sin, mpmath.cos: libmp.mpf_cos}[function]
        for g, v in zip(got.tolist(), x.tolist(), strict=True):
            wanted = own(libmp.from_float(v), 120)
            left.append(libmp.to_float(libmp.mpf_sub(libmp.from_float(g), wanted, 53)))
    return float((np.abs(left) / places).max())
