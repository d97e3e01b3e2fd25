"""C++: the system's compilers run it, with the bits of the C, on arrays, Eigen's matrices and dual
numbers."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import symgen
from tests.support.tools import TRIED, generated, invoke, robot_file, verified

EIGEN = Path("/usr/include/eigen3")
needs_eigen = pytest.mark.skipif(not (EIGEN / "Eigen").is_dir(), reason="Eigen is not installed")
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
pytestmark = pytest.mark.skipif(not COMPILERS, reason="no C++ compiler is installed")


def ran(folder, text, compiler="c++", *flags):
    """The numbers that a program prints."""
    (folder / "main.cpp").write_text(text)
    command = [compiler, "-std=c++17", "-O0", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
    out = folder / "main"
    subprocess.run([*command, *flags, "main.cpp", "-o", out], cwd=folder, check=True)
    done = subprocess.run([out], capture_output=True, text=True, check=True)
    return np.array(done.stdout.split(), float)


@pytest.fixture(scope="module")
def ur5():
    """What the programs' numbers are compared with."""
    names = ("inverse_dynamics", "gravity", "coriolis_matrix", "gravity_gradient")
    return symgen.compile(robot_file("ur5"), *names)


@pytest.mark.parametrize("name", TRIED)
def test_verify_proves_it(name):
    _, folder = generated(name, languages=("cpp",), **TRIED[name])
    said = verified(folder)
    assert "C++ equals the float run" in said


ARRAYS = """
#include "ur5_robot.hpp"
#include <cstdio>
int main()
{
    const std::array<double, 6> q{0.1, -0.2, 0.3, -0.4, 0.5, -0.6}, v{0.5, 0.4, 0.3, 0.2, 0.1, 0.7};
    const auto tau = ur5_robot::inverse_dynamics(q, v, v);
    const auto solved = ur5_robot::forward_dynamics(q, v, tau);
    const auto single = ur5_robot::gravity(std::array<float, 6>{0.1f, -0.2f, 0.3f, -0.4f, 0.5f, -0.6f});
    for (const double x : tau)
        std::printf("%.17g ", x);
    for (const double x : solved.qdd)
        std::printf("%.17g ", x);
    for (const float x : single)
        std::printf("%.9g ", double(x));
    std::printf("%d", int(solved.ok));
}
"""


@pytest.mark.parametrize("compiler", COMPILERS)
def test_arrays_of_double_and_float(compiler, tmp_path, ur5):
    names = ("inverse_dynamics", "forward_dynamics", "gravity")
    _, folder = generated("ur5", languages=("cpp",), quantities=names)
    shutil.copytree(folder, tmp_path / "x")
    found = ran(tmp_path / "x", ARRAYS, compiler)
    q, v = [0.1, -0.2, 0.3, -0.4, 0.5, -0.6], [0.5, 0.4, 0.3, 0.2, 0.1, 0.7]
    tau = ur5.inverse_dynamics(q, v, v)
    assert np.allclose(found[:6], tau, rtol=1e-14, atol=1e-14)
    assert np.allclose(found[6:12], v, atol=1e-12)
    assert np.allclose(found[12:18], ur5.gravity(q), atol=1e-5) and found[18] == 1


NUMBERS = """
#include "pendulum_robot.hpp"
#include <cstdio>
int main()
{
    const std::array<double, 2> q{0.1, -0.2}, v{0.5, 0.4}, tau{};
    const double h = 0.01, energy = pendulum_robot::kinetic_energy(q, v);
    const auto next = pendulum_robot::step_euler(q, v, tau, h);
    std::printf("%.17g %.17g %d", energy, next.q_euler[1], int(next.ok));
}
"""


def test_energies_and_time_steps_are_numbers(tmp_path):
    names = ("kinetic_energy", "step:euler")
    _, folder = generated("pendulum", languages=("cpp",), quantities=names)
    shutil.copytree(folder, tmp_path / "x")
    q, v = [0.1, -0.2], [0.5, 0.4]
    robot = symgen.compile(robot_file("pendulum"), *names)
    end = robot.step_euler(q, v, [0.0, 0.0], [0.01])[0][1]
    assert np.allclose(ran(tmp_path / "x", NUMBERS), [robot.kinetic_energy(q, v).item(), end, 1])


