"""How well a model predicts the forces of a log: errors of each channel, over all rows and over
those in which its joint moves, as measured and filtered, and points of it for pictures; and the
loads of the bearings of joints, the largest and root-mean-square force and moment that each joint
transmits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from symgen.identification.data.dataset import LogDataset
from symgen.identification.data.differentiation import DerivativeFilter
from symgen.identification.data.samples import ColumnStatistics, Samples
from symgen.identification.model.drive_columns import (
    DriveColumn,
    DriveUnknowns,
    ShapePairs,
    presliding_states,
)
from symgen.identification.model.equations import Equations
from symgen.identification.model.problem import Problem
from symgen.identification.model.regressor_tapes import traced
from symgen.jobs.job import Job
from symgen.mechanics.joint_forces import FRICTION_WIDTH, INERTIA_GROUP, LAWS, ForceLaw
from symgen.mechanics.joint_listing import listed_joints
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.native.library import NativeTape
from symgen.numbers.scalar import Numbers
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


# -- loads of bearings -----------------------------------------------------------------------------


Flags = NDArray[np.bool_]

SLOW: Final = 0.02
"""A joint moves if its rate (rad/s or m/s) is larger."""
POINTS: Final = 4000
"""Rows of a log that are kept for pictures, evenly spread."""
VIEWS: Final = ("all", "moving", "filtered", "filtered_moving")
"""All rows or those in which the joint moves, as they are or both sides filtered alike."""


@dataclass(frozen=True)
class Predictor:
    """Equations with their values (p), and the names and units of the measured channels."""

    equations: Equations
    values: Numbers
    channels: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Share:
    """Rows of a channel: their number, root mean squares of the measured force and of the error of
    its prediction (N m or N)."""

    rows: int
    measured_rms: float
    error_rms: float

    @property
    def relative(self) -> float | None:
        """The norm of the error by that of the measurements; None where nothing was measured."""
        return self.error_rms / self.measured_rms if self.measured_rms else None


@dataclass(frozen=True)
class ChannelErrors:
    """The errors of one channel in each of VIEWS; `bias` is their mean (N m or N)."""

    name: str
    unit: str
    views: dict[str, Share]
    bias: float


@dataclass(frozen=True)
class Points:
    """Rows for pictures: time (N), velocities (N x n), measured (NaN where nothing was) and
    predicted values, the part of the prediction that is no drive's, and which rows counted in an
    estimate (each N x c)."""

    t: Numbers
    rates: Numbers
    measured: Numbers
    predicted: Numbers
    load: Numbers
    used: Flags

    def rows(self, kept: slice | NDArray[np.intp]) -> "Points":
        """Some of the rows, by themselves: what is left out can go."""
        return Points(*(np.array(x[kept]) for x in vars(self).values()))


@dataclass(frozen=True)
class Prediction:
    """The errors of all channels of a log, and points of it."""

    dataset: LogDataset
    channels: tuple[ChannelErrors, ...]
    points: Points
    held_out: bool = False
    """Whether these are the rows alone that an estimate from the same log has not seen."""
    joints: tuple[JointLoads, ...] = ()
    """The loads of the joints, if they were asked for."""


@dataclass(frozen=True)
class _Sums:
    """Statistics of what was measured and of the errors of its prediction, by view."""

    views: dict[str, tuple[ColumnStatistics, ColumnStatistics]]

    def add(self, view: str, measured: Numbers, error: Numbers, counts: Flags) -> None:
        """Takes rows (N x c) into account."""
        for statistics, rows in zip(self.views[view], (measured, error), strict=True):
            statistics.add(rows, counts)

    def channel(self, k: int, name: str, unit: str) -> ChannelErrors:
        """The errors of a channel."""
        shares = {
            view: Share(int(np.atleast_1d(y.count)[k]), float(y.rms[k]), float(error.rms[k]))
            for view, (y, error) in self.views.items()
        }
        bias = np.atleast_1d(self.views["all"][1].total)[k] / max(shares["all"].rows, 1)
        return ChannelErrors(name, unit, shares, float(bias))


def predict(
    dataset: LogDataset,
    predictor: Predictor,
    progress: Callable[[str], None] = lambda step: None,
    held_out: bool = False,
    wrenches: WrenchModel | None = None,
) -> Prediction:
    """The prediction of a whole log, read block by block, or of the rows that are held out. With
    `wrenches` it contains the loads of the joints. Raises LogError."""
    loads = BearingLoads(wrenches.model) if wrenches else None
    count = len(predictor.channels)
    sums = _Sums({v: (ColumnStatistics.of(count), ColumnStatistics.of(count)) for v in VIEWS})
    kept = list[Points]()
    stride = max(dataset.survey.usable // POINTS, 1)
    derivative_filter = dataset.filter_or_default()
    predicting = lambda step: progress(f"predicting: {step}")  # noqa: E731
    drives = predictor.equations.drives
    blocks = dataset.blocks(predicting)
    if drives is not None and drives.presliding is not None:
        blocks = drives.presliding.attached(blocks)
    first = len(dataset.plan.training) if held_out else 0
    for samples in islice(blocks, first, None):
        if wrenches and loads:
            loads.add(wrenches(samples))
        points = points_of(samples, predictor)
        _add(sums, points, samples, derivative_filter)
        seen = np.where(samples.usable, points.measured, np.nan)
        kept.append(replace(points, measured=seen).rows(slice(None, None, stride)))
    rows = tuple(sums.channel(k, *channel) for k, channel in enumerate(predictor.channels))
    return Prediction(dataset, rows, joined(kept), held_out, loads.joints if loads else ())


def points_of(samples: Samples, predictor: Predictor) -> Points:
    """All samples as points."""
    linear = predictor.equations.equations(samples)
    drives = predictor.equations.drives
    first = linear.regressor.shape[2] - (len(drives.columns) if drives else 0)
    load = linear.regressor[:, :, :first] @ predictor.values[:first]
    predicted = linear.regressor @ predictor.values
    return Points(samples.t, samples.qd, linear.measured, predicted, load, linear.used)


def _add(
    sums: _Sums, points: Points, samples: Samples, derivative_filter: DerivativeFilter
) -> None:
    error, usable = points.measured - points.predicted, samples.usable
    moving = usable.copy()
    if points.rates.shape == error.shape:
        moving &= np.abs(points.rates) > SLOW
    sums.add("all", points.measured, error, usable)
    sums.add("moving", points.measured, error, moving)
    half = derivative_filter.half_width
    if len(points.t) <= 2 * half:
        return
    fitted, inner = derivative_filter.filters(points.t), slice(half, len(points.t) - half)
    smooth, rough = fitted(points.measured, 0), fitted(error, 0)
    complete = np.asarray(sliding_window_view(usable, 2 * half + 1, axis=0).all(axis=2))
    sums.add("filtered", smooth, rough, complete)
    sums.add("filtered_moving", smooth, rough, complete & moving[inner])


def joined(parts: Sequence[Points]) -> Points:
    """Consecutive points."""
    columns: Any = zip(*(vars(part).values() for part in parts), strict=True)
    return Points(*(np.concatenate(column) for column in columns))


def predictor(
    problem: Problem, base: Numbers, columns: Sequence[DriveColumn], values: Sequence[float]
) -> Predictor:
    """The predictor of base parameters (b) and the coefficients of some columns of drives."""
    drives = None
    all_values = np.concatenate([base, np.asarray(values, np.float64)])
    if problem.joints is not None:
        slowest = np.zeros(len(problem.joints.names))
        states = presliding_states(columns, problem.joints)
        drives = DriveUnknowns(problem.joints, tuple(columns), slowest, presliding=states)
        drives = drives.with_loads(columns, all_values)
    return Predictor(problem.equations(drives), all_values, problem.channels)


def of_robot(problem: Problem) -> Predictor:
    """The predictor of the robot's files, or of the model file that replaces them: inertial
    parameters, rotors, friction and springs. Rotors are bodies of the model."""
    columns, values = list[DriveColumn](), list[float]()
    bodies = {body.velocity: body for body in problem.mapping.model.bodies}
    laws = [law for law, row in LAWS.items() if row.group != INERTIA_GROUP]
    for k, name in enumerate(problem.joints.names if problem.joints else ()):
        for law in laws:
            if value := bodies[name].coefficient(law):
                columns.append(DriveColumn(k, law, _shape(bodies[name], LAWS[law])))
                values.append(value)
    return predictor(problem, problem.mapping.base(problem.mapping.prior), columns, values)


def _shape(body: Body, law: ForceLaw) -> ShapePairs:
    """The shape parameters of a law at the coordinate of a body."""
    parameters = (*law.shape, *((FRICTION_WIDTH,) if law.has_width else ()))
    values = ((parameter.name, body.coefficient(parameter.name)) for parameter in parameters)
    return tuple((name, value) for name, value in values if value)
