"""The bodies and joints of a compiled MuJoCo model as links and joints of a `RobotDescription`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import pi, sqrt
from typing import Any, Final

from symgen.errors import SourceLocation
from symgen.mechanics.fluid import LinkFluid, diagonal_matrix, quadratic_terms
from symgen.mechanics.model import Limits, PerCoordinate
from symgen.mechanics.spatial import IDENTITY, Pose, Triple
from symgen.numbers.decimals import cos, norm, sin
from symgen.reading.description import DriveElement, Inertial, JointElement, LinkElement
from symgen.reading.joint_kinds import FIXED, JOINTS, merged
from symgen.reading.rotations import origin_from_pose, rotation_about_axis, rotation_from_quaternion
from symgen.reading.xml_reader import XmlNode
from symgen.text import shown

JOINT_WORDS: Final = ("floating", "ball", "prismatic", "revolute")
"""Our words for MuJoCo's joint types, by their number (mjtJoint)."""
DOFS: Final = (6, 3, 1, 1)
"""The number of velocities of joints of these types."""

ELEMENTS_WITH_LINES: Final = ("body", "joint", "freejoint", "geom", "connect", "weld")
"""The elements of a file whose lines are known by name."""

Elements = tuple[tuple[LinkElement, ...], tuple[JointElement, ...], tuple[DriveElement, ...]]


@dataclass(frozen=True)
class CompiledMjcf:
    """A compiled model with the names and lines of its bodies and joints."""

    mujoco: Any
    model: Any
    root: XmlNode

    @cached_property
    def bodies(self) -> tuple[str, ...]:
        """The names of the bodies; the first is ``world``."""
        names = self._names(self.mujoco.mjtObj.mjOBJ_BODY, self.model.nbody, "body")
        return ("world", *names[1:])

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """The names of the joints."""
        return self._names(self.mujoco.mjtObj.mjOBJ_JOINT, self.model.njnt, "joint")

    @cached_property
    def lines(self) -> dict[tuple[str, str], int]:
        """The lines of bodies, joints, geoms and loops, by "body", "joint" or kind and name."""
        elements = self.root.element.iter(*ELEMENTS_WITH_LINES)
        nodes = (XmlNode(element, self.root.source, self.root.label) for element in elements)
        return {(x.tag.removeprefix("free"), x.element.get("name") or ""): x.line for x in nodes}

    def _names(self, kind: Any, count: int, word: str) -> tuple[str, ...]:
        """The names of the file; a free one, WORD and number, where it has none."""
        names = [self.mujoco.mj_id2name(self.model, kind, i) for i in range(count)]
        taken = {name for name in names if name}
        return tuple(name or unique_name(f"{word}{i}", taken) for i, name in enumerate(names))

    def name(self, kind: Any, index: int) -> str:
        """The name of an element of a kind (mjtObj); "number INDEX" where the file gives none."""
        return self.mujoco.mj_id2name(self.model, int(kind), index) or f"number {index}"

    def line(self, kind: str, name: str) -> int:
        """Where it stands; the root's line for what comes from an included file."""
        return self.lines.get((kind, name), self.root.line)

    def joint_line(self, joint: int) -> int:
        """Where a joint stands, or else its body."""
        body = self.bodies[self.model.jnt_bodyid[joint]]
        return self.lines.get(("joint", self.joints[joint]), self.line("body", body))

    def of_dofs(self, field: str, joint: int) -> list[float]:
        """The numbers of an array ``dof_FIELD`` of MuJoCo for the velocities of a joint."""
        first = int(self.model.jnt_dofadr[joint])
        last = first + DOFS[int(self.model.jnt_type[joint])]
        return [float(x) for x in getattr(self.model, f"dof_{field}")[first:last]]

    def single(self, joint: int) -> bool:
        """Whether it is a hinge or a slide."""
        return int(self.model.jnt_type[joint]) >= 2


def unique_name(name: str, taken: set[str]) -> str:
    """The name, with underscores until nothing else has it; it is taken then."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def elements(robot: CompiledMjcf) -> Elements:
    """Links and joints in MuJoCo's order, and the armature of joints."""
    taken = set(robot.bodies)
    links, joints = [LinkElement("world", robot.root.line)], list[JointElement]()
    for body in range(1, robot.model.nbody):
        intermediate_links, chain = _chain(robot, body, taken)
        line = robot.line("body", robot.bodies[body])
        links += [LinkElement(name, line) for name in intermediate_links]
        links.append(LinkElement(robot.bodies[body], line, _inertial(robot, body, line)))
        joints += chain
    drives = [
        DriveElement(name, robot.joint_line(joint), armature=armature)
        for joint, name in enumerate(robot.joints)
        if (armature := merged(robot.of_dofs("armature", joint)))
    ]
    return tuple(links), tuple(joints), tuple(drives)


