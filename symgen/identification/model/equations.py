"""Linear equations in the parameters: the force of each channel at every sample, and which columns
of drives are linearly independent of those before them.

All of them are frozen values. `equations` gives A (N x c x p) and y (N x c) with A x = y for the p
parameters x, base parameters first, then the coefficients of the joints' drives; c is the number of
channels. `separable` finds unknowns of drives that no motion can tell from parameters before them:
the inertia of the first rotor of a standing arm is part of an inertia about the same axis, a
follower's friction part of its leader's."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.samples import Samples
from symgen.identification.model.drive_columns import DriveColumn, DriveUnknowns, ShapePairs
from symgen.jobs.job import Job
from symgen.languages.c.backend import code_files
from symgen.languages.c.checks import BATCH_FILE, batch_source, loop_declaration, loop_name
from symgen.mechanics.coupling import Coupling, coupling_of
from symgen.mechanics.independence import independent_columns
from symgen.mechanics.model import RigidBodyModel
from symgen.native.library import Library
from symgen.numbers.scalar import Numbers
from symgen.reading.assemble import LoadedRobot


@dataclass(frozen=True)
class Kernel:
    """A function of arrays with one state a row: `inputs` entries of each, an output of `shape`.

    `nonzero` tells which entries of the output are not zero in every state. Nothing is rounded
    otherwise than in the generated code, so results are the same bits in every process."""

    loop: str
    """The C name of its loop over states."""
    inputs: tuple[int, ...]
    shape: tuple[int, ...]
    nonzero: NDArray[np.bool_]
    files: tuple[tuple[str, str], ...]

    def __call__(self, *states: Numbers) -> Numbers:
        """The output of every state (N x shape) from inputs (N x entries). Raises CompilerError."""
        arrays = [np.ascontiguousarray(x, np.float64) for x in states]
        result = np.empty((len(arrays[0]), *self.shape))
        _built(self.loop, len(self.inputs) + 1, self.files).call(
            self.loop, len(result), *arrays, result
        )
        return result


@cache
def _built(loop: str, arguments: int, texts: tuple[tuple[str, str], ...]) -> Library:
    """The function's loop over states, compiled for this process."""
    return Library.build(loop_declaration(loop, arguments), dict(texts))


def kernel(job: Job, loaded: LoadedRobot) -> Kernel:
    """The kernel of a job that wants one function with one output. Raises OptionError."""
    module = job.module(loaded)
    (function,) = module.functions
    (out,) = function.program.outputs
    texts = {**code_files(module), BATCH_FILE: batch_source(module)}
    nonzero = np.array([ref is not None for ref in out.refs]).reshape(out.shape)
    inputs = tuple(int(np.prod(shape)) for _, shape in function.program.inputs)
    return Kernel(
        loop_name(module, function.name),
        inputs,
        out.shape,
        nonzero,
        tuple(texts.items()),
    )


Supports = tuple[tuple[int, ...], ...]
"""The columns that each channel depends on."""


@dataclass(frozen=True)
class LinearEquations:
    """Equations: `regressor` A (N x c x p), `measured` y (N x c), and which of them count, `used`
    (N x c)."""

    regressor: Numbers
    measured: Numbers
    used: NDArray[np.bool_]

    def part(self, rows: slice) -> "LinearEquations":
        """Some of the equations."""
        return LinearEquations(self.regressor[rows], self.measured[rows], self.used[rows])

    def means(self, count: int) -> "LinearEquations":
        """Means of each `count` consecutive equations of a channel, those that do not count left
        out, times the square root of their number: white noise keeps its standard deviation."""
        starts = np.arange(0, len(self.measured), count)
        counts = np.add.reduceat(self.used.astype(np.int64), starts, axis=0)
        roots = np.sqrt(np.maximum(counts, 1))
        rows = np.add.reduceat(self.regressor * self.used[:, :, None], starts, axis=0)
        measured = np.add.reduceat(self.measured * self.used, starts, axis=0)
        return LinearEquations(rows / roots[:, :, None], measured / roots, np.asarray(counts > 0))


@dataclass(frozen=True)
class ResidualLimits:
    """A robust loss (Huber 1964) by modified residuals: a measurement that is further from the
    prediction by `values` (p) than `limits` (c) counts as if it were at the limit (Huber, Robust
    Statistics, 1981, ch. 7). Equations stay linear in the parameters, so rows can be averaged and
    reduced as before."""

    values: Numbers
    limits: Numbers

    def applied(self, linear: LinearEquations) -> LinearEquations:
        """The equations with limited residuals."""
        predicted = linear.regressor @ self.values
        residual = np.clip(linear.measured - predicted, -self.limits, self.limits)
        return replace(linear, measured=predicted + residual)


