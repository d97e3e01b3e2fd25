"""Velocities and accelerations by polynomials fitted to windows in true time.

With even sampling this is the filter of Savitzky & Golay (1964); with uneven sampling each window
has weights of its own (local polynomial regression, Fan & Gijbels 1996, ch. 3)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from symgen.errors import SymgenError
from symgen.identification.data.samples import BLOCK_ROWS, Samples
from symgen.identification.data.usable_rows import UsableRows
from symgen.numbers.scalar import Numbers
from symgen.text import install

ORDER: Final = 4
"""Of the polynomials that are fitted to a window; it gives accelerations to second order of what is
left."""
MIN_WINDOW_SAMPLES: Final = ORDER + 2
"""Samples that a window must have; fewer leave nothing to judge the noise by."""
MIN_RELATIVE_CUTOFF: Final = 1e-12
"""The least cutoff by the rate of sampling that is told from none; no log is long enough for it."""


@dataclass(frozen=True)
class DerivativeFilter:
    """How velocities and accelerations come about.

    A window reaches `half_width` + ½ usual steps (`step`, s) to both sides and has at most 2
    `half_width` + 1 samples. It is symmetric, so nothing is delayed, and finite, so that blocks
    which overlap by `half_width` give what the whole log gives, bit for bit. `even` tells that
    every step is the usual one."""

    half_width: int
    step: float
    even: bool = True

    @classmethod
    def of_cutoff(cls, cutoff: float, step: float, even: bool = True) -> "DerivativeFilter":
        """The filter that lets half of the power at `cutoff` Hz pass, to within a decibel
        (Schafer, IEEE Signal Processing Magazine 2011, approximation of the -3 dB point)."""
        half = max(
            3, round(((ORDER + 1) * 0.5 / max(step * cutoff, MIN_RELATIVE_CUTOFF) + 4.6) / 3.2)
        )
        return cls(half, step, even)

    @property
    def cutoff(self) -> float:
        """The frequency (Hz) at which half of the power is left, by the same formula."""
        return (ORDER + 1) * 0.5 / max(3.2 * self.half_width - 4.6, 1.0) / self.step

    @property
    def half_duration(self) -> float:
        """Half the length of a window (s)."""
        return (self.half_width + 0.5) * self.step

    def filters(self, t: Numbers) -> "WindowWeights":
        """The weights for rows at times t (N)."""
        if self.even:
            return WindowWeights(
                self.half_width, self._even, np.ones(max(len(t) - 2 * self.half_width, 0), np.bool_)
            )
        return WindowWeights(self.half_width, *self._uneven(t))

    @cached_property
    def _even(self) -> tuple[Numbers, ...]:
        powers = np.arange(-self.half_width, self.half_width + 1.0) ** np.arange(ORDER + 1)[:, None]
        picked = np.diag([math.factorial(k) / self.step**k for k in range(ORDER + 1)])
        return tuple(np.linalg.lstsq(powers, row, rcond=None)[0] for row in picked[:3])

    def _uneven(self, t: Numbers) -> tuple[tuple[Numbers, ...], NDArray[np.bool_]]:
        """Weights of each window (M x 2 half + 1) for value and two derivatives, and whether it has
        samples enough."""
        u = (
            sliding_window_view(t, 2 * self.half_width + 1)
            - t[self.half_width : -self.half_width, None]
        ) / (self.half_duration)
        within = np.abs(u) <= 1.0
        powers = np.empty((len(u), ORDER + 1, u.shape[1]))
        powers[:, 0] = within
        for k in range(ORDER):
            np.multiply(powers[:, k], u, out=powers[:, k + 1])
        gram = powers @ powers.transpose(0, 2, 1)
        enough = within.sum(axis=1) >= MIN_WINDOW_SAMPLES
        gram[~enough] = np.eye(ORDER + 1)
        picked = np.broadcast_to(np.eye(ORDER + 1)[:, :3], (len(u), ORDER + 1, 3))
        solved = np.linalg.solve(gram, picked)
        weights = solved.transpose(0, 2, 1) @ powers
        return tuple(
            weights[:, k] * (math.factorial(k) / self.half_duration**k) for k in range(3)
        ), enough

    def derivative(self, x: Numbers, order: int, t: Numbers | None = None) -> Numbers:
        """Of rows x (N x k) in time, N - 2 `half_width` rows; order 0 smooths. `t` (N) where
        sampling is uneven."""
        return self.filters(np.zeros(len(x)) if t is None else t)(x, order)

    def complete(self, raw: Samples, accelerations: bool) -> Samples:
        """The inner samples with velocities and, if they are wanted, accelerations."""
        inner, fitted = (
            raw.part(slice(self.half_width, len(raw) - self.half_width)),
            self.filters(raw.t),
        )
        has_rates = bool(raw.qd.shape[1])
        q = fitted(raw.q, 0) if raw.q.shape[1] == raw.qd.shape[1] or not has_rates else inner.q
        source, order = (raw.qd, 0) if has_rates else (raw.q, 1)
        qdd = fitted(source, order + 1) if accelerations else inner.qdd
        usable = inner.usable & fitted.enough[:, None]
        return replace(inner, q=q, qd=fitted(source, order), qdd=qdd, usable=usable)

    def noise(self, x: Numbers, t: Numbers, order: int) -> Numbers:
        """The deviation of the noise that is left in a derivative of each column of x (N x k), from
        what the polynomials leave of x; what they cannot follow counts as noise."""
        sums, gains, shares, count = np.zeros(x.shape[1]), 0.0, 0.0, 0
        for start in range(0, len(x) - 2 * self.half_width, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS + 2 * self.half_width)
            fitted = self.filters(t[rows])
            inner = x[rows][self.half_width : len(x[rows]) - self.half_width]
            residuals = (inner - fitted(x[rows], 0))[fitted.enough]
            sums, count = sums + np.sum(residuals**2, axis=0), count + len(residuals)
            gains += len(residuals) * float(
                np.mean(np.sum(np.atleast_2d(fitted.weights[order]) ** 2, 1))
            )
            shares += len(residuals) * float(
                np.mean(np.atleast_2d(fitted.weights[0])[:, self.half_width])
            )
        total = max(count, 1)
        free = max(1.0 - shares / total, 0.05)
        return np.asarray(np.sqrt(sums / total * (gains / total) / free))


@dataclass(frozen=True)
class WindowWeights:
    """The weights of windows, the same for all or a row each, for value, first and second
    derivative; `enough` tells which windows have samples enough."""

    half_width: int
    weights: tuple[Numbers, ...]
    enough: NDArray[np.bool_]

    def __call__(self, x: Numbers, order: int) -> Numbers:
        """A derivative of rows x (N x k), N - 2 `half_width` rows."""
        weights = self.weights[order]
        if weights.ndim == 1:
            filtered = _ndimage().correlate1d(x, weights, axis=0)
            return np.asarray(filtered[self.half_width : len(x) - self.half_width])
        windows = sliding_window_view(x, 2 * self.half_width + 1, axis=0)
        return np.asarray(np.einsum("mkw,mw->mk", windows, weights))


def _ndimage() -> Any:
    """SciPy's filters of arrays. Raises SymgenError where SciPy is not installed."""
    try:
        return import_module("scipy.ndimage")
    except ImportError:
        raise SymgenError(
            "error: differentiating a log needs SciPy; install it: " + install("scipy")
        ) from None


