"""What a robot is: a tree of bodies joined by one-coordinate joints, with the inertia of every
link.

Base is 0, bodies are numbered in the order of their joints in the file. A joint with several
coordinates is a run of bodies without links but the last, a rotor one more body, and a joint that
mimics another a body that `follows`: how the bodies' coordinates come from those of the user is the
business of `symgen.mechanics.coupling`. All lengths in m, angles in rad, masses in kg. Rotations
are row-major 3x3 tuples."""

from collections.abc import Iterator
from dataclasses import dataclass, field

Triple = tuple[float, float, float]
Matrix3 = tuple[Triple, Triple, Triple]

IDENTITY: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
PARAMETER_NAMES = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


@dataclass(frozen=True, slots=True)
class Pose:
    """Where a frame is in another: `rotation` maps its coordinates to the other's, `position` is
    its origin."""

    rotation: Matrix3 = IDENTITY
    position: Triple = (0.0, 0.0, 0.0)

    def turn(self, v: Triple) -> Triple:
        """The free vector `v` in the other frame's axes."""
        r = self.rotation
        a, b, c = (r[i][0] * v[0] + r[i][1] * v[1] + r[i][2] * v[2] for i in range(3))
        return a, b, c

    def move(self, v: Triple) -> Triple:
        """The point `v` in the other frame's coordinates."""
        t, p = self.turn(v), self.position
        return t[0] + p[0], t[1] + p[1], t[2] + p[2]

    def __matmul__(self, other: "Pose") -> "Pose":
        a, b, c = (self.turn(other.column(i)) for i in range(3))
        return Pose(
            ((a[0], b[0], c[0]), (a[1], b[1], c[1]), (a[2], b[2], c[2])), self.move(other.position)
        )

    def column(self, i: int) -> Triple:
        """Axis `i` of the frame in the other's axes."""
        return self.rotation[0][i], self.rotation[1][i], self.rotation[2][i]

    @property
    def inverse(self) -> "Pose":
        r = Pose((self.column(0), self.column(1), self.column(2)))
        p = r.turn(self.position)
        return Pose(r.rotation, (-p[0], -p[1], -p[2]))


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
    """One moving joint: `kind` is a key of `symgen.mechanics.joints.JOINT_TYPES`, `axis` a unit
    vector.

    `damping` (N m s/rad or N s/m), `friction` and `offset` (N m or N) are those of the file, used
    only where asked for. `armature` is the inertia of its rotor as the joint feels it, ratio²
    inertia (kg m² or kg), where that is all that is taken of it; then `rotor` is None."""

    name: str
    kind: str
    axis: Triple = (1.0, 0.0, 0.0)
    limits: Limits = Limits()
    damping: float = 0.0
    friction: float = 0.0
    offset: float = 0.0
    rotor: Rotor | None = None
    armature: float = 0.0


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


@dataclass(frozen=True, slots=True)
class Follow:
    """A coordinate that is `factor` times that of body `leader`, plus `offset`."""

    leader: int
    factor: float
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body: the links moved by one joint. `pose` is its frame in the parent body's at
    coordinate 0.

    `free` is the place (1 to 6) in the run of a floating joint, whose rates are a twist in the axes
    of its last body (see `symgen.mechanics.afloat`); `planar` tells that the body belongs to a
    planar joint. `spin` is the inertia of a rotor about its axis (kg m²)."""

    joint: Joint
    parent: int
    pose: Pose
    links: tuple[Link, ...]
    follows: Follow | None = None
    free: int = 0
    planar: bool = False
    spin: float = 0.0

    @property
    def name(self) -> str:
        """Name of the link that the joint moves; where it moves none, that of the joint."""
        return self.links[0].name if self.links else self.joint.name

    @property
    def kind(self) -> str:
        """The type of the joint that it belongs to, which may consist of several bodies."""
        return "floating" if self.free else "planar" if self.planar else self.joint.kind

    @property
    def rubs(self) -> bool:
        """Whether friction of its joint is described by one viscous and one Coulomb coefficient."""
        return not (self.free or self.planar or self.spin)


@dataclass(frozen=True, slots=True)
class Model:
    """A robot: `bodies[i - 1]` is body i; `base` are the links that do not move, the first of them
    the root.

    `gravity` is the acceleration of free fall in the root link's frame (m/s²); without a root link
    (floating base) that of the world. Velocities, torques and every joint-wise array follow
    `joint_names`."""

    name: str
    bodies: tuple[Body, ...]
    base: tuple[Link, ...]
    gravity: Triple = (0.0, 0.0, -9.81)
    joint_names: tuple[str, ...] = field(init=False)
    _children: tuple[tuple[int, ...], ...] = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)
    """Kept, because what is remembered by model is asked for once a body."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "joint_names", tuple(self._names()))
        children: list[list[int]] = [[] for _ in range(self.size + 1)]
        for i, body in enumerate(self.bodies, 1):
            children[body.parent].append(i)
        object.__setattr__(self, "_children", tuple(map(tuple, children)))
        object.__setattr__(self, "_hash", hash((self.name, self.bodies, self.base, self.gravity)))

    def __hash__(self) -> int:
        return self._hash

    def _names(self) -> list[str]:
        names: list[str] = []
        for body in (body for body in self.bodies if body.follows is None):
            names.append(body.joint.name)
            if body.free == 6:  # from the order of the run to vx, vy, vz, wx, wy, wz
                names[-6:] = sorted(names[-6:])
        return names

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
        return self.bodies[i - 1]

    @property
    def outward(self) -> Iterator[int]:
        """Body numbers, every parent before its children."""
        order = [0]
        for i in order:
            order += self.children(i)
        return iter(order[1:])

    def children(self, i: int) -> tuple[int, ...]:
        return self._children[i]
