"""From a file to the `RigidBodyModel` that is compiled: a subtree is selected, joints are locked,
and every link is assigned to the body that it moves with. `symgen.mechanics.parameters` sums the
inertias of the links of a body.

A motor's angle is a linear function of coordinates of joints, θ = A q + a, by a transmission or by
the gear ratio of a joint. Where the coordinates are those of joints, the rotor of a motor that
several joints turn is a body that follows them; where they are those of actuators, the joints
follow the motors, q = A⁻¹ (θ - a). Torques of motors are those that do the same work."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np

from symgen.errors import Notice, OptionError, SourceLocation
from symgen.mechanics.base_parameters import BaseParameters, base_parameters, is_same_sum
from symgen.mechanics.independence import independent_columns
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.mechanics.parameters import lump_links
from symgen.numbers.scalar import Numbers, dot
from symgen.options import Choices
from symgen.reading.actuators import Drives, drives_of, ignored_rotor_notices
from symgen.reading.bodies_from_joints import MotorBody, joint_pose, model_of
from symgen.reading.checked_values import Table
from symgen.reading.closed_loop_joints import notices_on_loops
from symgen.reading.description import LinearFunction, Mimic, Motor, Transmission, with_mimics
from symgen.reading.description_changes import check_rotors, path_to_root, repair_inertias, rerooted
from symgen.reading.joint_couplings import check_independent, with_couplings, with_loop_options
from symgen.reading.joint_kinds import has_one_coordinate
from symgen.reading.options import GROUPS, RobotOptions, SourceOptions
from symgen.reading.plausibility import (
    check_armatures,
    check_joint_count,
    check_size,
    notices_on_selection,
    notices_on_values,
)
from symgen.reading.rotations import RightAngle, RightAngleSnapper
from symgen.reading.sources import RobotSource, describe, name_of
from symgen.reading.subtree import (
    RobotSubtree,
    extract_subtree,
    gravity_in_root,
    subtree_of,
    with_floating_base,
    with_kept_joints,
    with_turned_currents,
)
from symgen.text import quoted, shown

# -- the model file of an estimate ----------------------------------------------------------------


def with_estimate(
    model: RigidBodyModel, root: Table, sha256: str
) -> tuple[RigidBodyModel, tuple[Notice, ...]]:
    """The model with the base parameters of a model file of ``symgen identify``, and a warning if
    the robot file, with the digest `sha256`, has changed since the estimate.

    Any parameters of links with the same base parameters (Gautier & Khalil, T-RA 1990) have the
    same joint forces and the same mass matrix. Here the first independent ones have values and the
    others are zero, so that generated code has no more constants than there are base parameters.

    Raises RobotError for a file without base parameters, or with those of another robot or of other
    options."""
    lumped = lump_links(model, [body.name for body in model.moving])
    base = base_parameters(lumped)
    chosen = list(independent_columns(base.factors).chosen)
    values = np.zeros(base.factors.shape[1])
    values[chosen] = np.linalg.solve(base.factors[:, chosen], _stated_base_parameters(root, base))
    standard = iter(values.tolist())
    changed = [_with_parameters(body, standard) for body in model.bodies]
    rotors = {i: next(standard) for i in base.robot.rotors}
    bodies = (replace(b, spin=rotors.get(i, b.spin)) for i, b in enumerate(changed, 1))
    stated = root.table("estimate").data.get("robot_sha256")
    warning = Notice(
        root.place("estimate"),
        "warning",
        "estimate",
        "the robot file has changed since the estimate; its base parameters have the same "
        "definitions, so the estimate is used",
    )
    return replace(model, bodies=tuple(bodies)), (warning,) * (stated != sha256)


def _stated_base_parameters(root: Table, base: BaseParameters) -> Numbers:
    """The base parameters of a file. Raises RobotError."""
    table, groupings = root.table("base_parameters"), root.table("groupings")
    if not table.data:
        raise root.error(None, "has no base parameters; give a file of symgen identify -o DIR")
    for name, grouping in zip(base.columns, base.groupings, strict=True):
        stated = groupings.data.get(name)
        if (
            name not in table.data
            or not isinstance(stated, str)
            or not is_same_sum(stated, grouping)
        ):
            raise table.error(
                name if name in table.data else None,
                f"{shown(name)} has another definition than for this robot; use the robot file and "
                "the options (--lock, --root, ...) with which the estimate was made",
            )
    table.check_keys(base.columns, "base parameter of this robot")
    return np.array([table.number(name) for name in base.columns], np.float64)


def _with_parameters(body: Body, standard: Iterator[float]) -> Body:
    """The body with the next ten parameters on its first link, none if it consists of no links."""
    if not body.links:
        return body
    first, *others = body.links
    first = replace(first, parameters=tuple(islice(standard, 10)))
    return replace(body, links=(first, *(replace(link, parameters=None) for link in others)))


# -- motors ----------------------------------------------------------------------------------------

JOINTS: Final = "joints"
"""The value of ``--coordinates`` with which the coordinates are those of joints."""


def motor_bodies(
    subtree: RobotSubtree, drives: Drives, coordinates: str, every_motor: bool = False
) -> tuple[RobotSubtree, tuple[MotorBody, ...]]:
    """The motors that are bodies, and the part; its joints follow the motors where `coordinates`
    are those of actuators. What a motor follows are joints of the part, which may follow others.
    Motors of several joints without inertia and friction are bodies only with `every_motor`.

    Raises OptionError where the coordinates cannot be those of actuators."""
    transmissions = [
        _with_actuator_constants(transmission, drives)
        for transmission in subtree.robot.transmissions
    ]
    if coordinates == JOINTS:
        return subtree, tuple(_motors_of_several_joints(subtree, transmissions, every_motor))
    moving_transmissions = _moving_transmissions(subtree, drives, transmissions)
    if not moving_transmissions:
        raise OptionError(
            "--coordinates actuators: no joint has a motor; add a <transmission> of a "
            "known type to the file, or a gear_ratio to the file of --actuators"
        )
    return _with_motor_coordinates(subtree, moving_transmissions)


def _with_actuator_constants(transmission: Transmission, drives: Drives) -> Transmission:
    """The transmission with inertia and friction of its motors from the file of actuators; without
    inertia if rotors are ignored."""
    motors = []
    for motor in transmission.motors:
        friction = dict(drives.motors.get(motor.name, {}))
        inertia = friction.pop("rotor_inertia", motor.inertia)
        inertia = 0.0 if drives.rotors == "none" else inertia
        motors.append(replace(motor, inertia=inertia, friction=tuple(friction.items())))
    return replace(transmission, motors=tuple(motors))


def _motors_of_several_joints(
    subtree: RobotSubtree, transmissions: Sequence[Transmission], every_motor: bool
) -> list[MotorBody]:
    """The motors that several joints of the part turn: those with inertia or friction, or every
    motor; locked joints turn none."""
    names, bodies = {joint.name for joint in subtree.moving}, list[MotorBody]()
    shared = [
        motor
        for transmission in transmissions
        if len(transmission.joints) > 1
        for motor in transmission.motors
    ]
    for motor in (m for m in shared if every_motor or m.inertia or m.friction):
        terms = tuple((joint, factor) for joint, factor in motor.angle.terms if joint in names)
        if terms:
            name = f"{motor.name}.rotor"
            angle = LinearFunction(terms)
            bodies.append(MotorBody(name, motor.inertia, None, angle, motor.friction))
    return bodies


def _moving_transmissions(
    subtree: RobotSubtree, drives: Drives, transmissions: Sequence[Transmission]
) -> list[Transmission]:
    """The transmissions of the independent moving joints, those of gear ratios among them. Raises
    OptionError for one with a joint that is locked, excluded or follows other joints."""
    joints = {joint.name: joint for joint in subtree.moving if joint.mimics is None}
    moving_transmissions, with_motors = (
        list[Transmission](),
        {name for t in transmissions for name in t.joints},
    )
    for transmission in transmissions:
        moving = [name for name in transmission.joints if name in joints]
        if moving and len(moving) < len(transmission.joints):
            missing = next(name for name in transmission.joints if name not in joints)
            raise OptionError(
                f"--coordinates actuators: joints {quoted(transmission.joints)} are moved "
                f"by the same motors, but '{shown(missing)}' is locked, excluded or "
                "follows another joint; use --coordinates joints"
            )
        if moving:
            moving_transmissions.append(_with_ratio(transmission, drives.ratio(moving[0])))
    for name, joint in joints.items():
        ratio = drives.ratio(name)
        if name not in with_motors and ratio is not None and has_one_coordinate(joint.kind):
            motor = Motor(f"{name}.motor", LinearFunction(((name, ratio),)))
            moving_transmissions.append(Transmission(joint.line, (name,), (motor,)))
    return moving_transmissions


def _with_ratio(transmission: Transmission, ratio: float | None) -> Transmission:
    """A transmission of one joint with the gear ratio of its drive, which may be that of the file
    of actuators."""
    if len(transmission.joints) > 1 or ratio is None:
        return transmission
    (motor,) = transmission.motors
    ((joint, factor),) = motor.angle.terms
    angle = LinearFunction(((joint, ratio),), motor.angle.offset / factor * ratio)
    return replace(transmission, motors=(replace(motor, angle=angle),))


def _with_motor_coordinates(
    subtree: RobotSubtree, transmissions: Sequence[Transmission]
) -> tuple[RobotSubtree, tuple[MotorBody, ...]]:
    """The part whose joints follow motors, and the motors."""
    joint_names = {joint.name for joint in subtree.robot.joints}
    bodies: dict[str, MotorBody] = {}
    mimics: dict[str, Mimic] = {}
    for transmission in transmissions:
        motors = []
        for motor in transmission.motors:
            name = f"{motor.name}.motor" if motor.name in joint_names else motor.name
            if name in bodies:
                raise OptionError(
                    f"--coordinates actuators: motor '{shown(motor.name)}' belongs to two "
                    "transmissions; use --coordinates joints"
                )
            is_single = len(transmission.joints) == 1
            joint, inertia = (transmission.joints[0], 0.0) if is_single else (None, motor.inertia)
            bodies[name] = MotorBody(name, inertia, joint, None, motor.friction)
            motors.append(replace(motor, name=name))
        mimics |= _joint_laws(transmission, motors)
    robot = replace(subtree.robot, joints=with_mimics(subtree.robot.joints, mimics))
    followers = replace(subtree, robot=robot, joints=with_mimics(subtree.joints, mimics))
    return followers, tuple(bodies.values())


def _joint_laws(transmission: Transmission, motors: Sequence[Motor]) -> dict[str, Mimic]:
    """The laws by which the joints follow the motors: q = A⁻¹ θ - A⁻¹ a."""
    rows = [[dict(m.angle.terms).get(joint, 0.0) for joint in transmission.joints] for m in motors]
    mimics = {}
    for joint, row in zip(transmission.joints, _inverse_matrix(rows), strict=True):
        terms = tuple((m.name, x) for m, x in zip(motors, row, strict=True) if x)
        offset = -dot(row, [m.angle.offset for m in motors])
        mimics[joint] = Mimic.of(transmission.line, LinearFunction(terms, offset + 0.0))
    return mimics


def _inverse_matrix(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """The inverse of a matrix by Gauss-Jordan elimination with partial pivoting, the same on every
    machine."""
    n = len(rows)
    augmented = [[*row, *(float(i == k) for i in range(n))] for k, row in enumerate(rows)]
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(augmented[i][k]))
        augmented[k], augmented[best] = augmented[best], augmented[k]
        pivot = augmented[k][k]
        augmented[k] = [x / pivot for x in augmented[k]]
        for i in (i for i in range(n) if i != k):
            factor = augmented[i][k]
            augmented[i] = [x - factor * y for x, y in zip(augmented[i], augmented[k], strict=True)]
    return [[x + 0.0 for x in row[n:]] for row in augmented]


# -- loading ---------------------------------------------------------------------------------------

MAX_SNAP_TOLERANCE = 0.1
"""The largest tolerance of --snap-angles (rad); angles farther from a right angle are not meant to
be right angles."""


@dataclass(frozen=True, slots=True)
class LoadedRobot:
    """A model and its origin: the `file` as given, the SHA-256 of its bytes, and what the user
    should know.

    `right_angles` are the angles near a multiple of pi/2 that were made exact or could be.
    """

    model: RigidBodyModel
    notices: tuple[Notice, ...]
    sha256: str
    file: str
    right_angles: tuple[RightAngle, ...] = ()
    link_locations: Mapping[str, SourceLocation] = field(default_factory=dict)
    """Where each link stands in the file."""
    actuators_sha256: str | None = None


def load(source: RobotSource, **options: Any) -> LoadedRobot:
    """Read a robot and return it as a model.

    Parameters
    ----------
    source
        The path of a URDF, xacro, MJCF, SDF or DH file, its content or an object (`RobotSource`).
    **options
        Options of `RobotOptions` and `SourceOptions`, such as `root` and `tip` (names of links:
        only the links between them are kept), `lock` (positions of joints in rad or m), `gravity`
        (acceleration in the axes of the root link, m/s²; that of the file by default), `base`
        ("fixed" or "floating"), `snap_angles` (rad) and `actuators` (a TOML file).

    Returns
    -------
    LoadedRobot
        The model, its bodies in the order of the coordinates, with notices and digests.

    Raises
    ------
    RobotError
        If the source is not a robot that can be compiled.
    OptionError
        If an option does not fit the robot.
    """
    return load_with(source, Choices.from_values(GROUPS, options))


def load_with(source: RobotSource, choices: Choices, every_motor: bool = False) -> LoadedRobot:
    """The robot of a file, as `load`, with options that are made already. With `every_motor` the
    motors of several joints are bodies even without inertia and friction, for identification."""
    options = choices[RobotOptions]
    if not 0 <= options.snap_angles <= MAX_SNAP_TOLERANCE:
        raise OptionError(
            f"--snap-angles {options.snap_angles:g}: give an angle from 0 to "
            f"{MAX_SNAP_TOLERANCE:g} rad"
        )
    snapper = RightAngleSnapper(options.snap_angles)
    robot = describe(source, choices[SourceOptions])
    check_joint_count(robot)
    robot = repair_inertias(robot, options.repair_inertia)
    robot = with_couplings(robot, options.couple)
    robot = with_loop_options(robot, options.loop, options.independent)
    root, reversed_joints = options.root, set[str]()
    if options.reroot is not None:
        robot, root = extract_subtree(robot, root, None), options.reroot
        reversed_joints = {joint.name for joint in path_to_root(robot, root)}
        robot = rerooted(robot, root)
    subtree = subtree_of(robot, root, options.tip, options.lock, options.joint_order)
    subtree = with_floating_base(subtree) if options.base == "floating" else subtree
    subtree = with_kept_joints(subtree, options.keep_fixed)
    if not subtree.moving:
        reduced = subtree.locked or len(subtree.joints) < len(subtree.robot.joints)
        remaining = " left after --root, --tip and --lock" if reduced else ""
        message = (
            f"has no moving joint{remaining}; add a revolute, continuous or prismatic joint, or "
            "give --base floating"
        )
        raise subtree.robot.error(subtree.robot.line, subtree.robot.tag, message)
    pose_of = partial(joint_pose, subtree, snapper=snapper)
    gravity, gravity_notices = gravity_in_root(subtree, options.gravity, pose_of)
    subtree = with_turned_currents(subtree, pose_of)
    drives = drives_of(subtree.robot, options.drive_file, options.rotors)
    subtree, motors = motor_bodies(subtree, drives, options.coordinates, every_motor)
    model, open_loops = model_of(subtree, gravity, snapper, drives, motors)
    estimate_notices: tuple[Notice, ...] = ()
    if options.estimate is not None and drives.root is not None:
        model, estimate_notices = with_estimate(model, drives.root, robot.sha256)
    check_independent(model, options.independent)
    check_size(subtree, model)
    check_armatures(subtree, model)
    check_rotors(model, reversed_joints)
    notices = (
        *subtree.robot.notices,
        *gravity_notices,
        *drives.locked_rotor_notices(subtree.robot, subtree.moving),
        *notices_on_values(subtree, model),
        *notices_on_loops(subtree, model, open_loops),
        *ignored_rotor_notices(subtree.robot, subtree.moving),
        *drives.spring_notices(subtree.robot, subtree.moving),
        *notices_on_selection(subtree, options.gravity is not None),
        *snapper.notices(),
        *estimate_notices,
    )
    ordered = tuple(sorted(notices, key=lambda notice: notice.location.line))
    places = {name: subtree.robot.place(link.line) for name, link in subtree.links.items()}
    right_angles = tuple(snapper.found)
    return LoadedRobot(
        model, ordered, subtree.robot.sha256, name_of(source), right_angles, places, drives.sha256
    )
