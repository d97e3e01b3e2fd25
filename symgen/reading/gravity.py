"""Which way things fall: free fall in the axes of the link that is compiled as the root.

A URDF's gravity points along -z of its own root, other formats state theirs. Another root (--root)
may be turned against that one, and what it carries still hangs the way it does in the whole
robot."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

from symgen.errors import Notice, OptionError
from symgen.mechanics.pose import IDENTITY, Matrix3, Pose, Triple
from symgen.reading.description import JointElement, RobotDescription
from symgen.reading.joint_kinds import JOINTS
from symgen.reading.subtree import WORLD, RobotSubtree, above_root
from symgen.text import shown

Gravity = Sequence[float] | Literal["runtime"] | None
"""Free fall in the axes of the link compiled as the root (m/s²), ``runtime`` where it is an input
in these axes, None for that of the file."""


MAX_GRAVITY: Final = 1e9
"""The largest component (m/s^2). Where axes are rotated, a component below 1e-13 of the largest one
counts as a rounding error and becomes 0 (`symgen.mechanics.canonical_frames.tidy`). At 1e16 m/s^2
that would remove a component of 2 m/s^2, which the check of the bias finds."""

TOO_LARGE: Final = (
    f"m/s^2 is too large; the limit is {MAX_GRAVITY:g} m/s^2, because components below 1e-13 of "
    "the largest one are treated as rounding errors"
)


def gravity_in_root(
    part: RobotSubtree, gravity: Gravity, pose_of: Callable[[JointElement], Pose]
) -> tuple[Triple, tuple[Notice, ...]]:
    """The acceleration of free fall in the axes of the part's root (m/s²), and what to say of it.

    `pose_of` gives the pose of a joint's child link in its parent link: joints that --root leaves
    out are at 0, or where --lock holds them. Raises OptionError for what is no acceleration, and
    RobotError for one of the file that is too large."""
    fixed = None if gravity is None or gravity == "runtime" else _checked(gravity)
    strongest = max(map(abs, part.robot.gravity))
    if gravity is None and strongest > MAX_GRAVITY:
        robot = part.robot
        raise robot.error(robot.line, robot.tag, f"gravity of {strongest:g} {TOO_LARGE}")
    above = above_root(part)
    turned = IDENTITY
    for joint in above:
        turned = (Pose(turned) @ Pose(pose_of(joint).rotation)).rotation
    fall = _inside(turned, _of_root(part)) if fixed is None else fixed
    if turned == IDENTITY:
        return fall, ()
    text = " ".join(_words(part, above, gravity, fall))
    return fall, (Notice(part.robot.place(part.robot.line), "note", part.robot.tag, text),)


def _of_root(part: RobotSubtree) -> Triple:
    """Free fall in the axes of the file's root, or of the world where that floats."""
    robot, above = part.robot, above_root(part)
    if part.root == WORLD:
        return robot.gravity
    return gravity_of_file(robot, above[0].parent if above else part.root)


def gravity_of_file(robot: RobotDescription, root: str) -> Triple:
    """Free fall (m/s²) that a file states, in the axes of one of its roots."""
    return _inside(robot.tilt(root), robot.gravity)


def _checked(gravity: Sequence[float]) -> Triple:
    if len(gravity) != 3 or not all(map(math.isfinite, gravity)):
        raise OptionError("gravity needs three finite numbers (m/s^2), such as 0 0 -9.81")
    if max(map(abs, gravity)) > MAX_GRAVITY:
        raise OptionError(f"--gravity: {max(map(abs, gravity)):g} {TOO_LARGE}")
    x, y, z = (float(g) for g in gravity)
    return x, y, z


def _inside(turned: Matrix3, fall: Triple) -> Triple:
    """A vector of the file's root in the axes of a link that is turned so against it."""
    x, y, z = Pose(turned).inverse.turn(fall)
    return x + 0.0, y + 0.0, z + 0.0


def _words(
    part: RobotSubtree, above: Sequence[JointElement], gravity: Gravity, fall: Triple
) -> Iterator[str]:
    root, first = shown(part.root), shown(above[0].parent)
    names = {True: "--gravity", gravity == "runtime": "the input g", gravity is None: "gravity"}
    yield f"{names[True]} is"
    if gravity is None:
        yield f"({', '.join(f'{x:.6g}' for x in fall)}) m/s^2"
    yield (
        f"in the axes of link '{root}', whose orientation --root changed relative to link '{first}'"
    )
    if gravity is None:
        moving = [joint for joint in above if joint.kind in JOINTS]
        at = [f"'{shown(joint.name)}' at {part.locked.get(joint.name, 0.0):g}" for joint in moving]
        positions = f" with joint {', '.join(at)}" if at else ""
        yield f"of the file; its direction in the world is that of the file{positions};"
        yield "use --gravity X,Y,Z to set it in these axes"
