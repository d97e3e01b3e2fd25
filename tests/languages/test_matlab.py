"""MATLAB: Octave runs the functions and the MEX gateway, with the values of the C; the S-function
compiles against a stub of Simulink's header and runs."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from symgen.languages.c.backend import sources
from symgen.languages.describe import descriptions
from tests.support.tools import SIMPLE, compiled, generated, invoke, robot_file, verified

STUB = Path(__file__).resolve().parents[1] / "support" / "simulink"
BOTH = ("c", "matlab")
SOME = (
    *("gravity", "bias", "mass_matrix", "coriolis_matrix", "forward_dynamics", "regressor"),
    *(
        "christoffel_symbols",
        "christoffel_symbols_full",
        "inverse_dynamics_derivatives",
        "integrate",
    ),
    *("recursive_least_squares", "frame_pose:lower", "mass_matrix_gradient"),
)
"""Of vectors, matrices and more, with a matrix that goes in."""
CASES = {
    "pendulum": {"quantities": SOME, "languages": BOTH},
    "scara": {
        "parameters": "runtime:quill",
        "gravity": "runtime",
        "friction": "runtime:coulomb",
        "quantities": ("inverse_dynamics", "forward_dynamics", "regressor", "christoffel_symbols"),
        "languages": BOTH,
        "scalar": "float",
    },
    "biped": {
        "base": "floating",
        "quantities": ("forward_dynamics", "regressor"),
        "languages": ("matlab",),
    },
}
SMALL = CASES["pendulum"]
needs_octave = pytest.mark.skipif(
    shutil.which("octave-cli") is None or shutil.which("mkoctfile") is None,
    reason="Octave is not installed",
)


def octave(folder, text):
    """What a program prints."""
    command = ["octave-cli", "--norc", "--no-history", "--quiet", "--eval", text]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(text):
    return np.array(text.split(), float)


@needs_octave
@pytest.mark.parametrize("name", CASES)
def test_verify_proves_it(name):
    _, folder = generated(name, **CASES[name])
    said = verified(folder)
    assert "Octave equals the float run" in said
    assert ("MEX equals the float run" in said) == ("c" in CASES[name]["languages"])


@needs_octave
def test_functions_of_one_input_compile_without_a_warning():
    """GCC 12 inlines so much of the gateway that it looks for uninitialised arrays."""
    wanted = ("frame_pose:lower", "gravity")
    languages = ("c", "python", "matlab")
    _, folder = generated("pendulum", quantities=wanted, languages=languages, zeros="always")
    assert "MEX equals the float run" in verified(folder)


def test_verify_says_where_octave_is_missing(monkeypatch):
    _, folder = generated("pendulum", quantities=("gravity",), languages=("matlab",))
    monkeypatch.setenv("PATH", "/nowhere")
    done = invoke("verify", folder)
    assert done.exit_code == 1 and "octave-cli must be installed" in done.output


@pytest.mark.slow
@needs_octave
@pytest.mark.parametrize("name", ["pendulum", "ur5", "panda", "quadruped"])
def test_every_quantity(name):
    options = {"base": "floating"} if name == "quadruped" else {}
    quantities = SIMPLE if name == "pendulum" else ("all",)
    languages = BOTH if name == "pendulum" else ("matlab",)
    _, folder = generated(name, quantities=quantities, languages=languages, **options)
    verified(folder)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A copy of a folder whose gateway is compiled by the file that comes with it."""
    _, folder = generated("pendulum", **SMALL)
    place = tmp_path_factory.mktemp("built")
    shutil.copytree(folder, place, dirs_exist_ok=True)
    octave(place / "pendulum_matlab", "pendulum_build")
    return place / "pendulum_matlab"


