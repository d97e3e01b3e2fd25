"""Robots on paper, and numbers for their symbols."""

from functools import cache

import numpy as np
import sympy

import symgen
from tests.support.tools import robot_file

UR5 = robot_file("ur5")


@cache
def two():
    """Two bodies that feel all that an arm feels: a hinge askew, and a slide."""
    made = symgen.Builder("two", gravity=(1, 2, -9)).link("base")
    made.link("one", 1.5, (0.1, 0.02, 0.3), (0.03, 0.001, 0.002, 0.04, -0.001, 0.05))
    made.link("two", 0.7, (-0.1, 0.2, 0.05), (0.02, 0.001, -0.002, 0.03, 0.0005, 0.025))
    made.joint("hinge", "revolute", "base", "one", (0, 0, 0.3), (0.3, 0, 0), damping=0.3)
    made.joint("slide", "prismatic", "one", "two", (0.4, 0.1, 0.2), (0.5, -0.7, 0.2), friction=0.1)
    return symgen.Robot(made)


@cache
def arm():
    """Three hinges, two of them parallel."""
    rows = [
        {"d": 0.3, "alpha": np.pi / 2, "mass": 1.0, "inertia": (0.1, 0.01, 0, 0.1, 0, 0.2)},
        {
            "a": 0.4,
            "mass": 2.0,
            "center_of_mass": (-0.2, 0.01, 0.1),
            "inertia": (0.1, 0, 0, 0.2, 0, 0.2),
        },
        {
            "a": 0.3,
            "d": 0.1,
            "mass": 0.5,
            "center_of_mass": (-0.1, 0, 0.02),
            "inertia": (0.1, 0, 0.01, 0.1, 0, 0.1),
        },
    ]
    return symgen.from_dh(rows, "standard", "arm")


def numbers(expressions, values):
    """Expressions at values."""
    entries = list(sympy.flatten(expressions))
    return np.array([float(sympy.sympify(x).xreplace(values)) for x in entries])


@cache
def traced(robot, name):
    return robot.trace(name)


def run(robot, name, arrays):
    found = traced(robot, name).run(**{k: list(map(float, x)) for k, x in arrays.items()})
    return np.concatenate([np.array([float(x) for x in out]) for out in found.values()])


x, y, z, w = sympy.symbols("x y z w")
