"""Identification from beginning to end: a robot, a log and settings in, an estimate out."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Final

import numpy as np

from symgen.advice import use_prior
from symgen.identification.data.dataset import Reading, ReadOptions
from symgen.identification.data.log_file import LogError
from symgen.identification.data.log_options import AUTO
from symgen.identification.data.open_log import LogSource
from symgen.identification.data.presliding import PreslidingStates
from symgen.identification.data.samples import Samples
from symgen.identification.diagnostics.cutoffs import tuned
from symgen.identification.diagnostics.delays import Delays, delays, note_of_delays
from symgen.identification.diagnostics.diagnose import diagnosed
from symgen.identification.estimation.block_reduction import block_factors
from symgen.identification.estimation.iterative import FactoredEquations, IterativeEstimator
from symgen.identification.estimation.result import (
    ExcitationError,
    estimate,
    prior_of,
    with_bias,
)
from symgen.identification.estimation.triangular_factors import combined, gathered
from symgen.identification.estimation.weighted_solve import TriangularSystem
from symgen.identification.estimation.window_bias import window_bias
from symgen.identification.model.drive_columns import Joints
from symgen.identification.model.equations import Equations
from symgen.identification.model.estimate import Estimate
from symgen.identification.model.prior_file import with_prior
from symgen.identification.model.problem import Problem, problem
from symgen.identification.model.settings import Settings
from symgen.identification.model.velocity_survey import Rates, surveyed
from symgen.identification.prediction.prediction_errors import Prediction
from symgen.jobs.job import Job
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.types import Numbers
from symgen.reading.assemble import LoadedRobot
from symgen.text import shown

Progress = Callable[[str], None]

BATCHES: Final = 32
"""Parts of a log whose factors are kept, for robust standard errors and cross-validation."""
ENOUGH: Final = 2
"""Equations of each channel an unknown that are left at least where their means are fitted."""
MAX_KEPT_ENTRIES: Final = 1 << 24
"""Numbers of samples that stay in memory between passes (128 MB)."""
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
    system: TriangularSystem
    last: tuple[Samples, ...]
    notes: tuple[str, ...] = field(default=())
    prediction: Prediction | None = None
    """Of another log, where one is given for validation."""
    delays: Delays | None = None
    """Those of forces, where they were unknown."""

    @property
    def series(self) -> tuple[Numbers, Numbers, Numbers]:
        """Time (N), measured and predicted values (N x c) at the end of the log, by straight lines
        where a measurement is missing."""
        rows = [self.equations.equations(replace(s, measured=s.bridged)) for s in self.last]
        t = np.concatenate([samples.t for samples in self.last])
        predicted = np.concatenate([linear.regressor @ self.estimate.values for linear in rows])
        return t, np.concatenate([linear.measured for linear in rows]), predicted

    @property
    def held_out(self) -> int:
        """How many equations a channel has for validation."""
        return self.estimate.channels[0].validation_rows


def identify(
    job: Job,
    loaded: LoadedRobot,
    log: LogSource,
    settings: Settings,
    progress: Progress = lambda step: None,
    loaded_bodies: tuple[int, ...] = (),
) -> Identified:
    """Identify a robot from a log; `loaded_bodies` are the numbers of bodies (among those with
    links) that carry an unknown payload. Raises SymgenError: LogError for what is wrong with the
    log."""
    progress("preparing regressors")
    sought = problem(job, loaded, settings)
    sought = replace(sought, mapping=with_prior(sought.mapping, settings.prior))
    return solved(job, loaded, sought, log, settings, progress, loaded_bodies)


def solved(
    job: Job,
    loaded: LoadedRobot,
    sought: Problem,
    log: LogSource,
    settings: Settings,
    progress: Progress = lambda step: None,
    loaded_bodies: tuple[int, ...] = (),
) -> Identified:
    """The same of a problem whose regressors are made, for several logs of one robot."""
    progress("reading the log")
    read = tuned(log, sought, loaded, settings, ReadOptions(settings.held_out, True))
    _check_length(read, sought)
    late = delays(read, sought) if settings.delay == AUTO else None
    if late:
        remarks = (*read.remarks, note_of_delays(read, late))
        read = replace(read, delays=late.values, remarks=remarks)
    read = diagnosed(read, sought, job, settings.full, loaded_bodies)
    source = LogReducer(read, settings, progress)
    estimator = IterativeEstimator(
        sought,
        settings,
        source.reduced,
        source.rates(sought.joints) if sought.joints else None,
        prior_of(sought, settings),
    )
    if estimator.drives:
        source.presliding = estimator.drives.presliding
    try:
        fit = estimator.fitted()
    except np.linalg.LinAlgError:
        text = "some parameters are not identifiable from the training rows"
        cure = "use a log in which all joints move (symgen excite optimizes a motion)"
        if advice := use_prior(settings.full):
            cure = f"{cure}, or {advice}"
        raise ExcitationError(f"{shown(read.log.file)}: error: {text}; {cure}") from None
    estimated, notes = estimate(sought, fit, read.log, settings)
    progress("estimating the bias of the filter")
    bias = window_bias(read, fit, source.mean(fit.equations))
    estimated = with_bias(estimated, bias, sought, settings)
    notes = (*_with_prior(fit.deviation, read.log.file), *notes, *_biased(estimated, read.log.file))
    without = _without_friction(loaded.model, read.log.file) if sought.joints else ()
    notes = (*read.notes, *_left_out(estimator.left_out, read.log.file), *without, *notes)
    last = tuple(source.last)
    return Identified(
        estimated, settings, read, fit.equations, fit.system, last, notes, delays=late
    )


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


def _check_length(reading: Reading, sought: Problem) -> None:
    plan, log = reading.plan, reading.log
    usable = sum(b - a - 2 * plan.half for a, b in plan.training)
    drives = len(sought.joints.names) * len(sought.laws) if sought.joints else 0
    wanted = len(sought.mapping.names) + drives + 1
    if usable < wanted:
        lost = f" ({2 * plan.half} rows are needed for derivatives)" if plan.half else ""
        raise LogError(
            shown(log.file),
            f"the log has too few rows ({log.rows}): {usable} rows are left for the "
            f"estimate{lost}, and {wanted - 1} parameters need at least {wanted}",
        )


@dataclass
class LogReducer:
    """Reduces the samples of a log, pass by pass. Samples stay in memory between passes if there
    are few enough; `last` keeps the last blocks."""

    reading: Reading
    settings: Settings
    progress: Progress
    last: deque[Samples] = field(default_factory=lambda: deque(maxlen=SHOWN))
    passes: Iterator[int] = field(default_factory=lambda: count(1))
    """The numbers of the passes over the log."""
    presliding: PreslidingStates | None = None
    """The presliding states that samples get."""
    kept: tuple[Samples, ...] = ()
    """All samples, once they were read and if they fit in memory."""

    def reduced(
        self, equations: Equations, held_out_equations: Equations, stage: str
    ) -> FactoredEquations:
        """The factors of the batches of the rows for the estimate, and of the rows held out;
        `stage` names this pass over the log in the progress. Raises LogError."""
        plan = self.reading.plan
        blocks, channels = len(plan.training), len(equations.supports)
        mean, parts = self.mean(equations), -(-BATCHES // max(len(plan.training), 1))
        samples = self.blocks(stage)
        training = (block_factors(equations, s, parts, mean) for s in islice(samples, blocks))
        flat = (part for block in training for part in block)
        trained = gathered(flat, -(-blocks * parts // BATCHES))
        after = combined(f for s in samples for f in block_factors(held_out_equations, s, parts))
        if not trained:
            raise LogError(shown(self.reading.log.file), "the log has no rows for the estimate")
        of_channels, means = slice(channels), slice(channels if mean > 1 else 0, None)
        return FactoredEquations(
            tuple(batch.channels(means) for batch in trained),
            combined(batch.channels(of_channels) for batch in trained),
            after,
        )

    def mean(self, equations: Equations) -> int:
        """How many equations make one of the fit: half of what a window of derivatives reaches to
        one side, whose mean lets half of the power at the cutoff pass, as the window does."""
        plan = self.reading.plan
        unknowns = max(map(len, equations.supports))
        rows = sum(b - a - 2 * plan.half for a, b in plan.training)
        return max(1, min(plan.half // 2, rows // (ENOUGH * unknowns)))

    def blocks(self, stage: str) -> Iterator[Samples]:
        """The samples of all blocks, in a new pass; the last blocks are kept. Raises LogError."""
        self.last.clear()
        title = f"pass {next(self.passes)} over the log, {stage}"
        blocks = self._samples(lambda step: self.progress(f"{title}: {step}"))
        for samples in blocks if self.presliding is None else self.presliding.attached(blocks):
            self.last.append(samples)
            yield samples

    def _samples(self, progress: Progress) -> Iterator[Samples]:
        """The samples of all blocks, from memory where they were kept."""
        if self.kept:
            rows = self.reading.survey.usable
            progress(f"row {rows} of {rows}")
            yield from self.kept
            return
        kept, entries = list[Samples](), 0
        for samples in self.reading.blocks(progress):
            entries += sum(x.size for x in (samples.q, samples.qd, samples.qdd, samples.measured))
            if entries <= MAX_KEPT_ENTRIES:
                kept.append(samples)
            yield samples
        if entries <= MAX_KEPT_ENTRIES:
            self.kept = tuple(kept)

    def rates(self, joints: Joints) -> Rates:
        """How fast and how far the joints move."""
        derivation = self.reading.derivation
        margin = derivation.half if derivation else 0
        return surveyed(
            joints, self.blocks("finding the joint velocities"), margin, self.settings.slowest
        )
