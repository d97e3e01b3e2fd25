"""Positions for tests: random unit quaternions, and closed loops that close."""

import math
from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Final

from symgen.mechanics.coupling import Coupling
from symgen.mechanics.joints.body_axes import quaternion_rows
from symgen.numbers.scalar import plain


def with_random_unit_quaternions(
    coupling: Coupling, q: Sequence[float], random: Random
) -> tuple[float, ...]:
    """The positions with random unit quaternions of two decimals, for tests in any precision, and
    with all loops closed."""
    drawn = list(q)
    for four in coupling.quaternions:
        drawn[four] = random.choice(UNIT_QUATERNIONS)
    return coupling.reachable(drawn)


UNIT_QUATERNIONS: Final = tuple(
    quaternion
    for a, b, c in product(range(-90, 91, 10), repeat=3)
    for w in (math.isqrt(max(10000 - a * a - b * b - c * c, 0)),)
    if a * b * c * w and a * a + b * b + c * c + w * w == 10000
    for quaternion in ((a / 100, b / 100, c / 100, w / 100),)
    if all(abs(plain(x)) < 0.999 for row in quaternion_rows(quaternion) for x in row)
)
"""Some whose squares add up to 1 exactly, without those by which an axis becomes another one, as
there angles of roll and yaw are not defined."""
