"""Joints that follow others: whom they follow in the end, with what factors and offset.

A joint may follow several (`Mimic.terms`), which may follow others again; what is linear in what is
linear stays so. Motors, whose angles may be coordinates in place of those of joints, are followed
like joints (see `symgen.reading.motors`)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from symgen.errors import RobotError
from symgen.reading.description import JointElement, Mimic, RobotDescription
from symgen.reading.joints import has_several_coordinates
from symgen.reading.unfold import Following
from symgen.text import quoted, shown

LARGEST_FOLLOWING: Final = 1e6
"""Multiplier and offset (m or rad) of a joint that mimics; the sine of a larger angle has lost as
many digits, and of one of 1e16 rad all."""


def following(
    robot: RobotDescription,
    moving: Sequence[JointElement],
    held: Mapping[str, float] | None = None,
    motors: Collection[str] = (),
) -> dict[str, Following]:
    """For every moving joint that mimics, the joints or `motors` with coordinates of their own that
    it follows in the end; `held` joints stand at their values.

    Raises RobotError where there are none."""
    by_name = {joint.name: joint for joint in moving}
    search = _Search(robot, by_name, held or {}, motors)
    return {joint.name: search.of(joint) for joint in moving if joint.mimics is not None}


def held_by_leaders(robot: RobotDescription, held: Mapping[str, float]) -> dict[str, float]:
    """The held joints and those all of whose leaders are held, which are held too, or that do not
    turn at all (multiplier 0)."""
    values, mimics = dict(held), {j.name: j.mimics for j in robot.joints if j.mimics is not None}
    missing = {
        name: {leader for leader, by in mimic.terms if by}
        for name, mimic in mimics.items()
        if name not in held
    }
    followers: dict[str, list[str]] = {}
    for name, leaders in missing.items():
        for leader in leaders:
            followers.setdefault(leader, []).append(name)
    ready = [*held, *(name for name, leaders in missing.items() if not leaders)]
    for name in ready:
        if name not in values:
            mimic = mimics[name]
            values[name] = (
                sum((by * values[at] for at, by in mimic.terms if by), 0.0) + mimic.offset
            )
        for follower in followers.get(name, ()):
            missing[follower].discard(name)
            if not missing[follower]:
                ready.append(follower)
    return values


@dataclass(frozen=True)
class _Search:
    """Through what joints follow, without recursion: chains may be longer than Python can call."""

    robot: RobotDescription
    moving: Mapping[str, JointElement]
    held: Mapping[str, float]
    motors: Collection[str]
    found: dict[str, Following] = field(default_factory=dict)
    """What has been seen to follow what, for all searches."""

    def of(self, joint: JointElement) -> Following:
        """The leaders that a joint follows, with factors and offset. Raises RobotError."""
        known = self.found
        path = {joint.name: iter(_terms(joint.mimics))}
        while path and joint.name not in known:
            at = next(reversed(path))
            leader = next(path[at], None)
            if leader is None:
                mimic = self.moving[at].mimics if at in self.moving else None
                known[at] = self._joined(joint, at, mimic, known)
                path.pop(at)
            elif leader in path:
                raise self._error(
                    joint,
                    f"mimics itself through {quoted(path)}; make one of these joints independent",
                )
            elif leader not in known:
                path[leader] = iter(_terms(self._mimic(joint, leader)))
        return self._checked(joint, known[joint.name])

    def _mimic(self, joint: JointElement, leader: str) -> Mimic | None:
        """The joint that a leader follows itself."""
        if leader in self.motors or leader in self.held:
            return None
        if leader not in self.moving:
            raise self._lost(joint, leader)
        return self.moving[leader].mimics

    def _joined(
        self,
        joint: JointElement,
        name: str,
        mimic: Mimic | None,
        known: Mapping[str, Following],
    ) -> Following:
        """The sum of what its leaders follow."""
        if name in self.held:
            return Following((), self.held[name])
        if mimic is None:
            return Following(((name, 1.0),), 0.0)
        total, offset = dict[str, float](), 0.0
        for leader, by in mimic.terms:
            self._with_one_coordinate(joint, name, leader)
            offset += by * known[leader].offset
            for far, factor in known[leader].terms:
                total[far] = total.get(far, 0.0) + by * factor
        return Following(tuple((k, by) for k, by in total.items() if by), offset + mimic.offset)

    def _with_one_coordinate(self, joint: JointElement, *pair: str) -> None:
        """Refuses a pair of follower and leader of which one has several coordinates."""
        elements = (self.moving[name] for name in reversed(pair) if name in self.moving)
        wide = next(
            (element for element in elements if has_several_coordinates(element.kind)), None
        )
        if wide is not None:
            raise self._error(
                joint,
                f"mimics joint '{shown(pair[-1])}', but the {wide.kind} joint "
                f"'{shown(wide.name)}' has several coordinates; only joints with one "
                "coordinate can mimic or be mimicked",
            )

    def _checked(self, joint: JointElement, follows: Following) -> Following:
        numbers = (*(by for _, by in follows.terms), follows.offset)
        if not all(abs(x) <= LARGEST_FOLLOWING for x in numbers):
            (name, factor), *_ = follows.terms or (("none", 0.0),)
            raise self._error(
                joint,
                f"follows joint '{shown(name)}' with multiplier {factor:g} and offset "
                f"{follows.offset:g}, which is too large; give at most "
                f"{LARGEST_FOLLOWING:g} (m and rad)",
            )
        if not follows.terms:
            raise self._error(
                joint,
                "follows joints whose motions cancel, so that it does not move; lock it "
                f"with --lock '{shown(joint.name)}={follows.offset:.12g}'",
            )
        return follows

    def _lost(self, joint: JointElement, leader: str) -> RobotError:
        advice = f"; lock it with --lock '{shown(joint.name)}=0', or correct what it mimics"
        known = next((other for other in self.robot.joints if other.name == leader), None)
        reason = "which --root and --tip exclude"
        if known is None:
            reason = "which does not exist"
        elif known.kind == "fixed":
            reason = "which is fixed"
        return self._error(joint, f"mimics joint '{shown(leader)}', {reason}{advice}")

    def _error(self, joint: JointElement, message: str) -> RobotError:
        return self.robot.error(joint.line, f"joint '{shown(joint.name)}'", message)


def _terms(mimic: Mimic | None) -> tuple[str, ...]:
    """The joints that one follows."""
    return tuple(name for name, _ in mimic.terms) if mimic is not None else ()
