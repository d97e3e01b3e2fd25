"""Runs of algorithms on robots with joints of every type."""

from functools import cache

import numpy as np
import pytest

from symgen.algorithms import QUANTITIES
from symgen.compiler.program import Program
from symgen.tracing.function import Function
from symgen.tracing.robot import ParametricModel
from tests.support.every_joint import EVERY, made
from tests.support.hamel import displaced, places
from tests.support.random_trees import STEP

TOLERANCE = 1e-11


robots = pytest.mark.parametrize("name", EVERY)


@cache
def regroup(name, regrouping):
    return ParametricModel(made(name).model).regroup(regrouping)


@cache
def function(name, quantity):
    """A quantity in its first formulation, without a tape."""
    whole = QUANTITIES[quantity]
    way = next(
        way for way in whole.formulations if way.applicable(regroup(name, way.regrouping).layout)
    )
    return Function(
        quantity, ((whole, way),), {way.regrouping: regroup(name, way.regrouping)}, Program()
    )


def numbers(values):
    return np.array([complex(x) for x in values])


def given(names, inputs):
    return {key: np.asarray(inputs[key]).tolist() for key in names}


def run(name, quantity, inputs, *shape, output=0):
    """An output on numbers of any kind; n x n and the like by shape."""
    return outputs(name, quantity, inputs, *shape)[output]


def outputs(name, quantity, inputs, *shape):
    """All outputs."""
    names = QUANTITIES[quantity].inputs
    found = [
        numbers(values) for values in function(name, quantity).run(**given(names, inputs)).values()
    ]
    real = not any(np.iscomplexobj(inputs[key]) for key in names)
    return [(x.real if real else x).reshape(shape or -1) for x in found]


def slope(name, quantity, inputs, direction, *shape, output=0, **rates):
    """The derivative of an output along a tangent vector of q and changes of other inputs."""
    moved = {key: inputs[key] + 1j * STEP * rate for key, rate in rates.items()}
    moved["q"] = displaced(made(name), inputs["q"], 1j * STEP * direction)
    return np.imag(run(name, quantity, {**inputs, **moved}, *shape, output=output)) / STEP


def close(a, b, tolerance=TOLERANCE):
    assert a.shape == b.shape and np.abs(a - b).max(initial=0.0) <= tolerance * max(
        1.0, np.abs(b).max(initial=0.0)
    )


def size(name):
    return places(made(name))[2]
