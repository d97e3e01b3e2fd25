"""Robots written in Python: links, joints of every type and frames, with numbers or SymPy symbols.

>>> arm = Builder("pendulum").link("world")
>>> arm = arm.link("rod", mass=1.0, center_of_mass=(0, 0, -0.5), inertia=(0.1, 0, 0, 0.1, 0, 0))
>>> arm = arm.joint("hinge", "revolute", "world", "rod", axis=(1, 0, 0))

A builder gives the same `RobotDescription` as the readers of files do, so that everything that
holds for a file holds for it. Lines in messages are those of the calls."""

import hashlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from symgen.errors import OptionError, SourceLocation
from symgen.mechanics.inertia_checks import tensor_trouble
from symgen.mechanics.model import Limits, PerCoordinate
from symgen.reading.checked_values import (
    ZEROS,
    Values,
    as_list,
    as_number,
    as_vector3,
    inertia_tensor,
)
from symgen.reading.description import (
    EARTH,
    DriveElement,
    Inertial,
    JointElement,
    LinearFunction,
    LinkElement,
    LoopElement,
    Mimic,
    Origin,
    RobotDescription,
)
from symgen.reading.joint_couplings import loop_of
from symgen.reading.joint_kinds import (
    FIXED,
    JOINTS,
    JointRow,
    from_python,
    has_one_coordinate,
    is_negative,
    springs_are_linear,
)
from symgen.reading.plausibility import check
from symgen.reading.rotations import Rows, as_unit_vector, frame_origin
from symgen.text import hint, shown

POSE_ARGUMENTS: Final = ("xyz", "rpy", "axis", "rotation", "quaternion")
MIMIC_ARGUMENTS: Final = ("mimic", "multiplier", "offset")


def _check_argument_names(label: str, constants: Mapping[str, Any], numbers: Iterable[str]) -> None:
    """Refuses words that no joint has, with those near to them. Raises OptionError."""
    known = [parameter.word for row in JOINTS.values() for parameter in row.parameters]
    unknown = [word for word in constants if word not in known]
    if unknown:
        advice = hint(unknown[0], [*POSE_ARGUMENTS, *numbers, *MIMIC_ARGUMENTS, *known], 30)
        raise OptionError(f"{label}: there is no argument '{shown(unknown[0])}'; {advice}")


def _joint_row(label: str, kind: object) -> JointRow:
    """The row of a type of joint. Raises OptionError where there is none of that name."""
    if not isinstance(kind, str) or kind not in (*JOINTS, FIXED):
        types = ", ".join((*JOINTS, FIXED))
        raise OptionError(f"{label}: unknown type '{shown(str(kind))}'; use {types}")
    return JOINTS.get(kind, JointRow(FIXED, axis=False))


def _check_arguments_of_kind(label: str, kind: str, *given: Mapping[str, Any]) -> None:
    """Check that a joint of a kind has each of the numbers that are given (not None): a fixed joint
    has none of them, a joint with several coordinates those that belong to them.
    Raises OptionError."""
    if has_one_coordinate(kind):
        return
    known = (
        ()
        if kind == FIXED
        else COORDINATE_ARGUMENTS
        if springs_are_linear(kind)
        else QUATERNION_JOINT_ARGUMENTS
    )
    for word, x in (pair for words in given for pair in words.items()):
        if x is not None and word not in known:
            raise OptionError(f"{label}: a {kind} joint has no {word}; remove it")


QUATERNION_JOINT_ARGUMENTS: Final = ("damping", "friction", "armature")
"""What a joint with a quaternion has beside its place."""
COORDINATE_ARGUMENTS: Final = (*QUATERNION_JOINT_ARGUMENTS, "stiffness", "reference")
"""What other joints with several coordinates have beside their place and axis."""


def _optional(label: str, word: str, x: Any, kind: str = "revolute") -> Any:
    """A number, or with the word ``armature`` a constant of a joint of a kind; None if it is not
    given. Raises OptionError."""
    if x is None:
        return None
    return (
        from_python(f"{label}: armature", x, kind)
        if word == "armature"
        else as_number(f"{label}: {word}", x)
    )


