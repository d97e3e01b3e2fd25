"""Sine and cosine by + - * alone, the same bits on every machine: what ``--trig inline`` puts into
generated code.

x = k pi/2 + r with |r| <= pi/4, pi/2 in parts whose products with k are exact (Cody & Waite 1980,
ch. 8); minimax polynomials in r² (`benchmarks/minimax.py` finds all numbers); then the angle sum
with the exact sine and cosine of the quadrant, so that nothing is chosen by a condition and NaN
stays NaN."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np


@dataclass(frozen=True, slots=True)
class Sines:
    """The numbers for one scalar type. Errors are below 2 ulp (units in the last place) up to
    `bound` rad."""

    bound: float
    shift: float
    """1.5 times the number whose spacing is one: adding and subtracting it rounds to whole
    numbers."""
    half_pi: tuple[float, ...]
    sine: tuple[float, ...]
    """(sin r - r) / r^3 in powers of r^2, constant first."""
    cosine: tuple[float, ...]
    """(cos r - 1 + r^2 / 2) / r^4 in powers of r^2, constant first."""


SINES: Final = {
    "double": Sines(
        bound=65536.0,
        shift=6755399441055744.0,
        half_pi=(1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987428e-23),
        sine=(
            -0.1666666666666663,
            0.008333333333322115,
            -0.0001984126982958693,
            2.7557313620449078e-06,
            -2.5050747611398796e-08,
            1.5896221113653234e-10,
        ),
        cosine=(
            0.041666666666666595,
            -0.0013888888888873051,
            2.4801587288848837e-05,
            -2.7557314178445927e-07,
            2.0875700723434723e-09,
            -1.1358530239460337e-11,
        ),
    ),
    "float": Sines(
        bound=1024.0,
        shift=12582912.0,
        half_pi=(
            1.57080078125,
            -4.454515874385834e-06,
            6.077272018956137e-11,
            -1.7151245100058819e-15,
        ),
        sine=(-0.16666655242443085, 0.00833216030150652, -0.00019515265012159944),
        cosine=(0.04166664555668831, -0.0013887316454201937, 2.4433136786683463e-05),
    ),
}
"""By scalar type."""

TYPES: Final[dict[str, Any]] = {"double": np.float64, "float": np.float32}


def sincos(x: Any, scalar: str) -> tuple[Any, Any]:
    """Sine and cosine of a NumPy number or array of the scalar type, every operation rounded to
    it."""
    n, real = SINES[scalar], TYPES[scalar]
    k = (x * real(2 / np.pi) + real(n.shift)) - real(n.shift)
    r = _reduced(x, k, [real(part) for part in n.half_pi])
    m = k - real(4.0) * ((real(0.25) * k + real(n.shift)) - real(n.shift))
    u, z = m * m, r * r
    turn_c = (u - real(1.0)) * (u - real(6.0)) * real(1 / 6)
    turn_s = m * (real(4.0) - u) * real(1 / 3)
    s = r + r * z * _horner(n.sine, z, real)
    c = real(1.0) + z * (z * _horner(n.cosine, z, real) - real(0.5))
    return s * turn_c + c * turn_s, c * turn_c - s * turn_s


def _reduced(x: Any, k: Any, half_pi: list[Any]) -> Any:
    """x - k pi/2; what rounding takes is added at the end."""
    r, lost = x - k * half_pi[0], None
    for part in half_pi[1:-1]:
        w = k * part
        before, r = r, r - w
        slip = (before - r) - w
        lost = slip if lost is None else lost + slip
    return r + (lost - k * half_pi[-1])


def _horner(coefficients: tuple[float, ...], z: Any, real: Callable[[float], Any]) -> Any:
    total = real(coefficients[-1])
    for c in coefficients[-2::-1]:
        total = total * z + real(c)
    return total
