"""Batches on every processor: the bits do not depend on flags, widths or vectors."""

import platform
import re
import shutil
import subprocess

import pytest

from symgen.languages.c.checks import build_batch
from tests.support.batches import inputs, made, results, same_bits, single
from tests.support.tools import c_files, compiled, generated

CALLER = """#include <stdlib.h>
#include <string.h>
#include "pendulum_batch.h"
enum { N = 5, SIZE = 2, GUARD = 64 };
int main(void)
{
    const size_t places = (N + PENDULUM_BATCH - 1) / PENDULUM_BATCH * PENDULUM_BATCH * SIZE;
    pendulum_real *q = calloc(places, sizeof *q);
    pendulum_real *g = calloc(places + GUARD, sizeof *g);
    size_t bad = 0, s, k;
    for (s = 0; s < N; ++s) {
        for (k = 0; k < SIZE; ++k) {
            q[PENDULUM_BATCH_AT(SIZE, s, k)] = (pendulum_real)(1 + s) / (pendulum_real)(2 + k);
        }
    }
    pendulum_gravity_batch(N, q, g);
    for (s = 0; s < N; ++s) {
        pendulum_real own[SIZE], wanted[SIZE];
        for (k = 0; k < SIZE; ++k) {
            own[k] = q[PENDULUM_BATCH_AT(SIZE, s, k)];
        }
        pendulum_gravity(own, wanted);
        for (k = 0; k < SIZE; ++k) {
            bad += !(g[PENDULUM_BATCH_AT(SIZE, s, k)] == wanted[k]);
        }
    }
    for (k = 0; k < GUARD; ++k) {
        bad += !(g[places + k] == 0);
    }
    bad += pendulum_batch_width() != PENDULUM_BATCH;
    free(q);
    free(g);
    return bad != 0;
}
"""


NO_VECTORS = ("-DPENDULUM_NO_VECTORS",)


NATIVE = ("-march=native",)


@pytest.mark.parametrize("batch", ["2", "16"])
@pytest.mark.parametrize(
    "own, users", [(NO_VECTORS, ()), ((), NO_VECTORS), (NATIVE, ()), ((), NATIVE)]
)
def test_flags_of_module_and_caller_may_differ(own, users, batch, tmp_path):
    """The layout of blocks is an interface: a caller that is compiled otherwise writes no entry
    elsewhere."""
    _, folder = generated("pendulum", trig="inline", quantities=("gravity",), batch=batch)
    (tmp_path / "user.c").write_text(CALLER)
    exact = ("-std=c99", "-O1", "-ffp-contract=off", f"-I{folder}")
    compiled(*exact, *own, "-c", *c_files(folder, ["_selftest"]), cwd=tmp_path)
    compiled(*exact, *users, "user.c", *tmp_path.glob("*.o"), "-o", "x", cwd=tmp_path)
    assert subprocess.run([tmp_path / "x"], check=False).returncode == 0


@pytest.mark.parametrize("scalar, states", [("double", 8), ("float", 16)])
def test_the_width_does_not_depend_on_flags(scalar, states):
    _, folder = generated(
        "pendulum", trig="inline", quantities=("gravity",), batch="auto", scalar=scalar
    )
    for flags in ((), ("-D__AVX__",), ("-D__AVX__", "-D__AVX512F__"), NO_VECTORS, ("-U__GNUC__",)):
        command = ["gcc", "-dM", "-E", *flags, str(folder / "pendulum_batch.h")]
        text = subprocess.check_output(command, text=True)
        assert re.search(r"#define PENDULUM_BATCH (.*)", text)[1].split() == [str(states)]


CHOICE = """static int chosen = 1;
void choose(int lanes);
void choose(int lanes)
{
    chosen = lanes;
}
int pendulum_batch_lanes(void);
int pendulum_batch_lanes(void)
{
    return chosen;
}
int longest(void);
int longest(void)
{
    return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16;
}
"""
"""A program's own choice of vectors, and the bytes of the longest here."""


x86 = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="vectors of several lengths are those of x86-64"
)


FUSING = ("-std=gnu11", "-ffp-contract=fast")


