"""Closed loops of a file: from cut joints between links to closures of a model.

Some joints of each loop are dependent: two of a planar loop, by default those farthest from the
carrier of the loop, of equally far ones the last in the file; of a spatial one those of a leg, on
the side of the loop with fewer joints."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain

from symgen.errors import Notice, OptionError, RobotError, SourceLocation, SymgenError
from symgen.mechanics.joint_listing import (
    gruebler_mobility,
    listed_loops,
    polynomial_text,
    remaining_gap_text,
)
from symgen.mechanics.kinematic_loop import LoopError
from symgen.mechanics.loop_geometry import newton_dependent
from symgen.mechanics.loop_groups import (
    PLANAR_UNKNOWNS,
    assembly_branches,
    closure_groups,
    dependent_choices,
    farthest_first,
    loop_of,
)
from symgen.mechanics.model import Closure, Follow, RigidBodyModel, paths_of
from symgen.mechanics.spatial import Pose
from symgen.numbers.scalar import sum_in_order
from symgen.reading.description import LoopElement, RobotDescription
from symgen.reading.subtree import RobotSubtree
from symgen.reading.xml_reader import loops_left_open
from symgen.text import hint, quoted, shown

OpenLoops = Sequence[tuple[LoopElement, str]]
"""The optional loops that are left open, with the reasons."""


def with_loops(subtree: RobotSubtree, model: RigidBodyModel) -> tuple[RigidBodyModel, OpenLoops]:
    """The model with the closed loops of a file, and those that are left open. Raises RobotError
    for a loop that is not supported and not optional."""
    closures, open_loops = _closures(subtree, model)
    if not closures:
        return model, open_loops
    determined = {i for closure in closures for i in closure.dependent}
    bodies = tuple(
        replace(body, follows=Follow(())) if i in determined else body
        for i, body in enumerate(model.bodies, 1)
    )
    closed = replace(model, bodies=bodies, closures=_ordered(subtree.robot, model, closures))
    return closed, open_loops


def _closures(
    subtree: RobotSubtree, model: RigidBodyModel
) -> tuple[list[Closure], list[tuple[LoopElement, str]]]:
    """The closures of a tree, and the optional loops that are left open with the reasons. Raises
    RobotError."""
    closures, open_loops = list[Closure](), list[tuple[LoopElement, str]]()
    for loop in sorted(subtree.robot.loops, key=lambda loop: not loop.polynomial):
        try:
            ends = _cut_frames(subtree, model, loop)
            if ends is not None:
                shared = _joints_of_other_loops(subtree, model, loop)
                closure = _closure(model, loop, ends, closures, shared)
                determined = {i for c in (*closures, closure) for i in c.dependent}
                bodies = enumerate(model.bodies, 1)
                if all(i in determined or body.follows for i, body in bodies):
                    raise LoopError(
                        "it leaves the robot without a joint that can move; add joints, or remove "
                        "the loop"
                    )
                closures.append(closure)
        except LoopError as error:
            if not loop.optional:
                raise _error(subtree.robot, loop, str(error)) from None
            open_loops.append((loop, str(error)))
    return closures, open_loops


def _error(robot: RobotDescription, loop: LoopElement, message: str) -> SymgenError:
    if not loop.line:
        return OptionError(f"{loop.label}: {message}")
    return RobotError(_loop_location(robot, loop), loop.label, message)


def _loop_location(robot: RobotDescription, loop: LoopElement) -> SourceLocation:
    """Where a loop is in a file; of an option, the line of the robot."""
    return SourceLocation(loop.file or robot.file, loop.line or robot.line)


def _cut_frames(
    subtree: RobotSubtree, model: RigidBodyModel, loop: LoopElement
) -> tuple[tuple[int, int], tuple[Pose, Pose]] | None:
    """The two bodies of a loop and the frame of the cut joint on each; None if the part has neither
    of the links, or joints of a polynomial. Raises LoopError for a link that does not exist or is
    excluded."""
    kind, elements = (
        ("joint", subtree.robot.joints) if loop.polynomial else ("link", subtree.robot.links)
    )
    link_poses = {link.name: (0, link.pose) for link in model.base}
    link_poses |= {
        link.name: (i, link.pose) for i, b in enumerate(model.bodies, 1) for link in b.links
    }
    if loop.polynomial:
        single = ((i, b.joint) for i, b in enumerate(model.bodies, 1))
        link_poses = {j.name: (i, Pose()) for i, j in single if j.type.has_one_coordinate}
    known = [element.name for element in elements]
    for name in loop.links:
        if name not in known:
            raise LoopError(f"no {kind} is called '{shown(name)}'; {hint(name, known)}")
    missing = [name for name in loop.links if name not in link_poses]
    if len(missing) == len(loop.links):
        return None
    if missing and loop.polynomial:
        raise LoopError(
            f"joint '{shown(missing[0])}' is fixed here or has several coordinates; a polynomial "
            "is of two joints with one coordinate each",
        )
    if missing:
        raise LoopError(
            f"--root and --tip exclude link '{shown(missing[0])}', so that the loop is open; "
            "choose a part with both links, or remove the loop"
        )
    (first, pose), (second, other) = (link_poses[name] for name in loop.links)
    return (first, second), (pose @ loop.frames[0], other @ loop.frames[1])


def _closure(
    model: RigidBodyModel,
    loop: LoopElement,
    ends: tuple[tuple[int, int], tuple[Pose, Pose]],
    before: Sequence[Closure],
    shared: Collection[int],
) -> Closure:
    """The closure of a loop, with its dependent joints and its branch; `shared` joints belong to
    other loops too. Raises LoopError."""
    paths = ([ends[0][0]], list[int]()) if loop.polynomial else paths_of(model, ends[0])
    determined = {i for closure in before for i in closure.dependent}
    free = [
        [i for i in path if i not in determined and model.body(i).follows is None] for path in paths
    ]
    points, rotations = (
        tuple(getattr(pose, field) for pose in ends[1]) for field in ("position", "rotation")
    )
    closure = Closure(
        loop.name,
        ends[0],
        points,
        (),
        joint=loop.joint,
        rotations=rotations,
        length=loop.length,
        newton=loop.newton,
        polynomial=loop.polynomial,
    )
    if loop.dependent:
        named = [_dependent(model, loop, name, [*chain(*free)]) for name in loop.dependent]
        choices = [tuple(sorted(named))]
    else:
        kept = {i for i in chain(*free) if model.body(i).joint.name in loop.independent}
        choices = [(i,) for i in free[0]] if loop.polynomial else []
        choices = choices or dependent_choices(free, loop.joint, kept)
        if loop.newton:
            far = farthest_first(free, [*kept, *shared])
            choices = [newton_dependent(model, closure, far)] if far else []
    if not choices and loop.polynomial:
        raise LoopError(
            f"joint '{shown(loop.links[0])}' follows others already; remove one of both",
        )
    if not choices:
        raise LoopError(
            f"the number of its joints that could follow from the others is {len([*chain(*free)])},"
            f" and a planar loop determines {PLANAR_UNKNOWNS}; give it more joints, or remove it",
        )
    reasons = list[str]()
    for dependent in choices:
        try:
            (found,) = _with_branch(model, [replace(closure, dependent=dependent)], loop.branch)
        except LoopError as error:
            reasons.append(str(error))
            continue
        for i in dependent:
            _check_dependent(model, i)
        return found
    raise LoopError(reasons[0])


def _joints_of_other_loops(
    subtree: RobotSubtree, model: RigidBodyModel, loop: LoopElement
) -> set[int]:
    """The bodies on the chains of the other loops."""
    shared = set[int]()
    for other in subtree.robot.loops:
        ends = None
        with suppress(LoopError):  # reported with that loop
            ends = _cut_frames(subtree, model, other) if other is not loop else None
        shared |= {*chain(*paths_of(model, ends[0]))} if ends else set()
    return shared


def _with_branch(
    model: RigidBodyModel, group: Sequence[Closure], branch: int, k: int = 0
) -> list[Closure]:
    """Closures that are solved together, of which one is on a branch, by default on the one on
    which the dependent joints are nearest to 0. Raises LoopError where their positions have no
    closed form."""
    distances, reasons, known = dict[int, float](), list[LoopError](), assembly_branches(group[k])
    if branch and branch not in known:
        raise LoopError(f"branch is {branch}; give {' or '.join(map(str, known))}")
    trials = {b: [*group[:k], replace(group[k], branch=b), *group[k + 1 :]] for b in known}
    for trial in (branch,) if branch else known:
        try:
            loop = loop_of(model, trials[trial])
            distances[trial] = sum_in_order(map(abs, loop.values(loop.sample).values()), 0.0)
        except LoopError as error:
            reasons.append(error)
    if not distances:
        raise reasons[0]
    return trials[min(distances, key=distances.__getitem__)]


def _dependent(model: RigidBodyModel, loop: LoopElement, name: str, free: Sequence[int]) -> int:
    """The body of a joint that a loop is to determine. Raises LoopError."""
    names = {model.body(i).joint.name: i for i in free}
    if len({*loop.dependent}) != len(loop.dependent):
        raise LoopError(f"names {quoted(loop.dependent)} as dependent; name each once")
    if name not in names:
        raise LoopError(
            f"'{shown(name)}' is no joint that this loop can determine; name two of "
            f"{quoted(names)}",
        )
    return names[name]


def _check_dependent(model: RigidBodyModel, i: int) -> None:
    """Raises LoopError if a spring or another joint depends on the angle of a joint that the loop
    determines, of which only the cosine and the sine are known."""
    joint = model.body(i).joint
    followers = (
        body.joint.name
        for body in model.bodies
        if body.follows and not body.joint.type.is_rotor
        if i in dict(body.follows.terms)
    )
    follower = next(followers, None)
    if follower is not None:
        raise LoopError(
            f"determines joint '{shown(joint.name)}', which joint '{shown(follower)}' follows; "
            "make one of the two independent",
        )


def _ordered(
    robot: RobotDescription, model: RigidBodyModel, closures: Sequence[Closure]
) -> tuple[Closure, ...]:
    """The closures, each after those that determine joints of its chains. Raises RobotError for
    loops that determine each other's joints and have no closed form."""
    ordered = closure_groups(model, closures)
    loops = {loop.name: loop for loop in robot.loops}
    for k, group in enumerate(ordered):
        if len(group) > 1 and not all(closure.newton for closure in group):
            try:
                for n, closure in enumerate(group):
                    group = _with_branch(model, group, loops[closure.name].branch, n)
            except LoopError as error:
                names = quoted(closure.name for closure in group)
                message = f"{error} ({names}); name other dependent joints"
                raise _error(robot, loops[group[0].name], message) from None
            ordered[k] = group
    return tuple(chain(*ordered))


