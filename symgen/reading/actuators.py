"""Drives of the joints: rotors and friction from a file of actuators, which also has the fluids
around links, rotors and reductions from a URDF's tags.

A URDF says it in ``<transmission>``: Drake's ``<drake:rotor_inertia value="..."/>`` and
``<drake:gear_ratio .../>`` in ``<actuator>`` (its documentation of URDF; a ratio is 1 where it is
not given), and ROS's ``<mechanicalReduction>``, a ratio that has an effect only where something
else gives an inertia. The file comes first, entry by entry."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from symgen.errors import Notice
from symgen.mechanics.fluid import (
    SIX,
    UPPER_ENTRIES,
    LinkFluid,
    diagonal_matrix,
    quadratic_terms,
    triangle,
)
from symgen.mechanics.joint_forces import FRICTION_WIDTH, LAWS, SHAPE_PARAMETERS
from symgen.mechanics.model import JOINT_FIELDS, Joint, Rotor, constant_of_velocity
from symgen.mechanics.model_validation import MAX_NUMBER
from symgen.mechanics.spatial import Triple
from symgen.reading import checked_values
from symgen.reading.checked_values import Table
from symgen.reading.description import JointElement, RobotDescription
from symgen.reading.joint_kinds import (
    FIXED,
    from_table,
    has_one_coordinate,
    has_several_coordinates,
    numbers_of,
    springs_are_linear,
)
from symgen.reading.rotations import unit_vector
from symgen.text import quoted

FLUID_KEYS: Final = (
    *("density", "volume", "centre_of_buoyancy", "added_mass"),
    *("linear_drag", "quadratic_drag", "current"),
)


def _fluid(row: Table) -> LinkFluid:
    row.check_keys(FLUID_KEYS)
    density, volume = row.number("density", 0.0), row.number("volume", 0.0)
    if volume and density is None:
        raise row.error("volume", "needs density (kg/m^3), as in density = 1000.0")
    linear, quadratic = _drag(row, "linear_drag"), _drag(row, "quadratic_drag")
    return LinkFluid(
        (density or 0.0) * (volume or 0.0),
        row.triple("centre_of_buoyancy") or (0.0, 0.0, 0.0),
        _added_mass(row),
        linear,
        quadratic_terms([quadratic[SIX * i : SIX * i + SIX] for i in range(SIX)]),
        row.triple("current") or (0.0, 0.0, 0.0),
    )


def _drag(row: Table, key: str) -> tuple[float, ...]:
    """A matrix of drag from its diagonal, which is not negative, or from all of it."""
    if key not in row.data:
        return (0.0,) * SIX**2
    values = row.numbers(key)
    if len(values) == SIX:
        return diagonal_matrix(row.numbers(key, 0.0))
    if len(values) != SIX**2:
        raise row.error(
            key, f"has {len(values)} numbers; give the diagonal (6) or the matrix row by row (36)"
        )
    return tuple(values)


def _added_mass(row: Table) -> tuple[float, ...]:
    """The upper triangle of M_A from its diagonal, its upper triangle or all of it."""
    if "added_mass" not in row.data:
        return (0.0,) * UPPER_ENTRIES
    values = row.numbers("added_mass")
    if len(values) == SIX:
        return tuple(values[i] if i == j else 0.0 for i, j in triangle())
    if len(values) == UPPER_ENTRIES:
        return tuple(values)
    if len(values) != SIX * SIX:
        raise row.error(
            "added_mass",
            f"has {len(values)} numbers; give the diagonal (6), the upper triangle row by row (21) "
            "or the matrix (36)",
        )
    for i, j in triangle():
        if values[SIX * i + j] != values[SIX * j + i]:
            raise row.error("added_mass", f"is not symmetric at row {i + 1}, column {j + 1}")
    return tuple(values[SIX * i + j] for i, j in triangle())


Constants = Mapping[str, Any]
"""The constants of a drive by key of `KEYS`; a key is missing where no file gives it.

