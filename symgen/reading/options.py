"""The options that select and modify the robot that is read from a file."""

import os
from pathlib import Path
from typing import Any, ClassVar, Final

from symgen.errors import OptionError
from symgen.options import group, option
from symgen.options.kinds import (
    FLAG,
    NAMES,
    NUMBER,
    NUMBER_PAIRS,
    PAIRS,
    TABLES,
    TEXTS,
    choice,
    vector_or,
)
from symgen.reading.description_changes import NEAREST
from symgen.reading.rotations import DEFAULT_SNAP_TOLERANCE
from symgen.reading.subtree import BASE_TO_TIP, FILE_ORDER, Gravity

ROTORS: Final = ("exact", "reflected", "none")


def links(robot: Any, start: str) -> list[str]:
    """The links of a file, to be completed."""
    return [link.name for link in robot.links] if robot else []


def moving_joints(robot: Any, start: str) -> list[str]:
    """The joints of a file that move, to be completed."""
    return [joint.name for joint in robot.joints if joint.kind != "fixed"] if robot else []


def fixed_joints(robot: Any, start: str) -> list[str]:
    """The fixed joints of a file, to be completed."""
    return [joint.name for joint in robot.joints if joint.kind == "fixed"] if robot else []


def joint_values(robot: Any, start: str) -> list[str]:
    """The robot's joints that move, each with what a value follows."""
    return [f"{name}=" for name in moving_joints(robot, "")] if not start else []


def _leaders(robot: Any, start: str) -> list[str]:
    """A joint; after it those that it may follow, until a factor is to be given."""
    if not start:
        return joint_values(robot, start)
    return [] if start.endswith(":") else [f"{name}:" for name in moving_joints(robot, start)]


@group
class SourceOptions:
    """The options of a robot file: how xacro expands it, and which of its models is read."""

    SECTION: ClassVar[str] = "Robot"

    xacro_args: tuple[tuple[str, str], ...] = option(
        "--xacro-arg",
        "NAME=VALUE",
        "Set an argument of the xacro file.",
        PAIRS,
        default=(),
        give="give NAME=VALUE, as in hand=true",
    )
    package_paths: tuple[str, ...] = option(
        "--package-path",
        "DIR",
        "Search this folder and its subfolders for the packages of $(find PACKAGE) and package:// "
        "first. The folders around the file, ROS_PACKAGE_PATH and AMENT_PREFIX_PATH are searched "
        "after it.",
        TEXTS.with_example('["DIR"]'),
        default=(),
        path=True,
        local=True,
    )
    model: str | None = option(
        "--model",
        "NAME",
        "Read this model of an SDF file whose world has several. Default: the only one that is not "
        "static.",
        rare=True,
        default=None,
    )


NO_SOURCE_OPTIONS: Final = SourceOptions()


