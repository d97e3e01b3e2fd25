"""Changes of a description before it is compiled: another link as the root of the tree
(``--reroot``), the nearest inertias that bodies can have (``--repair-inertia``), and values for the
symbols of a robot in Python."""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from symgen.errors import Notice, OptionError
from symgen.mechanics.inertia_checks import tensor_trouble
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.spatial import Pose
from symgen.numbers.scalar import NamedNumber, named_or_float, sum_in_order
from symgen.reading.description import (
    Inertial,
    JointElement,
    LinkElement,
    Origin,
    RobotDescription,
    joint_above,
)
from symgen.reading.joint_kinds import JOINTS, has_one_coordinate
from symgen.reading.rotations import origin_from_pose
from symgen.reading.subtree import pose_at_zero
from symgen.text import hint, quoted, shown


def rerooted(robot: RobotDescription, link: str) -> RobotDescription:
    """The robot with `link` as the root of its tree. Free fall has the direction in the axes of
    `link` that it has at position 0 of the reversed joints.

    Raises OptionError for an unknown link, and for a joint with several coordinates between it and
    the root."""
    links = [element.name for element in robot.links]
    if link not in links:
        raise OptionError(f"--reroot '{shown(link)}': no link has this name; {hint(link, links)}")
    path = path_to_root(robot, link)
    if not path:
        return robot
    poses = {joint.name: pose_at_zero(robot, joint) for joint in path}
    rotation = Pose(robot.tilt(path[-1].parent))
    for joint in reversed(path):
        rotation = rotation @ Pose(poses[joint.name].rotation)
    used_names = {*links, *(joint.name for joint in robot.joints)}
    joints, added = list[JointElement](), list[LinkElement]()
    for joint in robot.joints:
        if joint.name not in poses:
            joints.append(joint)
            continue
        name = _unused_name(f"{joint.parent}_at_{joint.name}", used_names)
        reversed_joints = _reversed(joint, poses[joint.name].inverse, name)
        joints += reversed_joints
        added += [LinkElement(element.child, joint.line) for element in reversed_joints[:-1]]
    return replace(
        robot,
        links=(*robot.links, *added),
        joints=tuple(joints),
        tilts=(*robot.tilts, (link, rotation.rotation)),
    )


def path_to_root(robot: RobotDescription, link: str) -> list[JointElement]:
    """The joints from a link to the root of its tree. Raises OptionError for a joint that cannot be
    reversed."""
    above, path = joint_above(robot.joints), list[JointElement]()
    while link in above:
        joint = above[link]
        if joint.kind in JOINTS and not has_one_coordinate(joint.kind):
            raise OptionError(
                f"--reroot: joint '{shown(joint.name)}' between the link and the root is a "
                f"{joint.kind} joint, which cannot be reversed; use --root "
                f"'{shown(joint.child)}' to remove it"
            )
        path.append(joint)
        link = joint.parent
    return path


def check_rotors(model: RigidBodyModel, reversed_joints: set[str]) -> None:
    """Raises OptionError for a rotor on a link that would no longer carry its joint."""
    for _, joint in model.joints:
        if joint.name in reversed_joints and joint.rotor is not None:
            raise OptionError(
                f"--reroot: joint '{shown(joint.name)}' is reversed, and its rotor is on the link "
                "that carried it; use --rotors reflected or none"
            )


def _unused_name(name: str, used_names: set[str]) -> str:
    """A name that begins with `name` and that no link and no joint has, also with ``_fixed``."""
    while {name, f"{name}_fixed"} & used_names:
        name += "_"
    used_names |= {name, f"{name}_fixed"}
    return name


def _reversed(joint: JointElement, child_to_parent: Pose, name: str) -> list[JointElement]:
    """The joints from the child to the parent of a joint, `child_to_parent` being the pose of the
    parent in the frame of the joint at 0. A moving joint needs a link at its own frame, called
    `name`, unless that is the frame of the parent."""
    line = joint.origin.line
    if joint.kind not in JOINTS:
        origin = origin_from_pose(child_to_parent, line)
        return [replace(joint, parent=joint.child, child=joint.parent, origin=origin)]
    x, y, z = (-a + 0.0 for a in joint.axis)
    at_child = replace(joint, parent=joint.child, origin=Origin(line), axis=(x, y, z))
    if child_to_parent == Pose():
        return [replace(at_child, child=joint.parent)]
    fixed = JointElement(
        f"{name}_fixed",
        joint.line,
        "fixed",
        name,
        joint.parent,
        origin_from_pose(child_to_parent, line),
    )
    return [replace(at_child, child=name), fixed]


# -- possible inertias -----------------------------------------------------------------------------

NEAREST: Final = "nearest"
EIGENVALUE_ROUNDING: Final = 1e-9
"""An eigenvalue this small next to the sum of all is rounding in the file."""
MAX_JACOBI_SWEEPS: Final = 30

Rows = list[list[float]]


def repair_inertias(robot: RobotDescription, kind: str | None) -> RobotDescription:
    """The robot with links whose inertia is possible, and notes of what was changed; itself where
    `kind` is None."""
    if kind != NEAREST:
        return robot
    new = {
        link.name: possible
        for link in robot.links
        if (possible := _nearest_possible(link)) is not None
    }
    links = tuple(replace(link, inertial=new.get(link.name, link.inertial)) for link in robot.links)
    notes = tuple(_note(robot, link, new[link.name]) for link in robot.links if link.name in new)
    return replace(robot, links=links, notices=(*robot.notices, *notes))