@needs_octave
def test_the_gateway_takes_many_states(built):
    found = numbers(
        octave(
            built,
            "q = [0.1 0.2 0.3; -0.4 0.5 0.6]; M = pendulum_mex('mass_matrix', q);"
            "assert(size(M), [2 2 3]); [x, ok] = pendulum_mex('forward_dynamics', q, [1; 2], 3 * q);"
            "assert(ok, true(1, 3)); assert(pendulum_mex('gravity', [0.1 0.2]), pendulum_robot.gravity([0.1; 0.2]));"
            "for k = 1:3, assert(M(:, :, k), pendulum_robot.mass_matrix(q(:, k)), 1e-15);"
            "assert(x(:, k), pendulum_robot.forward_dynamics(q(:, k), [1; 2], 3 * q(:, k)), 1e-13); end;"
            "C = pendulum_robot.coriolis_matrix(q(:, 1), [1; 2]); assert(pendulum_mex('coriolis_matrix', q(:, 1), [1; 2]), C, 1e-15);"
            "assert(isempty(pendulum_mex('gravity', zeros(2, 0)))); printf('%g ', C(1, 2), C(2, 1))",
        )
    )
    assert found[0] != found[1]  # so that a transposed matrix would be seen


WRONG = {
    "pendulum_mex()": ("pendulum:function", "the first argument must be the name of a function"),
    "pendulum_mex('gravit', [0; 0])": ("pendulum:function", "there is no function 'gravit'"),
    "pendulum_mex('gravity')": ("pendulum:inputs", "gravity has 1 inputs, not 0"),
    "pendulum_mex('gravity', [0; 0; 0])": ("pendulum:size", "q must have 2 rows"),
    "pendulum_mex('gravity', int32([0; 0]))": ("pendulum:type", "q must be a full array of real"),
    "pendulum_mex('gravity', [0; 1i])": ("pendulum:type", "q must be a full array of real"),
    "pendulum_mex('gravity', sparse([0; 1]))": ("pendulum:type", "q must be a full array of real"),
    "pendulum_mex('bias', zeros(2, 2), zeros(2, 3))": (
        "pendulum:states",
        "qd must have the same number of states",
    ),
    "[a, b] = pendulum_mex('gravity', [0; 0])": ("pendulum:outputs", "gravity has 1 outputs"),
    "pendulum_robot.gravity([0; 0; 0])": ("pendulum_robot:gravity", "q must have 2 entries"),
    "pendulum_robot.gravity(int32([0; 0]))": ("pendulum_robot:gravity", "q must have 2 entries"),
    "pendulum_robot.gravity([true; false])": ("pendulum_robot:gravity", "double or single"),
    "pendulum_robot.gravity('ab')": ("pendulum_robot:gravity", "double or single"),
    "pendulum_mex('gravity', [true; false])": ("pendulum:type", "double or single"),
}


@needs_octave
def test_mistakes_are_told(built):
    tries = "".join(
        f"try, {call}; disp('none'); catch e, disp([e.identifier ' ' e.message]); end;"
        for call in WRONG
    )
    lines = octave(built, tries).splitlines()
    for line, (identifier, text) in zip(lines, WRONG.values(), strict=True):
        assert line.startswith(f"{identifier} ") and text in line, line


@needs_octave
def test_what_comes_with_the_functions(built):
    """Help, the self-test, single precision, NaN where a result means nothing."""
    text = octave(
        built,
        "help pendulum_robot.forward_dynamics; assert(pendulum_robot.selftest(), 0);"
        "[x, ok] = pendulum_robot.forward_dynamics([0; Inf], [0; 0], [0; 0]); assert(~ok && all(isnan(x)));"
        "[x, ok] = pendulum_mex('forward_dynamics', [0; Inf], [0; 0], [0; 0]); assert(~ok && all(isnan(x)));"
        "assert(class(pendulum_robot.gravity(single([1; 2]))), 'single');"
        "assert(pendulum_robot.gamma_index(2, 2, 1), pendulum_robot.gamma_index(2, 1, 2));"
        "G = pendulum_robot.christoffel_symbols([1; 2]); F = pendulum_robot.christoffel_symbols_full([1; 2]);"
        "for i = 1:2, for j = 1:2, for k = 1:2, assert(G(pendulum_robot.gamma_index(i, j, k)), F(i, j, k)); end, end, end;"
        "disp(strjoin(pendulum_robot.joint_names(), '+'));",
    )
    assert "FORWARD_DYNAMICS  qdd = M(q)^-1 (tau - C(q, qd) qd - g(q))" in text
    assert "in   q   [2] joint positions     [rad]" in text and "SI units" in text
    assert text.splitlines()[-1] == "shoulder+elbow"