@dataclass(frozen=True)
class Equations:
    """The regressors of joint forces, of wrenches at joints or of both at each sample, then the
    columns of the drives, which act on joint forces. The first `forces` channels are joint forces;
    `columns` are those of the kernels that are parameters, all where it is None."""

    kernels: tuple[Kernel, ...]
    forces: int
    columns: tuple[int, ...] | None = None
    drives: DriveUnknowns | None = None
    limits: ResidualLimits | None = None
    """Limits of the residuals, if outliers are to be limited."""

    @property
    def joint_kernel(self) -> Kernel | None:
        """The kernel of joint forces where nothing else is measured."""
        return self.kernels[0] if self.columns is None else None

    @cached_property
    def supports(self) -> Supports:
        """The columns that are not zero in every state."""
        rows = self._parameters([kernel.nonzero for kernel in self.kernels], 0)
        if self.drives is not None:
            rows = np.concatenate([rows, _padded(self.drives.supports, len(rows), 0)], axis=1)
        return tuple(tuple(np.flatnonzero(row).tolist()) for row in rows)

    def equations(self, samples: Samples) -> LinearEquations:
        """The equations at each sample."""
        linear = self._linear(samples)
        return linear if self.limits is None else self.limits.applied(linear)

    def _linear(self, samples: Samples) -> LinearEquations:
        states, n = (samples.q, samples.qd, samples.qdd), self.forces
        regressor = self._parameters([kernel(*states) for kernel in self.kernels], 1)
        if self.drives is None:
            return LinearEquations(regressor, samples.measured, samples.usable)
        torques = replace(samples, measured=samples.measured[:, :n], usable=samples.usable[:, :n])
        values = self.drives.values(torques, regressor[:, :n])
        columns = np.concatenate([regressor, _padded(values, regressor.shape[1], 1)], axis=2)
        used = samples.usable.copy()
        used[:, :n] &= self.drives.known(torques)
        return LinearEquations(columns, samples.measured, used)

    def _parameters(self, parts: list[NDArray[Any]], axis: int) -> NDArray[Any]:
        """The columns of parameters of all kernels."""
        rows = np.concatenate(parts, axis=axis) if len(parts) > 1 else parts[0]
        return rows if self.columns is None else rows[..., list(self.columns)]


def _padded(rows: NDArray[Any], channels: int, axis: int) -> NDArray[Any]:
    """Rows of joint forces with zeros for the wrenches."""
    missing = channels - rows.shape[axis]
    widths = [(0, missing if k == axis else 0) for k in range(rows.ndim)]
    return np.pad(rows, widths) if missing else rows


States = tuple[Numbers, Numbers, Numbers]
"""q (N x nq), qd and qdd (N x n each)."""

STATES: Final = 64
"""Random states that tell which unknowns there are; each gives an equation a channel."""


def random_states(coupling: Coupling) -> States:
    """States of a robot, the same ones at every call; quaternions are unit ones."""
    random = np.random.default_rng(0)
    sizes = coupling.positions, coupling.velocities, coupling.velocities
    q, qd, qdd = (random.uniform(-2, 2, (STATES, size)) for size in sizes)
    for four in coupling.quaternions:
        q[:, four] /= np.linalg.norm(q[:, four], axis=1, keepdims=True)
    return q, qd, qdd


def separable(regressor: Numbers, last: int) -> list[int]:
    """The numbers of those of the `last` columns of a regressor (N x n x w, at `random_states`)
    that motions can tell from the columns before them."""
    width = regressor.shape[2]
    chosen = independent_columns(regressor.reshape(-1, width)).chosen
    return sorted(k for k in chosen if k >= width - last)


def inseparable(
    model: RigidBodyModel, drives: DriveUnknowns, equations: Callable[[DriveUnknowns], Equations]
) -> tuple[int, ...]:
    """The numbers of the columns of drives that depend on those before them in every state.

    Nothing else jumps or saturates as columns with a sign or a speed do, but those of joints that
    move as one before does."""
    repeated = _repeated(drives)
    plain = [k for k, column in enumerate(drives.columns) if not _jumps(column)]
    if not plain:
        return repeated
    regressor = equations(drives.only(plain)).equations(_random(model)).regressor
    first = regressor.shape[2] - len(plain)
    kept = {plain[k - first] for k in separable(regressor, len(plain))}
    return tuple(sorted((*repeated, *(k for k in plain if k not in kept))))


def _jumps(column: DriveColumn) -> bool:
    """Whether a column has a sign or a shape parameter."""
    return column.row.has_width or bool(column.row.shape)


def _repeated(drives: DriveUnknowns) -> tuple[int, ...]:
    """The numbers of the columns with a sign or a speed whose joint has the rate of one before
    times a factor, as a follower has, and its speed times the same."""
    repeated, rates = list[int](), drives.joints.rates
    for k, column in enumerate(drives.columns):
        rate = rates[column.joint]
        for before in drives.columns[:k] if _jumps(column) else ():
            other = rates[before.joint]
            factor = rate @ other / (other @ other) if other.any() else 0.0
            alike = before.law == column.law and np.allclose(
                rate, factor * other, rtol=0, atol=1e-9
            )
            if alike and _scaled(before.shape, abs(factor), column.shape):
                repeated.append(k)
                break
    return tuple(repeated)


def _scaled(shape: ShapePairs, factor: float, other: ShapePairs) -> bool:
    """Whether shape parameters are those of a joint that moves `factor` times as fast."""
    wanted = [x if name == "power_exponent" else factor * x for name, x in shape]
    return np.allclose(wanted, [x for _, x in other], rtol=1e-6, atol=0)


def _random(model: RigidBodyModel) -> Samples:
    q, qd, qdd = random_states(coupling_of(model))
    t = np.arange(STATES, dtype=np.float64)
    return Samples.of(t, q, qd, qdd, np.zeros_like(qd))
