"""A log as blocks of samples: how it is read, for whatever looks at samples."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.data.column_map import Layout, Map, NeededColumns
from symgen.identification.data.column_mapping import PartOfRobotError, check_order, layout
from symgen.identification.data.differentiation import USUAL_CUTOFF, Derivation, cutoff
from symgen.identification.data.log_file import Log, LogError, in_memory
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import LogSource, open_log
from symgen.identification.data.sample_clock import Clock
from symgen.identification.data.samples import BlockPlan, Range, Samples, pieces
from symgen.identification.data.unit_checks import check_quaternions, check_step, check_units
from symgen.identification.data.usable_rows import Rows, Survey, Usable, rows_in_words, survey
from symgen.mechanics.joint_listing import (
    position_coordinates,
    quaternions_of,
    velocity_coordinates,
)
from symgen.mechanics.model import Limits, RigidBodyModel
from symgen.numbers.types import Numbers
from symgen.text import quoted, shown

Progress = Callable[[str], None]

GAP, GAP_PART = 2.5, 0.5
"""A longer step than so many usual ones ends a stretch, unless it is shorter than this part of the
reach of a window of derivatives."""
ROUNDING: Final = 1e-12
"""Noise of a velocity by its largest value that is taken as the least."""


@dataclass(frozen=True)
class Reading:
    """How a log is read: its columns and what it is like, which rows make which block, derivatives
    and intervals. `noise` (n) is the deviation of the noise of velocities."""

    log: Log
    layout: Layout
    survey: Survey
    source: Rows
    plan: BlockPlan
    derivation: Derivation | None
    accelerations: bool
    noise: Numbers
    delays: Numbers = field(default_factory=lambda: np.zeros(0))
    """Seconds by which each measurement (c) is recorded after the motion; none where empty."""
    doubts: tuple[str, ...] = ()
    """What is suspected of its channels."""
    remarks: tuple[str, ...] = ()
    """What else is to be said of it."""

    @property
    def step(self) -> float:
        """The usual step of time (s)."""
        return self.survey.clock.step

    def samples(self, rows: Numbers) -> Samples:
        """A block's rows, time and the layout's columns, as samples with all that is wanted."""
        raw = _split(self.layout, rows)
        usable = ~np.isnan(raw.measured)
        usable &= (raw.measured < self.survey.ceilings) & (raw.measured > self.survey.floors)
        raw = replace(raw, measured=np.where(usable, raw.measured, 0.0), usable=usable)
        raw = _advanced(raw, self.delays) if self.delays.any() else raw
        complete = self.derivation.complete(raw, self.accelerations) if self.derivation else raw
        return replace(complete, noise=self.noise)

    def filtering(self, cutoff: float = 0.0) -> Derivation:
        """The derivation of the log, or one of a cutoff (Hz), where nothing is to be derived."""
        usual = cutoff or min(USUAL_CUTOFF, 0.2 / self.step)
        return self.derivation or Derivation.of_cutoff(usual, self.step, self.survey.even)

    def pieces(self, ranges: Sequence[Range]) -> Iterator[tuple[int, Numbers]]:
        """The first row and the rows of ranges, time first and then the layout's columns. Raises
        LogError."""
        parts = (np.column_stack([part.t, part.rows]) for part in self.source.usable())
        return pieces(parts, ranges)

    def blocks(self, progress: Progress = lambda step: None, every: int = 1) -> Iterator[Samples]:
        """The samples of each block, or of each `every`-th, those for the estimate and then those
        held out. Raises LogError."""
        for start, rows in self.pieces([*self.plan.training, *self.plan.validation][::every]):
            progress(f"row {start + len(rows)} of {self.survey.usable}")
            yield self.samples(rows)

    @property
    def lean(self) -> "Reading":
        """The same without rows in memory, which are read again when they are needed."""
        log = getattr(self.log, "source", None) or self.log
        nothing = Usable(*(x[:0] for x in vars(self.survey.probe).values()))
        source = Rows(log, self.layout, self.survey.clock, self.source.gap)
        return replace(self, log=log, source=source, survey=replace(self.survey, probe=nothing))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes on what was left out, repaired or is odd about the log, a sentence each."""
        return (*self.doubts, *log_notes(self), *self.remarks)


