"""A `RobotDescription` as a URDF: what the format can say, and notices of what it cannot."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from lxml import etree

from symgen.errors import Notice
from symgen.mechanics.model import Joint, Limits, PerCoordinate
from symgen.mechanics.spatial import IDENTITY
from symgen.numbers.scalar import ZERO
from symgen.reading.description import (
    EARTH,
    TENSOR,
    DriveElement,
    JointElement,
    LinearFunction,
    LinkElement,
    Motor,
    Origin,
    RobotDescription,
)
from symgen.reading.joint_kinds import JOINTS, has_one_coordinate
from symgen.reading.subtree import gravity_of_file
from symgen.reading.urdf.couplings import CUT_JOINTS, write_loops
from symgen.reading.urdf.transmissions import GEAR_RATIO_TAG, ROTOR_INERTIA_TAG
from symgen.text import quoted

URDF_TYPES: Final = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
"""The joint types of URDF itself."""
SPLIT_TYPES: Final = tuple(
    word
    for word, row in JOINTS.items()
    if not row.type.has_one_coordinate and not row.type.in_body_axes and word not in URDF_TYPES
)
"""The types that are written as chains of joints with one coordinate: those with several axes, each
of which moves with the part before it."""
DRAKE_NAMESPACE: Final = "http://drake.mit.edu"
HARDWARE_INTERFACE: Final = "hardware_interface/EffortJointInterface"
"""What ROS asks of the joint of a transmission; nothing here reads it."""
UNLIMITED: Final = 1e9
"""What is written for a limit that URDF asks for and the robot has not."""


def urdf_bytes(robot: RobotDescription) -> tuple[bytes, tuple[Notice, ...]]:
    """The file's bytes, and what is not in it."""
    robot, split = _with_split_joints(robot)
    root = etree.Element("robot", {"name": robot.name}, nsmap={"drake": DRAKE_NAMESPACE})
    for link in robot.links:
        node = _add(root, "link", name=link.name)
        if link.inertial is not None:
            inertial = _add(node, "inertial")
            _origin(inertial, link.inertial.origin)
            _add(inertial, "mass", value=link.inertial.mass)
            _add(inertial, "inertia", **dict(zip(TENSOR, link.inertial.tensor, strict=True)))
    armatures = {drive.joint: drive.armature or 0.0 for drive in robot.drives}
    for joint in robot.joints:
        _joint(root, joint, armatures.get(joint.name, 0.0))
    _drives(root, robot)
    write_loops(root, robot.loops)
    if not any(drive.inertia for drive in robot.drives):
        etree.cleanup_namespaces(root)
    etree.indent(root)
    notices = [robot.notice(*sentence) for sentence in _not_written(robot)]
    if split:
        message = (
            f"joints ({quoted(split)}) are written as chains of joints with one coordinate because "
            "URDF does not have their types; the links between have no mass"
        )
        notices.insert(0, robot.notice("note", message))
    data: bytes = etree.tostring(root, xml_declaration=True, encoding="utf-8")
    return data + b"\n", tuple(notices)


def _with_split_joints(robot: RobotDescription) -> tuple[RobotDescription, list[str]]:
    """The robot with each joint of a type of `SPLIT_TYPES` as a chain of joints with one
    coordinate, whose links between have no mass, and the names of these joints. The motion, and the
    names of the coordinates, are the same. Joints with a rotor or a shared motor remain."""
    driven = {drive.joint for drive in robot.drives if drive.inertia is not None}
    driven |= {name for transmission in robot.transmissions for name in transmission.joints}
    split = [j for j in robot.joints if j.kind in SPLIT_TYPES and j.name not in driven]
    taken = {link.name for link in robot.links}
    chains = {joint.name: _chain(joint, taken) for joint in split}
    new_links = [
        LinkElement(j.child, j.line)
        for chain in chains.values()
        for j in chain
        if j.child not in taken
    ]
    return replace(
        robot,
        links=(*robot.links, *new_links),
        joints=tuple(part for j in robot.joints for part in chains.get(j.name, (j,))),
        drives=tuple(
            row
            for drive in robot.drives
            for row in _split_drive(drive, chains.get(drive.joint, ()))
        ),
    ), [joint.name for joint in split]


def _chain(joint: JointElement, taken: Collection[str]) -> tuple[JointElement, ...]:
    """The joints with one coordinate each whose motions one after the other are that of `joint`;
    links between get names that are not `taken`."""
    known = Joint(joint.name, joint.kind, joint.axis, constants=joint.constants)
    names = [known.coordinate(coordinate.suffix) for coordinate in known.type.velocities]
    links = [joint.parent, *names[:-1], joint.child]
    for k in range(1, len(names)):
        while links[k] in taken:
            links[k] += "_"
    return tuple(
        JointElement(
            names[part.velocity],
            joint.line,
            "prismatic" if part.freedom.turn is ZERO else "continuous",
            links[k],
            links[k + 1],
            joint.origin if k == 0 else Origin(joint.line),
            part.axis,
            damping=_of_coordinate(joint.damping, part.velocity),
            friction=_of_coordinate(joint.friction, part.velocity),
            stiffness=_of_coordinate(joint.stiffness, part.velocity),
            reference=_of_coordinate(joint.reference, part.velocity),
        )
        for k, part in enumerate(known.type.parts(known))
    )


