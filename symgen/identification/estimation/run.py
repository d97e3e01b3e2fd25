"""Identification from beginning to end: a robot, a log and settings in, an estimate out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from symgen.identification.data.dataset import LogDataset
from symgen.identification.data.log_file import LogError
from symgen.identification.data.open_log import LogSource, resolve_logs
from symgen.identification.data.samples import Samples
from symgen.identification.diagnostics.cutoffs import open_with_best_cutoff
from symgen.identification.diagnostics.diagnose import with_diagnosis
from symgen.identification.estimation.iterative import IterativeEstimator
from symgen.identification.estimation.log_groups import CommonSetup, EliminatedColumns, LogFit
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
    open_workers,
    unlike,
)
from symgen.identification.estimation.weighted_solve import TriangularSystem
from symgen.identification.model.drive_columns import MotionRanges
from symgen.identification.model.equations import Equations
from symgen.identification.model.estimate import Estimate, with_prior
from symgen.identification.model.problem import Problem, problem_for
from symgen.identification.model.settings import Settings
from symgen.identification.prediction.prediction_errors import Prediction
from symgen.jobs.job import Job
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.scalar import Numbers
from symgen.reading.assemble import LoadedRobot
from symgen.text import shown, use_prior

Progress = Callable[[str], None]
LOGS_FOR_CUTOFF: Final = 4
"""How many of several logs determine the cut-off of derivatives of all of them: it is the largest
that one of these logs needs."""


@dataclass(frozen=True)
class Identified:
    """An estimate with what a report tells beside it.

    `last_blocks` are the last blocks of the log, of which pictures are made.
    """

    estimate: Estimate
    settings: Settings
    dataset: LogDataset
    equations: Equations
    system: TriangularSystem
    last_blocks: tuple[Samples, ...]
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
        return sum(fit.rows for fit in self.logs) or self.dataset.log.rows

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
    those with links) that carry an unknown payload; `workers` reduce several logs (`open_workers`);
    `robots` has the name of the robot that each log is of, if there are several of one type. Raises
    SymgenError: LogError for what is wrong with a log."""
    progress("preparing regressors")
    problem = problem_for(job, loaded, settings)
    problem = replace(problem, mapping=with_prior(problem.mapping, settings.prior))
    return solved(job, loaded, problem, log, settings, progress, loaded_bodies, workers, robots)


def solved(
    job: Job,
    loaded: LoadedRobot,
    problem: Problem,
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
    read = open_with_best_cutoff(logs[0], problem, loaded, settings, settings.held_out)
    if len(logs) == 1:
        _check_length(read, problem)
        read = with_diagnosis(read, problem, job, settings.full, loaded_bodies)
        source = LogReducer(read, settings, progress)
        ranges = source.ranges(problem.joints) if problem.joints else None
        return _fitted(loaded, problem, settings, read, source, ranges)[0]
    others = (
        open_with_best_cutoff(x, problem, loaded, settings, settings.held_out)
        for x in ([] if settings.cutoff else logs[1:LOGS_FOR_CUTOFF])
    )
    filters = [x.derivative_filter for x in (read, *others) if x.derivative_filter]
    cutoff = max((x.cutoff for x in filters), default=settings.cutoff)
    same = replace(settings, cutoff=cutoff)
    if read.derivative_filter and read.derivative_filter.cutoff != cutoff:
        read = open_with_best_cutoff(logs[0], problem, loaded, same, settings.held_out)
    setup = CommonSetup(job, loaded, problem, same, loaded_bodies, len(logs))
    with open_workers(workers) as used:
        together = LogsReducer.of(setup, logs, used, progress, robots)
        read = replace(read, warnings=together.warnings)
        count, ranges = len({*robots}), together.ranges
        found, own = _fitted(loaded, problem, settings, read, together, ranges, count)
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
    problem: Problem,
    settings: Settings,
    read: LogDataset,
    source: LogReducer | LogsReducer,
    ranges: MotionRanges | None,
    robots: int = 1,
) -> tuple[Identified, Mapping[str, EliminatedColumns]]:
    """The estimate from what `source` reduces, and what each of several robots has of its own;
    `read` is the log, or the first of several."""
    prior = prior_of(problem, settings)
    estimator = IterativeEstimator(problem, settings, source.reduced, ranges, prior, robots)
    try:
        fit = estimator.fitted()
    except np.linalg.LinAlgError:
        text = "some parameters are not identifiable from the training rows"
        cure = "use a log in which all joints move (symgen excite optimizes a motion)"
        if advice := use_prior(settings.full):
            cure = f"{cure}, or {advice}"
        raise ExcitationError(f"{shown(read.log.file)}: error: {text}; {cure}") from None
    estimated, notes = estimate(problem, fit, read.log.file, settings)
    source.progress("estimating the bias of the filter")
    bias = window_bias(read, fit, source.equations_per_mean(fit.equations))
    estimated = with_bias(estimated, bias, problem, settings)
    names = estimator.left_out
    model = [*_model_notes(loaded.model if problem.joints else None, names, fit.prior_deviation)]
    texts = [*model, *notes, *_bias_notes(estimated)]
    notes = (*read.notes, *(f"{shown(read.log.file)}: note: {text}" for text in texts))
    last_blocks = tuple(source.last_blocks)
    found = Identified(estimated, settings, read, fit.equations, fit.system, last_blocks, notes)
    return found, fit.robot_columns


def _model_notes(
    model: RigidBodyModel | None, left_out: Sequence[str], deviation: float | None
) -> Iterator[str]:
    """What the model contains otherwise than asked for: unknowns that are `left_out`, joints of a
    `model` with friction that have none because closed loops determine them, and the relative
    deviation of the prior if it was selected."""
    if left_out:
        listed = ", ".join(map(shown, left_out))
        text = "cannot be distinguished from other parameters by any motion and are left out"
        yield f"{listed} {text}"
    loops = model.closures if model else ()
    dependent = [model.body(i).joint.name for c in loops for i in c.dependent] if model else []
    if dependent:
        text = "have no friction in this model because closed loops determine these joints"
        yield f"{', '.join(map(shown, dependent))} {text}"
    if deviation is not None:
        text = "parameters that the log determines poorly stay near those of the robot file"
        reason = f"(relative deviation {deviation:.2g}); use --prior-deviation to change this"
        yield f"{text} {reason}"


def _bias_notes(estimated: Estimate) -> Iterator[str]:
    """A note if windows of derivatives do more to some values than noise does."""
    bias = np.zeros(len(estimated.values)) if estimated.bias is None else estimated.bias
    ratios = np.abs(bias) / estimated.random_errors
    if count := int(np.sum(ratios > 1)):
        worst = shown(estimated.names[int(np.argmax(ratios))])
        yield (
            f"the bias of the filter of derivatives is larger than the noise for {count} of "
            f"{len(bias)} parameters (up to {ratios.max():.2g} times, for {worst}); the standard "
            "errors include it; a higher --cutoff reduces it"
        )


def _check_length(dataset: LogDataset, problem: Problem) -> None:
    plan, log = dataset.plan, dataset.log
    usable = sum(b - a - 2 * plan.half_width for a, b in plan.training)
    drives = len(problem.joints.names) * len(problem.laws) if problem.joints else 0
    wanted = len(problem.mapping.names) + drives + 1
    if usable < wanted:
        lost = (
            f" ({2 * plan.half_width} rows are needed for derivatives)" if plan.half_width else ""
        )
        raise LogError(
            shown(log.file),
            f"the log has too few rows ({log.rows}): {usable} rows are left for the "
            f"estimate{lost}, and {wanted - 1} parameters need at least {wanted}",
        )
