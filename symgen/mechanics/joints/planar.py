"""Planar joints: the body slides along x and y of a plane, then turns by theta about its normal."""

from typing import TYPE_CHECKING, Final

from symgen.mechanics.joints.freedom import SLIDE, TURN
from symgen.mechanics.joints.joint_type import Coordinate, JointPart, JointType
from symgen.mechanics.pose import IDENTITY, Triple

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint

PARALLEL: Final = 0.9
"""Beyond this cosine the x axis is too near the normal to give a direction in the plane."""


class Planar(JointType):
    """Two slides and a hinge, without mass between them; `axis` is the normal of the plane."""

    name = "planar"
    velocities = (Coordinate("x", "m"), Coordinate("y", "m"), Coordinate("theta", "rad"))
    words = (
        "A planar joint translates by x and y and then rotates by theta about the normal of its "
        "plane. The x direction is the projection of the x axis of the joint frame onto the plane "
        "(of its y axis if x is the normal), and (x, y, normal) is right-handed. Velocities and "
        "forces in x and y are along these directions, which do not rotate with the body.",
    )

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        x, y = plane(joint.axis)
        return JointPart(SLIDE, x, 0), JointPart(SLIDE, y, 1), JointPart(TURN, joint.axis, 2)


def plane(normal: Triple) -> tuple[Triple, Triple]:
    """Unit vectors x and y of the plane, right-handed with `normal`; x is the x axis of the joint's
    frame as it appears in the plane, or the y axis where x is (nearly) the normal."""
    hint = IDENTITY[0] if abs(normal[0]) < PARALLEL else IDENTITY[1]
    k = sum(a * b for a, b in zip(hint, normal, strict=True))
    in_plane = [h - k * n for h, n in zip(hint, normal, strict=True)]
    size = sum(r * r for r in in_plane) ** 0.5
    x = (in_plane[0] / size + 0.0, in_plane[1] / size + 0.0, in_plane[2] / size + 0.0)
    return x, cross(normal, x)


def cross(a: Triple, b: Triple) -> Triple:
    """a × b, without negative zeros."""
    return (
        a[1] * b[2] - a[2] * b[1] + 0.0,
        a[2] * b[0] - a[0] * b[2] + 0.0,
        a[0] * b[1] - a[1] * b[0] + 0.0,
    )
