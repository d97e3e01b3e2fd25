"""Identification from beginning to end: a robot, a log and settings in, an estimate out."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from symgen.advice import use_prior
from symgen.identification.data.dataset import LogDataset
from symgen.identification.data.log_file import LogError
from symgen.identification.data.open_log import LogSource, resolve_logs
from symgen.identification.data.samples import Samples
from symgen.identification.diagnostics.cutoffs import open_with_best_cutoff
from symgen.identification.diagnostics.diagnose import with_diagnosis
from symgen.identification.estimation.iterative import IterativeEstimator
from symgen.identification.estimation.log_groups import Fleet, LogFit, OwnColumns
from symgen.identification.estimation.log_reducer import LogReducer
from symgen.identification.estimation.result import (
    ExcitationError,
    estimate,
    prior_of,
    window_bias,
    with_bias,
)
from symgen.identification.estimation.several_logs import (
    LogsReducer,
    friction_ratios,
    of_robot,
    unlike,
)
from symgen.identification.estimation.weighted_solve import TriangularSystem
from symgen.identification.estimation.workers import engine
from symgen.identification.model.drive_columns import Rates
from symgen.identification.model.equations import Equations
from symgen.identification.model.estimate import Estimate
from symgen.identification.model.prior_file import with_prior
from symgen.identification.model.problem import Problem, problem
from symgen.identification.model.settings import Settings
from symgen.identification.prediction.prediction_errors import Prediction
from symgen.jobs.job import Job
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.types import Numbers
from symgen.reading.assemble import LoadedRobot
from symgen.text import shown

Progress = Callable[[str], None]
SEEN: Final = 4
"""How many of several logs determine the cut-off of derivatives of all of them: it is the largest
that one of these logs needs."""


@dataclass(frozen=True)
class Identified:
    """An estimate with what a report tells beside it.

    `last` are the last blocks of the log, of which pictures are made.
    """

    estimate: Estimate
    settings: Settings
    reading: LogDataset
    equations: Equations
    system: TriangularSystem
    last: tuple[Samples, ...]
    notes: tuple[str, ...] = field(default=())
    prediction: Prediction | None = None
    """Of another log, where one is given for validation."""
    logs: tuple[LogFit, ...] = ()
    """How each of several logs compares with the estimate."""
    robots: "Mapping[str, Identified]" = field(default_factory=dict)
    """Each of several robots of one type: the estimate with its own friction, and its logs."""
    friction_ratios: Numbers = field(default_factory=lambda: np.zeros(0))
    """The friction of one of them at each channel (c) by the mean of all."""

    @property
    def rows(self) -> int:
        """The rows of all logs."""
        return sum(fit.rows for fit in self.logs) or self.reading.log.rows

    @property
    def held_out(self) -> int:
        """How many equations a channel has for validation."""
        return self.estimate.channels[0].validation_rows


def identify(
    job: Job,
    loaded: LoadedRobot,
    log: LogSource | Sequence[LogSource],
    settings: Settings,
    progress: Progress = lambda step: None,
    loaded_bodies: tuple[int, ...] = (),
    workers: str = "",
    robots: Sequence[str] = (),
) -> Identified:
    """Identify a robot from a log or several; `loaded_bodies` are the numbers of bodies (among
    those with links) that carry an unknown payload; `workers` reduce several logs (`engine`);
    `robots` has the name of the robot that each log is of, if there are several of one type. Raises
    SymgenError: LogError for what is wrong with a log."""
    progress("preparing regressors")
    sought = problem(job, loaded, settings)
    sought = replace(sought, mapping=with_prior(sought.mapping, settings.prior))
    return solved(job, loaded, sought, log, settings, progress, loaded_bodies, workers, robots)


def solved(
    job: Job,
    loaded: LoadedRobot,
    sought: Problem,
    log: LogSource | Sequence[LogSource],
    settings: Settings,
    progress: Progress = lambda step: None,
    loaded_bodies: tuple[int, ...] = (),
    workers: str = "",
    robots: Sequence[str] = (),
) -> Identified:
    """The same of a problem whose regressors are made."""
    progress("reading the log")
    logs, robots = resolve_logs(log, robots)
    read = open_with_best_cutoff(logs[0], sought, loaded, settings, settings.held_out)
    if len(logs) == 1:
        _check_length(read, sought)
        read = with_diagnosis(read, sought, job, settings.full, loaded_bodies)
        source = LogReducer(read, settings, progress)
        rates = source.rates(sought.joints) if sought.joints else None
        return _fitted(loaded, sought, settings, read, source, rates)[0]
    some = [read, *(tuned(x, sought, loaded, settings, settings.held_out) for x in logs[1:SEEN])]
    cutoff = max(
        (x.derivative_filter.cutoff for x in some if x.derivative_filter), default=settings.cutoff
    )
    same = replace(settings, cutoff=cutoff)
    if read.derivative_filter and read.derivative_filter.cutoff != cutoff:
        read = tuned(logs[0], sought, loaded, same, settings.held_out)
    fleet = Fleet(job, loaded, sought, same, loaded_bodies, len(logs))
    with engine(workers) as used:
        together = LogsReducer.of(fleet, logs, used, progress, robots)
        read = replace(read, warnings=together.warnings)
        count, rates = len({*robots}), together.rates
        found, own = _fitted(loaded, sought, settings, read, together, rates, count)
        drives, values = found.equations.drives, found.estimate.values
        each = {name: own[name].values(drives, values) if own else values for name in robots}
        fits = together.compared(found.equations, each)
    each_robot = dict[str, Identified]()
    for name, friction in own.items():
        logs_of_it = tuple(fit for fit in fits if fit.robot == name)
        each_robot[name] = replace(
            found,
            estimate=of_robot(found.estimate, drives, friction, found.system, logs_of_it),
            logs=logs_of_it,
            notes=(),
            friction_ratios=friction_ratios(found.estimate, drives, friction),
        )
    notes = (*unlike(fits), *found.notes)
    return replace(found, logs=fits, robots=each_robot, notes=notes)


def _fitted(
    loaded: LoadedRobot,
    sought: Problem,
    settings: Settings,
    read: LogDataset,
    source: LogReducer | LogsReducer,
    rates: Rates | None,
    robots: int = 1,
) -> tuple[Identified, Mapping[str, OwnColumns]]:
    """The estimate from what `source` reduces, and what each of several robots has of its own;
    `read` is the log, or the first of several."""
    prior = prior_of(sought, settings)
    estimator = IterativeEstimator(sought, settings, source.reduced, rates, prior, robots)
    try:
        fit = estimator.fitted()
    except np.linalg.LinAlgError:
        text = "some parameters are not identifiable from the training rows"
        cure = "use a log in which all joints move (symgen excite optimizes a motion)"
        if advice := use_prior(settings.full):
            cure = f"{cure}, or {advice}"
        raise ExcitationError(f"{shown(read.log.file)}: error: {text}; {cure}") from None
    estimated, notes = estimate(sought, fit, read.log.file, settings)
    source.progress("estimating the bias of the filter")
    bias = window_bias(read, fit, source.mean(fit.equations))
    estimated = with_bias(estimated, bias, sought, settings)
    file = read.log.file
    notes = (*_with_prior(fit.deviation, file), *notes, *_biased(estimated, file))
    without = _without_friction(loaded.model, file) if sought.joints else ()
    notes = (*read.notes, *_left_out(estimator.left_out, file), *without, *notes)
    last = tuple(source.last)
    found = Identified(estimated, settings, read, fit.equations, fit.system, last, notes)
    return found, fit.own


def _left_out(names: tuple[str, ...], log: str) -> tuple[str, ...]:
    """A note of unknowns that are no unknowns of their own."""
    if not names:
        return ()
    listed = ", ".join(shown(name) for name in names)
    text = "cannot be distinguished from other parameters by any motion and are left out"
    return (f"{shown(log)}: note: {listed} {text}",)


def _without_friction(model: RigidBodyModel, log: str) -> tuple[str, ...]:
    """A note of joints whose friction is no unknown because closed loops determine them."""
    bodies = [model.body(i).joint.name for c in model.closures for i in c.dependent]
    if not bodies:
        return ()
    text = "have no friction in this model because closed loops determine these joints"
    return (f"{shown(log)}: note: {', '.join(map(shown, bodies))} {text}",)


def _with_prior(deviation: float | None, log: str) -> tuple[str, ...]:
    """A note on the weight of the prior, if it was selected."""
    if deviation is None:
        return ()
    text = "parameters that the log determines poorly stay near those of the robot file"
    reason = f"(relative deviation {deviation:.2g}); use --prior-deviation to change this"
    return (f"{shown(log)}: note: {text} {reason}",)


def _biased(estimated: Estimate, log: str) -> tuple[str, ...]:
    """A note where windows of derivatives do more to some values than noise does."""
    bias = np.zeros(len(estimated.values)) if estimated.bias is None else estimated.bias
    times = np.abs(bias) / estimated.random_errors
    count = int(np.sum(times > 1))
    if not count:
        return ()
    text = (
        f"the bias of the filter of derivatives is larger than the noise for {count} of "
        f"{len(bias)} parameters"
    )
    worst = shown(estimated.names[int(np.argmax(times))])
    most = f"(up to {times.max():.2g} times, for {worst})"
    cure = "the standard errors include it; a higher --cutoff reduces it"
    return (f"{shown(log)}: note: {text} {most}; {cure}",)


def _check_length(reading: LogDataset, sought: Problem) -> None:
    plan, log = reading.plan, reading.log
    usable = sum(b - a - 2 * plan.half_width for a, b in plan.training)
    drives = len(sought.joints.names) * len(sought.laws) if sought.joints else 0
    wanted = len(sought.mapping.names) + drives + 1
    if usable < wanted:
        lost = (
            f" ({2 * plan.half_width} rows are needed for derivatives)" if plan.half_width else ""
        )
        raise LogError(
            shown(log.file),
            f"the log has too few rows ({log.rows}): {usable} rows are left for the "
            f"estimate{lost}, and {wanted - 1} parameters need at least {wanted}",
        )
