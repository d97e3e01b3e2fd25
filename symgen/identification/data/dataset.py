"""A log as blocks of samples: how it is read, for whatever looks at samples."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.data.column_map import ColumnMap, LogLayout, NeededColumns
from symgen.identification.data.column_mapping import PartOfRobotError, check_order, log_layout
from symgen.identification.data.differentiation import (
    DEFAULT_CUTOFF,
    DerivativeFilter,
    automatic_cutoff,
)
from symgen.identification.data.log_file import Log, LogError, in_memory
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import LogSource, open_log
from symgen.identification.data.sample_clock import SampleClock
from symgen.identification.data.samples import BlockPlan, RowRange, Samples, rows_of_ranges
from symgen.identification.data.unit_checks import check_quaternions, check_step, check_units
from symgen.identification.data.usable_rows import (
    LogSurvey,
    UsableRowReader,
    UsableRows,
    rows_in_words,
    survey_log,
)
from symgen.mechanics.joint_listing import (
    position_coordinates,
    quaternions_of,
)
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.scalar import Numbers
from symgen.text import quoted, shown

Progress = Callable[[str], None]

MAX_GAP_STEPS, MAX_GAP_PER_HALF_WINDOW = 2.5, 0.5
"""A step of time ends a segment if it is longer than the usual step times `MAX_GAP_STEPS`, and
longer than half the duration of the derivative filter times `MAX_GAP_PER_HALF_WINDOW`."""
MIN_RELATIVE_NOISE: Final = 1e-12
"""Noise of a velocity by its largest value that is taken as the least."""


@dataclass(frozen=True)
class LogDataset:
    """How a log is read: its columns and what it is like, which rows make which block, derivatives
    and intervals. `noise` (n) is the deviation of the noise of velocities."""

    log: Log
    layout: LogLayout
    survey: LogSurvey
    row_reader: UsableRowReader
    plan: BlockPlan
    derivative_filter: DerivativeFilter | None
    accelerations: bool
    noise: Numbers = field(default_factory=lambda: np.zeros(0))
    delays: Numbers = field(default_factory=lambda: np.zeros(0))
    """Seconds by which each measurement (c) is recorded after the motion; none where empty."""
    warnings: tuple[str, ...] = ()
    """What is suspected of its channels."""
    extra_notes: tuple[str, ...] = ()
    """Further notes about it."""

    @property
    def step(self) -> float:
        """The usual step of time (s)."""
        return self.survey.clock.step

    def samples(self, rows: Numbers) -> Samples:
        """A block's rows, time and the layout's columns, as samples with all that is wanted."""
        raw = _split_columns(self.layout, rows)
        usable = ~np.isnan(raw.measured)
        usable &= (raw.measured < self.survey.ceilings) & (raw.measured > self.survey.floors)
        raw = replace(raw, measured=np.where(usable, raw.measured, 0.0), usable=usable)
        raw = _delay_corrected(raw, self.delays) if self.delays.any() else raw
        complete = (
            self.derivative_filter.complete(raw, self.accelerations)
            if self.derivative_filter
            else raw
        )
        return replace(complete, noise=self.noise)

    def filter_or_default(self, cutoff: float = 0.0) -> DerivativeFilter:
        """The derivative filter of the log; where the log has all derivatives and so no filter, one
        with a cut-off frequency (Hz) or the default."""
        usual = cutoff or min(DEFAULT_CUTOFF, 0.2 / self.step)
        return self.derivative_filter or DerivativeFilter.of_cutoff(
            usual, self.step, self.survey.even
        )

    def read_ranges(self, ranges: Sequence[RowRange]) -> Iterator[tuple[int, Numbers]]:
        """The number of the first row, and the rows, of each range; the columns are time and those
        of the layout. Raises LogError."""
        parts = (np.column_stack([part.t, part.rows]) for part in self.row_reader.usable())
        return rows_of_ranges(parts, ranges)

    def blocks(self, progress: Progress = lambda step: None, every: int = 1) -> Iterator[Samples]:
        """The samples of each block, or of each `every`-th, those for the estimate and then those
        held out. Raises LogError."""
        for start, rows in self.read_ranges([*self.plan.training, *self.plan.validation][::every]):
            progress(f"row {start + len(rows)} of {self.survey.usable}")
            yield self.samples(rows)

    @property
    def uncached(self) -> "LogDataset":
        """The same without rows in memory, which are read again when they are needed."""
        log = getattr(self.log, "source", None) or self.log
        nothing = UsableRows(*(x[:0] for x in vars(self.survey.first_rows).values()))
        row_reader = UsableRowReader(log, self.layout, self.survey.clock, self.row_reader.gap)
        return replace(
            self, log=log, row_reader=row_reader, survey=replace(self.survey, first_rows=nothing)
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes on what was left out, repaired or is odd about the log, a sentence each."""
        return (*self.warnings, *log_notes(self), *self.extra_notes)


