"""Forward kinematics of the textbook: how every body moves in the world, for any scalars and arrays
of them.

Velocities and accelerations by the rules for relative motion; link frames as the file has them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from symgen.mechanics.spatial import ZERO_VECTOR, Vector
from symgen.mechanics.spatial import scale_constant as multiple
from symgen.mechanics.standard_joints import JOINT_TYPES
from symgen.numbers.caching import IdentityCache
from symgen.numbers.scalar import ZERO, Scalar
from symgen.proof.reference_loops import (
    LoopMotion,
    with_loop_accelerations,
    with_loop_positions,
    with_loop_rates,
)
from symgen.proof.reference_model import (
    WORLD,
    Frame,
    ReferenceBody,
    ReferenceModel,
    Rows,
    matmul,
    matvec,
    rotation,
    transpose,
)


@dataclass(frozen=True)
class BodyInWorld:
    """A body in the world: axes, origin, and of its joint the axis, how fast the body turns about
    and slides along it at unit rate, and the coordinate."""

    axes: Rows
    origin: Vector
    z: Vector = ZERO_VECTOR
    turn: Scalar = ZERO
    slide: Scalar = ZERO
    coordinate: Scalar = ZERO

    @cached_property
    def screw(self) -> tuple[Vector, Vector]:
        """Angular velocity, and velocity of the particle that is at the root's origin, per unit
        rate of the body's own joint."""
        w, v = (Vector(*(multiple(k, e) for e in self.z)) for k in (self.turn, self.slide))
        return w, v - w.cross(self.origin)

    def twist(self, point: Vector) -> tuple[Vector, Vector]:
        """Angular velocity, and velocity at `point`, per unit rate of the body's own joint."""
        w, v = self.screw
        return w, v + w.cross(point)

    def power(self, force: Vector, moment: Vector) -> Scalar:
        """The power of a force and its moment about the root's origin at unit rate of the joint."""
        w, v = self.screw
        return w.dot(moment) + v.dot(force)

    def frame_in_world(self, frame: Frame) -> Frame:
        """A frame on the body, in the world."""
        return Frame(self.axes, self.origin).of(frame)


@dataclass(frozen=True)
class BodyMotion:
    """How a body moves: angular velocity, its rate, and the acceleration of the body's origin,
    which is at `origin`."""

    origin: Vector
    w: Vector = ZERO_VECTOR
    wd: Vector = ZERO_VECTOR
    a: Vector = ZERO_VECTOR

    def acceleration(self, point: Vector) -> Vector:
        """Acceleration of the body's particle at `point`."""
        if point is self.origin:
            return self.a
        r = point - self.origin
        return self.a + self.wd.cross(r) + self.w.cross(self.w.cross(r))


@dataclass(frozen=True)
class UnitMotion:
    """How a body moves at unit rate of its joint: it turns about the axis, slides along it.

    `balanced` tells that it has one inertial parameter: inertia about its axis, about all axes
    (`is_round`), or mass at its origin (`is_point`); with a joint of one coordinate its axes need
    not turn with it."""

    turn: Scalar = ZERO
    slide: Scalar = ZERO
    balanced: bool = False
    is_round: bool = False
    is_point: bool = False


@dataclass(frozen=True)
class ReferenceJoint:
    """A joint type: how each coordinate moves a body, from the constants of the file. If
    `translation_count` (0 or 3) is given, the axes are those of the moved body, and the positions
    are that many translations and a unit quaternion. Otherwise each axis moves with the body
    before."""

    kinds: Callable[[ReferenceBody], Sequence[UnitMotion]]
    translation_count: int | None = None


