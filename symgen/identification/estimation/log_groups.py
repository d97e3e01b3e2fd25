"""Groups of consecutive logs of one robot, each log read and reduced to triangular factors by
itself. The functions are run by this process or by workers, which read the files themselves and
return factors only."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from symgen.identification.data.dataset import Reading, reading
from symgen.identification.data.open_log import LogSource
from symgen.identification.diagnostics.diagnose import diagnosed
from symgen.identification.estimation.log_reducer import BATCHES, LogReducer
from symgen.identification.estimation.own_columns import OwnColumns, offset_columns
from symgen.identification.estimation.triangular_factors import (
    Batches,
    TriangularFactors,
    combined,
    gathered,
)
from symgen.identification.model.drive_columns import Rates
from symgen.identification.model.equations import Equations
from symgen.identification.model.problem import Problem
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from symgen.numbers.types import Numbers
from symgen.reading.assemble import LoadedRobot

KEPT: Final = 4
"""Logs whose samples stay in memory between passes."""


@dataclass(frozen=True, eq=False)
class Fleet:
    """What `count` logs have in common. The prior says nothing about `loaded_bodies`, which carry
    an unknown payload."""

    job: Job
    loaded: LoadedRobot
    sought: Problem
    settings: Settings
    loaded_bodies: tuple[int, ...]
    count: int


@dataclass(frozen=True, eq=False)
class FirstLook:
    """What the first look at a log found: how it is read, and the rates of its joints."""

    reading: Reading
    rates: Rates | None


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

    trained: Batches
    rows: TriangularFactors | None
    held_out: TriangularFactors | None
    offsets: tuple[OwnColumns, ...]
    of_rows: tuple[OwnColumns, ...]


def reducer(fleet: Fleet, look: FirstLook) -> LogReducer:
    """What reduces a log; kept for the next pass if there are few logs."""
    return (_kept if fleet.count <= KEPT else _kept.__wrapped__)(fleet, look)


@lru_cache(maxsize=KEPT)
def _kept(fleet: Fleet, look: FirstLook) -> LogReducer:
    batches = max(BATCHES // fleet.count, 1)
    return LogReducer(look.reading, fleet.settings, lambda step: None, batches=batches)


def first_looks(task: tuple[Fleet, Sequence[LogSource]]) -> list[FirstLook]:
    """The first look at some logs, of which the first one is diagnosed. Raises LogError for one
    that cannot be used."""
    fleet, logs = task
    return [_first_look(fleet, log, not k) for k, log in enumerate(logs)]


def _first_look(fleet: Fleet, log: LogSource, thoroughly: bool) -> FirstLook:
    """The first look at a log, which may diagnose it."""
    settings, sought = fleet.settings, fleet.sought
    read = reading(log, sought.wanted, fleet.loaded.model, settings, settings.held_out)
    if thoroughly:
        read = diagnosed(read, sought, fleet.job, settings.full, fleet.loaded_bodies)
    once = LogReducer(read, settings, lambda step: None)
    rates = once.rates(sought.joints) if sought.joints else None
    return FirstLook(read if fleet.count <= KEPT else read.lean, rates)


GroupTask = tuple[Fleet, Sequence[FirstLook], Equations, Equations, Sequence[OwnColumns]]


def reduced_group(task: GroupTask) -> ReducedGroup:
    """Some logs, reduced: the equations for the estimate and those for the rows held out. Robust
    equations limit the residuals of each log about its own offset, of the pass before."""
    fleet, looks, equations, plain, before = task
    drives, supports = plain.drives, plain.supports
    kept = drives.columns if drives else ()
    first = len(fleet.sought.mapping)
    columns, size = offset_columns(drives, first), first + len(kept)
    parts: list[Batches] = []
    rows, held_out, found, of_rows = [], [], [], []
    for k, look in enumerate(looks):
        used = equations
        if limits := equations.limits:
            values = before[k].values(drives, limits.values)
            used = replace(equations, limits=replace(limits, values=values))
        factored = reducer(fleet, look).reduced(used, plain, "")
        total = combined(factored.trained)
        assert total is not None and factored.rows is not None
        own = OwnColumns.of(total, supports, columns, kept, size)
        own_of_rows = OwnColumns.of(factored.rows, supports, columns, kept, size)
        parts.append(tuple(own.without(batch, supports) for batch in factored.trained))
        rows.append(own_of_rows.without(factored.rows, supports))
        if factored.held_out is not None:
            held_out.append(own.without(factored.held_out, supports))
        found.append(own)
        of_rows.append(own_of_rows)
    trained = tuple(batch for part in parts for batch in part)
    joined = trained if len(looks) == 1 else gathered(trained, len(trained))
    return ReducedGroup(joined, combined(rows), combined(held_out), tuple(found), tuple(of_rows))


FitTask = tuple[Fleet, Sequence[FirstLook], Equations, Numbers]


def compared_group(task: FitTask) -> list[LogFit]:
    """How each of some logs compares with an estimate."""
    fleet, looks, equations, values = task
    return [_compared(fleet, look, equations, values) for look in looks]


def _compared(fleet: Fleet, look: FirstLook, equations: Equations, values: Numbers) -> LogFit:
    """With the base parameters of the estimate, least squares for an offset and a factor of all
    friction that vanishes at rest."""
    rows = reducer(fleet, look).reduced(equations, equations, "").rows
    assert rows is not None
    first, drives = len(fleet.sought.mapping), equations.drives
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
    log = look.reading.log
    return LogFit(log.file, look.reading.survey.first, log.rows, *result)
