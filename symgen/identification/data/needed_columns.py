"""Columns of a log, and what is wanted of them."""

from dataclasses import dataclass

import numpy as np

from symgen.numbers.types import Numbers


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