TURN, SLIDE = UnitMotion(turn=1), UnitMotion(slide=1)
SLIDES = [SLIDE, SLIDE, SLIDE]
ROUND = UnitMotion(turn=1, balanced=True, is_round=True)
POINT = UnitMotion(turn=1, balanced=True, is_point=True)
JOINTS: Final[dict[str, ReferenceJoint]] = {
    "revolute": ReferenceJoint(lambda part: [TURN]),
    "prismatic": ReferenceJoint(lambda part: [SLIDE]),
    "screw": ReferenceJoint(lambda part: [UnitMotion(turn=1, slide=part.constants[0])]),
    "cylindrical": ReferenceJoint(lambda part: [SLIDE, TURN]),
    "universal": ReferenceJoint(lambda part: [TURN, TURN]),
    "ball": ReferenceJoint(lambda part: [TURN] * 3, translation_count=0),
    "planar": ReferenceJoint(lambda part: [SLIDE, SLIDE, TURN]),
    "floating": ReferenceJoint(lambda part: [*SLIDES, TURN, TURN, TURN], translation_count=3),
    "rotor": ReferenceJoint(lambda part: [UnitMotion(turn=1, balanced=True)]),
    "armature": ReferenceJoint(lambda part: [UnitMotion(turn=1, balanced=True)]),
    "ball_armature": ReferenceJoint(lambda part: [TURN, TURN, ROUND], translation_count=0),
    "floating_armature": ReferenceJoint(lambda part: [*SLIDES, TURN, TURN, ROUND], 3),
    "floating_mass": ReferenceJoint(lambda part: [*SLIDES, TURN, TURN, POINT], 3),
}
"""How each joint type moves, by the name of the type."""
for _missing in sorted(JOINT_TYPES.keys() - JOINTS.keys()):
    raise ValueError(f"the reference model does not know the joint type '{_missing}'; add its row")


def unit_motion(part: ReferenceBody) -> UnitMotion:
    """How the coordinate of a body moves it."""
    return JOINTS[part.kind].kinds(part)[part.at]


def bodies_of_joint(robot: ReferenceModel, first: int) -> range:
    """The bodies of the joint whose first is this one."""
    return range(first, first + len(JOINTS[robot.part(first).kind].kinds(robot.part(first))))


def _unit_quaternion(quaternion: Sequence[Scalar]) -> Sequence[Scalar]:
    """A quaternion of doubles, made a unit one to all digits, so that its rotation does not stretch
    vectors: two steps of Newton's method for 1/√."""
    for _ in range(2):
        half = (3 - sum((x * x for x in quaternion), ZERO)) / 2
        quaternion = [x * half for x in quaternion]
    return quaternion


def orientation(quaternion: Sequence[Scalar]) -> Rows:
    """The rotation by a unit quaternion x, y, z, w: 1 + 2 w [v]x + 2 [v]x²."""
    *xyz, w = quaternion
    v, columns = Vector(*xyz), []
    for e in WORLD:  # a column for each unit vector
        once = v.cross(e)
        columns.append(e + (once.scaled(w) + v.cross(once)).scaled(2))
    return transpose((columns[0], columns[1], columns[2]))


@dataclass(frozen=True, eq=False)
class JointPositions:
    """The user's coordinates, numbers or arrays of one batch, with a cache of values that depend
    only on them."""

    q: Sequence[Scalar]
    cache: IdentityCache = field(default_factory=IdentityCache, repr=False)


@dataclass(frozen=True, eq=False)
class JointTrajectory:
    """Positions with their first and second rates, and free fall in root axes, with a cache of
    values that depend only on them."""

    positions: JointPositions
    qd: Sequence[Scalar]
    qdd: Sequence[Scalar]
    gravity: Vector
    cache: IdentityCache = field(default_factory=IdentityCache, repr=False)


@dataclass(frozen=True)
class LinkWrench:
    """An external wrench: force and moment about the origin of a link (6), in the axes of the link
    or the root."""

    link: str
    six: Sequence[Scalar]
    root_axes: bool


@dataclass(frozen=True)
class State:
    """The state that a textbook run reads. Numbers, or arrays of one batch.

    `link_parameters` replaces inertial parameters by link; `wrenches` are external ones; `passive`
    has the coefficients and shape parameters of friction and springs by body and name
    (`symgen.mechanics.joint_forces`)."""

    trajectory: JointTrajectory
    link_parameters: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    wrenches: Sequence[LinkWrench] = ()
    passive: Mapping[int, Mapping[str, Scalar]] = field(default_factory=dict)


def body_rates(robot: ReferenceModel, x: JointPositions, v: Sequence[Scalar]) -> list[Scalar]:
    """The rates of the bodies' joints at positions, from the user's."""
    rates = _linear_rates(robot, v)
    if not robot.loops:
        return rates
    return _with_followers(robot, with_loop_rates(robot.loops, body_poses(robot, x), rates))


