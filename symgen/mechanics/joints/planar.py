"""Planar joints: the body slides along x and y of a plane, then turns by theta about its normal."""

from typing import TYPE_CHECKING

from symgen.mechanics.joints.freedom import SLIDE, TURN
from symgen.mechanics.joints.joint_type import Coordinate, JointPart
from symgen.mechanics.joints.second_axis import SecondAxis
from symgen.mechanics.pose import Triple

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint


class Planar(SecondAxis):
    """Two slides and a hinge, without mass between them; `axis` is the normal of the plane, the
    second axis its x direction."""

    name = "planar"
    velocities = (Coordinate("x", "m"), Coordinate("y", "m"), Coordinate("theta", "rad"))
    words = (
        "A planar joint translates by x and y and then rotates by theta about the normal of its "
        "plane. The default x direction is the projection of the x axis of the joint frame onto "
        "the plane (of its y axis if x is the normal), and (x, y, normal) is right-handed. "
        "Velocities and forces in x and y are along these directions, which do not rotate with "
        "the body.",
    )

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        a, b, c = joint.constants
        x, y = (a, b, c), cross(joint.axis, (a, b, c))
        return JointPart(SLIDE, x, 0), JointPart(SLIDE, y, 1), JointPart(TURN, joint.axis, 2)


def cross(a: Triple, b: Triple) -> Triple:
    """a × b, without negative zeros."""
    return (
        a[1] * b[2] - a[2] * b[1] + 0.0,
        a[2] * b[0] - a[0] * b[2] + 0.0,
        a[0] * b[1] - a[1] * b[0] + 0.0,
    )
