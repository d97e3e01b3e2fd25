"""Robots with friction and springs."""

from dataclasses import replace

import numpy as np

from symgen.tracing.robot import ParametricModel
from tests.support.random_trees import model
from tests.support.states import function

KINDS = ("viscous", "coulomb", "offset")


def rough(name):
    """A random robot whose files give damping, friction, an offset and a spring to every joint."""
    smooth = model(name)
    joints = (
        replace(
            b.joint,
            damping=0.5 + k,
            friction=0.25 * k,
            offset=k - 1.5,
            stiffness=3.5 - k,
            reference=0.5 * k - 0.75,
        )
        for k, b in enumerate(smooth.bodies)
    )
    bodies = tuple(replace(b, joint=joint) for b, joint in zip(smooth.bodies, joints, strict=True))
    return replace(smooth, bodies=bodies)


def springs(robot, x):
    """Stiffness and reference of the joints."""
    if robot.runtime_springs:
        return np.array(x["springs"]).reshape(-1, 2).T
    given = [(b.joint.stiffness, b.joint.reference) for b in robot.model.bodies]
    return np.array(given).T if robot.springs else (0, 0)


def robots(name):
    yield ParametricModel(rough(name), friction=KINDS[:2])
    yield ParametricModel(rough(name), friction=KINDS)
    yield ParametricModel(rough(name), friction=KINDS, runtime_friction=True)
    yield ParametricModel(rough(name), friction=KINDS, friction_width=0.7)
    yield ParametricModel(rough(name), friction=KINDS, runtime_friction=True, friction_width=1.3)
    yield ParametricModel(rough(name), springs=True)
    yield ParametricModel(rough(name), springs=True, runtime_springs=True)
    yield ParametricModel(
        rough(name), friction=KINDS, runtime_friction=True, friction_width=0.7, springs=True
    )


def title(robot):
    return f"{robot.model.name}-{len(robot.friction)}{'-run' * robot.runtime_friction}-{robot.friction_width:g}{'-springs' * robot.springs}{'-run' * robot.runtime_springs}"


def step(robot, quantity, x, output=0, **by):
    """The derivative of an output along changes `by` of inputs, by the complex step."""
    one = function(robot, quantity)
    tilted = {k: [complex(a, 1e-30 * b) for a, b in zip(x[k], by[k], strict=True)] for k in by}
    out = one.run(**{k: (x | tilted)[k] for k in one.inputs})
    return np.array([complex(v).imag for v in [*out.values()][output]]) / 1e-30
