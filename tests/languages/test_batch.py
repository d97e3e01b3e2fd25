"""Batches: C for many states at once has the bits of C for one, in every layout, width and language
of vectors."""

import json
import platform
import random
import re
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest
from tools import STRICT_C, c_files, compiled, generated, invoke, robot_file, snapshot

from symgen.jobs.verify import verify
from symgen.languages.c.batch_calls import build_batch
from symgen.languages.c.calls import build
from symgen.languages.c.lanes import SHARED, batch_functions
from symgen.native.compiler import EXACT

FREE = {"parameters": "runtime", "gravity": "runtime", "friction": "runtime:viscous,coulomb"}
"""All that can be an input."""

MODULES = {
    "every quantity": {"quantities": ("all",), "batch": "auto"},
    "all inputs": {
        "quantities": ("inverse_dynamics", "forward_dynamics", "regressor"),
        "batch": "8",
        **FREE,
    },
    "pieces": {
        "quantities": ("terms=bias+mass_matrix", "forward_dynamics_derivatives"),
        "batch": "2",
        "chunk": 1,
    },
    "float": {
        "quantities": ("forward_dynamics", "coriolis_matrix"),
        "batch": "16",
        "scalar": "float",
        "friction": "coulomb",
    },
}
QUICK = {"every quantity": ("-O0",)}
N = 21
"""States: no multiple of any width."""

WITHOUT = ("-DPENDULUM_NO_VECTORS", "-fno-tree-slp-vectorize")
"""The second because gcc 12 fuses scalar code that it vectorises, whatever -ffp-contract says."""

variants = pytest.mark.parametrize(
    "which, flags",
    [
        *((which, ()) for which in MODULES),
        *((which, WITHOUT) for which in MODULES if which != "every quantity"),
    ],
)


def made(which):
    return generated("pendulum", trig="inline", **MODULES[which])


@cache
def single(which):
    return build(*made(which), (*EXACT, *QUICK.get(which, ())))


@cache
def many(which, *flags):
    return build_batch(*made(which), ("-march=native", *EXACT, *QUICK.get(which, ()), *flags))


@cache
def inputs(which, name):
    """Random inputs of a function, a row each state; inputs of the robot are regrouped from
    possible parameters."""
    module, _ = made(which)
    rng = random.Random(1)
    f = many(which).functions[name]
    pi = [x for ten in module.robot.blocks.values() for x in ten]
    drawn = module.random_states(rng, N)
    rows = [{k: np.array(v) for k, v in inputs.items()} for inputs, _ in drawn]
    for k, row in enumerate(rows):
        row["pi"] = np.array(pi) * (1 + k / N)
        if module.regroup is not None:
            row["par"] = single(which).regroup(row["pi"])
    return [np.stack([row[a.name] for row in rows]) for a in f.d.arguments if a.direction == "in"]


def results(function, given):
    found = function(*given)
    return found if isinstance(found, tuple) else (found,)


def same_bits(got, wanted):
    wanted = np.reshape(wanted, got.shape)
    return got.dtype == wanted.dtype and np.array_equal(
        np.ascontiguousarray(got).view("u1"), wanted.copy().view("u1")
    )


# -- bits ------------------------------------------------------------------------------------------


@variants
def test_rows_have_the_bits_of_single_states(which, flags):
    for name in many(which).functions:
        given = inputs(which, name)
        for n in (1, 2, N):
            own = [x[:n] for x in given]
            pairs = zip(
                many(which, *flags).rows(name, own),
                results(getattr(single(which), name), own),
                strict=True,
            )
            assert all(same_bits(got, wanted) for got, wanted in pairs), (name, n)


@variants
def test_blocks_have_the_bits_of_single_states(which, flags):
    for name, f in many(which).functions.items():
        ins = [a.name for a in f.d.arguments if a.direction == "in"]
        one = {*SHARED} - ({"pi"} if name == "regroup" else set())
        given = [
            np.repeat(x[:1], N, 0) if k in one else x
            for k, x in zip(ins, inputs(which, name), strict=True)
        ]
        got = many(which, *flags).blocks(name, given)
        pairs = zip(got, results(getattr(single(which), name), given), strict=True)
        assert all(same_bits(x, wanted) for x, wanted in pairs), name


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


@pytest.mark.parametrize("batch", ["auto", "2", "16"])
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


@x86
@pytest.mark.parametrize("which", ["pieces", "float", "all inputs"])
@pytest.mark.parametrize("flags", [(), ("-std=gnu11", "-ffp-contract=fast"), ("-mavx",)])
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


def test_threads_of_openmp_change_nothing():
    given = inputs("pieces", "forward_dynamics_derivatives")
    both = [
        many("pieces", *flags).rows("forward_dynamics_derivatives", given)
        for flags in (("-fopenmp",), ())
    ]
    assert all(same_bits(a, b) for a, b in zip(*both, strict=True))


def test_pieces_and_zeroed_outputs_are_tried_here():
    assert any(len(f.pieces) > 1 and f.work for f in batch_functions(made("pieces")[0]))
    assert any(f.zeroed for f in batch_functions(made("every quantity")[0]))
    assert {a.name for f in batch_functions(made("all inputs")[0]) for a in f.shared} == {
        "g",
        "par",
        "friction",
    }


