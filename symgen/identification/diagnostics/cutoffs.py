"""The automatic cutoff of derivatives, held against the log: a lower one is taken where it predicts
forces better.

The bandwidth of a motion, from which the first cutoff comes, is told from velocities alone, and
vibrations or noise that is not white make it too large; accelerations then are mostly noise. How
well a part of the log is predicted from the rest tells, for it has both: motion that is cut off and
noise that is let through."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from symgen.identification.data.dataset import LogDataset, open_dataset
from symgen.identification.data.differentiation import DerivativeFilter
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import LogSource
from symgen.identification.data.samples import Samples
from symgen.identification.diagnostics.diagnostic_fit import (
    MAX_BLOCKS,
    PickedRows,
    drive_model,
    solve_ridge,
)
from symgen.identification.model.equations import Kernel
from symgen.identification.model.problem import Problem
from symgen.numbers.scalar import Numbers
from symgen.reading.assemble import LoadedRobot
from symgen.text import shown

CUTOFF_RATIO: Final = 1.5
"""Each cutoff by the next lower one."""
MIN_TRIED_CUTOFF: Final = 2.0
"""The least cutoff that is tried (Hz)."""
MAX_ROWS: Final = 4000
"""The largest number of rows of all blocks."""
FOLDS: Final = 5
"""Consecutive parts of the rows, each of which is predicted from the others."""
MIN_IMPROVEMENT: Final = 0.01
"""A lower cutoff is taken where it makes the mean squares of predictions smaller by this part."""


def open_with_best_cutoff(
    log: LogSource,
    problem: Problem,
    loaded: LoadedRobot,
    options: LogOptions,
    held_out: float = 0.0,
) -> LogDataset:
    """A log looked at for all that a problem needs, with the cutoff that predicts best where none
    is given. Raises LogError."""
    read = open_dataset(log, problem.needed, loaded.model, options, held_out)
    lower = None if options.cutoff else lower_cutoff(read, problem)
    if lower is None or read.derivative_filter is None:
        return read
    lowered = replace(options, cutoff=lower)
    reread = open_dataset(read.log, problem.needed, loaded.model, lowered, held_out)
    text = (
        f"{shown(read.log.file)}: note: the cut-off frequency of derivatives is {lower:.3g} Hz "
        f"instead of {read.derivative_filter.cutoff:.3g} Hz because that predicts the forces "
        "better; use "
        "--cutoff to set it"
    )
    return replace(reread, extra_notes=(text,))


def lower_cutoff(dataset: LogDataset, problem: Problem) -> float | None:
    """The cutoff (Hz) below that of the reading which predicts best; None where none is better, or
    there are no derivatives or no forces at single samples."""
    first, kernel = dataset.derivative_filter, problem.equations(None).joint_kernel
    if first is None or kernel is None:
        return None
    tried = [first]
    while tried[-1].cutoff / CUTOFF_RATIO > MIN_TRIED_CUTOFF:
        derivative_filter = DerivativeFilter.of_cutoff(
            tried[-1].cutoff / CUTOFF_RATIO, first.step, first.even
        )
        tried.append(derivative_filter)
    blocks = rows_of_blocks(dataset, tried[-1].half_width)
    errors = [
        _prediction_error(blocks, dataset, derivative_filter, kernel, tried[-1].half_width)
        for derivative_filter in tried
    ]
    best = int(np.argmin(errors))
    return tried[best].cutoff if errors[best] < errors[0] + np.log(1 - MIN_IMPROVEMENT) else None


def rows_of_blocks(dataset: LogDataset, half: int) -> list[Numbers]:
    """Rows of some blocks, evenly over those for the estimate, with `half_width` more on both
    sides."""
    ranges = replace(dataset.plan, half_width=half).training
    return [
        rows for _, rows in dataset.read_ranges(ranges[:: max(-(-len(ranges) // MAX_BLOCKS), 1)])
    ]


def _prediction_error(
    blocks: Sequence[Numbers],
    dataset: LogDataset,
    derivative_filter: DerivativeFilter,
    kernel: Kernel,
    half: int,
) -> float:
    """The mean over channels of the log of the part of the squares that predictions of each fold
    from the others are off by; infinite where there are no rows."""
    read, lost = (
        replace(dataset, derivative_filter=derivative_filter),
        half - derivative_filter.half_width,
    )
    samples = [read.samples(rows) for rows in blocks]
    inner: list[Samples] = [s.part(slice(lost, len(s) - lost)) for s in samples]
    if not sum(map(len, inner)):
        return np.inf
    trial = PickedRows(tuple(inner), MAX_ROWS).trial()
    rows, measured = drive_model(kernel, trial), trial.measured * trial.used
    edges = np.linspace(0, len(rows), FOLDS + 1).astype(int)
    parts = [slice(a, b) for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)]
    squares = np.maximum(np.sum(measured**2, axis=0), 1e-300)
    products = [_normal_equations(rows[part], measured[part], squares) for part in parts]
    total = (
        sum((gram for gram, _ in products), np.zeros(1)),
        sum((r for _, r in products), np.zeros(1)),
    )
    off = np.zeros(len(squares))
    for part, (gram, right) in zip(parts, products, strict=True):
        x = solve_ridge(total[0] - gram, (total[1] - right)[:, None])[:, 0]
        off += np.sum((measured[part] - rows[part] @ x) ** 2, axis=0)
    return float(np.mean(np.log(np.maximum(off / squares, 1e-300))))


def _normal_equations(
    rows: Numbers, measured: Numbers, squares: Numbers
) -> tuple[Numbers, Numbers]:
    """Of weighted rows with each other (p x p) and with the measurements (p)."""
    columns, y = rows / np.sqrt(squares)[:, None], measured / np.sqrt(squares)
    flat = columns.reshape(-1, rows.shape[2])
    return flat.T @ flat, flat.T @ y.ravel()