def _advanced(raw: Samples, delays: Numbers) -> Samples:
    """With measurements of `delays` (c) seconds later, between rows by straight lines; at the ends
    of blocks there are none."""
    t = raw.t[:, None] + delays
    flags, values = zip(t.T, raw.usable.T, strict=True), zip(t.T, raw.measured.T, strict=True)
    known = np.stack([np.interp(times, raw.t, u, 0, 0) == 1.0 for times, u in flags], axis=1)
    measured = np.stack([np.interp(times, raw.t, y) for times, y in values], axis=1)
    return replace(raw, measured=np.where(known, measured, 0.0), usable=known)


def _split(columns: Layout, rows: Numbers) -> Samples:
    sizes = [1, *map(len, (columns.q, columns.qd, columns.qdd, columns.measured))]
    t, q, qd, qdd, measured, _ = np.split(rows, np.cumsum(sizes), axis=1)
    return Samples.of(t[:, 0], q, qd, qdd, measured)


def reading(
    log: LogSource,
    wanted: NeededColumns,
    model: RigidBodyModel,
    options: LogOptions,
    held_out: float = 0.0,
) -> Reading:
    """Looks at a whole log for what is wanted of it; `held_out` is the fraction that is held out.
    Raises LogError for a log that cannot be used,
    OptionError for options that do not fit it."""
    return look(open_log(log), wanted, model, Map.of(options), held_out)


def look(
    log: Log,
    wanted: NeededColumns,
    model: RigidBodyModel | None,
    map_: Map,
    held_out: float = 0.0,
) -> Reading:
    """The same with a log that is open, and perhaps without a robot."""
    options = map_.options
    try:
        columns = layout(log, wanted, map_)
    except PartOfRobotError as error:
        raise (error if model is None else error.of(model)) from None
    if model is not None and model.file_order:
        check_order(log, wanted, map_, columns, model.file_order)
    if log.rows < 2:
        raise LogError(
            shown(log.file),
            f"the log has {log.rows} row{'s' * (log.rows != 1)}; at least 2 are needed",
        )
    log = in_memory(log, columns.names)
    clock = Clock.of(log, columns, options.rate)
    missing = not columns.qd or (wanted.accelerations and not columns.qdd)
    derivation = None
    if missing:
        first, sizes = (
            Rows(log, columns, clock, GAP * clock.step),
            (len(columns.q), len(columns.qd)),
        )
        hertz = options.cutoff or cutoff(first.usable(), *sizes, clock.step)
        derivation = Derivation.of_cutoff(hertz, clock.step)
    if derivation and not options.trust_units:
        check_step(log, clock.step)
    gap = max(GAP * clock.step, GAP_PART * derivation.reach) if derivation else np.inf
    source = Rows(log, columns, clock, gap)
    quaternions = quaternions_of(model) if model else []
    looked = survey(source, partial(check_quaternions, log, columns.q, quaternions))
    _check_there(log, looked)
    check_units(log, columns, looked, _limits(model, options))
    _check_dead(log, columns, looked)
    if derivation:
        derivation = replace(derivation, even=looked.even)
    half = derivation.half if derivation else 0
    plan = BlockPlan(looked.stretches, half, held_out)
    accelerations, late = wanted.accelerations, _delays(wanted, columns, options)
    nothing = np.zeros(0)
    result = Reading(log, columns, looked, source, plan, derivation, accelerations, nothing, late)
    return replace(result, noise=_noise(result, wanted))


