"""Comparison of a generated module with another library that reads the robot's file itself, so that
an error in reading is found (``symgen verify --against``)."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from math import copysign
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from symgen.advice import install
from symgen.compiler.evaluate import evaluate
from symgen.errors import OptionError, SymgenError
from symgen.languages.module import Module
from symgen.languages.verification import Check, relative_error
from symgen.mechanics.coupling import coupling_of
from symgen.numbers.operations import tanh
from symgen.numbers.types import Numbers
from symgen.reading.sources import read
from symgen.reading.xacro.expansion import needs_expansion
from symgen.reading.xml_reader import parsed
from symgen.reading.xml_text import file_bytes
from symgen.text import quoted, shown
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted

STATES: Final = 5
TOLERANCE: Final = 1e-8
"""Allowed difference of joint forces, relative to the largest one: symgen makes angles near right
ones exact (--snap-angles), which moves them by up to 1e-9 rad."""

DEFAULTS: Final[Mapping[str, Any]] = {
    "root": None,
    "tip": None,
    "lock": (),
    "couple": (),
    "actuators": None,
    "base": "fixed",
    "coordinates": "joints",
    "repair_inertia": None,
    "xacro_args": (),
    "model": None,
    "parameters": "constant",
    "external_wrench": (),
    "springs": False,
}
"""Options with the values at which another library reads the same robot."""


PART_ADVICE: Final = (
    "write that part to a URDF with symgen convert --root LINK --tip LINK, then generate and "
    "compare that file"
)


class SecondModel(Protocol):
    """A robot as another library reads it. Joints have one coordinate each."""

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Free-fall acceleration in the axes of the root (m/s^2)."""

    @property
    def joints(self) -> Sequence[str]:
        """The names of the joints."""

    def forces(self, q: Numbers, qd: Numbers, qdd: Numbers) -> Numbers:
        """Joint forces M q̈ + C q̇ + g (N m or N), without friction, in the order of `joints`."""

    def friction(self) -> tuple[Numbers, Numbers]:
        """Viscous and Coulomb coefficients of the joints."""


