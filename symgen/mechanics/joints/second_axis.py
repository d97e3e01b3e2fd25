"""Joint types with a second axis, which is perpendicular to the first."""

from typing import TYPE_CHECKING, Final

from symgen.mechanics.joints.joint_type import JointType
from symgen.mechanics.pose import IDENTITY, Triple

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint

TOLERANCE: Final = 1e-6
"""Largest deviation of the squared length of the second axis from 1, and of its product with the
first axis from 0."""
PARALLEL: Final = 0.9
"""Largest cosine between the x axis and the first axis at which the x axis gives the second."""


class SecondAxis(JointType):
    """A joint type whose constants are a second axis in the joint frame, a unit vector that is
    perpendicular to `axis`."""

    constants = ("second axis, x", "second axis, y", "second axis, z")

    def fault(self, joint: "Joint") -> str | None:
        """A sentence if the second axis is not a unit vector perpendicular to the first."""
        wrong = super().fault(joint)
        if wrong is not None:
            return wrong
        length = sum(x * x for x in joint.constants)
        product = sum(x * y for x, y in zip(joint.constants, joint.axis, strict=True))
        right = abs(length - 1) <= TOLERANCE and abs(product) <= TOLERANCE
        return None if right else "has axes of its joint that are not at right angles"


def default_second_axis(axis: Triple) -> Triple:
    """The x axis of the joint frame, projected onto the plane perpendicular to `axis` and scaled to
    length 1, or the y axis where x is (nearly) parallel to `axis`."""
    hint = IDENTITY[0] if abs(axis[0]) < PARALLEL else IDENTITY[1]
    k = sum(a * b for a, b in zip(hint, axis, strict=True))
    in_plane = [h - k * n for h, n in zip(hint, axis, strict=True)]
    size = sum(r * r for r in in_plane) ** 0.5
    return (in_plane[0] / size + 0.0, in_plane[1] / size + 0.0, in_plane[2] / size + 0.0)
