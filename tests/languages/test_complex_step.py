"""Complex numbers: the generated Python module computes with them, compiled C refuses them."""

import os
import subprocess
import sys
import zipfile
from math import prod

import numpy as np
import pytest

import symgen
from symgen.algorithms import QUANTITIES
from symgen.jobs.api import trace
from symgen.native.library import broadcast
from tests.support.tools import generated, imported, invoke, robot_file

STEP = 1e-30
LINKS = {"ur5": "flange", "biped": "trunk", "pendulum": "tip"}
OPTIONS = {
    "pendulum": {"friction": "runtime:viscous,coulomb", "friction_width": 0.3},
    "ur5": {"parameters": "runtime", "gravity": "runtime", "friction": "viscous,coulomb"},
    "biped": {"base": "floating"},
}
SIMPLE = tuple(name for name, q in QUANTITIES.items() if "_by_parameters" not in name)


def made(name):
    """The module of a robot with every quantity but the largest, and its traced functions."""
    wanted = SIMPLE if name == "pendulum" else ("inverse_dynamics", "forward_dynamics", "bias")
    pose = f"frame_pose:{LINKS[name]}"
    module, folder = generated(name, quantities=(*wanted, pose), **OPTIONS[name])
    return module, imported(folder / f"{module.name}.py")


def inputs(module, function, seed):
    """Random inputs of a function; a unit quaternion where the base floats."""
    rng = np.random.default_rng(seed)
    sizes = {a.name: prod(a.sizes(module.dimensions)) for a in module.inputs(function)}
    x = {name: rng.uniform(0.2, 1.0, size) for name, size in sizes.items()}
    pi = [value for ten in module.robot.blocks.values() for value in ten]
    if module.regroup is not None:
        x |= {"pi": np.array(pi)} if "pi" in x else {}
        par = module.regroup.program
        x |= {"par": np.array(symgen.compiler.evaluate.evaluate(par, {"pi": pi})["par"], float)}
    if "q" in x and len(x["q"]) > module.dof:
        x["q"][3:7] /= np.linalg.norm(x["q"][3:7])
    return {a.name: x[a.name] for a in module.inputs(function)}


@pytest.mark.parametrize("name", LINKS)
def test_a_complex_step_is_the_derivative_to_the_last_digits(name):
    module, code = made(name)
    for function in module.functions:
        x, d = inputs(module, function, 1), inputs(module, function, 2)
        call = getattr(code, function.name)
        tilted = {k: v + 1j * STEP * d[k] for k, v in x.items()}
        found, plain = _tuple(call(**tilted)), _tuple(call(**x))
        wanted = function.run(**{k: [complex(e) for e in v.ravel()] for k, v in tilted.items()})
        for ours, real, theirs in zip(found, plain, wanted.values(), strict=True):
            assert ours.dtype == np.complex128 and real.dtype == np.float64
            slope = np.array([complex(e).imag for e in theirs]).reshape(ours.shape) / STEP
            scale = max(np.abs(slope).max(), 1e-9)
            np.testing.assert_allclose(ours.imag / STEP, slope, rtol=1e-10, atol=1e-12 * scale)
            np.testing.assert_allclose(ours.real, real, rtol=1e-12, atol=1e-12)


def _tuple(x):
    return x if isinstance(x, tuple) else (x,)


def test_the_step_of_inverse_dynamics_is_the_derivative_that_symgen_has():
    _, code = made("pendulum")
    q, qd, qdd = np.array([[0.3, 1.1], [-0.4, 2.0], [1.0, -3.0]])
    friction = np.array([0.5, 2.0, 0.7, 1.0])
    by_q, by_qd, m = code.inverse_dynamics_derivatives(q, qd, qdd, friction)
    for k, matrix in enumerate((by_q, by_qd, m)):
        for j, e in enumerate(np.eye(2)):
            x = [q, qd, qdd]
            x[k] = x[k] + 1j * STEP * e
            column = code.inverse_dynamics(*x, friction).imag / STEP
            np.testing.assert_allclose(column, matrix[:, j], rtol=1e-13)


def test_batches_and_one_complex_input_among_real_ones():
    _, code = made("biped")
    rng = np.random.default_rng(0)
    q = np.concatenate([rng.uniform(-1, 1, (5, 3)), [[0.0, 0, 0, 1]] * 5, np.ones((5, 4))], 1)
    qd = rng.uniform(-1, 1, (4, 1, 10))
    found = code.bias(q, qd + 1j * STEP)
    assert found.shape == (4, 5, 10) and found.dtype == np.complex128
    slopes = [(code.bias(q, qd + h) - code.bias(q, qd - h)) / (2 * h) for h in (0.5,)]
    np.testing.assert_allclose(found.imag / STEP, slopes[0], rtol=1e-9, atol=1e-9)  # quadratic


def test_a_sign_is_that_of_the_real_part():
    module, folder = generated(
        "pendulum", friction="runtime:coulomb", quantities=("inverse_dynamics",)
    )
    code = imported(folder / f"{module.name}.py")
    x = [np.array([0.1, 0.2]), np.array([1e-9, -2.0]), np.zeros(2), np.array([3.0, 5.0])]
    plain, tilted = code.inverse_dynamics(*x), code.inverse_dynamics(*(v + 1j * STEP for v in x))
    assert (tilted.real == plain).all()


def test_a_singular_mass_matrix_is_told_of_complex_states_too():
    module, code = made("ur5")
    function = next(f for f in module.functions if f.name == "forward_dynamics")
    x = inputs(module, function, 1)
    x["par"] = x["par"] * 0 - 1.0
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        code.forward_dynamics(**(x | {"q": x["q"] + 1j * STEP}))


@pytest.mark.parametrize("scalar", ["double", "float"])
def test_compiled_c_refuses_complex_numbers_in_one_sentence(scalar):
    code = symgen.compile(robot_file("pendulum"), "inverse_dynamics", "bias", scalar=scalar)
    q, qd = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    said = (
        "^qd is complex, but compiled C computes with real numbers; the generated Python module "
        r"\(--lang python\) takes complex ones$"
    )
    for bad in (qd + 1j * STEP, [0.3 + 0j, 0.4], qd.astype(np.complex64)):
        with pytest.raises(TypeError, match=said):
            code.bias(q, bad)
    assert code.bias(q, qd).shape == (2,)
    with pytest.raises(TypeError, match="q is complex"):
        broadcast([q + 0j], [("q", 2)], np.float64)


def test_a_package_refuses_them_too(tmp_path):
    done = invoke("build", robot_file("pendulum"), "-o", tmp_path, "--quantity", "bias")
    assert done.exit_code == 0, done.output
    text = "import numpy as np, pendulum\npendulum.bias(np.zeros(2), np.zeros(2) + 1e-30j)"
    path = os.pathsep.join(map(str, [tmp_path, *tmp_path.iterdir()]))
    for wheel in tmp_path.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(tmp_path)
    failed = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "TypeError: qd is complex, but compiled C computes with real numbers" in failed.stderr


def test_the_runs_of_python_have_always_taken_them():
    tilted = [0.1 + 1j * STEP, 0.2]
    found = trace(robot_file("pendulum"), "gravity").run(q=tilted)["tau_g"]
    assert complex(found[0]).imag != 0
