"""The model of a robot: a tree of bodies, each moved by one coordinate of a joint, with the inertia
of every link.

Base is 0, bodies are numbered in the order of their joints: that of the file, where no joint is
before one that carries it, unless an option keeps the order of the file as it is. A joint with
several coordinates is a run of bodies without links but the last, a rotor one more body, and a
joint that mimics another a body that `follows`: how the bodies' coordinates come from those of the
user is the business of `symgen.mechanics.coupling`. A motor whose angle is a coordinate is a rotor
that does not follow, but is followed by the joints that it moves. All lengths in m, angles in rad,
masses in kg. Rotations are row-major 3x3 tuples."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from symgen.mechanics.fluid import LinkFluid
from symgen.mechanics.joint_type import Freedom, JointPart, JointType
from symgen.mechanics.spatial import IDENTITY, Matrix3, Pose, Triple
from symgen.mechanics.standard_joints import JOINT_TYPES

PARAMETER_NAMES = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


PerCoordinate = float | tuple[float, ...]
"""A constant of each velocity of a joint, in their order. A plain number holds for all of them."""


def constant_of_velocity(constant: PerCoordinate, k: int) -> float:
    """The number that a constant has for velocity `k` of its joint, from 0."""
    return constant[k] if isinstance(constant, tuple) else constant


def is_nonzero(constant: PerCoordinate) -> bool:
    """Whether a constant is not 0 for at least one velocity."""
    return any(constant) if isinstance(constant, tuple) else constant != 0


@dataclass(frozen=True, slots=True)
class Limits:
    """Range (rad or m), speed (rad/s or m/s) and effort (N m or N) of a joint; None where the file
    is silent."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True, slots=True)
class Rotor:
    """The balanced rotor of a geared drive, on the link that carries the joint: it turns `ratio`
    times the joint.

    `inertia` is that about its axis (kg m²); `mass` (kg) and `transverse` (inertia across the axis,
    kg m²) are what the carrying link's own parameters do not contain. `axis` (unit) and `position`
    (m) are in the frame of the link that carries the joint; None stands for the joint's own."""

    ratio: float
    inertia: float
    axis: Triple | None = None
    position: Triple | None = None
    mass: float = 0.0
    transverse: float = 0.0


@dataclass(frozen=True, slots=True)
class Joint:
    """One moving joint of a file, or a rotor: `kind` is the name of its type, `axis` a unit vector
    in the joint's frame, `constants` what else its type takes from the file, such as the pitch of a
    screw.

    `damping` (N m s/rad or N s/m), `friction` and `offset` (N m or N) are those of the file, used
    only where asked for; so are `stiffness` (N m/rad or N/m) and `reference` (rad or m), the
    coordinate at which its spring is relaxed. `armature` is the inertia of its rotor as the joint
    feels it, ratio² inertia (kg m² or kg), where that is all that is taken of it; then `rotor` is
    None. All six are `PerCoordinate`."""

    name: str
    kind: str
    axis: Triple = (1.0, 0.0, 0.0)
    limits: Limits = Limits()
    damping: PerCoordinate = 0.0
    friction: PerCoordinate = 0.0
    offset: PerCoordinate = 0.0
    rotor: Rotor | None = None
    armature: PerCoordinate = 0.0
    constants: tuple[float, ...] = ()
    stiffness: PerCoordinate = 0.0
    reference: PerCoordinate = 0.0
    laws: tuple[tuple[str, PerCoordinate], ...] = ()
    """Coefficients and shape parameters of the other laws of `symgen.mechanics.joint_forces`, by
    name."""

    @property
    def type(self) -> JointType:
        """The type: coordinates, motion and words of joints of this kind."""
        return JOINT_TYPES[self.kind]

    def coordinate(self, suffix: str) -> str:
        """The name of a position or velocity: its own where it has but one."""
        return f"{self.name}.{suffix}" if suffix else self.name


JOINT_FIELDS: Final = {
    "viscous": "damping",
    "coulomb": "friction",
    "offset": "offset",
    "stiffness": "stiffness",
    "reference": "reference",
    "armature": "armature",
}
"""The fields of `Joint` that hold coefficients of joint forces, by name of the coefficient."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link on the body that carries it.

    `pose` is the link frame in the body's frame (the frame of the body's first link, which is its
    joint frame); `parameters` are the ten of PARAMETER_NAMES about the link origin in link axes,
    None where the link has no inertia. A link held by a fixed joint keeps its name and pose here.
    """

    name: str
    pose: Pose = Pose()
    parameters: tuple[float, ...] | None = None
    fluids: tuple[LinkFluid, ...] = ()
    """The fluid around the link and its parts, empty if the files give none."""


