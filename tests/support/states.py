"""Numbers of any kind as arrays, and how near they must be."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from symgen.tracing.function import Function
from symgen.tracing.robot import RuntimeModel
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted

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
def traced(robot: RuntimeModel, quantity: str) -> Function:
    """A quantity of a robot, traced once."""
    return trace(robot, Wanted.parse(quantity))


def run(robot: RuntimeModel, quantity: str, inputs: Mapping[str, Any]) -> dict[str, Array]:
    """The outputs of a quantity on floats, of inputs by name, among them what it does not take."""
    function = traced(robot, quantity)
    found = function.run(**{name: inputs[name] for name in function.inputs})
    return {output: np.array(values, float) for output, values in found.items()}
