"""A chain of joints of all types with odd constants, built in Python and in Pinocchio: a planar one
and a floating one in its middle, negative axes, axes at right angles that are not the default,
pitches that are large, negative and zero."""

from typing import Any

import numpy as np

import symgen
from symgen.mechanics.spatial import cross
from tests.support.oracles import oracle

pin = oracle("pinocchio")

CHAIN: list[tuple[str, Any, dict[str, Any]]] = [
    ("screw", (-0.36, -0.48, 0.8), {"pitch": 5.0}),
    ("planar", (0.6, 0.0, -0.8), {"axis2": (0.0, 1.0, 0.0)}),
    ("universal", (0.0, -1.0, 0.0), {"axis2": (0.6, 0.0, -0.8)}),
    ("screw", (0.0, 0.0, -1.0), {"pitch": 0.0}),
    ("floating", None, {}),
    ("cylindrical", (0.0, -0.6, -0.8), {}),
    ("ball", None, {}),
    ("continuous", (-1.0, 0.0, 0.0), {}),
    ("screw", (0.0, 1.0, 0.0), {"pitch": -0.02}),
]


def _composite(*joints: Any) -> Any:
    made = pin.JointModelComposite(joints[0])
    for joint in joints[1:]:
        made.addJoint(joint)
    return made


def _slide(axis: Any) -> Any:
    return pin.JointModelPrismaticUnaligned(np.array(axis))


def _turn(axis: Any) -> Any:
    return pin.JointModelRevoluteUnaligned(np.array(axis))


THEIRS = {
    "screw": lambda a, pitch: pin.JointModelHelicalUnaligned(np.array(a), pitch / (2 * np.pi)),
    "planar": lambda a, axis2: _composite(_slide(axis2), _slide(cross(a, axis2)), _turn(a)),
    "universal": lambda a, axis2: pin.JointModelUniversal(np.array(a), np.array(axis2)),
    "floating": lambda a: pin.JointModelFreeFlyer(),
    "cylindrical": lambda a: _composite(_slide(a), _turn(a)),
    "ball": lambda a: pin.JointModelSpherical(),
    "continuous": _turn,
}


def mixed() -> tuple[symgen.Builder, Any]:
    """The same chain twice; its last link is ``l8``."""
    rng = np.random.default_rng(7)
    ours, theirs = symgen.Builder("mixed").link("base"), pin.Model()
    for k, (kind, axis, own) in enumerate(CHAIN):
        root, half = rng.uniform(-1, 1, (3, 3)), rng.uniform(-0.2, 0.2, 3)
        tensor, mass = root @ root.T * 0.02 + np.eye(3) * 0.01, rng.uniform(0.5, 2)
        xyz, rpy = rng.uniform(-0.4, 0.4, 3), rng.uniform(-1, 1, 3)
        ours.link(f"l{k}", mass, half, (tensor + tensor.T) / 2)
        along = {} if axis is None else {"axis": axis}
        ours.joint(f"j{k}", kind, f"l{k - 1}" if k else "base", f"l{k}", xyz, rpy, **along, **own)
        pose = pin.SE3(pin.rpy.rpyToMatrix(*rpy), xyz)
        joint = theirs.addJoint(k, THEIRS[kind](axis, **own), pose, f"j{k}")
        theirs.appendBodyToJoint(joint, pin.Inertia(mass, half, tensor), pin.SE3.Identity())
    return ours, theirs
