"""A map of a log's columns, as said on the command line and in a file of columns, and the recorders
whose column names are known.

A pattern has ``{}`` for the name or the number of a joint and may begin with ``*``, any text that
is the same for every joint (the topic of a message)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.data.log_file import Log
from symgen.identification.data.log_options import COLUMN_GROUPS, LogOptions, check_unit
from symgen.mechanics.joint_listing import position_coordinates, velocity_coordinates
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.scalar import Numbers
from symgen.reading import checked_values
from symgen.reading.checked_values import Table


@dataclass(frozen=True)
class ColumnMap:
    """A map of columns: patterns and lists by group, single columns by ``GROUP_JOINT``."""

    patterns: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    options: LogOptions = field(default_factory=LogOptions)

    @classmethod
    def of(cls, options: LogOptions) -> "ColumnMap":
        """Of the options, and of the file that they name. Raises OptionError, RobotError."""
        patterns: dict[str, str | tuple[str, ...]] = {}
        if options.columns is not None:
            root, _ = checked_values.read_toml(options.columns, "a TOML file of columns")
            patterns, options = _from_file(root, options)
        patterns |= {name: _pattern_or_names(text) for name, text in options.column}
        for name in patterns:
            if name not in COLUMN_GROUPS and name.split("_")[0] not in COLUMN_GROUPS:
                raise OptionError(
                    f"--column {name}: unknown group; use one of {', '.join(COLUMN_GROUPS)}"
                )
        return cls(patterns, options)


def _pattern_or_names(text: str) -> str | tuple[str, ...]:
    """A pattern, or the names of a list or a range."""
    span = re.fullmatch(r"(\d+)-(\d+)", text)
    if span:
        return tuple(str(k) for k in range(int(span[1]), int(span[2]) + 1))
    return tuple(text.split(",")) if "," in text and "{}" not in text else text


OPTION_TABLES: Final = ("unit", "scale", "torque_constant", "gear_ratio")


def _from_file(
    root: Table, options: LogOptions
) -> tuple[dict[str, str | tuple[str, ...]], LogOptions]:
    root.check_keys([*COLUMN_GROUPS, *OPTION_TABLES, "joints", "rate", "columns"])
    patterns = {key: _pattern_entry(root, key) for key in COLUMN_GROUPS if key in root.data}
    single = root.table("columns")
    patterns |= {key: _pattern_entry(single, key) for key in single.data}
    changes: dict[str, Any] = {
        key: (*root.table(key).data.items(), *getattr(options, key)) for key in OPTION_TABLES
    }
    for name, unit in changes["unit"]:
        check_unit(name, unit, "unit of")
    for key in OPTION_TABLES[1:]:
        for name in root.table(key).data:
            root.table(key).number(name)
    if not options.joints and "joints" in root.data:
        changes["joints"] = _names(root, "joints")
    if not options.rate:
        changes["rate"] = root.number("rate", 1e-3) or 0.0
    return patterns, replace(options, **changes)


def _pattern_entry(table: Table, key: str) -> str | tuple[str, ...]:
    value = table.data[key]
    if isinstance(value, str):
        return _pattern_or_names(value)
    return str(value) if type(value) is int else _names(table, key)


def _names(table: Table, key: str) -> tuple[str, ...]:
    value = table.data[key]
    if not isinstance(value, list) or not all(type(entry) in (str, int) for entry in value):
        raise table.error(key, "needs a pattern, a number or a list of names or numbers")
    return tuple(map(str, value))


@dataclass(frozen=True)
class LogColumn:
    """A column of a log, and what its numbers are multiplied by to be SI; `name` as the log has it,
    `unit` as the robot does."""

    name: str
    factor: float
    unit: str


@dataclass(frozen=True)
class SensorColumns:
    """The measurements of a sensor: the group of its columns, the names within it, and their units;
    and force by ampere where the robot's files know it of all names."""

    prefix: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    constants: tuple[float, ...] = ()


def force_unit(unit: str) -> str:
    """The unit of the force of a coordinate with a unit such as rad or m/s."""
    return "N m" if unit.startswith("rad") else "N"