@group
class RobotOptions:
    """The options that select a part of the robot's file and modify the model."""

    SECTION: ClassVar[str] = "Robot"

    root: str | None = option(
        "--root",
        "LINK",
        "Use this link as the base. Only the links that it carries are kept.",
        default=None,
        names=links,
    )
    reroot: str | None = option(
        "--reroot",
        "LINK",
        "Use this link as the base and keep all links: the joints between it and the root are "
        "reversed, and coordinates keep their signs. With --root, links that --root removes are "
        "removed first. Use it for a stance foot or a robot that is held at its hand.",
        default=None,
        names=links,
    )
    tip: str | None = option(
        "--tip",
        "LINK",
        "Use this link as the tip. Only the links between the base and the tip are kept.",
        default=None,
        names=links,
    )
    lock: tuple[tuple[str, float], ...] = option(
        "--lock",
        "JOINT=VALUE",
        "Lock a joint at a position (rad or m).",
        NUMBER_PAIRS.with_example("{ JOINT = 0.0 }"),
        default=(),
        give="give JOINT=VALUE (rad or m), as in finger_joint1=0.02",
        names=joint_values,
        separators="=",
    )
    keep_fixed: tuple[str, ...] = option(
        "--keep-fixed",
        "JOINT",
        "Keep this fixed joint as a joint of the model that does not move, so that "
        "joint_wrench:JOINT is what it transmits, such as the flange of a force-torque sensor.",
        TEXTS.with_example('["JOINT"]'),
        default=(),
        names=fixed_joints,
        rare=True,
    )
    gravity: Gravity = option(
        "--gravity",
        "X,Y,Z|runtime",
        "Gravitational acceleration (m/s^2) in the axes of the root link, or of the world if the "
        "base floats. runtime makes it an input of the functions.",
        vector_or("runtime"),
        default=None,
        shown_default="0,0,-9.81 in the axes of the root link of the file",
        give="give three numbers X,Y,Z (m/s^2) or runtime",
        names=("runtime",),
    )
    snap_angles: float = option(
        "--snap-angles",
        "TOL",
        "Round roll, pitch and yaw angles to a multiple of pi/2 if they differ from it by at most "
        "TOL (rad). 0 disables rounding.",
        NUMBER,
        rare=True,
        default=DEFAULT_SNAP_TOLERANCE,
    )
    actuators: str | None = option(
        "--actuators",
        "FILE.toml",
        "Read rotors, friction and springs of the joints from this file (see symgen docs formats). "
        "They override those of the robot's file.",
        path=True,
        default=None,
    )
    estimate: str | None = option(
        "--estimate",
        "FILE.toml|DIR",
        "Use the base parameters and the laws of joint forces of this model file, or of the folder "
        "that symgen identify -o wrote, instead of the inertia and the drives of the robot's file.",
        path=True,
        default=None,
    )
    base: str = option(
        "--base",
        "KIND",
        "fixed or floating. With floating, the root link moves freely: q contains its position and "
        "unit quaternion, and the first six velocities are its twist in its own axes.",
        choice("fixed", "floating"),
        default="fixed",
    )
    couple: tuple[tuple[str, str], ...] = option(
        "--couple",
        "JOINT=TERMS",
        "Make a joint follow other joints linearly. TERMS is a list LEADER:FACTOR,... and may end "
        "with an offset (rad or m).",
        PAIRS.with_example('{ JOINT = "LEADER:1,LEADER:-1,0.0" }'),
        default=(),
        give="give JOINT=LEADER:FACTOR[,LEADER:FACTOR...][,OFFSET]",
        names=_leaders,
        separators="=:,",
    )
    loop: tuple[str, ...] = option(
        "--loop",
        "TABLE",
        "Close a loop: a point of each of two links stays together. TABLE has the keys name, first "
        "and second (links), at_first and at_second (the points in link axes, m), dependent and "
        "branch. A loop of the file with the same name is replaced.",
        TABLES.with_example(
            '[{ name = "pin", first = "LINK", second = "LINK", at_first = [0.1, 0, 0] }]'
        ),
        default=(),
        give='give entries of TOML, as in name="pin", first="rod", second="rocker", '
        "at_first=[0.1, 0, 0]",
    )
    independent: tuple[str, ...] = option(
        "--independent",
        "JOINT,...",
        "Keep the coordinates of these joints of closed loops, so that the loops determine other "
        "joints. The default is to keep the joints nearest to the link that carries both sides of "
        "a loop.",
        NAMES.with_example('["JOINT"]'),
        default=(),
        names=moving_joints,
        separators=",",
    )
    coordinates: str = option(
        "--coordinates",
        "KIND",
        "joints or actuators. With actuators, q and tau are the positions and torques of the "
        "motors that move the joints through transmissions or gears.",
        choice("joints", "actuators"),
        rare=True,
        default="joints",
    )
    joint_order: str = option(
        "--joint-order",
        "KIND",
        "Order of the coordinates: file (the order of the joints in the file) or base-to-tip (the "
        "same, except that a joint always comes after the joints that carry it).",
        choice(BASE_TO_TIP, FILE_ORDER),
        default=BASE_TO_TIP,
        rare=True,
    )
    repair_inertia: str | None = option(
        "--repair-inertia",
        "KIND",
        "nearest: replace a physically impossible inertia by the nearest possible one and report "
        "the change. Mass and centre of mass are kept; the distance is the Frobenius norm of the "
        "second moments.",
        choice(NEAREST),
        rare=True,
        default=None,
    )
    allow_unphysical: bool = option(
        "--allow-unphysical",
        None,
        "Use a physically impossible inertia as it is written, with a warning, if the mass matrix "
        "is positive definite in all sampled states. Parameters identified from joint torques "
        "often are of this kind.",
        FLAG,
        rare=True,
        default=False,
    )
    rotors: str = option(
        "--rotors",
        "KIND",
        "How to model rotors: exact (with gyroscopic torques), reflected (squared gear ratio times "
        "rotor inertia, added to the diagonal of the mass matrix) or none.",
        choice(*ROTORS),
        rare=True,
        default="exact",
    )

    def validate(self) -> None:
        """Raises OptionError for options that exclude each other."""
        if self.allow_unphysical and self.repair_inertia is not None:
            raise OptionError(
                "--allow-unphysical and --repair-inertia: the first keeps the inertia of the file "
                "and the second changes it; remove one of them"
            )
        conflicts = {
            "--actuators": self.actuators is not None,
            "--gravity runtime": self.gravity == "runtime",
            "--repair-inertia": self.repair_inertia is not None,
        }
        other = next((flag for flag, given in conflicts.items() if given), None)
        if self.estimate is not None and other is not None:
            raise OptionError(
                f"--estimate and {other}: an estimate contains the drives, and its base parameters "
                f"are those of one direction of gravity; remove {other}"
            )

    @property
    def drive_file(self) -> str | None:
        """The file that drives are read from: the model file of an estimate or the actuator
        file."""
        if self.estimate is not None and os.path.isdir(self.estimate):
            return str(Path(self.estimate, MODEL_FILE))
        return self.estimate or self.actuators


MODEL_FILE: Final = "model.toml"
"""The name of the model file in a folder of ``symgen identify -o``."""
GROUPS: Final = (RobotOptions, SourceOptions)
"""What `load` takes."""
