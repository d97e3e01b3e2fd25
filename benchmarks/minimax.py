"""Where the numbers of symgen/numbers/trig.py come from: Remez polynomials and a split of pi/2.

    python -m benchmarks.minimax

prints them with the largest error of each polynomial before and after its coefficients are rounded.
"""

import struct
from collections.abc import Callable, Sequence

from mpmath import cos, lu_solve, matrix, mp, mpf, nint, pi, sin

mp.dps = 60
EDGE = mpf("0.78542")
"""A little beyond pi/4: the nearest multiple of pi/2 is found in rounded arithmetic."""

Function = Callable[[mpf], mpf]


def sine(z: mpf) -> mpf:
    """(sin r - r) / r^3 with z = r^2."""
    r = z**0.5
    return (sin(r) - r) / (r * z)


def cosine(z: mpf) -> mpf:
    """(cos r - 1 + r^2/2) / r^4 with z = r^2."""
    return (cos(z**0.5) - 1 + z / 2) / z**2


def sine_weight(z: mpf) -> mpf:
    """What an error of `sine` does to sin r, relative."""
    r = z**0.5
    return z * r / sin(r)


def cosine_weight(z: mpf) -> mpf:
    """What an error of `cosine` does to cos r, relative."""
    return z**2 / cos(z**0.5)


def value(c: Sequence[mpf], z: mpf) -> mpf:
    """The polynomial with coefficients `c`, constant first."""
    total = mpf(0)
    for x in reversed(c):
        total = total * z + x
    return total


def remez(f: Function, weight: Function, count: int) -> list[mpf]:
    """The `count` coefficients, constant first, whose largest weighted error on [0, EDGE^2] is
    least."""
    low, high = mpf("1e-6"), EDGE**2
    nodes = [low + (high - low) * (1 - cos(pi * k / count)) / 2 for k in range(count + 1)]
    for _ in range(12):
        rows = [[z**j for j in range(count)] + [(-1) ** k / weight(z)] for k, z in enumerate(nodes)]
        c = list(lu_solve(matrix(rows), matrix([f(z) for z in nodes])))[:count]
        nodes = extrema(lambda z, c=c: (value(c, z) - f(z)) * weight(z), low, high, count + 1)
    return c


def extrema(error: Function, low: mpf, high: mpf, count: int) -> list[mpf]:
    """The places of `count` alternating extrema, found on a fine grid and by parabolas."""
    grid = [low + (high - low) * k / 3000 for k in range(3001)]
    e = [error(z) for z in grid]
    runs: list[list[int]] = [[0]]
    for k in range(1, len(grid)):
        if (e[k] > 0) == (e[k - 1] > 0):
            runs[-1].append(k)
        else:
            runs.append([k])
    best = [max(run, key=lambda k: abs(e[k])) for run in runs]
    while len(best) > count:
        best.remove(min((best[0], best[-1]), key=lambda k: abs(e[k])))
    return [top(grid, e, k) for k in best]


def top(grid: Sequence[mpf], e: Sequence[mpf], k: int) -> mpf:
    """The summit of the parabola through grid point k and its neighbours."""
    if k in (0, len(grid) - 1):
        return grid[k]
    a, b, c = e[k - 1 : k + 2]
    return grid[k] + (grid[1] - grid[0]) * (a - c) / (2 * (a - 2 * b + c))


def largest(f: Function, weight: Function, c: Sequence[mpf]) -> float:
    """The largest weighted error."""
    zs = [EDGE**2 * (k + mpf("0.5")) / 4000 for k in range(4000)]
    return float(max(abs(value(c, z) - f(z)) * weight(z) for z in zs))


def rounded(x: mpf, scalar: str) -> float:
    """To the scalar type."""
    return (
        float(x) if scalar == "double" else float(struct.unpack("f", struct.pack("f", float(x)))[0])
    )


def split(parts: int, bits: int, last: str) -> list[float]:
    """pi/2 as a sum: all but the last of `bits` significant bits, so that a product with few bits
    is exact."""
    rest, found = pi / 2, []
    for _ in range(parts - 1):
        unit = mpf(2) ** (mp.mag(rest) - bits)
        found.append(float(nint(rest / unit) * unit))
        rest -= mpf(found[-1])
    found.append(rounded(rest, last))
    print(f"  missing of pi/2: {float(rest - mpf(found[-1])):.1e}")
    return found


def main() -> None:
    """Print the numbers."""
    for scalar, count, parts, bits in (("double", (6, 6), 3, 37), ("float", (3, 3), 4, 14)):
        print(scalar)
        print("  half_pi", split(parts, bits, scalar))
        for name, f, weight, n in (
            ("sine", sine, sine_weight, count[0]),
            ("cosine", cosine, cosine_weight, count[1]),
        ):
            c = remez(f, weight, n)
            kept = [rounded(x, scalar) for x in c]
            print(
                f"  {name} {kept}\n    error {largest(f, weight, c):.2e}, "
                f"{largest(f, weight, kept):.2e} rounded"
            )


if __name__ == "__main__":
    main()
