"""Couplings: coordinates of joints as linear functions of others (q_bodies = G q + c).

A joint may follow several joints (`Mimic.law`), which may follow others again. Motors, whose angles
may be coordinates in place of those of joints, are followed like joints
(`symgen.reading.assemble`). The option ``--couple JOINT=LEADER:FACTOR,...,OFFSET`` couples a joint
whatever its file states. The options ``--loop`` and ``--independent`` are loops that a user closes,
and the coordinates of loops that the user keeps."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from symgen.errors import OptionError, RobotError
from symgen.mechanics.kinematic_loop import CUT_JOINTS
from symgen.mechanics.loop_groups import joints_of
from symgen.mechanics.model import RigidBodyModel
from symgen.mechanics.spatial import Pose
from symgen.numbers.scalar import sum_in_order
from symgen.options.kinds import finite, table_of
from symgen.reading.checked_values import ZEROS, as_list, as_number, as_vector3
from symgen.reading.description import (
    JointElement,
    LinearFunction,
    LoopElement,
    Mimic,
    RobotDescription,
    with_mimics,
)
from symgen.reading.joint_kinds import FIXED, has_several_coordinates
from symgen.reading.rotations import rotation_from_rpy
from symgen.text import hint, quoted, shown

MAX_COEFFICIENT: Final = 1e6
"""The largest factor and offset (m or rad) of a joint that follows others. The sine of a larger
angle has lost as many digits; that of an angle of 1e16 rad has lost all."""


def resolve_couplings(
    robot: RobotDescription,
    moving: Sequence[JointElement],
    locked: Mapping[str, float],
    motors: Collection[str],
) -> dict[str, LinearFunction]:
    """The coordinate of each joint of `moving` that follows others, as a function of independent
    coordinates, which are those of joints or of `motors`. `locked` joints are at their values, and
    joints whose factors are all 0 are fixed ones that ``--keep-fixed`` keeps.

    Raises RobotError for a joint that does not depend on independent coordinates."""
    known = {name: LinearFunction.identity(name) for name in motors}
    known |= {name: LinearFunction((), value) for name, value in locked.items()}
    coupling = _CouplingResolver(robot, {joint.name: joint for joint in moving}, known)
    followers = [(joint, joint.mimics) for joint in moving if joint.mimics is not None]
    return {
        joint.name: coupling.resolved(joint)
        if any(factor for _, factor in mimic.terms)
        else mimic.law
        for joint, mimic in followers
    }


def locked_by_leaders(robot: RobotDescription, locked: Mapping[str, float]) -> dict[str, float]:
    """The values of the `locked` joints, of the joints whose leaders are all locked, and of those
    that do not move because all their factors are 0."""
    values, mimics = dict(locked), {j.name: j.mimics for j in robot.joints if j.mimics is not None}
    unlocked_leaders = {
        name: {leader for leader, factor in mimic.terms if factor}
        for name, mimic in mimics.items()
        if name not in locked
    }
    followers: dict[str, list[str]] = {}
    for name, leaders in unlocked_leaders.items():
        for leader in leaders:
            followers.setdefault(leader, []).append(name)
    ready = [*locked, *(name for name, leaders in unlocked_leaders.items() if not leaders)]
    for name in ready:
        if name not in values:
            values[name] = mimics[name].law.value(values)
        for follower in followers.get(name, ()):
            unlocked_leaders[follower].discard(name)
            if not unlocked_leaders[follower]:
                ready.append(follower)
    return values


@dataclass(frozen=True)
class _CouplingResolver:
    """The couplings of the `moving` joints. `known` are the coordinates that are resolved already.

    The search does not recurse, because chains can be longer than Python's stack."""

    robot: RobotDescription
    moving: Mapping[str, JointElement]
    known: dict[str, LinearFunction]

    def resolved(self, joint: JointElement) -> LinearFunction:
        """The coordinate of a joint as a function of independent ones. Raises RobotError."""
        path = {joint.name: iter(self._leaders(joint))} if joint.name not in self.known else {}
        while path:
            name = next(reversed(path))
            leader = next(path[name], None)
            if leader is None:
                self.known[name] = self._composed_law(joint, self.moving[name])
                path.pop(name)
            elif leader in path:
                raise self.robot.error_at(
                    joint,
                    f"mimics itself through {quoted(path)}; make one of these joints independent",
                )
            elif leader not in self.known:
                if leader not in self.moving:
                    raise self._excluded_leader_error(joint, leader)
                path[leader] = iter(self._leaders(self.moving[leader]))
        return self._checked_law(joint, self.known[joint.name])

    def _leaders(self, joint: JointElement) -> tuple[str, ...]:
        return () if joint.mimics is None else tuple(name for name, _ in joint.mimics.terms)

    def _composed_law(self, joint: JointElement, element: JointElement) -> LinearFunction:
        """The coordinate of `element`, whose leaders are known. Errors are reported for `joint`."""
        if element.mimics is None:
            return LinearFunction.identity(element.name)
        for leader in self._leaders(element):
            pair = (self.moving[name] for name in (leader, element.name) if name in self.moving)
            several = next((other for other in pair if has_several_coordinates(other.kind)), None)
            if several is not None:
                raise self.robot.error_at(
                    joint,
                    f"mimics joint '{shown(leader)}', but the {several.kind} joint "
                    f"'{shown(several.name)}' has several coordinates; only joints with one "
                    "coordinate can mimic or be mimicked",
                )
        return element.mimics.law.compose(self.known)

    def _checked_law(self, joint: JointElement, law: LinearFunction) -> LinearFunction:
        numbers = (*(factor for _, factor in law.terms), law.offset)
        if not all(abs(x) <= MAX_COEFFICIENT for x in numbers):
            (name, factor), *_ = law.terms or (("none", 0.0),)
            raise self.robot.error_at(
                joint,
                f"follows joint '{shown(name)}' with multiplier {factor:g} and offset "
                f"{law.offset:g}, which is too large; give at most {MAX_COEFFICIENT:g} (m and rad)",
            )
        if not law.terms:
            raise self.robot.error_at(
                joint,
                "follows joints whose motions cancel, so that it does not move; lock it "
                f"with --lock '{shown(joint.name)}={law.offset:.12g}'",
            )
        return law

    def _excluded_leader_error(self, joint: JointElement, leader: str) -> RobotError:
        advice = f"; lock it with --lock '{shown(joint.name)}=0', or correct what it mimics"
        known = next((other for other in self.robot.joints if other.name == leader), None)
        reason = "which --root and --tip exclude"
        if known is None:
            reason = "which does not exist"
        elif known.kind == FIXED:
            reason = "which is fixed"
        return self.robot.error_at(joint, f"mimics joint '{shown(leader)}', {reason}{advice}")