class PinocchioModel:
    """A URDF as Pinocchio reads it."""

    def __init__(self, file: Path) -> None:
        import pinocchio

        self._library = pinocchio
        self._model = pinocchio.buildModelFromUrdf(str(file))
        self._data = self._model.createData()
        self._joints = [*self._model.joints][1:]  # the first one is the universe
        self.joints = [*self._model.names][1:]
        x, y, z = self._model.gravity.linear
        self.gravity = float(x), float(y), float(z)

    def forces(self, q: Numbers, qd: Numbers, qdd: Numbers) -> Numbers:
        places = np.zeros(self._model.nq)
        for joint, angle in zip(self._joints, q, strict=True):
            own = slice(joint.idx_q, joint.idx_q + joint.nq)
            places[own] = (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle
        rnea: Numbers = self._library.rnea(self._model, self._data, places, qd, qdd)
        return rnea

    def friction(self) -> tuple[Numbers, Numbers]:
        dry = getattr(self._model, "upperDryFrictionLimit", None)
        return self._model.damping, self._model.friction if dry is None else dry


class MujocoModel:
    """An MJCF file or a URDF as MuJoCo reads it."""

    def __init__(self, file: Path) -> None:
        import mujoco

        self._library, self._model = mujoco, mujoco.MjModel.from_xml_path(str(file))
        self._data = mujoco.MjData(self._model)
        self.joints = [self._model.joint(k).name for k in range(self._model.njnt)]
        x, y, z = self._model.opt.gravity
        self.gravity = float(x), float(y), float(z)

    def forces(self, q: Numbers, qd: Numbers, qdd: Numbers) -> Numbers:
        """M q̈ and the bias force of MuJoCo, without passive forces."""
        data, model = self._data, self._model
        data.qpos[:], data.qvel[:] = q, qd
        self._library.mj_forward(model, data)
        inertial = np.zeros(model.nv)
        self._library.mj_mulM(model, data, inertial, qdd)
        total: Numbers = inertial + data.qfrc_bias
        return total

    def friction(self) -> tuple[Numbers, Numbers]:
        return np.ravel(self._model.dof_damping), np.ravel(self._model.dof_frictionloss)


class DrakeModel:
    """A URDF or SDF file as Drake reads it, the root links of all models welded to the world."""

    def __init__(self, file: Path) -> None:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
        from pydrake.multibody.tree import BodyIndex

        plant = MultibodyPlant(0.0)
        Parser(plant).AddModels(file)
        default_pose: Any = getattr(plant, "GetDefaultFloatingBaseBodyPose", None)
        default_pose = default_pose or plant.GetDefaultFreeBodyPose  # of older versions of Drake
        parents = {
            joint.child_body().index(): joint.parent_body().index()
            for joint in map(plant.get_joint, plant.GetJointIndices())
        }
        for body in map(plant.get_body, map(BodyIndex, range(1, plant.num_bodies()))):
            if body.index() not in parents:
                plant.WeldFrames(plant.world_frame(), body.body_frame(), default_pose(body))
        plant.Finalize()
        self._plant: Any = plant
        self._context = plant.CreateDefaultContext()
        joints = [plant.get_joint(k) for k in plant.GetJointIndices()]
        self._joints = [joint for joint in joints if joint.num_velocities() == 1]
        self.joints = [joint.name() for joint in self._joints]
        root = self._joints[0].parent_body().index()
        while root in parents:
            root = parents[root]
        pose = plant.EvalBodyPoseInWorld(self._context, plant.get_body(root))
        turn = np.array(pose.rotation().matrix(), float)
        x, y, z = turn.T @ np.array(plant.gravity_field().gravity_vector(), float)
        self.gravity = float(x), float(y), float(z)

    def forces(self, q: Numbers, qd: Numbers, qdd: Numbers) -> Numbers:
        """M q̈ and the bias term of Drake, less the forces of gravity."""
        plant, context = self._plant, self._context
        at = [joint.velocity_start() for joint in self._joints]
        places, rates, accelerations = np.zeros((3, plant.num_velocities()))
        places[[joint.position_start() for joint in self._joints]] = q
        rates[at], accelerations[at] = qd, qdd
        plant.SetPositions(context, places)
        plant.SetVelocities(context, rates)
        inertial = plant.CalcMassMatrixViaInverseDynamics(context) @ accelerations
        bias = plant.CalcBiasTerm(context) - plant.CalcGravityGeneralizedForces(context)
        total: Numbers = (inertial + bias)[at]
        return total

    def friction(self) -> tuple[Numbers, Numbers]:
        damping = [joint.default_damping_vector()[0] for joint in self._joints]
        return np.array(damping, float), np.zeros(len(damping))


@dataclass(frozen=True)
class Reader:
    """A library: its package in Python, how it is installed, the formats that it reads, and how."""

    package: str
    install: str
    suffixes: tuple[str, ...]
    read: Callable[[Path], SecondModel]
    coulomb: bool = True
    """Whether it reads Coulomb friction."""


READERS: Final[Mapping[str, Reader]] = {
    "pinocchio": Reader("pinocchio", "pin", (".urdf",), PinocchioModel),
    "mujoco": Reader("mujoco", "mujoco", (".xml", ".mjcf", ".urdf"), MujocoModel),
    "drake": Reader("pydrake", "drake", (".urdf", ".sdf"), DrakeModel, coulomb=False),
}
"""The libraries by the name that ``--against`` takes."""


def check_against(module: Module, library: str, file: Path) -> Iterator[Check]:
    """Compare the module's robot with `file` as another library reads it: gravity, and the forces
    of all joints at random states. Raises OptionError for a library that is not installed, a file
    that the module was not generated from, and what cannot be compared."""
    row = READERS[library]
    if not find_spec(row.package):
        text = f"{library} is not installed; install it: {install(row.install)}"
        raise OptionError(f"--against {library}: {text}")
    _check_file(module, library, row, file)
    _check_options(module, library, row)
    try:
        other = row.read(file)
    except Exception as error:  # the errors of three libraries have no common class
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise OptionError(f"--against {library}: cannot read '{file}': {first}") from error
    own = module.robot.model.gravity
    same = bool(np.allclose(own, other.gravity, rtol=0, atol=1e-12))
    figures = " and ".join(
        f"({', '.join(f'{x:g}' for x in vector)})" for vector in (own, other.gravity)
    )
    yield Check(f"gravity agrees with {library}", same, f"{figures} m/s^2")
    yield _forces(module, library, other)


def _check_file(module: Module, library: str, row: Reader, file: Path) -> None:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise OptionError(f"--robot-file '{file}': cannot be read ({error.strerror})") from error
    if module.source.sha256 not in (sha256(content).hexdigest(), _digest(file)):
        raise OptionError(
            f"--robot-file '{file}': the folder was generated from another file, or from xacro, "
            f"or the file has changed since; give the '{shown(module.source.file)}' that it was "
            "generated from"
        )
    if file.suffix.lower() not in row.suffixes:
        raise OptionError(f"--against {library}: reads {quoted(row.suffixes)} only, not '{file}'")


def _digest(file: Path) -> str | None:
    """The digest of the robot as symgen reads the file. For MJCF, and for SDF with included files,
    it covers more than the bytes of the file. None for a file with xacro and one that is not a
    robot."""
    try:
        if needs_expansion(file, parsed(file_bytes(file), shown(str(file)))):
            return None
        return read(file).sha256
    except SymgenError:
        return None


def _check_options(module: Module, library: str, row: Reader) -> None:
    """Raises OptionError where the module's robot is not the whole robot of the file, or has what
    the library does not read."""
    options = module.options
    for name, default in DEFAULTS.items():
        value = options[name]
        if (tuple(value) if isinstance(value, list) else value) != default:
            flag = "--" + name.replace("_", "-")
            advice = PART_ADVICE if name in {"root", "tip"} else "generate without it to compare"
            raise OptionError(
                f"--against {library}: the folder was generated with {flag}, which {library} does "
                f"not read from the file; {advice}"
            )
    friction = options["friction"] or ""
    if not set(filter(None, friction.split(","))) <= {"viscous", "coulomb"}:
        raise OptionError(f"--against {library}: cannot compare --friction {friction}")
    if "coulomb" in friction and not row.coulomb:
        raise OptionError(f"--against {library}: does not read Coulomb friction; compare without")


def _forces(module: Module, library: str, other: SecondModel) -> Check:
    """The comparison of inverse dynamics, friction included where the module has it."""
    robot = module.robot
    coupling, rng = coupling_of(robot.model), random.Random(0)
    moved = [
        (k, body.joint.name)
        for k, body in enumerate(robot.model.bodies)
        if not body.joint.type.is_rotor
    ]
    missing = sorted({name for _, name in moved} ^ set(other.joints))
    several = [name for name in {n for _, n in moved} if [n for _, n in moved].count(name) > 1]
    if missing or several:
        raise OptionError(
            f"--against {library}: joints {quoted(missing or several)} have several coordinates "
            f"or are not in the file as {library} reads it"
        )
    rows = [next(k for k, name in moved if name == joint) for joint in other.joints]
    g, (matrix, offsets) = coupling.velocity_matrix[rows], coupling.position_map
    program = trace(robot, Wanted.parse("inverse_dynamics")).program
    computed, wanted = [], []
    for _ in range(STATES):
        q, qd, qdd = (np.array([rng.uniform(-2, 2) for _ in range(robot.model.dof)]) for _ in "123")
        entries = {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist()}
        computed.append(np.array(evaluate(program, entries)["tau"], float))
        rates = g @ qd
        forces = other.forces((matrix @ q + offsets)[rows], rates, g @ qdd)
        wanted.append(g.T @ (forces + _friction(module, other, rates)))
    error = relative_error(np.array(computed), np.array(wanted))
    claim = f"inverse_dynamics: the robot agrees with {library}"
    return Check(claim, error <= TOLERANCE, f"largest relative error {error:.1e}, {STATES} states")


def _friction(module: Module, other: SecondModel, rates: Numbers) -> Numbers:
    viscous, coulomb = other.friction()
    kinds, width = module.options["friction"] or "", module.options["friction_width"]
    steps = [tanh(v / width) if width else copysign(1.0, v) for v in rates.tolist()]
    total: Numbers = np.zeros(len(rates))
    if "viscous" in kinds:
        total = total + viscous * rates
    if "coulomb" in kinds:
        total = total + coulomb * np.array(steps, float)
    return total
