"""Poses of bodies in the root frame and their potential per unit of mass, from the base outward.
(Featherstone, Rigid Body Dynamics Algorithms, 2008, ch. 2 and 4.)

External wrenches that are given in root axes are rotated into the axes of their links here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgen.algorithms.requirements import requirement
from symgen.mechanics.canonical_model import CanonicalModel
from symgen.mechanics.pose import Pose
from symgen.mechanics.rigid_motion import (
    Rows,
    matmul,
    matvec,
    position_of,
    rotation_columns,
    rotation_rows,
)
from symgen.mechanics.spatial import Step, Turn, Twist, Vector
from symgen.numbers.scalar import Coordinates, Scalar, dot


@dataclass(frozen=True, slots=True)
class FramePose:
    """Where a frame is in another (the root link's, mostly): its axes by rows (as a rotation
    matrix) and its origin."""

    rows: Rows
    origin: Vector

    def to_child(self, steps: Sequence[Step]) -> "FramePose":
        """Where the frame is to which `steps` lead."""
        rows, origin = self.rows, self.origin
        for step in steps:
            if isinstance(step, Turn):
                rows = (
                    rows[0].expressed_after(step),
                    rows[1].expressed_after(step),
                    rows[2].expressed_after(step),
                )
            else:
                origin = origin + Vector(*(row[step.axis] for row in rows)).scaled(step.length)
        return FramePose(rows, origin)

    def to_parent(self, steps: Sequence[Step]) -> "FramePose":
        """Where the frame is from which `steps` lead here."""
        rows, origin = self.rows, self.origin
        for step in reversed(steps):
            if isinstance(step, Turn):
                rows = (
                    rows[0].expressed_after(-step),
                    rows[1].expressed_after(-step),
                    rows[2].expressed_after(-step),
                )
            else:
                origin = origin - Vector(*(row[step.axis] for row in rows)).scaled(step.length)
        return FramePose(rows, origin)

    def twist(self, unit: Twist) -> Twist:
        """A twist of this frame, about the outer frame."""
        w = matvec(self.rows, unit.w)
        return Twist(w, matvec(self.rows, unit.v) + self.origin.cross(w))

    def at(self, pose: Pose) -> "FramePose":
        """Where the frame of constant pose in this one is."""
        origin = position_of(pose)
        return FramePose(
            matmul(self.rows, rotation_rows(pose)), self.origin + matvec(self.rows, origin)
        )

    def named(self, label: str) -> "FramePose":
        """This pose, its rows and origin named for generated code."""
        for row, axis in zip(self.rows, "xyz", strict=True):
            row.named(f"R{label}_{axis}")
        self.origin.named(f"p{label}")
        return self


def forward_kinematics(
    system: CanonicalModel, q: Coordinates, wanted: Sequence[int]
) -> dict[int, FramePose]:
    """Where the bodies `wanted` and those that carry them are."""
    needed = {j for i in wanted for j in (i, *system.ancestors(i))}
    where: dict[int, FramePose] = {}
    for i in (i for i in system.outward if i in needed):
        with system.section(i, "place"):
            before = where[parent] if (parent := system.body(i).parent) else place(system.roots[i])
            where[i] = before.to_child(system.steps(i, q)).named(f"{i}")
    return where


def place(pose: Pose) -> FramePose:
    """A constant pose as a place."""
    return FramePose(rotation_rows(pose), position_of(pose))


@dataclass(frozen=True, slots=True)
class PotentialPerMass:
    """Potential energy of unit mass in a body's axes: `slope`·r + `level` at r (m²/s², free fall
    along -slope)."""

    slope: Vector
    level: Scalar

    def to_child(self, steps: Sequence[Step]) -> "PotentialPerMass":
        """The height about the frame to which `steps` lead."""
        slope, level = self.slope, self.level
        for step in steps:
            if isinstance(step, Turn):
                slope = slope.expressed_after(step)
            else:
                level = level + slope[step.axis] * step.length
        return PotentialPerMass(slope, level)

    def seen_in(self, pose: Pose) -> "PotentialPerMass":
        """The height about a frame of constant pose."""
        return PotentialPerMass(
            matvec(rotation_columns(pose), self.slope),
            self.level + self.slope.dot(position_of(pose)),
        )


def potential_per_mass(system: CanonicalModel, q: Coordinates) -> dict[int, PotentialPerMass]:
    """The potential of gravity at every body, zero at the root link's origin."""
    levels: dict[int, PotentialPerMass] = {}
    for i in system.outward:
        with system.section(i, "height"):
            before = levels[parent] if (parent := system.body(i).parent) else _ground(system, i)
            levels[i] = before.to_child(system.steps(i, q))
    return levels


def _ground(system: CanonicalModel, i: int) -> PotentialPerMass:
    fall, pose = -system.gravity[i], system.roots[i]
    return PotentialPerMass(fall, matvec(rotation_columns(pose), position_of(pose)).dot(fall))


def six_rows(system: CanonicalModel, units: Mapping[int, Twist]) -> list[Scalar]:
    """The 6 x n matrix with the twist of each joint as its column, linear rows first; others are
    zero."""
    columns = [units.get(i, Twist()) for i in range(1, system.size + 1)]
    return [c.v[k] for k in range(3) for c in columns] + [c.w[k] for k in range(3) for c in columns]


@requirement("only robots whose external wrenches are in the axes of their links")
def wrenches_in_link_axes(system: CanonicalModel) -> bool:
    """Whether no external wrench is given in root axes."""
    return not system.wrenches_in_root_axes


def rotate_wrenches(system: CanonicalModel, q: Coordinates) -> CanonicalModel:
    """The system under its wrenches in root axes, which turn against the links: in link axes where
    the bodies' coordinates are `q`. Where there are none, the same. The links must be moving
    ones."""
    if not system.root_wrenches:
        return system
    links: list[str] = []
    in_link_axes: list[Scalar] = []
    for link, six in system.root_wrenches:
        frame = system.link_frame(link)
        rows = forward_kinematics(system, q, [frame.body])[frame.body].at(frame.pose).rows
        links.append(link)
        in_link_axes += _in_columns(rows, six[:3]) + _in_columns(rows, six[3:])
    return system.with_external_wrench(links, in_link_axes)


def _in_columns(rows: Rows, v: Sequence[Scalar]) -> list[Scalar]:
    """A vector in root axes, in the axes of the columns."""
    return [dot(column, v) for column in zip(*rows, strict=True)]
