"""Modules with batches, and calls of them on many states."""

import random
from functools import cache

import numpy as np

from symgen.languages.c.checks import build, build_batch
from symgen.native.compiler import EXACT
from tests.support.tools import generated

FREE = {"parameters": "runtime", "gravity": "runtime", "friction": "runtime:viscous,coulomb"}
"""All that can be an input."""


MANY = (
    *("gravity", "mass_matrix", "coriolis_matrix", "christoffel_symbols", "regressor"),
    *("gravity_compensation", "recursive_least_squares", "adaptive_slotine_li", "com_jacobian"),
    *("step_jacobians:euler", "base_parameters", "frame_pose:lower"),
)
"""All operations, loops, zeros, matrices that go in."""

MODULES = {
    "many quantities": {"quantities": MANY, "batch": "auto"},
    "every quantity": {"quantities": ("all",), "batch": "auto"},
    "all inputs": {
        "quantities": ("inverse_dynamics", "forward_dynamics", "regressor"),
        "batch": "8",
        **FREE,
    },
    "own inputs": {
        "quantities": ("inverse_dynamics", "forward_dynamics"),
        "batch": "8",
        "per_state": ("g", "par"),
        **FREE,
    },
    "pieces": {
        "quantities": ("terms=bias+mass_matrix", "forward_dynamics_derivatives"),
        "batch": "2",
        "chunk": 1,
    },
    "float": {
        "quantities": ("forward_dynamics", "coriolis_matrix"),
        "batch": "16",
        "scalar": "float",
        "friction": "coulomb",
    },
}


QUICK = {"many quantities": ("-O0",), "every quantity": ("-O0",)}


N = 21
"""States: no multiple of any width."""


def made(which):
    return generated("pendulum", trig="inline", **MODULES[which])


@cache
def single(which):
    return build(*made(which), (*EXACT, *QUICK.get(which, ())))


@cache
def many(which, *flags):
    return build_batch(*made(which), ("-march=native", *EXACT, *QUICK.get(which, ()), *flags))


@cache
def inputs(which, name):
    """Random inputs of a function, a row each state; inputs of the robot are regrouped from
    possible parameters."""
    module, _ = made(which)
    rng = random.Random(1)
    f = many(which).functions[name]
    pi = [x for ten in module.robot.blocks.values() for x in ten]
    drawn = module.random_states(rng, N)
    rows = [{k: np.array(v) for k, v in inputs.items()} for inputs, _ in drawn]
    for k, row in enumerate(rows):
        row["pi"] = np.array(pi) * (1 + k / N)
        if module.regroup is not None:
            row["par"] = single(which).regroup(row["pi"])
    return [
        np.stack([row[a.name] for row in rows])
        for a in f.description.arguments
        if a.direction == "in"
    ]


def results(function, given):
    found = function(*given)
    return found if isinstance(found, tuple) else (found,)


def same_bits(got, wanted):
    wanted = np.reshape(wanted, got.shape)
    return got.dtype == wanted.dtype and np.array_equal(
        np.ascontiguousarray(got).view("u1"), wanted.copy().view("u1")
    )