def _inertial(robot: CompiledMjcf, body: int, line: int) -> Inertial | None:
    """The diagonal inertia that MuJoCo has of a body, in the axes that it has it in."""
    mass = float(robot.model.body_mass[body])
    xx, yy, zz = map(float, robot.model.body_inertia[body])
    if not (mass or xx or yy or zz):
        return None
    frame = pose_of(robot.model.body_ipos[body], robot.model.body_iquat[body])
    return Inertial(line, origin_from_pose(frame, line), mass, (xx, 0.0, 0.0, yy, 0.0, zz))


def _chain(robot: CompiledMjcf, body: int, taken: set[str]) -> tuple[list[str], list[JointElement]]:
    """The joints from a body's parent to it, with the names of the links between them."""
    model, name = robot.model, robot.bodies[body]
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    pose, parent = (
        pose_of(model.body_pos[body], model.body_quat[body]),
        robot.bodies[model.body_parentid[body]],
    )
    intermediate_links, joints = list[str](), list[JointElement]()
    for joint in range(first, first + count):
        kind = JOINT_WORDS[model.jnt_type[joint]]
        anchor = triple_of(model.jnt_pos[joint])
        if kind == JOINT_WORDS[0]:
            pose, anchor = Pose(), (0.0, 0.0, 0.0)  # its positions are those in the world
        last = joint == first + count - 1 and not any(anchor)
        child = name if last else unique_name(f"{name}.{robot.joints[joint]}", taken)
        intermediate_links += [] if last else [child]
        origin = pose @ Pose(IDENTITY, anchor) @ _pose_at_zero(robot, joint)
        joints.append(_joint(robot, joint, parent, child, origin))
        x, y, z = anchor
        pose, parent = Pose(IDENTITY, (-x, -y, -z)), child
    if not joints or parent != name:
        line = robot.line("body", name)
        fixed = unique_name(f"{name}.fixed", set(robot.joints))
        joints.append(JointElement(fixed, line, FIXED, parent, name, origin_from_pose(pose, line)))
    return intermediate_links, joints


def _pose_at_zero(robot: CompiledMjcf, joint: int) -> Pose:
    """From where a joint is in the file, at `ref`, to where its coordinate is 0."""
    if not robot.single(joint):
        return Pose()
    ref = float(robot.model.qpos0[robot.model.jnt_qposadr[joint]])
    axis = _unit_axis(robot.model.jnt_axis[joint])
    if not ref:
        return Pose()
    if JOINT_WORDS[robot.model.jnt_type[joint]] == "prismatic":
        x, y, z = (-ref * a for a in axis)
        return Pose(IDENTITY, (x, y, z))
    return Pose(rotation_about_axis(axis, cos(ref), sin(-ref)))


def _joint(robot: CompiledMjcf, joint: int, parent: str, child: str, at: Pose) -> JointElement:
    model, name, line = robot.model, robot.joints[joint], robot.joint_line(joint)
    word = JOINT_WORDS[model.jnt_type[joint]]
    if word not in JOINTS:
        message = f"{word} joints are not supported yet; remove the joint"
        raise robot.root.with_label(f"joint '{shown(name)}'").error(message)
    single, spring = robot.single(joint), float(model.jnt_stiffness[joint])
    relaxed_position = (
        float(model.qpos_spring[model.jnt_qposadr[joint]]) if single and spring else 0.0
    )
    return JointElement(
        name,
        line,
        "continuous" if word == "revolute" and not model.jnt_limited[joint] else word,
        parent,
        child,
        origin_from_pose(at, line),
        _unit_axis(model.jnt_axis[joint]) if single else IDENTITY[0],
        _limits(model, joint) if single else Limits(),
        merged(robot.of_dofs("damping", joint)),
        _friction(robot, joint),
        stiffness=spring,
        reference=relaxed_position,
    )


def _limits(model: Any, joint: int) -> Limits:
    lower = upper = effort = None
    if model.jnt_limited[joint]:
        lower, upper = map(float, model.jnt_range[joint])
    if model.jnt_actfrclimited[joint]:
        effort = float(max(map(abs, model.jnt_actfrcrange[joint])))
    return Limits(lower, upper, None, effort)


def _friction(robot: CompiledMjcf, joint: int) -> PerCoordinate:
    """The frictionloss of a joint. That of a free joint's translation acts along the axes of the
    world, where no velocity is, and is left out (see `symgen.reading.mjcf`)."""
    losses = robot.of_dofs("frictionloss", joint)
    translation = 3 if JOINT_WORDS[robot.model.jnt_type[joint]] == "floating" else 0
    return merged([0.0] * translation + losses[translation:])


