"""Drives of the joints: rotors and friction from a file of actuators, rotors and reductions from a
URDF's tags.

A URDF says it in ``<transmission>``: Drake's ``<drake:rotor_inertia value="..."/>`` and
``<drake:gear_ratio .../>`` in ``<actuator>`` (its documentation of URDF; a ratio is 1 where it is
not given), and ROS's ``<mechanicalReduction>``, a ratio that has an effect only where something
else gives an inertia. The file comes first, entry by entry."""

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from symgen.errors import Notice
from symgen.mechanics.joint_forces import LAWS, SHAPE_PARAMETERS
from symgen.mechanics.model import JOINT_FIELDS, Joint, PerCoordinate, Rotor, constant_of_velocity
from symgen.mechanics.model_validation import MAX_NUMBER
from symgen.mechanics.pose import Triple
from symgen.numbers.decimals import norm
from symgen.reading import toml_reader
from symgen.reading.description import JointElement, RobotDescription
from symgen.reading.joint_kinds import (
    FIXED,
    from_table,
    has_one_coordinate,
    has_several_coordinates,
    numbers_of,
    springs_are_linear,
)
from symgen.reading.toml_reader import Table
from symgen.text import quoted, shown


@dataclass(frozen=True, slots=True)
class Actuator:
    """A joint's drive as a file has it, None where it is silent.

    `gear_ratio` is the rotor's angle by the joint's coordinate (rad or m); the rotor's inertia is
    about its axis, its mass and `rotor_transverse` (inertia across the axis) are what the link that
    carries the joint does not contain. `rotor_axis` (unit) and `rotor_position` are in that link's
    frame. Friction is viscous, coulomb and offset as in `Joint`."""

    gear_ratio: float | None = None
    rotor_inertia: float | None = None
    rotor_axis: Triple | None = None
    rotor_position: Triple | None = None
    rotor_mass: float | None = None
    rotor_transverse: float | None = None
    viscous: PerCoordinate | None = None
    coulomb: PerCoordinate | None = None
    offset: PerCoordinate | None = None
    armature: PerCoordinate | None = None
    """Inertia as the joint feels it (kg m² or kg), beside that of the rotor."""
    stiffness: PerCoordinate | None = None
    """The stiffness of the joint's spring (N m/rad or N/m), which is relaxed at coordinate
    `reference` (rad or m)."""
    reference: PerCoordinate | None = None
    laws: tuple[tuple[str, PerCoordinate], ...] = ()
    """Coefficients and shape parameters of the other laws of joint forces, by key."""
    torque_constant: float | None = None
    """The torque constant of the motor (N m/A, or N/A of a linear one), for logs of currents; times
    `gear_ratio`, where there is one, it is that of the joint."""

    @property
    def rotor(self) -> Rotor | None:
        """The rotor, where there is one."""
        if not self.rotor_inertia or not self.gear_ratio:
            return None
        return Rotor(
            self.gear_ratio,
            self.rotor_inertia,
            self.rotor_axis,
            self.rotor_position,
            self.rotor_mass or 0.0,
            self.rotor_transverse or 0.0,
        )


@dataclass(frozen=True, slots=True)
class SharedMotor:
    """A motor of several joints as a file has it: the inertia of its rotor (kg m²), None where it
    is silent, and the coefficients and shape parameters of its friction by name."""

    inertia: float | None
    friction: tuple[tuple[str, float], ...]


COMMON_FRICTION: Final = ("viscous", "coulomb", "offset")
"""The laws of friction with fields of their own."""
FIELDS: Final = tuple(field.name for field in fields(Actuator) if field.name != "laws")
LAW_KEYS: Final = (
    *(law for law in LAWS if law not in JOINT_FIELDS and law != "preload"),
    *SHAPE_PARAMETERS,
)
"""The coefficients and shape parameters of the laws that have no field of their own."""
KEYS: Final = (*FIELDS, *LAW_KEYS)
TRIPLES: Final = ("rotor_axis", "rotor_position")
SIGNED: Final = ("gear_ratio", "offset", "stiffness", "reference")
"""Numbers that may be negative."""
OF_COORDINATES: Final = (*JOINT_FIELDS, *LAW_KEYS)
"""What a joint with several coordinates can have, one number for all of them or one for each."""
SPRING_KEYS: Final = ("stiffness", "reference")

OF_ROTOR: Final = tuple(key for key in KEYS if key.startswith("rotor_") and key != "rotor_inertia")


def read(path: str | os.PathLike[str], robot: RobotDescription, rotors: str) -> "Drives":
    """The drives by a file of actuators, completed by what the robot's own file says, with the
    SHA-256 of its bytes.

    Raises RobotError, one line with file and line, for what no drive of this robot can be.
    """
    root, data = toml_reader.read(path, "a TOML file of actuators")
    root.only(["joints", "motors"])
    table, tags = root.table("joints"), of_tags(robot)
    joints = {joint.name: joint for joint in robot.joints}
    table.only(joints, "joint")
    by_joint = {
        name: _actuator(table.table(name), joints[name], tags.get(name, Actuator()))
        for name in table.data
    }
    digest = hashlib.sha256(data).hexdigest()
    return Drives(tags | by_joint, rotors, digest, _motors(root.table("motors"), robot))


