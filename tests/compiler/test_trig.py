"""Sine and cosine of ``--trig inline``: accurate, the same bits everywhere, and free of the C
library."""

import itertools
import math
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest
from tools import STRICT_C, c_files, compiled, generated, invoke, robot_file

from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.jobs.verify import verify
from symgen.languages.c.calls import build
from symgen.numbers.trig import SINES, TYPES, sincos

ULP = 2.0
scalars = pytest.mark.parametrize("scalar", SINES)
BOTH = ("inverse_dynamics", "forward_dynamics")


def neighbours(x, real):
    return np.concatenate([x, np.nextafter(x, real(0)), np.nextafter(x, real(np.inf))])


def _hardest(steps):
    """Of the multiples of pi/2 the first, and those that lie nearest to a number of double
    precision."""
    s, c = sincos(steps * (math.pi / 2), "double")
    near = np.argsort(np.minimum(np.abs(s), np.abs(c)), kind="stable")[:3000]
    return np.union1d(steps[:2000], steps[near])


@cache
def angles(scalar):
    """Random ones at all sizes, and the hard ones: beside every multiple of pi/4 (of pi/2 where
    they are many)."""
    real, bound = TYPES[scalar], SINES[scalar].bound
    rng = np.random.RandomState(1)
    dense = [rng.uniform(-size, size, 6000).astype(real) for size in (bound, 100, 4, 0.8)]
    steps = _hardest(np.arange(1, int(bound / (math.pi / 2))))
    hard = np.concatenate([steps, steps + 0.5 if scalar == "float" else steps[:2000] + 0.5]) * (
        math.pi / 2
    )
    tiny = np.array([0.0, 1e-3, 1e-8, 1e-30, float(np.finfo(real).tiny)])
    found = np.concatenate([*dense, neighbours(hard.astype(real), real), tiny.astype(real)])
    found = np.concatenate([found, -found])
    return found[np.abs(found) <= bound]


def error(x, got, function, scalar):
    """Largest error in units in the last place."""
    places = np.spacing(np.abs(got)).astype(float)
    with mpmath.workdps(40):
        wanted = (function(mpmath.mpf(v)) for v in x.tolist())
        return max(
            float(abs(g - w)) / u
            for g, w, u in zip(got.tolist(), wanted, places.tolist(), strict=True)
        )


@scalars
def test_errors_are_below_two_ulp(scalar):
    x = angles(scalar)
    for got, function in zip(sincos(x, scalar), (mpmath.sin, mpmath.cos), strict=True):
        assert got.dtype == TYPES[scalar]
        assert error(x, got, function, scalar) < ULP


@scalars
def test_the_numbers_are_those_of_the_type(scalar):
    n, real = SINES[scalar], TYPES[scalar]
    assert all(float(real(x)) == x for x in (n.shift, *n.half_pi, *n.sine, *n.cosine))
    with mpmath.workdps(60):
        exact = sum(map(mpmath.mpf, n.half_pi))
        assert abs(exact - mpmath.pi / 2) * n.bound < 2.0 ** (-110 if scalar == "double" else -55)
    for part in n.half_pi[:-1]:
        digits = int(math.frexp(part)[0] * 2**53)
        kept = 53 - (digits & -digits).bit_length() + 1
        assert kept + math.ceil(math.log2(n.bound / 1.5)) <= (53 if scalar == "double" else 24)


@scalars
def test_no_number_gives_no_number(scalar):
    with np.errstate(invalid="ignore"):
        found = sincos(np.array([np.nan, np.inf, -np.inf], TYPES[scalar]), scalar)
    assert np.isnan(found).all()


@scalars
def test_the_turn_of_a_quadrant_is_exact(scalar):
    real = TYPES[scalar]
    c, s = (np.array(x, real) for x in ([1, 0, -1, 0], [0, 1, 0, -1]))
    k = np.arange(4)
    found_s, found_c = sincos((k * math.pi / 2).astype(real), scalar)
    assert np.array_equal(np.rint(found_s), s) and np.array_equal(np.rint(found_c), c)
    assert found_c[0] == 1.0 and found_s[1] == 1.0 and found_c[2] == -1.0 and found_s[3] == -1.0


HARNESS = """#include <stdio.h>
#include "ur5_trig.h"
enum {{ N = 8 }};
int main(void)
{{
    static const ur5_real x[] = {{{values}}};
    for (unsigned k = 0; k + N <= sizeof x / sizeof x[0]; k += N) {{
        ur5_real s[N], c[N], sine[N], cosine[N];
        for (int j = 0; j < N; ++j) {{
            ur5_sincos(x[k + j], &s[j], &c[j]);
            sine[j] = x[k + j];
        }}
        ur5_sincos_all(N, sine, cosine);
        for (int j = 0; j < N; ++j) {{
            printf("%a %a ", (double)s[j], (double)c[j]);
            printf("%a %a\\n", (double)sine[j], (double)cosine[j]);
        }}
    }}
    return 0;
}}
"""
"""Prints for each of 8 n angles sine and cosine twice: of a call for each, and of vectors."""


