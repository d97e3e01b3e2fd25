"""Identification from beginning to end: a robot, a log and settings in, an estimate out."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.engines import run
from symgen.identification.equations import Equations
from symgen.identification.estimate import Estimate
from symgen.identification.estimation import estimate
from symgen.identification.logs import LogError
from symgen.identification.methods import Problem, problem
from symgen.identification.prior import with_prior
from symgen.identification.recording import Reading, Wish, reading
from symgen.identification.reduction import Factors, whole
from symgen.identification.samples import Samples
from symgen.identification.settings import Settings
from symgen.jobs.job import Job
from symgen.reading.assemble import Loaded
from symgen.text import shown

Numbers = NDArray[np.float64]
Progress = Callable[[str], None]

SHOWN: Final = 5
"""Blocks at the end of a log that are kept for pictures."""


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
    progress("preparing regressors")
    sought = problem(job, loaded, settings)
    sought = replace(sought, mapping=with_prior(sought.mapping, settings.prior))
    progress("looking at the log")
    wish = Wish(settings.interval * sought.intervals, settings.held_out)
    read = reading(log, sought.wanted, loaded.model, settings, wish)
    _check_length(read, sought)
    equations = sought.equations(read.plan.interval)
    last: deque[Samples] = deque(maxlen=SHOWN)
    trained, held_out = _reduced(read, equations, last, settings, progress)
    found, notes = estimate(sought, equations, trained, held_out, read.log, settings)
    return Identified(found, settings, read, equations, tuple(last), (*read.notes, *notes))


def _check_length(reading: Reading, sought: Problem) -> None:
    plan, log = reading.plan, reading.log
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


def _reduced(
    reading: Reading,
    equations: Equations,
    last: deque[Samples],
    settings: Settings,
    progress: Progress,
) -> tuple[Factors, Factors | None]:
    """The factors of the rows for the estimate and of those held out. Raises LogError."""
    found = run(equations, _kept(reading.blocks(progress), last), reading.plan.interval, settings)
    trained = whole(islice(found, len(reading.plan.training)))
    held_out = whole(found)
    if trained is None:
        raise LogError(shown(reading.log.file), "has no rows for the estimate")
    return trained, held_out


def _kept(blocks: Iterator[Samples], last: deque[Samples]) -> Iterator[Samples]:
    """The blocks, of which the last ones are kept."""
    for samples in blocks:
        last.append(samples)
        yield samples