def _linear_rates(robot: ReferenceModel, v: Sequence[Scalar]) -> list[Scalar]:
    return [
        sum((multiple(by, v[index]) for index, _, by in part.terms), ZERO) for part in robot.parts
    ]


def _with_followers(robot: ReferenceModel, rates: list[Scalar]) -> list[Scalar]:
    """The rates with those of rotors that follow joints that loops determine."""
    for i, terms in robot.followers:
        rates[i - 1] = sum((by * rates[leader - 1] for leader, by in terms), ZERO)
    return rates


def body_accelerations(robot: ReferenceModel, x: JointTrajectory) -> list[Scalar]:
    """The accelerations of the bodies' joints along a motion."""
    accelerations = _linear_rates(robot, x.qdd)
    if not robot.loops:
        return accelerations
    poses, rates = body_poses(robot, x.positions), body_rates(robot, x.positions, x.qd)
    motions = _motions_at(robot, x, rates, accelerations)
    motion = LoopMotion(poses, rates, accelerations, motions, robot.path)
    return _with_followers(robot, with_loop_accelerations(robot.loops, motion))


def velocity_matrix(robot: ReferenceModel, x: JointPositions) -> Sequence[Sequence[Scalar]] | None:
    """G at positions, a row for each body; None where it is constant."""
    if not robot.loops:
        return None
    n = robot.velocities
    units = ([1 if i == k else ZERO for i in range(n)] for k in range(n))
    g = x.cache.value("G", (robot.motion_key,), lambda: [body_rates(robot, x, e) for e in units])
    return [*zip(*g, strict=True)]


def body_coordinate(robot: ReferenceModel, i: int, x: JointPositions) -> Scalar:
    """The coordinate of a body whose joint has its positions one by one."""
    if robot.start is None:
        part = robot.part(i)
        return sum((multiple(by, x.q[place]) for _, place, by in part.terms), part.offset)
    return _loop_coordinates(robot, x)[i - 1]


def _loop_coordinates(robot: ReferenceModel, x: JointPositions) -> list[Scalar]:
    """The coordinates of all bodies of a robot with closed loops."""
    coordinates: list[Scalar] = x.cache.value(
        "coordinates", (robot.motion_key,), lambda: _solved_coordinates(robot, x)
    )
    return coordinates


def _solved_coordinates(robot: ReferenceModel, x: JointPositions) -> list[Scalar]:
    if robot.start is None:
        return []
    start = robot.start(x.q)
    for i, part in enumerate(robot.parts):
        if part.terms and JOINTS[part.kind].translation_count is None:
            linear = (multiple(by, x.q[place]) for _, place, by in part.terms)
            start[i] = sum(linear, part.offset)
    return with_loop_positions(robot.loops, start, lambda trial: poses_at(robot, x, trial))


def body_poses(robot: ReferenceModel, x: JointPositions) -> Mapping[int, BodyInWorld]:
    """The pose of every body in the world."""
    poses: Mapping[int, BodyInWorld] = x.cache.value(
        "poses",
        (robot.motion_key,),
        lambda: poses_at(robot, x, _loop_coordinates(robot, x) if robot.loops else None),
    )
    return poses


def poses_at(
    robot: ReferenceModel, x: JointPositions, coordinates: Sequence[Scalar] | None
) -> Mapping[int, BodyInWorld]:
    """The poses at positions, with the coordinates of bodies where they are known already."""
    bodies = {0: BodyInWorld(Frame().axes, ZERO_VECTOR)}
    for i in robot.outward:
        part = robot.part(i)
        q = None if coordinates is None else coordinates[i - 1]
        bodies[i] = _body_pose(robot, i, bodies[part.parent], x, q)
    return bodies


