"""Which columns of a log are what: time, positions, velocities, accelerations, measurements."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from symgen.errors import OptionError
from symgen.identification.data.column_map import (
    RECORDERS,
    TIME_COLUMNS,
    ColumnMap,
    LogColumn,
    LogLayout,
    NeededColumns,
    Recorder,
    SensorColumns,
    joint_keys,
    matching_columns,
    number_of_extra_columns,
)
from symgen.identification.data.log_file import Log, LogError, check_columns
from symgen.identification.data.log_options import COLUMN_GROUPS, LogOptions, unit_factor
from symgen.mechanics.model import RigidBodyModel
from symgen.text import hint, quoted, shown

COLUMN_ADVICE: Final = (
    "name the columns with --column {0}=PATTERN, where {{}} is the name or number of a joint; "
)


class PartOfRobotError(LogError):
    """A log of some of the joints of a robot: those that it has and those that it lacks."""

    def __init__(self, place: str, message: str, present: list[str], missing: list[str]) -> None:
        super().__init__(place, message)
        self.place, self.message = place, message
        self.present, self.missing = present, missing

    def of(self, model: RigidBodyModel) -> LogError:
        """With the options that cut the robot to the joints of the log, if these are a chain."""
        bodies = [k for k, body in enumerate(model.moving, 1) if body.velocity in self.present]
        chain = all(model.body(b).parent == a for a, b in pairwise(bodies))
        first = model.body(bodies[0]).parent if bodies else 0
        if not bodies or not chain or not (first or model.base):
            return self
        root = model.body(first).name if first else model.base[0].name
        cut = f"--root {shown(root)} --tip {shown(model.body(bodies[-1]).name)}"
        return LogError(self.place, f"{self.message}, or keep the part that moves: {cut}")


def check_joints(log: Log, columns: dict[str, str]) -> None:
    """Raises PartOfRobotError for a log that has positions of some joints only; `columns` has the
    column of each joint."""
    missing = [joint for joint, column in columns.items() if column not in log.names]
    present = [joint for joint in columns if joint not in missing]
    if missing and present:
        locks = " ".join(f"--lock {shown(joint)}=0" for joint in missing)
        raise PartOfRobotError(
            shown(log.file),
            f"the log has no column '{shown(columns[missing[0]])}'"
            f"{f' (and {len(missing) - 1} more)' if len(missing) > 1 else ''}; name the columns "
            "with --column q=PATTERN, where {} is the name or number of a joint; or lock the "
            f"joints that do not move at their positions: {locks}",
            present,
            missing,
        )


@dataclass(frozen=True)
class _ColumnFinder:
    """Finds groups of columns in a log by what is said of them and the names of a recorder."""

    log: Log
    map: ColumnMap
    recorder: Recorder

    def group(
        self, name: str, keys: Sequence[str], units: Sequence[str], optional: bool = False
    ) -> tuple[LogColumn, ...]:
        """The columns of a group, one a key; none if it may be left out and is. Raises LogError."""
        matches = self._names(name, keys, optional)
        if matches is None:
            return ()
        single = [self.map.patterns.get(f"{name}_{key}", "") for key in keys]
        names = [str(alone) or other for alone, other in zip(single, matches, strict=True)]
        check_columns(self.log, names, COLUMN_ADVICE.format(name))
        return tuple(
            self.column(name, key, column, unit)
            for key, column, unit in zip(keys, names, units, strict=True)
        )

    def column(self, group: str, key: str, name: str, unit: str) -> LogColumn:
        """A column with its factor."""
        scales = dict(self.map.options.scale)
        scale = scales.get(f"{group}_{key}", scales.get(name, 1.0))
        return LogColumn(name, unit_factor(self.map.options.unit, group, unit) * scale, unit)

    def _names(self, group: str, keys: Sequence[str], optional: bool) -> tuple[str, ...] | None:
        stated = self.map.patterns.get(group)
        if isinstance(stated, tuple):
            if len(stated) != len(keys):
                raise OptionError(
                    f"--column {group}: {len(stated)} columns are given, but {len(keys)} needed: "
                    f"{quoted(keys, 8)}"
                )
            return stated
        wrench = group.startswith("wrench")
        pattern = stated or (f"{group}_{{}}" if wrench else self.recorder.pattern(group))
        order = keys if wrench else self._order(keys)
        matches = matching_columns(self.log, pattern, order) or matching_columns(
            self.log, f"{group}[{{}}]", order
        )
        if matches is None and any(f"{group}_{key}" in self.map.patterns for key in keys):
            matches = tuple(f"{group}_{key}" for key in order)
        if matches is None:
            matches = matching_columns(self.log, pattern, order, partly=True)
            if matches is None and optional and stated is None:
                return None
            expected = matches or _expected_names(pattern, group, order)
            if group == "q":
                check_joints(self.log, dict(zip(order, expected, strict=True)))
            check_columns(self.log, expected, COLUMN_ADVICE.format(group))
        by_key = dict(zip(order, matches or (), strict=True))
        self._check_width(group, pattern, keys, tuple(by_key.values()))
        return tuple(by_key[key] for key in keys)

    def _order(self, keys: Sequence[str]) -> Sequence[str]:
        """The order of numbered columns. Raises OptionError where it lacks a joint."""
        stated = self.map.options.joints
        missing = [key for key in keys if stated and key not in stated]
        if missing:
            raise OptionError(
                f"--joints {','.join(stated)}: '{shown(missing[0])}' is missing; list all joints "
                f"of the robot: {quoted(keys, 8)}"
            )
        return stated or keys

    def _check_width(
        self, group: str, pattern: str, keys: Sequence[str], matches: Sequence[str]
    ) -> None:
        """Raises LogError where there are numbered columns of more coordinates than are wanted, for
        then which is which?"""
        if self.map.options.joints:
            return
        width = number_of_extra_columns(
            self.log, pattern, len(keys), matches
        ) or number_of_extra_columns(self.log, f"{group}[{{}}]", len(keys), matches)
        if width > len(keys):
            raise LogError(
                shown(self.log.file),
                f"the log has {width} columns '{group}', but {len(keys)} are needed: "
                f"{quoted(keys, 8)}; remove the others, or name the joints of the columns with "
                "--joints",
            )

    def time(self) -> LogColumn | None:
        """The column of time. Raises LogError where there is none and no rate."""
        stated = self.map.patterns.get("t")
        candidates = [(str(stated), "s")] if stated is not None else self.recorder.time
        column = next(((name, unit) for name, unit in candidates if name in self.log.names), None)
        if column is None:
            if self.map.options.rate and stated is None:
                return None
            check_columns(
                self.log,
                [candidates[0][0]],
                "name the column of time with --column t=NAME, or give the sample rate with "
                "--rate; ",
            )
        name, unit = column or candidates[0]
        given = dict(self.map.options.unit).get("t", unit)
        return LogColumn(name, unit_factor((("t", given),), "t", "s"), "s")


def _expected_names(pattern: str, group: str, keys: Sequence[str]) -> tuple[str, ...]:
    shape = pattern.removeprefix("*") or f"{group}_{{}}"
    return tuple(shape.replace("{}", key) for key in keys)


def log_layout(log: Log, needed: NeededColumns, column_map: ColumnMap) -> LogLayout:
    """The columns of a log for what is needed. Raises LogError for the first that is missing,
    OptionError for what is said of columns and cannot be."""
    finder = _ColumnFinder(log, column_map, _recorder(log, needed.positions, column_map))
    time = finder.time()
    q = finder.group("q", needed.positions, needed.position_units)
    rates = tuple(unit.partition("/")[0] for unit in _rate_units(needed))
    qd = finder.group("qd", needed.velocities, rates, optional=needed.velocities_are_rates)
    qdd = finder.group("qdd", needed.velocities, rates, True) if needed.accelerations else ()
    if qdd and not qd:
        qd = finder.group("qd", needed.velocities, rates)
    measured = [column for sensed in needed.sensors for column in _sensor_columns(finder, sensed)]
    measured += _available_forces(finder, needed) if needed.forces_optional else []
    result = LogLayout(time, q, qd, qdd, tuple(measured), finder.recorder.title)
    _check_scales(log, needed, column_map.options, result)
    return result


def _check_scales(log: Log, needed: NeededColumns, options: LogOptions, layout: LogLayout) -> None:
    """Raises OptionError for a factor of a column that is none, or of time."""
    joints = dict.fromkeys((*needed.positions, *needed.velocities))
    keys = [f"{group}_{joint}" for group in COLUMN_GROUPS for joint in joints]
    keys += [f"{sensed.prefix}_{name}" for sensed in needed.sensors for name in sensed.names]
    for name, _ in options.scale:
        if layout.time is not None and name in ("t", layout.time.name):
            raise OptionError(f"--scale {shown(name)}: give the unit of time, as in --unit t=ms")
        if name not in keys and name not in log.names:
            raise OptionError(
                f"--scale {shown(name)}: no column is called so; "
                f"{hint(name, (*log.names, *keys), 8)}"
            )


def check_order(
    log: Log,
    needed: NeededColumns,
    column_map: ColumnMap,
    columns: LogLayout,
    file_order: Sequence[str],
) -> None:
    """Raises LogError where columns of positions are numbered and nothing states their order, for
    a robot whose coordinates are not in the order of its file: the log may have either order."""
    if column_map.options.joints or isinstance(column_map.patterns.get("q"), tuple):
        return
    numbered = [
        column.name
        for key, column in zip(needed.positions, columns.q, strict=True)
        if key not in column.name and f"q_{key}" not in column_map.patterns
    ]
    if numbered:
        raise LogError(
            shown(log.file),
            f"columns such as '{shown(numbered[0])}' are numbered, and the coordinates of the "
            "robot are not in the order of its file; give the joints in the order of the columns: "
            f"--joints {','.join(map(shown, file_order))} for the order of the file, or "
            f"--joints {','.join(map(shown, needed.positions))} for the order of the coordinates",
        )


def _rate_units(needed: NeededColumns) -> tuple[str, ...]:
    if needed.velocities_are_rates:
        return needed.position_units
    return ("rad",) * len(needed.velocities)


def _recorder(log: Log, names: Sequence[str], column_map: ColumnMap) -> Recorder:
    """Whose names a log has: all positions, else some, of the first recorder that is known."""
    order = column_map.options.joints or names
    for partly in (False, True):
        for recorder in _recorders_with_time(log, column_map):
            if matching_columns(log, recorder.q, order, partly) is not None:
                return recorder
    return RECORDERS[0]


def _recorders_with_time(log: Log, column_map: ColumnMap) -> list[Recorder]:
    """The recorders whose time a log has; all where time is told otherwise."""
    other = bool(column_map.options.rate) or "t" in column_map.patterns
    return [r for r in RECORDERS if other or any(name in log.names for name, _ in r.time)]


def guess_needed_columns(log: Log, column_map: ColumnMap) -> NeededColumns:
    """The layout of a log by itself, for looking at it without a robot: its joints are the keys of
    its positions. Raises LogError where it has none."""
    stated = column_map.patterns.get("q")
    known = (
        [Recorder("", TIME_COLUMNS, stated)]
        if isinstance(stated, str)
        else _recorders_with_time(log, column_map)
    )
    best, _ = max((joint_keys(log, r) for r in known), key=lambda pair: pair[1], default=((), 0))
    if isinstance(stated, tuple):
        best = tuple(str(k + 1) for k in range(len(stated)))
    names = column_map.options.joints or best
    if not names:
        raise LogError(
            shown(log.file),
            "the log has no columns of positions with known names; name them with --column "
            "q=PATTERN, where {} is the name or number of a joint; the columns are "
            f"{quoted(log.names, 12)}",
        )
    return NeededColumns(names, ("rad",) * len(names), names, (), True, True)


def _available_forces(finder: _ColumnFinder, needed: NeededColumns) -> list[LogColumn]:
    """The forces of joints that a log has, else currents; nothing where there are none."""
    names, amperes = needed.velocities, ("A",) * len(needed.velocities)
    forces = tuple("N" if unit == "m" else "N m" for unit in _rate_units(needed))
    matches = finder.group("tau", names, forces, optional=True)
    return list(matches or finder.group("current", names, amperes, optional=True))


def _sensor_columns(finder: _ColumnFinder, sensed: SensorColumns) -> tuple[LogColumn, ...]:
    """The columns of a sensor: forces of joints, else currents with their constants."""
    if sensed.prefix != "tau":
        return finder.group(sensed.prefix, sensed.names, sensed.units)
    options = finder.map.options
    if not options.torque_constant:
        if options.gear_ratio and not sensed.constants:
            raise OptionError(
                "--gear-ratio needs --torque-constant, which it multiplies; add --torque-constant "
                "or remove --gear-ratio"
            )
        amperes = ("A",) * len(sensed.names)
        forces = finder.group("tau", sensed.names, sensed.units, optional=True)
        if sensed.constants and not forces:
            pairs = tuple(zip(sensed.names, sensed.constants, strict=True))
            return _current_columns(finder, sensed, replace(options, torque_constant=pairs))
        if forces or not finder.group("current", sensed.names, amperes, optional=True):
            return forces or finder.group("tau", sensed.names, sensed.units)
        raise LogError(
            shown(finder.log.file),
            "the log has currents but no torques; give --torque-constant JOINT=K for each joint "
            "(N m/A), set torque_constant in an actuator file (--actuators), or estimate the "
            "torque constants with symgen gains from runs with and without a known load",
        )
    return _current_columns(finder, sensed, options)


def _current_columns(
    finder: _ColumnFinder, sensed: SensorColumns, options: LogOptions
) -> tuple[LogColumn, ...]:
    constants, ratios = dict(options.torque_constant), dict(options.gear_ratio)
    for flag, given in (("--torque-constant", constants), ("--gear-ratio", ratios)):
        for name in given:
            if name not in sensed.names:
                raise OptionError(
                    f"{flag} {shown(name)}: no joint has this name; the joints are "
                    f"{quoted(sensed.names, 8)}"
                )
    missing = [name for name in sensed.names if name not in constants]
    if missing:
        raise OptionError(
            f"--torque-constant: the value for joint '{shown(missing[0])}' is missing; add "
            f"--torque-constant {shown(missing[0])}=K"
        )
    names = finder.group("current", sensed.names, ("A",) * len(sensed.names))
    return tuple(
        LogColumn(column.name, column.factor * constants[name] * ratios.get(name, 1.0), unit)
        for column, name, unit in zip(names, sensed.names, sensed.units, strict=True)
    )
