"""The closed loops of a model: planar ones, spatial ones, and those that determine their joints
together."""

from collections.abc import Collection, Sequence
from itertools import chain, combinations
from typing import Final

from symgen.mechanics.kinematic_loop import KinematicLoop
from symgen.mechanics.leg_positions import LEG
from symgen.mechanics.loop_geometry import planar_loop
from symgen.mechanics.model import Closure, RigidBodyModel
from symgen.mechanics.spatial_geometry import spatial_loop

PLANAR_UNKNOWNS: Final = 2
"""The number of coordinates that a planar loop determines."""


def loop_of(model: RigidBodyModel, closure: Closure) -> KinematicLoop:
    """The loop of a closure. Raises LoopError where its positions have no closed form."""
    if len(closure.dependent) == PLANAR_UNKNOWNS:
        return planar_loop(model, closure)
    return spatial_loop(model, [closure])


def branches(closure: Closure) -> tuple[int, ...]:
    """The assemblies of a closure: two, or four of a spatial leg, whose two signs are that of the
    branch and whether it is ±1 or ±2."""
    return (1, -1, 2, -2) if len(closure.dependent) == LEG else (1, -1)


def dependent_choices(
    free: Sequence[Sequence[int]], joint: str, kept: Collection[int] = ()
) -> list[tuple[int, ...]]:
    """The joints that a loop can determine, the best choice first, of joints on its two sides in
    the order of the chains: two of a planar loop, those farthest from the carrier; three of a
    spatial leg, all on the side with fewer joints if they can be; one for a constant distance.
    Joints that are `kept` are chosen last."""
    depth = {body: k for path in free for k, body in enumerate(path)}
    far = sorted(depth, key=lambda i: (i not in kept, depth[i], i), reverse=True)
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
