"""Groups of consecutive logs of one robot, each log read and reduced to triangular factors by
itself. The functions are run by this process or by workers, which read the files themselves and
return factors only.

What a log or a robot has of its own is eliminated from the factors of its equations. With several
logs of a robot, the zeros of its sensors may differ between logs; with several robots of one type,
their friction differs. Of each channel, the part of every column and of the measurement that such
columns explain is subtracted, which leaves the other unknowns as if the log or the robot had
unknowns of its own (Frisch & Waugh, Econometrica 1933). What was subtracted gives these for any
values of the others, and their mean for the model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from symgen.identification.data.dataset import LogDataset, open_dataset
from symgen.identification.data.open_log import LogSource
from symgen.identification.diagnostics.diagnose import with_diagnosis
from symgen.identification.estimation.log_reducer import BATCHES, LogReducer
from symgen.identification.estimation.triangular_factors import (
    Batches,
    TriangularFactors,
    combined,
    gathered,
    triangle,
)
from symgen.identification.model.drive_columns import DriveColumn, DriveUnknowns, MotionRanges
from symgen.identification.model.equations import Equations, Supports
from symgen.identification.model.problem import Problem
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from symgen.mechanics.joint_forces import FRICTION_GROUP
from symgen.numbers.scalar import Numbers
from symgen.reading.assemble import LoadedRobot

DEPENDENT: Final = 1e-9
"""Columns of unit length with a smaller singular value, by the largest one, count as dependent."""


def offset_columns(drives: DriveUnknowns | None, first: int) -> dict[int, tuple[int, ...]]:
    """The column of the offset of each channel that has one, after `first` columns."""
    found: dict[int, tuple[int, ...]] = {}
    for k, column in enumerate(drives.columns if drives else ()):
        if drives is not None and column.law == "offset":
            rates = np.abs(drives.joints.rates[column.joint])
            for channel in np.flatnonzero(rates == rates.max(initial=1.0)).tolist():
                found.setdefault(channel, (first + k,))
    return found


def friction_columns(drives: DriveUnknowns | None, first: int) -> dict[int, tuple[int, ...]]:
    """The columns of the other laws of friction of each channel, without those that act on several
    channels; none while the shape parameters of laws are not yet selected."""
    found: dict[int, tuple[int, ...]] = {}
    if drives is None or drives.has_candidates:
        return found
    for k, column in enumerate(drives.columns, first):
        channels = np.flatnonzero(drives.joints.rates[column.joint]).tolist()
        is_own = column.row.group == FRICTION_GROUP and column.law != "offset"
        if is_own and len(channels) == 1:
            found[channels[0]] = (*found.get(channels[0], ()), k)
    return found


@dataclass(frozen=True)
class EliminatedColumns:
    """The columns that a log or a robot has of its own, which are eliminated from the equations.

    For each channel, `columns` has the numbers of its k own columns, `projections` those of all
    columns and of the measurement on these (k x (p + 1)), and `products` the products of these with
    each other (k x k). `drives` are the columns after the base parameters."""

    columns: Mapping[int, tuple[int, ...]]
    projections: Mapping[int, Numbers]
    products: Mapping[int, Numbers]
    drives: tuple[DriveColumn, ...]

    @classmethod
    def of(
        cls,
        factors: TriangularFactors,
        supports: Supports,
        columns: Mapping[int, tuple[int, ...]],
        drives: tuple[DriveColumn, ...],
        size: int,
    ) -> "EliminatedColumns":
        """From the factors of all equations, which have `size` columns."""
        projections, products = dict[int, Numbers](), dict[int, Numbers]()
        for channel, own in columns.items():
            factor, support = factors.factors[channel], [*supports[channel], size]
            part = factor[:, [support.index(column) for column in own]]
            lengths = np.linalg.norm(part, axis=0)
            lengths[lengths == 0] = 1.0
            inverse = np.linalg.pinv(part / lengths, rcond=DEPENDENT) / lengths[:, None]
            projections[channel] = np.zeros((len(own), size + 1))
            projections[channel][:, support] = inverse @ factor
            products[channel] = part.T @ part
        return cls(columns, projections, products, drives)

    def without(self, factors: TriangularFactors, supports: Supports) -> TriangularFactors:
        """Factors of the equations, or of a part of them, without the own columns."""
        result = list(factors.factors)
        for channel, own in self.columns.items():
            support = [*supports[channel], self.projections[channel].shape[1] - 1]
            places = [support.index(column) for column in own]
            part = result[channel][:, places]
            rest = result[channel] - part @ self.projections[channel][:, support]
            rest[:, places] = 0.0
            result[channel] = triangle(rest)
        return TriangularFactors(factors.rows, tuple(result))

    def given(self, other: "EliminatedColumns") -> "EliminatedColumns":
        """The same with the own columns of another, which this one is part of, eliminated too."""
        projections = {
            channel: rows - rows[:, [*other.columns[channel]]] @ other.projections[channel]
            if channel in other.columns
            else rows
            for channel, rows in self.projections.items()
        }
        return replace(self, projections=projections)

    def only(self, kept: tuple[DriveColumn, ...]) -> "EliminatedColumns":
        """Of an estimate whose columns after the base parameters are `kept`."""
        size = next((rows.shape[1] for rows in self.projections.values()), len(self.drives) + 1)
        first = size - 1 - len(self.drives)
        places = [*range(first), *(first + self.drives.index(column) for column in kept), -1]
        columns = dict[int, tuple[int, ...]]()
        projections, products = dict[int, Numbers](), dict[int, Numbers]()
        for channel, own in self.columns.items():
            of_drives = [self.drives[column - first] for column in own]
            left = [n for n, column in enumerate(of_drives) if column in kept]
            columns[channel] = tuple(first + kept.index(of_drives[n]) for n in left)
            projections[channel] = self.projections[channel][np.ix_(left, places)]
            products[channel] = self.products[channel][np.ix_(left, left)]
        return EliminatedColumns(columns, projections, products, kept)

    def values(self, drives: DriveUnknowns | None, values: Numbers) -> Numbers:
        """The values (p) of an estimate with the own ones in place of the mean; its columns after
        the base parameters are those of `drives`."""
        narrow, result = self.only(drives.columns if drives else ()), values.copy()
        for channel, own in narrow.columns.items():
            others, rows = values.copy(), narrow.projections[channel]
            others[[*own]] = 0.0
            result[[*own]] = rows[:, -1] - rows[:, :-1] @ others
        return result

    def covariance(self, before: Numbers, variances: Mapping[int, float]) -> Numbers:
        """The covariance (p x p) of values with own ones from that `before`, of the values with the
        mean; `variances` are those of the residuals of each channel."""
        change = np.eye(len(before))
        noise = np.zeros_like(before)
        for channel, own in self.columns.items():
            rows = -self.projections[channel][:, :-1]
            rows[:, [*own]] = 0.0
            change[[*own]] = rows
            squares = np.diag(self.products[channel])
            faint = np.diag(DEPENDENT * np.where(squares > 0, squares, 1.0))
            inverse = np.linalg.inv(self.products[channel] + faint)
            noise[np.ix_(own, own)] = variances[channel] * inverse
        return np.asarray(change @ before @ change.T + noise)


def means(parts: Iterable[EliminatedColumns], supports: Supports) -> TriangularFactors:
    """An equation for each own column: that of the model is the mean, each weighted by the sum of
    squares of its column. The others are not among the unknowns, so their equations do not
    count."""
    sums: list[dict[int, Numbers]] = [{} for _ in supports]
    weights: list[dict[int, float]] = [{} for _ in supports]
    lost = [0] * len(supports)
    for part in parts:
        for channel, own in part.columns.items():
            support = [*supports[channel], part.projections[channel].shape[1] - 1]
            squares = np.diag(part.products[channel]).tolist()
            lost[channel] += len(own) if sums[channel] else 0
            for column, row, weight in zip(own, part.projections[channel], squares, strict=True):
                sums[channel][column] = sums[channel].get(column, 0.0) + weight * row[support]
                weights[channel][column] = weights[channel].get(column, 0.0) + weight
    factors = []
    for channel, of_channel in enumerate(supports):
        equations = [np.zeros(len(of_channel) + 1)]
        for column, equation in sums[channel].items():
            equations.append(equation / np.sqrt(weights[channel][column] or 1.0))
        factors.append(triangle(np.stack(equations)))
    return TriangularFactors(tuple(-n for n in lost), tuple(factors))


# -- own columns -----------------------------------------------------------------------------------


KEPT: Final = 4
"""Logs whose samples stay in memory between passes."""


@dataclass(frozen=True, eq=False)
class CommonSetup:
    """What `count` logs have in common. The prior says nothing about `loaded_bodies`, which carry
    an unknown payload."""

    job: Job
    loaded: LoadedRobot
    problem: Problem
    settings: Settings
    loaded_bodies: tuple[int, ...]
    count: int


@dataclass(frozen=True, eq=False)
class OpenedLog:
    """A log that has been opened: how it is read, and how fast and how far its joints
    move."""

    dataset: LogDataset
    ranges: MotionRanges | None


@dataclass(frozen=True)
class LogFit:
    """How a log compares with the estimate, channel by channel (c): its offset (N m or N), its
    friction relative to that of the estimate, its residual and its measured force (root mean
    squares); NaN where a channel has none. `robot` is the name of one of several robots."""

    file: str
    begin: float
    rows: int
    offsets: Numbers
    friction: Numbers
    residual: Numbers
    measured: Numbers
    robot: str = ""


@dataclass(frozen=True)
class ReducedGroup:
    """Some logs, reduced: the factors of the parts for the estimate, of the rows and of those held
    out, all without the offsets of the logs, and what these are."""

    training: Batches
    rows: TriangularFactors | None
    held_out: TriangularFactors | None
    offsets: tuple[EliminatedColumns, ...]
    of_rows: tuple[EliminatedColumns, ...]


def reducer(setup: CommonSetup, opened: OpenedLog) -> LogReducer:
    """What reduces a log; kept for the next pass if there are few logs."""
    return (_cached_reducer if setup.count <= KEPT else _cached_reducer.__wrapped__)(setup, opened)


@lru_cache(maxsize=KEPT)
def _cached_reducer(setup: CommonSetup, opened: OpenedLog) -> LogReducer:
    batches = max(BATCHES // setup.count, 1)
    return LogReducer(opened.dataset, setup.settings, lambda step: None, batches=batches)


def opened_logs(task: tuple[CommonSetup, Sequence[LogSource]]) -> list[OpenedLog]:
    """Opens some logs, of which the first one is diagnosed. Raises LogError for one
    that cannot be used."""
    setup, logs = task
    return [_opened_log(setup, log, not k) for k, log in enumerate(logs)]


def _opened_log(setup: CommonSetup, log: LogSource, thoroughly: bool) -> OpenedLog:
    """Opens a log; if `thoroughly`, with a diagnosis."""
    settings, problem = setup.settings, setup.problem
    read = open_dataset(log, problem.needed, setup.loaded.model, settings, settings.held_out)
    if thoroughly:
        read = with_diagnosis(read, problem, setup.job, settings.full, setup.loaded_bodies)
    once = LogReducer(read, settings, lambda step: None)
    ranges = once.ranges(problem.joints) if problem.joints else None
    return OpenedLog(read if setup.count <= KEPT else read.uncached, ranges)


GroupTask = tuple[
    CommonSetup, Sequence[OpenedLog], Equations, Equations, Sequence[EliminatedColumns]
]


def reduced_group(task: GroupTask) -> ReducedGroup:
    """Some logs, reduced: the equations for the estimate and those for the rows held out. Robust
    equations limit the residuals of each log about its own offset, of the pass before."""
    setup, logs, equations, plain, before = task
    drives, supports = plain.drives, plain.supports
    kept = drives.columns if drives else ()
    first = len(setup.problem.mapping)
    columns, size = offset_columns(drives, first), first + len(kept)
    parts: list[Batches] = []
    rows, held_out, found, of_rows = [], [], [], []
    for k, opened in enumerate(logs):
        used = equations
        if limits := equations.limits:
            values = before[k].values(drives, limits.values)
            used = replace(equations, limits=replace(limits, values=values))
        factored = reducer(setup, opened).reduced(used, plain, "")
        total = combined(factored.training)
        assert total is not None and factored.rows is not None
        own = EliminatedColumns.of(total, supports, columns, kept, size)
        own_of_rows = EliminatedColumns.of(factored.rows, supports, columns, kept, size)
        parts.append(tuple(own.without(batch, supports) for batch in factored.training))
        rows.append(own_of_rows.without(factored.rows, supports))
        if factored.held_out is not None:
            held_out.append(own.without(factored.held_out, supports))
        found.append(own)
        of_rows.append(own_of_rows)
    training = tuple(batch for part in parts for batch in part)
    joined = training if len(logs) == 1 else gathered(training, len(training))
    return ReducedGroup(joined, combined(rows), combined(held_out), tuple(found), tuple(of_rows))


FitTask = tuple[CommonSetup, Sequence[OpenedLog], Equations, Numbers]


def compared_group(task: FitTask) -> list[LogFit]:
    """How each of some logs compares with an estimate."""
    setup, logs, equations, values = task
    return [_compared(setup, opened, equations, values) for opened in logs]


def _compared(
    setup: CommonSetup, opened: OpenedLog, equations: Equations, values: Numbers
) -> LogFit:
    """With the base parameters of the estimate, least squares for an offset and a factor of all
    friction that vanishes at rest."""
    rows = reducer(setup, opened).reduced(equations, equations, "").rows
    assert rows is not None
    first, drives = len(setup.problem.mapping), equations.drives
    columns = offset_columns(drives, first)
    frictional = np.zeros(len(values))
    for k, column in enumerate(drives.columns if drives else (), first):
        frictional[k] = values[k] if column.row.group == "friction" else 0.0
    frictional[[k for own in columns.values() for k in own]] = 0.0
    result = np.full((4, len(equations.supports)), np.nan)
    for j, support in enumerate(equations.supports):
        factor, places = rows.factors[j], [*support]
        friction, own = factor[:, :-1] @ frictional[places], values - frictional
        own[[*columns.get(j, ())]] = 0.0
        rest = factor[:, -1] - factor[:, :-1] @ own[places]
        used = [factor[:, places.index(column)] for column in columns.get(j, ())]
        used += [friction] if friction.any() else []
        if used:
            found, *_ = np.linalg.lstsq(np.stack(used, axis=1), rest, rcond=None)
            rest = rest - np.stack(used, axis=1) @ found
            result[0, j] = found[0] if j in columns else np.nan
            result[1, j] = found[-1] if friction.any() else np.nan
        root = np.sqrt(max(rows.rows[j], 1))
        result[2:, j] = np.linalg.norm(rest) / root, np.linalg.norm(factor[:, -1]) / root
    log = opened.dataset.log
    return LogFit(log.file, opened.dataset.survey.first, log.rows, *result)
