"""Several sensors at once: wrenches at joints, with or without the forces of joints."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.data.column_map import Sensed
from symgen.identification.data.samples import Samples
from symgen.identification.model.drive_columns import DriveUnknowns
from symgen.identification.model.equations import Kernel, LinearEquations, Supports
from symgen.identification.model.separable import random_states
from symgen.jobs.job import Job
from symgen.mechanics.coupling import Coupling
from symgen.mechanics.joint_listing import listed_joints
from symgen.mechanics.model import RigidBodyModel
from symgen.numbers.types import Numbers
from symgen.reading import toml_reader
from symgen.reading.options import RobotOptions
from symgen.text import quoted, shown

COMPONENTS: Final = ("fx", "fy", "fz", "tx", "ty", "tz")
"""Of a wrench: force, then torque about the link's origin, in the link's axes."""


def wrenches(joints: Sequence[str]) -> tuple[Sensed, ...]:
    """The measurements of sensors of wrenches: columns ``wrench_fx`` of one, ``wrench_JOINT_fx`` of
    several."""
    units = tuple(unit for _, unit in channels(joints[:1]))
    prefixes = ["wrench"] if len(joints) == 1 else [f"wrench_{joint}" for joint in joints]
    return tuple(Sensed(prefix, COMPONENTS, units) for prefix in prefixes)


def channels(joints: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Names and units of all their components."""
    alone = len(joints) == 1
    return tuple(
        (name if alone else f"{joint} {name}", "N" if name.startswith("f") else "N m")
        for joint in joints
        for name in COMPONENTS
    )


def torque_constants(job: Job, joints: Sequence[str]) -> tuple[float, ...]:
    """Force by ampere of each joint by the job's file of actuators; none where it does not say all
    of them. Raises RobotError."""
    path = job[RobotOptions].drive_file
    if path is None:
        return ()
    table, constants = toml_reader.read(path, "a TOML file of actuators")[0].table("joints"), []
    for joint in joints:
        row = table.table(joint)
        constant, ratio = row.number("torque_constant"), row.number("gear_ratio")
        constants.append(None if constant is None else constant * (1.0 if ratio is None else ratio))
    known = tuple(constant for constant in constants if constant is not None)
    return known if len(known) == len(joints) else ()


def carried(model: RigidBodyModel, joint: str) -> str:
    """The link that a joint moves. Raises OptionError."""
    joints = {row.name: row.body.name for row in listed_joints(model)}
    if joint not in joints:
        raise OptionError(
            f"--sensor wrench:{shown(joint)}: no moving joint is called '{shown(joint)}'; there "
            f"are {quoted(list(joints))}"
        )
    return joints[joint]


@dataclass(frozen=True)
class Stacked:
    """The regressors of several sensors at each sample, in some columns of standard parameters,
    then those of drives. The first kernel is that of joint forces where `forces` says so."""

    kernels: tuple[Kernel, ...]
    columns: tuple[int, ...]
    forces: bool = False
    drives: DriveUnknowns | None = None

    @property
    def _joints(self) -> int:
        return self.kernels[0].shape[0] if self.forces else 0

    @cached_property
    def supports(self) -> Supports:
        """The columns that are not zero in every state."""
        rows = np.concatenate([kernel.nonzero for kernel in self.kernels])[:, list(self.columns)]
        if self.drives is not None:
            of_drives = self.drives.supports
            of_wrenches = np.zeros((len(rows) - len(of_drives), of_drives.shape[1]), np.bool_)
            rows = np.concatenate([rows, np.concatenate([of_drives, of_wrenches])], axis=1)
        return tuple(tuple(np.flatnonzero(row).tolist()) for row in rows)

    def regressor(self, q: Numbers, qd: Numbers, qdd: Numbers) -> Numbers:
        """Of all sensors (N x c x b)."""
        parts = [kernel(q, qd, qdd) for kernel in self.kernels]
        return np.concatenate(parts, axis=1)[:, :, list(self.columns)]

    def equations(self, samples: Samples) -> LinearEquations:
        """The regressors at each sample."""
        regressor = self.regressor(samples.q, samples.qd, samples.qdd)
        if self.drives is None:
            return LinearEquations(regressor, samples.measured, samples.usable)
        n = self._joints
        torques = replace(samples, measured=samples.measured[:, :n], usable=samples.usable[:, :n])
        values = self.drives.values(torques, regressor[:, :n])
        of_wrenches = np.zeros((len(regressor), regressor.shape[1] - n, values.shape[2]))
        columns = np.concatenate([regressor, np.concatenate([values, of_wrenches], axis=1)], axis=2)
        used = samples.usable.copy()
        used[:, :n] &= self.drives.known(torques)
        return LinearEquations(columns, samples.measured, used)


def random_rows(kernels: Sequence[Kernel], coupling: Coupling) -> Numbers:
    """The regressors at random states, row under row."""
    states = random_states(coupling)
    parts = [kernel(*states) for kernel in kernels]
    return np.concatenate([rows.reshape(-1, rows.shape[2]) for rows in parts])
