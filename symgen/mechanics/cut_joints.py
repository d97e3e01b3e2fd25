"""The types of joints that close loops, and what they hold.

A cut joint joins a frame on each of two bodies. It holds components of the vector r from the origin
of the first frame to that of the second, or its length, and scalar products of an axis of the first
frame with one of the second, which are 0."""

from dataclasses import dataclass
from typing import Final

X, Y, Z = 0, 1, 2


@dataclass(frozen=True, slots=True)
class CutJoint:
    """What a cut joint holds: whether the two origins `coincide`, the axes of the first frame along
    which r is 0 (`across`), whether the `distance` of the origins is constant, and the pairs of
    axes that are `perpendicular`: an axis of the first frame and one of the second. A `polynomial`
    holds the positions of two joints instead of frames."""

    coincide: bool = True
    across: tuple[int, ...] = ()
    distance: bool = False
    perpendicular: tuple[tuple[int, int], ...] = ()
    polynomial: bool = False

    @property
    def lengths(self) -> int:
        """The number of its equations of lengths, the first ones."""
        return 3 * self.coincide + len(self.across) + self.distance

    @property
    def rows(self) -> int:
        """The number of its equations."""
        return self.lengths + self.polynomial + len(self.perpendicular)


CUT_JOINTS: Final[dict[str, CutJoint]] = {
    "ball": CutJoint(),
    "revolute": CutJoint(perpendicular=((X, Z), (Y, Z))),
    "universal": CutJoint(perpendicular=((Z, Y),)),
    "fixed": CutJoint(perpendicular=((X, Y), (Y, Z), (Z, X))),
    "point_on_line": CutJoint(coincide=False, across=(X, Y)),
    "distance": CutJoint(coincide=False, distance=True),
    "polynomial": CutJoint(coincide=False, polynomial=True),
}
"""The cut joints by type: a revolute one turns about the z axes of both frames; a universal one
about the z axis of the first frame and the y axis of the second; at a fixed one the two frames
coincide; a point on a line is the second origin on the z axis of the first frame."""
