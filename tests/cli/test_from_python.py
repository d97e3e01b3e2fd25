"""The same from Python: compiled functions, shapes, errors."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError, RobotError, SymgenError
from symgen.jobs.api import trace
from symgen.tracing.options import DEFAULT_QUANTITIES
from tests.support.shell import PENDULUM
from tests.support.tools import ROOT, generated, imported, robot_file, snapshot


def test_compile_and_python_agree_on_batches():
    robot = symgen.compile(robot_file("ur5"), "inverse_dynamics", "t=bias+mass_matrix")
    module, folder = generated("ur5", quantities=("inverse_dynamics", "t=bias+mass_matrix"))
    python = imported(folder / f"{module.name}.py")
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 4, 5, 6))
    for code in (robot, python):
        tau, (bias, mass) = code.inverse_dynamics(q, qd, qdd), code.t(q, qd)
        assert (tau.shape, bias.shape, mass.shape) == ((4, 5, 6), (4, 5, 6), (4, 5, 6, 6))
        assert np.einsum("...ij,...j", mass, qdd) + bias == pytest.approx(
            tau, rel=0, abs=1e-12 * np.abs(tau).max()
        )
        alone = code.inverse_dynamics(q[2, 3], qd[2, 3], qdd[2, 3])
        assert tau[2, 3] == pytest.approx(alone, rel=1e-13, abs=1e-14)
        mixed = code.inverse_dynamics(q[0], qd[0, 0], qdd[0, 0])
        alone = code.inverse_dynamics(q[0, 4], qd[0, 0], qdd[0, 0])
        assert mixed[4] == pytest.approx(alone, rel=1e-13, abs=1e-14)
        assert code.inverse_dynamics(q[:0], qd[:0], qdd[:0]).shape == (0, 5, 6)
        assert code.inverse_dynamics([0] * 6, (0,) * 6, np.zeros(6, int)).shape == (6,)
    np.testing.assert_allclose(
        robot.inverse_dynamics(q, qd, qdd),
        python.inverse_dynamics(q, qd, qdd),
        rtol=1e-12,
        atol=1e-13,
    )


def test_inputs_are_left_alone():
    robot = symgen.compile(PENDULUM, "gravity")
    q = np.array([[0.1, 0.2], [0.3, 0.4]])
    strided = np.asfortranarray(q)
    before = q.copy()
    assert np.array_equal(robot.gravity(q), robot.gravity(strided)) and np.array_equal(q, before)
    assert np.array_equal(robot.gravity(q[::-1]), robot.gravity(q)[::-1])


def test_shapes_are_checked():
    robot, (_, folder) = symgen.compile(PENDULUM), generated("pendulum")
    python = imported(folder / "pendulum.py")
    for code in (robot, python):
        for wrong, shape in (
            ([0.0] * 3, r"\(3,\)"),
            (0.0, r"\(\)"),
            (np.zeros((2, 3)), r"\(2, 3\)"),
        ):
            with pytest.raises(
                ValueError, match=rf"q must have 2 entries along its last axis, not shape {shape}"
            ):
                code.gravity(wrong)
        with pytest.raises(ValueError, match="broadcast"):
            code.bias(np.zeros((3, 2)), np.zeros((4, 2)))
        with pytest.raises(TypeError):
            code.bias(np.zeros(2))
    with pytest.raises(TypeError, match="bias takes q, qd"):
        robot.bias(np.zeros(2))
    with pytest.raises(
        AttributeError, match=f"no function 'nope'; it has {', '.join(DEFAULT_QUANTITIES)}"
    ):
        _ = robot.nope


def test_compiled_with_runtime_parameters():
    fixed = symgen.compile(PENDULUM, "inverse_dynamics")
    free = symgen.compile(PENDULUM, "inverse_dynamics", parameters="runtime", gravity="runtime")
    module, _ = generated("pendulum", parameters="runtime", gravity="runtime")
    par = free.regroup([x for ten in module.robot.blocks.values() for x in ten])
    q, qd, qdd = np.random.default_rng(3).uniform(-2, 2, (3, 7, 2))
    moon = symgen.compile(PENDULUM, "inverse_dynamics", gravity=(0.0, 0.0, -1.62))
    for code, pull in ((fixed, -9.81), (moon, -1.62)):
        found = free.inverse_dynamics(q, qd, qdd, [0, 0, pull], par)
        assert found == pytest.approx(code.inverse_dynamics(q, qd, qdd), rel=1e-11)


def test_float_results_are_float():
    robot = symgen.compile(PENDULUM, "gravity", scalar="float")
    assert robot.gravity([0.1, 0.2]).dtype == np.float32


def test_trace_load_and_generate(tmp_path):
    function = trace(Path(PENDULUM), "t=bias+gravity")
    assert function.name == "t" and function.inputs == ("q", "qd") and function.counts.total > 0
    loaded = symgen.load(PENDULUM, lock=[("elbow", 0.1)])
    assert loaded.model.joint_names == ("shoulder",)
    steps = []
    module, loaded, paths = symgen.generate(
        PENDULUM, tmp_path / "out", ["python"], steps.append, prefix="p"
    )
    assert module.name == "p" and loaded.file == PENDULUM and len(steps) == 6
    assert sorted(paths) == [tmp_path / "out" / "manifest.json", tmp_path / "out" / "p.py"]
    assert symgen.Job.of(PENDULUM).choices.flat()["scalar"] == "double"


README_USE = (
    "import symgen; symgen.compile({0!r}, 'gravity'); print(symgen.trace({0!r}, "
    "'gravity').counts.total)"
)


def test_the_function_trace_after_compile():
    command = [sys.executable, "-c", README_USE.format(PENDULUM)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0 and int(done.stdout) > 0, done.stderr


def test_errors_from_python(tmp_path):
    with pytest.raises(RobotError, match="cannot be read"):
        symgen.compile(tmp_path / "none.urdf")
    with pytest.raises(OptionError, match="no quantity is called 'x'"):
        trace(PENDULUM, "x")
    with pytest.raises(SymgenError, match="no language is called 'x'"):
        symgen.generate(PENDULUM, tmp_path / "out", ["x"])
    with pytest.raises(TypeError):
        trace(PENDULUM, "bias", nonsense=1)
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = symgen.nope
    assert snapshot(tmp_path) == {}


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(
        SymgenError, match=r"error: no C compiler found; install .*, or set CC to one"
    ):
        symgen.compile(PENDULUM, "gravity")
