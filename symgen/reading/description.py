"""The description of a robot: the content of its file, validated, before any choice is made.

Readers of all formats give a `RobotDescription`."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from symgen.errors import Notice, RobotError, SourceLocation
from symgen.mechanics.fluid import LinkFluid
from symgen.mechanics.model import Limits, PerCoordinate
from symgen.mechanics.spatial import IDENTITY, Matrix3, Pose, Triple
from symgen.numbers.scalar import sum_in_order
from symgen.text import quoted, shown


@dataclass(frozen=True, slots=True)
class LoopElement:
    """A joint that closes a loop: it joins a frame on each of two `links`. The origins of the
    frames are `points` (m) and their rotation matrices `rotations`, in link axes. `joint` is the
    type of the joint, a key of `symgen.mechanics.kinematic_loop.CUT_JOINTS`; for ``distance``,
    `length` is the constant distance of the two points (m).

    `dependent` names the joints that the loop determines, `branch` (1 or -1) the assembly; empty
    and 0 leave the choice to `symgen.reading.closed_loop_joints`. A loop that is `optional` is left
    open with a warning where it is not supported. Of the joints that are not `independent`, as many
    as possible are determined. With `newton` their positions are the user's, found by Newton's
    method, and need no closed form. The `line` of a loop of an option is 0; the `file` is empty
    for a loop of the robot's file.

    Of the type ``polynomial``, `links` are two joints instead: the position of the first one is a
    `polynomial` of that of the second, the constant coefficient first."""

    name: str
    line: int
    links: tuple[str, str]
    points: tuple[Triple, Triple]
    dependent: tuple[str, ...] = ()
    branch: int = 0
    optional: bool = False
    joint: str = "ball"
    rotations: tuple[Matrix3, Matrix3] = (IDENTITY, IDENTITY)
    length: float = 0.0
    independent: tuple[str, ...] = ()
    newton: bool = False
    polynomial: tuple[float, ...] = ()
    file: str = ""

    @classmethod
    def between(
        cls, name: str, line: int, links: Sequence[str], frames: Iterable[Pose], **more: Any
    ) -> "LoopElement":
        """The loop of a joint between a frame on each of two links; `more` are other fields."""
        (one, two), (first, second) = links, frames
        points, rotations = (
            (first.position, second.position),
            (first.rotation, second.rotation),
        )
        return cls(name, line, (one, two), points, rotations=rotations, **more)

    @property
    def frames(self) -> tuple[Pose, Pose]:
        """The two frames, each on its link."""
        (a, b), (p, q) = self.rotations, self.points
        return Pose(a, p), Pose(b, q)

    @property
    def label(self) -> str:
        """How messages call the loop."""
        return f"{'loop' if self.line else '--loop'} '{shown(self.name)}'"


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
    fluids: tuple[LinkFluid, ...] = ()
    """The fluid around the link and its parts, empty if the file gives none."""

    @property
    def label(self) -> str:
        """How messages call the link."""
        return f"link '{shown(self.name)}'"


MIN_RELATIVE_PIVOT: Final = 1e-9
"""A pivot below this part of its equation's largest factor counts as 0 in Gaussian elimination."""


@dataclass(frozen=True, slots=True)
class LinearFunction:
    """A linear function of coordinates: the sum of factors times coordinates of joints or motors,
    which `terms` has by name, plus `offset` (rad or m)."""

    terms: tuple[tuple[str, float], ...]
    offset: float = 0.0

    @classmethod
    def identity(cls, name: str) -> "LinearFunction":
        """The coordinate called `name` itself."""
        return cls(((name, 1.0),))

    def compose(self, inner: Mapping[str, "LinearFunction"]) -> "LinearFunction":
        """The function with each coordinate that `inner` has replaced by its own function."""
        total = {name: factor for name, factor in self.terms if name not in inner}
        offset = 0.0
        for name, factor in ((name, factor) for name, factor in self.terms if name in inner):
            offset += factor * inner[name].offset
            for far, by in inner[name].terms:
                total[far] = total.get(far, 0.0) + factor * by
        terms = tuple((name, by) for name, by in total.items() if by)
        return LinearFunction(terms, offset + self.offset)

    def reduce(self, laws: Mapping[str, "LinearFunction"]) -> "LinearFunction":
        """The function without the coordinates of `laws`, which are replaced one after another: a
        step of Gaussian elimination if each law is a solved equation (`solve_for`)."""
        function = self
        for name, law in laws.items():
            function = function.compose({name: law})
        return function

    def value(self, coordinates: Mapping[str, float]) -> float:
        """The value at some coordinates. Those with the factor 0 may be missing."""
        terms = (by * coordinates[name] for name, by in self.terms if by)
        return float(sum_in_order(terms, 0.0) + self.offset)

    def pivot(
        self, laws: Mapping[str, "LinearFunction"], allowed: Collection[str] | None = None
    ) -> tuple["LinearFunction", str]:
        """The function without the coordinates of `laws`, and the coordinate with the largest
        factor, of those `allowed`, for which it is solved in Gaussian elimination; an empty name if
        the factor is rounding next to the largest one of the function itself."""
        largest, rest = max((abs(x) for _, x in self.terms), default=0.0), self.reduce(laws)
        sizes = {name: abs(x) for name, x in rest.terms if allowed is None or name in allowed}
        name = max(sizes, key=lambda name: sizes[name], default="")
        return rest, name if name and sizes[name] > MIN_RELATIVE_PIVOT * largest else ""

    def solve_for(self, name: str) -> "LinearFunction":
        """The coordinate `name`, whose factor is not 0, where the function is 0."""
        pivot = dict(self.terms)[name]
        others = tuple((other, -by / pivot + 0.0) for other, by in self.terms if other != name)
        return LinearFunction(others, -self.offset / pivot + 0.0)


