"""Whether the links and joints of a file are a robot: unique names, known links, trees."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Final

from symgen.errors import RobotError, together
from symgen.reading.description import JointElement, LinkElement, RobotDescription
from symgen.text import quoted, shown

Faults = Iterator[RobotError]
Element = LinkElement | JointElement


def check(robot: RobotDescription) -> None:
    """Raises RobotError, with a way out, for the first rule of CHECKS that `robot` breaks, wherever
    it does. A robot may have several roots until one is chosen (`check_one_root`)."""
    for rule in CHECKS:
        broken = together(rule(robot))
        if broken is not None:
            raise broken


def joint_above(joints: Iterable[JointElement]) -> dict[str, JointElement]:
    """The joint that carries each link, by link name; the root has none."""
    return {joint.child: joint for joint in joints}


def outward(robot: RobotDescription, root: str) -> Iterator[JointElement]:
    """The joints below link `root`, every parent's before its children's, file order among
    siblings."""
    below: dict[str, list[JointElement]] = {}
    for joint in robot.joints:
        below.setdefault(joint.parent, []).append(joint)
    links = [root]
    for link in links:
        for joint in below.get(link, ()):
            links.append(joint.child)
            yield joint


def base_to_tip(
    joints: Sequence[JointElement], carriers: Mapping[str, str | None]
) -> tuple[JointElement, ...]:
    """The joints in topological order: none stands before the joint that carries it, given by name
    in `carriers` (None for the base).

    The order is the lexicographically smallest one in the given positions (Kahn 1962 with a heap),
    so joints that are in topological order already keep their order."""
    carried: dict[str | None, list[int]] = {}
    for k, joint in enumerate(joints):
        carried.setdefault(carriers[joint.name], []).append(k)
    ready, ordered = [*carried.get(None, ())], list[JointElement]()
    heapify(ready)
    while ready:
        ordered.append(joints[heappop(ready)])
        for k in carried.get(ordered[-1].name, ()):
            heappush(ready, k)
    return tuple(ordered)


def _has_links(robot: RobotDescription) -> Faults:
    if not robot.links:
        yield robot.error(robot.line, robot.tag, "has no links; add at least one")


def _unique_names(robot: RobotDescription) -> Faults:
    yield from _unique(robot, "link", robot.links)
    yield from _unique(robot, "joint", robot.joints)


def _unique(
    robot: RobotDescription, kind: str, elements: Iterable[LinkElement | JointElement]
) -> Faults:
    first: dict[str, Element] = {}
    for element in elements:
        other = first.setdefault(element.name, element)
        if other is not element:
            yield robot.error(
                element.line,
                f"{kind} '{shown(element.name)}'",
                f"the name is already used by the {kind} on line {other.line}; rename one of them",
            )


def _known_links(robot: RobotDescription) -> Faults:
    known = {link.name for link in robot.links}
    for joint in robot.joints:
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in known:
                yield robot.error(
                    joint.line,
                    _joint(joint),
                    f"{end} link '{shown(name)}' does not exist; add it or correct the name",
                )


def _one_parent(robot: RobotDescription) -> Faults:
    above: dict[str, JointElement] = {}
    for joint in robot.joints:
        other = above.setdefault(joint.child, joint)
        if other is not joint:
            yield robot.error(
                joint.line,
                _joint(joint),
                f"link '{shown(joint.child)}' is already the child of joint"
                f" '{shown(other.name)}' on line {other.line}; closed loops are not supported: "
                f"cut the loop"
                " by removing one of the two joints",
            )


def _no_cycle(robot: RobotDescription) -> Faults:
    above = joint_above(robot.joints)
    reached = {
        *robot.roots,
        *(joint.child for root in robot.roots for joint in outward(robot, root)),
    }
    lost = next((link.name for link in robot.links if link.name not in reached), None)
    if lost is not None:
        cycle = _cycle(above, lost)
        first = min(cycle, key=lambda joint: joint.line)
        yield robot.error(first.line, _joint(first), _cycle_message(cycle))


def _cycle_message(cycle: Sequence[JointElement]) -> str:
    if len(cycle) == 1:
        return f"connects link '{shown(cycle[0].child)}' to itself; correct its parent or child"
    names = quoted(joint.name for joint in cycle)
    return f"joints {names} form a cycle; a robot is a tree: remove one of them"


def _cycle(above: Mapping[str, JointElement], link: str) -> list[JointElement]:
    """The joints met going up from `link`, which no root carries, from where they repeat."""
    visited: dict[str, JointElement] = {}
    while link not in visited:
        visited[link] = above[link]
        link = above[link].parent
    names = list(visited)
    return [visited[name] for name in reversed(names[names.index(link) :])]


def check_one_root(robot: RobotDescription) -> None:
    """Raises RobotError for a robot with several roots, where none of them was chosen."""
    roots = robot.roots
    if len(roots) > 1:
        raise robot.error(
            robot.line,
            robot.tag,
            f"has {len(roots)} root links, {quoted(roots)}; connect them with joints, or "
            "choose one with --root LINK, which keeps only the links that it carries",
        )


def _joint(joint: JointElement) -> str:
    return f"joint '{shown(joint.name)}'"


CHECKS: Final[tuple[Callable[[RobotDescription], Faults], ...]] = (
    _has_links,
    _unique_names,
    _known_links,
    _one_parent,
    _no_cycle,
)
"""Rules in the order that gives the most telling message first."""
