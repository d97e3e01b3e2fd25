"""Identification from beginning to end: a robot, a log and settings in, an estimate out."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import Final

import numpy as np

from symgen.advice import use_prior
from symgen.errors import OptionError
from symgen.identification.data.dataset import Reading, Wish
from symgen.identification.data.log_file import LogError
from symgen.identification.data.log_options import AUTO
from symgen.identification.data.samples import Samples
from symgen.identification.diagnostics.channels import gated
from symgen.identification.diagnostics.cutoffs import tuned
from symgen.identification.diagnostics.delays import Delays, delays, note_of_delays
from symgen.identification.estimation.engines import Work, run
from symgen.identification.estimation.iterative import Reduced, Rounds, Settled
from symgen.identification.estimation.random_effects import EFFECTS
from symgen.identification.estimation.refining import refined
from symgen.identification.estimation.result import (
    ExcitationError,
    estimate,
    prior_of,
    with_bias,
    with_solution,
)
from symgen.identification.estimation.term_selection import Choice
from symgen.identification.estimation.triangular_factors import combined, gathered
from symgen.identification.estimation.weighted_solve import TriangularSystem
from symgen.identification.estimation.window_bias import window_bias
from symgen.identification.model.drive_columns import Joints
from symgen.identification.model.equations import Equations, Instants
from symgen.identification.model.estimate import Estimate
from symgen.identification.model.prior_file import with_prior
from symgen.identification.model.problem import Problem, problem
from symgen.identification.model.settings import Settings
from symgen.identification.model.velocity_survey import Rates, surveyed
from symgen.identification.prediction.prediction_errors import Prediction
from symgen.jobs.job import Job
from symgen.numbers.types import Numbers
from symgen.reading.assemble import LoadedRobot
from symgen.text import shown

Progress = Callable[[str], None]

BATCHES: Final = 32
"""Parts of a log whose factors are kept, for robust standard errors and cross-validation."""
ENOUGH: Final = 2
"""Equations of each channel an unknown that are left at least where their means are fitted."""
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
    choice: Choice = Choice(())
    prediction: Prediction | None = None
    """Of another log, where one is given for validation."""
    delays: Delays | None = None
    """Those of forces, where they were unknown."""

    @property
    def series(self) -> tuple[Numbers, Numbers, Numbers]:
        """Time (N), measured and predicted values (N x c) at the end of the log, by straight lines
        where a measurement is missing."""
        parts = [(s.t, self.equations.equations(replace(s, measured=s.bridged))) for s in self.last]
        step = self.reading.plan.interval or 1
        t = np.concatenate([t[::step][: len(rows.measured)] for t, rows in parts])
        predicted = np.concatenate([rows.regressor @ self.estimate.values for _, rows in parts])
        return t, np.concatenate([rows.measured for _, rows in parts]), predicted

    @property
    def held_out(self) -> int:
        """How many equations a channel has for validation."""
        return self.estimate.channels[0].validation_rows


def identify(
    job: Job,
    loaded: LoadedRobot,
    log: str,
    settings: Settings,
    progress: Progress = lambda step: None,
) -> Identified:
    """Identify a robot from a log. Raises SymgenError: LogError for what is wrong with the log."""
    progress("preparing regressors")
    sought = problem(job, loaded, settings)
    sought = replace(sought, mapping=with_prior(sought.mapping, settings.prior))
    return solved(job, loaded, sought, log, settings, progress)


def solved(
    job: Job,
    loaded: LoadedRobot,
    sought: Problem,
    log: str,
    settings: Settings,
    progress: Progress = lambda step: None,
) -> Identified:
    """The same of a problem whose regressors are made, for several logs of one robot."""
    progress("reading the log")
    wish = Wish(settings.interval * sought.intervals, settings.held_out, True)
    read = tuned(log, sought, loaded, settings, wish)
    _check_length(read, sought)
    late = delays(read, sought) if settings.delay == AUTO else None
    if late:
        remarks = (*read.remarks, note_of_delays(read, late))
        read = replace(read, delays=late.values, remarks=remarks)
    read = gated(read, sought, settings.full)
    source = LogRounds(read, settings, progress)
    rounds = Rounds(
        sought,
        settings,
        read.plan.interval,
        source.reduced,
        source.rates(sought.joints) if sought.joints else None,
        prior_of(sought, settings),
    )
    try:
        settled = rounds.settled()
    except np.linalg.LinAlgError:
        text = "some parameters are not identifiable from the training rows"
        cure = "use a log in which all joints move (symgen excite optimizes a motion)"
        if advice := use_prior(settings.full):
            cure = f"{cure}, or {advice}"
        raise ExcitationError(f"{shown(log)}: error: {text}; {cure}") from None
    estimated, notes = estimate(sought, settled, read.log, settings)
    progress("estimating the bias of the filter")
    bias = window_bias(read, settled, source.mean(settled.equations))
    estimated = with_bias(estimated, bias, sought, settings)
    if settings.refine:
        progress("refining by multiple shooting")
        estimated, text = _refined(job, loaded, read, sought, settled, estimated)
        notes = (*notes, text)
    notes = (*notes, *_biased(estimated, log))
    notes = (*read.notes, *_left_out(rounds.left_out, log), *_trusted(settled.choice, log), *notes)
    last = tuple(source.last)
    equations, system = settled.equations, settled.system
    return Identified(
        estimated, settings, read, equations, system, last, notes, settled.choice, delays=late
    )


def _refined(
    job: Job,
    loaded: LoadedRobot,
    read: Reading,
    sought: Problem,
    settled: Settled,
    estimated: Estimate,
) -> tuple[Estimate, str]:
    """The estimate refined where that is better, and what is to be said of it. Raises
    SymgenError."""
    equations = settled.equations
    if not isinstance(equations, Instants) or not sought.wanted.plain:
        raise OptionError(
            "--refine needs joint forces of every sample and joints with one coordinate each"
        )
    refinement = refined(job, loaded, read, equations, estimated)
    start = f"{shown(read.log.file)}: note: --refine:"
    if refinement is None:
        why = "the simulation of the least-squares estimate diverges because its bodies are not"
        return estimated, f"{start} {why} physical (use --consistent); the refinement is not used"
    text = f"the error of the simulated motion in a window is {_changed(refinement.simulation)}"
    text = f"{start} {text}, the error of the forces {_changed(refinement.forces)}"
    if not refinement.better:
        return estimated, f"{text}; the refinement is not used"
    return with_solution(estimated, settled, refinement.solution, refinement.errors), text


def _changed(errors: tuple[float, float]) -> str:
    before, after = errors
    return f"{100 * before:.3g} % before and {100 * after:.3g} % after it"


def _left_out(names: tuple[str, ...], log: str) -> tuple[str, ...]:
    """A note of unknowns that are no unknowns of their own."""
    if not names:
        return ()
    listed = ", ".join(shown(name) for name in names)
    text = "cannot be distinguished from other parameters by any motion and are left out"
    return (f"{shown(log)}: note: {listed} {text}",)


def _trusted(choice: Choice, log: str) -> tuple[str, ...]:
    """Notes of how much the prior counts, where that was chosen, and of random effects."""
    texts = []
    if choice.deviation is not None:
        text = (
            f"the robot file is used as a prior with a relative deviation of {choice.deviation:.2g}"
        )
        reason = "because cross-validation is not worse with it; use --prior-deviation to set it"
        texts.append(f"{text} {reason}")
    if choice.scales:
        listed = " and ".join(
            f"{name} ({100 * scale:.2g} % of the {EFFECTS[name].of})"
            for name, scale in choice.scales
        )
        texts.append(f"the size of {listed} is estimated over all joints together")
    return tuple(f"{shown(log)}: note: {text}" for text in texts)


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
    overlap = bool(plan.interval)
    usable = sum(b - a - 2 * plan.half - overlap for a, b in plan.training) // (plan.interval or 1)
    drives = len(sought.joints.names) * len(sought.terms) if sought.joints else 0
    wanted = len(sought.mapping.names) + drives + 1
    if usable < wanted:
        lost = f" ({2 * plan.half} rows are needed for derivatives)" if plan.half else ""
        unit = f"intervals of {plan.interval} rows" if overlap else "rows"
        raise LogError(
            shown(log.file),
            f"the log has too few rows ({log.rows}): {usable} {unit} are left for the "
            f"estimate{lost}, and {wanted - 1} parameters need at least {wanted}",
        )


@dataclass
class LogRounds:
    """A log that is read round by round; `last` keeps the last blocks."""

    reading: Reading
    settings: Settings
    progress: Progress
    last: deque[Samples] = field(default_factory=lambda: deque(maxlen=SHOWN))
    passes: Iterator[int] = field(default_factory=lambda: count(1))
    """The numbers of the passes over the log."""

    def reduced(self, equations: Equations, stage: str) -> Reduced:
        """The factors of the batches of the rows for the estimate, and of those held out; `stage`
        names this pass over the log in the progress. Raises LogError."""
        plan = self.reading.plan
        blocks, channels = len(plan.training), len(equations.supports)
        mean = self.mean(equations)
        work = Work(equations, plan.interval, -(-BATCHES // max(blocks, 1)), mean)
        reduction = run(work, self.blocks(stage), self.settings)
        parts = (part for block in islice(reduction, blocks) for part in block)
        trained = gathered(parts, -(-blocks * work.parts // BATCHES))
        held_out = combined(part for block in reduction for part in block)
        if not trained:
            raise LogError(shown(self.reading.log.file), "the log has no rows for the estimate")
        of_channels, means = slice(channels), slice(channels if mean > 1 else 0, None)
        return Reduced(
            tuple(batch.channels(means) for batch in trained),
            combined(batch.channels(of_channels) for batch in trained),
            held_out.channels(of_channels) if held_out else None,
        )

    def mean(self, equations: Equations) -> int:
        """How many equations make one of the fit: half of what a window of derivatives reaches to
        one side, whose mean lets half of the power at the cutoff pass, as the window does."""
        plan = self.reading.plan
        if plan.interval or self.settings.loss == "huber":
            return 1
        unknowns = max(map(len, equations.supports))
        rows = sum(b - a - 2 * plan.half for a, b in plan.training)
        return max(1, min(plan.half // 2, rows // (ENOUGH * unknowns)))

    def blocks(self, stage: str) -> Iterator[Samples]:
        """The samples of all blocks, in a new pass over the log; the last blocks are kept. Raises
        LogError."""
        self.last.clear()
        title = f"pass {next(self.passes)} over the log, {stage}"
        for samples in self.reading.blocks(lambda step: self.progress(f"{title}: {step}")):
            self.last.append(samples)
            yield samples

    def rates(self, joints: Joints) -> Rates:
        """How fast the joints move."""
        derivation = self.reading.derivation
        margin = derivation.half if derivation else 0
        return surveyed(
            joints, self.blocks("finding the joint velocities"), margin, self.settings.slowest
        )