@needs_octave
def test_the_self_test_sees_a_wrong_number(built, tmp_path):
    shutil.copytree(built, tmp_path / "x")
    file = tmp_path / "x" / "+pendulum_robot" / "gravity.m"
    wrong = file.read_text().replace("9.81 * sin", "9.82 * sin")
    assert wrong != file.read_text()
    file.write_text(wrong)
    assert numbers(octave(tmp_path / "x", "disp(pendulum_robot.selftest())"))[0] > 0


@needs_octave
def test_names_stay_data(tmp_path):
    nasty = 'é\'); exit(7); % %{ ... "x" \\n'
    text = Path(robot_file("pendulum")).read_text(encoding="utf-8")
    joint = text.split('<joint name="')[1].split('"')[0]
    escaped = nasty.replace('"', "&quot;")
    (tmp_path / "x.urdf").write_text(text.replace(f'"{joint}"', f'"{escaped}"'), "utf-8")
    done = invoke("generate", tmp_path / "x.urdf", "-o", tmp_path / "x", "--lang", "matlab")
    assert done.exit_code == 0, done.output
    folder = tmp_path / "x" / "pendulum_matlab"
    print_it = "names = pendulum_robot.joint_names(); fputs(stdout, names{1}); assert(pendulum_robot.selftest(), 0)"
    assert octave(folder, print_it) == nasty
    assert all(path.read_bytes().isascii() for path in folder.rglob("*.m"))


# -- Simulink --------------------------------------------------------------------------------------


def block(name, place, **options):
    """The module of a robot, its folder, and a program that runs its S-function."""
    module, folder = generated(name, languages=BOTH, **options)
    strict = ("-std=c99", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wno-double-promotion")
    units = [folder / file for file in sources(module)]
    units += [folder / f"{name}_matlab" / f"{name}_sfun.c", STUB / "run.c"]
    include = (f"-I{folder}", f"-I{STUB}")
    compiled(*strict, "-Werror", *include, *units, "-lm", "-o", place / "run", cwd=place)
    return module, folder, place / "run"


@pytest.mark.parametrize("options", [{}, {"scalar": "float"}], ids=["double", "float"])
def test_the_s_function_gives_what_the_c_gives(options, tmp_path):
    from symgen.languages.c.checks import build

    module, folder, program = block("pendulum", tmp_path, quantities=SOME, **options)
    calls, rng = build(module, folder), np.random.default_rng(0)
    for d in descriptions(module):
        ins = [a for a in d.arguments if a.direction == "in"]
        outs = [a for a in d.arguments if a.direction == "out"]
        given = [rng.uniform(0.1, 1.0, a.sizes) for a in ins]
        told = b"".join(x.tobytes("F") for x in given)
        done = subprocess.run([program, d.name], input=told, capture_output=True, check=True)
        left = np.frombuffer(done.stdout)
        wanted = getattr(calls, d.name)(*(x.ravel() for x in given))
        for a, array in zip(outs, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            assert list(left[:4]) == [len(a.sizes), *a.sizes, *[1] * (3 - len(a.sizes))]
            assert np.array_equal(left[4 : 4 + a.size].reshape(a.sizes, order="F"), array), d.name
            left = left[4 + a.size :]
        assert list(left) == ([1, 1, 1, 1, 1] if d.pivots else [])


def test_the_s_function_refuses_a_name_that_is_none(tmp_path):
    _, _, program = block("pendulum", tmp_path, quantities=("gravity",))
    done = subprocess.run([program, "gravit"], capture_output=True, text=True)
    assert done.returncode == 3 and "must be the name of a function" in done.stderr
