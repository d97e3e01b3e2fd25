"""Positions of a platform on three legs, as of a delta robot, in closed form.

The platform slides along three perpendicular axes, and each leg keeps the distance of one of its
points from a point that is known: three spheres, moved to one point of the platform, of which two
points are common (trilateration). Then each leg is turned to its end."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from symgen.mechanics.kinematic_loop import LoopError, Positions
from symgen.mechanics.leg_positions import LEG, Leg, Rod, leg_of
from symgen.mechanics.loop_geometry import PARALLEL
from symgen.mechanics.spatial import Vector
from symgen.mechanics.spatial_loop import CutSides, walk
from symgen.numbers.operations import sqrt
from symgen.numbers.scalar import ZERO, Scalar, plain, positive


def common_point(centers: Sequence[Vector], squares: Sequence[Scalar], sign: int) -> Vector:
    """The point whose distances from three centres have the given squares, on the side of their
    plane to which a × b points for the sign 1, with the vectors a and b from the first centre to
    the others."""
    a, b = (center - centers[0] for center in centers[1:])
    aa, ab, bb, normal = a.dot(a), a.dot(b), b.dot(b), a.cross(b)
    by_a, by_b = (
        0.5 * (squares[0] - square + size)
        for square, size in zip(squares[1:], (aa, bb), strict=True)
    )
    inverse = 1.0 / normal.dot(normal)
    along_a, along_b = (by_a * bb - by_b * ab) * inverse, (by_b * aa - by_a * ab) * inverse
    rest = squares[0] - (along_a * by_a + along_b * by_b)
    height = sign * sqrt(positive(rest * inverse))
    return centers[0] + a.scaled(along_a) + b.scaled(along_b) + normal.scaled(height)


@dataclass(frozen=True)
class Tripod:
    """Three legs of a platform, each with the side of its cut joint that has the sliding joints of
    the platform, from the index `first` on."""

    legs: tuple[Rod | Leg, ...]
    sides: tuple[int, ...]
    first: int

    def __call__(self, x: Positions) -> dict[int, Any]:
        """The positions of the platform's joints and of the legs' pairs."""
        pairs = [*zip(self.legs, self.sides, strict=True)]
        chain = self.legs[0].cut.sides[self.sides[0]]
        sliders = slice(self.first, self.first + LEG)
        bodies = [hinge.body for hinge in chain.hinges[sliders]]
        at_zero = {**x, **dict.fromkeys(bodies, ZERO)}
        spheres = [(leg.points(at_zero), leg.square(at_zero), side) for leg, side in pairs]
        centers = [points[1 - side] - points[side] for points, _, side in spheres]
        sign = 1 if self.legs[0].cut.closure.branch > 0 else -1
        moved = common_point(centers, [square for _, square, _ in spheres], sign)
        stations = walk(chain, at_zero)[0][sliders]
        found = {body: s.axis.dot(moved) for body, s in zip(bodies, stations, strict=True)}
        known = {**x, **found}
        for leg in (leg for leg in self.legs if isinstance(leg, Leg)):
            found |= leg.pointed(known)
        return found


def tripod_of(cuts: Sequence[CutSides]) -> Tripod:
    """The closed form of cut joints that determine each other's joints. Raises LoopError where
    there is none."""
    legs = tuple(leg_of(cut) for cut in cuts)
    sides = tuple(leg.third[0] for leg in legs)
    hinges = [cut.sides[side].hinges for cut, side in zip(cuts, sides, strict=True)]
    thirds = {h[leg.third[1]].body for h, leg in zip(hinges, legs, strict=True)}
    first = min(leg.third[1] for leg in legs)
    zeros = dict.fromkeys((h.body for cut in cuts for s in cut.sides for h in s.hinges), 0.0)
    axes = [s.axis for s in walk(cuts[0].sides[sides[0]], zeros)[0]][first : first + LEG]
    same = all({h.body for h in chain[first : first + LEG]} == thirds for chain in hinges)
    across = (abs(plain(a.dot(b))) <= PARALLEL for a, b in combinations(axes, 2))
    slide = all(hinge.slides for hinge in hinges[0][first : first + LEG])
    if len(cuts) != LEG or not (same and slide and all(across)):
        raise LoopError(
            "it and other loops determine each other's joints, and their positions have no closed "
            "form, as those of a platform that slides along three perpendicular axes on three legs"
        )
    return Tripod(legs, sides, first)