def _split_drive(drive: DriveElement, chain: Sequence[JointElement]) -> Sequence[DriveElement]:
    """The armature of each joint of a chain; the drive itself where its joint is not split."""
    armature = drive.armature or 0.0
    return [
        DriveElement(joint.name, drive.line, armature=_of_coordinate(armature, k))
        for k, joint in enumerate(chain)
    ] or [drive]


def _of_coordinate(values: PerCoordinate, k: int) -> float:
    return values[k] if isinstance(values, tuple) else values


def _add(parent: etree._Element, tag: str, **attributes: object) -> etree._Element:
    texts = {
        key: x if isinstance(x, str) else _numbers(x) if isinstance(x, tuple) else repr(x)
        for key, x in attributes.items()
    }
    return etree.SubElement(parent, tag, texts)


def _origin(parent: etree._Element, origin: Origin) -> None:
    if any((*origin.xyz, *origin.rpy)):
        _add(parent, "origin", xyz=_numbers(origin.xyz), rpy=_numbers(origin.rpy))


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(map(repr, values))


def _dynamics(node: etree._Element, joint: JointElement, armature: PerCoordinate) -> None:
    """Friction as URDF has it; springs and armature as extensions of it have them. URDF's own
    readers refuse a <dynamics> without damping and friction, so these are always in it."""
    extensions: dict[str, object] = {}
    if joint.stiffness:
        extensions |= {"spring_stiffness": joint.stiffness, "spring_reference": joint.reference}
    if armature:
        extensions |= {"armature": armature}
    if joint.damping or joint.friction or extensions:
        _add(node, "dynamics", damping=joint.damping, friction=joint.friction, **extensions)


def _joint(root: etree._Element, joint: JointElement, armature: PerCoordinate) -> None:
    node = _add(root, "joint", name=joint.name, type=joint.kind)
    _origin(node, joint.origin)
    _add(node, "parent", link=joint.parent)
    _add(node, "child", link=joint.child)
    row = JOINTS.get(joint.kind)
    if row is not None and row.axis:
        _add(node, "axis", xyz=_numbers(joint.axis))
    for tag, attribute, values in (
        row.constants_to_xml(joint.axis, joint.constants) if row is not None else ()
    ):
        element = _add(node, tag) if tag else node
        element.set(attribute, _numbers(values))
    if _needs_limit(joint):
        _add(node, "limit", **_limit(joint.limits, joint.kind))
    _dynamics(node, joint, armature)
    if joint.mimics is not None:
        offsets = (joint.mimics.offset, *(0.0 for _ in joint.mimics.also))
        for (name, factor), offset in zip(joint.mimics.terms, offsets, strict=True):
            _add(node, "mimic", joint=name, multiplier=factor, offset=offset)


def _needs_limit(joint: JointElement) -> bool:
    return has_one_coordinate(joint.kind) and (
        joint.kind in ("revolute", "prismatic") or joint.limits != Limits()
    )


def _limit(limits: Limits, kind: str) -> dict[str, object]:
    """Bounds that are missing are written as far away; a continuous joint has no ends."""
    positions: dict[str, object] = {
        "lower": -UNLIMITED if limits.lower is None else limits.lower,
        "upper": UNLIMITED if limits.upper is None else limits.upper,
    }
    others: dict[str, object] = {
        "effort": UNLIMITED if limits.effort is None else limits.effort,
        "velocity": UNLIMITED if limits.velocity is None else limits.velocity,
    }
    return others if kind == "continuous" else positions | others


def _drives(root: etree._Element, robot: RobotDescription) -> None:
    """A rotor as Drake has it, a reduction as ROS does."""
    single_motors = {
        transmission.joints[0]: transmission.motors[0]
        for transmission in robot.transmissions
        if len(transmission.joints) == 1
    }
    known = {drive.joint: drive for drive in robot.drives}
    for joint in robot.joints:
        motor = single_motors.get(
            joint.name, Motor(f"{joint.name}.actuator", LinearFunction.identity(joint.name))
        )
        _drive(root, known.get(joint.name, DriveElement(joint.name, joint.line)), motor)