@x86
@pytest.mark.parametrize(
    "which, flags",
    [
        *((which, ()) for which in ("pieces", "float", "all inputs")),
        *(("pieces", FUSING), ("float", FUSING), ("float", ("-mavx",))),
    ],
)
def test_one_library_has_the_same_bits_with_each_length_of_vectors(which, flags):
    """Fused products, which only AVX-512 of these has, are not in it whatever the flags."""
    library = build_batch(*made(which), flags, {"choice.c": CHOICE})
    library._library.ffi.cdef("void choose(int); int longest(void);")
    size = 4 if which == "float" else 8
    longest = library._library.call("longest")
    for bytes_ in (16, 32, 64):
        if bytes_ > longest:
            continue
        library._library.call("choose", bytes_ // size)
        assert library._run("batch_lanes") == bytes_ // size
        for name in library.functions:
            given = inputs(which, name)
            wanted = results(getattr(single(which), name), given)
            pairs = zip(library.rows(name, given), wanted, strict=True)
            assert all(same_bits(got, own) for got, own in pairs), (name, bytes_)


@x86
@pytest.mark.parametrize(
    "processor, lanes", [("Nehalem", 2), ("Haswell", 4), ("Haswell", 8), ("max", 4)]
)
def test_the_processor_decides_and_is_what_the_code_needs(processor, lanes, tmp_path):
    """Haswell and qemu's largest have AVX2 but no AVX-512: that length ends the program there."""
    emulator = shutil.which("qemu-x86_64")
    if emulator is None:
        pytest.skip("qemu-x86_64 is not installed")
    _, folder = generated("pendulum", trig="inline", quantities=("gravity",), batch="auto")
    asked = CALLER.replace("pendulum_batch_width() != PENDULUM_BATCH", f"LANES != {lanes}")
    (tmp_path / "user.c").write_text(asked.replace("LANES", "pendulum_batch_lanes()"))
    (tmp_path / "own.c").write_text(CHOICE.replace("chosen = 1", f"chosen = {lanes}"))
    own = ["own.c"] if lanes == 8 else []
    files = c_files(folder, ["_selftest"])
    compiled("-O1", "-static", f"-I{folder}", "user.c", *own, *files, "-o", "x", cwd=tmp_path)
    done = subprocess.run([emulator, "-cpu", processor, "x"], cwd=tmp_path, check=False)
    assert (done.returncode == 0) == (lanes < 8)


LONG = ("-mllvm", "-riscv-v-vector-bits-min=128")


@pytest.mark.parametrize(
    "system, by, flags, processor, vectors",
    [
        ("aarch64", (), (), "max", r"fmul\s+v\d"),
        ("riscv64", (), (), "rv64", ""),
        ("riscv64", ("clang", "-target"), ("-march=rv64gcv", *LONG), "rv64,v=true", r"vfmul\.v"),
    ],
)
def test_bits_on_other_processors(system, by, flags, processor, vectors, tmp_path):
    """NEON and RISC-V's vectors in QEMU; gcc 12 has no code for the latter, clang 14 has."""
    gcc, emulator = f"{system}-linux-gnu-gcc", f"qemu-{system}"
    for tool in (gcc, emulator, *by[:1], *(["llvm-objdump-14"] if by else [])):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed")
    _, folder = generated("pendulum", trig="inline", quantities=("gravity",), batch="auto")
    (tmp_path / "user.c").write_text(CALLER)
    command = [by[0], by[1], f"{system}-linux-gnu"] if by else [gcc]
    exact = ("-std=c99", "-O2", "-ffp-contract=off", f"-I{folder}", *flags)
    files = ["user.c", *c_files(folder, ["_selftest"])]
    compiled(*command[1:], *exact, "-c", *files, cwd=tmp_path, compiler=command[0])
    compiled("-static", *tmp_path.glob("*.o"), "-o", "x", cwd=tmp_path, compiler=gcc)
    done = subprocess.run([emulator, "-cpu", processor, "x"], cwd=tmp_path, check=False)
    assert done.returncode == 0
    if vectors:
        dump = ["llvm-objdump-14", "--mattr=+v,+d"] if by else [f"{system}-linux-gnu-objdump"]
        code = subprocess.check_output([*dump, "-d", tmp_path / "pendulum_gravity_batch.o"])
        assert re.search(vectors, code.decode())
