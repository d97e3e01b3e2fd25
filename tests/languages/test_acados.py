"""acados, where ACADOS_SOURCE_DIR names one that is built: it calls external functions and their
Jacobians, and solves an optimal control problem whose model calls them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.tools import generated

ca = pytest.importorskip("casadi", reason="CasADi is not installed")

ACADOS = Path(os.environ.get("ACADOS_SOURCE_DIR", "/nowhere"))
PROGRAMS = Path(__file__).resolve().parents[1] / "support" / "acados"
needs_acados = pytest.mark.skipif(
    not (ACADOS / "lib" / "libacados.so").is_file(),
    reason="ACADOS_SOURCE_DIR names no acados that is built",
)
HEADERS = [
    f"-I{ACADOS}/include{part}" for part in ("", "/acados", "/blasfeo/include", "/hpipm/include")
]
LIBRARIES = [f"-L{ACADOS}/lib", "-lacados", "-lhpipm", "-lblasfeo", "-lm"]
QUANTITIES = (
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "mass_matrix",
    "mass_matrix_gradient",
)
H, STEPS = 0.05, 40
LIMIT = {2: 2.5, 6: 60.0}
WEIGHT_U = {2: 0.05, 6: 1e-3}
WEIGHTS = {"WEIGHT_Q": 10.0, "WEIGHT_QD": 0.1, "LAST_Q": 100.0, "LAST_QD": 10.0}
START = {"pendulum": [0.5, -0.3], "ur5": [0.4, -1.2, 0.8, 0.5, -0.6, 0.3]}


@pytest.fixture(autouse=True)
def forgotten():
    """Other tests have packages of the same name."""
    yield
    for name in [name for name in sys.modules if name.split(".")[0].endswith("_casadi")]:
        del sys.modules[name]


def package(name, tmp_path, monkeypatch):
    """The package of a robot, compiled for CasADi, and its C files."""
    _, folder = generated(name, languages=("casadi",), quantities=QUANTITIES)
    shutil.copytree(folder / f"{name}_casadi", tmp_path / f"{name}_casadi")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    build = [sys.executable, "-m", f"{name}_casadi.build"]
    subprocess.run(build, check=True, env=environment, cwd=tmp_path, capture_output=True)
    monkeypatch.syspath_prepend(tmp_path)
    return __import__(f"{name}_casadi"), tmp_path / f"{name}_casadi" / "c"


def ran(program, sources, tmp_path, *flags):
    """What a program prints, linked with acados."""
    files = [str(PROGRAMS / program), *map(str, sources)]
    command = ["gcc", "-O2", "-Dcasadi_int=int", *flags, *HEADERS, *files, *LIBRARIES]
    subprocess.run([*command, "-o", str(tmp_path / "main")], check=True)
    where = {**os.environ, "LD_LIBRARY_PATH": f"{ACADOS}/lib"}
    command = [str(tmp_path / "main")]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=where).stdout


@needs_acados
def test_its_structure_calls_them(tmp_path, monkeypatch):
    """A dense function, and a Jacobian that is sparse."""
    robot, c = package("pendulum", tmp_path, monkeypatch)
    sources = [c / f"pendulum_casadi_{name}.c" for name in ("forward_dynamics", "mass_matrix")]
    numbers = np.array(ran("functions.c", sources, tmp_path).split(), float)
    wanted = robot.graph("forward_dynamics")([0.3, -0.4], [0.5, 0.6], [1.0, -2.0])
    assert np.allclose(numbers[:2], ca.densify(wanted).full().ravel(), rtol=1e-13)
    q = ca.SX.sym("q", 2)
    mass = ca.densify(robot.graph("mass_matrix")(q))
    slope = ca.Function("slope", [q], [ca.jacobian(ca.vec(mass), q)])([0.3, -0.4])
    assert np.allclose(numbers[2:], ca.densify(slope).full().ravel(order="F"), rtol=1e-13)


def stepped(acceleration, x, u):
    """A step of semi-implicit Euler."""
    n = u.shape[0]
    qd = x[n:] + H * acceleration(x[:n], x[n:], u)
    return ca.vertcat(x[:n] + H * qd, qd)


def model(robot, n, tmp_path):
    """The C that CasADi writes of a model that calls our function, as acados' interface has it
    written."""
    x, u = ca.MX.sym("x", 2 * n), ca.MX.sym("u", n)
    after = stepped(robot.external("forward_dynamics"), x, u)
    slope = ca.densify(ca.jacobian(after, ca.vertcat(u, x)).T)
    writer = ca.CodeGenerator("model.c", {"casadi_int": "int"})
    writer.add(ca.Function("model", [x, u], [after]))
    writer.add(ca.Function("model_jac", [x, u], [after, slope]))
    writer.generate(f"{tmp_path}/")
    return tmp_path / "model.c"


def optimum(robot, start):
    """States and torques that IPOPT finds for the same problem, with the graph and exact Hessians."""
    n, opti, w = len(start), ca.Opti(), WEIGHTS
    x, u = opti.variable(2 * n, STEPS + 1), opti.variable(n, STEPS)
    acceleration = robot.graph("forward_dynamics")
    cost = w["LAST_Q"] * ca.sumsqr(x[:n, STEPS]) + w["LAST_QD"] * ca.sumsqr(x[n:, STEPS])
    for k in range(STEPS):
        opti.subject_to(x[:, k + 1] == stepped(acceleration, x[:, k], u[:, k]))
        parts = (w["WEIGHT_Q"], x[:n, k]), (w["WEIGHT_QD"], x[n:, k]), (WEIGHT_U[n], u[:, k])
        cost += H * sum(weight * ca.sumsqr(part) for weight, part in parts)
    opti.subject_to(x[:, 0] == ca.vertcat(start, ca.DM.zeros(n)))
    opti.subject_to(opti.bounded(-LIMIT[n], ca.vec(u), LIMIT[n]))
    opti.set_initial(x, ca.repmat(ca.vertcat(start, ca.DM.zeros(n)), 1, STEPS + 1))
    opti.minimize(0.5 * cost)
    quiet = {"sb": "yes", "print_level": 0, "tol": 1e-11, "bound_relax_factor": 0.0}
    opti.solver("ipopt", {"print_time": 0}, quiet)
    found = opti.solve()
    return found.value(x).T, found.value(u).reshape(n, STEPS).T


@needs_acados
@pytest.mark.parametrize("name", START)
def test_it_solves_a_problem_with_them(name, tmp_path, monkeypatch):
    """SQP with HPIPM ends where IPOPT ends, with torques at their limits on the way."""
    robot, c = package(name, tmp_path, monkeypatch)
    start = START[name]
    n = len(start)
    written = model(robot, n, tmp_path)
    values = {
        **WEIGHTS,
        "NQ": n,
        "H": H,
        "STEPS": STEPS,
        "LIMIT": LIMIT[n],
        "WEIGHT_U": WEIGHT_U[n],
        "ROUNDS": 5,
    }
    flags = [f"-D{key}={value}" for key, value in values.items()]
    flags.append(f"-DSTART={{{', '.join(map(str, start))}}}")
    sources = [written, c / f"{name}_casadi_forward_dynamics.c"]
    head, *rows = ran("problem.c", sources, tmp_path, *flags).splitlines()
    status, iterations, took = head.split()
    print(f"{name}: status {status}, {iterations} iterations, {took} ms")
    assert status == "0"
    found = [np.array(row.split(), float) for row in rows]
    x, u = optimum(robot, start)
    assert np.abs(np.abs(u).max() - LIMIT[n]) < 1e-6  # the limits are felt
    assert np.allclose([row[: 2 * n] for row in found], x, rtol=0, atol=1e-5)
    assert np.allclose([row[2 * n :] for row in found[:-1]], u, rtol=0, atol=1e-3)
