"""Numbers of any kind as arrays, and how near they must be; quantities of robots, run on them."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from symgen.algorithms.registry import INPUTS, Formulation, Quantity
from symgen.compiler.program import Program
from symgen.mechanics.parameters import WHOLE
from symgen.tracing.function import Function, inputs_by_option
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel

Array = Any


def numbers(scalars: Iterable[Any], *shape: int) -> Array:
    """Floats of what an algorithm returns, ZERO among them, in a shape."""
    return np.array([float(x) for x in scalars]).reshape(shape or -1)


def close(a: Array, b: Array, tolerance: float = 1e-11) -> None:
    """Entries equal relative to the largest, or to 1 where all are small."""
    assert a.shape == b.shape
    assert np.abs(a - b).max(initial=0.0) <= tolerance * max(1.0, np.abs(b).max(initial=0.0))


def random_states(n: int, count: int, seed: int, size: float = 2.0) -> Array:
    """`count` vectors of n, uniform in ±size."""
    return np.random.default_rng(seed).uniform(-size, size, (count, n))


@lru_cache(256)
def functions(robot: ParametricModel, quantity: str) -> list[Function]:
    """A quantity of a robot in each of its formulations, to be run on numbers: without their tapes,
    which take far longer to make than numbers take to run."""
    (one,) = FunctionRequest.parse(quantity).quantities
    layout = robot.regroups[WHOLE].layout
    return [_function(robot, one, way) for way in one.formulations if way.applicable(layout)]


def _function(robot: ParametricModel, quantity: Quantity, way: Formulation) -> Function:
    regroup = robot.regroups[way.regrouping]
    if way.regrouping != WHOLE:
        regroup = regroup.with_tip_frames
    used = {*quantity.inputs} | inputs_by_option(robot, (quantity,))
    if robot.runtime and quantity.needs_inertia:
        used.add(regroup.input)
    program = Program()
    for name in INPUTS:
        if name in used:
            program.input(name, ())
    return Function(quantity.name, ((quantity, way),), {way.regrouping: regroup}, program)


def function(robot: ParametricModel, quantity: str) -> Function:
    """A quantity of a robot in its first formulation, without a tape."""
    return functions(robot, quantity)[0]


def run(robot: ParametricModel, quantity: str, inputs: Mapping[str, Any]) -> dict[str, Array]:
    """The outputs of a quantity on floats, of inputs by name, among them what it does not take."""
    one = function(robot, quantity)
    found = one.run(**{name: inputs[name] for name in one.inputs})
    return {output: np.array(values, float) for output, values in found.items()}


def base_parameters(robot: Any) -> list[float]:
    """The base parameters of a robot's file."""
    names = tuple(body.name for body in robot.model.bodies)
    ten = [x for link in ParametricModel(robot.model, names).blocks.values() for x in link]
    (values,) = robot.trace("base_parameters").run(ten=ten).values()
    return [float(x) for x in values]
