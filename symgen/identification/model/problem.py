"""From a robot and the settings to what identification needs of a log and the equations it makes of
it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from symgen.errors import OptionError
from symgen.identification.data.column_map import NeededColumns, SensorColumns
from symgen.identification.model.drive_columns import DEFAULT_LAWS, DriveUnknowns, Joints
from symgen.identification.model.equations import Equations, Kernel, kernel, random_states
from symgen.identification.model.estimate import BaseMapping
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from symgen.mechanics.base_parameters import base_parameters, regrouped_name
from symgen.mechanics.coupling import Coupling, coupling_of
from symgen.mechanics.independence import independent_columns
from symgen.mechanics.joint_forces import FRICTION, SPRINGS
from symgen.mechanics.joint_listing import listed_joints
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.parameters import WHOLE, canonical_model, lump_links
from symgen.numbers.scalar import Numbers
from symgen.reading import checked_values
from symgen.reading.assemble import LoadedRobot
from symgen.reading.options import RobotOptions
from symgen.text import quoted, shown
from symgen.tracing.options import NO_FRICTION, FunctionOptions
from symgen.tracing.request import parse_runtime_names


@dataclass(frozen=True)
class Problem:
    """A problem of identification: the mapping of parameters, the joints with drives and the laws
    of these, what is measured, and the equations.

    `known` has the coefficients of drives that the robot's files give, by names such as ``viscous
    shoulder``. `channels` are names and units of measurements; `equations` takes the unknowns of
    drives."""

    mapping: BaseMapping
    joints: Joints | None
    laws: tuple[str, ...]
    known: Mapping[str, float]
    channels: tuple[tuple[str, str], ...]
    needed: NeededColumns
    equations: Callable[[DriveUnknowns | None], Equations]


def problem_for(job: Job, loaded: LoadedRobot, settings: Settings) -> Problem:
    """The problem of a robot. Raises OptionError."""
    if job[RobotOptions].gravity == "runtime":
        raise OptionError(
            "--gravity runtime: a log has constant gravity; give it as --gravity X,Y,Z"
        )
    if not loaded.model.dof:
        raise OptionError("the robot has no joint that moves, so there is nothing to identify")
    if loaded.model.found_by_newton:
        raise OptionError(
            "closed loops whose positions have no closed form are not supported in identification; "
            "choose dependent joints that have one"
        )
    if settings.wrenches:
        return _wrenches(job, loaded, settings)
    return _joint_forces(job, loaded, settings)


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
    return (*parse_runtime_names(options.friction)[1], *(SPRINGS if springs else ()))


def _kernel(job: Job, loaded: LoadedRobot, quantity: str) -> Kernel:
    return kernel(job.changed(quantities=(quantity,)), loaded)


def base_kernel(job: Job, loaded: LoadedRobot) -> Kernel:
    """The base regressor of joint forces, columns of the job's friction last."""
    return _kernel(job, loaded, "base_regressor")


def gravity_kernel(job: Job) -> Kernel:
    """The regressor of joint forces in standard parameters, with gravity as its last input."""
    free = without_drives(job).changed(gravity="runtime")
    return _kernel(free, free.load(), "regressor")


def _joint_forces(job: Job, loaded: LoadedRobot, settings: Settings) -> Problem:
    """Joint forces at each sample, in base parameters."""
    model, kernels = loaded.model, (base_kernel(without_drives(job), loaded),)
    wanted = NeededColumns.of(model, [("tau", "force")])
    (forces,) = wanted.sensors
    forces = replace(forces, constants=torque_constants(job, forces.names))
    return Problem(
        torque_mapping(model),
        Joints.of(model),
        settings.laws,
        _coefficients(model, (*FRICTION, *SPRINGS)),
        tuple(zip(forces.names, forces.units, strict=True)),
        replace(wanted, sensors=(forces,)),
        lambda drives: Equations(kernels, len(forces.names), None, drives),
    )


def without_drives(job: Job) -> Job:
    """The job without what joints do by themselves."""
    return job.changed(
        friction=NO_FRICTION, friction_width=0.0, springs=False, runtime_springs=False
    )


# -- wrenches --------------------------------------------------------------------------------------


def _wrenches(job: Job, loaded: LoadedRobot, settings: Settings) -> Problem:
    """Wrenches at joints, with or without joint forces, in the base parameters of all of them."""
    if not settings.torque:
        _check_not_felt(settings)
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
    problem = _joint_forces(job, loaded, settings)
    measured, felt = channels(settings.wrenches), wrenches(settings.wrenches)
    if settings.torque:
        measured = (*problem.channels, *measured)
        felt = (*problem.needed.sensors, *felt)
    else:
        problem = replace(problem, joints=None, laws=(), known={})
    count, columns = (len(problem.channels) if settings.torque else 0), independent.chosen
    return replace(
        problem,
        mapping=mapping,
        channels=measured,
        needed=replace(problem.needed, sensors=felt),
        equations=lambda drives: Equations(kernels, count, columns, drives),
    )


def _check_not_felt(settings: Settings) -> None:
    """Raises OptionError for unknowns that wrenches do not depend on."""
    felt = {
        "--friction": ("friction", FRICTION),
        "--springs": ("springs", SPRINGS),
        "--armature": ("rotors", ("armature",)),
    }
    laws = {*settings.laws} - {*(DEFAULT_LAWS if settings.automatic else ())}
    for flag, (name, kinds) in felt.items():
        if laws & {*kinds}:
            raise OptionError(
                f"{flag}: a measured wrench does not depend on the {name} of joints; remove {flag}"
            )


COMPONENTS: Final = ("fx", "fy", "fz", "tx", "ty", "tz")
"""Of a wrench: force, then torque about the link's origin, in the link's axes."""


def wrenches(joints: Sequence[str]) -> tuple[SensorColumns, ...]:
    """The measurements of sensors of wrenches: columns ``wrench_fx`` of one, ``wrench_JOINT_fx`` of
    several."""
    units = tuple(unit for _, unit in channels(joints[:1]))
    prefixes = ["wrench"] if len(joints) == 1 else [f"wrench_{joint}" for joint in joints]
    return tuple(SensorColumns(prefix, COMPONENTS, units) for prefix in prefixes)


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
    table, constants = (
        checked_values.read_toml(path, "a TOML file of actuators")[0].table("joints"),
        [],
    )
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


def random_rows(kernels: Sequence[Kernel], coupling: Coupling) -> Numbers:
    """The regressors at random states, row under row."""
    states = random_states(coupling)
    parts = [kernel(*states) for kernel in kernels]
    return np.concatenate([rows.reshape(-1, rows.shape[2]) for rows in parts])
