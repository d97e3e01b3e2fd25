"""How bodies move and where they are: the passes outward from the base, which all algorithms read.

Symbols (Featherstone 2008, F08): w angular velocity, v velocity of a frame's origin, wd the rate of
w, a acceleration of the origin less gravity, all in the frame's own axes. Every joint is asked for
its steps and for the twist of its body against the parent (`CanonicalModel.relative_twist`),
nothing else. What a single body's motion is and how it is carried from frame to frame is in
`symgen.mechanics.rigid_motion`.

Poses of bodies are those in the root frame (F08, ch. 2 and 4). External wrenches that are given in
root axes are rotated into the axes of their links here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from symgen.algorithms.requirements import requirement
from symgen.mechanics.canonical_model import CanonicalModel, cached_by_positions
from symgen.mechanics.rigid_motion import (
    Motion,
    Rows,
    matmul,
    matvec,
    position_of,
    rotation_columns,
    rotation_rows,
)
from symgen.mechanics.spatial import ZERO_TWIST, Pose, Step, Turn, Twist, Vector
from symgen.numbers.scalar import Coordinates, Scalar, dot

# -- velocities ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Velocity:
    """The twists of a body, of its joint frame, and of what carries its joint, each in that
    frame's axes: `carrier` is the parent's motion seen at the joint frame, `joint` that of the
    joint frame, which is one or the other's; `relative` is body against carrier at the joint frame.
    """

    body: Twist = ZERO_TWIST
    joint: Twist = ZERO_TWIST
    carrier: Twist = ZERO_TWIST
    relative: Twist = ZERO_TWIST

    def scaled(self, k: Scalar) -> "Velocity":
        """This motion `k` times as fast."""
        body, joint, carrier = (x.scaled(k) for x in (self.body, self.joint, self.carrier))
        return Velocity(body, joint, carrier, self.relative.scaled(k))


def velocities(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> dict[int, Velocity]:
    """The velocity of every body at the rates `qd`; 0 is the base, at rest."""
    moving = {0: Velocity()}
    for i in system.outward:
        parent, place = moving[system.body(i).parent], system.body(i).placement
        with system.section(i, "velocity"):
            approach, relative = place.to_joint_frame(q[i - 1]), system.relative_twist(i, qd)
            at_joint = parent.body.to_child(approach)
            body = (at_joint.to_child(place.to_body(q[i - 1])) + relative).named(f"{i}")
            carrier = at_joint
            if system.same_joint_as_parent(i):
                carrier, relative = (
                    x.to_child(approach) for x in (parent.carrier, parent.relative)
                )
            joint = place.select_by_axes(parent=carrier, body=body)
            moving[i] = Velocity(body, joint, carrier, relative)
    return moving


def twists(system: CanonicalModel, q: Coordinates, qd: Coordinates) -> dict[int, Twist]:
    """The twist of every body at the rates `qd`."""
    return {i: x.body for i, x in velocities(system, q, qd).items()}


@cached_by_positions
def unit_twists(system: CanonicalModel, q: Coordinates) -> dict[int, dict[int, Twist]]:
    """For every body its twist at unit rate of each joint on its path, outermost joint first.

    They start as floats, since kept exact the constants that gather on a path become long decimals,
    of which fewer are equal."""
    return _twists_on_path(system, q, lambda i: system.body(i).S.scaled(1.0), "unit twists")


def unit_twist_rates(
    system: CanonicalModel, q: Coordinates, moving: Mapping[int, Twist]
) -> dict[int, dict[int, Twist]]:
    """For every body the rates at which the unit twists of the joints on its path change in space
    where bodies move at the twists `moving`, outermost joint first: that of joint j, fixed to body
    j, is v_j × S_j."""
    return _twists_on_path(
        system, q, lambda i: moving[i].cross(system.body(i).S), "rates of unit twists", "d"
    )


def _twists_on_path(
    system: CanonicalModel,
    q: Coordinates,
    of_joint: Callable[[int], Twist],
    step: str,
    letter: str = "",
) -> dict[int, dict[int, Twist]]:
    """For every body a twist of each joint on its path as seen from it, outermost joint first: that
    `of_joint`, in the body that it moves, carried outward."""
    twists_seen: dict[int, dict[int, Twist]] = {0: {}}
    for i in system.outward:
        steps = system.steps(i, q)
        with system.section(i, step):
            before = twists_seen[system.body(i).parent].items()
            carried = {j: x.to_child(steps).named(f"{letter}{i}_{j}") for j, x in before}
            twists_seen[i] = {i: of_joint(i)} | carried
    return twists_seen


# -- accelerations ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JointMotion:
    """The motion of a body, and of a frame fixed to what carries its joint (the parent, or that of
    the first of the bodies that stay together), which at this moment is its joint frame."""

    body: Motion = Motion()
    carrier: Motion = Motion()


def motions(
    system: CanonicalModel,
    q: Coordinates,
    qd: Coordinates,
    qdd: Coordinates,
    qd_r: Coordinates | None = None,
) -> dict[int, Motion]:
    """The motion of every body; with reference velocities `qd_r`, `qdd` are their rates."""
    moving = {0: Motion()}
    for i in system.outward:
        with system.section(i, "motion"):
            parent = moving[system.body(i).parent]
            moving[i] = next_motion(system, i, parent, (q, qd, qdd), qd_r)
    return moving


def next_motion(
    system: CanonicalModel,
    i: int,
    parent: Motion,
    state: Sequence[Coordinates],
    qd_r: Coordinates | None = None,
) -> Motion:
    """The motion of body `i` from that of its parent, at (q, q̇, q̈)."""
    (q, qd, qdd), constant_frame_pose = state, system.body(i).placement
    at = initial_motion(system, i, parent).fixed_to(
        constant_frame_pose.to_body_axes(q[i - 1]), f"o{i}"
    )
    return _moving(system, i, at, q, qd, qdd, qd_r)


def joint_motions(
    system: CanonicalModel, q: Coordinates, qd: Coordinates, qdd: Coordinates
) -> dict[int, JointMotion]:
    """The motion of every body and of what carries its joint; bodies are computed by way of their
    joint frames."""
    joints: dict[int, JointMotion] = {}
    bodies = {0: Motion()}
    for i in system.outward:
        with system.section(i, "motion"):
            constant_frame_pose = system.body(i).placement
            start = initial_motion(system, i, bodies[system.body(i).parent])
            at = replace(start.fixed_to(constant_frame_pose.transforms(q[i - 1])), label=f"j{i}")
            turned = at.turned(at.a, constant_frame_pose.turns(q[i - 1]))
            bodies[i] = _moving(system, i, turned, q, qd, qdd, None)
            if system.same_joint_as_parent(i):
                first = joints[system.body(i).parent].carrier
                at = first.fixed_to(constant_frame_pose.transforms(q[i - 1]))
            joints[i] = JointMotion(bodies[i], at)
    return joints


def initial_motion(system: CanonicalModel, i: int, parent: Motion) -> Motion:
    """The motion that body `i` starts from: its parent's; that of the base is free fall turned
    round."""
    return parent if system.body(i).parent else Motion(a=-system.gravity[i])


def _moving(
    system: CanonicalModel,
    i: int,
    at: Motion,
    q: Coordinates,
    qd: Coordinates,
    qdd: Coordinates,
    qd_r: Coordinates | None,
) -> Motion:
    """The motion of body `i`, whose frame but for a shift along its axis would move like `at` if
    its joint stood still."""
    rate, change = system.relative_twist(i, qd), system.relative_twist(i, qdd)
    reference = rate if qd_r is None else system.relative_twist(i, qd_r)
    shift = system.body(i).placement.shift(q[i - 1])
    return at.moving(rate, reference, change, shift, f"{i}").named(f"{i}")


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
                x, y, z = (row.expressed_after(step) for row in rows)
                rows = x, y, z
            else:
                origin = origin + Vector(*(row[step.axis] for row in rows)).scaled(step.length)
        return FramePose(rows, origin)

    def to_parent(self, steps: Sequence[Step]) -> "FramePose":
        """Where the frame is from which `steps` lead here."""
        rows, origin = self.rows, self.origin
        for step in reversed(steps):
            if isinstance(step, Turn):
                x, y, z = (row.expressed_after(-step) for row in rows)
                rows = x, y, z
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
    system: CanonicalModel, q: Coordinates, bodies: Sequence[int]
) -> dict[int, FramePose]:
    """Where the bodies `bodies` and those that carry them are."""
    needed = {j for i in bodies for j in (i, *system.ancestors(i))}
    poses: dict[int, FramePose] = {}
    for i in (i for i in system.outward if i in needed):
        with system.section(i, "place"):
            before = (
                poses[parent]
                if (parent := system.body(i).parent)
                else constant_frame_pose(system.roots[i])
            )
            poses[i] = before.to_child(system.steps(i, q)).named(f"{i}")
    return poses


def constant_frame_pose(pose: Pose) -> FramePose:
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


def twist_matrix(system: CanonicalModel, units: Mapping[int, Twist]) -> list[Scalar]:
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
