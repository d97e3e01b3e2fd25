"""Modules with ``--trig inline`` need nothing of the C library."""

import re
import subprocess

import numpy as np
import pytest

from symgen.jobs.verify import verify
from symgen.languages.c.checks import build
from tests.support.sines import BOTH
from tests.support.tools import STRICT_C, c_files, compiled, generated, invoke, robot_file

CASES = {
    "double": {"quantities": BOTH},
    "float": {"scalar": "float"},
    "pieces": {"chunk": 20},
    "tiny_pieces": {"chunk": 1, "quantities": ("gravity",)},
    "friction": {"friction": "viscous,coulomb", "scalar": "float"},
}


cases = pytest.mark.parametrize("case", CASES)


def made(case):
    return generated("ur5", **{"quantities": BOTH[:1], "trig": "inline"} | CASES[case])


@cases
def test_modules_compile_and_prove_themselves(case, tmp_path):
    module, folder = made(case)
    more = ("-Wfloat-conversion", "-Wundef", "-Wcast-qual", "-Wmissing-prototypes", "-Wvla")
    compiled(
        *STRICT_C, *more, "-O2", f"-I{folder}", *c_files(folder), "-o", "x", cwd=tmp_path
    )  # without -lm
    compiled(
        "-std=c++11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-x",
        "c++",
        f"-I{folder}",
        "-c",
        *c_files(folder),
        cwd=tmp_path,
        compiler="g++",
    )
    checks = list(verify(folder))
    assert all(check.passed for check in checks), checks
    assert sum("bit for bit" in check.what for check in checks) == len(module.functions)


@cases
def test_an_angle_is_reduced_once(case):
    module, folder = made(case)
    for function in module.functions:
        text = (folder / f"ur5_{function.name}.c").read_text()
        called = re.findall(r"ur5_(sincos|sin|cos)\(((?!angle_sine)[^;]*?)(?:, &|\))", text)
        looped = [
            angle
            for row in re.findall(r"sine\d*\[.*?\] = {(.*?)};", text, re.S)
            for angle in row.split(",")
        ]
        angles = [angle.strip() for angle in [*looped, *(angle for _, angle in called)]]
        assert len(set(angles)) == len(angles)
        taken = len(re.findall(r"= (?:angle_sine|cosine)\d*\[", text))
        assert (
            taken + sum(2 if name == "sincos" else 1 for name, _ in called) == function.counts.trig
        )
        assert "math.h" not in text
        assert bool(looped) == (len(angles) > 1)


LOOPS = [
    ("scara", []),
    ("pendulum", [2]),
    ("ur5", [7]),
    ("snake16", [8, 7]),
    ("humanoid25", [8, 8, 6]),
]


@pytest.mark.parametrize(("robot", "sizes"), LOOPS)
def test_loops_of_sines(robot, sizes):
    """At most eight angles at a time; a pair that is left over has a call of its own."""
    _, folder = generated(robot, quantities=("inverse_dynamics",), trig="inline")
    text = (folder / f"{robot}_inverse_dynamics.c").read_text()
    assert [int(n) for n in re.findall(r"\bangle_sine\d*\[\w+_FILLED\((\d+)\)\]", text)] == sizes
    assert len(re.findall(r"_sincos_all\(", text)) == len(sizes)
    assert len(re.findall(r"_sincos\(", text)) == (not sizes)


@pytest.mark.parametrize(
    ("case", "level"), [*((case, "-O2") for case in CASES), ("double", "-O0"), ("pieces", "-O0")]
)
def test_nothing_is_needed_from_anywhere(case, level, tmp_path):
    module, folder = made(case)
    start = f"void _start(void);\nvoid _start(void) {{ (void){module.name}_selftest(); }}\n"
    (tmp_path / "start.c").write_text(f'#include "{module.name}.h"\n{start}')
    compiled(
        "-std=c99",
        level,
        "-ffreestanding",
        "-fno-pic",
        "-fno-tree-loop-distribute-patterns",
        "-nostdlib",
        "-static",
        "-DUR5_SELFTEST_NO_MAIN",
        f"-I{folder}",
        "start.c",
        *c_files(folder),
        "-o",
        "x",
        cwd=tmp_path,
    )
    sources = c_files(folder, ["_selftest"])
    compiled("-std=c99", level, "-fno-pic", f"-I{folder}", "-c", *sources, cwd=tmp_path)
    lines = subprocess.run(
        ["nm", *tmp_path.glob("*.o")], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split()[-2:] for line in lines.splitlines() if len(line.split()) >= 2]
    assert {letter for letter, name in rows if not name.startswith(".LC")} <= {"T", "t", "R"}, lines


@cases
def test_results_do_not_depend_on_optimisation(case):
    module, folder = made(case)
    runs = [build(module, folder, ("-ffp-contract=off", level)) for level in ("-O0", "-O3")]
    rng = np.random.default_rng(3)
    for function in module.functions:
        inputs = rng.uniform(-3, 3, (len(function.inputs), 200, module.dof))
        one, other = (getattr(run, function.name)(*inputs) for run in runs)
        assert np.array_equal(one, other)


@pytest.mark.parametrize("scalar", ["double", "float"])
def test_other_functions_are_those_of_libm(scalar, tmp_path):
    """And it is said; the sines are the module's own all the same."""
    options = ("--friction", "runtime:coulomb", "--friction-width", "0.01", "--scalar", scalar)
    quantities = ("--quantity", "inverse_dynamics", "--quantity", "gravity")
    result = invoke("generate", robot_file("ur5"), "-o", tmp_path / "ur5", *options, *quantities)
    said = "note: inverse_dynamics needs tanh of the C math library; link with -lm"
    assert result.exit_code == 0 and said in result.stderr.splitlines()
    text = (tmp_path / "ur5" / "ur5_inverse_dynamics.c").read_text()
    assert "ur5_sincos_all(" in text and "tanh" in text and "<math.h>" in text
    assert "math.h" not in (tmp_path / "ur5" / "ur5_gravity.c").read_text()
    checks = list(verify(tmp_path / "ur5"))
    assert all(check.passed for check in checks), checks
    exact = [check.what for check in checks if "bit for bit" in check.what and " C " in check.what]
    assert len(exact) == (2 if scalar == "double" else 1), checks
