"""URDF as ROS defines it, and the URDF objects of yourdfpy.

Only direct children of ``<robot>`` in its own namespace are read. A note names unknown elements,
once per kind; geometry and the content of extension blocks are not read."""

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

from lxml import etree

from symgen.errors import RobotError, collected_errors, combined_error
from symgen.mechanics.inertia_checks import tensor_trouble
from symgen.mechanics.model import Limits, PerCoordinate
from symgen.mechanics.spatial import IDENTITY, Triple
from symgen.reading.description import (
    TENSOR,
    Inertial,
    JointElement,
    LinkElement,
    Origin,
    RobotDescription,
)
from symgen.reading.joint_couplings import with_independent
from symgen.reading.joint_kinds import (
    DRAKES,
    FIXED,
    JOINTS,
    DrakeAxes,
    JointRow,
    from_attribute,
    has_several_coordinates,
    joint_nodes,
    word_of,
)
from symgen.reading.plausibility import check
from symgen.reading.rotations import rotation_from_quaternion, rpy_from_rotation, unit_vector
from symgen.reading.urdf.couplings import (
    dependent_joints,
    loops_of,
    mimic_of,
    with_couplings,
    with_ros2_control,
)
from symgen.reading.urdf.ignored_elements import check_root, notice_ignored_elements
from symgen.reading.urdf.transmissions import drives, extensions, transmissions
from symgen.reading.xml_reader import XmlNode, parse_xml
from symgen.text import shown

KINDS = (*JOINTS, FIXED)


def parse(data: bytes, file: str, digest: str | None = None) -> RobotDescription:
    """The robot in the bytes of a file called `file`; `digest` is used instead of their SHA-256.
    Raises RobotError, one line with file, line and element, for a file that is not one valid
    robot."""
    sha256 = digest or hashlib.sha256(data).hexdigest()
    return read_root(parse_xml(data, shown(file)), Path(file), sha256)


def read_root(root: XmlNode, path: Path, digest: str) -> RobotDescription:
    """The robot in the root element of a file; `path` does not matter, everything is in the one
    file."""
    check_root(root)
    errors: list[RobotError] = []
    links = tuple(
        _read_each(
            lambda node: LinkElement(node.text("name"), node.line, _inertial(node)),
            root.children("link"),
            errors,
        )
    )
    joints_in_file = tuple(_read_each(_joint, joint_nodes(root), errors))
    extensions_by_joint = extensions(root, errors)
    error = combined_error(errors)
    if error is not None:
        raise error
    joints = tuple(
        replace(j, stiffness=spring.stiffness, reference=spring.reference)
        if j.kind != FIXED and (spring := extensions_by_joint.get(j.name))
        else j
        for j in joints_in_file
    )
    joints = with_ros2_control(root, joints)
    dependent = dependent_joints(joint_nodes(root))
    joints = with_couplings(root, joints, dependent)
    links = _with_world(root, links, joints)
    loops, other_loops = loops_of(root, joints)
    notice_ignored_elements(root, other_loops)
    moving = {joint.name for joint in joints if joint.kind != FIXED}
    drive_elements, transmission_elements = (
        drives(root, extensions_by_joint, moving),
        transmissions(root),
    )
    name = root.element.get("name", "").strip()
    if not name:
        root.notice("note", "has no name; 'robot' is used")
    return check(
        RobotDescription(
            name or "robot",
            root.source.file,
            digest,
            root.line,
            links,
            joints,
            tuple(root.source.notices),
            drive_elements,
            transmissions=transmission_elements,
            loops=with_independent(loops, [j.name for j in joints if j.name not in dependent]),
        )
    )


Element = TypeVar("Element", LinkElement, JointElement)


def _read_each(
    read: Callable[[XmlNode], Element], nodes: Sequence[XmlNode], errors: list[RobotError]
) -> Iterator[Element]:
    """The elements read of nodes; the errors of those that cannot be."""
    for node in nodes:
        with collected_errors(errors):
            name = node.element.get("name")
            label = f"{node.tag} '{shown(name)}'" if name else f"<{node.tag}>"
            yield read(node.with_label(label))