def _drive(root: etree._Element, drive: DriveElement, motor: Motor) -> None:
    ((_, factor),) = motor.angle.terms
    ratio = factor if drive.ratio is None else drive.ratio
    if drive.inertia is None and (ratio, motor.angle.offset) == (1.0, 0.0):
        return
    node = _add(root, "transmission", name=f"{drive.joint}.transmission")
    _add(node, "type").text = "transmission_interface/SimpleTransmission"
    joint = _add(node, "joint", name=drive.joint)
    _add(joint, "hardwareInterface").text = HARDWARE_INTERFACE
    if motor.angle.offset:
        _add(joint, "offset").text = repr(-motor.angle.offset / factor)
    actuator = _add(node, "actuator", name=motor.name)
    if drive.inertia is None:
        _add(actuator, "mechanicalReduction").text = repr(ratio)
        return
    for tag, value in ((ROTOR_INERTIA_TAG, drive.inertia), (GEAR_RATIO_TAG, ratio)):
        _add(actuator, f"{{{DRAKE_NAMESPACE}}}{tag.partition(':')[2]}", value=value)


def _not_written(robot: RobotDescription) -> Iterator[tuple[str, str]]:
    """Notices of the data that URDF cannot represent, or that are written in extensions of URDF."""
    limits = [_limit(joint.limits, joint.kind) for joint in robot.joints if _needs_limit(joint)]
    placeholders = sum(any(abs(float(str(x))) == UNLIMITED for x in row.values()) for row in limits)
    if placeholders:
        yield "note", f"missing limits (joints: {placeholders}) are written as {UNLIMITED:g}"
    for level, find, message in EXTENSIONS:
        names = list(find(robot))
        if names:
            yield level, message.format(quoted(names))
    if robot.gravity != EARTH or robot.tilt(robot.roots[0]) != IDENTITY:
        gravity = ",".join(f"{g:.12g}" for g in gravity_of_file(robot, robot.roots[0]))
        yield "warning", f"gravity is not written to the URDF; give --gravity {gravity}"


def _with_several_constants(robot: RobotDescription) -> Iterator[str]:
    """The joints with a constant that differs between their coordinates."""
    for joint in robot.joints:
        armatures = (drive.armature for drive in robot.drives if drive.joint == joint.name)
        constants = (joint.damping, joint.friction, joint.stiffness, joint.reference, *armatures)
        if any(isinstance(constant, tuple) for constant in constants):
            yield joint.name


IN_DYNAMICS: Final = (
    " ({}) is written in <dynamics>; this is not part of URDF, and few programs read it"
)
EXTENSIONS: Final[tuple[tuple[str, Callable[[RobotDescription], Iterable[str]], str], ...]] = (
    (
        "warning",
        lambda robot: (link.name for link in robot.links if link.fluids),
        "the fluid around links ({}) is not written to the URDF; give it as [links.NAME] in the "
        "file of --actuators",
    ),
    (
        "note",
        lambda robot: (loop.name for loop in robot.loops if loop.joint in CUT_JOINTS),
        "closed loops ({}) are written as <loop> of URDF+, which other programs may ignore",
    ),
    (
        "warning",
        lambda robot: (loop.name for loop in robot.loops if loop.joint not in CUT_JOINTS),
        "closed loops ({}) have a cut joint that URDF+ does not have; they are not written",
    ),
    (
        "warning",
        lambda robot: (loop.name for loop in robot.loops if loop.branch),
        "the branch of closed loops ({}) is not written to the URDF; read again, the loops have "
        "the one that symgen chooses",
    ),
    (
        "warning",
        lambda robot: sorted(
            {joint.kind for joint in robot.joints if joint.kind not in URDF_TYPES}
        ),
        "joints of type {} are an extension of symgen; URDF has no such type, so other programs "
        "reject the file",
    ),
    (
        "warning",
        lambda robot: (
            joint.name
            for joint in robot.joints
            if joint.kind == "planar"
            and JOINTS[joint.kind].constants_to_xml(joint.axis, joint.constants)
        ),
        "the x direction of planar joints ({}) is written as <axis2>, which symgen reads and other "
        "programs ignore",
    ),
    (
        "note",
        lambda robot: (joint.name for joint in robot.joints if joint.stiffness),
        "spring_stiffness" + IN_DYNAMICS,
    ),
    (
        "note",
        lambda robot: (drive.joint for drive in robot.drives if drive.armature),
        "armature" + IN_DYNAMICS,
    ),
    (
        "warning",
        _with_several_constants,
        "<dynamics> of {} has one number per coordinate, as symgen reads it; URDF has one number "
        "per joint",
    ),
    (
        "warning",
        lambda robot: (j.name for j in robot.joints if j.mimics is not None and j.mimics.also),
        "joints that follow several others ({}) have one <mimic> for each, as symgen reads it; "
        "URDF allows only one",
    ),
    (
        "warning",
        lambda robot: (m.name for t in robot.transmissions if len(t.joints) > 1 for m in t.motors),
        "motors that several joints share ({}) are not written to the URDF",
    ),
)
"""The data that are written in extensions of URDF or not at all: the level of the notice, the names
of joints, types or motors, and the message."""