@dataclass(frozen=True, slots=True)
class Follow:
    """A coordinate that is the sum of those of other bodies, each times a factor, plus `offset`:
    `terms` are their numbers and the factors. A coordinate that a closed loop determines has no
    terms."""

    terms: tuple[tuple[int, float], ...]
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Closure:
    """A cut joint, which closes a loop between two `bodies` (0: the base): it joins frames on them
    with the origins `points` (m) and the rotation matrices `rotations`. `joint` is the type of the
    cut joint, a key of `symgen.mechanics.kinematic_loop.CUT_JOINTS`; for ``distance``, `length` is
    the constant distance of the points (m); for ``polynomial`` the position of the first body's
    joint has these coefficients in that of the second's, the constant one first.

    The loop determines the coordinates of the bodies `dependent`, whose `follows` has no terms.
    `branch` (±1, of legs also ±2) is the assembly. With `newton` their positions are the user's."""

    name: str
    bodies: tuple[int, int]
    points: tuple[Triple, Triple]
    dependent: tuple[int, ...]
    branch: int = 1
    joint: str = "ball"
    rotations: tuple[Matrix3, Matrix3] = (IDENTITY, IDENTITY)
    length: float = 0.0
    newton: bool = False
    polynomial: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body: the links moved by one coordinate of a joint. `pose` is its frame in the parent
    body's at coordinate 0.

    `at` is the place of that coordinate among the joint's parts, from 0. `spin` is the inertia of a
    rotor about its axis (kg m²)."""

    joint: Joint
    parent: int
    pose: Pose
    links: tuple[Link, ...]
    follows: Follow | None = None
    at: int = 0
    spin: float = 0.0

    @property
    def part(self) -> JointPart:
        """The part of its joint that moves it."""
        return self.joint.type.parts(self.joint)[self.at]

    @property
    def freedom(self) -> Freedom:
        """How it moves, about and along its axis."""
        return self.part.freedom

    @property
    def axis(self) -> Triple:
        """The axis of its coordinate in its own frame (unit)."""
        return self.part.axis

    @property
    def same_joint_as_parent(self) -> bool:
        """Whether it stays with its parent, which moves by its coordinate too: one of the axes of a
        joint that go with the body."""
        return self.at > 0 and self.in_body_axes

    @property
    def in_body_axes(self) -> bool:
        """Whether its joint has all its axes in the body."""
        return self.joint.type.in_body_axes

    @property
    def velocity(self) -> str:
        """The name of the rate of its coordinate."""
        return self.joint.coordinate(self.joint.type.velocities[self.part.velocity].suffix)

    @property
    def name(self) -> str:
        """Name of the link that the joint moves; where it moves none, that of the coordinate."""
        return self.links[0].name if self.links else self.velocity

    @property
    def never_moves(self) -> bool:
        """Whether its coordinate is 0 times those of other bodies (``--keep-fixed``)."""
        terms = self.follows.terms if self.follows else ()
        return bool(terms) and not any(factor for _, factor in terms)

    @property
    def has_friction(self) -> bool:
        """Whether friction counts for its coordinate, so that it has coefficients as inputs and in
        regressors: always where its joint has one coordinate that can move; where that has several,
        and of a motor, if the file gives friction."""
        joint = self.joint
        constants = joint.damping, joint.friction, joint.offset, *(x for _, x in joint.laws)
        given = any(map(is_nonzero, constants))
        alone = joint.type.has_one_coordinate and not joint.type.is_rotor
        return (given or alone) and not self.never_moves

    @property
    def has_spring(self) -> bool:
        """Whether a spring counts for its coordinate, likewise. Where all axes of a joint move with
        the body no spring is linear in a coordinate, so there is none."""
        kind = self.joint.type
        if kind.is_rotor or kind.in_body_axes or self.never_moves:
            return False
        return kind.has_one_coordinate or is_nonzero(self.joint.stiffness)

    def constant(self, name: str) -> float:
        """The number that a `PerCoordinate` field of its joint has for its coordinate."""
        return constant_of_velocity(getattr(self.joint, name), self.part.velocity)

    def coefficient(self, name: str) -> float:
        """The coefficient of a law of `symgen.mechanics.joint_forces`, or a shape parameter, for
        its coordinate; 0 where no file gives it."""
        if name == "preload":
            return self.constant("stiffness") * self.constant("reference")
        if name in JOINT_FIELDS:
            return self.constant(JOINT_FIELDS[name])
        return constant_of_velocity(dict(self.joint.laws).get(name, 0.0), self.part.velocity)


@dataclass(frozen=True, slots=True)
class RigidBodyModel:
    """A robot: `bodies[i - 1]` is body i; `base` are the links that do not move, the first of them
    the root.

    `gravity` is the acceleration of free fall in the root link's frame (m/s²); without a root link
    (floating base) that of the world. Velocities, torques and every joint-wise array follow
    `joint_names`."""

    name: str
    bodies: tuple[Body, ...]
    base: tuple[Link, ...]
    gravity: Triple = (0.0, 0.0, -9.81)
    file_order: tuple[str, ...] = field(default=(), compare=False)
    """The joints with coordinates of their own in the order of the robot's file, if the coordinates
    have another order; empty otherwise, and for models from a manifest."""
    closures: tuple[Closure, ...] = ()
    """The cut joints of closed loops; each comes after those whose dependent joints it has in its
    own chains."""
    joint_names: tuple[str, ...] = field(init=False)
    _children: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)
    """Kept, because what is remembered by model is asked for once a body."""

    def __post_init__(self) -> None:
        leading = (joint for _, joint in self.leading)
        names = (j.coordinate(row.suffix) for j in leading for row in j.type.velocities)
        object.__setattr__(self, "joint_names", tuple(names))
        children: list[list[int]] = [[] for _ in range(self.size + 1)]
        for i, body in enumerate(self.bodies, 1):
            children[body.parent].append(i)
        object.__setattr__(self, "_children", tuple(map(tuple, children)))
        object.__setattr__(
            self,
            "_hash",
            hash((self.name, self.bodies, self.base, self.gravity, self.closures)),
        )

    def __hash__(self) -> int:
        return self._hash

    @property
    def joints(self) -> Iterator[tuple[int, Joint]]:
        """Every joint with the number of its first body; the others follow on."""
        return ((i, body.joint) for i, body in enumerate(self.bodies, 1) if body.at == 0)

    @property
    def leading(self) -> list[tuple[int, Joint]]:
        """The joints with coordinates of their own, in the order of these: a motor where the first
        of the joints that it moves is."""
        first: dict[int, int] = {}
        for i, body in enumerate(self.bodies, 1):
            follows = None if body.joint.type.is_rotor else body.follows
            for leader, _ in follows.terms if follows else ():
                first.setdefault(leader, i)
        leaders = [(i, joint) for i, joint in self.joints if self.body(i).follows is None]
        return sorted(leaders, key=lambda x: first[x[0]] if x[1].type.is_rotor else x[0])

    @property
    def found_by_newton(self) -> frozenset[int]:
        """The bodies whose coordinates loops determine and whose positions are the user's."""
        return frozenset(i for c in self.closures if c.newton for i in c.dependent)

    @property
    def positioned(self) -> list[tuple[int, Joint]]:
        """The leading joints and those of `found_by_newton`, in order of the user's positions."""
        joints = [*self.leading, *((i, self.body(i).joint) for i in self.found_by_newton)]
        return sorted(joints, key=lambda pair: pair[0]) if self.found_by_newton else self.leading

    @property
    def limits(self) -> dict[str, Limits]:
        """The limits of each coordinate by the name of its rate; a joint with several has none."""
        bodies = (body for body in self.bodies if not body.joint.type.is_rotor)
        by_name = {
            b.velocity: b.joint.limits if b.joint.type.has_one_coordinate else Limits()
            for b in bodies
        }
        motors = [i for i, joint in self.leading if joint.type.is_rotor]
        return by_name | {self.body(i).velocity: self._of_motor(i) for i in motors}

    def _of_motor(self, i: int) -> Limits:
        """The limits of a motor that moves one joint alone; of others there are none."""
        moved = [
            (body.joint.limits, *body.follows.terms[0], body.follows.offset)
            for body in self.bodies
            if body.follows and not body.joint.type.is_rotor and i in dict(body.follows.terms)
            if len(body.follows.terms) == 1
        ]
        if len(moved) != 1:
            return Limits()
        ((limits, _, by, offset),) = moved
        ends = (limits.lower, limits.upper) if by > 0 else (limits.upper, limits.lower)
        lower, upper = (None if end is None else (end - offset) / by for end in ends)
        speed = None if limits.velocity is None else limits.velocity / abs(by)
        effort = None if limits.effort is None else limits.effort * abs(by)
        return Limits(lower, upper, speed, effort)

    @property
    def dof(self) -> int:
        """The number of independent velocities."""
        return len(self.joint_names)

    @property
    def size(self) -> int:
        """The number of bodies."""
        return len(self.bodies)

    @property
    def root(self) -> str:
        """The name of the frame that does not move."""
        return self.base[0].name if self.base else "world"

    @property
    def moving(self) -> tuple[Body, ...]:
        """The bodies that consist of links."""
        return tuple(body for body in self.bodies if body.links)

    def body(self, i: int) -> Body:
        """Body number `i`, from 1."""
        return self.bodies[i - 1]

    @property
    def outward(self) -> Iterator[int]:
        """Body numbers, every parent before its children."""
        order = [0]
        for i in order:
            order += self.children(i)
        return iter(order[1:])

    def children(self, i: int) -> tuple[int, ...]:
        """The numbers of the bodies whose parent is body `i`, 0 for the base."""
        return self._children[i]


def paths_of(model: RigidBodyModel, bodies: tuple[int, int]) -> tuple[list[int], list[int]]:
    """The bodies from the carrier of a loop, which is left out, to each of its two ends."""
    paths = []
    for i in bodies:
        path = [i]
        while path[-1]:
            path.append(model.body(path[-1]).parent)
        paths.append(path[::-1])
    shared = [a == b for a, b in zip(*paths, strict=False)].count(True)
    return paths[0][shared:], paths[1][shared:]
