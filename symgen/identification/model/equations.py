"""Linear equations in the parameters: the force of each channel at every sample.

All of them are frozen values. `equations` gives A (N x c x p) and y (N x c) with A x = y for the p
parameters x, base parameters first, then the coefficients of the joints' drives; c is the number of
channels."""

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.samples import Samples
from symgen.identification.model.drive_columns import DriveUnknowns
from symgen.jobs.job import Job
from symgen.languages.c.backend import code_files
from symgen.languages.c.checks import BATCH_FILE, batch_source, loop_declaration, loop_name
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