def _delay_corrected(raw: Samples, delays: Numbers) -> Samples:
    """With measurements of `delays` (c) seconds later, between rows by straight lines; at the ends
    of blocks there are none."""
    t = raw.t[:, None] + delays
    flags, values = zip(t.T, raw.usable.T, strict=True), zip(t.T, raw.measured.T, strict=True)
    known = np.stack([np.interp(times, raw.t, u, 0, 0) == 1.0 for times, u in flags], axis=1)
    measured = np.stack([np.interp(times, raw.t, y) for times, y in values], axis=1)
    return replace(raw, measured=np.where(known, measured, 0.0), usable=known)


def _split_columns(columns: LogLayout, rows: Numbers) -> Samples:
    sizes = [1, *map(len, (columns.q, columns.qd, columns.qdd, columns.measured))]
    t, q, qd, qdd, measured, _ = np.split(rows, np.cumsum(sizes), axis=1)
    return Samples.of(t[:, 0], q, qd, qdd, measured)


def open_dataset(
    log: LogSource,
    needed: NeededColumns,
    model: RigidBodyModel,
    options: LogOptions,
    held_out: float = 0.0,
) -> LogDataset:
    """Looks at a whole log for what is wanted of it; `held_out` is the fraction that is held out.
    Raises LogError for a log that cannot be used,
    OptionError for options that do not fit it."""
    return dataset_of(open_log(log), needed, model, ColumnMap.of(options), held_out)


def dataset_of(
    log: Log,
    needed: NeededColumns,
    model: RigidBodyModel | None,
    column_map: ColumnMap,
    held_out: float = 0.0,
) -> LogDataset:
    """The same with a log that is open, and perhaps without a robot."""
    options = column_map.options
    try:
        columns = log_layout(log, needed, column_map)
    except PartOfRobotError as error:
        raise (error if model is None else error.of(model)) from None
    if model is not None and model.file_order:
        check_order(log, needed, column_map, columns, model.file_order)
    if log.rows < 2:
        raise LogError(
            shown(log.file),
            f"the log has {log.rows} row{'s' * (log.rows != 1)}; at least 2 are needed",
        )
    log = in_memory(log, columns.names)
    clock = SampleClock.of(log, columns, options.rate)
    derivatives = _derivative_filter(log, columns, clock, needed, options)
    longest = MAX_GAP_PER_HALF_WINDOW * derivatives.half_duration if derivatives else np.inf
    source = UsableRowReader(log, columns, clock, max(MAX_GAP_STEPS * clock.step, longest))
    quaternions = quaternions_of(model) if model else []
    survey = survey_log(source, partial(check_quaternions, log, columns.q, quaternions))
    _check_usable(log, survey)
    if model is not None and needed.velocities_are_rates and not options.trust_units:
        rows = position_coordinates(model)
        check_units(log, columns, survey, [(model.limits[row.name], row.unit) for row in rows])
    _check_channels(log, columns, survey)
    if derivatives:
        derivatives = replace(derivatives, even=survey.even)
    plan = BlockPlan(survey.segments, derivatives.half_width if derivatives else 0, held_out)
    result = LogDataset(
        log,
        columns,
        survey,
        source,
        plan,
        derivatives,
        needed.accelerations,
        delays=_delays(needed, columns, options),
    )
    return replace(result, noise=_noise(result, needed))