def test_blocks_are_laid_out_as_the_header_says(tmp_path):
    _, folder = made("all inputs")
    (tmp_path / "at.c").write_text(
        '#include <stdio.h>\n#include "pendulum_batch.h"\nint main(void) { for (int s = 0; s < '
        "21; ++s) "
        'for (int k = 0; k < 3; ++k) printf("%d ", PENDULUM_BATCH_AT(3, s, k)); return 0; }\n',
        encoding="utf-8",
    )
    compiled(*STRICT_C, f"-I{folder}", tmp_path / "at.c", "-o", tmp_path / "at")
    places = [int(x) for x in subprocess.check_output([tmp_path / "at"]).split()]
    rows = np.arange(63.0).reshape(21, 3)
    packed = many("all inputs")._packed(rows).ravel()
    assert many("all inputs").width == 8 and len(packed) == 24 * 3
    assert packed[places].tolist() == rows.ravel().tolist()


def test_lanes_beyond_the_last_state_do_not_count_as_failures():
    library, module = many("all inputs"), made("all inputs")[0]
    f, given = library.functions["forward_dynamics"], inputs("all inputs", "forward_dynamics")
    wrong = [x.copy() for x in given]
    names = [a.name for a in f.d.arguments if a.direction == "in"]
    wrong[names.index("par")][[2, 9, 20]] *= -1.0
    wrong[names.index("tau")][[5, 20], 0] = np.nan
    wrong[names.index("qd")][12, 1] = np.inf
    out = np.full((N + 1, module.dof), 7.0)
    words = [w for x in (*wrong, out) for w in (x, x.shape[1])]
    assert library._run("forward_dynamics_rows", N, *words) == 5
    assert (out[N] == 7.0).all()
    assert library._run("forward_dynamics_rows", 0, *words) == 0


# -- compilers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["all inputs", "float"])
@pytest.mark.parametrize(
    "compiler, flags",
    [
        ("gcc", ("-O2",)),
        ("gcc", ("-O1", "-march=native")),
        ("gcc", ("-O1", "-DPENDULUM_NO_VECTORS")),
        ("clang", ("-O1",)),
        ("tcc", ()),
    ],
)
def test_self_test_passes_without_a_warning(which, compiler, flags, tmp_path):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    _, folder = made(which)
    strict = STRICT_C if compiler != "tcc" else ()
    compiled(
        *strict, *flags, *c_files(folder), "-lm", "-o", tmp_path / "selftest", compiler=compiler
    )
    assert subprocess.run([tmp_path / "selftest"], check=False).returncode == 0


def test_vectors_need_no_library(tmp_path):
    _, folder = made("every quantity")
    source = folder / "pendulum_inverse_dynamics_batch.c"
    compiled(*STRICT_C, "-O2", "-c", source, "-o", tmp_path / "batch.o")
    undefined = subprocess.check_output(["nm", "-u", tmp_path / "batch.o"], text=True).split()[1::2]
    own = {"pendulum_batch_lanes"}
    assert {*undefined} <= {"_GLOBAL_OFFSET_TABLE_", "memset", "memcpy"} | own
    compiled(*STRICT_C, "-O2", "-c", folder / "pendulum_batch.c", "-o", tmp_path / "batch.o")
    undefined = subprocess.check_output(["nm", "-u", tmp_path / "batch.o"], text=True).split()[1::2]
    assert {*undefined} <= {"_GLOBAL_OFFSET_TABLE_", "__cpu_model"}  # libgcc's, no function


def test_verify_sees_a_wrong_lane(tmp_path):
    folder = tmp_path / "module"
    shutil.copytree(made("pieces")[1], folder)
    header = folder / "pendulum_lanes.h"
    text = header.read_text(encoding="utf-8")
    header.write_text(
        text.replace("*cosine = (c * turn_c)", "*cosine = (c + turn_c)"), encoding="utf-8"
    )
    checks = {check.what: check.passed for check in verify(folder, run_changed=True)}
    assert header.read_text(encoding="utf-8") != text
    assert [passed for what, passed in checks.items() if "batches" in what] == [False, False]
    assert not checks["C compiles without a warning, self-test passes"]


# -- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, sentence",
    [
        (
            ("--batch", "auto", "--trig", "libm"),
            "error: --batch: vectors need sine and cosine without calls; leave --trig libm away",
        ),
        (
            ("--batch", "3", "--trig", "inline"),
            "error: --batch '3': use one of auto, 2, 4, 8, 16, 32, 64",
        ),
        (
            (
                "--batch",
                "4",
                "--trig",
                "inline",
                "--quantity",
                "gravity",
                "--quantity",
                "gravity_rows=bias",
            ),
            "error: --batch: a function for batches would be called 'gravity_rows', too; name "
            "yours otherwise",
        ),
    ],
)
def test_refused_in_a_sentence(options, sentence, tmp_path):
    result = invoke("generate", robot_file("pendulum"), "-o", tmp_path / "out", *options)
    assert result.exit_code == 2 and result.stderr.strip() == sentence
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value, text", [("4", "4"), ('"auto"', "auto")])
def test_a_job_file_says_the_same(value, text, tmp_path):
    robot = json.dumps(robot_file("pendulum"))
    (tmp_path / "job.toml").write_text(
        f'file = {robot}\ntrig = "inline"\nbatch = {value}\nlanguages = ["c"]\nout = "a"\n',
        encoding="utf-8",
    )
    assert invoke("generate", tmp_path / "job.toml").exit_code == 0
    options = ("--trig", "inline", "--batch", text, "--lang", "c")
    assert invoke("generate", robot_file("pendulum"), "-o", tmp_path / "b", *options).exit_code == 0
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")