# -- the option --couple ---------------------------------------------------------------------------

COUPLE_SYNTAX: Final = (
    "give JOINT=LEADER:FACTOR[,LEADER:FACTOR...][,OFFSET], as in elbow=crank:1,shoulder:-1,0.2"
)


def with_couplings(robot: RobotDescription, couple: Sequence[tuple[str, str]]) -> RobotDescription:
    """The robot with the couplings of the option ``--couple``, which replace those of its file.

    Raises OptionError for a joint that does not exist, is fixed or is coupled twice, and for a text
    that is not a linear function of joints."""
    joints, mimics = {joint.name: joint for joint in robot.joints}, dict[str, Mimic]()
    for name, text in couple:
        flag = f"--couple '{shown(name)}'"
        _check_joint(flag, name, joints)
        if name in mimics:
            raise OptionError(f"{flag}: given twice; keep one of them")
        if joints[name].kind == FIXED:
            raise OptionError(
                f"{flag}: joint '{shown(name)}' is fixed and cannot follow another joint; "
                "remove the option"
            )
        mimics[name] = _parsed_law(flag, joints[name].line, text, joints)
    return replace(robot, joints=with_mimics(robot.joints, mimics)) if mimics else robot


def _parsed_law(flag: str, line: int, text: str, joints: Collection[str]) -> Mimic:
    factors, offsets = dict[str, float](), list[float]()
    for term in text.split(","):
        leader, colon, number = term.rpartition(":")
        if colon:
            _check_joint(flag, leader, joints)
        if leader in factors:
            raise OptionError(f"{flag}: follows joint '{shown(leader)}' twice; add the two factors")
        try:
            value = finite(number)
        except ValueError:
            wrong = f"'{shown(number, 60)}' is not a finite number"
            raise OptionError(f"{flag}: {wrong}; {COUPLE_SYNTAX}") from None
        if colon:
            factors[leader] = value
        else:
            offsets.append(value)
    if not factors or len(offsets) > 1:
        raise OptionError(f"{flag}: {COUPLE_SYNTAX}")
    return Mimic.of(line, LinearFunction(tuple(factors.items()), sum_in_order(offsets, 0.0)))