def _nearest_possible(link: LinkElement) -> Inertial | None:
    """The inertia of a link, where it has to change."""
    inertial = link.inertial
    if inertial is None or not any(inertial.tensor):
        return None
    values, vectors = eigen(_second_moments(inertial.tensor))
    if min(values) >= -EIGENVALUE_ROUNDING * abs(sum(values)):
        return None
    moments = [max(value, 0.0) for value in values]
    s = [
        [
            sum_in_order((moments[k] * vectors[i][k] * vectors[j][k] for k in range(3)), 0.0)
            for j in range(3)
        ]
        for i in range(3)
    ]
    trace = s[0][0] + s[1][1] + s[2][2]
    tensor = tuple(trace * (i == j) - s[i][j] + 0.0 for i in range(3) for j in range(i, 3))
    return replace(inertial, tensor=tensor, trouble="")


def _second_moments(tensor: tuple[float, ...]) -> Rows:
    xx, xy, xz, yy, yz, zz = map(float, tensor)
    half = (xx + yy + zz) / 2
    return [[half - xx, -xy, -xz], [-xy, half - yy, -yz], [-xz, -yz, half - zz]]


def _note(robot: RobotDescription, link: LinkElement, repaired: Inertial) -> Notice:
    old = link.inertial.tensor if link.inertial else repaired.tensor
    eigenvalues = (eigen(_second_moments(tensor))[0] for tensor in (old, repaired.tensor))
    moments = ([sum(s) - x for x in sorted(s, reverse=True)] for s in eigenvalues)
    before, after = (f"({', '.join(f'{x:.4g}' for x in row)})" for row in moments)
    message = (
        f"inertia repaired: the principal moments {before} were replaced by {after} kg "
        "m^2, those of the nearest physically possible inertia"
    )
    return robot.notice("note", message, repaired.line, link.label)


def eigen(rows: Rows) -> tuple[list[float], Rows]:
    """Eigenvalues and eigenvectors (as columns) of a symmetric matrix of 3 rows, by Jacobi's
    rotations in plain floats, so that they are the same on every machine."""
    a = [list(row) for row in rows]
    v: Rows = [[float(i == j) for j in range(3)] for i in range(3)]
    for p, q in ((0, 1), (0, 2), (1, 2)) * MAX_JACOBI_SWEEPS:
        if not a[p][q]:
            continue
        # a turn in the plane of p and q makes a[p][q] zero (Golub & Van Loan, section 8.5)
        tau = (a[q][q] - a[p][p]) / (2 * a[p][q])
        far = math.inf if math.isinf(tau) else abs(tau) + math.sqrt(1 + tau * tau)
        t = math.copysign(1 / far, tau)
        c = 1 / math.sqrt(1 + t * t)
        s = t * c
        for row in (*a, *v):
            row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
        a[p], a[q] = (
            [c * x - s * y for x, y in zip(a[p], a[q], strict=True)],
            [s * x + c * y for x, y in zip(a[p], a[q], strict=True)],
        )
        a[p][q] = a[q][p] = 0.0
    return [a[i][i] for i in range(3)], v


# -- values for symbols ----------------------------------------------------------------------------


def symbols(robot: RobotDescription) -> tuple[str, ...]:
    """The names of the symbols in it, in alphabetical order."""
    return tuple(
        sorted({s.name for x in _symbolic_values(robot) for s in x.expression.free_symbols})
    )


def _symbolic_values(value: Any) -> list[NamedNumber]:
    if isinstance(value, NamedNumber):
        return [value]
    if isinstance(value, tuple):
        return [x for part in value for x in _symbolic_values(part)]
    if is_dataclass(value) and not isinstance(value, type):
        return [x for field in fields(value) for x in _symbolic_values(getattr(value, field.name))]
    return []


def substitute(robot: RobotDescription, values: Mapping[Any, Any]) -> RobotDescription:
    """The robot with numbers, or other expressions, for some of its symbols, by symbol or by name.

    Raises OptionError for a symbol that it does not have, and for what is no number."""
    known = symbols(robot)
    expected = {str(symbol): x for symbol, x in values.items()}
    unknown = [name for name in expected if name not in known]
    if unknown:
        has = quoted(known, 30) or "none"
        raise OptionError(f"the robot has no symbol {quoted(unknown)}; it has {has}")
    changed: RobotDescription = _with_values(robot, expected)
    digest = f"{robot.sha256} {sorted((name, str(x)) for name, x in expected.items())}"
    return replace(changed, sha256=hashlib.sha256(digest.encode()).hexdigest())


def _with_values(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, NamedNumber):
        return _evaluated(value, values)
    if isinstance(value, tuple):
        return tuple(_with_values(part, values) for part in value)
    if not is_dataclass(value) or isinstance(value, type) or not _symbolic_values(value):
        return value
    changed = replace(
        value, **{f.name: _with_values(getattr(value, f.name), values) for f in fields(value)}
    )
    if isinstance(changed, Inertial):
        return replace(changed, trouble=tensor_trouble(changed.tensor, changed.mass))
    return changed


def _evaluated(x: NamedNumber, values: Mapping[str, Any]) -> float:
    expression = x.expression
    known = {s: values[s.name] for s in expression.free_symbols if s.name in values}
    try:
        return named_or_float(expression.subs(known))
    except (TypeError, ValueError):
        values_in_words = ", ".join(
            f"{symbol} = {shown(repr(value), 40)}" for symbol, value in known.items()
        )
        raise OptionError(f"{expression} is not a finite number at {values_in_words}") from None
