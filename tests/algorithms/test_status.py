"""Functions that need the inverse of the mass matrix tell when there is none: C by a status, the
others by an error."""

import ctypes
import re

import numpy as np
import pytest

from symgen.algorithms import QUANTITIES
from symgen.compiler.evaluate import evaluate
from symgen.compiler.passes import live_nodes, pivots
from symgen.compiler.program import Program
from symgen.languages.c.checks import build
from symgen.languages.describe import descriptions
from tests.support.tools import c_files, compiled, generated, imported

INVERTING = tuple(name for name, q in QUANTITIES.items() if q.needs_inverse)
RUNTIME = {
    "parameters": "runtime",
    "quantities": ("forward_dynamics", "mass_matrix_inverse", "gravity"),
}
CASES = {
    "double": ("scara", RUNTIME),
    "float": ("scara", {"scalar": "float", **RUNTIME}),
    "pieces": ("scara", {"chunk": 10, **RUNTIME}),
    "libm": ("scara", {"trig": "libm", **RUNTIME}),
    "all": ("pendulum", {"parameters": "runtime", "quantities": INVERTING}),
    "constant": ("pendulum", {"quantities": INVERTING}),
}
cases = pytest.mark.parametrize("case", CASES)
runtime = pytest.mark.parametrize("case", [name for name in CASES if name != "constant"])


def made(case):
    name, options = CASES[case]
    return generated(name, **options)


def state(module, d, rng):
    """Inputs of a function at a random state, by name."""
    inputs = {a.name: rng.uniform(-1, 1, a.size) for a in d.arguments if a.direction == "in"}
    if "par" in inputs:
        tens = [x for ten in module.robot.blocks.values() for x in ten]
        inputs["par"] = np.array(evaluate(module.regroup.program, {"pi": tens})["par"], float)
    return inputs


def inverting(module):
    return [d for d in descriptions(module) if d.pivots]


@cases
def test_only_functions_that_can_fail_have_a_status(case):
    module, folder = made(case)
    header = (folder / f"{module.name}.h").read_text()
    status = set(
        re.findall(rf"^{module.name}_status {module.name}_(\w+)\(const", header, re.MULTILINE)
    )
    wanted = {f.name for f in module.functions if any(q.needs_inverse for q in f.quantities)}
    assert status == wanted == {d.name for d in inverting(module)}


@cases
def test_sound_robots_pass(case):
    module, folder = made(case)
    run, rng = build(module, folder), np.random.default_rng(0)
    for d in inverting(module):
        for _ in range(5):
            getattr(run, d.name)(*state(module, d, rng).values())


@runtime
@pytest.mark.parametrize("damage", ["zero", "negative", "nan", "inf"])
def test_bad_parameters_are_told(case, damage):
    """No mass at all, negative mass, numbers that are none."""
    module, folder = made(case)
    run, python, rng = (
        build(module, folder),
        imported(folder / f"{module.name}.py"),
        np.random.default_rng(1),
    )
    for d in inverting(module):
        inputs = state(module, d, rng)
        factor = {"zero": 0.0, "negative": -1.0, "nan": np.nan, "inf": np.inf}[damage]
        inputs["par"] = (
            inputs["par"] * factor if damage != "inf" else np.full_like(inputs["par"], np.inf)
        )
        for call in (getattr(run, d.name), getattr(python, d.name)):
            with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
                call(*inputs.values())


EVERYWHERE = {
    "whole": {"quantities": INVERTING},
    "float": {"scalar": "float"},
    "libm": {"trig": "libm"},
    "pieces": {"chunk": 5},
    "inputs": {"parameters": "runtime", "gravity": "runtime"},
    "zeros once": {"zeros": "once"},
}
FEW = ("forward_dynamics", "mass_matrix_inverse", "forward_dynamics_derivatives")
"""Under every option; all that invert, among them steps, are in the whole."""
FLAGS = {
    "plain": ("-O2",),
    "nothing but numbers": ("-O2", "-ffinite-math-only"),
    "fast": ("-O3", "-ffast-math"),
}
"""The last one allows a compiler all that the others do."""


