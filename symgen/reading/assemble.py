"""From a file to the `RigidBodyModel` that is compiled: a subtree is selected, joints are locked,
and every link is assigned to the body that it moves with. `symgen.mechanics.parameters` sums the
inertias of the links of a body."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from symgen.errors import Notice, OptionError, SourceLocation
from symgen.mechanics.model import RigidBodyModel
from symgen.options import Choices
from symgen.reading.actuators import drives_of, undriven
from symgen.reading.bodies_from_joints import joint_pose, model_of
from symgen.reading.closed_loop_joints import notices_on_loops
from symgen.reading.estimate_file import with_estimate
from symgen.reading.inertia_tensors import repair_inertias
from symgen.reading.joint_couplings import with_couplings
from symgen.reading.loop_options import check_independent, with_loop_options
from symgen.reading.motors import motors_of
from symgen.reading.options import GROUPS, RobotOptions, SourceOptions
from symgen.reading.plausibility import (
    check_armatures,
    check_joint_count,
    check_size,
    notices_on_selection,
    notices_on_values,
)
from symgen.reading.rerooting import check_rotors, path_to_root, rerooted
from symgen.reading.rotations import RightAngle, RightAngleSnapper
from symgen.reading.sources import RobotSource, describe, name_of
from symgen.reading.subtree import (
    RobotSubtree,
    extract_subtree,
    gravity_in_root,
    subtree_of,
    with_floating_base,
    with_kept_joints,
    with_turned_currents,
)

MAX_SNAP_TOLERANCE = 0.1
"""The largest tolerance of --snap-angles (rad); angles farther from a right angle are not meant to
be right angles."""


@dataclass(frozen=True, slots=True)
class LoadedRobot:
    """A model and its origin: the `file` as given, the SHA-256 of its bytes, and what the user
    should know.

    `right_angles` are the angles near a multiple of pi/2 that were made exact or could be.
    """

    model: RigidBodyModel
    notices: tuple[Notice, ...]
    sha256: str
    file: str
    right_angles: tuple[RightAngle, ...] = ()
    places: Mapping[str, SourceLocation] = field(default_factory=dict)
    """Where each link stands in the file."""
    actuators_sha256: str | None = None


def load(source: RobotSource, **options: Any) -> LoadedRobot:
    """Read a robot and return it as a model.

    Parameters
    ----------
    source
        The path of a URDF, xacro, MJCF, SDF or DH file, its content or an object (`RobotSource`).
    **options
        Options of `RobotOptions` and `SourceOptions`, such as `root` and `tip` (names of links:
        only the links between them are kept), `lock` (positions of joints in rad or m), `gravity`
        (acceleration in the axes of the root link, m/s²; that of the file by default), `base`
        ("fixed" or "floating"), `snap_angles` (rad) and `actuators` (a TOML file).

    Returns
    -------
    LoadedRobot
        The model, its bodies in the order of the coordinates, with notices and digests.

    Raises
    ------
    RobotError
        If the source is not a robot that can be compiled.
    OptionError
        If an option does not fit the robot.
    """
    return load_with(source, Choices.of(GROUPS, options))


def load_with(source: RobotSource, choices: Choices, every_motor: bool = False) -> LoadedRobot:
    """The robot of a file, as `load`, with options that are made already. With `every_motor` the
    motors of several joints are bodies even without inertia and friction, for identification."""
    wanted = choices[RobotOptions]
    if not 0 <= wanted.snap_angles <= MAX_SNAP_TOLERANCE:
        raise OptionError(
            f"--snap-angles {wanted.snap_angles:g}: give an angle from 0 to "
            f"{MAX_SNAP_TOLERANCE:g} rad"
        )
    rounder = RightAngleSnapper(wanted.snap_angles)
    robot = describe(source, choices[SourceOptions])
    check_joint_count(robot)
    robot = repair_inertias(robot, wanted.repair_inertia)
    robot = with_couplings(robot, wanted.couple)
    robot = with_loop_options(robot, wanted.loop, wanted.independent)
    root, turned = wanted.root, set[str]()
    if wanted.reroot is not None:
        robot, root = extract_subtree(robot, root, None), wanted.reroot
        turned = {joint.name for joint in path_to_root(robot, root)}
        robot = rerooted(robot, root)
    part = subtree_of(robot, root, wanted.tip, wanted.lock, wanted.joint_order)
    part = with_floating_base(part) if wanted.base == "floating" else part
    part = with_kept_joints(part, wanted.keep_fixed)
    _check_supported(part)
    pose_of = partial(joint_pose, part, rounder=rounder)
    gravity, fall = gravity_in_root(part, wanted.gravity, pose_of)
    part = with_turned_currents(part, pose_of)
    drives = drives_of(part.robot, wanted.drive_file, wanted.rotors)
    part, motors = motors_of(part, drives, wanted.coordinates, every_motor)
    model = model_of(part, gravity, rounder, drives, motors)
    changed: tuple[Notice, ...] = ()
    if wanted.estimate is not None and drives.root is not None:
        model, changed = with_estimate(model, drives.root, robot.sha256)
    check_independent(model, wanted.independent)
    check_size(part, model)
    check_armatures(part, model)
    check_rotors(model, turned)
    unused = drives.left_out(part.robot, [joint.name for joint in part.moving])
    notices = (
        *part.robot.notices,
        *fall,
        *unused,
        *notices_on_values(part, model),
        *notices_on_loops(part, model),
        *undriven(part.robot, part.moving),
        *drives.springs(part.robot, part.moving),
        *notices_on_selection(part, wanted.gravity is not None),
        *rounder.notices(),
        *changed,
    )
    ordered = tuple(sorted(notices, key=lambda notice: notice.place.line))
    places = {name: part.robot.place(link.line) for name, link in part.links.items()}
    right_angles = tuple(rounder.found)
    return LoadedRobot(
        model, ordered, part.robot.sha256, name_of(source), right_angles, places, drives.sha256
    )


def _check_supported(part: RobotSubtree) -> None:
    if not part.moving:
        reduced = part.locked or len(part.joints) < len(part.robot.joints)
        remaining = " left after --root, --tip and --lock" if reduced else ""
        message = (
            f"has no moving joint{remaining}; add a revolute, continuous or prismatic "
            "joint, or give --base floating"
        )
        raise part.robot.error(part.robot.line, part.robot.tag, message)