MATRICES = """
#include "ur5_robot_eigen.hpp"
#include <cstdio>
#include <unsupported/Eigen/AutoDiff>
int main()
{
    Eigen::VectorXd x(12);
    x << 0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.7;
    const Eigen::MatrixXd C = ur5_robot::coriolis_matrix(x.head<6>(), x.tail<6>());
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
            std::printf("%.17g ", C(i, j));
    using Dual = Eigen::AutoDiffScalar<Eigen::Matrix<double, 6, 1>>;
    std::array<Dual, 6> q;
    for (int i = 0; i < 6; ++i)
        q[std::size_t(i)] = Dual(x[i], 6, i);
    for (const Dual &row : ur5_robot::gravity(q))
        for (int j = 0; j < 6; ++j)
            std::printf("%.17g ", row.derivatives()[j]);
}
"""


@needs_eigen
def test_matrices_of_eigen_and_dual_numbers(tmp_path, ur5):
    names = ("coriolis_matrix", "gravity")
    _, folder = generated("ur5", languages=("cpp",), quantities=names)
    shutil.copytree(folder, tmp_path / "x")
    found = ran(tmp_path / "x", MATRICES, "c++", "-isystem", str(EIGEN))
    q, v = [0.1, -0.2, 0.3, -0.4, 0.5, -0.6], [0.5, 0.4, 0.3, 0.2, 0.1, 0.7]
    assert np.allclose(found[:36].reshape(6, 6), ur5.coriolis_matrix(q, v), atol=1e-13)
    assert np.allclose(found[36:].reshape(6, 6), ur5.gravity_gradient(q), atol=1e-12)


SPANS = """
#include "ur5_robot.hpp"
#include <cstdio>
#include <vector>
int main()
{
    std::vector<double> numbers{0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.7};
    double by_rows[36], by_columns[36];
    const std::span<double, 12> x(numbers);
    ur5_robot::coriolis_matrix(x.first<6>(), x.last<6>(), std::span<double, 36>(by_rows));
    ur5_robot::coriolis_matrix(numbers.data(), numbers.data() + 6, ur5_robot::column_major<6, 6>(by_columns));
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
            if (by_rows[6 * i + j] != by_columns[6 * j + i])
                return 1;
    for (const double x : by_rows)
        std::printf("%.17g ", x);
}
"""
CONSTANT = """
#include "ur5_robot.hpp"
constexpr auto par = ur5_robot::regroup(ur5_robot::parameters);
constexpr double squares()
{
    double sum = 0.0;
    for (const double x : par)
        sum += x * x;
    return sum;
}
static_assert(squares() > 1.0);
constexpr auto tau = ur5_robot::gravity(std::array<double, 6>{0.0, 0.5, 0.0, 0.0, 0.0, 0.0}, par);
static_assert(tau[0] == 0.0 && tau[1] < -10.0);
int main() { return 0; }
"""
MISTAKEN = """
#include "ur5_robot.hpp"
int main() { double q[6] = {}; float tau[6]; ur5_robot::gravity(q, tau); }
"""


MIXED = """
#include "ur5_robot_eigen.hpp"
#include <cstdio>
int main()
{
    Eigen::VectorXd q(6), gains = Eigen::VectorXd::Constant(6, 100.0);
    q << 0.1, -0.2, 0.3, -0.4, 0.5, -0.6;
    const auto par = ur5_robot::regroup(ur5_robot::parameters);
    const Eigen::Map<const Eigen::VectorXd> vector(par.data(), Eigen::Index(par.size()));
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(6);
    const auto u = ur5_robot::computed_torque(q, zero, 0.001, q, zero, zero, zero, gains, gains, gains, gains * 10, par);
    for (int i = 0; i < 6; ++i)
        std::printf("%.17g %.17g %.17g ", ur5_robot::gravity(q, par)[i], ur5_robot::gravity(q, vector)[i], u.u_computed[i]);
}
"""


