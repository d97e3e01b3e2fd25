"""Robots from Denavit and Hartenberg's parameters, standard or modified, in Python or TOML.

Modified (Khalil & Kleinfinger, ICRA 1986; Craig): frame i has the axis of joint i, and is reached
by Rot_x(alpha_i) Trans_x(a_i) Rot_z(theta_i) Trans_z(d_i), alpha and a those from the axis before.
Standard (Denavit & Hartenberg 1955; Paul): frame i has the axis of joint i + 1, and is reached by
Rot_z(theta_i) Trans_z(d_i) Trans_x(a_i) Rot_x(alpha_i). There link i is a frame fixed to ``axisI``,
which is what the joint turns.

``theta`` of a revolute joint and ``d`` of a prismatic one are offsets: the joint's coordinate is
added."""

import hashlib
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from symgen.errors import OptionError, RobotError
from symgen.mechanics.spatial import IDENTITY, Pose
from symgen.reading import checked_values
from symgen.reading.builder import Builder
from symgen.reading.checked_values import ZEROS, Values, as_list, as_number
from symgen.reading.description import EARTH, RobotDescription
from symgen.reading.plausibility import FULL_TURN
from symgen.reading.rotations import rotation_from_rpy
from symgen.text import cited, quoted, shown

CONVENTIONS: Final = ("standard", "modified")


@dataclass(frozen=True, slots=True)
class DH:
    """A row of a table of Denavit-Hartenberg parameters: a joint and the link that it moves.

    Parameters
    ----------
    a, d
        Lengths (m), numbers or SymPy symbols. d of a prismatic joint is the offset of its position.
    alpha, theta
        Angles (rad). theta of a revolute joint is the offset of its position.
    type
        "revolute" or "prismatic".
    name
        The name of the joint; joint1, joint2, ... by default.
    mass, center_of_mass, inertia
        Mass (kg), centre of mass (m) and inertia about the centre of mass (kg m²; ixx, ixy, ixz,
        iyy, iyz, izz or a 3 x 3 matrix) of the link, in its frame.
    lower, upper, velocity, effort
        Limits of the joint.
    damping, friction, stiffness, reference, ratio, rotor_inertia, armature
        Coefficients of the joint, as in `symgen.Builder.joint`.
    """

    a: Any = 0.0
    alpha: float = 0.0
    d: Any = 0.0
    theta: float = 0.0
    type: str = "revolute"
    name: str = ""
    mass: Any = 0.0
    center_of_mass: Values = ZEROS
    inertia: Values | None = None
    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    reference: float = 0.0
    ratio: float | None = None
    rotor_inertia: float | None = None
    armature: float | None = None


KEYS: Final = tuple(field.name for field in fields(DH))
JOINT_KEYS: Final = KEYS[KEYS.index("lower") :]
"""What goes on to the joint as it is."""


def dh_builder(
    rows: Sequence["DH | Mapping[str, Any]"],
    convention: str,
    name: str = "robot",
    gravity: Values = EARTH,
) -> Builder:
    """A robot from a table of Denavit and Hartenberg's parameters, a row for each joint.

    A row is a `symgen.DH` or a mapping with its fields. `convention` is ``standard`` or
    ``modified`` (see the module); joints are joint1, joint2, ... where they have no names, links
    link1, link2, ...; the base is ``base``, its z axis that of joint 1 in the standard convention.
    More links and frames, such as that of a tool, may be added.
    Raises OptionError for a row that is none."""
    if convention not in CONVENTIONS:
        raise OptionError(f"convention {cited(convention)}: use {' or '.join(CONVENTIONS)}")
    builder = Builder(name, gravity).link("base")
    table = [_row(k, row) for k, row in enumerate(as_list("rows", rows), 1)]
    if not table:
        raise OptionError(f"rows is empty; {EMPTY_ADVICE}")
    for k, row in enumerate(table, 1):
        _add(builder, convention, k, row)
    return builder


EMPTY_ADVICE: Final = "a table of Denavit-Hartenberg parameters has one row per joint"


def _add(builder: Builder, convention: str, k: int, row: DH) -> None:
    """Row `k` of a table: the joint, and the link, whose frame is that of the table. In the
    standard convention the joint moves ``axisK``, to which the link is fixed. Raises
    OptionError."""
    alpha, theta = _angle(k, "alpha", row.alpha), _angle(k, "theta", row.theta)
    a, d = as_number(f"row {k}: a", row.a), as_number(f"row {k}: d", row.d)
    about_z, child = Pose(rotation_from_rpy((0.0, 0.0, theta))), f"link{k}"
    if convention == "modified":
        about_x = Pose(rotation_from_rpy((alpha, 0.0, 0.0)))
        pose = about_x @ Pose(IDENTITY, (a, 0.0, d)) @ about_z
    else:
        pose, child = Pose(IDENTITY, (0.0, 0.0, d)) @ about_z, f"axis{k}"
        builder.link(child)
    builder.link(f"link{k}", row.mass, row.center_of_mass, row.inertia)
    builder.joint(
        f"joint{k}" if row.name == "" else row.name,
        row.type,
        f"link{k - 1}" if k > 1 else "base",
        child,
        pose.position,
        rotation=None if pose.rotation == IDENTITY else pose.rotation,
        **{name: getattr(row, name) for name in JOINT_KEYS},
    )
    if convention == "standard":
        builder.joint(f"link{k}.fixed", "fixed", child, f"link{k}", (a, 0, 0), (alpha, 0, 0))


