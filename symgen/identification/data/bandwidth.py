"""The bandwidth of a motion, from which the cutoff of derivatives is chosen."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from symgen.identification.data.usable_rows import Usable
from symgen.numbers.types import Numbers

PROBE: Final = 1 << 16
"""Rows from the beginning that are looked at."""
POWER: Final = 0.999
"""The part of the power of velocities, noise taken off, that lies below the motion's bandwidth."""
TIMES: Final = 10.0
"""The cutoff by the bandwidth: a window then follows the motion to a part in a million."""
LOWEST: Final = 2.0
"""The least cutoff (Hz),"""
USUAL: Final = 20.0
"""and that where nothing moves."""
NYQUIST: Final = 0.4
"""The largest cutoff by the rate of rows."""


def cutoff(parts: Iterator[Usable], positions: int, velocities: int, step: float) -> float:
    """The cutoff (Hz) for a motion whose rows have so many positions first and then so many
    velocities, none where these are to be derived; `step` is the usual one (s)."""
    t, rows = _first(parts)
    if len(t) < 64:
        return USUAL
    even = np.arange(t[0], t[-1], step)
    columns = rows[:, positions : positions + velocities] if velocities else rows[:, :positions]
    x = np.stack([np.interp(even, t, column) for column in columns.T], axis=1)
    rates = x if velocities else np.gradient(x, step, axis=0)
    largest = max((_bandwidth(rate, step) for rate in rates.T), default=0.0)
    if not largest:
        return USUAL
    return float(np.clip(TIMES * largest, LOWEST, NYQUIST / step))


def _first(parts: Iterator[Usable]) -> tuple[Numbers, Numbers]:
    """Time and rows of the longest stretch among the first rows."""
    first, count = list[Usable](), 0
    for part in parts:
        first.append(part)
        count += len(part.t)
        if count >= PROBE:
            break
    if not count:
        return np.zeros(0), np.zeros((0, 1))
    joined = Usable(
        *map(np.concatenate, zip(*(vars(part).values() for part in first), strict=True))
    )
    a, b = joined.longest
    return joined.t[a:b], joined.rows[a:b]


def _bandwidth(rate: Numbers, step: float) -> float:
    """The frequency (Hz) below which nearly all of the power of a velocity lies; 0 where it does
    not change. The upper half of the band counts as noise, which is white there and taken off."""
    window = np.hanning(len(rate))
    power = np.abs(np.fft.rfft((rate - rate.mean()) * window)) ** 2
    floor = float(np.mean(power[len(power) // 2 :]))
    clean = np.maximum(power - 4 * floor, 0.0)
    total = np.cumsum(clean)
    if total[-1] <= 0:
        return 0.0
    return float(np.searchsorted(total, POWER * total[-1]) / (len(rate) * step))
