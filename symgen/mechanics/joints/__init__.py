"""The joint types: one file each has all that is known of how a joint moves, what it feels, what
inertia it hides, its coordinates, and what people are told of them.

A new type is one file, its row in JOINT_TYPES, in the reader (`symgen.reading.joints`) and in the
judge (`symgen.proof.textbook`). What all have in common is in `joint_type`, what one coordinate is
in `freedom`, joints with a quaternion in `body_axes`. Knows no robots and no algorithms."""

from typing import Final

from symgen.mechanics.joints.ball import Ball
from symgen.mechanics.joints.cylindrical import Cylindrical
from symgen.mechanics.joints.floating import Floating
from symgen.mechanics.joints.freedom import Freedom
from symgen.mechanics.joints.joint_type import Coordinate, JointType, Part
from symgen.mechanics.joints.planar import Planar
from symgen.mechanics.joints.prismatic import Prismatic
from symgen.mechanics.joints.revolute import Revolute
from symgen.mechanics.joints.rotor import Armature, Rotor
from symgen.mechanics.joints.screw import Screw
from symgen.mechanics.joints.universal import Universal

JOINT_TYPES: Final[dict[str, JointType]] = {
    joint.name: joint
    for joint in (
        Revolute(),
        Prismatic(),
        Screw(),
        Cylindrical(),
        Universal(),
        Ball(),
        Planar(),
        Floating(),
        Rotor(),
        Armature(),
    )
}

__all__ = ["JOINT_TYPES", "Coordinate", "Freedom", "JointType", "Part"]
