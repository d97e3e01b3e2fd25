"""Sine and cosine of ``--trig inline`` in C: the same bits with every compiler and flag."""

import itertools
import shutil
import subprocess
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import pytest

from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.numbers.trig import TYPES, sincos
from tests.support.sines import BOTH, ULP, angles, error, large_angles, scalars
from tests.support.tools import c_files, compiled, generated

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


@pytest.mark.parametrize("flags", [("-O2",), ("-O3", "-mavx2", "-mfma", "-ffp-contract=fast")])
@scalars
def test_c_gives_at_most_one_or_nan_beyond_the_bound(scalar, flags, tmp_path):
    """One by one and in vectors, with fused products and without."""
    _, folder = generated("ur5", quantities=BOTH, trig="inline", scalar=scalar)
    x = large_angles(scalar)[:1024]
    found = of_c(scalar, x, folder, *flags, cwd=tmp_path)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = np.array(sincos(x, scalar), float)
    assert np.array_equal(np.isnan(found[0]), np.isnan(expected))
    assert np.array_equal(np.isnan(found[1]), np.isnan(expected))
    assert np.nanmax(np.abs(found)) <= 1.0 + np.finfo(TYPES[scalar]).eps


@scalars
def test_vectors_of_64_bit_arm_have_the_same_bits(scalar, tmp_path):
    """Functions for one state and for many pass there, too."""
    arm, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
    if shutil.which(arm) is None or shutil.which(emulator) is None:
        pytest.skip(f"{arm} or {emulator} is not installed")
    _, folder = generated("ur5", quantities=BOTH, trig="inline", scalar=scalar)
    x = some(scalar)
    exact = ("-O2", "-ffp-contract=off", "-static")
    found = of_c(scalar, x, folder, *exact, compiler=arm, run=(emulator,), cwd=tmp_path)
    assert np.array_equal(found[0], np.array(sincos(x, scalar), float))
    assert np.array_equal(found[1], found[0])
    _, folder = generated(
        "ur5", quantities=("gravity",), trig="inline", scalar=scalar, batch="auto"
    )
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
    _, folder = generated(
        "ur5", quantities=("gravity",), trig="inline", scalar=scalar, batch="auto"
    )
    more = ("-flto",) if compiler == "gcc" else ()
    given = ("-std=c99", *flags.split(), *more, f"-I{folder}", *c_files(folder), "-o", "x")
    compiled(*given, cwd=tmp_path, compiler=compiler)
    assert subprocess.run([tmp_path / "x"], check=False).returncode == 0


REFUSED = {
    "gcc -ffast-math -U__GNUC__ -D__GNUC__=11": "without -ffast-math",
    "gcc -D_M_FP_FAST": "without -ffast-math and /fp:fast, or generate with symgen --trig libm",
    "gcc -D__clang__ -D__clang_major__=10": "generate with symgen --trig libm",
    "gcc -std=c99 -m32 -mfpmath=387": "compile with -mfpmath=sse and -std=c99",
    "gcc -std=gnu99 -m32 -march=pentium3 -mfpmath=sse": "compile with -mfpmath=sse and -std=c99",
    "g++ -x c++ -std=c++98 -m32 -mfpmath=387": "compile with -mfpmath=sse and -std=c99",
    "clang -ffast-math": "without -ffast-math",
    "clang -ffinite-math-only": "without -ffinite-math-only",
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
