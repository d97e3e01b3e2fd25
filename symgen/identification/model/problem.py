"""From a robot and the settings to what identification needs of a log and the equations it makes of
it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.data.log_options import AUTO
from symgen.identification.data.needed_columns import NeededColumns, Sensed
from symgen.identification.model.compiled_kernel import Kernel, kernel
from symgen.identification.model.cross_axis_moments import Bending, bending
from symgen.identification.model.drive_columns import DriveUnknowns, Joints
from symgen.identification.model.equations import Energies, Equations, Instants, Momenta
from symgen.identification.model.estimate import BaseMapping
from symgen.identification.model.methods import METHODS
from symgen.identification.model.sensors import (
    Stacked,
    carried,
    channels,
    random_rows,
    torque_constants,
    wrenches,
)
from symgen.identification.model.settings import Settings
from symgen.identification.model.terms import ARMATURE, FRICTION, SPRINGS, TERMS
from symgen.jobs.job import Job
from symgen.mechanics.base_parameters import base_parameters, regrouped_name
from symgen.mechanics.coupling import coupling_of, position_coordinates, velocity_coordinates
from symgen.mechanics.independence import independent_columns
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.parameters import WHOLE, canonical_model, lump_links
from symgen.numbers.types import Numbers
from symgen.reading.assemble import LoadedRobot
from symgen.reading.options import RobotOptions
from symgen.tracing.options import FunctionOptions, at_runtime


@dataclass(frozen=True)
class Problem:
    """A problem of identification: the mapping of parameters, the joints with drives and the terms
    of these, what is measured, and the equations.

    `known` has the coefficients of drives that the robot's files give, by names such as ``viscous
    shoulder``. `channels` are names and units of measurements; `equations` takes the number of
    samples in an interval, which methods that use single samples ignore, and the unknowns of
    drives; `intervals` tells whether the number matters. `bending` makes what terms need that
    depend on moments across axes, None where forces are of motors, which do not feel them."""

    mapping: BaseMapping
    joints: Joints | None
    terms: tuple[str, ...]
    known: Mapping[str, float]
    channels: tuple[tuple[str, str], ...]
    wanted: NeededColumns
    intervals: bool
    equations: Callable[[int, DriveUnknowns | None], Equations]
    bending: Callable[[], Bending] | None = None

    def bent(self, drives: DriveUnknowns) -> DriveUnknowns:
        """Drives with the moments across axes that their terms need."""
        return replace(drives, bending=self.bending()) if drives.bent and self.bending else drives


def problem(job: Job, loaded: LoadedRobot, settings: Settings) -> Problem:
    """The problem of a robot. Raises OptionError."""
    if job[RobotOptions].gravity == "runtime":
        raise OptionError(
            "--gravity runtime: a log has constant gravity; give it as --gravity X,Y,Z"
        )
    if not loaded.model.dof:
        raise OptionError("the robot has no joint that moves, so there is nothing to identify")
    if settings.wrenches:
        return _wrenches(job, loaded, settings)
    return EQUATIONS[METHODS[settings.method].equations](job, loaded, settings)


def torque_mapping(model: RigidBodyModel) -> BaseMapping:
    """The base parameters of joint forces, with the parameters of the file as prior."""
    lumped_model = lump_links(model, [body.name for body in model.moving])
    base = base_parameters(lumped_model)
    return BaseMapping(
        lumped_model,
        base.columns,
        base.names,
        _bodies(lumped_model),
        base.factors,
        standard_parameters(lumped_model),
    )


def _bodies(model: RigidBodyModel) -> tuple[str, ...]:
    return tuple(body.name for body in model.moving)


def standard_parameters(model: RigidBodyModel) -> Numbers:
    """The ten of each body of a lumped model and the inertia of each rotor, in the order of
    regressors."""
    tens = [x for body in model.moving for x in body.links[0].parameters or (0.0,) * 10]
    robot = canonical_model(model, regrouping=WHOLE)
    return np.array([*tens, *(model.body(i).spin for i in robot.rotors)])


def friction(job: Job, model: RigidBodyModel) -> dict[str, float]:
    """The coefficients of the job's friction and springs in the order of their columns."""
    return _coefficients(model, _kinds(job))


