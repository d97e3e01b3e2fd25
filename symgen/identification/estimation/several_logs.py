"""Several logs of one robot, or of several robots of one type: one estimate, with an offset of each
log and, of several robots, friction of each.

Each log is read and reduced to triangular factors by itself, in groups of consecutive logs that
depend on nothing but their number. So the result has the same bits whoever reduces the groups, in
whatever order: this process (`ThisProcess`), or the workers of Dask's distributed scheduler, which
read the files themselves and return factors only. A group whose worker is lost is reduced again by
another one."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, Final, Protocol

import numpy as np

from symgen.errors import OptionError, SymgenError
from symgen.identification.data.open_log import LogSource
from symgen.identification.data.samples import Samples
from symgen.identification.estimation.iterative import FactoredEquations
from symgen.identification.estimation.log_groups import (
    CommonSetup,
    EliminatedColumns,
    LogFit,
    OpenedLog,
    ReducedGroup,
    compared_group,
    friction_columns,
    means,
    opened_logs,
    reduced_group,
    reducer,
)
from symgen.identification.estimation.log_reducer import LogReducer, Progress
from symgen.identification.estimation.triangular_factors import (
    TriangularFactors,
    combined,
    triangle,
)
from symgen.identification.estimation.weighted_solve import TriangularSystem, inflation
from symgen.identification.model.drive_columns import DriveUnknowns, MotionRanges
from symgen.identification.model.equations import Equations
from symgen.identification.model.estimate import Channel, Estimate, Solution
from symgen.numbers.scalar import Numbers
from symgen.text import install, shown


class Workers(Protocol):
    """Computes a function of several arguments and yields the results in their order."""

    def map(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[Any]: ...


class ThisProcess:
    """No workers."""

    def map(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[Any]:
        """The results one after the other."""
        return map(function, arguments)


@dataclass(frozen=True)
class DaskWorkers:
    """The workers of a scheduler of Dask's."""

    client: Any

    def map(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> Iterator[Any]:
        """The results in order. A task whose worker is lost is computed again by another one."""
        futures = self.client.map(function, arguments, pure=False)
        while futures:
            future = futures.pop(0)
            yield future.result()
            future.release()


@contextmanager
def open_workers(workers: str) -> Iterator[Workers]:
    """This process if nothing is given, a number of processes of this machine, or the workers of
    the scheduler at an address (tcp://HOST:PORT). Raises SymgenError."""
    if not workers:
        yield ThisProcess()
        return
    if not workers.isdecimal() and "://" not in workers:
        raise OptionError(
            f"--workers {workers}: give a number of processes, or the address of a Dask scheduler "
            "such as tcp://localhost:8786"
        )
    try:
        import distributed
    except ImportError:
        raise SymgenError(
            "error: --workers needs Dask's distributed scheduler; install it: "
            + install("distributed")
        ) from None
    try:
        if workers.isdecimal():
            local = {"n_workers": int(workers), "threads_per_worker": 1, "dashboard_address": ":0"}
            client = distributed.Client(distributed.LocalCluster(**local))
        else:
            client = distributed.Client(workers, timeout="10s")
    except (OSError, ValueError) as error:
        raise SymgenError(f"error: --workers {workers}: {error}") from None
    with client:
        yield DaskWorkers(client)
        if workers.isdecimal():
            client.cluster.close()


GROUPS: Final = 32
"""Groups of consecutive logs at most."""
MAX_WARNINGS: Final = 20
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
    rest = f"note: {len(names) - MAX_WARNINGS} more logs differ from the others"
    texts = tuple(f"{name}: warning: {times}; {cure}" for name in names[:MAX_WARNINGS])
    return texts + (rest,) * (len(names) > MAX_WARNINGS)


@dataclass
class LogsReducer:
    """Reduces several logs, pass by pass, as `LogReducer` does one. `robots` are the names of the
    robots that the logs are of, the logs of each robot consecutive; those of one robot are ""."""

    setup: CommonSetup
    logs: tuple[OpenedLog, ...]
    workers: Workers
    progress: Progress
    robots: tuple[str, ...]
    passes: int = 0
    offsets: tuple[EliminatedColumns, ...] = ()
    """Those of the logs, by the last pass."""
    friction: Mapping[str, EliminatedColumns] = field(default_factory=dict)
    """That of the robots, by the last pass."""

    @classmethod
    def of(
        cls,
        setup: CommonSetup,
        logs: Sequence[LogSource],
        workers: Workers,
        progress: Progress,
        robots: Sequence[str],
    ) -> "LogsReducer":
        """Opens every log, with a diagnosis of the first one of each group. Raises LogError."""
        opened = list[OpenedLog]()
        for of_group in workers.map(opened_logs, [(setup, logs[g]) for g in groups(robots)]):
            opened += of_group
            progress(f"looking at the logs: log {len(opened)} of {len(logs)}")
        return cls(setup, tuple(opened), workers, progress, tuple(robots))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is suspected of the logs, a sentence each; of many the first ones."""
        found = [doubt for opened in self.logs for doubt in opened.dataset.warnings]
        rest = f"note: {len(found) - MAX_WARNINGS} more warnings about the logs are not shown"
        return tuple(found[:MAX_WARNINGS]) + (rest,) * (len(found) > MAX_WARNINGS)

    @property
    def first(self) -> LogReducer:
        """The reducer of the first log."""
        return reducer(self.setup, self.logs[0])

    @property
    def last_blocks(self) -> Iterable[Samples]:
        """The samples at the end of the first log, for pictures."""
        first = self.first
        for _ in first.blocks("reading the first log"):
            pass
        return first.last_blocks

    def equations_per_mean(self, equations: Equations) -> int:
        """The number of consecutive equations of which the fit takes the mean, by the first log."""
        return self.first.equations_per_mean(equations)

    def reduced(
        self, equations: Equations, held_out_equations: Equations, stage: str
    ) -> FactoredEquations:
        """The factors of all logs, each with its own offset, and with friction of each robot once
        the shape parameters of the laws are selected. Raises LogError."""
        used = {name: self._of_robot(name, equations) for name in self.robots}
        tasks = [
            (self.setup, self.logs[g], used[self.robots[g.start]], held_out_equations, before)
            for g in groups(self.robots)
            for before in [self.offsets[g]]
        ]
        done = list(self._told(self.workers.map(reduced_group, tasks), stage))
        self.offsets = tuple(own for group in done for own in group.offsets)
        names = [self.robots[g.start] for g in groups(self.robots)]
        result = joined(done, names, held_out_equations, len(self.setup.problem.mapping))
        self.friction = result.robot_columns
        return result

    def _of_robot(self, name: str, equations: Equations) -> Equations:
        """The equations; robust ones limit residuals about a robot's own friction."""
        limits = equations.limits
        if limits is None or name not in self.friction:
            return equations
        values = self.friction[name].values(equations.drives, limits.values)
        return replace(equations, limits=replace(limits, values=values))

    def _told(self, results: Iterable[Any], stage: str) -> Iterator[Any]:
        """The results of the groups, with progress."""
        self.passes += 1
        for group, result in zip(groups(self.robots), results, strict=True):
            done = min(group.stop, len(self.logs))
            text = f"log {done} of {len(self.logs)}"
            self.progress(f"pass {self.passes} over the logs, {stage}: {text}")
            yield result

    @property
    def ranges(self) -> MotionRanges | None:
        """How fast and how far the joints move, in all logs."""
        found = [opened.ranges for opened in self.logs if opened.ranges is not None]
        if not found:
            return None
        fastest, travel, slowest = (
            np.max([getattr(ranges, name) for ranges in found], axis=0)
            for name in ("fastest", "travel", "slowest")
        )
        return MotionRanges(fastest, travel, slowest, max(ranges.margin for ranges in found))

    def compared(self, equations: Equations, values: Mapping[str, Numbers]) -> tuple[LogFit, ...]:
        """How each log compares with an estimate, whose `values` are those of each robot."""
        tasks = [
            (self.setup, self.logs[g], equations, values[self.robots[g.start]])
            for g in groups(self.robots)
        ]
        done = self._told(self.workers.map(compared_group, tasks), "comparing the logs")
        fits = [fit for group in done for fit in group]
        return tuple(replace(x, robot=name) for x, name in zip(fits, self.robots, strict=True))


def groups(robots: Sequence[str]) -> list[slice]:
    """Groups of consecutive logs of one robot; `robots` has the robot of each log."""
    size, start, found = -(-len(robots) // GROUPS), 0, list[slice]()
    for _, logs in groupby(robots):
        stop = start + len([*logs])
        found += [slice(a, min(a + size, stop)) for a in range(start, stop, size)]
        start = stop
    return found


def joined(
    done: Sequence[ReducedGroup], robots: Sequence[str], equations: Equations, first: int
) -> FactoredEquations:
    """The factors of all groups, without what each robot has of its own; `robots` has the robot of
    each group, `first` is the number of base parameters."""
    supports, drives = equations.supports, equations.drives
    kept = drives.columns if drives else ()
    columns = friction_columns(drives, first) if any(robots) else {}
    own, offsets = dict[str, EliminatedColumns](), list[EliminatedColumns]()
    own_of_rows, offsets_of_rows = list[EliminatedColumns](), list[EliminatedColumns]()
    training, rows, held_out = list[TriangularFactors](), [], []
    for name in dict.fromkeys(robots):
        members = [group for group, robot in zip(done, robots, strict=True) if robot == name]
        total = combined(batch for group in members for batch in group.training)
        of_rows = combined(group.rows for group in members if group.rows is not None)
        assert total is not None and of_rows is not None
        size = first + len(kept)
        friction = EliminatedColumns.of(total, supports, columns, kept, size)
        in_rows = EliminatedColumns.of(of_rows, supports, columns, kept, size)
        own[name], own_of_rows = friction, [*own_of_rows, in_rows]
        for group in members:
            training += [friction.without(batch, supports) for batch in group.training]
            offsets += [log.given(friction) for log in group.offsets]
            offsets_of_rows += [log.given(in_rows) for log in group.of_rows]
        rows.append(in_rows.without(of_rows, supports))
        left = combined(group.held_out for group in members if group.held_out is not None)
        held_out += [] if left is None else [friction.without(left, supports)]
    mean = means(offsets, supports).combined(means(own.values(), supports))
    mean_of_rows = means(offsets_of_rows, supports).combined(means(own_of_rows, supports))
    found = combined([*rows, mean_of_rows])
    return FactoredEquations(
        tuple(training), found, combined(held_out), mean, own if columns else {}
    )


# -- each robot ------------------------------------------------------------------------------------


def friction_ratios(
    common: Estimate, drives: DriveUnknowns | None, own: EliminatedColumns
) -> Numbers:
    """The friction of a robot at each channel (c) by the mean of all robots, by least squares over
    its motion; NaN where there is none."""
    narrow, values = own.only(drives.columns if drives else ()), own.values(drives, common.values)
    ratios = np.full(len(common.channels), np.nan)
    for channel, columns in narrow.columns.items():
        mean = narrow.products[channel] @ common.values[[*columns]]
        if size := float(mean @ common.values[[*columns]]):
            ratios[channel] = mean @ values[[*columns]] / size
    return ratios


def of_robot(
    common: Estimate,
    drives: DriveUnknowns | None,
    own: EliminatedColumns,
    system: TriangularSystem,
    logs: Sequence[LogFit],
) -> Estimate:
    """The estimate of a robot from that of all robots, whose friction is the mean. `logs` are those
    of the robot, and its offsets are their mean. Standard errors contain those of the bodies; the
    variance of own residuals is raised by that of correlated ones (`inflation`)."""
    rows = np.array([log.rows for log in logs])
    residual, measured = (
        np.sqrt(rows @ np.square([getattr(log, name) for log in logs]) / rows.sum()).tolist()
        for name in ("residual", "measured")
    )
    channels = tuple(
        Channel(c.name, c.unit, int(rows.sum()), c.deviation, whole, left)
        for c, whole, left in zip(common.channels, measured, residual, strict=True)
    )
    deviations = tuple(channel.deviation for channel in common.channels)
    spread = inflation(system, Solution(common.values, common.factor, deviations))
    variances = {j: spread * deviation**2 for j, deviation in enumerate(deviations)}
    covariance = own.only(drives.columns if drives else ()).covariance(common.covariance, variances)
    values = own.values(drives, common.values)
    if drives is not None:
        first, offsets = len(common.mapping), np.array([log.offsets for log in logs])
        for k, column in enumerate(drives.columns, first):
            channel = int(np.argmax(np.abs(drives.joints.rates[column.joint])))
            if column.law == "offset":
                values[k] = rows @ offsets[:, channel] / rows.sum()
    return replace(
        common,
        values=values,
        factor=triangle(np.linalg.inv(np.linalg.cholesky(covariance))),
        channels=channels,
        robust=None,
        bias=None,
        shape_errors=None,
    )