def _delays(wanted: NeededColumns, columns: Layout, options: LogOptions) -> Numbers:
    """The delay of each measured channel. Raises OptionError for joints that are none."""
    names = [name for sensor in wanted.sensors for name in sensor.names]
    names = names if len(names) == len(columns.measured) else [""] * len(columns.measured)
    given = options.delays
    unknown = [name for name in given if name and name not in names]
    if unknown:
        raise OptionError(
            f"--delay {shown(unknown[0])}: no measured joint has this name; the measured joints "
            f"are {quoted(names)}"
        )
    return np.array([given.get(name, given.get("", 0.0)) for name in names], np.float64)


def _limits(model: RigidBodyModel | None, options: LogOptions) -> Sequence[tuple[Limits, str]]:
    """Limits and unit of each position; none without a robot, where units are trusted, or where
    coordinates are no joints' own."""
    if model is None:
        return []
    rows = position_coordinates(model)
    plain = [row.name for row in rows] == [row.name for row in velocity_coordinates(model)]
    if not plain or options.trust_units:
        return []
    return [(model.limits[row.name], row.unit) for row in rows]


def _check_there(log: Log, looked: Survey) -> None:
    """Raises LogError for a log without rows that can be used."""
    if looked.usable < 2:
        why = "; ".join(rows_in_words(count, reason) for reason, count in looked.left_out.items())
        raise LogError(shown(log.file), f"the log has {looked.usable} usable rows: {why}")


def _check_dead(log: Log, columns: Layout, looked: Survey) -> None:
    """Raises LogError for a measured channel without a number, or that never changes though the
    joint moves."""
    constant, first = looked.constant, len(columns.q) + len(columns.qd) + len(columns.qdd)
    standing = constant[: len(columns.q)]
    by_joint = len(columns.measured) == len(columns.q)
    for k, column in enumerate(columns.measured):
        if looked.missing[k] == looked.usable:
            raise LogError(
                shown(log.file),
                f"'{shown(column.name)}' has no finite number in any row; choose another column "
                "with --column, or lock the joint with --lock",
            )
        moves = not standing[k] if by_joint else not standing.all()
        if constant[first + k] and moves:
            raise LogError(
                shown(log.file),
                f"'{shown(column.name)}' is {looked.low[first + k]:.4g} in every row: the sensor "
                "is defective, or this is the wrong column; choose another column with --column, "
                "or lock the joint with --lock",
            )


def _noise(reading: Reading, wanted: NeededColumns) -> Numbers:
    """The deviation of the noise of velocities, from the longest stretch among the first rows."""
    probe, columns = reading.survey.probe, reading.layout
    n = len(wanted.velocities)
    derivation = reading.filtering()
    a, b = probe.longest
    if b - a < 4 * derivation.half or not wanted.plain:
        return np.zeros(n)
    nq = len(columns.q)
    source, order = (probe.rows[a:b, nq : nq + n], 0) if columns.qd else (probe.rows[a:b, :nq], 1)
    return np.asarray(np.maximum(derivation.noise(source, probe.t[a:b], order), _least(reading, n)))


def _least(reading: Reading, n: int) -> Numbers:
    """Rounding of velocities (n)."""
    nq, looked = len(reading.layout.q), reading.survey
    span = np.maximum(np.abs(looked.low), np.abs(looked.high))
    if reading.layout.qd:
        return np.asarray(ROUNDING * span[nq : nq + n])
    return np.asarray(ROUNDING * (looked.high - looked.low)[:n] / reading.step)


FEW = 0.9
"""A log of which a smaller part can be used gets a warning."""


def log_notes(reading: Reading) -> tuple[str, ...]:
    """A sentence each, those that matter most first."""
    file = shown(reading.log.file)
    missing = [*_missing(reading)]
    texts = (*_warnings(reading), *(text for often, text in missing if often), *_still(reading))
    few = (text for often, text in missing if not often)
    warnings = tuple(f"{file}: warning: {text}" for text in texts)
    return warnings + tuple(f"{file}: note: {text}" for text in (*_notes(reading), *few))


