"""Joints that follow others because an option says so: ``JOINT=LEADER:FACTOR,...,OFFSET``."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from symgen.errors import OptionError
from symgen.options.kinds import finite
from symgen.reading.description import Mimic, RobotDescription
from symgen.reading.joints import FIXED
from symgen.text import hint, shown

GIVE = "give JOINT=LEADER:FACTOR[,LEADER:FACTOR...][,OFFSET], as in elbow=crank:1,shoulder:-1,0.2"


def coupled(robot: RobotDescription, couple: Sequence[tuple[str, str]]) -> RobotDescription:
    """The robot with joints that follow others as told, whatever its file says of them.

    Raises OptionError for a joint that there is not or that is fixed, or one coupled twice, or to
    itself."""
    names, mimics = [joint.name for joint in robot.joints], dict[str, Mimic]()
    for name, text in couple:
        flag = f"--couple '{shown(name)}'"
        _known(flag, name, names)
        if name in mimics:
            raise OptionError(f"{flag}: given twice; keep one of them")
        joint = next(joint for joint in robot.joints if joint.name == name)
        if joint.kind == FIXED:
            raise OptionError(
                f"{flag}: joint '{shown(name)}' is fixed and cannot follow another joint; "
                "remove the option"
            )
        mimics[name] = _mimic(flag, joint.line, text, names)
    joints = (replace(j, mimics=mimics.get(j.name, j.mimics)) for j in robot.joints)
    return replace(robot, joints=tuple(joints)) if mimics else robot


def _mimic(flag: str, line: int, text: str, names: Collection[str]) -> Mimic:
    terms, offsets = dict[str, float](), list[float]()
    for piece in text.split(","):
        leader, colon, factor = piece.rpartition(":")
        if not colon:
            offsets.append(_number(flag, factor))
            continue
        _known(flag, leader, names)
        if leader in terms:
            raise OptionError(f"{flag}: follows joint '{shown(leader)}' twice; add the two factors")
        terms[leader] = _number(flag, factor)
    if not terms or len(offsets) > 1:
        raise OptionError(f"{flag}: {GIVE}")
    (first, by), *also = terms.items()
    return Mimic(line, first, by, sum(offsets, 0.0), tuple(also))


def _number(flag: str, text: str) -> float:
    try:
        return finite(text)
    except ValueError:
        raise OptionError(f"{flag}: '{shown(text, 60)}' is not a finite number; {GIVE}") from None


def _known(flag: str, name: str, names: Collection[str]) -> None:
    if name not in names:
        raise OptionError(f"{flag}: the robot has no joint '{shown(name)}'; {hint(name, names)}")