def _derivative_filter(
    log: Log,
    columns: LogLayout,
    clock: SampleClock,
    needed: NeededColumns,
    options: LogOptions,
) -> DerivativeFilter | None:
    """The filter for derivatives that the log lacks. Raises LogError for rows that are too far
    apart."""
    if columns.qd and (columns.qdd or not needed.accelerations):
        return None
    rows = UsableRowReader(log, columns, clock, MAX_GAP_STEPS * clock.step).usable()
    sizes = len(columns.q), len(columns.qd)
    hertz = options.cutoff or automatic_cutoff(rows, *sizes, clock.step)
    if not options.trust_units:
        check_step(log, clock.step)
    return DerivativeFilter.of_cutoff(hertz, clock.step)


def _delays(needed: NeededColumns, columns: LogLayout, options: LogOptions) -> Numbers:
    """The delay of each measured channel. Raises OptionError for joints that are none."""
    names = [name for sensor in needed.sensors for name in sensor.names]
    names = names if len(names) == len(columns.measured) else [""] * len(columns.measured)
    given = options.delays
    unknown = [name for name in given if name and name not in names]
    if unknown:
        raise OptionError(
            f"--delay {shown(unknown[0])}: no measured joint has this name; the measured joints "
            f"are {quoted(names)}"
        )
    return np.array([given.get(name, given.get("", 0.0)) for name in names], np.float64)


def _check_usable(log: Log, survey: LogSurvey) -> None:
    """Raises LogError for a log without rows that can be used."""
    if survey.usable < 2:
        why = "; ".join(rows_in_words(count, reason) for reason, count in survey.left_out.items())
        raise LogError(shown(log.file), f"the log has {survey.usable} usable rows: {why}")


def _check_channels(log: Log, columns: LogLayout, survey: LogSurvey) -> None:
    """Raises LogError for a measured channel without a number, or that never changes though the
    joint moves."""
    constant, first = survey.constant, len(columns.q) + len(columns.qd) + len(columns.qdd)
    standing = constant[: len(columns.q)]
    by_joint = len(columns.measured) == len(columns.q)
    for k, column in enumerate(columns.measured):
        if survey.missing[k] == survey.usable:
            raise LogError(
                shown(log.file),
                f"'{shown(column.name)}' has no finite number in any row; choose another column "
                "with --column, or lock the joint with --lock",
            )
        moves = not standing[k] if by_joint else not standing.all()
        if constant[first + k] and moves:
            raise LogError(
                shown(log.file),
                f"'{shown(column.name)}' is {survey.low[first + k]:.4g} in every row: the sensor "
                "is defective, or this is the wrong column; choose another column with --column, "
                "or lock the joint with --lock",
            )


def _noise(dataset: LogDataset, needed: NeededColumns) -> Numbers:
    """The deviation of the noise of velocities, from the longest segment among the first rows."""
    probe, columns = dataset.survey.first_rows, dataset.layout
    n = len(needed.velocities)
    derivative_filter = dataset.filter_or_default()
    a, b = probe.longest
    if b - a < 4 * derivative_filter.half_width or not needed.velocities_are_rates:
        return np.zeros(n)
    nq = len(columns.q)
    source, order = (probe.rows[a:b, nq : nq + n], 0) if columns.qd else (probe.rows[a:b, :nq], 1)
    return np.asarray(
        np.maximum(
            derivative_filter.noise(source, probe.t[a:b], order), _rounding_noise(dataset, n)
        )
    )


def _rounding_noise(dataset: LogDataset, n: int) -> Numbers:
    """Rounding of velocities (n)."""
    nq, survey = len(dataset.layout.q), dataset.survey
    span = np.maximum(np.abs(survey.low), np.abs(survey.high))
    if dataset.layout.qd:
        return np.asarray(MIN_RELATIVE_NOISE * span[nq : nq + n])
    return np.asarray(MIN_RELATIVE_NOISE * (survey.high - survey.low)[:n] / dataset.step)


MIN_USABLE_FRACTION = 0.9
"""A log of which a smaller part can be used gets a warning."""