@needs_eigen
@pytest.mark.parametrize("compiler", COMPILERS)
def test_eigen_inputs_may_be_arrays_and_numbers(compiler, tmp_path, ur5):
    """The parameters of the module are a std::array, the sample time is a number."""
    _, folder = generated(
        "ur5",
        languages=("cpp",),
        quantities=("gravity",),
        controllers=("computed_torque",),
        parameters="runtime:flange",
    )
    shutil.copytree(folder, tmp_path / "x")
    found = ran(tmp_path / "x", MIXED, compiler, "-isystem", str(EIGEN)).reshape(6, 3)
    held = ur5.gravity([0.1, -0.2, 0.3, -0.4, 0.5, -0.6])
    assert np.allclose(found, held[:, None], rtol=1e-12, atol=1e-12)


INTEGERS = {
    "arrays": "ur5_robot::gravity(std::array{0, -1, 0, 0, 0, 0});",
    "pointers": "const long q[6] = {}; long tau[6]; ur5_robot::gravity(q, tau);",
    "spans": "int q[6] = {}, tau[6]; ur5_robot::gravity(std::span(q), std::span(tau));",
    "matrices": "const Eigen::VectorXi q(6); ur5_robot::gravity(q);",
}


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_integers_do_not_compile(compiler, kind, tmp_path):
    """Entries of the results would be rounded to zero."""
    if kind == "matrices" and not (EIGEN / "Eigen").is_dir():
        pytest.skip("Eigen is not installed")
    _, folder = generated("ur5", languages=("cpp",), quantities=("gravity",))
    header = "ur5_robot_eigen.hpp" if kind == "matrices" else "ur5_robot.hpp"
    text = f'#include "{header}"\nint main() {{ {INTEGERS[kind]} }}\n'
    (tmp_path / "main.cpp").write_text(text)
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{folder}", "-isystem", str(EIGEN)]
    done = subprocess.run([*command, "main.cpp"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0
    assert "inputs must be floating-point numbers such as double, not integers" in done.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
def test_spans_and_columns(compiler, tmp_path, ur5):
    _, folder = generated("ur5", languages=("cpp",), quantities=("coriolis_matrix", "gravity"))
    shutil.copytree(folder, tmp_path / "x")
    found = ran(tmp_path / "x", SPANS, compiler, "-std=c++20")
    q, v = [0.1, -0.2, 0.3, -0.4, 0.5, -0.6], [0.5, 0.4, 0.3, 0.2, 0.1, 0.7]
    wanted = ur5.coriolis_matrix(q, v)
    assert np.allclose(found.reshape(6, 6), wanted, atol=1e-13)
    with pytest.raises(subprocess.CalledProcessError):
        ran(tmp_path / "x", MISTAKEN, compiler)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_is_known_is_computed_by_the_compiler(compiler, tmp_path):
    _, folder = generated("ur5", languages=("cpp",), quantities=("gravity",), parameters="runtime")
    shutil.copytree(folder, tmp_path / "x")
    ran(tmp_path / "x", CONSTANT, compiler)


def test_names_stay_data(tmp_path):
    nasty = 'é*/ #include "x" ??/ \\n"'
    text = Path(robot_file("pendulum")).read_text(encoding="utf-8")
    joint = text.split('<joint name="')[1].split('"')[0]
    (tmp_path / "x.urdf").write_text(
        text.replace(f'"{joint}"', "'" + nasty + "'"), encoding="utf-8"
    )
    done = invoke("generate", tmp_path / "x.urdf", "-o", tmp_path / "x", "--lang", "cpp")
    assert done.exit_code == 0, done.output
    program = '#include "pendulum_robot.hpp"\n#include <cstdio>\nint main() { std::fputs(pendulum_robot::joint_names[0], stdout); }'
    (tmp_path / "x" / "main.cpp").write_text(program)
    subprocess.run(["c++", "-std=c++17", "main.cpp", "-o", "main"], cwd=tmp_path / "x", check=True)
    done = subprocess.run([tmp_path / "x" / "main"], capture_output=True, check=True)
    assert done.stdout.decode() == nasty
