"""Balanced rotors of geared drives, and what is reflected of one: bodies that the reader adds.

Their coordinate is that of the joint that they drive, times the gear ratio. (Echeandia, Rigid-body
dynamics algorithms, 2020, ch. 4.)"""

from typing import TYPE_CHECKING

from symgen.mechanics.joints.freedom import BalancedFreedom
from symgen.mechanics.joints.joint_type import Coordinate, JointPart, JointType

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint


class RotorJoint(JointType):
    """A balanced rotor on the link that carries the joint: it turns about an axis and looks the
    same however far."""

    name = "rotor"
    velocities = (Coordinate("", "rad"),)
    rubs = False
    spins = True

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        return (JointPart(BalancedFreedom(turn=1), joint.axis),)


class Armature(RotorJoint):
    """A rotor on the ground in place of one on the robot, whose inertia about its axis is all that
    is taken of it; only its joint feels it."""

    name = "armature"
    on_robot = False
