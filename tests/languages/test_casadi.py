"""CasADi: graphs and external functions have the values of the C and of each other, Jacobians are
derivatives, and IPOPT solves a problem with them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import symgen
from tests.support.tools import STRICT_C, compiled, generated, invoke, robot_file, verified

ca = pytest.importorskip("casadi", reason="CasADi is not installed")

PAIRS = (
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "inverse_dynamics_hessian",
    "forward_dynamics_hessian",
)
CASES = {
    "pendulum": {"quantities": (*PAIRS, "mass_matrix", "regressor", "christoffel_symbols_full")},
    "biped": {"base": "floating", "quantities": ("mass_matrix", "inverse_dynamics")},
    "ur5": {
        "parameters": "runtime:flange",
        "gravity": "runtime",
        "friction": "runtime:coulomb",
        "trig": "inline",
        "quantities": ("inverse_dynamics", "coriolis_matrix"),
    },
}


@pytest.fixture(autouse=True)
def forgotten():
    """Other tests have packages of the same name."""
    yield
    for name in [name for name in sys.modules if name.split(".")[0].endswith("_casadi")]:
        del sys.modules[name]


def package(name, tmp_path, **options):
    """The package of a robot, its C compiled."""
    _, folder = generated(name, languages=("casadi",), **options)
    shutil.copytree(folder / f"{name}_casadi", tmp_path / f"{name}_casadi")
    # Not optimised: that takes longer than all else, and bits are compared in test_same_bits.py.
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "SYMGEN_TEST_FLAGS": "-O0"}
    command = [sys.executable, "-m", f"{name}_casadi.build"]
    subprocess.run(command, check=True, env=environment, cwd=tmp_path, capture_output=True)
    sys.path.insert(0, str(tmp_path))
    try:
        return __import__(f"{name}_casadi")
    finally:
        sys.path.remove(str(tmp_path))


def full(x):
    """A DM as an array."""
    return ca.densify(x).full()


QUICK = [
    name if name == "pendulum" else pytest.param(name, marks=pytest.mark.slow) for name in CASES
]


@pytest.mark.parametrize("name", QUICK)
def test_verify_proves_it(name):
    _, folder = generated(name, languages=("casadi",), **CASES[name])
    said = verified(folder)
    assert "CasADi graph equals the float run" in said
    assert "external function of CasADi equals the float run" in said
    assert "equals the complex step of the algorithm" in said


@pytest.mark.slow
def test_all_quantities():
    _, folder = generated("pendulum", languages=("casadi",), quantities=("all",))
    verified(folder)


def test_numbers_may_be_arrays_and_lists(tmp_path):
    robot = package("pendulum", tmp_path, **CASES["pendulum"])
    q = np.array([0.3, -0.2])
    expected = full(robot.mass_matrix(ca.DM(q)))
    assert (full(robot.mass_matrix(q)) == expected).all()
    assert (full(robot.mass_matrix(q.tolist())) == expected).all()
    with pytest.raises(ValueError, match="q must be 2 x 1, not 1 x 1"):
        robot.mass_matrix(0.3)


@pytest.mark.parametrize("name", CASES)
def test_it_compiles_under_strict_warnings(name, tmp_path):
    _, folder = generated(name, languages=("casadi",), **CASES[name])
    for source in (folder / f"{name}_casadi" / "c").glob("*.c"):
        compiled(*STRICT_C, "-O1", "-c", source, "-o", tmp_path / "x.o")


@pytest.mark.parametrize("name", CASES)
def test_jacobians_are_derivatives(name, tmp_path):
    """Against CasADi's own derivatives of the graphs, whatever the function."""
    robot = package(name, tmp_path, **CASES[name])
    for function in robot.ARGUMENTS:
        f, g = robot.external(function), robot.graph(function)
        rng = np.random.default_rng(0)
        x = [ca.DM(rng.uniform(-1, 1, g.size_in(k))) for k in range(g.n_in())]
        nominal = g.call(x)
        for got, wanted in zip(f.call(x), nominal, strict=True):
            assert np.allclose(full(got), full(wanted), rtol=1e-12, atol=1e-12)
        if name == "biped" and function == "mass_matrix":
            assert f.nnz_out(0) < 10 * 10  # legs do not feel each other
            continue
        weights = [ca.DM(rng.uniform(-1, 1, y.shape)) for y in nominal]
        assert_same_values(f.jacobian(), g.jacobian(), [*x, *nominal])
        assert_same_values(f.reverse(1), g.reverse(1), [*x, *nominal, *weights])
        if not robot_has(robot, f"jac_adj1_{name}_casadi_{function}"):
            assert (name, function) in TOO_LONG
            continue
        unread = [ca.DM(*f.size_in(k)) for k in range(f.n_in())]
        arguments = [*x, *nominal, *weights, *unread]
        assert_same_values(f.reverse(1).jacobian(), g.reverse(1).jacobian(), arguments)


TOO_LONG = {("ur5", "inverse_dynamics"), ("ur5", "coriolis_matrix"), ("biped", "inverse_dynamics")}
"""Functions without second derivatives."""


def robot_has(robot, symbol):
    """Whether the header of a package declares a function."""
    (header,) = (Path(robot.__file__).parent / "c").glob("*_casadi.h")
    return f"FUNCTION({symbol})" in header.read_text("utf-8")