def _warnings(reading: Reading) -> Iterator[str]:
    survey = reading.survey
    rows = _rows(reading)
    if reading.plan.samples < FEW * (rows - 2 * reading.plan.half):
        part = reading.plan.samples / rows
        yield f"only {100 * part:.3g} % of the {rows} rows are usable ({_why(reading)})"
    for column, count, ceiling, floor in zip(
        reading.layout.measured, survey.stuck, survey.ceilings, survey.floors, strict=True
    ):
        if count:
            ends = [f"{x:.4g}" for x in (ceiling, floor) if abs(x) < float("inf")]
            yield (
                f"'{shown(column.name)}' is saturated: {count} rows stay at {' or '.join(ends)} "
                f"{column.unit} and are not used for this column; use a slower motion or a "
                "wider range of the sensor"
            )


def _missing(reading: Reading) -> Iterator[tuple[bool, str]]:
    """Measured channels without a number in some rows, and whether these are many."""
    usable = reading.survey.usable
    for column, count in zip(reading.layout.measured, reading.survey.missing.tolist(), strict=True):
        if count:
            yield (
                count > (1 - FEW) * usable,
                f"'{shown(column.name)}' has no finite number in {count} of {usable} rows; they "
                "are not used for this column",
            )


def _still(reading: Reading) -> Iterator[str]:
    constant = reading.survey.constant[: len(reading.layout.q)]
    for column, never, low in zip(reading.layout.q, constant, reading.survey.low, strict=False):
        if never:
            yield (
                f"'{shown(column.name)}' is {low:.4g} in every row: the joint does not "
                "move, or its encoder is defective; lock it with --lock JOINT=VALUE, or choose "
                "another column"
            )


def _notes(reading: Reading) -> Iterator[str]:
    clock = reading.survey.clock
    if clock.coarse:
        yield (
            f"the resolution of the time stamps ({clock.resolution:.4g} s) is coarser than the "
            f"sample interval; a constant rate of {1 / clock.step:.6g} Hz is used instead (use "
            "--rate to set it)"
        )
    if clock.polled:
        yield (
            "the time stamps are those of a recorder that polls; positions and velocities show "
            f"that the rows are multiples of {clock.step:.6g} s apart, and the times are corrected "
            "accordingly (use --rate to set the rate)"
        )
    for name, count in reading.survey.turned.items():
        yield (
            f"'{shown(name)}' jumps by a full turn {count} time{'s' * (count > 1)}; the angle is "
            "unwrapped"
        )
    inside = _rows(reading) - 2 * reading.plan.half
    if FEW * inside <= reading.plan.samples < inside:
        yield f"{reading.plan.samples} of the {_rows(reading)} rows are used ({_why(reading)})"
    names, read = reading.log.names, {*reading.layout.names}
    unused = [name for name in names if name not in read]
    if unused:
        yield f"{len(unused)} of {len(names)} columns are not used: {quoted(unused)}"


def _rows(reading: Reading) -> int:
    """All rows, those that are torn too."""
    return reading.survey.rows + len(getattr(reading.log, "torn", ()))


def _why(reading: Reading) -> str:
    """Why rows are not used, by reason."""
    survey, log = reading.survey, reading.log
    reasons = [
        f"{rows_in_words(count, why)}, the first at {log.place(survey.places[why])}"
        for why, count in survey.left_out.items()
    ]
    torn = getattr(log, "torn", {})
    if torn:
        line, why = min(torn.items())
        reasons.append(f"{rows_in_words(len(torn), f'with {why}')}, the first in line {line}")
    lost = survey.usable - reading.plan.samples
    if lost:
        stretches = len(survey.stretches)
        ends = f"at the ends of {stretches} segment{'s' * (stretches > 1)}, which "
        longest = f"; the longest gap is {survey.gaps[0]:.4g} s" if survey.gaps else ""
        reasons.append(f"{rows_in_words(lost, ends)}derivatives need{longest}")
    return "; ".join(reasons) or quoted([])
