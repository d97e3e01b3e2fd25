"""Several logs of one robot: one estimate, with an offset of each log.

Each log is read and reduced to triangular factors by itself, in groups of consecutive logs that
depend on nothing but their number. So the result has the same bits whoever reduces the groups, in
whatever order: this process, or the workers of Dask's distributed scheduler, which read the files
themselves and return factors only. A group whose worker is lost is reduced again by another one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from symgen.identification.data.open_log import LogSource
from symgen.identification.data.samples import Samples
from symgen.identification.estimation.iterative import FactoredEquations
from symgen.identification.estimation.log_groups import (
    FirstLook,
    Fleet,
    LogFit,
    compared_group,
    first_looks,
    reduced_group,
    reducer,
)
from symgen.identification.estimation.log_offsets import LogOffsets, mean_offsets
from symgen.identification.estimation.log_reducer import LogReducer, Progress
from symgen.identification.estimation.triangular_factors import combined
from symgen.identification.estimation.workers import Workers
from symgen.identification.model.drive_columns import Rates
from symgen.identification.model.equations import Equations
from symgen.numbers.types import Numbers
from symgen.text import shown

GROUPS: Final = 32
"""Groups of consecutive logs at most."""
DOUBTS: Final = 20
"""Warnings about logs that are shown."""
UNLIKE: Final = 3.0
"""Times the median of all logs, a residual beyond which is reported."""


def unlike(fits: Sequence[LogFit]) -> tuple[str, ...]:
    """A warning for each log that the estimate explains much worse than the others."""
    residuals = np.array([fit.residual for fit in fits])
    usual = np.median(residuals, axis=0)
    far = (residuals > UNLIKE * usual).any(axis=1)
    names = [shown(fit.file) for fit, is_far in zip(fits, far, strict=True) if is_far]
    cure = "identify with this log alone to see what is wrong with it, or leave it out"
    times = f"the residuals of a joint are more than {UNLIKE:g} times those of the other logs"
    rest = f"note: {len(names) - DOUBTS} more logs differ from the others"
    texts = tuple(f"{name}: warning: {times}; {cure}" for name in names[:DOUBTS])
    return texts + (rest,) * (len(names) > DOUBTS)


@dataclass
class LogsReducer:
    """Reduces several logs, pass by pass, as `LogReducer` does one."""

    fleet: Fleet
    looks: tuple[FirstLook, ...]
    workers: Workers
    progress: Progress
    passes: int = 0
    offsets: tuple[LogOffsets, ...] = ()
    """Those of the logs, by the last pass."""

    @classmethod
    def of(
        cls, fleet: Fleet, logs: Sequence[LogSource], workers: Workers, progress: Progress
    ) -> "LogsReducer":
        """After a first look at every log and a diagnosis of the first one of each group. Raises
        LogError."""
        looks, size = list[FirstLook](), -(-len(logs) // GROUPS)
        tasks = [(fleet, logs[k : k + size]) for k in range(0, len(logs), size)]
        for of_group in workers.map(first_looks, tasks):
            looks += of_group
            progress(f"looking at the logs: log {len(looks)} of {len(logs)}")
        return cls(fleet, tuple(looks), workers, progress)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What is suspected of the logs, a sentence each; of many the first ones."""
        found = [doubt for look in self.looks for doubt in look.reading.doubts]
        rest = f"note: {len(found) - DOUBTS} more warnings about the logs are not shown"
        return tuple(found[:DOUBTS]) + (rest,) * (len(found) > DOUBTS)

    @property
    def first(self) -> LogReducer:
        """The reducer of the first log."""
        return reducer(self.fleet, self.looks[0])

    @property
    def last(self) -> Iterable[Samples]:
        """The samples at the end of the first log, for pictures."""
        first = self.first
        for _ in first.blocks("reading the first log"):
            pass
        return first.last

    def mean(self, equations: Equations) -> int:
        """How many equations of the first log make one of the fit."""
        return self.first.mean(equations)

    @property
    def groups(self) -> list[slice]:
        """The logs of each group."""
        size = -(-len(self.looks) // GROUPS)
        return [slice(a, a + size) for a in range(0, len(self.looks), size)]

    def reduced(
        self, equations: Equations, held_out_equations: Equations, stage: str
    ) -> FactoredEquations:
        """The factors of all logs, each with its own offset. Raises LogError."""
        fleet, before, groups = self.fleet, self.offsets, self.groups
        tasks = [(fleet, self.looks[g], equations, held_out_equations, before[g]) for g in groups]
        done = list(self._told(self.workers.map(reduced_group, tasks), stage))
        self.offsets = tuple(own for group in done for own in group.offsets)
        supports = held_out_equations.supports
        mean, of_rows = (
            mean_offsets((own for group in done for own in getattr(group, name)), supports)
            for name in ("offsets", "of_rows")
        )
        rows = combined(group.rows for group in done if group.rows is not None)
        return FactoredEquations(
            tuple(batch for group in done for batch in group.trained),
            None if rows is None else rows.combined(of_rows),
            combined(group.held_out for group in done if group.held_out is not None),
            mean,
        )

    def _told(self, results: Iterable[Any], stage: str) -> Iterator[Any]:
        """The results of the groups, with progress."""
        self.passes += 1
        for group, result in zip(self.groups, results, strict=True):
            done = min(group.stop, len(self.looks))
            text = f"log {done} of {len(self.looks)}"
            self.progress(f"pass {self.passes} over the logs, {stage}: {text}")
            yield result

    @property
    def rates(self) -> Rates | None:
        """How fast and how far the joints move, in all logs."""
        found = [look.rates for look in self.looks if look.rates is not None]
        if not found:
            return None
        fastest, travel, slowest = (
            np.max([getattr(rates, name) for rates in found], axis=0)
            for name in ("fastest", "travel", "slowest")
        )
        return Rates(fastest, travel, slowest, max(rates.margin for rates in found))

    def compared(self, equations: Equations, values: Numbers) -> tuple[LogFit, ...]:
        """How each log compares with an estimate."""
        tasks = [(self.fleet, self.looks[g], equations, values) for g in self.groups]
        done = self._told(self.workers.map(compared_group, tasks), "comparing the logs")
        return tuple(fit for group in done for fit in group)
