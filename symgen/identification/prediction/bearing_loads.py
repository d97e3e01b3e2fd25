"""Loads of the bearings of joints over a motion: the largest and root-mean-square force and moment
that each joint transmits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.identification.data.samples import ColumnStatistics, Samples
from symgen.identification.model.regressor_tapes import traced
from symgen.jobs.job import Job
from symgen.mechanics.joint_listing import listed_joints
from symgen.mechanics.model import RigidBodyModel
from symgen.native.tape import NativeTape
from symgen.numbers.types import Numbers
from symgen.reading.assemble import LoadedRobot

LOADS: Final = {
    "axial_force": "N",
    "radial_force": "N",
    "bending_moment": "N m",
    "force": "N",
    "moment": "N m",
}
"""Magnitudes of a joint's wrench with their units: along the axis of the joint, across it, the
moment across it, and the whole force and moment. A joint with several axes has the last two."""


@dataclass(frozen=True)
class BearingLoad:
    """The largest value and the root mean square of one of LOADS."""

    maximum: float
    rms: float


@dataclass(frozen=True)
class JointLoads:
    """The loads of a joint over a motion, by name of LOADS."""

    joint: str
    loads: dict[str, BearingLoad]


class BearingLoads:
    """Loads of all moving joints of a robot, from wrenches that are added block by block."""

    def __init__(self, model: RigidBodyModel) -> None:
        self._joints = [row.body.joint for row in listed_joints(model)]
        self._sizes = ColumnStatistics.of(len(self._joints) * len(LOADS))

    def add(self, wrenches: Numbers) -> None:
        """Add the output of ``joint_wrenches`` in some states (N x joints x 6)."""
        axes = np.array([joint.axis for joint in self._joints])
        force, moment = wrenches[..., :3], wrenches[..., 3:]
        along = [(x * axes).sum(-1, keepdims=True) for x in (force, moment)]
        across = [x - a * axes for x, a in zip((force, moment), along, strict=True)]
        vectors = (along[0], *across, force, moment)
        sizes = np.stack([np.sqrt((x * x).sum(-1)) for x in vectors], axis=-1)
        self._sizes.add(sizes.reshape(len(sizes), -1))

    @property
    def joints(self) -> tuple[JointLoads, ...]:
        """The loads of each joint."""
        pairs = zip(np.maximum(self._sizes.ends[1], 0.0), self._sizes.rms, strict=True)
        loads = [BearingLoad(float(largest), float(rms)) for largest, rms in pairs]
        count, found = len(LOADS), []
        for k, joint in enumerate(self._joints):
            named = dict(zip(LOADS, loads[count * k : count * (k + 1)], strict=True))
            if not joint.type.has_one_coordinate:
                named = {name: named[name] for name in ("force", "moment")}
            found.append(JointLoads(joint.name, named))
        return tuple(found)


@dataclass(frozen=True)
class WrenchModel:
    """The wrenches of all joints of a robot as a function of its motion."""

    model: RigidBodyModel
    tape: NativeTape

    @classmethod
    def of(cls, job: Job, loaded: LoadedRobot) -> "WrenchModel":
        """The wrenches with the inertial parameters of the robot's file. Raises OptionError."""
        return cls(loaded.model, traced(job, loaded, "joint_wrenches").tape)

    def __call__(self, samples: Samples) -> Numbers:
        """The wrenches in all samples (N x joints x 6)."""
        return self.tape(samples.q, samples.qd, samples.qdd).reshape(len(samples), -1, 6)


def bearing_loads(model: RigidBodyModel, wrenches: Sequence[Numbers]) -> tuple[JointLoads, ...]:
    """The loads of the joints of a robot from blocks of wrenches (N x joints x 6 each)."""
    loads = BearingLoads(model)
    for block in wrenches:
        loads.add(block)
    return loads.joints