@dataclass(frozen=True)
class NeededColumns:
    """The columns that a method of identification needs: names and units of positions and
    velocities, sensors; whether accelerations."""

    positions: tuple[str, ...]
    position_units: tuple[str, ...]
    velocities: tuple[str, ...]
    sensors: tuple[SensorColumns, ...]
    accelerations: bool
    forces_optional: bool = False
    """Whether forces or currents are taken as they are found, and need not be there."""

    @classmethod
    def of(
        cls,
        model: RigidBodyModel,
        sensors: Sequence[tuple[str, str]] = (),
        command: str = "",
        forces_optional: bool = False,
    ) -> "NeededColumns":
        """The columns of the user's coordinates of a robot, and for each of `sensors`, a group of
        columns and its kind of unit (force, position or A), one of each coordinate. Raises
        OptionError, with `command`, for joints with several coordinates."""
        rows, rates = position_coordinates(model), velocity_coordinates(model)
        names, units = tuple(row.name for row in rows), tuple(row.unit for row in rows)
        velocities = tuple(row.name for row in rates)
        if command and names != velocities:
            raise OptionError(
                f"{command} supports only robots whose joints have one coordinate each; select a "
                "part of the robot with --root and --tip"
            )
        kinds = {"force": tuple(force_unit(row.unit) for row in rates), "position": units}
        sensed = (
            SensorColumns(group, velocities, kinds.get(kind, (kind,) * len(velocities)))
            for group, kind in sensors
        )
        return cls(names, units, velocities, tuple(sensed), True, forces_optional)

    @property
    def velocities_are_rates(self) -> bool:
        """Whether velocities are the rates of positions."""
        return self.positions == self.velocities


@dataclass(frozen=True)
class LogLayout:
    """The columns of a log that are read; a group that the log lacks is empty. `time` is None where
    rows are even and have none. `recorder` says whose names they are."""

    time: LogColumn | None
    q: tuple[LogColumn, ...]
    qd: tuple[LogColumn, ...]
    qdd: tuple[LogColumn, ...]
    measured: tuple[LogColumn, ...]
    recorder: str

    @property
    def all(self) -> tuple[LogColumn, ...]:
        """All of them, in the order of reading; time first."""
        time = (self.time,) if self.time else ()
        return (*time, *self.q, *self.qd, *self.qdd, *self.measured)

    @property
    def factors(self) -> Numbers:
        """The factor of each column."""
        return np.array([column.factor for column in self.all])

    @property
    def names(self) -> tuple[str, ...]:
        """Each column once, in the order of `all`."""
        return tuple(dict.fromkeys(column.name for column in self.all))

    @property
    def places(self) -> list[int]:
        """Where each of `all` stands among `names`."""
        numbers = {name: k for k, name in enumerate(self.names)}
        return [numbers[column.name] for column in self.all]


# -- recorders -------------------------------------------------------------------------------------


OWN_RECORDER: Final = "symgen"


@dataclass(frozen=True)
class Recorder:
    """The names that a program gives to its columns; empty where it has no such group.

    `time` are columns of time with their unit."""

    title: str
    time: tuple[tuple[str, str], ...]
    q: str
    qd: str = ""
    qdd: str = ""
    tau: str = ""
    current: str = ""

    def pattern(self, group: str) -> str:
        """Of a group but time."""
        return str(getattr(self, group, f"{group}_{{}}"))


TIME_COLUMNS: Final = (
    ("t", "s"),
    ("time", "s"),
    ("timestamp", "s"),
    ("stamp", "s"),
    ("Time", "s"),
    ("time_s", "s"),
    ("t_ms", "ms"),
    ("time_ms", "ms"),
    ("timestamp_ns", "ns"),
)
"""Of recorders that are not known."""

