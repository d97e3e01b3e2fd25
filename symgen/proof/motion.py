"""Forward kinematics of the textbook: how every body moves in the world, for any scalars and arrays
of them.

Velocities and accelerations by the rules for relative motion; link frames as the file has them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from symgen.mechanics.spatial import NULL, Vector
from symgen.numbers.operations import cos, sin
from symgen.numbers.scalar import ZERO, Scalar
from symgen.proof.mechanism import (
    WORLD,
    Frame,
    Mechanism,
    MechanismBody,
    Rows,
    product,
    times,
    transposed,
)


@dataclass(frozen=True)
class BodyInWorld:
    """A body in the world: axes, origin, the axis of its joint with how fast the body turns about
    it and slides along it at unit rate, and how it moves."""

    axes: Rows
    place: Vector
    z: Vector = NULL
    turn: Scalar = ZERO
    slide: Scalar = ZERO
    w: Vector = NULL
    wd: Vector = NULL
    a: Vector = NULL

    def acceleration(self, point: Vector) -> Vector:
        """Acceleration of the body's particle at `point`."""
        r = point - self.place
        return self.a + self.wd.cross(r) + self.w.cross(self.w.cross(r))

    def twist(self, point: Vector) -> tuple[Vector, Vector]:
        """Angular velocity, and velocity at `point`, per unit rate of the body's own joint."""
        w = self.z.scaled(self.turn)
        return w, self.z.scaled(self.slide) + w.cross(point - self.place)

    def carrying(self, frame: Frame) -> Frame:
        """A frame on the body, in the world."""
        return Frame(self.axes, self.place).of(frame)


@dataclass(frozen=True)
class UnitMotion:
    """How a body moves at unit rate of its joint: it turns about the axis, slides along it.

    `balanced` tells that it looks the same however far it has turned, so its axes need not,
    `grounded` that it stands for what its joint alone feels."""

    turn: Scalar = ZERO
    slide: Scalar = ZERO
    balanced: bool = False
    grounded: bool = False


@dataclass(frozen=True)
class JudgedJoint:
    """A joint type: how each of its coordinates moves a body, by the constants of the file.

    With a `place`, the number of coordinates of its position, the axes are those of the moved body
    and the positions go on with a unit quaternion; else every axis moves with the body before."""

    kinds: Callable[[MechanismBody], Sequence[UnitMotion]]
    place: int | None = None


TURN, SLIDE = UnitMotion(turn=1), UnitMotion(slide=1)
JOINTS: Final[dict[str, JudgedJoint]] = {
    "revolute": JudgedJoint(lambda part: [TURN]),
    "prismatic": JudgedJoint(lambda part: [SLIDE]),
    "screw": JudgedJoint(lambda part: [UnitMotion(turn=1, slide=part.constants[0])]),
    "cylindrical": JudgedJoint(lambda part: [SLIDE, TURN]),
    "universal": JudgedJoint(lambda part: [TURN, TURN]),
    "ball": JudgedJoint(lambda part: [TURN] * 3, place=0),
    "planar": JudgedJoint(lambda part: [SLIDE, SLIDE, TURN]),
    "floating": JudgedJoint(lambda part: [SLIDE] * 3 + [TURN] * 3, place=3),
    "rotor": JudgedJoint(lambda part: [UnitMotion(turn=1, balanced=True)]),
    "armature": JudgedJoint(lambda part: [UnitMotion(turn=1, balanced=True, grounded=True)]),
}
"""How each joint type moves, by the name of the type."""


def kind_of(part: MechanismBody) -> UnitMotion:
    """How the coordinate of a body moves it."""
    return JOINTS[part.kind].kinds(part)[part.at]


def run_of(robot: Mechanism, first: int) -> range:
    """The bodies of the joint whose first is this one."""
    return range(first, first + len(JOINTS[robot.part(first).kind].kinds(robot.part(first))))


def _rotation(axis: Vector, angle: Scalar) -> Rows:
    """Rodrigues' formula about a unit axis: c 1 + (1 - c) a aᵀ + s [a]x."""
    c, s = cos(angle), sin(angle)
    x, y, z = axis
    cross = ((ZERO, -z, y), (z, ZERO, -x), (-y, x, ZERO))
    first, second, third = (
        Vector(
            *(
                (c if i == j else ZERO) + (1 - c) * (axis[i] * axis[j]) + s * cross[i][j]
                for j in range(3)
            )
        )
        for i in range(3)
    )
    return first, second, third


def _unit(four: Sequence[Scalar]) -> Sequence[Scalar]:
    """A quaternion that is a unit one to a double's last digit, so to all digits: a rotation that
    is none would stretch what does not depend on it at all. Two steps of Newton's for 1/√."""
    for _ in range(2):
        half = (3 - sum((x * x for x in four), ZERO)) / 2
        four = [x * half for x in four]
    return four


def orientation(four: Sequence[Scalar]) -> Rows:
    """The rotation by a unit quaternion x, y, z, w: 1 + 2 w [v]x + 2 [v]x²."""
    *xyz, w = four
    v, columns = Vector(*xyz), []
    for e in WORLD:  # a column for each unit vector
        once = v.cross(e)
        columns.append(e + (once.scaled(w) + v.cross(once)).scaled(2))
    return transposed((columns[0], columns[1], columns[2]))


