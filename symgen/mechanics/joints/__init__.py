"""The joint types: how each moves its body, its coordinates and their documentation.

A new type is a class in `standard_joints`, a row of `TYPES` there, a row of the reader
(`symgen.reading.joint_kinds`) and a row of the reference model
(`symgen.proof.reference_kinematics`). What all types have in common is in `joint_type`, types with
a quaternion derive from `body_axes`. The package does not know robots or algorithms."""

from typing import Final

from symgen.mechanics.joints.joint_type import Coordinate, Freedom, JointPart, JointType
from symgen.mechanics.joints.standard_joints import TYPES

JOINT_TYPES: Final[dict[str, JointType]] = {joint.name: joint for joint in TYPES}
"""The joint types by name."""

__all__ = ["JOINT_TYPES", "Coordinate", "Freedom", "JointPart", "JointType"]