def assert_same_values(got, wanted, arguments):
    """Two functions have the same names and, at some arguments, the same values."""
    assert got.name_in() == wanted.name_in()
    assert got.name_out() == wanted.name_out()
    for a, b in zip(got.call(arguments), wanted.call(arguments), strict=True):
        a, b = full(a), full(b)
        assert np.allclose(a, b, rtol=1e-9, atol=1e-9 * (1 + np.abs(b).max(initial=0)))


def test_second_derivatives_are_those_of_the_module(tmp_path):
    """The Jacobian of the adjoint of forward dynamics has the operations of the Hessian of the
    module, so IPOPT solves a problem of a UR5 in the iterations of the graph."""
    from benchmarks.optimal_control import QUANTITIES, solve

    robot = package("ur5", tmp_path, quantities=QUANTITIES)
    by_graph = solve(robot.graph("forward_dynamics"))
    by_external = solve(robot.external("forward_dynamics"))
    assert np.allclose(by_graph.q, by_external.q, atol=1e-6)
    assert by_external.iterations <= 1.2 * by_graph.iterations


def test_missing_arguments_are_zeros_and_failures_are_told(tmp_path):
    robot = package("pendulum", tmp_path, **CASES["pendulum"])
    f = robot.external("inverse_dynamics")
    wanted = robot.graph("inverse_dynamics")([0.3, 0.4], [0, 0], [0, 0])
    assert np.allclose(full(f(q=[0.3, 0.4])["tau"]), full(wanted), rtol=1e-13)
    with pytest.raises(RuntimeError):
        robot.external("forward_dynamics")([np.nan, 0.0], [0, 0], [0, 0])
    with pytest.raises(KeyError, match="no function is called 'nothing'; the functions are"):
        robot.external("nothing")
    with pytest.raises(KeyError, match="no function is called 'foo'; the functions are"):
        robot.graph("foo")


def test_ipopt_swings_a_pendulum_up(tmp_path):
    """From hanging to upright with bounded torques, by the compiled dynamics and their
    derivatives."""
    robot = package("pendulum", tmp_path, **CASES["pendulum"])
    dynamics = robot.external("forward_dynamics")
    steps, h = 40, 0.05
    opti = ca.Opti()
    x, u = opti.variable(4, steps + 1), opti.variable(2, steps)
    rate = lambda x, u: ca.vertcat(x[2:], dynamics(x[:2], x[2:], u))  # noqa: E731
    for k in range(steps):
        middle = x[:, k] + h / 2 * rate(x[:, k], u[:, k])
        opti.subject_to(x[:, k + 1] == x[:, k] + h * rate(middle, u[:, k]))
    opti.subject_to(x[:, 0] == ca.DM([np.pi, 0, 0, 0]))
    opti.subject_to(x[:, steps] == ca.DM([0, 0, 0, 0]))
    opti.subject_to(opti.bounded(-12, ca.vec(u), 12))
    opti.set_initial(x[0, :], np.linspace(np.pi, 0, steps + 1))
    opti.minimize(h * ca.sumsqr(u))
    options = {"print_level": 0, "max_iter": 500}
    opti.solver("ipopt", {"print_time": False}, options)
    found = opti.solve()
    assert found.stats()["success"]
    state = np.array(found.value(x))
    compiled_robot = symgen.compile(robot_file("pendulum"), "forward_dynamics")
    forces = np.array(found.value(u))
    for k in range(steps):  # the states obey the C's dynamics
        at = lambda x: np.r_[x[2:], compiled_robot.forward_dynamics(x[:2], x[2:], forces[:, k])]  # noqa: B023, E731
        middle = state[:, k] + h / 2 * at(state[:, k])
        assert np.allclose(state[:, k + 1], state[:, k] + h * at(middle), atol=1e-6)


def test_a_missing_compiler_is_one_sentence(tmp_path):
    _, folder = generated("pendulum", languages=("casadi",), **CASES["pendulum"])
    shutil.copytree(folder / "pendulum_casadi", tmp_path / "pendulum_casadi")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PATH": "", "CC": ""}
    command = [sys.executable, "-m", "pendulum_casadi.build"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "error: no C compiler found: install gcc or clang, or set CC; the graphs of the package "
        "need none\n"
    )


def test_a_library_of_other_sources_is_none(tmp_path):
    robot = package("pendulum", tmp_path, quantities=("mass_matrix",))
    assert robot.external("mass_matrix").n_out() == 1
    source = tmp_path / "pendulum_casadi" / "c" / "pendulum_casadi_mass_matrix.c"
    source.write_text(source.read_text() + "\n")
    with pytest.raises(FileNotFoundError, match="run python -m pendulum_casadi"):
        robot.external("mass_matrix")


def test_names_stay_data(tmp_path):
    nasty = 'é*/ #\\n"\'"""`x`'
    text = Path(robot_file("pendulum")).read_text(encoding="utf-8")
    joint = text.split('<joint name="')[1].split('"')[0]
    escaped = nasty.replace('"', "&quot;")
    (tmp_path / "x.urdf").write_text(text.replace(f'"{joint}"', f'"{escaped}"'), "utf-8")
    done = invoke("generate", tmp_path / "x.urdf", "-o", tmp_path / "x", "--lang", "casadi")
    assert done.exit_code == 0, done.output
    code = "import pendulum_casadi as r, sys; sys.stdout.buffer.write(r.JOINT_NAMES[0].encode())"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "x")}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert told.stdout.decode() == nasty
