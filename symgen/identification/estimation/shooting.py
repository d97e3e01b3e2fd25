"""Motions that a model makes of measured forces, over short windows, with exact sensitivities.

Multiple shooting (Bock & Plitt, IFAC 1984): the state at the start of each window is an unknown of
its own, so that errors do not grow. A step is that of Runge and Kutta with the mean force of its
rows; sensitivities are those of the step itself, by the chain rule through ∂q̈ of its stages, of the
generated regressor and its gradient: M q̈ = τ - h, ∂q̈/∂v = -M⁻¹ Y, ∂q̈/∂q = -M⁻¹ ∂(Y v)/∂q."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.samples import Samples
from symgen.identification.model.drive_columns import DriveUnknowns
from symgen.identification.model.equations import Instants
from symgen.native.tape import NativeTape
from symgen.numbers.types import Numbers

STEPS: Final = 25
"""Steps of a window."""
TILT: Final = 1e-6
"""For differences of drives (rad, rad/s, rad/s² or m, ...)."""
STAGES: Final = ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0))
"""Where a stage of Runge and Kutta is evaluated, and its weight."""


@dataclass(frozen=True)
class Windows:
    """W windows of K steps: positions (W x K + 1 x n), velocities at the start (W x n), mean forces
    (W x K x n) and lengths of steps (W x K, s)."""

    q: Numbers
    qd: Numbers
    tau: Numbers
    h: Numbers

    def __len__(self) -> int:
        return len(self.q)

    @property
    def start(self) -> Numbers:
        """States at the start as they were measured (W x 2 n)."""
        return np.concatenate([self.q[:, 0], self.qd], axis=1)


def windows(blocks: Iterable[Samples], drives: DriveUnknowns | None, stride: int) -> Windows:
    """The windows of a log, steps of `stride` rows, one after the other; without windows in which a
    force is missing or a sign of friction is unknown."""
    cut, length = list[tuple[Numbers, ...]](), STEPS * stride
    for samples in blocks:
        known = samples.usable if drives is None else samples.usable & drives.known(samples)
        fine = np.asarray(known.all(axis=1))
        for k in range(0, len(samples) - length, length):
            if fine[k : k + length + 1].all():
                cut.append(_window(samples.part(slice(k, k + length + 1)), stride))
    if not cut:
        n = 0
        return Windows(*(np.zeros((0, STEPS, n)),) * 3, np.zeros((0, STEPS)))
    return Windows(*(np.stack(parts) for parts in zip(*cut, strict=True)))


def _window(samples: Samples, stride: int) -> tuple[Numbers, ...]:
    steps = np.diff(samples.t)[:, None]
    pushed = (samples.measured[1:] + samples.measured[:-1]) / 2 * steps
    h = steps.reshape(-1, stride).sum(axis=1)
    mean = pushed.reshape(len(h), stride, -1).sum(axis=1) / h[:, None]
    return samples.q[::stride], samples.qd[0], mean, h


@dataclass(frozen=True)
class Simulator:
    """A model whose forces are `equations`, linear in the values; `slopes` is the gradient of the
    base regressor, `nonzero` (n x b) its entries that are not zero in every state."""

    equations: Instants
    slopes: NativeTape
    nonzero: NDArray[np.bool_]

    def positions(self, w: Windows, start: Numbers, values: Numbers) -> Numbers:
        """The positions at the rows of the windows (W x K + 1 x n)."""
        return self._run(w, start, values, sensitive=False)[0]

    def sensitivities(self, w: Windows, start: Numbers, values: Numbers) -> tuple[Numbers, Numbers]:
        """The same and their derivatives in the start and in the values (W x K + 1 x n x 2 n +
        p)."""
        return self._run(w, start, values, sensitive=True)

    def _run(
        self, w: Windows, start: Numbers, values: Numbers, sensitive: bool
    ) -> tuple[Numbers, Numbers]:
        n, wide = w.qd.shape[1], 2 * w.qd.shape[1] + len(values)
        x, by = start, np.tile(np.eye(2 * n, wide), (len(w), 1, 1))
        states, slopes = [x[:, :n]], [by[:, :n]]
        for k in range(w.tau.shape[1]):
            h = w.h[:, k, None]
            rate, rate_by = np.zeros_like(x), np.zeros_like(by)
            total, total_by = rate, rate_by
            for reach, weight in STAGES:
                state = x + reach * h * rate
                state_by = by + reach * h[..., None] * rate_by if sensitive else by
                rate, rate_by = self._rate(state, state_by, w.tau[:, k], values, sensitive)
                total, total_by = total + weight * rate, total_by + weight * rate_by
            x, by = x + h / 6 * total, by + h[..., None] / 6 * total_by
            states.append(x[:, :n])
            slopes.append(by[:, :n])
        return np.stack(states, axis=1), np.stack(slopes, axis=1)

    def _rate(
        self, x: Numbers, by: Numbers, tau: Numbers, values: Numbers, sensitive: bool
    ) -> tuple[Numbers, Numbers]:
        """The rates of states, and their derivatives where these are wanted."""
        n = tau.shape[1]
        q, qd = x[:, :n], x[:, n:]
        mass = self._mass(q, qd, values)
        rest = self._regressor(q, qd, np.zeros_like(q)) @ values
        qdd = np.asarray(np.linalg.solve(mass, (tau - rest)[..., None])[..., 0])
        rate = np.concatenate([qd, qdd], axis=1)
        if not sensitive:
            return rate, np.zeros_like(by)
        by_q, by_qd = self._by_state(q, qd, qdd, values)
        force_by = by_q @ by[:, :n] + by_qd @ by[:, n:]
        force_by[..., 2 * n :] += self._regressor(q, qd, qdd)
        return rate, np.concatenate([by[:, n:], -np.linalg.solve(mass, force_by)], axis=1)

    def _regressor(self, q: Numbers, qd: Numbers, qdd: Numbers) -> Numbers:
        samples = Samples.of(np.zeros(len(q)), q, qd, qdd, np.zeros_like(qd))
        return self.equations.equations(samples).regressor

    def _mass(self, q: Numbers, qd: Numbers, values: Numbers) -> Numbers:
        """The inertia that joints feel, that of rotors too (W x n x n): forces of unit
        accelerations less those of none."""
        n = q.shape[1]
        units = np.concatenate([np.zeros((1, n)), np.eye(n)])
        at, rates = np.repeat(q, n + 1, axis=0), np.repeat(qd, n + 1, axis=0)
        stacked = self._regressor(at, rates, np.tile(units, (len(q), 1))) @ values
        forces = stacked.reshape(len(q), n + 1, n)
        return np.asarray((forces[:, 1:] - forces[:, :1]).swapaxes(1, 2))

    def _by_state(
        self, q: Numbers, qd: Numbers, qdd: Numbers, values: Numbers
    ) -> tuple[Numbers, Numbers]:
        """∂(Y v)/∂q and ∂(Y v)/∂q̇ (W x n x n each)."""
        n, b = self.nonzero.shape
        weights = np.einsum("ij,k->ijk", np.eye(n), values[:b])[:, self.nonzero]
        states = [np.repeat(x, n, axis=0) for x in (q, qd, qdd)]
        slopes = self.slopes(*states, np.tile(weights, (len(q), 1))).reshape(len(q), n, 3, n)
        by_q, by_qd = slopes[:, :, 0], slopes[:, :, 1]
        if self.equations.drives is not None:
            by_q = by_q + self._drives_by(q, qd, qdd, values, 0)
            by_qd = by_qd + self._drives_by(q, qd, qdd, values, 1)
        return by_q, by_qd

    def _drives_by(
        self, q: Numbers, qd: Numbers, qdd: Numbers, values: Numbers, which: int
    ) -> Numbers:
        """The forces of drives by positions (0) or velocities (1), by differences: they are plain
        functions of one joint's motion each."""
        drives, n, b = self.equations.drives, q.shape[1], self.nonzero.shape[1]
        if drives is None:
            return np.zeros((len(q), n, n))
        forces = np.zeros((len(q), n, n))
        for k in range(n):
            tilt = TILT * np.eye(n)[k]
            ends = []
            for sign in (1.0, -1.0):
                at, rate = (q + sign * tilt, qd) if which == 0 else (q, qd + sign * tilt)
                samples = Samples.of(np.zeros(len(q)), at, rate, qdd, np.zeros_like(qd))
                ends.append(drives.values(samples, np.zeros_like(qd)) @ values[b:])
            forces[:, :, k] = (ends[0] - ends[1]) / (2 * TILT)
        return forces


def picked(w: Windows, numbers: slice) -> Windows:
    """Some of the windows."""
    return replace(w, q=w.q[numbers], qd=w.qd[numbers], tau=w.tau[numbers], h=w.h[numbers])
