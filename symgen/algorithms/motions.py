"""Where bodies are, how they move and how high they are: twists, places and heights, from the base
outward.

A twist of a body has its angular velocity and the velocity of its origin, in the axes of the body's
frame. (Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 2 and 4.)"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgen.mechanics.flow import slide_axis, spin_axis
from symgen.mechanics.model import Pose
from symgen.mechanics.spatial import NULL, Shift, Step, Turn, Vector, along
from symgen.mechanics.system import System
from symgen.numbers.scalar import Scalar, structural

Coordinates = Sequence[Scalar]
Rows = tuple[Vector, Vector, Vector]


def rows_of(pose: Pose) -> Rows:
    """The rotation of a constant pose, its zeros structural."""
    a, b, c = (Vector(*(structural(x) for x in row)) for row in pose.rotation)
    return a, b, c


def columns_of(pose: Pose) -> Rows:
    """The transpose of the rotation of a constant pose: the axes of its frame."""
    a, b, c = (Vector(*(structural(x) for x in pose.column(k))) for k in range(3))
    return a, b, c


def place_of(pose: Pose) -> Vector:
    """The position of a constant pose, its zeros structural."""
    return Vector(*(structural(x) for x in pose.position))


def times(rows: Rows, v: Vector) -> Vector:
    """A 3x3 matrix by its rows times a vector."""
    return Vector(*(row.dot(v) for row in rows))


def product(a: Rows, b: Rows) -> Rows:
    """The product of two 3x3 matrices, each by its rows."""
    columns = transposed(b)
    x, y, z = (Vector(*(row.dot(c) for c in columns)) for row in a)
    return x, y, z


def transposed(a: Rows) -> Rows:
    """The columns of a 3x3 matrix given by its rows."""
    x, y, z = (Vector(*(row[k] for row in a)) for k in range(3))
    return x, y, z


@dataclass(frozen=True, slots=True)
class Twist:
    """A field of velocities of a rigid body: `angular` × r + `linear` at r."""

    angular: Vector = NULL
    linear: Vector = NULL

    def __add__(self, other: "Twist") -> "Twist":
        return Twist(self.angular + other.angular, self.linear + other.linear)

    def scaled(self, rate: Scalar) -> "Twist":
        return Twist(self.angular.scaled(rate), self.linear.scaled(rate))

    def at(self, r: Vector) -> Vector:
        """The velocity at `r`."""
        return self.linear + self.angular.cross(r)

    def moved_out(self, steps: Sequence[Step]) -> "Twist":
        """The same field about the frame to which `steps` lead from the present one."""
        w, v = self.angular, self.linear
        for step in steps:
            if isinstance(step, Shift):
                v = v + w.cross(along(step.axis, step.length))
            else:
                w, v = w.turned(step), v.turned(step)
        return Twist(w, v)

    def seen_in(self, pose: Pose) -> "Twist":
        """The same field about a frame of constant pose."""
        axes = columns_of(pose)
        return Twist(times(axes, self.angular), times(axes, self.at(place_of(pose))))

    def named(self, label: str) -> "Twist":
        self.angular.named(f"w{label}")
        self.linear.named(f"v{label}")
        return self


@dataclass(frozen=True, slots=True)
class Place:
    """Where a frame is in another (the root link's, mostly): its axes by rows (as a rotation
    matrix) and its origin."""

    rows: Rows
    origin: Vector

    def moved_out(self, steps: Sequence[Step]) -> "Place":
        """Where the frame is to which `steps` lead."""
        rows, origin = self.rows, self.origin
        for step in steps:
            if isinstance(step, Turn):
                rows = rows[0].turned(step), rows[1].turned(step), rows[2].turned(step)
            else:
                origin = origin + Vector(*(row[step.axis] for row in rows)).scaled(step.length)
        return Place(rows, origin)

    def moved_in(self, steps: Sequence[Step]) -> "Place":
        """Where the frame is from which `steps` lead here."""
        rows, origin = self.rows, self.origin
        for step in reversed(steps):
            if isinstance(step, Turn):
                rows = rows[0].turned(-step), rows[1].turned(-step), rows[2].turned(-step)
            else:
                origin = origin - Vector(*(row[step.axis] for row in rows)).scaled(step.length)
        return Place(rows, origin)

    def twist(self, unit: Twist) -> Twist:
        """A twist of this frame, about the outer frame."""
        w = times(self.rows, unit.angular)
        return Twist(w, times(self.rows, unit.linear) + self.origin.cross(w))

    def at(self, pose: Pose) -> "Place":
        """Where the frame of constant pose in this one is."""
        own = place_of(pose)
        return Place(product(self.rows, rows_of(pose)), self.origin + times(self.rows, own))

    def named(self, label: str) -> "Place":
        for row, axis in zip(self.rows, "xyz", strict=True):
            row.named(f"R{label}_{axis}")
        self.origin.named(f"p{label}")
        return self


def own_twist(system: System, i: int) -> Twist:
    """The twist of body `i` at unit rate of its own joint."""
    joint = system.body(i).joint
    return Twist(spin_axis(joint), slide_axis(joint))


def steps_to(system: System, i: int, q: Coordinates) -> tuple[Step, ...]:
    """From the parent of body `i` to it."""
    return system.body(i).placement.steps(q[i - 1])


def unit_twists(system: System, q: Coordinates) -> dict[int, dict[int, Twist]]:
    """For every body its twist at unit rate of each joint on its path, outermost joint first."""
    found: dict[int, dict[int, Twist]] = {0: {}}
    for i in system.outward:
        steps = steps_to(system, i, q)
        before = found[system.body(i).parent].items()
        with system.section(i, "unit twists"):
            carried = {j: twist.moved_out(steps).named(f"{i}_{j}") for j, twist in before}
        found[i] = {i: own_twist(system, i)} | carried
    return found


def twists(system: System, q: Coordinates, qd: Coordinates) -> dict[int, Twist]:
    """The twist of every body at the rates `qd`."""
    found = {0: Twist()}
    for i in system.outward:
        with system.section(i, "twist"):
            before = found[system.body(i).parent].moved_out(steps_to(system, i, q))
            found[i] = (before + own_twist(system, i).scaled(qd[i - 1])).named(f"{i}")
    return found


def places(system: System, q: Coordinates, wanted: Sequence[int]) -> dict[int, Place]:
    """Where the bodies `wanted` and those that carry them are."""
    needed = {j for i in wanted for j in (i, *system.ancestors(i))}
    found: dict[int, Place] = {}
    for i in (i for i in system.outward if i in needed):
        with system.section(i, "place"):
            before = found[parent] if (parent := system.body(i).parent) else place(system.roots[i])
            found[i] = before.moved_out(steps_to(system, i, q)).named(f"{i}")
    return found


def place(pose: Pose) -> Place:
    """A constant pose as a place."""
    return Place(rows_of(pose), place_of(pose))


@dataclass(frozen=True, slots=True)
class Height:
    """Potential energy of unit mass in a body's axes: `slope`·r + `level` at r (m²/s², free fall
    along -slope)."""

    slope: Vector
    level: Scalar

    def moved_out(self, steps: Sequence[Step]) -> "Height":
        """The same about the frame to which `steps` lead."""
        slope, level = self.slope, self.level
        for step in steps:
            if isinstance(step, Turn):
                slope = slope.turned(step)
            else:
                level = level + slope[step.axis] * step.length
        return Height(slope, level)

    def seen_in(self, pose: Pose) -> "Height":
        """The same about a frame of constant pose."""
        return Height(
            times(columns_of(pose), self.slope), self.level + self.slope.dot(place_of(pose))
        )


def heights(system: System, q: Coordinates) -> dict[int, Height]:
    """The potential of gravity at every body, zero at the root link's origin."""
    found: dict[int, Height] = {}
    for i in system.outward:
        with system.section(i, "height"):
            before = found[parent] if (parent := system.body(i).parent) else _ground(system, i)
            found[i] = before.moved_out(steps_to(system, i, q))
    return found


def _ground(system: System, i: int) -> Height:
    fall, pose = -system.gravity[i], system.roots[i]
    return Height(fall, times(columns_of(pose), place_of(pose)).dot(fall))


def six_rows(system: System, units: Mapping[int, Twist]) -> list[Scalar]:
    """The 6 x n matrix with the twist of each joint as its column, linear rows first; others are
    zero."""
    columns = [units.get(i, Twist()) for i in range(1, system.size + 1)]
    return [c.linear[k] for k in range(3) for c in columns] + [
        c.angular[k] for k in range(3) for c in columns
    ]
