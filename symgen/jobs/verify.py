"""Verification of a generated folder: its files are unchanged, each language computes the right
results, and, on request, another library that reads the robot file agrees (``--against``)."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from math import copysign
from pathlib import Path
from typing import Final

import numpy as np

from symgen.compiler.evaluate import evaluate
from symgen.errors import OptionError, SymgenError
from symgen.jobs.jobfile import MODULE_OPTIONS
from symgen.jobs.library_models import (
    LibraryJoint,
    LibraryModel,
    drake_model,
    mujoco_model,
    pinocchio_model,
)
from symgen.jobs.manifest import changed_files, contained, languages_of
from symgen.jobs.manifest_reader import read as read_manifest
from symgen.languages.language import Language
from symgen.languages.module import Module
from symgen.languages.verification import Check, VerificationTarget, relative_error
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.model import Joint, RigidBodyModel
from symgen.mechanics.spatial import Pose
from symgen.native.compiler import ProcessEnded, run_isolated, workspace
from symgen.numbers.operations import tanh
from symgen.numbers.scalar import Numbers
from symgen.options import rows
from symgen.reading.sources import read
from symgen.reading.xacro_expansion import needs_expansion
from symgen.reading.xml_reader import parse_xml
from symgen.reading.xml_text import file_bytes
from symgen.text import install, quoted, shown
from symgen.tracing.request import FunctionRequest
from symgen.tracing.singular import MASSLESS_SENTENCE, moves_inertia
from symgen.tracing.trace import trace


def verify(
    folder: Path,
    progress: Callable[[str], None] = lambda step: None,
    run_changed: bool = False,
    against: str | None = None,
    robot_file: Path | None = None,
) -> Iterator[Check]:
    """Verify a generated folder; yields the checks one by one. Raises SymgenError for a folder that
    was not generated.

    With `against`, a library of `REFERENCE_LIBRARIES`, the robot is also compared with
    `robot_file`, from which the folder was generated, as that library reads it. Raises OptionError
    where that cannot be done.

    The folder's code is compiled and run. If a file was changed, nothing is run unless
    `run_changed`. The code that is run is a copy of the bytes whose digests were compared; no other
    file of the folder is read.
    """
    module, hashes = read_manifest(folder)
    if against is not None:
        progress(f"comparing with {against}")
        yield from check_against(module, against, robot_file)
    progress("files")
    contents = contained(folder, hashes)
    if not module.robot.blocks and not moves_inertia(module.robot.model):
        yield Check("the robot has mass", True, f"{MASSLESS_SENTENCE}: all forces are 0")
    changed = changed_files(contents, hashes)
    consequence = "" if run_changed else "; nothing was run (use --run-changed to run it anyway)"
    detail = (
        f"changed or missing: {', '.join(changed)}{consequence}"
        if changed
        else f"files: {len(hashes)}"
    )
    yield Check("the files are unchanged (SHA-256)", not changed, detail)
    if changed and not run_changed:
        return
    with workspace() as copy, workspace() as scratch:
        for name, content in contents.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)
        target = VerificationTarget(copy, module, hashes)
        yield from _language_checks(target, languages_of(module.name, hashes), progress, scratch)


def _language_checks(
    target: VerificationTarget,
    languages: Sequence[Language],
    progress: Callable[[str], None],
    scratch: Path,
) -> Iterator[Check]:
    """The checks of each language, in a child process, because the folder's code may crash or not
    terminate."""
    remaining = [*languages]
    while remaining:
        step = "loads"
        try:
            for message in run_isolated(
                partial(_run_language_checks, target, tuple(remaining)), scratch
            ):
                if isinstance(message, Check):
                    yield message
                elif message is None:
                    remaining.pop(0)
                else:
                    step = message
                    progress(step)
        except ProcessEnded as error:
            yield Check(f"{remaining.pop(0).name}: {step}", False, str(error))


def _run_language_checks(
    target: VerificationTarget,
    languages: Sequence[Language],
    send: Callable[[Check | str | None], None],
) -> None:
    """Call `send` with each step, each check, and None at the end of each language."""
    for language in languages:
        checked = False
        for check in language.checks(target, send):
            checked = True
            send(check)
        if not checked:
            missing = "there are none, so nothing is verified"
            send(Check(f"{language.name}: has checks", False, missing))
        send(None)


# -- comparison with another library ---------------------------------------------------------------

COMPARED_STATES: Final = 5
TOLERANCE: Final = 1e-8
"""Allowed difference of joint forces, relative to the largest one: symgen makes angles near right
ones exact (--snap-angles), which moves them by up to 1e-9 rad."""

OPTIONS_NOT_READ: Final = (
    *("root", "reroot", "tip", "keep_fixed", "lock", "couple", "loop", "independent"),
    *("actuators", "estimate", "coordinates", "repair_inertia", "xacro_args", "model"),
    *("parameters", "external_wrench", "thrusters", "springs", "fluid"),
)
"""Options that another library does not read: with their defaults it has the same robot."""
OPTION_DEFAULTS: Final = {
    row.name: row.default for row in rows(*MODULE_OPTIONS, only=OPTIONS_NOT_READ)
}


PART_ADVICE: Final = (
    "write that part to a URDF with symgen convert --root LINK --tip LINK or --reroot LINK, then "
    "generate and "
    "compare that file"
)


@dataclass(frozen=True)
class ReferenceLibrary:
    """A library: its package in Python, how it is installed, the formats that it reads, and how."""

    package: str
    install: str
    suffixes: tuple[str, ...]
    read: Callable[[Path, bool], LibraryModel]
    """From the file, and whether its root link floats (--base floating)."""
    coulomb: bool = True
    """Whether it reads Coulomb friction."""


REFERENCE_LIBRARIES: Final[Mapping[str, ReferenceLibrary]] = {
    "pinocchio": ReferenceLibrary("pinocchio", "pin", (".urdf",), pinocchio_model),
    "mujoco": ReferenceLibrary("mujoco", "mujoco", (".xml", ".mjcf", ".urdf"), mujoco_model),
    "drake": ReferenceLibrary("pydrake", "drake", (".urdf", ".sdf"), drake_model, coulomb=False),
}
"""The libraries by the name that ``--against`` takes."""


def check_against(module: Module, library: str, file: Path | None) -> Iterator[Check]:
    """Compare the module's robot with `file` as another library reads it: gravity, and the forces
    of all joints at random states. Raises OptionError for a library that is not installed, a file
    that is missing or that the module was not generated from, and what cannot be compared."""
    row = REFERENCE_LIBRARIES[library]
    if file is None:
        raise OptionError(
            f"--against {library}: give --robot-file FILE, the '{shown(module.source.file)}' that "
            "the folder was generated from"
        )
    if not find_spec(row.package):
        text = f"{library} is not installed; install it: {install(row.install)}"
        raise OptionError(f"--against {library}: {text}")
    _check_file(module, library, row, file)
    _check_options(module, library, row)
    try:
        other = row.read(file, module.options["base"] == "floating")
    except OptionError:
        raise
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


def _check_file(module: Module, library: str, row: ReferenceLibrary, file: Path) -> None:
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
        if needs_expansion(file, parse_xml(file_bytes(file), shown(str(file)))):
            return None
        return read(file).sha256
    except SymgenError:
        return None


def _check_options(module: Module, library: str, row: ReferenceLibrary) -> None:
    """Raises OptionError where the module's robot is not the whole robot of the file, or has what
    the library does not read."""
    options = module.options
    for name, default in OPTION_DEFAULTS.items():
        value = options[name]
        if (tuple(value) if isinstance(value, list) else value) != default:
            flag = "--" + name.replace("_", "-")
            advice = (
                PART_ADVICE
                if name in {"root", "tip", "reroot"}
                else "generate without it to compare"
            )
            raise OptionError(
                f"--against {library}: the folder was generated with {flag}, which {library} does "
                f"not read from the file; {advice}"
            )
    friction = options["friction"] or ""
    if not set(filter(None, friction.split(","))) <= {"viscous", "coulomb"}:
        raise OptionError(f"--against {library}: cannot compare --friction {friction}")
    if "coulomb" in friction and not row.coulomb:
        raise OptionError(f"--against {library}: does not read Coulomb friction; compare without")


def _forces(module: Module, library: str, other: LibraryModel) -> Check:
    """The comparison of inverse dynamics, friction included where the module has it."""
    robot = module.robot
    pairs, rng = _pairs(robot.model, library, other), random.Random(0)
    coupling = coupling_of(robot.model)
    program = trace(robot, FunctionRequest.parse("inverse_dynamics")).program
    computed, expected = [], []
    for _ in range(COMPARED_STATES):
        q = np.array([rng.uniform(-2, 2) for _ in range(coupling.positions)])
        for quaternion in coupling.quaternions:
            q[quaternion] /= np.linalg.norm(q[quaternion])
        v, a = (np.array([rng.uniform(-2, 2) for _ in range(robot.model.dof)]) for _ in "12")
        entries = {"q": q.tolist(), "qd": v.tolist(), "qdd": a.tolist()}
        computed.append(np.array(evaluate(program, entries)["tau"], float))
        positions, drift = np.zeros(other.sizes[0]), np.zeros(other.sizes[1])
        velocity_map = np.zeros((other.sizes[1], robot.model.dof))
        for own, joint in pairs:
            converted = joint.convert(own.joint, own.frame, own.positions(q), own.map @ v)
            positions[joint.positions], drift[joint.velocities] = (
                converted.positions,
                converted.drift,
            )
            velocity_map[joint.velocities] = converted.velocity_map @ own.map
        velocities = velocity_map @ v
        forces = other.forces(positions, velocities, velocity_map @ a + drift)
        expected.append(velocity_map.T @ (forces + _friction(module, other, velocities)))
    error = relative_error(np.array(computed), np.array(expected))
    claim = f"inverse_dynamics: the robot agrees with {library}"
    return Check(
        claim, error <= TOLERANCE, f"largest relative error {error:.1e}, {COMPARED_STATES} states"
    )


@dataclass(frozen=True)
class _OwnJoint:
    """A joint of the module: its positions are `positions`(q), its velocities `map` v (k, n)."""

    joint: Joint
    frame: Pose
    positions: Callable[[Numbers], Numbers]
    map: Numbers


def _pairs(
    model: RigidBodyModel, library: str, other: LibraryModel
) -> list[tuple[_OwnJoint, LibraryJoint]]:
    """The joints of the module, each with the same joint in the library. Raises OptionError where a
    joint is missing or has another number of velocities."""
    own = {joint.joint.name: joint for joint in _own_joints(model)}
    others = {joint.name: joint for joint in other.joints}
    different = [
        name
        for name in own.keys() & others.keys()
        if len(own[name].map) != others[name].velocities.stop - others[name].velocities.start
    ]
    wrong = sorted({*(own.keys() ^ others.keys()), *different})
    if wrong:
        raise OptionError(
            f"--against {library}: joints {quoted(wrong)} are not in the file as {library} reads "
            "it, or not as joints of the same type"
        )
    return [(own[name], others[name]) for name in own]


def _own_joints(model: RigidBodyModel) -> Iterator[_OwnJoint]:
    """The joints of a model, those of rotors left out."""
    coupling = coupling_of(model)
    velocities, (matrix, offsets) = coupling.velocity_matrix, coupling.position_map
    for first, joint in model.joints:
        if joint.type.is_rotor:
            continue
        parts = joint.type.parts(joint)
        rows = [first - 1 + k for k in np.argsort([part.velocity for part in parts])]
        if joint.type.in_body_axes:
            start = coupling.maps[first - 1].position_index
            place = slice(start, start + len(joint.type.positions))
            positions = lambda q, place=place: q[place]  # noqa: E731
        else:
            positions = lambda q, rows=rows: (matrix @ q + offsets)[rows]  # noqa: E731
        yield _OwnJoint(joint, model.body(first).pose, positions, velocities[rows])


def _friction(module: Module, other: LibraryModel, velocities: Numbers) -> Numbers:
    viscous, coulomb = other.friction
    laws, width = module.options["friction"] or "", module.options["friction_width"]
    steps = [tanh(v / width) if width else copysign(1.0, v) for v in velocities.tolist()]
    total: Numbers = np.zeros(len(velocities))
    if "viscous" in laws:
        total = total + viscous * velocities
    if "coulomb" in laws:
        total = total + coulomb * np.array(steps, float)
    return total
