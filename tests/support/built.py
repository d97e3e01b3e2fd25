"""Robots built in Python, and runs of them."""

import math

import numpy as np
import sympy

import symgen
from tests.support.joint_zoo import JOINTS, LINKS, PITCH


def run(robot, quantity, **inputs):
    """The first output of a quantity on floats, by the algorithm itself."""
    function = robot.trace(quantity)
    found = function.run(**{k: list(map(float, inputs[k])) for k in function.inputs})
    return np.array([float(x) for x in next(iter(found.values()))])


def pose(robot, link, q):
    """The first three rows of a link's homogeneous transform."""
    found = robot.trace(f"frame_pose:{link}").run(q=list(map(float, q)))
    turn, place = (np.array([float(x) for x in out]) for out in found.values())
    return np.column_stack([turn.reshape(3, 3), place])


def built_zoo():
    """The robot of `joint_zoo`, built in Python."""
    made = symgen.Builder("zoo").link("base")
    for name, (xyz, rpy, mass, tensor) in LINKS.items():
        made.link(name, mass, xyz, tensor, rpy)
    for name, (kind, parent, child, xyz, rpy, axis) in JOINTS.items():
        more = {"axis": axis} if axis else {"axis": (1, 0, 0)} if kind == "universal" else {}
        pitch = {"pitch": PITCH} if kind == "screw" else {}
        made.joint(name, kind, parent, child, xyz, rpy, **more, **pitch)
    return made


TABLE = [
    {"a": 0.1, "alpha": math.pi / 2, "d": 0.3, "theta": 0.2},
    {"a": -0.4, "alpha": 0.0, "d": 0.0, "theta": 0.0, "type": "prismatic"},
    {"a": 0.3, "alpha": -0.7, "d": 0.1, "theta": math.pi / 2},
    {"a": 0.0, "alpha": math.pi, "d": -0.2, "theta": -1.0},
]


BODIES = [
    {
        "mass": 1.0 + k,
        "center_of_mass": (0.1, 0.02 * k, -0.1),
        "inertia": (0.1, 0.0, 0.01, 0.2, 0, 0.2),
    }
    for k in range(4)
]


def planar():
    a1, a2, m1, m2 = sympy.symbols("a1 a2 m1 m2")
    rows = [{"a": a1, "mass": m1, "alpha": sympy.pi / 2}, {"a": a2, "mass": m2, "d": a1 / 3}]
    return symgen.from_dh(rows, "standard", "planar")
