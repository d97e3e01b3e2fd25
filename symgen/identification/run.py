"""Identification from beginning to end: a robot, a log and settings in, an estimate out."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.checks import (
    Tally,
    check_numbers,
    check_quaternions,
    check_step,
    check_time,
)
from symgen.identification.engines import run
from symgen.identification.equations import Equations
from symgen.identification.estimate import Estimate
from symgen.identification.estimation import estimate
from symgen.identification.logs import Log, LogError, open_log
from symgen.identification.methods import Problem, problem
from symgen.identification.prior import with_prior
from symgen.identification.reduction import Factors, whole
from symgen.identification.samples import Derivation, Layout, Plan, Samples, layout, pieces
from symgen.identification.settings import Settings
from symgen.jobs.job import Job
from symgen.mechanics.coupling import positions, velocities
from symgen.reading.assemble import Loaded
from symgen.text import shown

Numbers = NDArray[np.float64]
Progress = Callable[[str], None]

SHOWN: Final = 5
"""Blocks at the end of a log that are kept for pictures."""
LONGEST: Final = 1e15
"""Rows of an interval at most; no log has so many."""


@dataclass(frozen=True)
class Reading:
    """How a log is read: its columns, which rows make which block, derivatives and intervals."""

    log: Log
    layout: Layout
    plan: Plan
    derivation: Derivation | None
    accelerations: bool
    step: float
    quaternions: tuple[int, ...] = ()
    """The columns at which quaternions begin."""

    @property
    def even(self) -> float | None:
        """The step of time that must be kept, None where any will do."""
        return self.step if self.derivation or self.plan.interval else None

    def samples(self, rows: Numbers) -> Samples:
        """A block's rows as samples with all that is wanted."""
        raw = self.layout.split(rows)
        return raw if self.derivation is None else self.derivation.complete(raw, self.accelerations)


