"""A small, even choice of a log's samples, on which suspicions about its channels are tried."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.dataset import Reading
from symgen.identification.data.samples import Samples
from symgen.identification.model.compiled_kernel import Kernel
from symgen.numbers.types import Numbers

BLOCKS: Final = 8
"""Blocks that are kept, evenly over the log,"""
ROWS: Final = 4000
"""and rows of all of them of which regressors are made."""
SLOW: Final = 0.02
"""Rows in which a joint is slower than this part of its greatest speed do not count for it, for the
sign of its friction is not known."""
RIDGE: Final = 1e-10
"""What is added to the products of columns of unit length, for those that nothing moves."""


def chosen(reading: Reading) -> tuple[Samples, ...]:
    """Some blocks of a log's samples, evenly."""
    count = len(reading.plan.training) + len(reading.plan.validation)
    return tuple(reading.blocks(every=max(-(-count // BLOCKS), 1)))


def ridged(gram: Numbers, right: Numbers) -> Numbers:
    """The least squares (p) of products of columns with each other (p x p) and with what was
    measured (p)."""
    lengths = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    scaled = gram / np.outer(lengths, lengths) + RIDGE * np.eye(len(gram))
    return np.asarray(np.linalg.solve(scaled, right / lengths) / lengths)


@dataclass(frozen=True)
class Evidence:
    """Blocks of samples and the regressor of joint forces in base parameters.

    The model that they are held against has, beside base parameters, viscous and Coulomb friction,
    an offset and a rotor of each joint, so that these explain no suspicion."""

    samples: tuple[Samples, ...]
    kernel: Kernel

    @cached_property
    def _rows(self) -> tuple[NDArray[np.intp], ...]:
        per_block = max(ROWS // max(len(self.samples), 1), 1)
        return tuple(
            np.unique(np.linspace(0, len(s) - 1, min(per_block, len(s))).astype(np.intp))
            for s in self.samples
        )

    def _picked(self, name: str) -> Numbers:
        return np.concatenate(
            [getattr(s, name)[k] for s, k in zip(self.samples, self._rows, strict=True)]
        )

    @cached_property
    def states(self) -> tuple[Numbers, Numbers, Numbers]:
        """Positions, velocities and accelerations of the rows."""
        return self._picked("q"), self._picked("qd"), self._picked("qdd")

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Which measurements count (N x n)."""
        rates = np.abs(self.states[1])
        return np.asarray(self._picked("usable") & (rates >= SLOW * rates.max(axis=0)), np.bool_)

    def measured(self, later: int = 0) -> Numbers:
        """The measurements so many samples after the rows (N x n), 0 where it does not count."""
        picked = [
            s.bridged[np.clip(rows + later, 0, len(s) - 1)]
            for s, rows in zip(self.samples, self._rows, strict=True)
        ]
        return np.concatenate(picked) * self.used

    def shifted(self, later: float) -> Numbers:
        """The same so many seconds after the rows, between samples by straight lines."""
        picked = [
            np.stack([np.interp(s.t[rows] + later, s.t, y) for y in s.bridged.T], axis=1)
            for s, rows in zip(self.samples, self._rows, strict=True)
        ]
        return np.concatenate(picked) * self.used

    def inertial(self, q: Numbers, qd: Numbers, qdd: Numbers) -> Numbers:
        """The regressor of base parameters (N x n x b)."""
        return self.kernel(q, qd, qdd)

    def equations(self, q: Numbers, qd: Numbers, qdd: Numbers) -> Numbers:
        """The regressor of the whole model (N x n x p)."""
        of_drives = np.stack([qd, np.sign(qd), np.ones_like(qd), qdd], axis=2)
        n = qd.shape[1]
        rubbing = np.einsum("nik,ij->nijk", of_drives, np.eye(n)).reshape(len(qd), n, 4 * n)
        return np.concatenate([self.inertial(q, qd, qdd), rubbing], axis=2)

    def against(self, prior: Numbers) -> tuple[Numbers, Numbers]:
        """For each channel the factor between measured forces and those of the prior, friction,
        offset and rotor left free, and how well they correlate then."""
        foreseen = self.inertial(*self.states) @ prior
        measured, n = self.measured(), foreseen.shape[1]
        factors, alike = np.ones(n), np.zeros(n)
        b = len(prior)
        for j in range(n):
            used = self.used[:, j]
            of_drives = self.fit.equations[used, j, b:]
            of_drives = of_drives[:, np.abs(of_drives).max(axis=0, initial=0.0) > 0]
            pair = np.column_stack([foreseen[used, j], measured[used, j]])
            free = (
                pair - of_drives @ np.linalg.lstsq(of_drives, pair, rcond=None)[0]
                if of_drives.size
                else pair
            )
            sizes = np.sqrt(np.sum(free**2, axis=0))
            if sizes[0] > 1e-3 * np.linalg.norm(foreseen) / np.sqrt(n) and sizes[1] > 0:
                alike[j] = float(free[:, 0] @ free[:, 1] / (sizes[0] * sizes[1]))
                factors[j] = float(free[:, 0] @ free[:, 1] / sizes[0] ** 2)
        return factors, alike

    @property
    def regressor(self) -> Numbers:
        """The regressor of the rows (N x n x p), 0 where a measurement does not count."""
        return self.equations(*self.states) * self.used[:, :, None]

    @cached_property
    def fit(self) -> "Fit":
        """The fit of the log as it is."""
        return Fit.of(self.regressor, self.measured())


@dataclass(frozen=True)
class Fit:
    """Products for least squares with any channel in the place of any other: `grams` (n x p x p) of
    the regressor's rows of each channel, `mixed` (n x n x p) of these with each measurement, and
    `squares` (n) of measurements. `equations` (N x n x p)."""

    equations: Numbers
    grams: Numbers
    mixed: Numbers
    squares: Numbers

    @classmethod
    def of(cls, equations: Numbers, measured: Numbers) -> "Fit":
        """Of a regressor and measurements (N x n)."""
        rows = equations.transpose(1, 0, 2)
        grams = rows.transpose(0, 2, 1) @ rows
        return cls(equations, grams, *cls._products(rows, measured))

    @staticmethod
    def _products(rows: Numbers, measured: Numbers) -> tuple[Numbers, Numbers]:
        mixed = (rows.transpose(0, 2, 1) @ measured).transpose(0, 2, 1)
        return mixed, np.sum(measured**2, axis=0)

    def with_measured(self, measured: Numbers) -> "Fit":
        """The same with other measurements."""
        rows = self.equations.transpose(1, 0, 2)
        return Fit(self.equations, self.grams, *self._products(rows, measured))

    def without(self, columns: list[int]) -> "Fit":
        """The same without some columns."""
        grams, mixed = self.grams.copy(), self.mixed.copy()
        grams[:, columns], grams[:, :, columns], mixed[:, :, columns] = 0.0, 0.0, 0.0
        return Fit(self.equations, grams, mixed, self.squares)

    def residuals(self, order: list[int] | None = None, factors: Numbers | None = None) -> Numbers:
        """The residual of each channel (n) with the best parameters, the part of its sum of
        squares, where channel j has the measurement of channel order[j] times factors[j]."""
        return self.solved(order, factors)[1]

    def solved(
        self, order: list[int] | None = None, factors: Numbers | None = None
    ) -> tuple[Numbers, Numbers]:
        """The best parameters (p) too."""
        n = len(self.squares)
        order = list(range(n)) if order is None else order
        c = np.ones(n) if factors is None else factors
        mixed = self.mixed[range(n), order] * c[:, None]
        squares = np.maximum(self.squares[order] * c**2, 1e-300)
        gram = np.einsum("jpq,j->pq", self.grams, 1 / squares)
        right = mixed.T @ (1 / squares)
        x = ridged(gram, right)
        rest = squares - 2 * mixed @ x + np.einsum("p,jpq,q->j", x, self.grams, x)
        return x, np.asarray(np.clip(rest / squares, 0.0, None))
