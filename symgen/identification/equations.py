"""Linear equations in the parameters, from samples: forces at every instant, or momentum or energy
over intervals.

All of them are frozen values that can be sent to another process. `equations` gives A (N x c x p)
and y (N x c) with A x = y for the p parameters x, base parameters first, then coefficients of
friction and springs; c is the number of channels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from symgen.identification.kernel import Kernel
from symgen.identification.samples import Samples

Numbers = NDArray[np.float64]
Supports = tuple[tuple[int, ...], ...]
"""The columns that each channel depends on."""


class Equations(Protocol):
    """A way to make equations of samples."""

    @property
    def supports(self) -> Supports:
        """The columns that each channel depends on."""

    def equations(self, samples: Samples) -> tuple[Numbers, Numbers]:
        """A (N x c x p) and y (N x c)."""


@dataclass(frozen=True)
class Instants:
    """A regressor of forces at each sample: that of joint forces, or some columns of that of a
    wrench."""

    kernel: Kernel
    columns: tuple[int, ...]

    @cached_property
    def supports(self) -> Supports:
        """The columns that are not zero in every state."""
        rows = self.kernel.nonzero[:, list(self.columns)]
        return tuple(tuple(np.flatnonzero(row).tolist()) for row in rows)

    def equations(self, samples: Samples) -> tuple[Numbers, Numbers]:
        """The regressor at each sample."""
        found = self.kernel(samples.q, samples.qd, samples.qdd)
        whole = len(self.columns) == found.shape[2]
        return found if whole else found[:, :, list(self.columns)], samples.measured


PASSIVE: Final[Mapping[str, Callable[[Numbers, Numbers, float], Numbers]]] = {
    "viscous": lambda place, rate, width: rate,
    "coulomb": lambda place, rate, width: np.tanh(rate / width) if width else np.sign(rate),
    "offset": lambda place, rate, width: np.ones_like(rate),
    "stiffness": lambda place, rate, width: place,
    "preload": lambda place, rate, width: -np.ones_like(rate),
}
"""The columns of `symgen.mechanics.passive.KINDS` on arrays."""


@dataclass(frozen=True)
class Rubbing:
    """The friction and springs of some joints: rows of `places` and the numbers `offsets` take the
    user's positions to theirs, rows of `rates` the velocities, Gᵀ their forces back."""

    places: Numbers
    offsets: Numbers
    rates: Numbers
    kinds: tuple[str, ...]
    width: float

    @property
    def count(self) -> int:
        """The number of coefficients."""
        return len(self.kinds) * len(self.rates)

    def columns(self, q: Numbers, qd: Numbers) -> Numbers:
        """What each coefficient adds to the forces (N x n x f), joint by joint, kind by kind."""
        at, own = q @ self.places.T + self.offsets, qd @ self.rates.T
        values = (
            np.stack([PASSIVE[kind](at, own, self.width) for kind in self.kinds], axis=2)
            if self.kinds
            else (np.zeros((*own.shape, 0)))
        )
        return np.asarray(
            np.einsum("nik,iu->nuik", values, self.rates).reshape(*qd.shape, self.count)
        )


def simpson(values: Numbers, interval: int, t: Numbers) -> Numbers:
    """Integrals over intervals of an even number of steps, by Simpson's rule for steps of any
    lengths (a parabola through each three rows): (k interval + 1) x ... to k x ...."""
    first, second = np.diff(t)[::2], np.diff(t)[1::2]
    both = (first + second) / 6
    shape = -1, *[1] * (values.ndim - 1)
    pairs = (
        values[:-1:2] * (both * (2 - second / first)).reshape(shape)
        + values[1::2] * (both * (first + second) ** 2 / (first * second)).reshape(shape)
        + values[2::2] * (both * (2 - first / second)).reshape(shape)
    )
    count = len(pairs) // (interval // 2)
    return np.asarray(pairs.reshape(count, interval // 2, *values.shape[1:]).sum(axis=1))


@dataclass(frozen=True)
class Momenta:
    """Balance of generalised momentum: its change over an interval is the integral of τ + Cᵀ q̇ - g
    - friction.

    `projection` (s x b) takes regressors of standard parameters to those of base parameters (De
    Luca & Mattone, ICRA 2003, for the momentum; Gautier & Poignet 2001 for identification without
    accelerations)."""

    momentum: Kernel
    rate: Kernel
    projection: Numbers
    friction: Rubbing
    interval: int

    @property
    def supports(self) -> Supports:
        """Every column."""
        return (
            tuple(range(self.projection.shape[1] + self.friction.count)),
        ) * self.momentum.shape[0]

    def equations(self, samples: Samples) -> tuple[Numbers, Numbers]:
        """One equation a joint and interval (N m s or N s)."""
        ends = slice(None, None, self.interval)
        gained = np.diff(self.momentum(samples.q[ends], samples.qd[ends]), axis=0)
        given = simpson(self.rate(samples.q, samples.qd), self.interval, samples.t)
        rubbed = simpson(self.friction.columns(samples.q, samples.qd), self.interval, samples.t)
        left = np.concatenate([(gained - given) @ self.projection, rubbed], axis=2)
        return left, simpson(samples.measured, self.interval, samples.t)


@dataclass(frozen=True)
class Energies:
    """Balance of energy: its change over an interval is the work of τ less that of friction
    (Gautier & Khalil 1988)."""

    kinetic: Kernel
    potential: Kernel
    projection: Numbers
    friction: Rubbing
    interval: int

    @property
    def supports(self) -> Supports:
        """Every column, in one channel."""
        return (tuple(range(self.projection.shape[1] + self.friction.count)),)

    def equations(self, samples: Samples) -> tuple[Numbers, Numbers]:
        """One equation an interval (J)."""
        ends = slice(None, None, self.interval)
        energy = self.kinetic(samples.q[ends], samples.qd[ends]) + self.potential(samples.q[ends])
        lost = np.einsum("nuf,nu->nf", self.friction.columns(samples.q, samples.qd), samples.qd)
        left = [np.diff(energy @ self.projection, axis=0), simpson(lost, self.interval, samples.t)]
        work = np.sum(samples.measured * samples.qd, axis=1)
        return np.concatenate(left, axis=1)[:, None], simpson(work, self.interval, samples.t)[
            :, None
        ]
