"""A map of a log's columns: as said on the command line and in a file of columns."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.data.log_options import GROUPS, LogOptions, check_unit
from symgen.mechanics.joint_listing import position_coordinates, velocity_coordinates
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.types import Numbers
from symgen.reading import toml_reader
from symgen.reading.toml_reader import Table


@dataclass(frozen=True)
class Map:
    """A map of columns: patterns and lists by group, single columns by ``GROUP_JOINT``."""

    patterns: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    options: LogOptions = field(default_factory=LogOptions)

    @classmethod
    def of(cls, options: LogOptions) -> "Map":
        """Of the options, and of the file that they name. Raises OptionError, RobotError."""
        patterns: dict[str, str | tuple[str, ...]] = {}
        if options.columns is not None:
            root, _ = toml_reader.read(options.columns, "a TOML file of columns")
            patterns, options = _of_file(root, options)
        patterns |= {name: _listed(text) for name, text in options.column}
        for name in patterns:
            if name not in GROUPS and name.split("_")[0] not in GROUPS:
                raise OptionError(f"--column {name}: unknown group; use one of {', '.join(GROUPS)}")
        return cls(patterns, options)


def _listed(text: str) -> str | tuple[str, ...]:
    """A pattern, or the names of a list or a range."""
    span = re.fullmatch(r"(\d+)-(\d+)", text)
    if span:
        return tuple(str(k) for k in range(int(span[1]), int(span[2]) + 1))
    return tuple(text.split(",")) if "," in text and "{}" not in text else text


TABLES: Final = ("unit", "scale", "torque_constant", "gear_ratio")


def _of_file(
    root: Table, options: LogOptions
) -> tuple[dict[str, str | tuple[str, ...]], LogOptions]:
    root.only([*GROUPS, *TABLES, "joints", "rate", "columns"])
    patterns = {key: _entry(root, key) for key in GROUPS if key in root.data}
    single = root.table("columns")
    patterns |= {key: _entry(single, key) for key in single.data}
    changes: dict[str, Any] = {
        key: (*root.table(key).data.items(), *getattr(options, key)) for key in TABLES
    }
    for name, unit in changes["unit"]:
        check_unit(name, unit, "unit of")
    for key in TABLES[1:]:
        for name in root.table(key).data:
            root.table(key).number(name)
    if not options.joints and "joints" in root.data:
        changes["joints"] = _names(root, "joints")
    if not options.rate:
        changes["rate"] = root.number("rate", 1e-3) or 0.0
    return patterns, replace(options, **changes)


def _entry(table: Table, key: str) -> str | tuple[str, ...]:
    value = table.data[key]
    if isinstance(value, str):
        return _listed(value)
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
class Sensed:
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
    sensors: tuple[Sensed, ...]
    accelerations: bool
    lenient: bool = False
    """Whether forces or currents are taken as they are found, and need not be there."""

    @classmethod
    def of(
        cls,
        model: RigidBodyModel,
        sensors: Sequence[tuple[str, str]] = (),
        command: str = "",
        lenient: bool = False,
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
            Sensed(group, velocities, kinds.get(kind, (kind,) * len(velocities)))
            for group, kind in sensors
        )
        return cls(names, units, velocities, tuple(sensed), True, lenient)

    @property
    def plain(self) -> bool:
        """Whether velocities are the rates of positions."""
        return self.positions == self.velocities


@dataclass(frozen=True)
class Layout:
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