def _check_drive(label: str, numbers: Mapping[str, Any]) -> None:
    """Refuses numbers that no drive has. Raises OptionError."""
    inertias = (numbers["rotor_inertia"] or 0.0, numbers["armature"] or 0.0)
    if numbers["ratio"] == 0 or any(map(is_negative, inertias)):
        raise OptionError(
            f"{label}: give a ratio other than 0, and no negative rotor_inertia or armature"
        )


def _mimic(
    label: str, line: int, mimic: str | Mapping[str, float] | None, multiplier: float, offset: float
) -> Mimic | None:
    """The joint that a joint follows. Raises OptionError where it is told to follow nothing."""
    if mimic is None:
        if multiplier != 1 or offset != 0:
            raise OptionError(
                f"{label}: multiplier and offset are given without mimic; add mimic with the "
                "name of a joint"
            )
        return None
    terms = {mimic: multiplier} if isinstance(mimic, str) else mimic
    if not terms or not isinstance(terms, Mapping):
        raise OptionError(f"{label}: mimic has no joint; name one, or remove mimic")
    factors = (
        (str(name), as_number(f"{label}: multiplier", factor, allow_symbols=False))
        for name, factor in terms.items()
    )
    shift = as_number(f"{label}: offset", offset, allow_symbols=False)
    return Mimic.of(line, LinearFunction(tuple(factors), shift))


