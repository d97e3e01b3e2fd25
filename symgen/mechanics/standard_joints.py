"""The joint types: revolute, prismatic, cylindrical, screw, universal, planar, ball and floating
joints, and the types of rotors and of reflected rotor inertia, which the reader adds.

A geared drive has a balanced rotor, whose coordinate is that of the joint times the gear ratio
(Echeandia, Rigid-body dynamics algorithms, 2020, ch. 4). Armature is inertia that resists only the
motion of one joint. It is modelled as a body on the ground that moves relative to the ground as the
joint moves its child relative to the parent, and that has no weight: a rotor on the ground for a
coordinate that is the integral of its rate; for a ball or floating joint a body whose inertia is
the same about all axes, and a point mass. (F08: Featherstone, Rigid Body Dynamics Algorithms,
2008.)"""

from dataclasses import replace
from typing import Final

from symgen.mechanics.joint_type import (
    BALANCED,
    PITCH,
    POINT,
    ROUND,
    SECOND_AXIS,
    SLIDE,
    TURN,
    BodyAxesJoint,
    Coordinate,
    Freedom,
    JointPart,
    JointType,
)
from symgen.mechanics.spatial import IDENTITY, Triple
from symgen.numbers.scalar import dot

X, Y, Z = IDENTITY

MAX_COSINE_TO_X: Final = 0.9
"""Largest cosine between the x axis and the first axis at which the x axis gives the second."""


def default_second_axis(axis: Triple) -> Triple:
    """The x axis of the joint frame, projected onto the plane perpendicular to `axis` and scaled to
    length 1, or the y axis where x is (nearly) parallel to `axis`."""
    hint = IDENTITY[0] if abs(axis[0]) < MAX_COSINE_TO_X else IDENTITY[1]
    k = dot(hint, axis)
    in_plane = [h - k * n for h, n in zip(hint, axis, strict=True)]
    size = dot(in_plane, in_plane) ** 0.5
    return (in_plane[0] / size + 0.0, in_plane[1] / size + 0.0, in_plane[2] / size + 0.0)


TWIST_SENTENCES: Final = (
    "Accelerations of ball and floating joints are the time derivatives of these velocities, and "
    "forces are power-conjugate to the velocities. Coordinates, velocities and forces are the same "
    "as in Pinocchio.",
    "The quaternion must have unit length; it is not normalized.",
    "Derivatives with respect to q (and directions dq) are taken along unit twists, with one "
    "column for each velocity, not with respect to the components of the quaternion.",
    "As for other joints, C qd is the bias force without gravity, dM/dt = C + C^T, and C_ij is the "
    "sum over k of Gamma_ijk qd_k. The following symmetries do not hold for two coordinates j and "
    "k of the same ball or floating joint: Gamma_ijk = Gamma_ikj (packed Christoffel symbols "
    "contain the mean), tau_qq_ijk = tau_qq_ikj, and dg_j/dq_k = dg_k/dq_j.",
    "tau_qq is the derivative of dtau_dq along unit twists.",
)
"""Sentences on the coordinates that all these types have in common."""

BALL: Final = BodyAxesJoint(
    "ball",
    tuple(Coordinate(suffix, "rad") for suffix in ("wx", "wy", "wz")),
    constant_parts=(JointPart(TURN, Z, 2), JointPart(TURN, X, 0), JointPart(TURN, Y, 1)),
    documentation=(
        "A ball joint has four positions, the unit quaternion qx, qy, qz, qw of the rotation from "
        "body axes to joint axes. Its three velocities are the angular velocity of the body in "
        "body axes (rad/s), and its three forces are the moment in the same axes (N m).",
        *TWIST_SENTENCES,
    ),
)
FLOATING: Final = BodyAxesJoint(
    "floating",
    (
        *(Coordinate(suffix, "m") for suffix in ("vx", "vy", "vz")),
        *(Coordinate(suffix, "rad") for suffix in ("wx", "wy", "wz")),
    ),
    constant_parts=(  # the last one has the body's own axes for its frame, as the first has
        JointPart(SLIDE, Z, 2),
        JointPart(SLIDE, X, 0),
        JointPart(SLIDE, Y, 1),
        JointPart(TURN, X, 3),
        JointPart(TURN, Y, 4),
        JointPart(TURN, Z, 5),
    ),
    documentation=(
        "A floating joint has seven positions: the origin x, y, z of the body in the parent frame "
        "(m), and the unit quaternion qx, qy, qz, qw of the rotation from body axes to parent "
        "axes. Its six velocities are the twist of the body in body axes: linear velocity of the "
        "origin (m/s), then angular velocity (rad/s). Its six forces are the force (N) and the "
        "moment about the origin (N m) in the same axes.",
        *TWIST_SENTENCES,
    ),
)