@dataclass(frozen=True)
class Identified:
    """An estimate with what a report tells beside it.

    `last` are the last blocks of the log, of which pictures are made.
    """

    estimate: Estimate
    settings: Settings
    reading: Reading
    equations: Equations
    last: tuple[Samples, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def series(self) -> tuple[Numbers, Numbers, Numbers]:
        """Time (N), measured and predicted values (N x c) at the end of the log."""
        parts = [(s.t, *self.equations.equations(s)) for s in self.last]
        step = self.reading.plan.interval or 1
        t = np.concatenate([t[::step][: len(y)] for t, _, y in parts])
        predicted = np.concatenate([a @ self.estimate.values for _, a, _ in parts])
        return t, np.concatenate([y for _, _, y in parts]), predicted

    @property
    def held_out(self) -> int:
        """How many equations a channel has for validation."""
        return self.estimate.channels[0].validation_rows


def identify(
    job: Job, loaded: Loaded, log: str, settings: Settings, progress: Progress = lambda step: None
) -> Identified:
    """Identify a robot from a log. Raises SymgenError: LogError for what is wrong with the log."""
    opened = open_log(log)
    progress("preparing regressors")
    sought = problem(job, loaded, settings)
    sought = replace(sought, mapping=with_prior(sought.mapping, settings.prior))
    reading = replace(_reading(opened, sought, settings), quaternions=_quaternions(loaded))
    equations = sought.equations(reading.plan.interval)
    last: deque[Samples] = deque(maxlen=SHOWN)
    trained, held_out = _reduced(
        reading, equations, _tally(reading, loaded, settings), last, settings, progress
    )
    found, notes = estimate(sought, equations, trained, held_out, reading.log, settings)
    return Identified(found, settings, reading, equations, tuple(last), notes)


def _reading(log: Log, sought: Problem, settings: Settings) -> Reading:
    """How the log is to be read. Raises LogError."""
    columns = layout(log, sought.wanted)
    if log.rows < 2:
        raise LogError(
            shown(log.file),
            f"has {log.rows} row{'s' * (log.rows != 1)}; there is nothing to identify from",
        )
    step = _step(log, columns)
    missing = not columns.qd or (sought.wanted.accelerations and not columns.qdd)
    if missing and not settings.trust_units:
        check_step(log, step)
    derivation = Derivation.of_cutoff(settings.cutoff, step) if missing else None
    interval = (
        max(2 * round(min(settings.interval / step, LONGEST) / 2), 2) if sought.intervals else 0
    )
    plan = Plan(log.rows, derivation.half if derivation else 0, interval, settings.held_out)
    _check_length(log, plan, sought)
    return Reading(log, columns, plan, derivation, sought.wanted.accelerations, step)


def _quaternions(loaded: Loaded) -> tuple[int, ...]:
    """The columns of a layout at which those of floating joints begin; t comes first."""
    units = [row.unit for row in positions(loaded.model)]
    return tuple(
        k for k, (before, unit) in enumerate(pairwise(units), 2) if unit == "1" and before == "m"
    )


def _step(log: Log, columns: Layout) -> float:
    """The usual step of time, from the first rows. Raises LogError."""
    first = next(iter(log.chunks(columns.columns)))
    check_numbers(log, columns.columns, 0, first)
    check_time(log, 0, first[:, 0], None)
    return float(np.median(np.diff(first[:, 0]))) if len(first) > 1 else 1.0


def _check_length(log: Log, plan: Plan, sought: Problem) -> None:
    more = bool(plan.interval)
    usable = sum(b - a - 2 * plan.half - more for a, b in plan.training) // (plan.interval or 1)
    wanted = len(sought.mapping.names) + len(sought.friction) + 1
    if usable < wanted:
        lost = f" ({2 * plan.half} go to derivatives)" if plan.half else ""
        unit = f"intervals of {plan.interval} rows" if more else "rows"
        raise LogError(
            shown(log.file),
            f"has {log.rows} rows, too few: {usable} {unit} are left for the "
            f"estimate{lost}, and {wanted - 1} parameters need {wanted} at least",
        )


def _tally(reading: Reading, loaded: Loaded, settings: Settings) -> Tally:
    """What watches the units; it looks at nothing where they are trusted or coordinates are no
    joints' own."""
    rows, limits = positions(loaded.model), loaded.model.limits
    plain = [row.name for row in rows] == [row.name for row in velocities(loaded.model)]
    joints = (
        [(limits[row.name], row.unit) for row in rows] if plain and not settings.trust_units else []
    )
    return Tally(reading.log, reading.layout, joints)


def _reduced(
    reading: Reading,
    equations: Equations,
    tally: Tally,
    last: deque[Samples],
    settings: Settings,
    progress: Progress,
) -> tuple[Factors, Factors | None]:
    """The factors of the rows for the estimate and of those held out. Raises LogError."""
    blocks = _blocks(reading, tally, last, progress)
    found = run(equations, blocks, reading.plan.interval, settings)
    trained = whole(islice(found, len(reading.plan.training)))
    held_out = whole(found)
    if trained is None:
        raise LogError(shown(reading.log.file), "has no rows for the estimate")
    return trained, held_out


def _blocks(
    reading: Reading, tally: Tally, last: deque[Samples], progress: Progress
) -> Iterator[Samples]:
    """The samples of each block, checked; every row is looked at once, for the rows of blocks
    overlap."""
    columns, ranges, seen = (
        reading.layout.columns,
        [*reading.plan.training, *reading.plan.validation],
        0,
    )
    for start, rows in pieces(reading.log, columns, ranges):
        new = max(seen - start, 0)
        check_numbers(reading.log, columns, start, rows)
        check_quaternions(reading.log, columns, reading.quaternions, start, rows)
        check_time(reading.log, start, rows[:, 0], reading.even)
        tally.add(rows[max(new - 2, 0) :])
        seen = start + len(rows)
        progress(f"row {seen} of {reading.log.rows}")
        last.append(reading.samples(rows))
        yield last[-1]