BANDWIDTH_POWER: Final = 0.999
"""The part of the power of velocities, noise taken off, that lies below the motion's bandwidth."""
CUTOFF_BY_BANDWIDTH: Final = 10.0
"""The cutoff by the bandwidth: a window then follows the motion to a part in a million."""
MIN_CUTOFF: Final = 2.0
"""The least cutoff (Hz),"""
DEFAULT_CUTOFF: Final = 20.0
"""and that where nothing moves."""
MAX_RELATIVE_CUTOFF: Final = 0.4
"""The largest cutoff by the rate of rows."""


def automatic_cutoff(
    parts: Iterator[UsableRows], positions: int, velocities: int, step: float
) -> float:
    """The cutoff (Hz) for a motion whose rows have so many positions first and then so many
    velocities, none where these are to be derived; `step` is the usual one (s)."""
    first = UsableRows.first(parts)
    a, b = first.longest
    if b - a < 64:
        return DEFAULT_CUTOFF
    t, rows = first.t[a:b], first.rows[a:b]
    even = np.arange(t[0], t[-1], step)
    columns = rows[:, positions : positions + velocities] if velocities else rows[:, :positions]
    x = np.stack([np.interp(even, t, column) for column in columns.T], axis=1)
    rates = x if velocities else np.gradient(x, step, axis=0)
    largest = max((_bandwidth(rate, step) for rate in rates.T), default=0.0)
    if not largest:
        return DEFAULT_CUTOFF
    return float(np.clip(CUTOFF_BY_BANDWIDTH * largest, MIN_CUTOFF, MAX_RELATIVE_CUTOFF / step))


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
    return float(np.searchsorted(total, BANDWIDTH_POWER * total[-1]) / (len(rate) * step))