def _row(k: int, row: "DH | Mapping[str, Any]") -> DH:
    if isinstance(row, Mapping):
        unknown = [str(key) for key in row if key not in KEYS]
        if unknown:
            raise OptionError(f"row {k}: unknown key {quoted(unknown)}; use {quoted(KEYS, 30)}")
        row = DH(**row)
    if not isinstance(row, DH):
        raise OptionError(
            f"row {k} is {shown(repr(row), 60)}; give dict(a=..., alpha=..., d=..., "
            "theta=...), because tables differ in the order of these numbers"
        )
    if row.type not in ("revolute", "prismatic"):
        raise OptionError(f"row {k}: type '{shown(str(row.type))}'; use revolute or prismatic")
    return row


def _angle(k: int, name: str, x: Any) -> float:
    """A number, from SymPy's pi/2 and from a text such as ``-pi/2`` too. Raises OptionError."""
    value = _angle_of_text(x) if isinstance(x, str) else x
    try:
        angle = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        angle = math.nan
    if not math.isfinite(angle):
        raise OptionError(f"row {k}: {name} is {shown(repr(x), 60)}; give a number in rad")
    if abs(angle) > FULL_TURN:
        raise OptionError(
            f"row {k}: {name} is {angle:g} rad, more than a full turn; give rad, not degrees"
        )
    return angle


# -- TOML ------------------------------------------------------------------------------------------

CONVENTION: Final = "convention"
"""The key by which a file is known to have such a table."""

ROWS: Final = "joint"


def is_table(path: str | os.PathLike[str]) -> bool:
    """Whether a TOML file has a table of Denavit and Hartenberg's parameters, not a job."""
    if Path(path).suffix.lower() != ".toml":
        return False
    try:
        table, _ = checked_values.read_toml(path, WHAT)
    except RobotError:  # for who reads it next to say
        return False
    return CONVENTION in table.data or ROWS in table.data


WHAT: Final = 'a table of DH parameters (convention = "standard" or "modified", and [[joint]])'


def read(path: str | os.PathLike[str]) -> RobotDescription:
    """The robot in a TOML file: ``convention``, ``name``, ``gravity``, and a ``[[joint]]`` for each
    row with the fields of `DH`. Angles may be texts such as ``"pi/2"``. Raises RobotError."""
    table, data = checked_values.read_toml(path, WHAT)
    table.check_keys(("name", CONVENTION, "gravity", ROWS))
    rows = table.rows(ROWS)
    if not rows:
        raise table.error(ROWS, f"{EMPTY_ADVICE}: [[{ROWS}]]")
    convention = table.data.get(CONVENTION)
    if convention not in CONVENTIONS:
        raise table.error(CONVENTION, f"has no convention; give {' or '.join(CONVENTIONS)}")
    name = table.data.get("name", Path(path).name.partition(".")[0])
    if not isinstance(name, str) or not name:
        raise table.error("name", "is not a text; give the name of the robot")
    builder = Builder(name, table.triple("gravity") or EARTH).at_location(table.place(CONVENTION))
    builder.link("base")
    for k, row in enumerate(rows, 1):
        try:
            row.check_keys(KEYS)
            values = {
                key: x if key in NOT_NUMBERS else row.number(key) for key, x in row.data.items()
            }
            _add(builder.at_location(row.place()), convention, k, _row(k, values))
        except OptionError as error:
            raise row.error(None, str(error).removeprefix("error: ")) from None
    return replace(builder.description(), sha256=hashlib.sha256(data).hexdigest())


NOT_NUMBERS: Final = ("type", "name", "alpha", "theta", "center_of_mass", "inertia")
"""The keys of a row whose values are texts, lists, or angles that may be texts."""
_FRACTION: Final = re.compile(r"([+-]?)(?:(\d+)\*)?pi(?:/(\d+))?")
"""A multiple of pi: ``-pi/2``, ``3*pi/4``."""


def _angle_of_text(text: str) -> float:
    """The angle (rad) that a text says as a multiple of pi, or 0; NaN for any other text."""
    plain = "".join(text.split()).lower()
    match = _FRACTION.fullmatch(plain)
    if match is None:
        return 0.0 if plain == "0" else math.nan
    sign, times, parts = match.groups()
    return (-1 if sign == "-" else 1) * int(times or 1) * (math.pi / (int(parts or 1) or math.nan))