``gear_ratio`` is the rotor's angle by the joint's coordinate (rad or m); ``rotor_inertia`` (kg m²)
is about the rotor's axis; ``rotor_mass`` (kg) and ``rotor_transverse`` (inertia across the axis)
are what the link that carries the joint does not contain; ``rotor_axis`` (unit) and
``rotor_position`` (m) are in that link's frame. ``armature`` is inertia at the joint (kg m² or kg)
in addition to that of the rotor. ``torque_constant`` is that of the motor (N m/A, or N/A of a
linear one), for logs of currents; times ``gear_ratio``, if given, it is that of the joint. The
other keys are coefficients and shape parameters of laws of joint forces, as in `Joint`."""

ROTOR_KEYS: Final = ("rotor_axis", "rotor_position", "rotor_mass", "rotor_transverse")
"""The keys that have no effect without the inertia of a rotor."""
COMMON_FRICTION: Final = ("viscous", "coulomb", "offset")
"""The laws of friction with fields of their own in `Joint`."""
LAW_KEYS: Final = (
    *(law for law in LAWS if law not in JOINT_FIELDS and law != "preload"),
    *SHAPE_PARAMETERS,
    FRICTION_WIDTH.name,
)
"""The coefficients and shape parameters of the laws that have no field of their own."""
PER_COORDINATE_KEYS: Final = (*JOINT_FIELDS, *LAW_KEYS)
"""What a joint with several coordinates can have, one number for all of them or one for each."""
KEYS: Final = ("gear_ratio", "rotor_inertia", *ROTOR_KEYS, "torque_constant", *PER_COORDINATE_KEYS)
SIGNED_KEYS: Final = ("gear_ratio", "offset", "stiffness", "reference", *LAW_KEYS)
"""Numbers that may be negative."""
SPRING_KEYS: Final = ("stiffness", "reference")


ESTIMATE_TABLES: Final = ("estimate", "base_parameters", "groupings", "channels")
"""The tables of a model file (`symgen.reading.assemble`), which is an actuator file too."""


def drives_of(
    robot: RobotDescription, path: str | os.PathLike[str] | None = None, rotors: str = "exact"
) -> "Drives":
    """The drives by a file of actuators or a model file, if there is one, completed by what the
    robot's own file says, with the SHA-256 of its bytes; `rotors` is one of ROTORS.

    Raises RobotError, one line with file and line, for what no drive of this robot can be.
    """
    if path is None:
        return Drives(drives_in_robot_file(robot), rotors)
    root, data = checked_values.read_toml(path, "a TOML file of actuators")
    root.check_keys(["joints", "motors", "links", *ESTIMATE_TABLES])
    estimated = "estimate" in root.data
    table, file_drives = root.table("joints"), drives_in_robot_file(robot)
    joints = {joint.name: joint for joint in robot.joints}
    table.check_keys(joints, "joint")
    by_joint = {
        name: _drive(table.table(name), joints[name], file_drives.get(name, {}), estimated)
        for name in table.data
    }
    digest = hashlib.sha256(data).hexdigest()
    links = root.table("links")
    links.check_keys([link.name for link in robot.links], "link")
    fluids = {name: (_fluid(links.table(name)),) for name in links.data}
    motors = _motors(root.table("motors"), robot, estimated)
    return Drives(file_drives | by_joint, rotors, digest, motors, root, fluids)


MOTOR_KEYS: Final = ("rotor_inertia", *COMMON_FRICTION, *LAW_KEYS)
"""The keys of a motor that several joints share."""


def _motors(table: Table, robot: RobotDescription, estimated: bool) -> dict[str, Constants]:
    """The constants of the motors that several joints share."""
    shared = {m.name for t in robot.transmissions if len(t.joints) > 1 for m in t.motors}
    table.check_keys(sorted(shared), "motor of several joints")
    rows = {name: table.table(name) for name in table.data}
    for row in rows.values():
        row.check_keys(MOTOR_KEYS)
    return {
        name: _read_constants(row, MOTOR_KEYS, "revolute", estimated) for name, row in rows.items()
    }


def drives_in_robot_file(robot: RobotDescription) -> dict[str, Constants]:
    """The drives of the robot's own file, by joint; those with several coordinates have no rotor
    (`ignored_rotor_notices`)."""
    several = {joint.name for joint in robot.joints if has_several_coordinates(joint.kind)}
    drives = dict[str, Constants]()
    for drive in robot.drives:
        rotor = {"gear_ratio": drive.ratio, "rotor_inertia": drive.inertia}
        values = ({} if drive.joint in several else rotor) | {"armature": drive.armature}
        drives[drive.joint] = {key: x for key, x in values.items() if x is not None}
    return drives


def ignored_rotor_notices(
    robot: RobotDescription, moving: Iterable[JointElement]
) -> Iterator[Notice]:
    """A warning where the robot's own file puts rotors on joints with several coordinates."""
    driven = {drive.joint for drive in robot.drives if drive.inertia}
    ignored = [
        joint for joint in moving if joint.name in driven and has_several_coordinates(joint.kind)
    ]
    if ignored:
        names = quoted(joint.name for joint in ignored)
        message = (
            f"rotors of joints with several coordinates ({names}) are ignored; give their "
            "armature instead (the squared gear ratio times the rotor inertia)"
        )
        yield robot.notice("warning", message, ignored[0].line)