def _motors(table: Table, robot: RobotDescription) -> dict[str, SharedMotor]:
    """The constants of the motors that several joints share."""
    shared = {m.name for t in robot.transmissions if len(t.joints) > 1 for m in t.motors}
    table.only(sorted(shared), "motor of several joints")
    motors = {}
    for name in table.data:
        row = table.table(name)
        row.only(["rotor_inertia", *COMMON_FRICTION, *LAW_KEYS])
        common = {
            key: row.number(key, -MAX_NUMBER if key in SIGNED else 0.0) for key in COMMON_FRICTION
        }
        friction = {key: value for key, value in common.items() if value is not None}
        friction |= {key: constant_of_velocity(value, 0) for key, value in _laws(row, "revolute")}
        inertia = row.number("rotor_inertia", 0.0)
        motors[name] = SharedMotor(inertia, tuple(friction.items()))
    return motors


def of_tags(robot: RobotDescription) -> dict[str, Actuator]:
    """The drives of the robot's own file, by joint; those with several coordinates have no rotor
    (`undriven`)."""
    wide = {joint.name for joint in robot.joints if has_several_coordinates(joint.kind)}
    return {
        drive.joint: Actuator(armature=drive.armature)
        if drive.joint in wide
        else Actuator(drive.ratio, drive.inertia, armature=drive.armature)
        for drive in robot.drives
    }


def undriven(robot: RobotDescription, moving: Iterable[JointElement]) -> Iterator[Notice]:
    """A warning where the robot's own file puts rotors on joints with several coordinates."""
    driven = {drive.joint for drive in robot.drives if drive.inertia}
    many = [
        joint for joint in moving if joint.name in driven and has_several_coordinates(joint.kind)
    ]
    if many:
        names = quoted(joint.name for joint in many)
        message = (
            f"rotors of joints with several coordinates ({names}) are ignored; give their "
            "armature instead (the squared gear ratio times the rotor inertia)"
        )
        yield robot.notice("warning", message, many[0].line)


def _actuator(table: Table, joint: JointElement, tags: Actuator) -> Actuator:
    if joint.kind == FIXED:
        raise table.error(None, "a fixed joint cannot have an actuator; remove the table")
    table.only(KEYS)
    _check_several(table, joint)
    numbers: dict[str, Any] = {
        key: from_table(table, key, joint.kind, -MAX_NUMBER if key in SIGNED else 0.0)
        if key in OF_COORDINATES
        else table.number(key, -MAX_NUMBER if key in SIGNED else 0.0)
        for key in FIELDS
        if key not in TRIPLES
    }
    stated = Actuator(
        **numbers,
        rotor_axis=_unit(table),
        rotor_position=table.triple("rotor_position"),
        laws=_laws(table, joint.kind),
    )
    if stated.gear_ratio == 0:
        raise table.error("gear_ratio", "is 0; give the turns of the rotor in one of the joint")
    complete = replace(
        tags,
        **{key: value for key in FIELDS if (value := getattr(stated, key)) is not None},
        laws=stated.laws,
    )
    _check_whole(table, complete)
    return complete


def _laws(table: Table, kind: str) -> tuple[tuple[str, PerCoordinate], ...]:
    """The coefficients and shape parameters of a joint of a kind. Raises RobotError for a shape
    parameter that is out of its range, or absent although its coefficient is given."""
    given = {key: from_table(table, key, kind, -MAX_NUMBER) for key in LAW_KEYS}
    laws = {key: value for key, value in given.items() if value is not None}
    for key, parameter in SHAPE_PARAMETERS.items():
        if key in laws and not all(map(parameter.allowed, numbers_of(laws[key]))):
            raise table.error(key, f"is out of range; give {parameter.requirement}")
        needed_by = next((k for k, law in LAWS.items() if k in laws and parameter in law.shape), "")
        if needed_by and key not in laws:
            raise table.error(needed_by, f"has no effect without {key}; add {key}")
    return tuple(laws.items())


def _check_several(table: Table, joint: JointElement) -> None:
    """Refuses what joints with several coordinates cannot have. Raises RobotError."""
    if has_one_coordinate(joint.kind):
        return
    springs = () if springs_are_linear(joint.kind) else SPRING_KEYS
    for key in table.data:
        if key in KEYS and (key in springs or key not in OF_COORDINATES):
            reason = "spring that is linear in its coordinates" if key in springs else "gear"
            raise table.error(key, f"a {joint.kind} joint has no {reason}; remove the key")