@pytest.mark.parametrize(
    ("case", "flags"),
    [*((case, "fast") for case in EVERYWHERE), *(("whole", f) for f in FLAGS)][:-1],
)
def test_no_result_without_a_status_is_not_a_number(case, flags):
    """NaN or infinity in any entry of an input: an error, or finite results that do not need it."""
    module, folder = generated("pendulum", **{"quantities": FEW} | EVERYWHERE[case])
    compiled_, python = (
        build(module, folder, FLAGS[flags]),
        imported(folder / f"{module.name}.py"),
    )
    rng = np.random.default_rng(2)
    for d in inverting(module):
        sound = state(module, d, rng)
        for run in (compiled_, python):
            told = sum(not finite(getattr(run, d.name), damaged) for damaged in damages(sound))
            assert told >= 2, d.name  # at least a position matters, NaN and infinity


def damages(inputs):
    """The inputs with one entry that is no number, or infinite."""
    for name, array in inputs.items():
        for k in range(array.size):
            for value in (np.nan, np.inf):
                yield inputs | {name: np.where(np.arange(array.size) == k, value, array)}


def finite(call, inputs):
    """Whether there is a result, which then must be finite."""
    try:
        found = call(*inputs.values())
    except np.linalg.LinAlgError:
        return False
    results = found if isinstance(found, tuple) else (found,)
    assert all(np.isfinite(x).all() for x in results)
    return True


def test_every_pivot_is_watched():
    """As many as joints; every division is one of them, and of a pivot of two joints its first
    entry besides."""
    module, _ = generated("panda_arm", **RUNTIME)
    d = next(d for d in inverting(module) if d.name == "mass_matrix_inverse")
    divisions = {i for i in live_nodes(d.program) if d.program.nodes[i].op == "div"}
    assert len(d.pivots) == module.dof
    assert divisions < {ref.node for ref in d.pivots}


def test_a_batch_says_how_many():
    module, folder = made("double")
    run = build(module, folder).mass_matrix_inverse
    d = next(d for d in inverting(module) if d.name == "mass_matrix_inverse")
    inputs = [state(module, d, np.random.default_rng(k)) for k in range(5)]
    par = np.array([x["par"] for x in inputs])
    par[[1, 3]] = 0
    with pytest.raises(np.linalg.LinAlgError, match="in 2 states"):
        run(np.array([x["q"] for x in inputs]), par)


@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_the_status_in_c(level, tmp_path):
    """0 or 1, and the same from pieces as from the whole."""
    statuses = []
    for case in ("double", "pieces"):
        module, folder = made(case)
        library = tmp_path / f"{case}.so"
        sources = c_files(folder, ["_selftest"])
        compiled(
            "-std=c99",
            level,
            "-fPIC",
            "-shared",
            f"-I{folder}",
            *sources,
            "-lm",
            "-o",
            library,
            cwd=tmp_path,
        )
        d = next(d for d in inverting(module) if d.name == "mass_matrix_inverse")
        work = [np.zeros(1000)] if case == "pieces" else []
        function = getattr(ctypes.CDLL(str(library)), f"{module.name}_mass_matrix_inverse")
        for factor in (1.0, 0.0, -1.0, np.nan, 1e300):
            inputs = state(module, d, np.random.default_rng(2))
            inputs["par"] = inputs["par"] * factor
            arrays = [*inputs.values(), *work, np.zeros(module.dof**2)]
            statuses.append(function(*(a.ctypes.data_as(ctypes.c_void_p) for a in arrays)))
    assert statuses[:5] == statuses[5:] == [0, 1, 1, 1, statuses[4]]


def test_signs_are_those_of_the_algorithm():
    """1 / (b - a) is written with whatever order and sign; what is watched is the reciprocal of b -
    a."""
    for swap in (False, True):
        program = Program()
        a, b, c = program.input("x", (3,))
        divisor = b - a if swap else a - b
        program.output("y", (1,), [c * (1.0 / divisor)])
        (ref,) = pivots(program)
        node = program.nodes[ref.node]
        assert node.op == "div" and program.nodes[node.a].op == "const"
        first, second = (1.0, 3.0) if swap else (3.0, 1.0)
        program.outputs.append(program.outputs[0]._replace(name="node", refs=(ref,)))
        found = evaluate(program, {"x": [first, second, 1.0]})
        assert found["node"] == [0.5]


def test_the_self_test_counts_failures():
    module, folder = made("double")
    text = (folder / f"{module.name}_selftest.c").read_text()
    assert "bad += (scara_forward_dynamics(" in text and "bad += (scara_gravity(" not in text
