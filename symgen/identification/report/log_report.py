"""The report of ``symgen log``: what was understood of a log, and what its motion is like."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

import numpy as np
from rich.markup import escape

from symgen import __version__
from symgen.identification.data.column_map import LogColumn, Map, NeededColumns
from symgen.identification.data.column_mapping import guessed
from symgen.identification.data.dataset import Progress, Reading, look
from symgen.identification.data.log_options import LogOptions
from symgen.identification.data.open_log import open_log
from symgen.identification.data.samples import Samples
from symgen.inspection.report_tables import table
from symgen.mechanics.model import Limits, RigidBodyModel
from symgen.mechanics.user_coordinates import position_coordinates, velocity_coordinates
from symgen.numbers.types import Numbers
from symgen.output import console

STILL: Final = 3.0
"""A joint stands still where its speed is within so many deviations of its noise,"""
SLOW: Final = 1e-3
"""or below this part of its greatest speed."""
POINTS: Final = 1500
"""Of a line of a picture."""


@dataclass
class MotionStatistics:
    """Statistics of the samples of a log, joint by joint: extremes of position, speed and
    acceleration (n), how many stand still (n), how many were measured, least, greatest and root
    mean square of what was (c), and a thinned series for pictures."""

    total: int
    count: int = 0
    low: Numbers = field(default_factory=lambda: np.zeros(0))
    high: Numbers = field(default_factory=lambda: np.zeros(0))
    speed: Numbers = field(default_factory=lambda: np.zeros(0))
    acceleration: Numbers = field(default_factory=lambda: np.zeros(0))
    still: Numbers = field(default_factory=lambda: np.zeros(0))
    least: Numbers = field(default_factory=lambda: np.zeros(0))
    most: Numbers = field(default_factory=lambda: np.zeros(0))
    squares: Numbers = field(default_factory=lambda: np.zeros(0))
    measured: Numbers = field(default_factory=lambda: np.zeros(0))
    thin: list[tuple[Numbers, Numbers, Numbers, Numbers]] = field(default_factory=list)

    def add(self, samples: Samples) -> None:
        """Takes samples into account."""
        y, usable, is_first = samples.measured, samples.usable, self.count == 0
        extremes = (
            ("low", samples.q.min(0), np.minimum),
            ("high", samples.q.max(0), np.maximum),
            ("speed", np.abs(samples.qd).max(0), np.maximum),
            ("acceleration", np.abs(samples.qdd).max(0), np.maximum),
            ("least", y.min(0, initial=np.inf, where=usable), np.minimum),
            ("most", y.max(0, initial=-np.inf, where=usable), np.maximum),
        )
        for name, new, worse in extremes:
            setattr(self, name, new if is_first else worse(getattr(self, name), new))
        slow = np.maximum(STILL * samples.noise, SLOW * self.speed)
        standing = (np.abs(samples.qd) <= slow).sum(0)
        self.still = standing if is_first else self.still + standing
        self.squares = (y**2).sum(0) if is_first else self.squares + (y**2).sum(0)
        self.measured = usable.sum(0) if is_first else self.measured + usable.sum(0)
        self.count += len(samples)
        sampled = slice(None, None, max(self.total // POINTS, 1))
        drawn = np.where(usable, y, np.nan)[sampled]
        self.thin.append((samples.t[sampled], samples.q[sampled], samples.qd[sampled], drawn))

    @property
    def rms(self) -> Numbers:
        """Of what was measured (c)."""
        return np.asarray(np.sqrt(self.squares / np.maximum(self.measured, 1)))


@dataclass(frozen=True)
class Looked:
    """A log that was looked at: how it is read, its motion, the names of its joints, their units
    and, with a robot, limits."""

    reading: Reading
    motion: MotionStatistics
    joints: tuple[str, ...]
    units: tuple[str, ...]
    limits: tuple[Limits | None, ...]


def looked_at(
    path: str, options: LogOptions, model: RigidBodyModel | None, progress: Progress
) -> Looked:
    """Look at a log, without a robot at all joints that it has. Raises LogError, OptionError."""
    log, map_ = open_log(path), Map.of(options)
    wanted = guessed(log, map_) if model is None else NeededColumns.of(model, lenient=True)
    progress("reading the log (stage 1 of 2)")
    reading = look(log, wanted, model, map_)
    motion = MotionStatistics(reading.plan.samples)
    for samples in reading.blocks(
        lambda step: progress(f"analysing the motion (stage 2 of 2): {step}")
    ):
        motion.add(samples)
    limits = tuple(model.limits.get(name) if model else None for name in wanted.velocities)
    return Looked(reading, motion, wanted.velocities, wanted.position_units, limits)


# -- on a terminal ---------------------------------------------------------------------------------


def on_terminal(looked: Looked) -> None:
    """Prints what was understood, and the motion of each joint."""
    out, reading = console(), looked.reading
    for line in lines(reading):
        out.print(escape(line))
    listed = table(
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
    )
    for row in _rows(looked):
        listed.add_row(*map(escape, row))
    if looked.motion.count:
        out.print(listed)


def lines(reading: Reading) -> Iterator[str]:
    """Time and columns in sentences."""
    survey, layout = reading.survey, reading.layout
    yield (
        f"{PurePath(reading.log.file).name}: {survey.rows} rows, {survey.usable} of them usable; "
        f"recorder: {layout.recorder or 'unknown'}"
    )
    least, low, middle, high, most = (1e3 * x for x in survey.steps)
    name = f"column '{layout.time.name}'" if layout.time else "from --rate"
    yield (
        f"time: {name}, {survey.first:.6g} to {survey.last:.6g} s; steps {middle:.4g} ms "
        f"({1e3 / middle:.4g} Hz), 90 % of them {low:.4g} to {high:.4g} ms, all {least:.4g} to "
        f"{most:.4g} ms" + (" (even)" if survey.even else " (uneven)")
    )
    stretches = len(survey.stretches)
    gaps = f", the longest is {survey.gaps[0]:.4g} s" if survey.gaps else ""
    yield f"gaps: {stretches - 1}{gaps}; derivatives: {_derivatives(reading)}"


def _derivatives(reading: Reading) -> str:
    if reading.derivation is None:
        return "none needed, the log has velocities and accelerations"
    count, span = 2 * reading.derivation.half + 1, 2e3 * reading.derivation.reach
    source = "velocities" if reading.layout.qd else "positions"
    return (
        f"polynomials of order 4 over {count} rows of {source} ({span:.4g} ms), cut-off frequency "
        f"{reading.derivation.cutoff:.3g} Hz (--cutoff)"
    )


def _rows(looked: Looked) -> Iterator[list[str]]:
    layout, motion = looked.reading.layout, looked.motion
    if not motion.count:
        return
    forces = [*layout.measured, *[None] * len(looked.joints)]
    for k, (joint, limits) in enumerate(zip(looked.joints, looked.limits, strict=True)):
        column, unit = forces[k], looked.units[k]
        yield [
            joint,
            _of_column(layout.q, k, unit),
            _of_column(layout.qd, k, f"{unit}/s"),
            "" if column is None else f"{column.name} ({column.unit})",
            f"{motion.low[k]:.4g}",
            f"{motion.high[k]:.4g}",
            _range(limits),
            f"{motion.speed[k]:.4g}",
            f"{limits.velocity:.4g}" if limits and limits.velocity else "",
            f"{motion.acceleration[k]:.4g}",
            f"{looked.reading.noise[k]:.2g}",
            f"{100 * motion.still[k] / motion.count:.3g} %",
            "" if column is None else f"{motion.rms[k]:.4g}",
            "" if column is None else f"{max(abs(motion.least[k]), abs(motion.most[k])):.4g}",
        ]


def _of_column(columns: Sequence[LogColumn], k: int, unit: str) -> str:
    return f"{columns[k].name} ({unit})" if k < len(columns) else "derived"


def _range(limits: Limits | None) -> str:
    if limits is None or limits.lower is None or limits.upper is None:
        return ""
    return f"{limits.lower:.4g}..{limits.upper:.4g}"


# -- data ------------------------------------------------------------------------------------------


def data(looked: Looked) -> dict[str, Any]:
    """Everything that was understood, for JSON (documented in docs/reference/identification.md)."""
    reading, motion = looked.reading, looked.motion
    survey, layout, derivation = reading.survey, reading.layout, reading.derivation
    return {
        "format": 1,
        "generator": f"symgen {__version__}",
        "log": PurePath(reading.log.file).name,
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
        "window": 2 * derivation.half + 1 if derivation else None,
        "joints": {joint: _joint(looked, k) for k, joint in enumerate(looked.joints)},
        "notes": list(reading.notes),
    }


def _joint(looked: Looked, k: int) -> dict[str, Any]:
    layout, motion = looked.reading.layout, looked.motion
    groups = {"q": layout.q, "qd": layout.qd, "qdd": layout.qdd, "force": layout.measured}
    columns = {name: group[k].name for name, group in groups.items() if k < len(group)}
    if not motion.count:
        return {"columns": columns}
    row = {
        "columns": columns,
        "factors": {name: group[k].factor for name, group in groups.items() if k < len(group)},
        "unit": looked.units[k],
        "range": [float(motion.low[k]), float(motion.high[k])],
        "speed": float(motion.speed[k]),
        "acceleration": float(motion.acceleration[k]),
        "velocity_noise": float(looked.reading.noise[k]),
        "still": float(motion.still[k] / motion.count),
    }
    if k < len(layout.measured):
        row["force"] = {
            "unit": layout.measured[k].unit,
            "range": [float(motion.least[k]), float(motion.most[k])],
            "rms": float(motion.rms[k]),
        }
    return row