def _check_joint(flag: str, name: str, names: Collection[str]) -> None:
    if name not in names:
        raise OptionError(f"{flag}: the robot has no joint '{shown(name)}'; {hint(name, names)}")


# -- the options --loop and --independent ----------------------------------------------------------

LOOP_KEYS: Final = (
    *("name", "first", "second", "at_first", "at_second", "dependent", "branch"),
    *("joint", "rpy_first", "rpy_second", "length", "newton", "polynomial"),
)
"""The keys of a loop, which are the arguments of `symgen.Builder.close`."""
KEYS_WITHOUT_EFFECT: Final = {
    **dict.fromkeys(("ball", "distance"), LOOP_KEYS[8:10]),
    "polynomial": (*LOOP_KEYS[3:5], *LOOP_KEYS[8:10], "newton"),
}
"""The keys without effect of cut joints that hold points only, or no frames."""


def loop_of(label: str, line: int, name: str, entries: dict[str, Any]) -> LoopElement:
    """The loop with some entries of `LOOP_KEYS`. Raises OptionError with a `label`."""
    branch, dependent = entries.get("branch"), entries.get("dependent", ())
    if branch not in (None, 1, -1, 2, -2):
        raise OptionError(f"{label}: branch is {shown(repr(branch), 40)}; give 1, -1, 2 or -2")
    keys = (*LOOP_KEYS[3:5], *LOOP_KEYS[8:10])
    vectors = {key: as_vector3(f"{label}: {key}", entries.get(key, ZEROS)) for key in keys}
    values = [dependent] if isinstance(dependent, str) else dependent
    names = tuple(map(str, as_list(f"{label}: dependent", values)))
    joint, length, newton = (
        entries.get(key, default)
        for key, default in (("joint", "ball"), ("length", 0.0), ("newton", False))
    )
    if joint not in CUT_JOINTS:
        raise OptionError(
            f"{label}: joint is {shown(repr(joint), 40)}; give one of {', '.join(CUT_JOINTS)}"
        )
    given = [key for key, value in vectors.items() if any(value)] + ["newton"] * (newton is True)
    without_effect = [key for key in given if key in KEYS_WITHOUT_EFFECT.get(joint, ())]
    if without_effect:
        raise OptionError(
            f'{label}: {without_effect[0]} has no effect for joint = "{joint}"; remove it'
        )
    if not isinstance(newton, bool):
        raise OptionError(f"{label}: newton is {shown(repr(newton), 40)}; give true or false")
    distance = as_number(f"{label}: length", length)
    if joint == "distance" and not distance > 0:
        raise OptionError(f"{label}: needs length, the constant distance; give length = ... in m")
    if joint != "distance" and distance:
        raise OptionError(
            f'{label}: length is that of joint = "distance", not of {joint}; remove it'
        )
    values = as_list(f"{label}: polynomial", entries.get("polynomial", ()))
    coefficients = tuple(as_number(f"{label}: polynomial", a) for a in values)
    if joint == "polynomial" and entries["first"] == entries["second"]:
        raise OptionError(f"{label}: first and second are the same joint; name two joints")
    if (joint == "polynomial") != any(coefficients[1:]):
        raise OptionError(
            f'{label}: joint = "polynomial" and polynomial = [...], the coefficients from the '
            "constant one to that of the highest power, belong together; give both or none"
        )
    first, second, rpy_first, rpy_second = vectors.values()
    return LoopElement.between(
        name,
        line,
        (str(entries["first"]), str(entries["second"])),
        (Pose(rotation_from_rpy(rpy_first), first), Pose(rotation_from_rpy(rpy_second), second)),
        dependent=names,
        branch=branch or 0,
        joint=joint,
        length=distance,
        newton=newton,
        polynomial=coefficients,
    )


