"""References of the wrenches in joints: sums over the textbook's links beyond a joint."""

from decimal import Decimal

import numpy as np

from symgen.numbers.types import DecimalArray
from symgen.proof.laws.fluid_physics import fluid_wrench
from symgen.proof.laws.law_registry import law
from symgen.proof.laws.regressor_laws import UNITS, by_parameters
from symgen.proof.reference_kinematics import body_poses
from symgen.proof.reference_model import WORLD, Frame, entries_array
from symgen.proof.states import States, gradient
from symgen.proof.textbook import transmitted_wrench

SUMS = "sum over all links beyond the joint, in world axes"


def wrench(x: States, joint: str, in_root_axes: bool = False) -> DecimalArray:
    """Force and moment of the parent on the child about the origin of a joint, in the joint's or
    the root's axes: (..., 6)."""
    bodies = enumerate(x.robot.model.bodies, 1)
    last = max(i for i, b in bodies if b.joint.name == joint and not b.joint.type.is_rotor)
    body = body_poses(x.mechanism, x.textbook.course.positions)[last]
    frame = Frame(WORLD if in_root_axes else body.axes, body.place)
    entries = transmitted_wrench(x.mechanism, x.textbook, last, frame)
    rigid = entries_array(entries, x.shape, Decimal(0))
    return rigid + fluid_wrench(x, last, frame) if x.robot.fluid else rigid


@law("joint_wrench", SUMS)
def joint_wrench(x: States, joint: str) -> DecimalArray:
    """w in the joint's axes."""
    return wrench(x, joint)


@law("joint_wrench_aligned", SUMS)
def joint_wrench_aligned(x: States, joint: str) -> DecimalArray:
    """w in root axes."""
    return wrench(x, joint, in_root_axes=True)


@law("joint_wrenches", SUMS)
def joint_wrenches(x: States) -> DecimalArray:
    """w of all moving joints, row by row."""
    names = [joint.name for _, joint in x.robot.model.joints if not joint.type.is_rotor]
    return np.stack([wrench(x, name) for name in names], axis=-2)


@law("joint_wrench_regressor", UNITS)
def joint_wrench_regressor(x: States, joint: str) -> DecimalArray:
    """W."""
    return by_parameters(lambda y: wrench(y, joint), x)


@law("joint_wrench_derivatives", "derivatives of the reference wrench in 75 digits", 1)
def joint_wrench_derivatives(x: States, joint: str) -> tuple[DecimalArray, ...]:
    """∂w/∂q, ∂w/∂q̇, ∂w/∂q̈."""
    return tuple(gradient(lambda y: wrench(y, joint), x, name) for name in ("q", "qd", "qdd"))
