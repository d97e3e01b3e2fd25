"""An offset of each log and channel, eliminated from the factors of the log.

With several logs of a robot, the zeros of its sensors may differ between logs. Of each channel of a
log, the part of every column and of the measurement that the column of the offset explains is
subtracted, which leaves the other unknowns as if the log had an offset of its own (Frisch & Waugh,
Econometrica 1933). What was subtracted gives the offset of the log for any values of the other
unknowns, and the mean of all logs for the model."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from symgen.identification.estimation.triangular_factors import (
    TriangularFactors,
    triangle,
)
from symgen.identification.model.drive_columns import DriveColumn, DriveUnknowns
from symgen.identification.model.equations import Supports
from symgen.numbers.types import Numbers


def offset_columns(drives: DriveUnknowns | None, first: int) -> dict[int, int]:
    """The column of the offset of each channel that has one, after `first` columns."""
    found: dict[int, int] = {}
    for k, column in enumerate(drives.columns if drives else ()):
        if drives is not None and column.law == "offset":
            rates = np.abs(drives.joints.rates[column.joint])
            for channel in np.flatnonzero(rates == rates.max(initial=1.0)).tolist():
                found.setdefault(channel, first + k)
    return found


@dataclass(frozen=True)
class LogOffsets:
    """What the offsets of a log explain: for each channel of `columns` the projections of all
    columns of the equations and of the measurement on that of the offset (p + 1), and its weight,
    the sum of squares of the column. `drives` are the columns after the base parameters."""

    columns: dict[int, int]
    projections: dict[int, Numbers]
    weights: dict[int, float]
    drives: tuple[DriveColumn, ...]

    @classmethod
    def of(
        cls,
        factors: TriangularFactors,
        supports: Supports,
        columns: dict[int, int],
        drives: tuple[DriveColumn, ...],
        size: int,
    ) -> "LogOffsets":
        """From the factors of a whole log, whose equations have `size` columns."""
        projections, weights = dict[int, Numbers](), dict[int, float]()
        for channel, column in columns.items():
            factor, support = factors.factors[channel], [*supports[channel], size]
            offset = factor[:, support.index(column)]
            weights[channel] = float(offset @ offset)
            projections[channel] = np.zeros(size + 1)
            projections[channel][support] = offset @ factor / (weights[channel] or 1.0)
        return cls(columns, projections, weights, drives)

    def without_offsets(self, factors: TriangularFactors, supports: Supports) -> TriangularFactors:
        """Factors of the log, or of a part of it, without the offsets."""
        result = list(factors.factors)
        for channel, column in self.columns.items():
            support = [*supports[channel], len(self.projections[channel]) - 1]
            offset = result[channel][:, support.index(column)]
            rest = result[channel] - np.outer(offset, self.projections[channel][support])
            rest[:, support.index(column)] = 0.0
            result[channel] = triangle(rest)
        return TriangularFactors(factors.rows, tuple(result))

    def values(self, drives: DriveUnknowns | None, values: Numbers) -> Numbers:
        """The values (p) of an estimate with the offsets of this log; its columns after the base
        parameters are those of `drives`, which are among those of the log."""
        kept = drives.columns if drives else ()
        first = len(values) - len(kept)
        places = [*range(first), *(first + self.drives.index(column) for column in kept), -1]
        result = values.copy()
        for channel, column in self.columns.items():
            k = column - first
            if k < len(self.drives) and self.drives[k] in kept:
                place = first + kept.index(self.drives[k])
                projections = self.projections[channel][places]
                others = np.delete(projections[:-1] * values, place).sum()
                result[place] = projections[-1] - others
        return result


def mean_offsets(logs: Iterable[LogOffsets], supports: Supports) -> TriangularFactors:
    """One equation a channel: the offset of the model is the mean of the logs', by their weights.
    The others of these offsets are not among the unknowns, so their equations do not count."""
    sums: list[Numbers] = [np.zeros(len(support) + 1) for support in supports]
    weights, counts = np.zeros(len(supports)), [0] * len(supports)
    for log in logs:
        for channel, projection in log.projections.items():
            counts[channel] += 1
            support = [*supports[channel], len(projection) - 1]
            sums[channel] += log.weights[channel] * projection[support]
            weights[channel] += log.weights[channel]
    roots = np.sqrt(np.where(weights > 0, weights, 1.0))
    rows = [triangle((x / root)[None]) for x, root in zip(sums, roots, strict=True)]
    return TriangularFactors(tuple(min(1 - n, 0) for n in counts), tuple(rows))