def _drive(table: Table, joint: JointElement, file_drives: Constants, estimated: bool) -> Constants:
    """The constants of a joint's drive by its table, completed by those of the robot's file."""
    if joint.kind == FIXED:
        raise table.error(None, "a fixed joint cannot have an actuator; remove the table")
    table.check_keys(KEYS)
    _check_several_coordinates(table, joint)
    stated = _read_constants(table, KEYS, joint.kind, estimated)
    if stated.get("gear_ratio") == 0:
        raise table.error("gear_ratio", "is 0; give the turns of the rotor in one of the joint")
    complete = {**file_drives, **stated}
    _check_complete_rotor(table, complete)
    return complete


def _read_constants(
    table: Table, keys: Iterable[str], kind: str, estimated: bool
) -> dict[str, Any]:
    """The values of a table for a joint of a kind; `estimated` coefficients can have any sign.
    Raises RobotError, also for a shape parameter
    that is out of its range, or absent although its coefficient is given."""
    values = dict[str, Any]()
    for key in (key for key in keys if key in table.data):
        minimum = -MAX_NUMBER if estimated or key in SIGNED_KEYS else 0.0
        if key == "rotor_axis":
            values[key] = _rotor_axis(table)
        elif key == "rotor_position":
            values[key] = table.triple(key)
        elif key in PER_COORDINATE_KEYS:
            values[key] = from_table(table, key, kind, minimum)
        else:
            values[key] = table.number(key, minimum)
    for key, parameter in {**SHAPE_PARAMETERS, FRICTION_WIDTH.name: FRICTION_WIDTH}.items():
        if key in values and not all(map(parameter.allowed, numbers_of(values[key]))):
            raise table.error(key, f"is out of range; give {parameter.requirement}")
        needed_by = next(
            (k for k, law in LAWS.items() if k in values and parameter in law.shape), ""
        )
        if needed_by and key not in values:
            raise table.error(needed_by, f"has no effect without {key}; add {key}")
    return values


def _check_several_coordinates(table: Table, joint: JointElement) -> None:
    """Refuses what joints with several coordinates cannot have. Raises RobotError."""
    if has_one_coordinate(joint.kind):
        return
    springs = () if springs_are_linear(joint.kind) else SPRING_KEYS
    for key in table.data:
        if key in KEYS and (key in springs or key not in PER_COORDINATE_KEYS):
            reason = "spring that is linear in its coordinates" if key in springs else "gear"
            raise table.error(key, f"a {joint.kind} joint has no {reason}; remove the key")


def _check_complete_rotor(table: Table, drive: Constants) -> None:
    """A rotor needs its inertia and its ratio, and nothing about a rotor is without effect."""
    inertia, gear_ratio = drive.get("rotor_inertia"), drive.get("gear_ratio")
    ratio = () if "torque_constant" in drive else ("gear_ratio",)
    rotor_key = next((key for key in (*ratio, *ROTOR_KEYS) if key in table.data), None)
    if rotor_key is not None and inertia is None:
        raise table.error(
            rotor_key, "has no effect without rotor_inertia; add rotor_inertia (kg m^2)"
        )
    if inertia and gear_ratio is None:
        raise table.error(
            "rotor_inertia" if "rotor_inertia" in table.data else None,
            "gear_ratio is missing; add the turns of the rotor per turn of the joint",
        )
    if (gear_ratio or 0.0) ** 2 * (inertia or 0.0) > MAX_NUMBER:
        raise table.error(
            rotor_key, "is too large; use kg and m, and give gear_ratio in turns per turn"
        )