def with_loop_options(
    robot: RobotDescription, loops: Sequence[str], independent: Sequence[str]
) -> RobotDescription:
    """The robot with the loops of ``--loop``, which replace those of its file with the same name,
    or without links change them, and in which the joints of ``--independent`` keep their
    coordinates. Raises OptionError."""
    found = {loop.name: loop for loop in robot.loops}
    given = set[str]()
    for text in loops:
        entries = table_of(text)
        changed = found.get(str(entries.get("name"))) if CHANGE_KEYS.issuperset(entries) else None
        loop = _loop_of_option(entries) if changed is None else _with_changes(changed, entries)
        if loop.name in given:
            raise OptionError(f"{loop.label}: given twice; keep one of them")
        given.add(loop.name)
        found[loop.name] = loop
    return replace(robot, loops=with_independent(found.values(), independent))


CHANGE_KEYS: Final = frozenset({"name", "dependent", "branch", "newton"})
"""The keys of an option that changes a loop of a file."""


def _with_changes(loop: LoopElement, entries: dict[str, Any]) -> LoopElement:
    """A loop of the file with its dependent joints, its branch and its method by an option."""
    ends: dict[str, Any] = {"first": loop.links[0], "second": loop.links[1]}
    if loop.polynomial:
        ends |= {"joint": loop.joint, "polynomial": loop.polynomial}
    given = loop_of(f"--loop '{shown(loop.name)}'", loop.line, loop.name, ends | entries)
    return replace(
        loop,
        dependent=given.dependent,
        branch=given.branch,
        newton=given.newton,
        optional=False,
    )


def with_independent(
    loops: Iterable[LoopElement], names: Collection[str]
) -> tuple[LoopElement, ...]:
    """The loops, in which the joints of these names keep their coordinates."""
    return tuple(replace(x, independent=(*x.independent, *names)) for x in loops)


def _loop_of_option(entries: dict[str, Any]) -> LoopElement:
    name = shown(str(entries.get("name", "")))
    label = f"--loop '{name}'" if name else "--loop"
    for key in (key for key in entries if key not in LOOP_KEYS):
        raise OptionError(
            f"{label}: no key is called '{shown(key)}'; {hint(key, LOOP_KEYS, len(LOOP_KEYS))}"
        )
    for key in (key for key in LOOP_KEYS[:3] if not isinstance(entries.get(key), str)):
        part = "joint" if entries.get("joint") == "polynomial" else "link"
        what = "name of the loop" if key == "name" else f"name of a {part}"
        raise OptionError(f'{label}: needs {key}, the {what}; give {key} = "..."')
    return loop_of(label, 0, entries["name"], entries)


def check_independent(model: RigidBodyModel, names: Sequence[str]) -> None:
    """Raises OptionError for a joint of ``--independent`` that is in no closed loop, or whose
    coordinate a loop determines."""
    loops = {
        closure: [model.body(i).joint.name for i in joints_of(model, closure)]
        for closure in model.closures
    }
    for name in names:
        own_loops = [closure for closure, joints in loops.items() if name in joints]
        flag = f"--independent '{shown(name)}'"
        if not own_loops:
            loop_joints = dict.fromkeys(joint for joints in loops.values() for joint in joints)
            advice = f"name joints of {quoted(loop_joints)}" if loop_joints else "remove the option"
            raise OptionError(f"{flag}: it is no joint of a closed loop; {advice}")
        for closure in own_loops:
            if name in (model.body(i).joint.name for i in closure.dependent):
                count, joints = len(closure.dependent), loops[closure]
                raise OptionError(
                    f"{flag}: loop '{shown(closure.name)}' determines {count} of its joints "
                    f"{quoted(joints)}, and too many of them are named; name other joints"
                )