def _coefficients(model: RigidBodyModel, kinds: Iterable[str]) -> dict[str, float]:
    """Coefficients of drives in the robot's files, by names such as ``viscous shoulder``."""
    robot = replace(canonical_model(model, regrouping=WHOLE), passive_kinds=tuple(kinds))
    bodies = [(model.body(i), kind) for i, kind in robot.passive_columns]
    return {f"{kind} {body.velocity}": body.coefficient(kind) for body, kind in bodies}


def _kinds(job: Job) -> tuple[str, ...]:
    options = job[FunctionOptions]
    springs = options.springs or options.runtime_springs
    return (*at_runtime(options.friction)[1], *(SPRINGS if springs else ()))


def _kernel(job: Job, loaded: LoadedRobot, quantity: str) -> Kernel:
    return kernel(job.changed(quantities=(quantity,)), loaded)


def base_kernel(job: Job, loaded: LoadedRobot) -> Kernel:
    """The base regressor of joint forces, columns of the job's friction last."""
    return _kernel(job, loaded, "base_regressor")


def _force(unit: str) -> str:
    return "N m" if unit.startswith("rad") else "N"


def _torque_channels(model: RigidBodyModel, power: str = "") -> tuple[tuple[str, str], ...]:
    return tuple((row.name, _force(row.unit) + power) for row in velocity_coordinates(model))


def _wanted(job: Job, model: RigidBodyModel, accelerations: bool) -> NeededColumns:
    rates = tuple(row.name for row in velocity_coordinates(model))
    units = tuple(_force(row.unit) for row in velocity_coordinates(model))
    forces = Sensed("tau", rates, units, torque_constants(job, rates))
    names, units = zip(*((row.name, row.unit) for row in position_coordinates(model)), strict=True)
    return NeededColumns(names, units, rates, (forces,), accelerations)


def _of_torques(job: Job, loaded: LoadedRobot, settings: Settings) -> Problem:
    """The problem that all methods that use joint forces have in common."""
    model = loaded.model
    terms, mapping = settings.terms or _kinds(job), torque_mapping(model)
    wanted = _wanted(job, model, True)
    bent = any(TERMS[term].bent for term in terms)
    felt = bent or not (settings.torque_constant or wanted.sensors[0].constants)
    moments = cache(lambda: bending(without_drives(job), loaded, mapping.prior))
    return Problem(
        mapping,
        Joints.of(model),
        terms,
        _coefficients(model, ("viscous", "coulomb", "offset", *SPRINGS)),
        _torque_channels(model),
        wanted,
        False,
        _none,
        moments if felt and mapping.prior.any() else None,
    )


def _none(interval: int, drives: DriveUnknowns | None) -> Equations:
    raise NotImplementedError


def _forces(job: Job, loaded: LoadedRobot, settings: Settings) -> Problem:
    regressor = base_kernel(without_drives(job), loaded)
    columns = tuple(range(regressor.shape[1]))
    problem = _of_torques(job, loaded, settings)
    instruments = METHODS[settings.method].instruments
    return replace(
        problem,
        wanted=replace(problem.wanted, reference=instruments),
        equations=lambda interval, drives: Instants(regressor, columns, drives),
    )


def _momentum(job: Job, loaded: LoadedRobot, settings: Settings) -> Problem:
    plain, model = without_drives(job), loaded.model
    momentum, rate = (
        _kernel(plain, loaded, name) for name in ("momentum_regressor", "momentum_rate_regressor")
    )
    problem = _integrated(_of_torques(job, loaded, settings), settings)
    equations = partial(Momenta, momentum, rate, _projection(problem.mapping))
    return replace(
        problem,
        channels=_torque_channels(model, " s"),
        equations=lambda interval, drives: equations(drives or _driveless(model), interval),
    )


