"""Loops over the columns of derivatives of forward dynamics in C (``--optimize size``)."""

import copy
import random

import numpy as np
import pytest

from symgen.compiler.evaluate import evaluate, evaluate_batch
from symgen.compiler.passes import counts
from symgen.compiler.program import Output
from symgen.languages.c.backend import functions
from symgen.languages.c.checks import build
from symgen.numbers.scalar import ZERO
from tests.support.tools import generated, verified

TYPES = {"double": np.float64, "float": np.float32}
NAME = "forward_dynamics_derivatives"
SIZE = {"languages": ("c",), "quantities": (NAME,), "optimize": "size"}
ROBOTS = {
    "ur5": ("ur5", {}),
    "in pieces": ("ur5", {"chunk": 10, "scalar": "float", "target": "cortex-m4f"}),
    "zeros by the caller": ("puma560", {"zeros": "once"}),
    "runtime friction": ("rx90", {"friction": "runtime:viscous", "gravity": "runtime"}),
}
"""Robots and options; each makes other static functions and arguments."""


@pytest.mark.parametrize("robot, options", ROBOTS.values(), ids=ROBOTS)
def test_loops_have_the_bits_of_the_expression_graph(robot, options):
    module, folder = generated(robot, **SIZE, **options)
    (function,) = (f for f in functions(module) if f.description.name == NAME)
    assert function.loops.looped
    code = (folder / f"{robot}_{NAME}.c").read_text()
    assert "columns_" in code and "column_of(" in code
    (traced,) = (f for f in module.functions if f.name == NAME)
    scalar, states = options.get("scalar", "double"), module.random_states(random.Random(1), 3)
    given = {key: np.array([x[key] for x, _ in states], TYPES[scalar]) for key in traced.inputs}
    found = getattr(build(module, folder), NAME)(*given.values())
    by_graph = evaluate_batch(traced.program, {key: x.T for key, x in given.items()}, scalar)
    for out, got in zip(traced.program.outputs, found, strict=True):
        computed = [k for k, ref in enumerate(out.refs) if ref is not None]
        entries = got.reshape(len(states), -1)
        assert np.array_equal(entries[:, computed], by_graph[out.name].T)
        assert options.get("zeros") or not np.delete(entries, computed, 1).any()


def test_loops_of_coupled_joints_are_proven():
    _, folder = generated("puma560", **SIZE, couple=(("joint3", "joint2:-0.5"),))
    verified(folder)


def test_code_is_shorter_than_straight_code():
    """A third of the operations of a Panda are those of one column after the other."""
    module, folder = generated("panda", **SIZE)
    straight, plain = generated("panda", **(SIZE | {"optimize": "operations"}))
    assert functions(module)[0].loops.looped
    assert functions(straight)[0].loops is None
    short, long = ((x / f"panda_{NAME}.c").read_text() for x in (folder, plain))
    assert short.count(" * ") < 0.75 * long.count(" * ")


def test_code_stays_straight_where_a_loop_saves_nothing():
    module, _ = generated("pendulum", **SIZE)
    assert functions(module)[0].loops is None


def test_the_body_computes_every_column():
    """The recorded body, run on the values that the columns read, has the values of the graph."""
    module, _ = generated("ur5", **SIZE)
    program = module.functions[0].program
    rng = random.Random(3)
    inputs = {name: [rng.uniform(-1, 1) for _ in range(6)] for name in ("q", "qd", "tau")}
    for loop in program.column_loops:
        assert counts(loop.body).total == 62
        for reads, makes in zip(loop.reads, loop.defines, strict=True):
            shared = _values(program, loop.shared, inputs)
            given = _values(program, reads, inputs)
            column = evaluate(loop.body, {"shared": shared, "given": given})["column"]
            assert column == _values(program, makes, inputs)


def _values(program, refs, inputs):
    """The values of references to nodes of a program, zero for structural zeros."""
    part = copy.copy(program)
    part.analysis_cache, part.outputs = {}, [Output("x", (len(refs),), refs)]
    return [0.0 if x is ZERO else x for x in evaluate(part, inputs)["x"]]