@cache
def processor():
    """What a processor of x86 can do, as Linux calls it."""
    file = Path("/proc/cpuinfo")
    return (
        set(file.read_text(encoding="ascii", errors="replace").split()) if file.exists() else set()
    )


def of_c(scalar, x, folder, *flags, compiler="gcc", run=(), cwd):
    """What C gives for angles, in a file of the user's that includes the header: sines and cosines,
    those of a call for each, then those of eight together."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if not {flag[2:] for flag in flags if flag.startswith(("-mavx", "-mfma"))} <= processor():
        pytest.skip("the processor has no such vectors")
    suffix = "f" if scalar == "float" else ""
    (cwd / "x.c").write_text(
        HARNESS.format(values=", ".join(f"{v.hex()}{suffix}" for v in x.tolist()))
    )
    given = ("-std=c99", "-Wall", *flags, f"-I{folder}", "x.c", "-o", "x")
    compiled(*given, cwd=cwd, compiler=compiler)
    printed = subprocess.run([*run, cwd / "x"], capture_output=True, text=True, check=True).stdout
    found = np.array([float.fromhex(t) for t in printed.split()]).reshape(-1, 2, 2)
    assert len(found) == len(x)
    return found.transpose(1, 2, 0)


def some(scalar):
    """Some of the angles, whole eights of them."""
    x = angles(scalar)[::23]
    return x[: len(x) // 8 * 8]


FREE_ORDER = ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math")
"""What lets a compiler change the order of operations, bit by bit."""
FLAGS = {
    "gcc": (
        ("-O0",),
        ("-O2",),
        ("-O3",),
        ("-O0", "-funsafe-math-optimizations"),
        ("-O2", "-funsafe-math-optimizations"),
        ("-O3", *FREE_ORDER),
        ("-O2", "-ffinite-math-only"),
        ("-O2", "-mavx"),
        ("-O3", "-mavx2", "-mfma"),
        ("-O2", "-DUR5_NO_VECTORS"),
        ("-O2", "-ffast-math"),
        ("-Ofast", "-mavx2"),
    ),
    "clang": (
        ("-O2",),
        ("-O1", "-mavx"),
        ("-O2", "-funsafe-math-optimizations"),
        ("-O3", *FREE_ORDER),
    ),
}
ways = pytest.mark.parametrize(
    "compiler, flags", [(name, flags) for name, rows in FLAGS.items() for flags in rows]
)


@scalars
@ways
def test_c_gives_the_same_bits(scalar, compiler, flags, tmp_path):
    """One by one and in vectors of any length, whatever the compiler is allowed to do."""
    _, folder = generated("ur5", quantities=BOTH, trig="inline", scalar=scalar)
    x = some(scalar)
    exact = (*flags, "-ffp-contract=off")
    found = of_c(scalar, x, folder, *exact, compiler=compiler, cwd=tmp_path)
    assert np.array_equal(found[0], np.array(sincos(x, scalar), float))
    assert np.array_equal(found[1], found[0])


@scalars
def test_vectors_of_64_bit_arm_have_the_same_bits(scalar, tmp_path):
    """Functions for one state and for many pass there, too."""
    arm, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
    if shutil.which(arm) is None or shutil.which(emulator) is None:
        pytest.skip(f"{arm} or {emulator} is not installed")
    _, folder = generated("ur5", quantities=BOTH, scalar=scalar, batch="auto")
    x = some(scalar)
    exact = ("-O2", "-ffp-contract=off", "-static")
    found = of_c(scalar, x, folder, *exact, compiler=arm, run=(emulator,), cwd=tmp_path)
    assert np.array_equal(found[0], np.array(sincos(x, scalar), float))
    assert np.array_equal(found[1], found[0])
    given = ("-std=c99", *exact, f"-I{folder}", *c_files(folder), "-lm", "-o", "all")
    compiled(*given, cwd=tmp_path, compiler=arm)
    assert subprocess.run([emulator, tmp_path / "all"], check=False).returncode == 0


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@scalars
def test_fused_products_and_sums_keep_the_bound(scalar, compiler, tmp_path):
    """Whatever a compiler fuses: here all that it can."""
    _, folder = generated("ur5", quantities=BOTH, trig="inline", scalar=scalar)
    x = some(scalar)
    flags = ("-O2", "-mavx2", "-mfma", "-ffp-contract=fast")
    found = of_c(scalar, x, folder, *flags, compiler=compiler, cwd=tmp_path).astype(TYPES[scalar])
    assert not np.array_equal(found[0], np.array(sincos(x, scalar)))
    for pair in found:
        for got, function in zip(pair, (mpmath.sin, mpmath.cos), strict=True):
            assert error(x, got, function, scalar) < ULP


@pytest.mark.parametrize(
    "compiler, flags",
    [
        *itertools.product(
            ("gcc", "clang"), ("-O3 -funsafe-math-optimizations", f"-O2 {' '.join(FREE_ORDER)}")
        ),
        ("gcc", "-O2 -ffast-math"),
    ],
)
@scalars
def test_functions_are_right_whatever_order_is_allowed(scalar, compiler, flags, tmp_path):
    """Those for one state and for many; -flto sees through the files."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    _, folder = generated("ur5", quantities=BOTH, trig="inline", scalar=scalar, batch="auto")
    more = ("-flto",) if compiler == "gcc" else ()
    given = ("-std=c99", *flags.split(), *more, f"-I{folder}", *c_files(folder), "-o", "x")
    compiled(*given, cwd=tmp_path, compiler=compiler)
    assert subprocess.run([tmp_path / "x"], check=False).returncode == 0