def _energy(job: Job, loaded: LoadedRobot, settings: Settings) -> Problem:
    plain, model = without_drives(job), loaded.model
    kinetic, potential = (
        _kernel(plain, loaded, f"{name}_energy_regressor") for name in ("kinetic", "potential")
    )
    problem = _integrated(_of_torques(job, loaded, settings), settings)
    equations = partial(Energies, kinetic, potential, _projection(problem.mapping))
    return replace(
        problem,
        channels=(("energy", "J"),),
        equations=lambda interval, drives: equations(drives or _driveless(model), interval),
    )


def _integrated(problem: Problem, settings: Settings) -> Problem:
    """For methods over intervals, which need no accelerations. Raises OptionError for terms that
    do."""
    instant = [name for name in problem.terms if TERMS[name].instant]
    if instant or settings.automatic:
        term = instant[0] if instant else AUTO
        flag = f"--{term}" if term in ARMATURE else f"--friction {term}"
        raise OptionError(f"{flag} needs the force at every sample; use --method acceleration")
    return replace(problem, wanted=replace(problem.wanted, accelerations=False), intervals=True)


def _driveless(model: RigidBodyModel) -> DriveUnknowns:
    joints = Joints.of(model)
    return DriveUnknowns(joints, (), np.zeros(len(joints.names)))


def without_drives(job: Job) -> Job:
    """The job without what joints do by themselves."""
    return job.changed(friction="", friction_width=0.0, springs=False, runtime_springs=False)


def _projection(mapping: BaseMapping) -> Numbers:
    """Takes regressors of standard parameters to those of base parameters: K K⁺ = 1, and Y = Y_b
    K."""
    return np.asarray(np.linalg.pinv(mapping.factors))


EQUATIONS: Final[dict[str, Callable[[Job, LoadedRobot, Settings], Problem]]] = {
    "forces": _forces,
    "momentum": _momentum,
    "energy": _energy,
}
"""How joint forces are used, by the equations of a method."""


# -- wrenches --------------------------------------------------------------------------------------


def _wrenches(job: Job, loaded: LoadedRobot, settings: Settings) -> Problem:
    """Wrenches at joints, with or without joint forces, in the base parameters of all of them."""
    if not settings.torque:
        _check_not_felt(job, settings)
    model, plain = lump_links(loaded.model, _bodies(loaded.model)), without_drives(job)
    links = [carried(loaded.model, joint) for joint in settings.wrenches]
    quantities = ["regressor"] * settings.torque + [f"wrench_regressor:{link}" for link in links]
    kernels = tuple(_kernel(plain, loaded, name) for name in quantities)
    independent = independent_columns(random_rows(kernels, coupling_of(model)))
    base = base_parameters(model)
    names = tuple(regrouped_name(base.names[c]) for c in independent.chosen)
    factors = independent.factors + np.eye(len(base.names))[list(independent.chosen)]
    mapping = BaseMapping(
        model, names, base.names, _bodies(model), factors, standard_parameters(model)
    )
    problem = _of_torques(job, loaded, settings)
    measured, felt = channels(settings.wrenches), wrenches(settings.wrenches)
    if settings.torque:
        measured = (*problem.channels, *measured)
        felt = (*problem.wanted.sensors, *felt)
    else:
        problem = replace(problem, joints=None, terms=(), known={})
    return replace(
        problem,
        mapping=mapping,
        channels=measured,
        wanted=replace(problem.wanted, sensors=felt),
        equations=lambda interval, drives: Stacked(
            kernels, independent.chosen, settings.torque, drives
        ),
    )


def _check_not_felt(job: Job, settings: Settings) -> None:
    """Raises OptionError for unknowns that wrenches do not depend on."""
    felt = {
        "--friction": ("friction", FRICTION),
        "--springs": ("springs", SPRINGS),
        "--armature": ("rotors", ARMATURE),
    }
    terms = {*(settings.terms or _kinds(job)), *(FRICTION if settings.automatic else ())}
    for flag, (name, kinds) in felt.items():
        if terms & {*kinds}:
            raise OptionError(
                f"{flag}: a measured wrench does not depend on the {name} of joints; remove {flag}"
            )