def notices_on_loops(
    subtree: RobotSubtree, model: RigidBodyModel, open_loops: OpenLoops
) -> Iterator[Notice]:
    """A warning for each loop that is left open, and a note for each closed one: the joints that it
    determines, from which others, and how many coordinates the robot has."""
    for loop, reason in open_loops:
        text = f"{loops_left_open((loop.name,), 1)}; {reason}"
        if not loop.newton:
            text += f"; --loop 'name=\"{shown(loop.name)}\", newton=true' needs no closed form"
        yield Notice(_loop_location(subtree.robot, loop), "warning", loop.label, text)
    loops = {loop.name: loop for loop in subtree.robot.loops}
    for row in listed_loops(model):
        mobility = f"the robot has {model.dof} independent coordinate{'s' * (model.dof != 1)}"
        what = (
            f"closes a {row.kind} that determines joints {quoted(row.dependent)} from "
            f"{quoted(row.others)} on branch {row.closure.branch:+d}"
        )
        if row.closure.polynomial:
            what = f"{quoted(row.dependent)} = {polynomial_text(model, row.closure)}"
        if row.equations > len(row.dependent):
            mobility = (
                f"{len(row.dependent)} of the {row.equations} equations of its cut joint are "
                f"independent{remaining_gap_text(row.gaps)}; {mobility}, and "
                f"{gruebler_mobility(model)} by Grübler's formula"
            )
        loop = loops[row.closure.name]
        yield Notice(_loop_location(subtree.robot, loop), "note", loop.label, f"{what}; {mobility}")
