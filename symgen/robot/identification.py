"""Identification from Python: `Robot.identify`, `Robot.excite`, `Robot.gains` and
`Robot.stiffness`, as the commands of the same names."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symgen.errors import OptionError
from symgen.identification.data.open_log import LogSource, read_log
from symgen.identification.estimation.run import Identified, identify
from symgen.identification.excitation.motion_limits import ExcitationPlan, motion_bounds
from symgen.identification.excitation.task import ExcitationTask
from symgen.identification.model.problem import friction, torque_mapping
from symgen.identification.model.regressor_tapes import dynamics
from symgen.identification.model.settings import Settings
from symgen.identification.prediction.prediction_errors import Prediction
from symgen.identification.report.prediction_report import with_validation
from symgen.jobs.job import Job
from symgen.mechanics.joint_listing import velocity_coordinates
from symgen.numbers.scalar import Numbers
from symgen.options import rows
from symgen.reading.assemble import LoadedRobot
from symgen.reading.options import RobotOptions, SourceOptions
from symgen.text import hint, shown

if TYPE_CHECKING:
    from symgen.identification.gains.joint_stiffness import JointStiffness
    from symgen.identification.report.shaping import EstimateOutputs

Progress = Callable[[str], None]


def _silent(step: str) -> None:
    """Report no progress."""


def settings_of(group: Any, options: dict[str, Any]) -> Any:
    """The options of a group, which are taken out of `options`. Raises OptionError."""
    names = {row.name for row in rows(group)} & {*options}
    return group(**{name: options.pop(name) for name in names})


@dataclass(frozen=True)
class Identification:
    """The parameters of a robot that were estimated from a log.

    Every array has the units of SI and the order of the robot's velocities."""

    job: Job
    loaded: LoadedRobot
    result: Identified

    @property
    def parameters(self) -> dict[str, float]:
        """All estimated values by name: base parameters, then the coefficients of friction."""
        estimate = self.result.estimate
        return dict(zip(estimate.names, estimate.values.tolist(), strict=True))

    @property
    def standard_errors(self) -> dict[str, float]:
        """The standard error of each value, by name."""
        estimate = self.result.estimate
        return dict(zip(estimate.names, estimate.standard_errors.tolist(), strict=True))

    @property
    def covariance(self) -> Numbers:
        """The covariance (p x p) of the values, in the order of `parameters`."""
        return self.result.estimate.covariance

    @property
    def friction(self) -> dict[str, float]:
        """The coefficients of the joints' laws, such as ``viscous elbow``."""
        return {name: self.parameters[name] for name in self.result.estimate.friction}

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings and notes about the log and the estimate."""
        return self.result.notes

    def predict(self, log: Any) -> dict[str, Numbers]:
        """Predict the joint forces of a log (see `symgen.read_log`).

        Returns at most some thousand rows, evenly spaced: ``t`` (N), ``measured`` (N x n, NaN where
        a measurement is missing) and ``predicted`` (N x n). Raises LogError."""
        points = self._prediction(log).points
        return {"t": points.t, "measured": points.measured, "predicted": points.predicted}

    def score(self, log: Any) -> float:
        """The part of the squares of a log's forces that is predicted (1 is perfect), the mean over
        the joints, on all rows. Raises LogError."""
        errors = [channel.views["all"].relative for channel in self._prediction(log).channels]
        return float(1 - np.mean([error**2 for error in errors if error is not None]))

    def errors(self, log: Any) -> dict[str, float]:
        """The relative error of each joint on a log: root mean square of the error of prediction by
        that of the measured force. Raises LogError."""
        channels = self._prediction(log).channels
        return {c.name: float(c.views["all"].relative or 0.0) for c in channels}

    def _prediction(self, log: Any) -> Prediction:
        found = with_validation(self.job, self.loaded, self.result, read_log(log), _silent)
        assert found.prediction is not None
        return found.prediction

    def to_urdf(self, force: bool = False) -> bytes:
        """The robot's file with physically consistent inertias that have the estimated base
        parameters. Raises OptionError if the estimate is implausible, unless `force` is given."""
        path = Path("identified.urdf")
        outputs = self._outputs(path, force)
        if path in outputs.withheld:
            raise OptionError(f"to_urdf: {outputs.withheld[path]}")
        return next(iter(outputs.files.values()))

    @cached_property
    def model(self) -> bytes:
        """The model file, a TOML file whose path `symgen.Robot` and `symgen.generate` take as
        `estimate`. Raises OptionError for an estimate from wrenches."""
        model = self._outputs(None, folder=Path()).model
        if model is None:
            raise OptionError("model: an estimate from wrenches has no model file")
        return model

    @property
    def robots(self) -> dict[str, "Identification"]:
        """Each of several robots of one type: the common bodies and its own friction."""
        return {name: replace(self, result=one) for name, one in self.result.robots.items()}

    def _outputs(
        self, urdf: Path | None, force: bool = False, folder: Path | None = None
    ) -> "EstimateOutputs":
        from symgen.identification.report.shaping import OutputRequest, estimate_outputs

        asked = OutputRequest(urdf, folder=folder, force=force)
        return estimate_outputs(asked, self.job, self.loaded, self.result, _silent)

    @cached_property
    def summary(self) -> str:
        """One sentence: whether the estimate is usable, with the reasons if it is not."""
        return self._outputs(None).summary

    def __repr__(self) -> str:
        errors = ", ".join(
            f"{c.name} {100 * c.residual_rms / c.measured_rms:.1f} %"
            for c in self.result.estimate.channels
            if c.measured_rms
        )
        return f"Identification({len(self.parameters)} parameters; residuals {errors})"

    def _repr_html_(self) -> str:
        from symgen.identification.report.identification_report import page

        outputs = self._outputs(None)
        warnings = tuple(verdict.text for verdict in outputs.verdicts)
        return page(self.result, outputs.summary, outputs.refuted, warnings)


def identify_robot(
    job: Job,
    log: Any,
    validation: Any = None,
    progress: Progress = _silent,
    workers: str | int = "",
    robots: Sequence[str] = (),
    **options: Any,
) -> Identification:
    """Estimate the parameters of a robot from a log or several (see `Robot.identify`)."""
    settings: Settings = settings_of(Settings, options)
    job = job.changed(**options)
    loaded = job.load()
    logs = [  # a path may be that of a data set
        os.fspath(one) if isinstance(one, (str, os.PathLike)) else read_log(one)
        for one in (log if isinstance(log, (list, tuple)) else [log])
    ]
    result = identify(job, loaded, logs, settings, progress, workers=str(workers), robots=robots)
    other: LogSource | None = None if validation is None else read_log(validation)
    return Identification(job, loaded, with_validation(job, loaded, result, other, progress))


def excitation_task(
    job: Job, plan: ExcitationPlan, limits: Sequence[tuple[str, str, float]]
) -> ExcitationTask:
    """The task of finding a motion that excites a robot. Raises OptionError."""
    if job[RobotOptions].gravity == "runtime":
        raise OptionError("--gravity runtime: symgen excite needs a constant; give X,Y,Z")
    loaded = job.load()
    bound, mapping = motion_bounds(loaded, list(limits)), torque_mapping(loaded.model)
    posture, free = _space(job, loaded, plan, bound)
    drives = friction(job, loaded.model)
    values = np.array([*mapping.base(mapping.prior), *drives.values()])
    lengths = tuple(row.unit.startswith("m") for row in velocity_coordinates(loaded.model))
    return ExcitationTask(
        loaded.model.joint_names, dynamics(job, loaded), values, bound, plan, lengths,
        tuple(drives), posture, free,
    )  # fmt: skip


def _space(job: Job, loaded: LoadedRobot, plan: ExcitationPlan, bound: Any) -> tuple[Any, Any]:
    """The centre of the motion and its free space, None for what no option asks for. Raises
    SymgenError."""
    from symgen.identification.excitation.clearance import RANDOM_POSTURES, clearance
    from symgen.reading.visual_shapes import COLLISION, shapes

    posture, names = None, loaded.model.joint_names
    allowed = bound.within(plan.margin)
    if plan.around:
        posture = (allowed.lower + allowed.upper) / 2
        for name, value in plan.around:
            if name not in names:
                raise OptionError(
                    f"--around {shown(name)}: no joint is called so; {hint(name, names)}"
                )
            k = names.index(name)
            if not allowed.lower[k] < value < allowed.upper[k]:
                raise OptionError(
                    f"--around {shown(name)}={value:g}: the position must be between the limits "
                    f"{allowed.lower[k]:.4g} and {allowed.upper[k]:.4g} (with --margin)"
                )
            posture[k] = value
    if not plan.limits_space:
        return posture, None
    try:
        found = shapes(loaded.file, job[SourceOptions], COLLISION)
    except ValueError:
        raise OptionError(
            "--keep-above, --workspace, --self-clearance: the file has collision geometry that "
            "symgen cannot read; use box, sphere, cylinder, capsule or mesh"
        ) from None
    random = np.random.default_rng([plan.seed, 2])
    postures = random.uniform(allowed.lower, allowed.upper, (RANDOM_POSTURES, len(names)))
    return posture, clearance(job.robot(loaded), found, plan, postures)


def at_runtime(friction: str) -> str:
    """The laws of friction as inputs of the model. Raises OptionError for others than those that
    depend on the rate alone."""
    from symgen.mechanics.joint_forces import FRICTION, LAWS

    known = [law for law in FRICTION if not LAWS[law].reads]
    kinds = friction.removeprefix("runtime:").split(",") if friction else []
    if len(set(kinds)) < len(kinds) or not set(kinds) <= {*known}:
        raise OptionError(f"--friction {friction}: use some of {', '.join(known)}")
    return f"runtime:{','.join(kinds)}" if kinds else ""


def excite_robot(
    job: Job,
    limits: Mapping[str, float] | None = None,
    friction: str = "",
    progress: Progress = _silent,
    **options: Any,
) -> dict[str, Numbers]:
    """A motion that excites a robot (see `Robot.excite`)."""
    from symgen.identification.excitation.optimizer import excite

    plan = settings_of(ExcitationPlan, options)
    split = [(*name.rpartition(".")[::2], float(x)) for name, x in (limits or {}).items()]
    task = excitation_task(job.changed(friction=at_runtime(friction), **options), plan, split)
    excited = excite(task, progress)
    t = excited.task.plan.times
    q, qd, qdd = excited.motion.states(t)
    groups = (("q", q), ("qd", qd), ("qdd", qdd))
    named = {f"{g}_{name}": x[:, k] for g, x in groups for k, name in enumerate(task.names)}
    return {"t": t, **named}


def gains_of_robot(
    job: Job,
    unloaded: Any,
    loaded: Any,
    mass: float,
    link: str | None = None,
    progress: Progress = _silent,
    **options: Any,
) -> dict[str, float]:
    """The torque constants of a robot (see `Robot.gains`)."""
    from symgen.identification.data.log_options import LogOptions
    from symgen.identification.gains.torque_constants import estimate_gains

    log_options = settings_of(LogOptions, options)
    job = job.changed(**options)
    logs = read_log(unloaded), read_log(loaded)
    fitted = estimate_gains(job, job.load(), logs, mass, link, log_options, progress)
    return dict(zip(fitted.joints, fitted.values.tolist(), strict=True))


def stiffness_of_robot(job: Job, log: Any, torque: str, **options: Any) -> "JointStiffness":
    """The springs of a robot's joints (see `Robot.stiffness`)."""
    from symgen.identification.data.log_options import LogOptions
    from symgen.identification.gains.joint_stiffness import joint_stiffness

    log_options = settings_of(LogOptions, options)
    job = job.changed(**options)
    return joint_stiffness(job, job.load(), read_log(log), torque, log_options)