def log_notes(dataset: LogDataset) -> tuple[str, ...]:
    """A sentence each, those that matter most first."""
    file = shown(dataset.log.file)
    missing = [*_missing_values(dataset)]
    texts = (
        *_warnings(dataset),
        *(text for often, text in missing if often),
        *_constant_positions(dataset),
    )
    few = (text for often, text in missing if not often)
    warnings = tuple(f"{file}: warning: {text}" for text in texts)
    return warnings + tuple(f"{file}: note: {text}" for text in (*_notes(dataset), *few))


def _warnings(dataset: LogDataset) -> Iterator[str]:
    survey = dataset.survey
    rows = _row_count(dataset)
    if dataset.plan.samples < MIN_USABLE_FRACTION * (rows - 2 * dataset.plan.half_width):
        part = dataset.plan.samples / rows
        yield f"only {100 * part:.3g} % of the {rows} rows are usable ({_reasons(dataset)})"
    for column, count, ceiling, floor in zip(
        dataset.layout.measured, survey.saturated_rows, survey.ceilings, survey.floors, strict=True
    ):
        if count:
            ends = [f"{x:.4g}" for x in (ceiling, floor) if abs(x) < float("inf")]
            yield (
                f"'{shown(column.name)}' is saturated: {count} rows stay at {' or '.join(ends)} "
                f"{column.unit} and are not used for this column; use a slower motion or a "
                "wider range of the sensor"
            )


def _missing_values(dataset: LogDataset) -> Iterator[tuple[bool, str]]:
    """Measured channels without a number in some rows, and whether these are many."""
    usable = dataset.survey.usable
    for column, count in zip(dataset.layout.measured, dataset.survey.missing.tolist(), strict=True):
        if count:
            yield (
                count > (1 - MIN_USABLE_FRACTION) * usable,
                f"'{shown(column.name)}' has no finite number in {count} of {usable} rows; they "
                "are not used for this column",
            )


def _constant_positions(dataset: LogDataset) -> Iterator[str]:
    constant = dataset.survey.constant[: len(dataset.layout.q)]
    for column, never, low in zip(dataset.layout.q, constant, dataset.survey.low, strict=False):
        if never:
            yield (
                f"'{shown(column.name)}' is {low:.4g} in every row: the joint does not "
                "move, or its encoder is defective; lock it with --lock JOINT=VALUE, or choose "
                "another column"
            )


def _notes(dataset: LogDataset) -> Iterator[str]:
    clock = dataset.survey.clock
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
    for name, count in dataset.survey.unwrap_counts.items():
        yield (
            f"'{shown(name)}' jumps by a full turn {count} time{'s' * (count > 1)}; the angle is "
            "unwrapped"
        )
    inside = _row_count(dataset) - 2 * dataset.plan.half_width
    if MIN_USABLE_FRACTION * inside <= dataset.plan.samples < inside:
        rows = _row_count(dataset)
        yield f"{dataset.plan.samples} of the {rows} rows are used ({_reasons(dataset)})"
    names, read = dataset.log.names, {*dataset.layout.names}
    unused = [name for name in names if name not in read]
    if unused:
        yield f"{len(unused)} of {len(names)} columns are not used: {quoted(unused)}"


def _row_count(dataset: LogDataset) -> int:
    """The number of all rows, malformed lines included."""
    return dataset.survey.rows + len(getattr(dataset.log, "malformed_lines", ()))


def _reasons(dataset: LogDataset) -> str:
    """Why rows are not used, by reason."""
    survey, log = dataset.survey, dataset.log
    reasons = [
        f"{rows_in_words(count, why)}, the first at {log.location(survey.places[why])}"
        for why, count in survey.left_out.items()
    ]
    torn = getattr(log, "malformed_lines", {})
    if torn:
        line, why = min(torn.items())
        reasons.append(f"{rows_in_words(len(torn), f'with {why}')}, the first in line {line}")
    lost = survey.usable - dataset.plan.samples
    if lost:
        segments = len(survey.segments)
        ends = f"at the ends of {segments} segment{'s' * (segments > 1)}, which "
        longest = f"; the longest gap is {survey.gaps[0]:.4g} s" if survey.gaps else ""
        reasons.append(f"{rows_in_words(lost, ends)}derivatives need{longest}")
    return "; ".join(reasons) or quoted([])
