"""The description of a robot: what its file says, validated, before any choice is made."""

from dataclasses import dataclass, field
from typing import Final

from symgen.errors import Notice, RobotError, SourceLocation
from symgen.mechanics.model import Limits, PerCoordinate
from symgen.mechanics.pose import IDENTITY, Matrix3, Triple

EARTH: Final = (0.0, 0.0, -9.81)
"""Free fall where a file says nothing of it (m/s²)."""
TENSOR: Final = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
"""The entries of an inertia in a file, in the order of `Inertial.tensor`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a frame is: position (m) and fixed-axis roll, pitch, yaw (rad), and the line that says
    so."""

    line: int
    xyz: Triple = (0.0, 0.0, 0.0)
    rpy: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Inertial:
    """Mass (kg) and inertia (kg m²; ixx ixy ixz iyy iyz izz) about the centre of mass, in
    `origin`'s axes.

    `line` is that of the tensor; `trouble` says why no body has this inertia and the way out; else
    empty."""

    line: int
    origin: Origin
    mass: float
    tensor: tuple[float, ...]
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class LinkElement:
    """A link; `inertial` is None where the file gives it no inertia."""

    name: str
    line: int
    inertial: Inertial | None = None


@dataclass(frozen=True, slots=True)
class Mimic:
    """The law by which a joint follows another: its coordinate is `multiplier` times that of
    `joint`, plus `offset` (rad or m), and of others times factors that are in `also`."""

    line: int
    joint: str
    multiplier: float = 1.0
    offset: float = 0.0
    also: tuple[tuple[str, float], ...] = ()

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """All joints that it follows, each with its factor."""
        return ((self.joint, self.multiplier), *self.also)


@dataclass(frozen=True, slots=True)
class JointElement:
    """A joint of any known type with a unit axis."""

    name: str
    line: int
    kind: str
    parent: str
    child: str
    origin: Origin
    axis: Triple = (1.0, 0.0, 0.0)
    limits: Limits = field(default_factory=Limits)
    damping: PerCoordinate = 0.0
    friction: PerCoordinate = 0.0
    mimics: Mimic | None = None
    constants: tuple[float, ...] = ()
    """What else its type takes from the file."""
    stiffness: PerCoordinate = 0.0
    """The stiffness of its spring (N m/rad or N/m), which is relaxed at coordinate `reference` (rad
    or m)."""
    reference: PerCoordinate = 0.0


@dataclass(frozen=True, slots=True)
class DriveElement:
    """The drive of a joint as a file has it: gear ratio and inertia of the rotor (kg m²), None if
    silent."""

    joint: str
    line: int
    ratio: float | None = None
    inertia: float | None = None
    armature: PerCoordinate | None = None
    """Inertia as the joint feels it (kg m² or kg)."""


@dataclass(frozen=True, slots=True)
class Motor:
    """A motor of a transmission: its angle (rad) is the sum of coordinates of joints times
    factors, plus `offset`; `inertia` is that of its rotor about its axis (kg m²)."""

    name: str
    terms: tuple[tuple[str, float], ...]
    offset: float = 0.0
    inertia: float = 0.0


@dataclass(frozen=True, slots=True)
class Transmission:
    """Joints that as many motors move together."""

    line: int
    joints: tuple[str, ...]
    motors: tuple[Motor, ...]


@dataclass(frozen=True, slots=True)
class RobotDescription:
    """A robot's file: one tree of links and joints in file order, and what was noticed in it."""

    name: str
    file: str
    sha256: str
    line: int
    links: tuple[LinkElement, ...]
    joints: tuple[JointElement, ...]
    notices: tuple[Notice, ...] = field(default=(), compare=False)
    drives: tuple[DriveElement, ...] = ()
    """At most one a joint."""
    gravity: Triple = EARTH
    """Free fall in the axes of the world (m/s²)."""
    tilts: tuple[tuple[str, Matrix3], ...] = ()
    """The rotation in the world of roots that do not float; the identity of roots not named."""
    tag: str = "<robot>"
    """How messages call the whole file."""
    transmissions: tuple[Transmission, ...] = ()
    """What ties motors to joints, no joint in two of them."""

    def place(self, line: int) -> SourceLocation:
        """The place of a line in the robot's file."""
        return SourceLocation(self.file, line)

    def error(self, line: int, element: str, message: str) -> RobotError:
        """An error in this file, to be raised by the caller."""
        return RobotError(self.place(line), element, message)

    def tilt(self, root: str) -> Matrix3:
        """The rotation of a root in the world."""
        return dict(self.tilts).get(root, IDENTITY)

    @property
    def roots(self) -> tuple[str, ...]:
        """Links that are no joint's child."""
        children = {joint.child for joint in self.joints}
        return tuple(link.name for link in self.links if link.name not in children)