WORLD: Final = "world"


def _with_world(
    root: XmlNode, links: tuple[LinkElement, ...], joints: Sequence[JointElement]
) -> tuple[LinkElement, ...]:
    """The links, and `world` before them where a joint is on it and no link has the name, as Drake
    has it."""
    names = {link.name for link in links}
    if WORLD in names or all(joint.parent != WORLD for joint in joints):
        return links
    root.notice(
        "note", "link 'world' is missing, but a joint refers to it; it is taken as the ground"
    )
    return (LinkElement(WORLD, root.line), *links)


def _inertial(link: XmlNode) -> Inertial | None:
    node = link.single_child("inertial")
    if node is None:
        return None
    mass, tensor = node.single_child("mass"), node.single_child("inertia")
    if mass is None or tensor is None:
        missing = " and ".join(
            f"<{n}>" for n, part in (("mass", mass), ("inertia", tensor)) if part is None
        )
        raise node.error(
            f"<inertial> has no {missing}; add it, or remove <inertial> for a link "
            "without mass and inertia"
        )
    numbers = tuple(tensor.number(n) for n in TENSOR)
    mass_value = mass.number("value")
    if mass_value < 0:
        raise mass.error(f"mass is negative ({mass_value:g} kg); give 0 or more")
    if mass_value == 0 and any(numbers):
        mass.notice(
            "warning",
            "has inertia but zero mass; used as written",
            "{count} links have inertia but zero mass ({elements}); used as written",
        )
    return Inertial(
        tensor.line, _origin(node), mass_value, numbers, tensor_trouble(numbers, mass_value)
    )


def _origin(node: XmlNode) -> Origin:
    origin = node.single_child("origin")
    if origin is None:
        return Origin(node.line)
    zeros = (0.0, 0.0, 0.0)
    xyz = origin.triple("xyz", zeros)
    if origin.element.get("quat_xyzw") is None:
        return Origin(origin.line, xyz, origin.triple("rpy", zeros))
    if origin.element.get("rpy") is not None:
        raise origin.error("<origin> has both rpy and quat_xyzw; keep one of them")
    return Origin(origin.line, xyz, _rpy_of_quaternion(origin))


def _rpy_of_quaternion(origin: XmlNode) -> Triple:
    """The rotation of a quaternion x, y, z, w (URDF 1.1), of any length but 0."""
    quaternion = origin.numbers("quat_xyzw", 4)
    size = max(map(abs, quaternion))
    if not size:
        raise origin.error("quat_xyzw is zero; give a rotation such as 0 0 0 1")
    x, y, z, w = (number / size for number in quaternion)  # no overflow, whatever the length
    length = math.hypot(*quaternion) if size < 1e150 else math.inf
    if abs(length - 1) > 1e-3:
        origin.notice("warning", f"quat_xyzw has the length {length:.4g} and is normalized")
    return rpy_from_rotation(rotation_from_quaternion(w, x, y, z))


def _joint(node: XmlNode) -> JointElement:
    name, given_axis = node.text("name"), node.text("type").strip()
    kind = word_of(node)
    if kind not in KINDS:
        raise node.error(f"unknown type '{shown(given_axis)}'; use one of {', '.join(KINDS)}")
    row = JOINTS.get(kind, JointRow(FIXED, axis=False))
    if kind in JOINTS and not row.axis and node.children("axis"):
        node.notice(
            "note",
            f"<axis> of a {kind} joint is ignored",
            "axes of {count} joints that need none ({elements}) are ignored",
        )
    if has_several_coordinates(kind) and node.children("limit"):
        node.notice(
            "note",
            "<limit> of a joint with several coordinates is ignored",
            "limits of {count} joints with several coordinates ({elements}) are ignored",
        )
    axis = _axis(node) if row.axis else IDENTITY[0]
    if node.tag == DRAKES and row.in_drake is not None:
        axis, constants = _axes_in_drake(node, row, row.in_drake, axis)
    else:
        constants = row.constants_from_xml(node, axis)
    return JointElement(
        name,
        node.line,
        kind,
        node.required_child("parent", "link").text("link"),
        node.required_child("child", "link").text("link"),
        _origin(node),
        axis,
        _limits(node, row) if row.axis else Limits(),
        *_friction(node, kind),
        mimic_of(node) if kind != FIXED else None,
        constants,
    )


