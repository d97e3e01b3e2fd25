"""The options of a robot's file: which part of it, held how, under which gravity."""

from typing import Any, Final

from symgen.options import group, option
from symgen.options.kinds import NUMBER, NUMBER_PAIRS, PAIRS, TEXTS, choice, vector_or
from symgen.reading.fall import Gravity
from symgen.reading.part import BASE_TO_TIP, FILE_ORDER
from symgen.reading.repair import NEAREST
from symgen.reading.right_angles import SNAPPED

ROTORS: Final = ("exact", "reflected", "none")


def links(robot: Any, start: str) -> list[str]:
    """The links of a file, to be completed."""
    return [link.name for link in robot.links] if robot else []


def moving_joints(robot: Any, start: str) -> list[str]:
    """The joints of a file that move, to be completed."""
    return [joint.name for joint in robot.joints if joint.kind != "fixed"] if robot else []


def joint_values(robot: Any, start: str) -> list[str]:
    """The robot's joints that move, each with what a value follows."""
    return [f"{name}=" for name in moving_joints(robot, "")] if not start else []


def _leaders(robot: Any, start: str) -> list[str]:
    """A joint; after it those that it may follow, until a factor is to be given."""
    if not start:
        return joint_values(robot, start)
    return [] if start.endswith(":") else [f"{name}:" for name in moving_joints(robot, start)]


@group
class XacroOptions:
    """The options of xacro: what a file with xacro in it is expanded with."""

    xacro_args: tuple[tuple[str, str], ...] = option(
        "--xacro-arg",
        "NAME=VALUE",
        "An argument of a file with xacro in it, which is expanded first. Repeatable.",
        PAIRS,
        default=(),
        give="give NAME=VALUE, as in hand=true",
    )
    package_paths: tuple[str, ...] = option(
        "--package-path",
        "DIR",
        "Look for the packages of $(find PACKAGE) in this folder and below it, before the folders "
        "around the file, ROS_PACKAGE_PATH and AMENT_PREFIX_PATH. Repeatable.",
        TEXTS.like('["DIR"]'),
        default=(),
        path=True,
        local=True,
    )


NO_XACRO: Final = XacroOptions()


@group
class RobotOptions:
    """The options of reading: what is taken of a robot's file, and what is made of it."""

    root: str | None = option(
        "--root",
        "LINK",
        "Take this link as the base; what it does not carry is left out.",
        default=None,
        names=links,
    )
    tip: str | None = option(
        "--tip",
        "LINK",
        "Keep only the links from the base to this one.",
        default=None,
        names=links,
    )
    lock: tuple[tuple[str, float], ...] = option(
        "--lock",
        "JOINT=VALUE",
        "Hold a joint at a value (rad or m). Repeatable.",
        NUMBER_PAIRS.like("{ JOINT = 0.0 }"),
        default=(),
        give="give JOINT=VALUE (rad or m), as in finger_joint1=0.02",
        names=joint_values,
        parted="=",
    )
    gravity: Gravity = option(
        "--gravity",
        "X,Y,Z|runtime",
        "Free fall in the axes of the root link, or of the world where the base floats (m/s^2); or "
        "an input of the functions. By default it keeps the direction that it has in the whole "
        "file.",
        vector_or("runtime"),
        default=None,
        shown_default="0,0,-9.81 in the axes of the file's root",
        give="give three numbers X,Y,Z (m/s^2) or runtime",
        names=("runtime",),
    )
    snap_angles: float = option(
        "--snap-angles",
        "TOL",
        "Make rpy angles this near (rad) to a multiple of pi/2 exact; 0 turns it off.",
        NUMBER,
        default=SNAPPED,
    )
    actuators: str | None = option(
        "--actuators",
        "FILE.toml",
        "Rotors, friction and springs of the joints (see symgen docs formats), before those of the "
        "robot's file.",
        path=True,
        default=None,
    )
    base: str = option(
        "--base",
        "KIND",
        "fixed, or floating: the root link moves freely, a unit quaternion in q and its twist in "
        "its own axes as the first six velocities.",
        choice("fixed", "floating"),
        default="fixed",
    )
    couple: tuple[tuple[str, str], ...] = option(
        "--couple",
        "JOINT=TERMS",
        "Let a joint follow others: TERMS are LEADER:FACTOR of each, separated by commas, and an "
        "offset (rad or m). Repeatable.",
        PAIRS.like('{ JOINT = "LEADER:1,LEADER:-1,0.0" }'),
        default=(),
        give="give JOINT=LEADER:FACTOR[,LEADER:FACTOR...][,OFFSET]",
        names=_leaders,
        parted="=:,",
    )
    coordinates: str = option(
        "--coordinates",
        "KIND",
        "joints, or actuators: angles and torques of motors in place of those of the joints that "
        "they move by transmissions or gear ratios.",
        choice("joints", "actuators"),
        default="joints",
    )
    joint_order: str = option(
        "--joint-order",
        "KIND",
        "Order of the coordinates: base-to-tip (that of the file, but no joint before one that "
        "carries it) or file (that of the file as it is).",
        choice(BASE_TO_TIP, FILE_ORDER),
        default=BASE_TO_TIP,
    )
    repair_inertia: str | None = option(
        "--repair-inertia",
        "KIND",
        "nearest: take for inertia that no body has the nearest that one can have (mass and centre "
        "of mass kept, second moments nearest in the Frobenius norm), and say what was changed.",
        choice(NEAREST),
        default=None,
    )
    rotors: str = option(
        "--rotors",
        "KIND",
        "What is taken of rotors: exact (all they do), reflected (gear ratio squared times "
        "inertia, on the joint's own) or none.",
        choice(*ROTORS),
        default="exact",
    )


GROUPS: Final = (RobotOptions, XacroOptions)
"""What `load` takes."""