def _on_ground(name: str, joint: BodyAxesJoint, rotor_moment: str) -> BodyAxesJoint:
    """The armature of a type, of whose parts the last one has the inertia."""
    *others, last = joint.constant_parts
    last = replace(last, freedom=Freedom(turn=1, rotor_moment=rotor_moment))
    return replace(
        joint,
        name=name,
        documentation=(),
        is_rotor=True,
        on_robot=False,
        constant_parts=(*others, last),
    )


ROTOR: Final = JointType(
    "rotor",
    (Coordinate("", "rad"),),
    ((Freedom(turn=1, rotor_moment=BALANCED), 0),),
    is_rotor=True,
)

TYPES: Final[tuple[JointType, ...]] = (
    BALL,
    JointType(
        "cylindrical",
        (Coordinate("z", "m"), Coordinate("theta", "rad")),
        ((SLIDE, 0), (TURN, 0)),
        (
            "A cylindrical joint translates along its axis by z (m) and rotates about it by "
            "theta (rad), independently.",
        ),
    ),
    FLOATING,
    JointType(
        "planar",  # the axis is the normal of the plane, the second axis its x direction
        (Coordinate("x", "m"), Coordinate("y", "m"), Coordinate("theta", "rad")),
        ((SLIDE, 1), (SLIDE, 2), (TURN, 0)),
        (
            "A planar joint translates by x and y and then rotates by theta about the normal of "
            "its plane. The default x direction is the projection of the x axis of the joint frame "
            "onto the plane (of its y axis if x is the normal), and (x, y, normal) is "
            "right-handed. Velocities and forces in x and y are along these directions, which do "
            "not rotate with the body.",
        ),
        SECOND_AXIS,
    ),
    JointType("prismatic", (Coordinate("", "m"),), ((SLIDE, 0),)),
    JointType("revolute", (Coordinate("", "rad"),), ((TURN, 0),), unbounded=True),
    ROTOR,
    replace(ROTOR, name="armature", on_robot=False),
    _on_ground("ball_armature", BALL, ROUND),
    _on_ground("floating_armature", FLOATING, ROUND),
    _on_ground("floating_mass", FLOATING, POINT),
    JointType(
        "screw",
        (Coordinate("", "rad"),),
        ((TURN, 0),),
        (
            "A screw joint rotates about its axis by q (rad) and translates along it by its "
            "pitch times q; its force is the torque on the screw (N m).",
        ),
        PITCH,
    ),
    JointType(
        "universal",  # the first axis moves with the parent, the second with the body
        (Coordinate("theta1", "rad"), Coordinate("theta2", "rad")),
        ((TURN, 0), (TURN, 1)),
        (
            "A universal joint rotates by theta1 about its first axis, which is fixed to the "
            "parent, and then by theta2 about its second axis, which is perpendicular to the first "
            "and fixed to the body.",
        ),
        SECOND_AXIS,
    ),
)
"""The joint types, without mass between the parts of a joint (F08, table 4.1, sections 4.4 and
4.5)."""

JOINT_TYPES: Final[dict[str, JointType]] = {joint.name: joint for joint in TYPES}
"""The joint types by name."""