class Builder:
    """Builds a robot in Python: `link`, `joint` and `frame` add an element and return the builder.

    `gravity` is the acceleration of free fall in the axes of the root link (m/s²). Pass a builder
    to `symgen.Robot` or to any function that takes a robot. Lengths (m), masses (kg) and inertia
    (kg m²) can be SymPy expressions of real symbols; angles and directions are numbers. Raises
    OptionError for arguments that are not valid; whether the links form a tree is checked when the
    robot is used."""

    def __init__(self, name: str = "robot", gravity: Values = EARTH) -> None:
        if not isinstance(name, str) or not name.strip():
            raise OptionError(f"a robot is called {shown(repr(name), 60)}; give it a name")
        self.name = name
        self.gravity = as_vector3("gravity", gravity)
        self._file, self._line = _caller()
        self._location_line: int | None = None
        self._links: list[LinkElement] = []
        self._joints: list[JointElement] = []
        self._drives: list[DriveElement] = []
        self._loops: list[LoopElement] = []

    def __repr__(self) -> str:
        return f"Builder({self.name!r}, {len(self._links)} links, {len(self._joints)} joints)"

    def link(
        self,
        name: str,
        mass: Any = 0.0,
        center_of_mass: Values = ZEROS,
        inertia: Values | None = None,
        rpy: Values = ZEROS,
    ) -> "Builder":
        """Add a link. `center_of_mass` (m) is in the link frame. `inertia` (kg m²) is about the
        centre of mass, as six numbers ixx, ixy, ixz, iyy, iyz, izz or a symmetric 3 x 3 matrix, in
        axes that are rotated relative to the link axes by `rpy` (roll, pitch, yaw in rad; 0 by
        default). A link without mass and inertia is a frame."""
        line, label = self._line_of("link", name), f"link '{shown(name)}'"
        entries, inertial = inertia_tensor(name, inertia), None
        mass_value = as_number(f"{label}: mass", mass)
        if mass_value < 0:
            raise OptionError(f"{label}: mass is negative; give 0 or more")
        if mass_value or any(entries):
            center = as_vector3(f"{label}: center_of_mass", center_of_mass, allow_symbols=True)
            inertia_frame = Origin(line, center, as_vector3(f"{label}: rpy", rpy))
            trouble = tensor_trouble(entries, mass_value)
            inertial = Inertial(line, inertia_frame, mass_value, entries, trouble)
        elif any(as_list(f"{label}: center_of_mass", center_of_mass)):
            raise OptionError(
                f"{label}: center_of_mass is given for a link without mass; give a mass, or remove "
                "center_of_mass"
            )
        self._links.append(LinkElement(name, line, inertial))
        return self

    def joint(
        self,
        name: str,
        kind: str,
        parent: str,
        child: str,
        xyz: Values = ZEROS,
        rpy: Values = ZEROS,
        axis: Values = (0.0, 0.0, 1.0),
        *,
        rotation: Rows | None = None,
        quaternion: Values | None = None,
        lower: float | None = None,
        upper: float | None = None,
        velocity: float | None = None,
        effort: float | None = None,
        damping: PerCoordinate = 0.0,
        friction: PerCoordinate = 0.0,
        stiffness: PerCoordinate = 0.0,
        reference: PerCoordinate = 0.0,
        mimic: str | Mapping[str, float] | None = None,
        multiplier: float = 1.0,
        offset: float = 0.0,
        ratio: float | None = None,
        rotor_inertia: float | None = None,
        armature: PerCoordinate | None = None,
        **constants: Any,
    ) -> "Builder":
        """Add a joint of `kind`, a word of a URDF such as "revolute", "prismatic" or "universal"
        (docs/conventions.md has all). With the joint at 0, the pose of `child` in `parent` is
        given by `xyz` (m) and by `rpy` (roll, pitch, yaw about fixed axes, rad), a `rotation`
        matrix or a unit `quaternion` x, y, z, w. `axis` has any length and is in the frame of
        `child`. `constants` are the `axis2` of a universal joint or of a planar joint (its x
        direction), or the `pitch` of a screw joint (m per turn).

        `lower`, `upper`, `velocity` and `effort` are limits (rad or m, N m or N); `damping`
        (N m s/rad or N s/m) and `friction` (N m or N) have an effect with the option ``friction``,
        a spring of `stiffness` (N m/rad or N/m) with zero force at `reference` has an effect with
        ``springs``. The position of a joint with `mimic` is `multiplier` times that of the other
        joint plus `offset`; a weighted sum of several joints is a mapping such as
        ``{"crank": 1.0, "shoulder": -1.0}``. `ratio` and `rotor_inertia` (kg m²) describe a rotor
        with a gear; `armature` is the reflected inertia (kg m² or kg). For a joint with
        several coordinates damping, friction, stiffness, reference and armature are one number for
        all of them or a list with one for each velocity; ball and floating joints have no springs,
        and their armature is the same about all axes, and along all axes."""
        line, label = self._line_of("joint", name), f"joint '{shown(name)}'"
        row = _joint_row(label, kind)
        limits = {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}
        drive = {"ratio": ratio, "rotor_inertia": rotor_inertia, "armature": armature}
        passive = {"damping": damping, "friction": friction}
        passive |= {"stiffness": stiffness, "reference": reference}
        _check_argument_names(label, constants, (*limits, *drive, *passive))
        limit_values = {key: _optional(label, key, x) for key, x in limits.items()}
        drive_values = {key: _optional(label, key, x, kind) for key, x in drive.items()}
        forces = {key: from_python(f"{label}: {key}", x, kind) for key, x in passive.items()}
        unit_axis = as_unit_vector(label, axis) if row.axis else (1.0, 0.0, 0.0)
        _check_drive(label, drive_values)
        nonzero = {key: x or None for key, x in forces.items()}  # 0 is the default of each
        _check_arguments_of_kind(label, kind, limit_values, drive_values, nonzero)
        self._joints.append(
            JointElement(
                name,
                line,
                kind,
                str(parent),
                str(child),
                frame_origin(label, line, xyz, rpy, rotation, quaternion),
                unit_axis,
                Limits(**limit_values),
                forces["damping"],
                forces["friction"],
                _mimic(label, line, mimic, multiplier, offset),
                row.constants_from_python(label, unit_axis, constants),
                forces["stiffness"],
                forces["reference"],
            )
        )
        if any(x is not None for x in drive_values.values()):
            self._drives.append(DriveElement(name, line, *drive_values.values()))
        return self

    def frame(
        self,
        name: str,
        on: str,
        xyz: Values = ZEROS,
        rpy: Values = ZEROS,
        *,
        rotation: Rows | None = None,
        quaternion: Values | None = None,
    ) -> "Builder":
        """Add a frame that is fixed to the link `on`, such as that of a tool. It is a link without
        mass; its pose is the quantity ``frame_pose:NAME``."""
        line, label = self._line_of("frame", name), f"frame '{shown(name)}'"
        link_frame = frame_origin(label, line, xyz, rpy, rotation, quaternion)
        self._links.append(LinkElement(name, line))
        self._joints.append(JointElement(f"{name}.fixed", line, FIXED, str(on), name, link_frame))
        return self

    def close(
        self,
        name: str,
        first: str,
        second: str,
        at_first: Values = ZEROS,
        at_second: Values = ZEROS,
        *,
        dependent: Iterable[str] = (),
        branch: int | None = None,
        joint: str = "ball",
        rpy_first: Values = ZEROS,
        rpy_second: Values = ZEROS,
        length: float = 0.0,
        newton: bool = False,
        polynomial: Iterable[float] = (),
    ) -> "Builder":
        """Close a loop by a `joint` between a frame on the link `first`, at the point `at_first`
        (m, link axes) with the orientation `rpy_first` (rad), and one on the link `second`. The
        type of the joint is ``ball``, ``revolute`` (about the z axes), ``universal`` (about z of
        the first frame and y of the second), ``fixed``, ``point_on_line`` (on the z axis of the
        first frame) or ``distance`` (of `length`, in m). With ``polynomial``, `first` and `second`
        are joints: the position of the first one is the `polynomial` (the constant coefficient
        first) of that of the second.

        `dependent` names the joints whose coordinates the loop determines; by default they are
        those farthest from the link that carries both chains. `branch` (1 or -1, for spatial legs
        also 2 or -2) chooses an assembly; by default it is the one in which the dependent joints
        are nearest to 0. With `newton` the positions of the dependent joints need no closed form:
        they are positions of the user, which the quantity ``loop_closure`` improves."""
        entries: dict[str, Any] = {"first": first, "second": second}
        entries |= {"at_first": at_first, "at_second": at_second}
        entries |= {"dependent": dependent, "branch": branch, "joint": joint}
        entries |= {"rpy_first": rpy_first, "rpy_second": rpy_second, "length": length}
        entries |= {"newton": newton, "polynomial": polynomial}
        line, label = self._line_of("loop", name), f"loop '{shown(name)}'"
        self._loops.append(loop_of(label, line, name, entries))
        return self

    def description(self) -> RobotDescription:
        """The robot built so far, checked. Raises RobotError where it is no tree of links."""
        links, joints, drives = tuple(self._links), tuple(self._joints), tuple(self._drives)
        loops = tuple(self._loops)
        robot = RobotDescription(
            self.name,
            self._file,
            digest_of(self.name, links, joints, drives, self.gravity, *([loops] if loops else [])),
            self._line,
            links,
            joints,
            (),
            drives,
            self.gravity,
            (),
            f"robot '{shown(self.name)}'",
            loops=loops,
        )
        return check(robot)

    def at_location(self, place: SourceLocation) -> "Builder":
        """This builder; what is added from now on stands at that place of a file. The first place
        is that of the robot."""
        self._line = place.line if self._location_line is None else self._line
        self._file, self._location_line = place.file, place.line
        return self

    def _line_of(self, kind: str, name: object) -> int:
        """The line of what is added. Raises OptionError for a name that is none."""
        if not isinstance(name, str) or not name.strip():
            raise OptionError(f"a {kind} is called {shown(repr(name), 60)}; give it a name")
        return _caller()[1] if self._location_line is None else self._location_line


def digest_of(name: str, *parts: Iterable[Any]) -> str:
    """A SHA-256 of what makes a robot: all but the lines that said it."""
    plain = [[_without_lines(x) for x in part] for part in parts]
    return hashlib.sha256(repr((name, plain)).encode()).hexdigest()


def _without_lines(element: Any) -> Any:
    if isinstance(element, LinkElement) and element.inertial is not None:
        element = replace(element, inertial=_without_lines(element.inertial))
    where = getattr(element, "origin", None)
    changes: dict[str, Any] = {} if where is None else {"origin": replace(where, line=0)}
    mimics = getattr(element, "mimics", None)
    if mimics is not None:
        changes["mimics"] = replace(mimics, line=0)
    return replace(element, line=0, **changes) if hasattr(element, "line") else element


def _caller() -> tuple[str, int]:
    """The file and line outside of symgen's readers from which a builder is called."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(OWN_MODULES):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


OWN_MODULES: Final = "symgen."