REFUSED = {
    "gcc -ffast-math -U__GNUC__ -D__GNUC__=11": "without -ffast-math",
    "gcc -D_M_FP_FAST": "without -ffast-math or /fp:fast, or use symgen --trig libm",
    "gcc -D__clang__ -D__clang_major__=10": "use symgen --trig libm",
    "gcc -std=c99 -m32 -mfpmath=387": "no x87",
    "gcc -std=gnu99 -m32 -march=pentium3 -mfpmath=sse": "no x87",
    "g++ -x c++ -std=c++98 -m32 -mfpmath=387": "no x87",
    "clang -ffast-math": "without -ffast-math",
    "clang -ffinite-math-only": "no -ffinite-math-only",
}
"""By command: a part of what is said."""


@pytest.mark.parametrize("command", REFUSED)
def test_arithmetic_that_cannot_be_put_right_is_refused(command):
    compiler, *flags = command.split()
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    _, folder = generated("ur5", quantities=BOTH, trig="inline")
    given = [compiler, *flags, "-fsyntax-only", str(folder / "ur5_inverse_dynamics.c")]
    done = subprocess.run(given, capture_output=True, text=True, check=False)
    assert done.returncode and REFUSED[command] in done.stderr


CASES = {
    "double": {},
    "float": {"scalar": "float"},
    "pieces": {"chunk": 20},
    "tiny_pieces": {"chunk": 1, "quantities": ("gravity",)},
    "friction": {"friction": "viscous,coulomb", "scalar": "float"},
}
cases = pytest.mark.parametrize("case", CASES)


def made(case):
    return generated("ur5", **{"quantities": BOTH, "trig": "inline"} | CASES[case])


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
        called = re.findall(r"ur5_(sincos|sin|cos)\(((?!sine)[^;]*?)(?:, &|\))", text)
        looped = [
            angle
            for row in re.findall(r"sine\d*\[.*?\] = {(.*?)};", text, re.S)
            for angle in row.split(",")
        ]
        angles = [angle.strip() for angle in [*looped, *(angle for _, angle in called)]]
        assert len(set(angles)) == len(angles)
        taken = len(re.findall(r"= (?:sine|cosine)\d*\[", text))
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
    assert [int(n) for n in re.findall(r"\bsine\d*\[\w+_FILLED\((\d+)\)\]", text)] == sizes
    assert len(re.findall(r"_sincos_all\(", text)) == len(sizes)
    assert len(re.findall(r"_sincos\(", text)) == (not sizes)


@cases
@pytest.mark.parametrize("level", ["-O0", "-O2"])
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
    said = "note: inverse_dynamics needs tanh, which C takes from its math library (-lm)"
    assert result.exit_code == 0 and said in result.stderr.splitlines()
    text = (tmp_path / "ur5" / "ur5_inverse_dynamics.c").read_text()
    assert "ur5_sincos_all(" in text and "tanh" in text and "<math.h>" in text
    assert "math.h" not in (tmp_path / "ur5" / "ur5_gravity.c").read_text()
    checks = list(verify(tmp_path / "ur5"))
    assert all(check.passed for check in checks), checks
    exact = [check.what for check in checks if "bit for bit" in check.what and " C " in check.what]
    assert len(exact) == (2 if scalar == "double" else 1), checks


def test_an_unknown_kind_is_refused():
    with pytest.raises(OptionError, match="--trig 'table': use one of inline, libm"):
        Job.of("robots/pendulum.urdf", trig="table")


def test_processors_with_half_precision_are_taken():
    """Their FLT_EVAL_METHOD is 16, which leaves double as it is."""
    if (
        "sapphirerapids"
        not in subprocess.run(["gcc", "--target-help"], capture_output=True, text=True).stdout
    ):
        pytest.skip("gcc does not know such a processor")
    _, folder = generated("pendulum", trig="inline")
    compiled("-std=gnu11", "-march=sapphirerapids", "-fsyntax-only", folder / "pendulum_gravity.c")
