"""The closed loops of a model: planar ones, spatial ones, and those that determine their joints
together."""

from collections.abc import Collection, Sequence
from itertools import chain, combinations
from typing import Final

from symgen.mechanics.kinematic_loop import KinematicLoop, LoopError
from symgen.mechanics.leg_positions import LEG
from symgen.mechanics.loop_geometry import planar_loop
from symgen.mechanics.model import Closure, RigidBodyModel, paths_of
from symgen.mechanics.parallelogram import recognised
from symgen.mechanics.polynomial_loop import PolynomialLoop
from symgen.mechanics.spatial_geometry import spatial_loop

PLANAR_UNKNOWNS: Final = 2
"""The number of coordinates that a planar loop determines."""


def loop_of(model: RigidBodyModel, group: Sequence[Closure]) -> KinematicLoop:
    """The loop of the closures of a group. Raises LoopError where its positions have no closed form
    and are not the user's."""
    first = group[0]
    if any(closure.polynomial for closure in group):
        if len(group) > 1:
            raise LoopError("a joint that follows a polynomial is moved by a joint that it moves")
        return PolynomialLoop(first, model.body(first.bodies[0]).joint.type.unit == "rad")
    if len(group) == 1 and not first.newton and len(first.dependent) == PLANAR_UNKNOWNS:
        return recognised(planar_loop(model, first))
    return spatial_loop(model, group)


def groups(model: RigidBodyModel, closures: Sequence[Closure]) -> list[list[Closure]]:
    """The closures, each after those that determine joints of its chains; closures that determine
    each other's joints are one group."""
    reads = {c.name: {*joints_of(model, c)} for c in closures}
    before = {
        c.name: {d.name for d in closures if d is not c and reads[c.name].intersection(d.dependent)}
        for c in closures
    }
    for _ in closures:  # all that are reached
        before = {a: b.union(*(before[name] for name in b)) for a, b in before.items()}
    found, done = list[list[Closure]](), set[str]()
    while len(done) < len(closures):
        waiting = [c for c in closures if c.name not in done]
        ready = next(
            c
            for c in waiting
            if all(c.name in before[name] for name in before[c.name] - done - {c.name})
        )
        same = {ready.name, *(n for n in before[ready.name] if ready.name in before[n])}
        found.append([c for c in waiting if c.name in same])
        done |= same
    return found


def joints_of(model: RigidBodyModel, closure: Closure) -> list[int]:
    """The bodies of the joints that a closure relates."""
    if closure.polynomial:
        return [*closure.bodies]
    return [i for path in paths_of(model, closure.bodies) for i in path]


def branches(closure: Closure) -> tuple[int, ...]:
    """The assemblies of a closure: two, or four of a spatial leg, whose two signs are that of the
    branch and whether it is ±1 or ±2. Positions of the user tell the assembly themselves, and a
    polynomial has one value."""
    if closure.newton or closure.polynomial:
        return (1,)
    return (1, -1, 2, -2) if len(closure.dependent) == LEG else (1, -1)


def farthest_first(free: Sequence[Sequence[int]], kept: Collection[int] = ()) -> list[int]:
    """The joints of a loop's two sides, those farthest from the carrier first, of equally far ones
    the last, and those that are `kept` behind the others."""
    depth = {body: k for path in free for k, body in enumerate(path)}
    return sorted(depth, key=lambda i: (i not in kept, depth[i], i), reverse=True)


def dependent_choices(
    free: Sequence[Sequence[int]], joint: str, kept: Collection[int] = ()
) -> list[tuple[int, ...]]:
    """The joints that a loop can determine, the best choice first, of joints on its two sides in
    the order of the chains: two of a planar loop, those farthest from the carrier; three of a
    spatial leg, all on the side with fewer joints if they can be; one for a constant distance.
    Joints that are `kept` are chosen last."""
    far = farthest_first(free, kept)
    choices = list[tuple[int, ...]]()
    if joint == "distance":
        choices += [(body,) for path in sorted(free, key=len) for body in path]
    elif len(far) >= PLANAR_UNKNOWNS:
        choices += [tuple(sorted(far[:PLANAR_UNKNOWNS]))]
    if joint == "ball":
        sides = [{*path} for path in sorted(free, key=len)]
        ways = [[*combinations([i for i in far if i in side], LEG)] for side in sides]
        spread = dict.fromkeys(chain(*ways, combinations(far, LEG)))
        choices += [tuple(sorted(three)) for three in spread]
    return sorted(choices, key=lambda choice: len({*kept}.intersection(choice)))
