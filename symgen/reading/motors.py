"""Motors of a robot: what they move, and whether their angles are the coordinates.

A motor's angle is linear in coordinates of joints, θ = A q + a, by a transmission or by the gear
ratio of a joint. Where the coordinates are those of joints, the rotor of a motor that several
joints turn is a body that follows them; where they are those of actuators, the joints follow the
motors, q = A⁻¹ (θ - a). Torques of motors are those that do the same work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from symgen.errors import OptionError
from symgen.reading.actuators import Drives
from symgen.reading.description import JointElement, Mimic, Motor, Transmission
from symgen.reading.joints import has_one_coordinate
from symgen.reading.part import RobotSubtree
from symgen.reading.unfold import Following, MotorBody
from symgen.text import quoted, shown

JOINTS: Final = "joints"
"""Where the coordinates of the user are those of joints; else they are those of actuators."""


@dataclass(frozen=True)
class Motors:
    """The motors that are bodies of their own: `leading` those whose angles are coordinates, by
    name with the joint whose rotor each turns alone, if any; `turning` those that follow several
    joints."""

    leading: Mapping[str, str | None]
    turning: tuple[Motor, ...]
    inertias: Mapping[str, float]
    """The inertias of the rotors of leading motors that move several joints, or stand on the ground
    (kg m²)."""

    def bodies(self, followers: Mapping[str, Following]) -> list[MotorBody]:
        """The motors as bodies, by what joints follow themselves."""
        leading = [MotorBody(k, self.inertias[k], joint) for k, joint in self.leading.items()]
        turning = [
            MotorBody(f"{m.name}.rotor", m.inertia, None, _through(m, followers))
            for m in self.turning
        ]
        return leading + turning


def motors_of(part: RobotSubtree, drives: Drives, coordinates: str) -> tuple[RobotSubtree, Motors]:
    """The motors, and the part with joints that follow them where `coordinates` are those of
    actuators. Raises OptionError where these cannot be."""
    known = [_with_inertias(tied, drives) for tied in part.robot.transmissions]
    if coordinates == JOINTS:
        turning = tuple(_turning(part, known)) if drives.rotors != "none" else ()
        return part, Motors({}, turning, {})
    transmissions = _geared(part, drives, known)
    if not transmissions:
        raise OptionError(
            "--coordinates actuators: no joint has a motor; add a <transmission> of a "
            "known type to the file, or a gear_ratio to the file of --actuators"
        )
    return _led(part, drives, transmissions)


def _through(motor: Motor, followers: Mapping[str, Following]) -> Following:
    """The bodies that a motor that turns with joints follows in the end."""
    total: dict[str, float] = {}
    for joint, by in motor.terms:
        follows = followers.get(joint, Following(((joint, 1.0),), 0.0))
        for name, factor in follows.terms:
            total[name] = total.get(name, 0.0) + by * factor
    return Following(tuple((name, by) for name, by in total.items() if by), 0.0)


def _with_inertias(tied: Transmission, drives: Drives) -> Transmission:
    inertias = drives.motors
    motors = (replace(m, inertia=inertias.get(m.name, m.inertia)) for m in tied.motors)
    return replace(tied, motors=tuple(motors))


def _turning(part: RobotSubtree, known: Sequence[Transmission]) -> list[Motor]:
    """The motors with inertia that several joints of the part turn; held joints turn none."""
    names, turning = {joint.name for joint in part.moving}, list[Motor]()
    for motor in (m for tied in known if len(tied.joints) > 1 for m in tied.motors if m.inertia):
        terms = tuple((joint, by) for joint, by in motor.terms if joint in names)
        turning += [replace(motor, terms=terms)] if terms else []
    return turning


def _geared(
    part: RobotSubtree, drives: Drives, known: Sequence[Transmission]
) -> list[Transmission]:
    """The transmissions of the moving joints that move by themselves, those of gear ratios among
    them. Raises OptionError for one that is in part held, left out or led by other joints."""
    joints = {joint.name: joint for joint in part.moving if joint.mimics is None}
    geared, tied = list[Transmission](), {name for t in known for name in t.joints}
    for transmission in known:
        moving = [name for name in transmission.joints if name in joints]
        if moving and len(moving) < len(transmission.joints):
            missing = next(name for name in transmission.joints if name not in joints)
            raise OptionError(
                f"--coordinates actuators: joints {quoted(transmission.joints)} are moved "
                f"by the same motors, but '{shown(missing)}' is locked, excluded or "
                "follows another joint; use --coordinates joints"
            )
        if moving:
            geared.append(_by_file(transmission, joints[moving[0]], drives))
    for name, joint in joints.items():
        ratio = drives.ratio(name)
        if name not in tied and ratio is not None and has_one_coordinate(joint.kind):
            motor = Motor(f"{name}.motor", ((name, ratio),))
            geared.append(Transmission(joint.line, (name,), (motor,)))
    return geared


def _by_file(tied: Transmission, joint: JointElement, drives: Drives) -> Transmission:
    """A transmission of one joint with the gear ratio of its rotor, which a file of actuators may
    have given."""
    ratio = drives.ratio(joint.name)
    if len(tied.joints) > 1 or ratio is None:
        return tied
    (motor,) = tied.motors
    by = motor.terms[0][1]
    geared = replace(motor, terms=((joint.name, ratio),), offset=motor.offset / by * ratio)
    return replace(tied, motors=(geared,))


def _led(
    part: RobotSubtree, drives: Drives, transmissions: Sequence[Transmission]
) -> tuple[RobotSubtree, Motors]:
    """The part whose joints follow motors."""
    taken = {joint.name for joint in part.robot.joints}
    leading: dict[str, str | None] = {}
    inertias: dict[str, float] = {}
    follows: dict[str, Mimic] = {}
    for tied in transmissions:
        motors = []
        for motor in tied.motors:
            name = f"{motor.name}.motor" if motor.name in taken else motor.name
            if name in leading:
                raise OptionError(
                    f"--coordinates actuators: motor '{shown(motor.name)}' belongs to two "
                    "transmissions; use --coordinates joints"
                )
            alone = len(tied.joints) == 1
            leading[name] = tied.joints[0] if alone else None
            inertias[name] = 0.0 if alone or drives.rotors == "none" else motor.inertia
            motors.append(replace(motor, name=name))
        follows |= _inverse(tied, motors)
    joints = (_following(joint, follows) for joint in part.joints)
    robot = replace(
        part.robot, joints=tuple(_following(joint, follows) for joint in part.robot.joints)
    )
    return replace(part, robot=robot, joints=tuple(joints)), Motors(leading, (), inertias)


def _following(joint: JointElement, follows: Mapping[str, Mimic]) -> JointElement:
    return replace(joint, mimics=follows[joint.name]) if joint.name in follows else joint


def _inverse(tied: Transmission, motors: Sequence[Motor]) -> dict[str, Mimic]:
    """How each joint follows the motors: q = A⁻¹ θ - A⁻¹ a."""
    rows = [[dict(m.terms).get(joint, 0.0) for joint in tied.joints] for m in motors]
    mimics = {}
    for joint, row in zip(tied.joints, _inverted(rows), strict=True):
        (first, by), *also = [(m.name, x) for m, x in zip(motors, row, strict=True) if x]
        offset = -sum(x * m.offset for m, x in zip(motors, row, strict=True))
        mimics[joint] = Mimic(tied.line, first, by, offset + 0.0, tuple(also))
    return mimics


def _inverted(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """The inverse of a matrix, by elimination with the largest pivots (the same on every
    machine)."""
    n = len(rows)
    beside = [[*row, *(float(i == k) for i in range(n))] for k, row in enumerate(rows)]
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(beside[i][k]))
        beside[k], beside[best] = beside[best], beside[k]
        pivot = beside[k][k]
        beside[k] = [x / pivot for x in beside[k]]
        for i in (i for i in range(n) if i != k):
            by = beside[i][k]
            beside[i] = [x - by * y for x, y in zip(beside[i], beside[k], strict=True)]
    return [[x + 0.0 for x in row[n:]] for row in beside]