RECORDERS: Final = (
    Recorder(OWN_RECORDER, TIME_COLUMNS, "q_{}", "qd_{}", "qdd_{}", "tau_{}", "current_{}"),
    Recorder("matrices", TIME_COLUMNS, "q[{}]", "qd[{}]", "qdd[{}]", "tau[{}]", "current[{}]"),
    # Universal Robots RTDE: the recipe's variables, one column an element
    Recorder(
        "UR RTDE", (("timestamp", "s"), *TIME_COLUMNS), "actual_q_{}", "actual_qd_{}", "", "",
        "actual_current_{}",
    ),
    # libfranka, logToCSV: time is a duration in ms
    Recorder(
        "libfranka", (("duration", "ms"), ("time", "ms")), "state.q[{}]", "state.dq[{}]", "",
        "state.tau_J[{}]",
    ),
    Recorder(
        "libfranka", (("duration", "ms"), *TIME_COLUMNS), "q[{}]", "dq[{}]", "ddq[{}]", "tau_J[{}]",
    ),
    Recorder("libfranka", TIME_COLUMNS, "q{}", "dq{}", "ddq{}", "tau_J{}"),
    Recorder("libfranka", TIME_COLUMNS, "q_{}", "dq_{}", "ddq_{}", "tau_J_{}"),
    # sensor_msgs/JointState, as `symgen` reads bags, as PlotJuggler and rostopic write it
    Recorder("JointState", TIME_COLUMNS, "position_{}", "velocity_{}", "", "effort_{}"),
    Recorder(
        "PlotJuggler", (("__time", "s"), *TIME_COLUMNS), "*/{}/position", "*/{}/velocity", "",
        "*/{}/effort",
    ),
    Recorder(
        "PlotJuggler", (("__time", "s"), *TIME_COLUMNS), "*/position[{}]", "*/velocity[{}]", "",
        "*/effort[{}]",
    ),
    Recorder(
        "rostopic", (("time", "ns"), ("%time", "ns"), ("field.header.stamp", "ns")),
        "field.position{}", "field.velocity{}", "", "field.effort{}",
    ),
    Recorder("q1, dq1, tau1", TIME_COLUMNS, "q{}", "qd{}", "qdd{}", "tau{}", "i{}"),
    Recorder("pos, vel", TIME_COLUMNS, "pos_{}", "vel_{}", "acc_{}", "torque_{}", "current_{}"),
)  # fmt: skip
"""In the order in which they are tried."""


def matching_columns(
    log: Log, pattern: str, joints: Sequence[str], partly: bool = False
) -> tuple[str, ...] | None:
    """The columns of a pattern, one a joint: by the joints' names, or numbered from 0 or from 1;
    None where there are none. `partly` takes them where at least one is there."""
    names, count = set(log.names), len(joints)
    for keys in (list(joints), [*map(str, range(count))], [*map(str, range(1, count + 1))]):
        for key in keys if partly else keys[:1]:
            start = _column_prefix(log, pattern, key)
            if start is not None:
                found = tuple(start + _column_suffix(pattern, k) for k in keys)
                if partly or names.issuperset(found):
                    return found
    return None


def _column_suffix(pattern: str, key: str) -> str:
    return pattern.removeprefix("*").replace("{}", key)


def _column_prefix(log: Log, pattern: str, key: str) -> str | None:
    """The text before the name of the first column of a key; None if it has none."""
    end = _column_suffix(pattern, key)
    if not pattern.startswith("*"):
        return "" if pattern and end in log.names else None
    match = next((name for name in log.names if name.endswith(end)), None)
    return None if match is None else match[: len(match) - len(end)]


def joint_keys(log: Log, recorder: Recorder) -> tuple[tuple[str, ...], int]:
    """The names or numbers of the joints of which a log has positions, in its order, those of which
    it has something else too where there are such; and how many columns they have in all."""
    shape = re.escape(recorder.q).replace(r"\{\}", r"(?P<key>[^/\[\]]+)").replace(r"\*", ".*", 1)
    matches = [m["key"] for name in log.names if (m := re.fullmatch(shape, name))]
    others = (recorder.qd, recorder.tau, recorder.current)
    count = {key: sum(_column_prefix(log, x, key) is not None for x in others) for key in matches}
    kept = [key for key in count if count[key] == max(count.values())]
    return tuple(kept), sum(count[key] + 1 for key in kept)


def number_of_extra_columns(log: Log, pattern: str, count: int, matches: Sequence[str]) -> int:
    """How many columns a numbered pattern has where these are more than `count` joints; 0
    otherwise."""
    starts = ((str(k), _column_prefix(log, pattern, str(k))) for k in range(count + 64))
    numbered = {start + _column_suffix(pattern, key) for key, start in starts if start is not None}
    return len(numbered) if set(matches) < numbered else 0
