"""The report of ``symgen log``: what was understood of a log, and what its motion is like."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

import numpy as np

from symgen import __version__
from symgen.identification.data.column_map import ColumnMap, LogColumn, NeededColumns
from symgen.identification.data.column_mapping import guess_needed_columns
from symgen.identification.data.dataset import LogDataset, Progress, dataset_of
from symgen.identification.data.log_file import LogError
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import open_log
from symgen.identification.data.samples import ColumnStatistics, Samples
from symgen.identification.report.plots import Curve, motion_figure
from symgen.inspection.rendering import Report, ReportTable, drawn
from symgen.jobs.publish import OutputFile
from symgen.mechanics.model import Limits, RigidBodyModel
from symgen.numbers.scalar import Numbers
from symgen.text import shown

STANDSTILL_SIGMAS: Final = 3.0
"""A joint stands still where its speed is within so many deviations of its noise,"""
STANDSTILL_FRACTION: Final = 1e-3
"""or below this part of its greatest speed."""
PLOT_POINTS: Final = 1500
"""Of a line of a picture."""


@dataclass
class MotionStatistics:
    """Statistics of the samples of a log: of positions, velocities, accelerations and what was
    measured, how many samples stand still (n), and a thinned series for pictures."""

    total: int
    count: int = 0
    q: ColumnStatistics = field(default_factory=ColumnStatistics)
    qd: ColumnStatistics = field(default_factory=ColumnStatistics)
    qdd: ColumnStatistics = field(default_factory=ColumnStatistics)
    measured: ColumnStatistics = field(default_factory=ColumnStatistics)
    still: Numbers | int = 0
    thin: list[tuple[Numbers, Numbers, Numbers, Numbers]] = field(default_factory=list)

    def add(self, samples: Samples) -> None:
        """Takes samples into account."""
        for name in ("q", "qd", "qdd"):
            getattr(self, name).add(getattr(samples, name))
        self.measured.add(samples.measured, samples.usable)
        slow = np.maximum(STANDSTILL_SIGMAS * samples.noise, STANDSTILL_FRACTION * self.qd.largest)
        self.still = self.still + (np.abs(samples.qd) <= slow).sum(0)
        self.count += len(samples)
        sampled = slice(None, None, max(self.total // PLOT_POINTS, 1))
        drawn = np.where(samples.usable, samples.measured, np.nan)[sampled]
        self.thin.append((samples.t[sampled], samples.q[sampled], samples.qd[sampled], drawn))


@dataclass(frozen=True)
class LogOverview:
    """A log that was looked at: how it is read, its motion, the names of its joints, their units
    and, with a robot, limits."""

    dataset: LogDataset
    motion: MotionStatistics
    joints: tuple[str, ...]
    units: tuple[str, ...]
    limits: tuple[Limits | None, ...]


def log_overview(
    path: str, options: LogOptions, model: RigidBodyModel | None, progress: Progress
) -> LogOverview:
    """Look at a log, without a robot at all joints that it has. Raises LogError, OptionError."""
    log, column_map = open_log(path), ColumnMap.of(options)
    needed = (
        guess_needed_columns(log, column_map)
        if model is None
        else NeededColumns.of(model, forces_optional=True)
    )
    progress("reading the log (stage 1 of 2)")
    dataset = dataset_of(log, needed, model, column_map)
    motion = MotionStatistics(dataset.plan.samples)
    for samples in dataset.blocks(
        lambda step: progress(f"analysing the motion (stage 2 of 2): {step}")
    ):
        motion.add(samples)
    limits = tuple(model.limits.get(name) if model else None for name in needed.velocities)
    return LogOverview(dataset, motion, needed.velocities, needed.position_units, limits)


# -- report ----------------------------------------------------------------------------------------


def report(looked: LogOverview) -> Report:
    """What was understood, and the motion of each joint (the data are documented in
    docs/reference/identification.md)."""
    rows = [*_rows(looked)]
    table = ReportTable(
        f"Motion and forces in {looked.motion.count} samples",
        ["joint", "position", "velocity", "force"],
        [
            "min",
            "max",
            "limits",
            "max |qd|",
            "limit",
            "max |qdd|",
            "noise",
            "at rest",
            "rms",
            "max",
        ],
        rows,
    )
    return Report([*lines(looked.dataset), *([table] if rows else [])], data(looked))


def lines(dataset: LogDataset) -> Iterator[str]:
    """Time and columns in sentences."""
    survey, layout = dataset.survey, dataset.layout
    yield (
        f"{PurePath(dataset.log.file).name}: {survey.rows} rows, {survey.usable} of them usable; "
        f"recorder: {layout.recorder or 'unknown'}"
    )
    least, low, middle, high, most = (1e3 * x for x in survey.steps)
    name = f"column '{layout.time.name}'" if layout.time else "from --rate"
    yield (
        f"time: {name}, {survey.first:.6g} to {survey.last:.6g} s; steps {middle:.4g} ms "
        f"({1e3 / middle:.4g} Hz), 90 % of them {low:.4g} to {high:.4g} ms, all {least:.4g} to "
        f"{most:.4g} ms" + (" (even)" if survey.even else " (uneven)")
    )
    segments = len(survey.segments)
    gaps = f", the longest is {survey.gaps[0]:.4g} s" if survey.gaps else ""
    yield f"gaps: {segments - 1}{gaps}; derivatives: {_derivatives(dataset)}"


def _derivatives(dataset: LogDataset) -> str:
    if dataset.derivative_filter is None:
        return "none needed, the log has velocities and accelerations"
    count, span = (
        2 * dataset.derivative_filter.half_width + 1,
        2e3 * dataset.derivative_filter.half_duration,
    )
    source = "velocities" if dataset.layout.qd else "positions"
    return (
        f"polynomials of order 4 over {count} rows of {source} ({span:.4g} ms), cut-off frequency "
        f"{dataset.derivative_filter.cutoff:.3g} Hz (--cutoff)"
    )


def _rows(looked: LogOverview) -> Iterator[list[str]]:
    layout, motion = looked.dataset.layout, looked.motion
    if not motion.count:
        return
    forces = [*layout.measured, *[None] * len(looked.joints)]
    (low, high), speeds, accelerations = motion.q.ends, motion.qd.largest, motion.qdd.largest
    for k, (joint, limits) in enumerate(zip(looked.joints, looked.limits, strict=True)):
        column, unit = forces[k], looked.units[k]
        yield [
            joint,
            _of_column(layout.q, k, unit),
            _of_column(layout.qd, k, f"{unit}/s"),
            "" if column is None else f"{column.name} ({column.unit})",
            f"{low[k]:.4g}",
            f"{high[k]:.4g}",
            _range(limits),
            f"{speeds[k]:.4g}",
            f"{limits.velocity:.4g}" if limits and limits.velocity else "",
            f"{accelerations[k]:.4g}",
            f"{looked.dataset.noise[k]:.2g}",
            f"{100 * np.atleast_1d(motion.still)[k] / motion.count:.3g} %",
            "" if column is None else f"{motion.measured.rms[k]:.4g}",
            "" if column is None else f"{motion.measured.largest[k]:.4g}",
        ]


def _of_column(columns: Sequence[LogColumn], k: int, unit: str) -> str:
    return f"{columns[k].name} ({unit})" if k < len(columns) else "derived"


def _range(limits: Limits | None) -> str:
    if limits is None or limits.lower is None or limits.upper is None:
        return ""
    return f"{limits.lower:.4g}..{limits.upper:.4g}"


# -- data ------------------------------------------------------------------------------------------


def data(looked: LogOverview) -> dict[str, Any]:
    """Everything that was understood."""
    dataset, motion = looked.dataset, looked.motion
    survey, layout, derivative_filter = dataset.survey, dataset.layout, dataset.derivative_filter
    return {
        "format": 1,
        "generator": f"symgen {__version__}",
        "log": PurePath(dataset.log.file).name,
        "recorder": layout.recorder,
        "rows": survey.rows,
        "usable": survey.usable,
        "samples": motion.count,
        "left_out": dict(survey.left_out),
        "time": {
            "column": layout.time.name if layout.time else None,
            "first": survey.first,
            "last": survey.last,
            "step": survey.clock.step,
            "steps": list(survey.steps),
            "even": survey.even,
            "polled": survey.clock.polled is not None,
            "gaps": list(survey.gaps),
        },
        "window": 2 * derivative_filter.half_width + 1 if derivative_filter else None,
        "joints": {joint: _joint(looked, k) for k, joint in enumerate(looked.joints)},
        "notes": list(dataset.notes),
    }


def _joint(looked: LogOverview, k: int) -> dict[str, Any]:
    layout, motion = looked.dataset.layout, looked.motion
    groups = {"q": layout.q, "qd": layout.qd, "qdd": layout.qdd, "force": layout.measured}
    columns = {name: group[k].name for name, group in groups.items() if k < len(group)}
    if not motion.count:
        return {"columns": columns}
    row = {
        "columns": columns,
        "factors": {name: group[k].factor for name, group in groups.items() if k < len(group)},
        "unit": looked.units[k],
        "range": [float(end[k]) for end in motion.q.ends],
        "speed": float(motion.qd.largest[k]),
        "acceleration": float(motion.qdd.largest[k]),
        "velocity_noise": float(looked.dataset.noise[k]),
        "still": float(np.atleast_1d(motion.still)[k] / motion.count),
    }
    if k < len(layout.measured):
        row["force"] = {
            "unit": layout.measured[k].unit,
            "range": [float(end[k]) for end in motion.measured.ends],
            "rms": float(motion.measured.rms[k]),
        }
    return row


# -- picture ---------------------------------------------------------------------------------------


def picture(looked: LogOverview, target: OutputFile) -> bytes:
    """Position, velocity and force of each joint over time. Raises LogError."""
    if not looked.motion.thin:
        raise LogError(
            shown(looked.dataset.log.file),
            "the log has no segment without gaps that is long enough for a plot",
        )
    t, q, qd, measured = (np.concatenate(x) for x in zip(*looked.motion.thin, strict=True))
    rows = []
    for k, (name, unit) in enumerate(zip(looked.joints, looked.units, strict=True)):
        limits = looked.limits[k] or Limits()
        speed = (limits.velocity, -limits.velocity) if limits.velocity else ()
        curves = [
            Curve(f"{name}: position ({unit})", q[:, k], (limits.lower, limits.upper)),
            Curve(f"{name}: velocity ({unit}/s)", qd[:, k], speed),
        ]
        for column in looked.dataset.layout.measured[k : k + 1]:
            curves.append(Curve(f"{name}: {column.name} ({column.unit})", measured[:, k]))
        rows.append(curves)
    return drawn(motion_figure(t, rows), target, 110)