def _rotor_axis(table: Table) -> Triple | None:
    axis = table.triple("rotor_axis")
    if axis is None:
        return None
    if not any(axis):
        raise table.error("rotor_axis", "is zero; give a direction such as [0, 0, 1]")
    return unit_vector(axis)[0]


@dataclass(frozen=True, slots=True)
class Drives:
    """The drives of a robot by joint, what is taken of rotors (one of ROTORS), and the SHA-256 of
    the file of actuators, None without one."""

    drives: Mapping[str, Constants]
    rotors: str
    sha256: str | None = None
    motors: Mapping[str, Constants] = field(default_factory=dict)
    """The constants of the motors of several joints that the file of actuators has, by name."""
    root: Table | None = None
    """The root table of that file."""
    fluids: Mapping[str, tuple[LinkFluid, ...]] = field(default_factory=dict)
    """The fluids around links that the file of actuators has, by link."""

    def ratio(self, joint: str) -> float | None:
        """The gear ratio of a joint's drive, None where no file gives it."""
        return self.drives.get(joint, {}).get("gear_ratio")

    def rotor(self, joint: str) -> Rotor | None:
        """The rotor of a joint's drive, None without one."""
        values = self.drives.get(joint, {})
        if not values.get("rotor_inertia") or not values.get("gear_ratio"):
            return None
        return Rotor(
            values["gear_ratio"],
            values["rotor_inertia"],
            values.get("rotor_axis"),
            values.get("rotor_position"),
            values.get("rotor_mass", 0.0),
            values.get("rotor_transverse", 0.0),
        )

    def on(self, joint: Joint) -> Joint:
        """The joint with its friction, its spring and its rotor."""
        if joint.name not in self.drives:
            return joint
        values = dict(self.drives[joint.name])
        rotor = None if self.rotors == "none" else self.rotor(joint.name)
        armature = 0.0 if self.rotors == "none" else values.get("armature", 0.0)
        if rotor is not None and self.rotors == "reflected":
            armature = constant_of_velocity(armature, 0) + rotor.ratio**2 * rotor.inertia
            rotor = None
        values["armature"] = armature
        return replace(joint, **joint_fields(values), rotor=rotor or joint.rotor)

    def locked_rotor_notices(
        self, robot: RobotDescription, moving: Iterable[JointElement]
    ) -> list[Notice]:
        """A note for the rotor of each joint that does not move."""
        names = {joint.name for joint in moving}
        return [
            robot.notice(
                "note",
                "does not move, so its rotor is ignored",
                joint.line,
                joint.label,
                summary="rotors of {count} joints that do not move are ignored ({elements})",
            )
            for joint in robot.joints
            if joint.name not in names and self.rotor(joint.name)
        ]

    def spring_notices(
        self, robot: RobotDescription, moving: Sequence[JointElement]
    ) -> Iterator[Notice]:
        """Warnings where moving joints have springs, which do not count by themselves, or not at
        all where joints have several coordinates."""
        with_springs = [
            joint
            for joint in moving
            if self.drives.get(joint.name, {}).get("stiffness", joint.stiffness)
        ]
        linear = [joint for joint in with_springs if springs_are_linear(joint.kind)]
        nonlinear = [joint for joint in with_springs if not springs_are_linear(joint.kind)]
        if linear:
            s, are, them = ("s", "are", "them") if len(linear) > 1 else ("", "is", "it")
            names = quoted(joint.name for joint in linear)
            message = f"spring{s} of {names} {are} ignored; add --springs to include {them}"
            options, offer = ("springs", "runtime_springs"), f"spring{s} of {names} (--springs)"
            yield robot.notice("warning", message, linear[0].line, unless=options, offer=offer)
        if nonlinear:
            names = quoted(joint.name for joint in nonlinear)
            message = (
                f"springs of ball and floating joints ({names}) are ignored because they "
                "are not linear in the coordinates"
            )
            yield robot.notice("warning", message, nonlinear[0].line)


def joint_fields(constants: Constants) -> dict[str, Any]:
    """The fields of `Joint` that hold coefficients and shape parameters of joint forces."""
    fields = {JOINT_FIELDS[key]: x for key, x in constants.items() if key in JOINT_FIELDS}
    return {**fields, "laws": tuple((k, constants[k]) for k in LAW_KEYS if k in constants)}
