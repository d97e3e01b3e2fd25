"""The bodies of a model: a body for each coordinate of a joint, rotors and motors, and the links
that move with each body."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from symgen.mechanics.fluid import LinkFluid
from symgen.mechanics.model import (
    Body,
    Follow,
    Joint,
    Link,
    RigidBodyModel,
    Rotor,
    constant_of_velocity,
    is_nonzero,
)
from symgen.mechanics.spatial import IDENTITY, Pose, Triple
from symgen.numbers.scalar import ZERO, dot, plain
from symgen.reading.actuators import Drives, joint_fields
from symgen.reading.closed_loop_joints import OpenLoops, with_loops
from symgen.reading.description import Inertial, JointElement, LinearFunction, LinkElement
from symgen.reading.joint_couplings import resolve_couplings
from symgen.reading.joint_kinds import JOINTS
from symgen.reading.rotations import RightAngleSnapper, rotation_about_axis
from symgen.reading.subtree import WORLD, RobotSubtree, pose_at_zero


@dataclass(frozen=True, slots=True)
class MovingJoint:
    """A moving joint of a file, before its bodies have numbers: the `joint`, the one that carries
    it (`parent_joint`, None: the base), its `pose` on the body of that joint, and there too the
    pose of its parent link."""

    joint: Joint
    parent_joint: str | None
    pose: Pose
    link_pose: Pose
    links: tuple[Link, ...]
    follows: LinearFunction | None = None


@dataclass(frozen=True, slots=True)
class MotorBody:
    """A motor that is a body: the inertia of its rotor about its axis (kg m²), and what it follows,
    None where its angle is a coordinate. The rotor is that of the `joint` of that name, which it
    moves alone; else it is on the ground."""

    name: str
    inertia: float = 0.0
    joint: str | None = None
    follows: LinearFunction | None = None
    friction: tuple[tuple[str, float], ...] = ()
    """The coefficients and shape parameters of its friction, by name."""

    def resolved(self, laws: Mapping[str, LinearFunction]) -> "MotorBody":
        """The motor as a follower of independent joints; `laws` are those of the other joints."""
        if self.follows is None:
            return self
        names = (name for name, _ in self.follows.terms)
        inner = {name: laws.get(name, LinearFunction.identity(name)) for name in names}
        return replace(self, follows=replace(self.follows.compose(inner), offset=0.0))


def bodies(joints: Sequence[MovingJoint], motors: Sequence[MotorBody] = ()) -> tuple[Body, ...]:
    """All bodies: those of the joints in order, motors, then a rotor for each joint that has one,
    which turns as the joint does."""
    body_numbers, total = dict[str | None, int]({None: 0}), 0
    for moving in joints:
        total += len(moving.joint.type.velocities)
        body_numbers[moving.joint.name] = total
    for k, motor in enumerate(motors, total + 1):
        body_numbers[motor.name] = k
    joint_bodies: list[Body] = []
    for moving in joints:
        joint_bodies += _joint_bodies(moving, body_numbers, len(joint_bodies))
    by_name = {moving.joint.name: moving for moving in joints}
    rotors = [_motor_body(motor, by_name.get(motor.joint or ""), body_numbers) for motor in motors]
    driven = {motor.joint for motor in motors}
    for moving in joints:
        rotors += _rotor_bodies(moving, body_numbers, driven)
        rotors += _armature_bodies(moving, body_numbers, len(joint_bodies) + len(rotors))
    return tuple(_with_rotor_masses(joint_bodies, joints, body_numbers)) + tuple(rotors)


def _motor_body(
    motor: MotorBody, moving: MovingJoint | None, body_numbers: Mapping[str | None, int]
) -> Body:
    """The body of a motor: the rotor of the joint that it moves, where there is one, else one on
    the ground."""
    rotor = moving.joint.rotor if moving is not None else None
    if moving is None or rotor is None or not rotor.inertia:
        rotor_joint, follows = (
            Joint(motor.name, "armature", IDENTITY[2], **joint_fields(dict(motor.friction))),
            _follow(motor.follows, body_numbers),
        )
        return Body(rotor_joint, 0, Pose(), (), follows, spin=motor.inertia)
    rotor_joint = Joint(motor.name, "rotor", rotor.axis or moving.joint.axis)
    pose = _rotor_pose(moving, rotor)
    return Body(rotor_joint, body_numbers[moving.parent_joint], pose, (), spin=rotor.inertia)


def _joint_bodies(
    moving: MovingJoint, body_numbers: Mapping[str | None, int], before: int
) -> Iterator[Body]:
    """A body for each part of a joint, the last with the links."""
    follows, parts = _follow(moving.follows, body_numbers), len(moving.joint.type.velocities)
    for index in range(parts):
        parent, pose = (
            (before + index, Pose()) if index else (body_numbers[moving.parent_joint], moving.pose)
        )
        links = moving.links if index == parts - 1 else ()
        yield Body(moving.joint, parent, pose, links, follows, index)


def _follow(f: LinearFunction | None, body_numbers: Mapping[str | None, int]) -> Follow | None:
    return (
        None
        if f is None
        else Follow(tuple((body_numbers[k], factor) for k, factor in f.terms), f.offset)
    )


def _rotor_bodies(
    moving: MovingJoint, body_numbers: Mapping[str | None, int], driven: Collection[str | None]
) -> Iterator[Body]:
    """The spinning part of a drive, where it is not that of a motor that is a body already."""
    joint, last_body = moving.joint, body_numbers[moving.joint.name]
    follows = _follow(moving.follows, body_numbers) or Follow(((last_body, 1.0),))
    if joint.rotor is not None and joint.rotor.inertia and joint.name not in driven:
        rotor_joint = Joint(f"{joint.name}.rotor", "rotor", joint.rotor.axis or joint.axis)
        ratio = Follow(tuple((k, joint.rotor.ratio * factor) for k, factor in follows.terms))
        yield Body(
            rotor_joint,
            body_numbers[moving.parent_joint],
            _rotor_pose(moving, joint.rotor),
            (),
            ratio,
            spin=joint.rotor.inertia,
        )


def _armature_bodies(
    moving: MovingJoint, body_numbers: Mapping[str | None, int], before: int
) -> Iterator[Body]:
    """The bodies on the ground whose inertia is the armature of a joint; `before` is the number of
    bodies that precede them."""
    joint, kind = moving.joint, moving.joint.type
    if not is_nonzero(joint.armature):
        return
    first = body_numbers[joint.name] - len(kind.velocities) + 1
    if kind.in_body_axes:
        for word, inertia in _armatures_in_body_axes(joint):
            for index in range(len(kind.velocities)):
                ground = Joint(f"{joint.name}.{word}", f"{joint.kind}_{word}")
                parent, follow = before + index if index else 0, Follow(((first + index, 1.0),))
                spin = inertia if index == len(kind.velocities) - 1 else 0.0
                yield Body(ground, parent, Pose(), (), follow, index, spin)
            before += len(kind.velocities)
        return
    for index, part in enumerate(kind.parts(joint)):
        name = joint.coordinate(kind.velocities[part.velocity].suffix)
        follows = _follow(moving.follows, body_numbers) or Follow(((first + index, 1.0),))
        spin = constant_of_velocity(joint.armature, part.velocity)
        rotor_joint = Joint(f"{name}.armature", "armature", IDENTITY[2])
        if spin:
            yield Body(rotor_joint, 0, Pose(), (), replace(follows, offset=0.0), spin=spin)


def _armatures_in_body_axes(joint: Joint) -> Iterator[tuple[str, float]]:
    """The bodies that a joint with all its axes in the body has for its armature, by the end of
    their kind: inertia about all axes, and the mass that translation moves."""
    for word, unit in (("armature", "rad"), ("mass", "m")):
        rows = enumerate(joint.type.velocities)
        inertias = (constant_of_velocity(joint.armature, k) for k, row in rows if row.unit == unit)
        inertia = next(inertias, 0.0)
        if inertia:
            yield word, inertia


def _rotor_pose(moving: MovingJoint, rotor: Rotor) -> Pose:
    """Where the rotor is on the body that carries the joint; its axis is given in those axes."""
    base = moving.pose if rotor.axis is None else moving.link_pose
    place = (
        moving.pose.position
        if rotor.position is None
        else moving.link_pose.transform(rotor.position)
    )
    return Pose(base.rotation, place)


def _with_rotor_masses(
    joint_bodies: Sequence[Body],
    joints: Sequence[MovingJoint],
    body_numbers: Mapping[str | None, int],
) -> Iterator[Body]:
    """The bodies with the mass of the rotors on them, which does not spin."""
    on: dict[int, list[Link]] = {}
    for moving in joints:
        if moving.joint.rotor is not None and (
            moving.joint.rotor.mass or moving.joint.rotor.transverse
        ):
            rotor = moving.joint.rotor
            a, t = rotor.axis or moving.joint.axis, rotor.transverse
            tensor = [t * ((i == j) - a[i] * a[j]) + 0.0 for i in range(3) for j in range(i, 3)]
            ten, name = (rotor.mass, 0.0, 0.0, 0.0, *tensor), f"{moving.joint.name}.rotor"
            link = Link(name, _rotor_pose(moving, rotor), ten)
            on.setdefault(body_numbers[moving.parent_joint], []).append(link)
    for i, body in enumerate(joint_bodies, 1):
        yield replace(body, links=(*body.links, *on.get(i, ())))


# -- the model of a subtree ------------------------------------------------------------------------


def model_of(
    subtree: RobotSubtree,
    gravity: Triple,
    snapper: RightAngleSnapper,
    drives: Drives,
    motors: Sequence[MotorBody],
) -> tuple[RigidBodyModel, OpenLoops]:
    """Every link's body and pose on it, from the root outward; then the bodies with their links and
    the closed loops (`with_loops`)."""
    moving = {joint.name for joint in subtree.moving}
    link_poses: dict[str, tuple[str | None, Pose]] = {subtree.root: (None, Pose())}
    joint_poses: dict[str, tuple[str | None, Pose, Pose]] = {}
    for joint in subtree.joints:
        carrier, parent_pose = link_poses[joint.parent]
        pose = parent_pose @ joint_pose(subtree, joint, snapper)
        if joint.name in moving:
            joint_poses[joint.name] = carrier, _without_negative_zeros(pose), parent_pose
            carrier, pose = joint.name, Pose()
        link_poses[joint.child] = carrier, pose
    links = _links(subtree, link_poses, snapper, drives.fluids)
    followers = resolve_couplings(
        subtree.robot, subtree.moving, subtree.locked, [m.name for m in motors if m.follows is None]
    )
    joints = [
        MovingJoint(
            drives.on(_joint(j)), *joint_poses[j.name], tuple(links[j.name]), followers.get(j.name)
        )
        for j in subtree.moving
    ]
    model = RigidBodyModel(
        subtree.robot.name,
        bodies(joints, [motor.resolved(followers) for motor in motors]),
        tuple(links.get(None, ())),
        gravity,
        subtree.file_order_if_changed,
    )
    return with_loops(subtree, model)


def _links(
    subtree: RobotSubtree,
    link_poses: Mapping[str, tuple[str | None, Pose]],
    snapper: RightAngleSnapper,
    fluids: Mapping[str, tuple[LinkFluid, ...]],
) -> dict[str | None, list[Link]]:
    elements, links = subtree.links, dict[str | None, list[Link]]()
    for name, (carrier, pose) in link_poses.items():  # outward: a body's own link comes first
        if name != WORLD:
            parameters = _parameters(subtree, elements[name], snapper)
            fluid = fluids.get(name, elements[name].fluids)
            links.setdefault(carrier, []).append(
                Link(name, _without_negative_zeros(pose), parameters, fluid)
            )
    return links


def joint_pose(subtree: RobotSubtree, joint: JointElement, snapper: RightAngleSnapper) -> Pose:
    """The child link's frame in the parent link's, a locked joint at its value."""
    pose = pose_at_zero(subtree.robot, joint, snapper)
    if joint.name not in subtree.locked:
        return pose
    value, freedom = subtree.locked[joint.name], _joint(joint).type.parts(_joint(joint))[0].freedom
    x, y, z = (plain(freedom.displacement(value)) * a for a in joint.axis)
    shifted = pose @ Pose(IDENTITY, (x, y, z))
    if freedom.turn is ZERO:
        return shifted
    place = subtree.robot.place(joint.origin.line)
    cos_sin = snapper.cos_sin(value, place, joint.label, "--lock")
    return shifted @ Pose(rotation_about_axis(joint.axis, *cos_sin))


def _parameters(
    subtree: RobotSubtree, link: LinkElement, snapper: RightAngleSnapper
) -> tuple[float, ...] | None:
    if link.inertial is None:
        return None
    origin = link.inertial.origin
    place = subtree.robot.place(origin.line)
    rotation = snapper.rotation(origin.rpy, place, link.label, "inertial rpy")
    return about_origin(link.inertial, Pose(rotation, origin.xyz))


def about_origin(inertial: Inertial, pose: Pose) -> tuple[float, ...]:
    """The ten of PARAMETER_NAMES about the link origin; `pose` is the frame of the inertia on the
    link."""
    m, (x, y, z) = inertial.mass, pose.position
    xx, xy, xz, yy, yz, zz = inertial.tensor
    rows, r = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), pose.rotation
    rotated = [[dot(row, column) for column in rows] for row in r]  # the tensor is symmetric
    xx, xy, xz, yy, yz, zz = (dot(rotated[i], r[j]) for i in range(3) for j in range(i, 3))
    parameters = (
        m,
        m * x,
        m * y,
        m * z,
        xx + m * (y * y + z * z),
        xy - m * x * y,
        xz - m * x * z,
        yy + m * (x * x + z * z),
        yz - m * y * z,
        zz + m * (x * x + y * y),
    )
    return tuple(p + 0.0 for p in parameters)


def _joint(joint: JointElement) -> Joint:
    kind = JOINTS[joint.kind].kind  # the file's word (continuous) for that of JOINT_TYPES
    return Joint(
        joint.name,
        kind,
        joint.axis,
        joint.limits,
        constants=joint.constants,
        damping=joint.damping,
        friction=joint.friction,
        stiffness=joint.stiffness,
        reference=joint.reference,
    )


def _without_negative_zeros(pose: Pose) -> Pose:
    """The pose without negative zeros."""
    a, b, c = ((x + 0.0, y + 0.0, z + 0.0) for x, y, z in pose.rotation)
    x, y, z = pose.position
    return replace(pose, rotation=(a, b, c), position=(x + 0.0, y + 0.0, z + 0.0))