def pose_of(position: Any, quaternion: Any) -> Pose:
    """The pose of a position and a quaternion w, x, y, z of MuJoCo."""
    w, x, y, z = map(float, quaternion)
    return Pose(rotation_from_quaternion(w, x, y, z), triple_of(position))


def triple_of(numbers: Any) -> Triple:
    """Three numbers of an array of MuJoCo."""
    x, y, z = (float(n) + 0.0 for n in numbers)
    return x, y, z


def _unit_axis(numbers: Any) -> Triple:
    axis = triple_of(numbers)
    length = norm(*axis)
    x, y, z = axis if length == 1 else tuple(a / length for a in axis)
    return x, y, z


# -- the medium ------------------------------------------------------------------------------------

MIN_VALUE: Final = 1e-15
"""MuJoCo's smallest divisor; a body with less mass feels no medium."""
ELLIPSOID: Final = (
    "the drag, lift and added mass of fluidshape ellipsoid in a medium with density are not "
    "supported; remove fluidshape, or give the fluid of the link in the file of --actuators"
)


def fluids(robot: CompiledMjcf, body: int) -> tuple[LinkFluid, ...]:
    """The fluids around a body: one in principal axes, or one for each geom that is an
    ellipsoid."""
    option, model = robot.model.opt, robot.model
    if not (option.density or option.viscosity) or model.body_mass[body] < MIN_VALUE:
        return ()
    first = int(model.body_geomadr[body])
    geoms = range(first, first + int(model.body_geomnum[body]))
    ellipsoids = [geom for geom in geoms if model.geom_fluid[geom][0] > 0]
    wind = triple_of(option.wind)
    fluids_of_body = (
        (_ellipsoid(robot, geom) for geom in ellipsoids) if ellipsoids else [_box(robot, body)]
    )
    return tuple(replace(fluid, current=wind) for fluid in fluids_of_body)


def _box(robot: CompiledMjcf, body: int) -> LinkFluid:
    """The drag on the box of inertia of a body."""
    mass, (xx, yy, zz) = float(robot.model.body_mass[body]), robot.model.body_inertia[body]
    squares = (yy + zz - xx, xx + zz - yy, xx + yy - zz)
    a, b, c = (sqrt(max(MIN_VALUE, float(x)) / mass * 6.0) for x in squares)
    faces = [b * c / 2, a * c / 2, a * b / 2]
    edges = [a * (b**4 + c**4) / 64, b * (a**4 + c**4) / 64, c * (a**4 + b**4) / 64]
    density = float(robot.model.opt.density)
    drag = diagonal_matrix([density * x for x in (*faces, *edges)])
    return LinkFluid(
        linear_drag=_sphere_drag(robot, (a + b + c) / 3),
        quadratic_drag=quadratic_terms([drag[6 * k : 6 * k + 6] for k in range(6)]),
        pose=pose_of(robot.model.body_ipos[body], robot.model.body_iquat[body]),
    )


def _sphere_drag(robot: CompiledMjcf, diameter: float) -> tuple[float, ...]:
    """The viscous drag on a sphere."""
    force, moment = 3 * pi * diameter, pi * diameter**3
    viscosity = float(robot.model.opt.viscosity)
    return diagonal_matrix([viscosity * x for x in (*[force] * 3, *[moment] * 3)])


def _ellipsoid(robot: CompiledMjcf, geom: int) -> LinkFluid:
    """The viscous drag on the ellipsoid of a geom."""
    name = robot.name(robot.mujoco.mjtObj.mjOBJ_GEOM, geom)
    body = robot.bodies[robot.model.geom_bodyid[geom]]
    line = robot.lines.get(("geom", name), robot.line("body", body))
    place = SourceLocation(robot.root.source.file, line)
    has_density = robot.model.opt.density > 0
    return LinkFluid(
        linear_drag=_sphere_drag(robot, 2 / 3 * sum(_semiaxes(robot, geom))),
        pose=pose_of(robot.model.geom_pos[geom], robot.model.geom_quat[geom]),
        trouble=f"{place}: geom '{shown(name)}': {ELLIPSOID}" if has_density else "",
    )


def _semiaxes(robot: CompiledMjcf, geom: int) -> Iterator[float]:
    """The semi-axes of the ellipsoid that MuJoCo takes for a geom."""
    types, kind = robot.mujoco.mjtGeom, robot.model.geom_type[geom]
    x, y, z = map(float, robot.model.geom_size[geom])
    if kind == types.mjGEOM_SPHERE:
        return iter((x, x, x))
    if kind == types.mjGEOM_CAPSULE:
        return iter((x, x, y + x))
    return iter((x, x, y) if kind == types.mjGEOM_CYLINDER else (x, y, z))
