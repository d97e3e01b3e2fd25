"""The type of a joint: the coordinates that people give, and the one-coordinate parts that
algorithms have."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symgen.mechanics.angle import Angle
from symgen.mechanics.joints.freedom import Freedom
from symgen.mechanics.placement import Placement, ToAxis
from symgen.mechanics.pose import Triple
from symgen.numbers.scalar import Scalar

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A position or velocity of a joint: the end of its name (``wx`` of ``base.wx``, nothing where
    the joint has one coordinate) and its unit."""

    suffix: str
    unit: str


@dataclass(frozen=True, slots=True)
class JointPart:
    """One coordinate of a joint, which in the recursions is a body of its own: its freedom, whose z
    axis is `axis` in the joint's frame (unit), and which of the joint's velocities is its rate."""

    freedom: Freedom
    axis: Triple
    velocity: int = 0


class JointType(ABC):
    """A type of joint. Where not told otherwise, its parts follow one another as joints with one
    coordinate each do, every axis moves with the part before, and its positions are the parts'
    coordinates."""

    name: str = ""
    """Its key in JOINT_TYPES, and the word for it in tables; none of what is only a base."""
    velocities: tuple[Coordinate, ...]
    words: tuple[str, ...] = ()
    """What people have to know of its coordinates, a sentence each."""
    in_body_axes: bool = False
    """Whether all its axes move with the body; else each moves with the part before it."""
    quaternion: slice | None = None
    """Where among its positions a unit quaternion x, y, z, w is."""
    on_robot: bool = True
    """False where its body stands for what only one joint feels, which is no momentum of the
    robot's."""
    spins: bool = False
    """Whether its body is a rotor, with inertia about the axis alone."""
    constants: tuple[str, ...] = ()
    """The names of what else it takes from the file."""
    endless: bool = False
    """Whether it may turn on and on, so that it needs no limits."""

    @property
    def positions(self) -> tuple[Coordinate, ...]:
        """The coordinates of its configuration; their rates are the velocities, unless it has a
        quaternion."""
        return self.velocities

    @property
    def single(self) -> bool:
        """Whether it has one coordinate, which can be held, be driven, mimic and be mimicked."""
        return len(self.velocities) == 1

    @property
    def unit(self) -> str:
        """Unit of the coordinate, units of several."""
        return ", ".join(dict.fromkeys(row.unit for row in self.positions))

    @abstractmethod
    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        """The one-coordinate parts of a joint, innermost first."""

    def fault(self, joint: "Joint") -> str | None:
        """A sentence on wrong constants of a joint of this type, None where they are right."""
        right = len(joint.constants) == len(self.constants)
        return None if right else f"has {len(joint.constants)} constants of its joint's type"

    def placed(
        self, joint: "Joint", part: int, to_axis: ToAxis, theta0: Angle, r: Scalar
    ) -> Placement:
        """How to reach the body of a part from its parent, with the constants of its canonical
        frame."""
        return Placement(to_axis, theta0, r, self.parts(joint)[part].freedom)

    def integrated(self, q: Sequence[float], v: Sequence[float]) -> list[float]:
        """The positions after moving at constant velocities `v` for one unit of time."""
        return [x + rate for x, rate in zip(q, v, strict=True)]
