"""Linear equations in the parameters, from samples: forces at every instant, or momentum or energy
over intervals.

All of them are frozen values that can be sent to another process. `equations` gives A (N x c x p)
and y (N x c) with A x = y for the p parameters x, base parameters first, then what drives add; c is
the number of channels."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.samples import Samples
from symgen.identification.model.compiled_kernel import Kernel
from symgen.identification.model.drive_columns import DriveUnknowns
from symgen.numbers.types import Numbers

Supports = tuple[tuple[int, ...], ...]
"""The columns that each channel depends on."""


@dataclass(frozen=True)
class LinearEquations:
    """Equations: `regressor` A (N x c x p), `measured` y (N x c), and which of them count, `used`
    (N x c)."""

    regressor: Numbers
    measured: Numbers
    used: NDArray[np.bool_]

    def means(self, count: int) -> "LinearEquations":
        """Means of each `count` consecutive equations of a channel, those that do not count left
        out, times the root of how many they are of: white noise keeps its deviation."""
        starts = np.arange(0, len(self.measured), count)
        counts = np.add.reduceat(self.used.astype(np.int64), starts, axis=0)
        roots = np.sqrt(np.maximum(counts, 1))
        rows = np.add.reduceat(self.regressor * self.used[:, :, None], starts, axis=0)
        measured = np.add.reduceat(self.measured * self.used, starts, axis=0)
        return LinearEquations(rows / roots[:, :, None], measured / roots, np.asarray(counts > 0))


class Equations(Protocol):
    """A method to make equations of samples."""

    @property
    def supports(self) -> Supports:
        """The columns that each channel depends on."""

    @property
    def drives(self) -> DriveUnknowns | None:
        """Whose columns are the last ones."""

    def equations(self, samples: Samples) -> LinearEquations:
        """The equations of some samples."""


@dataclass(frozen=True)
class Instants:
    """A regressor of forces at each sample: some columns of that of joint forces or of a wrench,
    then those of drives."""

    kernel: Kernel
    columns: tuple[int, ...]
    drives: DriveUnknowns | None = None

    @cached_property
    def supports(self) -> Supports:
        """The columns that are not zero in every state."""
        rows = self.kernel.nonzero[:, list(self.columns)]
        if self.drives is not None:
            rows = np.concatenate([rows, self.drives.supports], axis=1)
        return tuple(tuple(np.flatnonzero(row).tolist()) for row in rows)

    def equations(self, samples: Samples) -> LinearEquations:
        """The regressor at each sample."""
        regressor = self.kernel(samples.q, samples.qd, samples.qdd)
        complete = len(self.columns) == regressor.shape[2]
        regressor = regressor if complete else regressor[:, :, list(self.columns)]
        if self.drives is None:
            return LinearEquations(regressor, samples.measured, samples.usable)
        known = self.drives.load
        load = samples.measured if known is None else regressor @ known
        columns = np.concatenate([regressor, self.drives.values(samples, load)], axis=2)
        return LinearEquations(
            columns, samples.measured, samples.usable & self.drives.known(samples)
        )


def simpson(values: Numbers, interval: int, t: Numbers) -> Numbers:
    """Integrals over intervals of an even number of steps, by Simpson's rule for steps of any
    lengths (a parabola through each three rows): (k interval + 1) x ... to k x ...."""
    first, second = np.diff(t)[::2], np.diff(t)[1::2]
    integrals = (first + second) / 6
    shape = -1, *[1] * (values.ndim - 1)
    pairs = (
        values[:-1:2] * (integrals * (2 - second / first)).reshape(shape)
        + values[1::2] * (integrals * (first + second) ** 2 / (first * second)).reshape(shape)
        + values[2::2] * (integrals * (2 - first / second)).reshape(shape)
    )
    count = len(pairs) // (interval // 2)
    return np.asarray(pairs.reshape(count, interval // 2, *values.shape[1:]).sum(axis=1))


def everywhere(flags: NDArray[np.bool_], interval: int) -> NDArray[np.bool_]:
    """Whether each flag (N x c) is up in all samples of an interval, both ends included (k x c)."""
    count = (len(flags) - 1) // interval
    inner = flags[:-1].reshape(count, interval, flags.shape[1]).all(axis=1)
    return np.asarray(inner & flags[interval::interval])


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
    drives: DriveUnknowns
    interval: int

    @property
    def supports(self) -> Supports:
        """Every column."""
        return (
            tuple(range(self.projection.shape[1] + len(self.drives.columns))),
        ) * self.momentum.shape[0]

    def equations(self, samples: Samples) -> LinearEquations:
        """One equation a joint and interval (N m s or N s)."""
        ends = slice(None, None, self.interval)
        gained = np.diff(self.momentum(samples.q[ends], samples.qd[ends]), axis=0)
        given = simpson(self.rate(samples.q, samples.qd), self.interval, samples.t)
        added = self.drives.values(samples, samples.measured)
        rubbed = simpson(added, self.interval, samples.t)
        columns = np.concatenate([(gained - given) @ self.projection, rubbed], axis=2)
        used = everywhere(samples.usable & self.drives.moving(samples), self.interval)
        return LinearEquations(columns, simpson(samples.measured, self.interval, samples.t), used)


@dataclass(frozen=True)
class Energies:
    """Balance of energy: its change over an interval is the work of τ less that of friction
    (Gautier & Khalil 1988)."""

    kinetic: Kernel
    potential: Kernel
    projection: Numbers
    drives: DriveUnknowns
    interval: int

    @property
    def supports(self) -> Supports:
        """Every column, in one channel."""
        return (tuple(range(self.projection.shape[1] + len(self.drives.columns))),)

    def equations(self, samples: Samples) -> LinearEquations:
        """One equation an interval (J)."""
        ends = slice(None, None, self.interval)
        energy = self.kinetic(samples.q[ends], samples.qd[ends]) + self.potential(samples.q[ends])
        added = self.drives.values(samples, samples.measured)
        lost = np.einsum("nuf,nu->nf", added, samples.qd)
        columns = [
            np.diff(energy @ self.projection, axis=0),
            simpson(lost, self.interval, samples.t),
        ]
        work = np.sum(samples.measured * samples.qd, axis=1)
        used = everywhere(samples.usable & self.drives.moving(samples), self.interval)
        return LinearEquations(
            np.concatenate(columns, axis=1)[:, None],
            simpson(work, self.interval, samples.t)[:, None],
            np.asarray(used.all(axis=1, keepdims=True)),
        )