def _body_pose(
    robot: ReferenceModel, i: int, before: BodyInWorld, x: JointPositions, q: Scalar | None
) -> BodyInWorld:
    """A body, by the one that carries it: against it along and about an axis that stays on that
    one, or by a position with a quaternion, of which the joint's first body takes all."""
    part = robot.part(i)
    kind, places = unit_motion(part), JOINTS[part.kind].translation_count
    if places is None:
        frame = before.frame_in_world(part.frame)
        q = body_coordinate(robot, i, x) if q is None else q
        z = matvec(frame.axes, part.axis)
        fixed = kind.balanced or kind.turn is ZERO
        axes = frame.axes if fixed else matmul(frame.axes, rotation(part.axis, kind.turn * q))
        place = frame.origin + z.scaled(kind.slide * q)
        return BodyInWorld(axes, place, z, kind.turn, kind.slide, q)
    frame = Frame(before.axes, before.origin)
    if part.at == 0:
        four = x.q[part.position_index + places : part.position_index + places + 4]
        arm = (
            Vector(*x.q[part.position_index : part.position_index + places])
            if places
            else ZERO_VECTOR
        )
        frame = before.frame_in_world(part.frame).of(
            Frame(orientation(_unit_quaternion(four)), arm)
        )
    return BodyInWorld(
        frame.axes, frame.origin, matvec(frame.axes, part.axis), kind.turn, kind.slide
    )


def body_motions(robot: ReferenceModel, x: JointTrajectory) -> Mapping[int, BodyMotion]:
    """The motion of every body; the base accelerates against gravity."""

    def compute() -> Mapping[int, BodyMotion]:
        rates = body_rates(robot, x.positions, x.qd)
        return _motions_at(robot, x, rates, body_accelerations(robot, x))

    motions: Mapping[int, BodyMotion] = x.cache.value("motions", (robot.motion_key,), compute)
    return motions


def _motions_at(
    robot: ReferenceModel, x: JointTrajectory, speed: Sequence[Scalar], change: Sequence[Scalar]
) -> Mapping[int, BodyMotion]:
    """The motions at rates and accelerations of the bodies' joints."""
    bodies = {0: BodyMotion(ZERO_VECTOR, a=-x.gravity)}
    at = body_poses(robot, x.positions)
    for i in robot.outward:
        part, before = robot.part(i), bodies[robot.part(i).parent]
        if not part.parent and part.grounded:
            before = BodyMotion(ZERO_VECTOR)
        if JOINTS[part.kind].translation_count is None:
            bodies[i] = _by_one_coordinate(before, at[i], speed[i - 1], change[i - 1])
        elif part.at == 0:
            twists = (_twist(robot, i, run) for run in (speed, change))
            bodies[i] = _by_twist(before, at[i], *twists)
        else:
            bodies[i] = before
    return bodies


def _twist(robot: ReferenceModel, first: int, run: Sequence[Scalar]) -> tuple[Vector, Vector]:
    """Linear and angular velocity in the body's axes from the rates of a joint's bodies."""
    linear, angular = ZERO_VECTOR, ZERO_VECTOR
    for i in bodies_of_joint(robot, first):
        axis, kind = robot.part(i).axis.scaled(run[i - 1]), unit_motion(robot.part(i))
        linear, angular = (
            total + Vector(*(multiple(k, e) for e in axis))
            for total, k in ((linear, kind.slide), (angular, kind.turn))
        )
    return linear, angular


def _by_twist(
    parent: BodyMotion, at: BodyInWorld, rate: tuple[Vector, Vector], change: tuple[Vector, Vector]
) -> BodyMotion:
    """A body whose velocity is a twist relative to its parent, in its own axes, with the rates of
    the components of the twist: the axes turn with the body."""
    (v, spin), (vd, spind) = ([matvec(at.axes, x) for x in twist] for twist in (rate, change))
    w = parent.w + spin
    a = parent.acceleration(at.origin) + vd + w.cross(v) + parent.w.cross(v)
    return BodyMotion(at.origin, w, parent.wd + spind + w.cross(spin), a)


def _by_one_coordinate(parent: BodyMotion, at: BodyInWorld, qd: Scalar, qdd: Scalar) -> BodyMotion:
    """A body on a joint with one coordinate: relative motion along and about an axis that stays on
    the parent."""
    sweep = parent.w.cross(at.z)
    turning, sliding = multiple(at.turn, qd), multiple(at.slide, qd)
    by_joint = sweep.scaled(2 * sliding) + at.z.scaled(multiple(at.slide, qdd))
    return BodyMotion(
        at.origin,
        parent.w + at.z.scaled(turning),
        parent.wd + sweep.scaled(turning) + at.z.scaled(multiple(at.turn, qdd)),
        parent.acceleration(at.origin) + by_joint,
    )