@dataclass(frozen=True)
class State:
    """What a textbook run reads, of the user's coordinates. Numbers, or arrays of one batch.

    `gravity` is free fall in root axes, `tens` replaces inertial parameters by link; `wrenches` are
    external ones by link, force and moment about the link's origin in its axes, or (`root_axes`) in
    the root's; `passive` has
    viscous, Coulomb, offset, stiffness and reference by body, and where `width` is not 0 the step
    of Coulomb friction is tanh(rate / width)."""

    q: Sequence[Scalar]
    qd: Sequence[Scalar]
    qdd: Sequence[Scalar]
    gravity: Vector
    tens: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    wrenches: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    passive: Mapping[int, Sequence[Scalar]] = field(default_factory=dict)
    width: Scalar = ZERO
    root_axes: bool = False


def rates(robot: Mechanism, v: Sequence[Scalar]) -> list[Scalar]:
    """The rates of the bodies' joints, from the user's."""
    return [sum((by * v[index] for index, _, by in part.terms), ZERO) for part in robot.parts]


def coordinate(part: MechanismBody, x: State) -> Scalar:
    """The coordinate of a body whose joint has its positions one by one."""
    return sum((by * x.q[place] for _, place, by in part.terms), part.offset)


def still(robot: Mechanism) -> list[Scalar]:
    """No rates."""
    return [ZERO] * robot.velocities


def motion(robot: Mechanism, x: State) -> dict[int, BodyInWorld]:
    """Every body in the world; the base accelerates against gravity."""
    bodies = {0: BodyInWorld(*_parts_of(Frame()), a=-x.gravity)}
    speed, change = rates(robot, x.qd), rates(robot, x.qdd)
    for i in robot.outward:
        part, before = robot.part(i), bodies[robot.part(i).parent]
        places = JOINTS[part.kind].place
        if places is not None and part.at == 0:
            positions = x.q[part.place : part.place + places + 4]
            twists = (_twist(robot, i, run) for run in (speed, change))
            before = _by_twist(before, part.frame, positions, *twists)
        if places is not None:
            kind, z = kind_of(part), times(before.axes, part.axis)
            bodies[i] = replace(before, z=z, turn=kind.turn, slide=kind.slide)
        else:
            bodies[i] = _by_one_coordinate(
                before, part, coordinate(part, x), speed[i - 1], change[i - 1]
            )
    return bodies


def _parts_of(frame: Frame) -> tuple[Rows, Vector]:
    return frame.axes, frame.place


def _twist(robot: Mechanism, first: int, run: Sequence[Scalar]) -> tuple[Vector, Vector]:
    """Linear and angular velocity in the body's axes from the rates of a joint's bodies."""
    linear, angular = NULL, NULL
    for i in run_of(robot, first):
        axis, kind = robot.part(i).axis.scaled(run[i - 1]), kind_of(robot.part(i))
        linear, angular = linear + axis.scaled(kind.slide), angular + axis.scaled(kind.turn)
    return linear, angular


def _by_twist(
    parent: BodyInWorld,
    frame: Frame,
    position: Sequence[Scalar],
    rate: tuple[Vector, Vector],
    change: tuple[Vector, Vector],
) -> BodyInWorld:
    """A body whose velocity is a twist relative to its parent, in its own axes, and how fast the
    numbers of that change; `position` is that, if it has one, and its quaternion.

    A vector of constant numbers in these axes turns with them.
    """
    place = Vector(*position[:-4]) if len(position) > 4 else NULL
    moved = parent.carrying(frame).of(Frame(orientation(_unit(position[-4:])), place))
    axes, place = moved.axes, moved.place
    (v, spin), (vd, spind) = ([times(axes, x) for x in twist] for twist in (rate, change))
    w = parent.w + spin
    a = parent.acceleration(place) + vd + w.cross(v) + parent.w.cross(v)
    return BodyInWorld(axes, place, w=w, wd=parent.wd + spind + w.cross(spin), a=a)


def _by_one_coordinate(
    parent: BodyInWorld, part: MechanismBody, q: Scalar, qd: Scalar, qdd: Scalar
) -> BodyInWorld:
    """A body on a joint with one coordinate: relative motion along and about an axis that stays on
    the parent."""
    kind, frame = kind_of(part), parent.carrying(part.frame)
    z = times(frame.axes, part.axis)
    place = frame.place + z.scaled(kind.slide * q)
    sweep = parent.w.cross(z)
    by_joint = sweep.scaled(2 * (kind.slide * qd)) + z.scaled(kind.slide * qdd)
    fixed = kind.balanced or kind.turn is ZERO
    return BodyInWorld(
        frame.axes if fixed else product(frame.axes, _rotation(part.axis, kind.turn * q)),
        place,
        z,
        kind.turn,
        kind.slide,
        parent.w + z.scaled(kind.turn * qd),
        parent.wd + sweep.scaled(kind.turn * qd) + z.scaled(kind.turn * qdd),
        parent.acceleration(place) + by_joint,
    )