@dataclass(frozen=True, slots=True)
class Mimic:
    """The law by which a joint follows another: its coordinate is `multiplier` times that of
    `joint`, plus `offset` (rad or m), plus those of the joints in `also` times their factors.

    `law` is the same as a linear function. The fields are part of digests of robots."""

    line: int
    joint: str
    multiplier: float = 1.0
    offset: float = 0.0
    also: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(cls, line: int, law: LinearFunction) -> "Mimic":
        """The mimic of a law with at least one term."""
        (joint, multiplier), *also = law.terms
        return cls(line, joint, multiplier, law.offset, tuple(also))

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """All joints that it follows, each with its factor."""
        return ((self.joint, self.multiplier), *self.also)

    @property
    def law(self) -> LinearFunction:
        """The coordinate as a function of those of other joints."""
        return LinearFunction(self.terms, self.offset)


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

    @property
    def label(self) -> str:
        """How messages call the joint."""
        return f"joint '{shown(self.name)}'"


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
    """A motor of a transmission: its `angle` (rad) as a function of coordinates of joints;
    `inertia` is that of its rotor about its axis (kg m²), `friction` has the coefficients and shape
    parameters of its friction, by name."""

    name: str
    angle: LinearFunction
    inertia: float = 0.0
    friction: tuple[tuple[str, float], ...] = ()


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
    loops: tuple[LoopElement, ...] = ()
    """The joints that close loops."""

    def place(self, line: int) -> SourceLocation:
        """The place of a line in the robot's file."""
        return SourceLocation(self.file, line)

    def notice(
        self, level: str, message: str, line: int | None = None, element: str = "", **more: Any
    ) -> Notice:
        """A note or warning about this file, or about an `element` of it; `more` are fields of
        Notice by name."""
        place = self.place(self.line if line is None else line)
        return Notice(place, level, element or self.tag, message, **more)

    def error(self, line: int, element: str, message: str) -> RobotError:
        """An error in this file, to be raised by the caller."""
        return RobotError(self.place(line), element, message)

    def error_at(self, element: LinkElement | JointElement, message: str) -> RobotError:
        """An error at an element of this file, to be raised by the caller."""
        return RobotError(self.place(element.line), element.label, message)

    def error_of_joint(self, name: str, message: str) -> RobotError:
        """An error at a joint, or at the robot if the file has no such joint."""
        line = next((joint.line for joint in self.joints if joint.name == name), self.line)
        return self.error(line, f"joint '{shown(name)}'", message)

    def tilt(self, root: str) -> Matrix3:
        """The rotation of a root in the world."""
        return dict(self.tilts).get(root, IDENTITY)

    @property
    def roots(self) -> tuple[str, ...]:
        """Links that are no joint's child."""
        children = {joint.child for joint in self.joints}
        return tuple(link.name for link in self.links if link.name not in children)


def with_mimics(
    joints: Iterable[JointElement], mimics: Mapping[str, Mimic]
) -> tuple[JointElement, ...]:
    """The joints, those in `mimics` with these laws."""
    return tuple(replace(joint, mimics=mimics.get(joint.name, joint.mimics)) for joint in joints)


def joint_above(joints: Iterable[JointElement]) -> dict[str, JointElement]:
    """The joint that carries each link, by link name; the root has none."""
    return {joint.child: joint for joint in joints}


def outward(robot: RobotDescription, root: str) -> Iterator[JointElement]:
    """The joints below link `root`, every parent's before its children's, file order among
    siblings."""
    below: dict[str, list[JointElement]] = {}
    for joint in robot.joints:
        below.setdefault(joint.parent, []).append(joint)
    links = [root]
    for link in links:
        for joint in below.get(link, ()):
            links.append(joint.child)
            yield joint


def check_one_root(robot: RobotDescription) -> None:
    """Raises RobotError for a robot with several roots, where none of them was chosen."""
    roots = robot.roots
    if len(roots) > 1:
        raise robot.error(
            robot.line,
            robot.tag,
            f"has {len(roots)} root links, {quoted(roots)}; connect them with joints, or "
            "choose one with --root LINK, which keeps only the links that it carries",
        )
