"""Sine and cosine by + - * alone, the same bits on every machine: what ``--trig inline`` puts into
generated code.

x = k pi/2 + r with |r| <= pi/4, pi/2 in parts whose products with k are exact (Cody & Waite 1980,
ch. 8); minimax polynomials in r² (`benchmarks/minimax.py` finds all numbers); then the angle sum
with the exact sine and cosine of the quadrant, so that nothing is chosen by a condition and NaN
stays NaN. The polynomials start as soon as r is known to a rounding e, which is corrected at their
end to first order: sin(r + e) = sin r + e, cos(r + e) = cos r - r e.

Beyond the angles that double or float resolve, results are NaN and not numbers of any size: k is
multiplied by a power of two that overflows there, and the second part of pi/2 by its reciprocal, so
that the error e becomes infinity less infinity. In range no bit depends on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

MIN_ESTRIN_COEFFICIENTS: Final = 4
"""From so many coefficients on, a polynomial is computed in parts that do not wait for each
other."""

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class SineCoefficients:
    """The numbers for one scalar type. Errors are below 2 ulp (units in the last place) up to
    `bound` rad."""

    bound: float
    shift: float
    """1.5 times the number whose spacing is one: adding and subtracting it rounds to whole
    numbers."""
    half_pi: tuple[float, ...]
    scale: float
    """A power of two: its product with k overflows for angles from `limit` on."""
    sine: tuple[float, ...]
    """(sin r - r) / r^3 in powers of r^2, constant first."""
    cosine: tuple[float, ...]
    """(cos r - 1 + r^2 / 2) / r^4 in powers of r^2, constant first."""

    @property
    def turns_shift(self) -> float:
        """1.5 times the number whose spacing is four."""
        return 4.0 * self.shift

    @staticmethod
    def split(coefficients: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
        """A polynomial's first coefficients, and those that are computed beside them (Estrin's
        scheme), none of a short one: there that would be one operation more."""
        return (
            (coefficients, ())
            if len(coefficients) < MIN_ESTRIN_COEFFICIENTS
            else (coefficients[:2], coefficients[2:])
        )


SINES: Final = {
    "double": SineCoefficients(
        bound=65536.0,
        shift=6755399441055744.0,
        half_pi=(1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987428e-23),
        scale=2.0**974,
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
    "float": SineCoefficients(
        bound=1024.0,
        shift=12582912.0,
        half_pi=(
            1.57080078125,
            -4.454515874385834e-06,
            6.077272018956137e-11,
            -1.7151245100058819e-15,
        ),
        scale=2.0**107,
        sine=(-0.16666655242443085, 0.00833216030150652, -0.00019515265012159944),
        cosine=(0.04166664555668831, -0.0013887316454201937, 2.4433136786683463e-05),
    ),
}
"""The numbers of sine and cosine by scalar type."""

TYPES: Final[dict[str, Any]] = {"double": np.float64, "float": np.float32}


def sincos(x: Any, scalar: str) -> tuple[Any, Any]:
    """Sine and cosine of a NumPy number or array of the scalar type, every operation rounded to
    it."""
    n, real = SINES[scalar], TYPES[scalar]
    t = x * real(2 / np.pi)
    k = (t + real(n.shift)) - real(n.shift)
    m = k - ((t + real(n.turns_shift)) - real(n.turns_shift))
    u = m * m
    turn_c = (u - real(1.0)) * (u - real(6.0)) * real(1 / 6)
    turn_s = m * turn_c + m
    r, e = _reduce_argument(x, k, [real(part) for part in n.half_pi], real(n.scale))
    z = r * r
    s, c = _near_zero(n, (r, e), (z, z * z), real)
    return s * turn_c + c * turn_s, c * turn_c - s * turn_s


def _near_zero(
    n: SineCoefficients, angle: Pair, powers: Pair, real: Callable[[float], Any]
) -> Pair:
    """Sine and cosine of the sum of an angle's two parts, from the first two powers of the square
    of the large one; what the small one does to them is added to their corrections."""
    (r, e), (z, z2) = angle, powers
    (s_low, s_high), (c_low, c_high) = n.split(n.sine), n.split(n.cosine)
    rz = r * z
    s, c = rz * _horner(s_low, z, real) + e, z2 * _horner(c_low, z, real) - (z * real(0.5) + r * e)
    if s_high:
        s = s + (rz * z2) * _estrin(s_high, z, z2, real)
        c = c + (z2 * z2) * _estrin(c_high, z, z2, real)
    return r + s, real(1.0) + c


def _reduce_argument(x: Any, k: Any, half_pi: list[Any], scale: Any) -> Pair:
    """x - k pi/2 rounded, and its rounding error, which is NaN where k times `scale` overflows."""
    first, second, *others, last = half_pi
    r, rounding_errors = x - k * first, None
    for w in ((k * scale) * (second / scale), *(k * part for part in others)):
        before, r = r, r - w
        rounding = (before - r) - w
        rounding_errors = rounding if rounding_errors is None else rounding_errors + rounding
    return r, rounding_errors - k * last


def _horner(coefficients: Sequence[float], z: Any, real: Callable[[float], Any]) -> Any:
    total = real(coefficients[-1])
    for c in coefficients[-2::-1]:
        total = total * z + real(c)
    return total


def _estrin(coefficients: Sequence[float], z: Any, z2: Any, real: Callable[[float], Any]) -> Any:
    """Pairs of coefficients side by side, then a polynomial in z²."""
    pairs = [_horner(coefficients[k : k + 2], z, real) for k in range(0, len(coefficients), 2)]
    total = pairs[-1]
    for pair in pairs[-2::-1]:
        total = total * z2 + pair
    return total