def _axes_in_drake(
    node: XmlNode, row: JointRow, drake: DrakeAxes, given_axis: Triple
) -> tuple[Triple, tuple[float, ...]]:
    """The axis and the second axis of a ``<drake:joint>`` that Drake defines in its own way; an
    element that Drake does not read gives a warning, a default axis of a plane a note."""
    axis = drake.axis or given_axis
    ignored = [] if given_axis == axis or not node.children("axis") else ["axis"]
    ignored += [tag for tag in row.tags if node.children(tag)]
    if ignored:
        node.notice(
            "warning",
            f"<{'> and <'.join(ignored)}> of a {row.kind} <{DRAKES}> is ignored, as in "
            "Drake; use a plain <joint> to include it",
        )
    if drake.axis is None and not node.children("axis"):
        node.notice(
            "note",
            f"{row.kind} <{DRAKES}> without <axis>: the axis is x, as in Drake; add <axis> to "
            "choose another one",
        )
    return axis, drake.second(axis)


def _axis(joint: XmlNode) -> Triple:
    node = joint.single_child("axis")
    if node is None:
        return 1.0, 0.0, 0.0
    axis = node.triple("xyz")
    if not any(axis):
        raise node.error('axis is zero; give a direction such as xyz="0 0 1"')
    unit, length = unit_vector(axis)
    if abs(length - 1) > 1e-6:
        node.notice(
            "note",
            f"the axis has the length {length:.6g} and is normalized",
            "{count} axes were normalized ({elements})",
        )
    return unit


def _limits(joint: XmlNode, row: JointRow) -> Limits:
    node = joint.single_child("limit")
    if node is None and row.limited:
        joint.notice(
            "warning",
            "has no <limit>, which URDF requires; it is read without limits",
            "{count} joints have no <limit>, which URDF requires ({elements}); they are "
            "read without limits",
        )
    if node is None:
        return Limits()
    values = {name: node.optional_number(name) for name in ("lower", "upper", "velocity", "effort")}
    if not row.stops:  # whatever the file says
        values |= {"lower": None, "upper": None}
    return Limits(**values)


def _friction(joint: XmlNode, kind: str) -> tuple[PerCoordinate, PerCoordinate]:
    """Damping and friction, zero where the file is silent. A joint with several coordinates has one
    number for all of them or (as planar joints in Drake) a number for each."""
    node = joint.single_child("dynamics")
    if node is None:
        return 0.0, 0.0
    damping, friction = (from_attribute(node, word, kind) for word in ("damping", "friction"))
    return damping or 0.0, friction or 0.0


# -- yourdfpy --------------------------------------------------------------------------------------

YOURDFPY: Final = "yourdfpy's URDF"
"""The name of the text of yourdfpy in messages."""
MIMIC_ATTRIBUTES: Final = ("joint", "multiplier", "offset")
"""The attributes of a <mimic>, which are also those of yourdfpy's objects."""


def robot_of_yourdfpy(robot: Any) -> RobotDescription:
    """The robot in a ``yourdfpy.URDF``, whose text is read as any other. Raises RobotError, with
    lines of that text; TypeError for another object of that package."""
    if not hasattr(robot, "write_xml_string"):
        kind = type(robot).__qualname__
        raise TypeError(f"a yourdfpy.{kind} is not a robot; give its yourdfpy.URDF")
    root = etree.fromstring(robot.write_xml_string())
    for element, joint in zip(root.findall("joint"), robot.robot.joints, strict=True):
        if joint.mimic is not None:  # which yourdfpy does not write
            values = {name: getattr(joint.mimic, name) for name in MIMIC_ATTRIBUTES}
            texts = {name: str(x) for name, x in values.items() if x is not None}
            etree.SubElement(element, "mimic", attrib=texts)
    return parse(etree.tostring(root), YOURDFPY)
