"""Joint angles of many turns, at which a test exercises the range reduction of sines."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Final

from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.model import Model
from symgen.numbers.trig import SINES

SHARE: Final = 0.45
"""The part of the bound of the sines' error that the orientation of a body may take: joint angles,
which are differences of two of them, and sums of consecutive ones stay within the bound."""

GRID: Final = 16.0
"""Angles are multiples of its reciprocal (rad): exact in four decimals and in single precision, and
so are their sums."""


def with_large_angles(
    model: Model, q: Sequence[float], scalar: str, rng: Random
) -> tuple[float, ...]:
    """The positions `q` with random angles of up to 0.9 times the angle to which the sines of the
    scalar type are accurate, wherever a coordinate turns one body and moves no other one.

    Coordinates that slide, drive several bodies or belong to a quaternion keep their values. An
    angle of a screw or of a leader of others would be a large displacement elsewhere."""
    places = _angles(model)
    reach = SHARE * SINES[scalar].bound
    large, orientations = list(q), {0: 0.0}
    for i in model.outward:
        before = orientations[model.body(i).parent]
        orientations[i] = before
        if i in places:
            orientations[i] = round(rng.uniform(-reach, reach) * GRID) / GRID
            large[places[i]] = orientations[i] - before
    return tuple(large)


def _angles(model: Model) -> dict[int, int]:
    """By body the place of its angle among the positions, where nothing else depends on that."""
    drives = coupling_of(model).drives
    rotors = {i for i, body in enumerate(model.bodies, 1) if body.joint.type.spins}
    uses = Counter(
        term.place for i, drive in enumerate(drives, 1) if i not in rotors for term in drive.terms
    )
    return {
        i: drive.place
        for i, (body, drive) in enumerate(zip(model.bodies, drives, strict=True), 1)
        if i not in rotors
        and not drive.follows
        and not body.joint.type.in_body_axes
        and uses[drive.place] == 1
        and body.joint.type.parts(body.joint)[body.at].freedom.pivots
    }