def _check_whole(table: Table, actuator: Actuator) -> None:
    """A rotor needs its inertia and its ratio, and nothing about a rotor is without effect."""
    ratio = ("gear_ratio",) if actuator.torque_constant is None else ()
    rotor_key = next((key for key in (*ratio, *OF_ROTOR) if key in table.data), None)
    if rotor_key is not None and actuator.rotor_inertia is None:
        raise table.error(
            rotor_key, "has no effect without rotor_inertia; add rotor_inertia (kg m^2)"
        )
    if actuator.rotor_inertia and actuator.gear_ratio is None:
        raise table.error(
            "rotor_inertia" if "rotor_inertia" in table.data else None,
            "gear_ratio is missing; add the turns of the rotor per turn of the joint",
        )
    if (actuator.gear_ratio or 0.0) ** 2 * (actuator.rotor_inertia or 0.0) > MAX_NUMBER:
        raise table.error(
            rotor_key, "is too large; use kg and m, and give gear_ratio in turns per turn"
        )


def _unit(table: Table) -> Triple | None:
    axis = table.triple("rotor_axis")
    if axis is None:
        return None
    size = max(map(abs, axis))
    if not size:
        raise table.error("rotor_axis", "is zero; give a direction such as [0, 0, 1]")
    length = norm(*(a / size for a in axis))
    x, y, z = axis if norm(*axis) == 1 else (a / size / length for a in axis)
    return x, y, z


@dataclass(frozen=True, slots=True)
class Drives:
    """The drives of a robot by joint, what is taken of rotors (one of ROTORS), and the SHA-256 of
    the file of actuators, None without one."""

    actuators: Mapping[str, Actuator]
    rotors: str
    sha256: str | None = None
    motors: Mapping[str, SharedMotor] = field(default_factory=dict)
    """The motors of several joints that the file of actuators has, by name."""

    def _actuator(self, joint: str) -> Actuator:
        return self.actuators.get(joint, Actuator())

    def ratio(self, joint: str) -> float | None:
        """The gear ratio of a joint's drive, None where nothing is said."""
        return self._actuator(joint).gear_ratio

    def on(self, joint: Joint) -> Joint:
        """The joint with its friction, its spring and its rotor."""
        actuator = self.actuators.get(joint.name)
        if actuator is None:
            return joint
        rotor = None if self.rotors == "none" else actuator.rotor
        armature = 0.0 if self.rotors == "none" else _or_default(actuator.armature, 0.0)
        if rotor is not None and self.rotors == "reflected":
            armature = constant_of_velocity(armature, 0) + rotor.ratio**2 * rotor.inertia
            rotor = None
        return replace(
            joint,
            damping=_or_default(actuator.viscous, joint.damping),
            friction=_or_default(actuator.coulomb, joint.friction),
            offset=_or_default(actuator.offset, joint.offset),
            stiffness=_or_default(actuator.stiffness, joint.stiffness),
            reference=_or_default(actuator.reference, joint.reference),
            armature=armature,
            laws=actuator.laws,
            rotor=rotor or joint.rotor,
        )

    def left_out(self, robot: RobotDescription, moving: Collection[str]) -> list[Notice]:
        """A note for the rotor of each joint that does not move."""
        return [
            robot.notice(
                "note",
                "does not move, so its rotor is ignored",
                joint.line,
                f"joint '{shown(joint.name)}'",
                summary="rotors of {count} joints that do not move are ignored ({elements})",
            )
            for joint in robot.joints
            if joint.name not in moving and self._actuator(joint.name).rotor
        ]

    def springs(self, robot: RobotDescription, moving: Sequence[JointElement]) -> Iterator[Notice]:
        """Warnings where moving joints have springs, which do not count by themselves, or not at
        all where joints have several coordinates."""
        stiff = [
            joint
            for joint in moving
            if _or_default(self._actuator(joint.name).stiffness, joint.stiffness)
        ]
        alone = [joint for joint in stiff if springs_are_linear(joint.kind)]
        others = [joint for joint in stiff if not springs_are_linear(joint.kind)]
        if alone:
            s, are, them = ("s", "are", "them") if len(alone) > 1 else ("", "is", "it")
            names = quoted(joint.name for joint in alone)
            message = f"spring{s} of {names} {are} ignored; add --springs to include {them}"
            options, offer = ("springs", "runtime_springs"), f"spring{s} of {names} (--springs)"
            yield robot.notice("warning", message, alone[0].line, unless=options, offer=offer)
        if others:
            names = quoted(joint.name for joint in others)
            message = (
                f"springs of ball and floating joints ({names}) are ignored because they "
                "are not linear in the coordinates"
            )
            yield robot.notice("warning", message, others[0].line)


def drives_of(
    robot: RobotDescription, path: str | os.PathLike[str] | None = None, rotors: str = "exact"
) -> Drives:
    """The drives by the file `path` and by the robot's own file; `rotors` is one of ROTORS.

    Raises RobotError.
    """
    return Drives(of_tags(robot), rotors) if path is None else read(path, robot, rotors)


def _or_default(value: PerCoordinate | None, otherwise: PerCoordinate) -> PerCoordinate:
    return otherwise if value is None else value
