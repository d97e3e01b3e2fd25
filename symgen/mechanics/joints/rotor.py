"""Balanced rotors of geared drives, and what is reflected of one: bodies that the reader adds.

Their coordinate is that of the joint that they drive, times the gear ratio. (Echeandia, Rigid-body
dynamics algorithms, 2020, ch. 4.)

Armature is inertia that resists only the motion of a joint. It is that of a body on the ground that
moves relative to the ground as the joint moves its child relative to the parent, and that has no
weight. So a coordinate that is the integral of its rate has a rotor on the ground; a ball or
floating joint has bodies on the ground with joints that move likewise: one whose inertia is the
same about all axes, and a point mass."""

from dataclasses import replace
from typing import TYPE_CHECKING

from symgen.mechanics.joints.ball import Ball
from symgen.mechanics.joints.floating import Floating
from symgen.mechanics.joints.freedom import BalancedFreedom, PointFreedom, RoundFreedom
from symgen.mechanics.joints.joint_type import Coordinate, JointPart, JointType

if TYPE_CHECKING:
    from symgen.mechanics.model import Joint


class RotorJoint(JointType):
    """A balanced rotor on the link that carries the joint: it turns about an axis and looks the
    same however far."""

    name = "rotor"
    velocities = (Coordinate("", "rad"),)
    spins = True

    def parts(self, joint: "Joint") -> tuple[JointPart, ...]:
        return (JointPart(BalancedFreedom(turn=1), joint.axis),)


class Armature(RotorJoint):
    """A rotor on the ground in place of one on the robot, whose inertia about its axis is all that
    is taken of it; only its joint feels it."""

    name = "armature"
    on_robot = False


class BallArmature(Ball):
    """The armature of a ball joint; the last of its bodies has the same inertia about all axes."""

    name = "ball_armature"
    words = ()
    spins = True
    on_robot = False
    run = (*Ball.run[:-1], replace(Ball.run[-1], freedom=RoundFreedom(turn=1)))


class FloatingArmature(Floating):
    """The armature of the rotation of a floating joint, likewise."""

    name = "floating_armature"
    words = ()
    spins = True
    on_robot = False
    run = (*Floating.run[:-1], replace(Floating.run[-1], freedom=RoundFreedom(turn=1)))


class FloatingMass(Floating):
    """The armature of the translation of a floating joint: the last of its bodies is a point mass,
    at its origin."""

    name = "floating_mass"
    words = ()
    spins = True
    on_robot = False
    run = (*Floating.run[:-1], replace(Floating.run[-1], freedom=PointFreedom(turn=1)))
