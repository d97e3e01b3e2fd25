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
from symgen.mechanics.pose import IDENTITY, Pose, Triple
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
    it (`below`, None: the base) and where its frame is there; `carrier` is the frame of the link it
    is fixed to."""

    joint: Joint
    below: str | None
    pose: Pose
    carrier: Pose
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
    last, total = dict[str | None, int]({None: 0}), 0
    for moving in joints:
        total += len(moving.joint.type.velocities)
        last[moving.joint.name] = total
    for k, motor in enumerate(motors, total + 1):
        last[motor.name] = k
    moved: list[Body] = []
    for moving in joints:
        moved += _run(moving, last, len(moved))
    by_name = {moving.joint.name: moving for moving in joints}
    rotors = [_motor(motor, by_name.get(motor.joint or ""), last) for motor in motors]
    turned = {motor.joint for motor in motors}
    for moving in joints:
        rotors += _rotors(moving, last, turned)
        rotors += _armature(moving, last, len(moved) + len(rotors))
    return tuple(_carrying(moved, joints, last)) + tuple(rotors)


def _motor(motor: MotorBody, moving: MovingJoint | None, last: Mapping[str | None, int]) -> Body:
    """The body of a motor: the rotor of the joint that it moves, where there is one, else one on
    the ground."""
    rotor = moving.joint.rotor if moving is not None else None
    if moving is None or rotor is None or not rotor.inertia:
        turning, follows = (
            Joint(motor.name, "armature", IDENTITY[2], **joint_fields(dict(motor.friction))),
            _followed(motor.follows, last),
        )
        return Body(turning, 0, Pose(), (), follows, spin=motor.inertia)
    turning = Joint(motor.name, "rotor", rotor.axis or moving.joint.axis)
    pose = _rotor_pose(moving, rotor)
    return Body(turning, last[moving.below], pose, (), spin=rotor.inertia)


def _run(moving: MovingJoint, last: Mapping[str | None, int], before: int) -> Iterator[Body]:
    """A body for each part of a joint, the last with the links."""
    follows, parts = _followed(moving.follows, last), len(moving.joint.type.velocities)
    for at in range(parts):
        parent, pose = (before + at, Pose()) if at else (last[moving.below], moving.pose)
        links = moving.links if at == parts - 1 else ()
        yield Body(moving.joint, parent, pose, links, follows, at)


def _followed(f: LinearFunction | None, last: Mapping[str | None, int]) -> Follow | None:
    return None if f is None else Follow(tuple((last[k], by) for k, by in f.terms), f.offset)


def _rotors(
    moving: MovingJoint, last: Mapping[str | None, int], turned: Collection[str | None]
) -> Iterator[Body]:
    """The spinning part of a drive, where it is not that of a motor that is a body already."""
    joint, last_body = moving.joint, last[moving.joint.name]
    follows = _followed(moving.follows, last) or Follow(((last_body, 1.0),))
    if joint.rotor is not None and joint.rotor.inertia and joint.name not in turned:
        turning = Joint(f"{joint.name}.rotor", "rotor", joint.rotor.axis or joint.axis)
        ratio = Follow(tuple((k, joint.rotor.ratio * by) for k, by in follows.terms))
        yield Body(
            turning,
            last[moving.below],
            _rotor_pose(moving, joint.rotor),
            (),
            ratio,
            spin=joint.rotor.inertia,
        )


def _armature(moving: MovingJoint, last: Mapping[str | None, int], before: int) -> Iterator[Body]:
    """The bodies on the ground whose inertia is the armature of a joint; `before` is the number of
    bodies that precede them."""
    joint, kind = moving.joint, moving.joint.type
    if not is_nonzero(joint.armature):
        return
    first = last[joint.name] - len(kind.velocities) + 1
    if kind.in_body_axes:
        for word, inertia in _in_body_axes(joint):
            for at in range(len(kind.velocities)):
                ground = Joint(f"{joint.name}.{word}", f"{joint.kind}_{word}")
                parent, follow = before + at if at else 0, Follow(((first + at, 1.0),))
                spin = inertia if at == len(kind.velocities) - 1 else 0.0
                yield Body(ground, parent, Pose(), (), follow, at, spin)
            before += len(kind.velocities)
        return
    for at, part in enumerate(kind.parts(joint)):
        name = joint.coordinate(kind.velocities[part.velocity].suffix)
        follows = _followed(moving.follows, last) or Follow(((first + at, 1.0),))
        spin = constant_of_velocity(joint.armature, part.velocity)
        turning = Joint(f"{name}.armature", "armature", IDENTITY[2])
        if spin:
            yield Body(turning, 0, Pose(), (), replace(follows, offset=0.0), spin=spin)


def _in_body_axes(joint: Joint) -> Iterator[tuple[str, float]]:
    """The bodies that a joint with all its axes in the body has for its armature, by the end of
    their kind: inertia about all axes, and the mass that translation moves."""
    for word, unit in (("armature", "rad"), ("mass", "m")):
        rows = enumerate(joint.type.velocities)
        felt = (constant_of_velocity(joint.armature, k) for k, row in rows if row.unit == unit)
        inertia = next(felt, 0.0)
        if inertia:
            yield word, inertia


def _rotor_pose(moving: MovingJoint, rotor: Rotor) -> Pose:
    """Where the rotor is on the body that carries the joint; its axis is given in those axes."""
    base = moving.pose if rotor.axis is None else moving.carrier
    place = moving.pose.position if rotor.position is None else moving.carrier.move(rotor.position)
    return Pose(base.rotation, place)


def _carrying(
    moved: Sequence[Body], joints: Sequence[MovingJoint], last: Mapping[str | None, int]
) -> Iterator[Body]:
    """The bodies with the mass of the rotors on them, which does not spin."""
    on: dict[int, list[Link]] = {}
    for moving in joints:
        if moving.joint.rotor is not None and (
            moving.joint.rotor.mass or moving.joint.rotor.transverse
        ):
            on.setdefault(last[moving.below], []).append(_resting(moving, moving.joint.rotor))
    for i, body in enumerate(moved, 1):
        yield replace(body, links=(*body.links, *on.get(i, ())))


def _resting(moving: MovingJoint, rotor: Rotor) -> Link:
    a, t = rotor.axis or moving.joint.axis, rotor.transverse
    tensor = [t * ((i == j) - a[i] * a[j]) + 0.0 for i in range(3) for j in range(i, 3)]
    return Link(
        f"{moving.joint.name}.rotor",
        _rotor_pose(moving, rotor),
        (rotor.mass, 0.0, 0.0, 0.0, *tensor),
    )


# -- the model of a subtree ------------------------------------------------------------------------


def model_of(
    part: RobotSubtree,
    gravity: Triple,
    rounder: RightAngleSnapper,
    drives: Drives,
    motors: Sequence[MotorBody],
) -> tuple[RigidBodyModel, OpenLoops]:
    """Every link's body and pose on it, from the root outward; then the bodies with their links and
    the closed loops (`with_loops`)."""
    moving = {joint.name for joint in part.moving}
    placements: dict[str, tuple[str | None, Pose]] = {part.root: (None, Pose())}
    placed: dict[str, tuple[str | None, Pose, Pose]] = {}
    for joint in part.joints:
        carrier, parent_pose = placements[joint.parent]
        pose = parent_pose @ joint_pose(part, joint, rounder)
        if joint.name in moving:
            placed[joint.name] = carrier, _plain(pose), parent_pose
            carrier, pose = joint.name, Pose()
        placements[joint.child] = carrier, pose
    links = _links(part, placements, rounder, drives.fluids)
    followers = resolve_couplings(
        part.robot, part.moving, part.locked, [m.name for m in motors if m.follows is None]
    )
    joints = [
        MovingJoint(
            drives.on(_joint(j)), *placed[j.name], tuple(links[j.name]), followers.get(j.name)
        )
        for j in part.moving
    ]
    model = RigidBodyModel(
        part.robot.name,
        bodies(joints, [motor.resolved(followers) for motor in motors]),
        tuple(links.get(None, ())),
        gravity,
        part.file_order_if_changed,
    )
    return with_loops(part, model)


def _links(
    part: RobotSubtree,
    placements: Mapping[str, tuple[str | None, Pose]],
    rounder: RightAngleSnapper,
    fluids: Mapping[str, tuple[LinkFluid, ...]],
) -> dict[str | None, list[Link]]:
    elements, links = part.links, dict[str | None, list[Link]]()
    for name, (carrier, pose) in placements.items():  # outward: a body's own link comes first
        if name != WORLD:
            parameters = _parameters(part, elements[name], rounder)
            around = fluids.get(name, elements[name].fluids)
            links.setdefault(carrier, []).append(Link(name, _plain(pose), parameters, around))
    return links


def joint_pose(part: RobotSubtree, joint: JointElement, rounder: RightAngleSnapper) -> Pose:
    """The child link's frame in the parent link's, a locked joint at its value."""
    pose = pose_at_zero(part.robot, joint, rounder)
    if joint.name not in part.locked:
        return pose
    value, freedom = part.locked[joint.name], _joint(joint).type.parts(_joint(joint))[0].freedom
    x, y, z = (plain(freedom.displacement(value)) * a for a in joint.axis)
    shifted = pose @ Pose(IDENTITY, (x, y, z))
    if freedom.turn is ZERO:
        return shifted
    place = part.robot.place(joint.origin.line)
    cos_sin = rounder.cos_sin(value, place, joint.label, "--lock")
    return shifted @ Pose(rotation_about_axis(joint.axis, *cos_sin))


def _parameters(
    part: RobotSubtree, link: LinkElement, rounder: RightAngleSnapper
) -> tuple[float, ...] | None:
    if link.inertial is None:
        return None
    origin = link.inertial.origin
    place = part.robot.place(origin.line)
    rotation = rounder.rotation(origin.rpy, place, link.label, "inertial rpy")
    return about_origin(link.inertial, Pose(rotation, origin.xyz))


def about_origin(inertial: Inertial, pose: Pose) -> tuple[float, ...]:
    """The ten of PARAMETER_NAMES about the link origin; `pose` is the frame of the inertia on the
    link."""
    m, (x, y, z) = inertial.mass, pose.position
    xx, xy, xz, yy, yz, zz = inertial.tensor
    rows, r = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), pose.rotation
    half = [[dot(row, column) for column in rows] for row in r]  # the tensor is symmetric
    xx, xy, xz, yy, yz, zz = (dot(half[i], r[j]) for i in range(3) for j in range(i, 3))
    ten = (
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
    return tuple(p + 0.0 for p in ten)


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


def _plain(pose: Pose) -> Pose:
    """The pose without negative zeros."""
    a, b, c = ((x + 0.0, y + 0.0, z + 0.0) for x, y, z in pose.rotation)
    x, y, z = pose.position
    return replace(pose, rotation=(a, b, c), position=(x + 0.0, y + 0.0, z + 0.0))
