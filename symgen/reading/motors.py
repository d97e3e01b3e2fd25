"""Motors of a robot: what they move, and whether their angles are the coordinates.

A motor's angle is a linear function of coordinates of joints, θ = A q + a, by a transmission or by
the gear ratio of a joint. Where the coordinates are those of joints, the rotor of a motor that
several joints turn is a body that follows them; where they are those of actuators, the joints
follow the motors, q = A⁻¹ (θ - a). Torques of motors are those that do the same work."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from symgen.errors import OptionError
from symgen.numbers.scalar import dot
from symgen.reading.actuators import Drives, SharedMotor
from symgen.reading.bodies_from_joints import MotorBody
from symgen.reading.description import LinearFunction, Mimic, Motor, Transmission, with_mimics
from symgen.reading.joint_kinds import has_one_coordinate
from symgen.reading.subtree import RobotSubtree
from symgen.text import quoted, shown

JOINTS: Final = "joints"
"""The value of ``--coordinates`` with which the coordinates are those of joints."""


def motors_of(
    part: RobotSubtree, drives: Drives, coordinates: str, every_motor: bool = False
) -> tuple[RobotSubtree, tuple[MotorBody, ...]]:
    """The motors that are bodies, and the part; its joints follow the motors where `coordinates`
    are those of actuators. What a motor follows are joints of the part, which may follow others.
    Motors of several joints without inertia and friction are bodies only with `every_motor`.

    Raises OptionError where the coordinates cannot be those of actuators."""
    transmissions = [
        _with_constants(transmission, drives) for transmission in part.robot.transmissions
    ]
    if coordinates == JOINTS:
        return part, tuple(_motors_of_several_joints(part, transmissions, every_motor))
    geared = _geared(part, drives, transmissions)
    if not geared:
        raise OptionError(
            "--coordinates actuators: no joint has a motor; add a <transmission> of a "
            "known type to the file, or a gear_ratio to the file of --actuators"
        )
    return _with_motor_coordinates(part, geared)


def _with_constants(transmission: Transmission, drives: Drives) -> Transmission:
    """The transmission with inertia and friction of its motors from the file of actuators; without
    inertia if rotors are ignored."""
    motors = []
    for motor in transmission.motors:
        row = drives.motors.get(motor.name, SharedMotor(None, ()))
        inertia = motor.inertia if row.inertia is None else row.inertia
        inertia = 0.0 if drives.rotors == "none" else inertia
        motors.append(replace(motor, inertia=inertia, friction=row.friction))
    return replace(transmission, motors=tuple(motors))


def _motors_of_several_joints(
    part: RobotSubtree, transmissions: Sequence[Transmission], every_motor: bool
) -> list[MotorBody]:
    """The motors that several joints of the part turn: those with inertia or friction, or every
    motor; locked joints turn none."""
    names, bodies = {joint.name for joint in part.moving}, list[MotorBody]()
    shared = [
        motor
        for transmission in transmissions
        if len(transmission.joints) > 1
        for motor in transmission.motors
    ]
    for motor in (m for m in shared if every_motor or m.inertia or m.friction):
        terms = tuple((joint, by) for joint, by in motor.angle.terms if joint in names)
        if terms:
            name = f"{motor.name}.rotor"
            angle = LinearFunction(terms)
            bodies.append(MotorBody(name, motor.inertia, None, angle, motor.friction))
    return bodies


def _geared(
    part: RobotSubtree, drives: Drives, transmissions: Sequence[Transmission]
) -> list[Transmission]:
    """The transmissions of the independent moving joints, those of gear ratios among them. Raises
    OptionError for one with a joint that is locked, excluded or follows other joints."""
    joints = {joint.name: joint for joint in part.moving if joint.mimics is None}
    geared, with_motors = list[Transmission](), {name for t in transmissions for name in t.joints}
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
            geared.append(_with_ratio(transmission, drives.ratio(moving[0])))
    for name, joint in joints.items():
        ratio = drives.ratio(name)
        if name not in with_motors and ratio is not None and has_one_coordinate(joint.kind):
            motor = Motor(f"{name}.motor", LinearFunction(((name, ratio),)))
            geared.append(Transmission(joint.line, (name,), (motor,)))
    return geared


def _with_ratio(transmission: Transmission, ratio: float | None) -> Transmission:
    """A transmission of one joint with the gear ratio of its drive, which may be that of the file
    of actuators."""
    if len(transmission.joints) > 1 or ratio is None:
        return transmission
    (motor,) = transmission.motors
    ((joint, by),) = motor.angle.terms
    angle = LinearFunction(((joint, ratio),), motor.angle.offset / by * ratio)
    return replace(transmission, motors=(replace(motor, angle=angle),))


def _with_motor_coordinates(
    part: RobotSubtree, transmissions: Sequence[Transmission]
) -> tuple[RobotSubtree, tuple[MotorBody, ...]]:
    """The part whose joints follow motors, and the motors."""
    joint_names = {joint.name for joint in part.robot.joints}
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
            alone = len(transmission.joints) == 1
            joint, inertia = (transmission.joints[0], 0.0) if alone else (None, motor.inertia)
            bodies[name] = MotorBody(name, inertia, joint, None, motor.friction)
            motors.append(replace(motor, name=name))
        mimics |= _inverse(transmission, motors)
    robot = replace(part.robot, joints=with_mimics(part.robot.joints, mimics))
    led = replace(part, robot=robot, joints=with_mimics(part.joints, mimics))
    return led, tuple(bodies.values())


def _inverse(transmission: Transmission, motors: Sequence[Motor]) -> dict[str, Mimic]:
    """The laws by which the joints follow the motors: q = A⁻¹ θ - A⁻¹ a."""
    rows = [[dict(m.angle.terms).get(joint, 0.0) for joint in transmission.joints] for m in motors]
    mimics = {}
    for joint, row in zip(transmission.joints, _inverted(rows), strict=True):
        terms = tuple((m.name, x) for m, x in zip(motors, row, strict=True) if x)
        offset = -dot(row, [m.angle.offset for m in motors])
        mimics[joint] = Mimic.of(transmission.line, LinearFunction(terms, offset + 0.0))
    return mimics


def _inverted(rows: Sequence[Sequence[float]]) -> list[list[float]]:
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
            by = augmented[i][k]
            augmented[i] = [x - by * y for x, y in zip(augmented[i], augmented[k], strict=True)]
    return [[x + 0.0 for x in row[n:]] for row in augmented]
