"""CUDA: nvcc takes the kernels, and a C++ compiler makes loops of them that have the bits of the C."""

import ctypes
import json
import re
import shutil
import subprocess
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import cuda_registers
from benchmarks.cuda import PROGRAM, case
from benchmarks.cuda import main as benchmark
from symgen.algorithms import QUANTITIES
from symgen.algorithms.controllers import CONTROLLERS
from symgen.languages.backends.cuda import MAX_LIVE_REGISTERS, cuda_functions, resource_text
from symgen.languages.c.backend import code_files
from symgen.languages.c.checks import build
from symgen.languages.c.options import ROBOT_INPUTS
from symgen.languages.c.work_array import live_counts
from symgen.languages.describe import descriptions
from symgen.native.compiler import EXACT
from tests.support.tools import SIMPLE, generated, invoke, robot_file, verified

pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler is installed")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")

CASES = {
    "pendulum": {"quantities": SIMPLE},
    "ur5": {
        "scalar": "float",
        "parameters": "runtime:flange",
        "gravity": "runtime",
        "friction": "runtime:coulomb",
        "quantities": ("inverse_dynamics", "forward_dynamics"),
    },
    "scara": {
        "parameters": "runtime",
        "friction": "runtime:viscous",
        "per_state": ("par", "friction"),
        "quantities": ("inverse_dynamics",),
    },
    "biped": {
        "base": "floating",
        "quantities": ("forward_dynamics", "regressor"),
        "zeros": "once",
        "chunk": 20,
        "trig": "inline",
    },
}
HOST = ("c++", "-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-fPIC")
"""As the page says."""


def host(folder, module, to, *flags):
    """The host build as a library; of one file that includes all, which is compiled faster."""
    text = "".join(f'#include "{d.name}.cu"\n' for d in descriptions(module))
    (to / "all.cu").write_text(text)
    command = [*HOST, *flags, "-shared", "-I.", "-x", "c++", to / "all.cu", "-o", to / "host.so"]
    subprocess.run(command, cwd=folder / f"{module.name}_cuda", check=True)
    return ctypes.CDLL(str(to / "host.so"))


def shared(module, d, name):
    """Whether an input is one for all states."""
    own = module.options["per_state"]
    return name in ROBOT_INPUTS and name not in own and d.name != "regroup"


def launched(module, library, d, rows, step):
    """The outputs of all states by one launch, a row each state; and which have failed."""
    kind = np.float32 if module.arithmetic[0] == "float" else np.float64
    n, arrays, outs = len(next(iter(rows.values()))), [], []
    for a in d.arguments:
        if shared(module, d, a.name):
            x = np.ascontiguousarray(rows[a.name][0], kind)
        else:
            x = np.full((a.size, step), 0 if module.options["zeros"] == "once" else np.nan, kind)
        if a.direction == "in" and not shared(module, d, a.name):
            x[:, :n] = np.array(rows[a.name], kind).T
        if a.direction == "out":
            outs.append(x)
        arrays.append(x)
    failed = np.full(step, 2, np.uint8)
    words = [ctypes.c_void_p(x.ctypes.data) for x in (*arrays, *([failed] if d.pivots else []))]
    call = getattr(library, f"{module.name}_cuda_{d.name}")
    assert call(ctypes.c_size_t(n), ctypes.c_size_t(step), *words, None) == 0
    return [x.T[:n] for x in outs], failed


def c_of(module, to):
    """The module's C as Python functions; without its self-test, which takes long to make."""
    for name, text in code_files(module).items():
        (to / name).write_text(text)
    return build(module, to, [*EXACT, "-O0"])


def same_bits_as_c(name, tmp_path, **options):
    """How many numbers of the host build are compared with those of C; none may differ."""
    module, folder = generated(name, languages=("cuda",), **options)
    c, library, count = c_of(module, tmp_path), host(folder, module, tmp_path, "-O0"), 0
    rng = np.random.default_rng(1)
    for d in descriptions(module):
        rows = {
            a.name: rng.uniform(0.5, 1.5, (7, a.size)) for a in d.arguments if a.direction == "in"
        }
        for x in (rows[a] for a in rows if shared(module, d, a)):
            x[:] = x[0]
        try:
            wanted = getattr(c, d.name)(*rows.values())
        except np.linalg.LinAlgError:
            wanted = None
        got, failed = launched(module, library, d, rows, 9)
        assert not d.pivots or (wanted is None) == bool(failed[:7].any())
        assert (failed[7:] == 2).all()
        if wanted is not None:
            for x, y in zip(got, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
                assert np.array_equal(x, y.reshape(x.shape), equal_nan=True), d.name
                count += x.size
    return count


@pytest.mark.parametrize("name", CASES)
def test_the_host_build_has_the_bits_of_c(name, tmp_path):
    assert same_bits_as_c(name, tmp_path, **CASES[name]) > 100


@pytest.fixture
def no_nvcc(monkeypatch):
    """As where only a C++ compiler is installed."""
    checks = import_module("symgen.languages.backends.cuda")
    monkeypatch.setattr(checks, "NVCC_COMMAND", ("no-such-nvcc",))


NAMES = ("inverse_dynamics", "forward_dynamics")


def test_verify_proves_it():
    _, folder = generated("pendulum", languages=("cuda",), quantities=NAMES)
    said = verified(folder)
    assert "CUDA's host build equals the float run bit for bit" in said
    assert "Newton-Euler" in said  # no other language has met the laws here
    found = re.findall(r"\d+ registers, \d+ bytes of", said)
    assert len(found) == 2 if shutil.which("nvcc") else "nvcc is not installed" in said


def test_verify_says_that_nvcc_is_not_installed(no_nvcc):
    """And proves the rest: here inline sines, with which nvcc compiles the biped below."""
    _, folder = generated("pendulum", languages=("cuda",), quantities=NAMES, trig="inline")
    said = verified(folder)
    assert "CUDA's host build equals the float run bit for bit" in said
    assert "skipped: nvcc is not installed" in said


def test_verify_sees_a_wrong_number(tmp_path, no_nvcc):
    made = tmp_path / "x"
    invoke(
        "generate", robot_file("pendulum"), "-o", made, "--lang", "cuda", "--quantity", "gravity"
    )
    file, listing = made / "pendulum_cuda" / "gravity.cuh", made / "manifest.json"
    wrong = file.read_text().replace("= 9.81", "= 9.82")
    assert wrong != file.read_text()
    file.write_text(wrong)
    data = json.loads(listing.read_text())
    data["files"]["pendulum_cuda/gravity.cuh"] = sha256(wrong.encode()).hexdigest()
    listing.write_text(json.dumps(data, indent=1) + "\n")
    done = invoke("verify", made)
    assert done.exit_code == 1 and "FAILED" in done.output


def test_a_singular_mass_matrix_fails_alone(tmp_path):
    module, folder = generated(
        "pendulum", languages=("cuda",), quantities=("forward_dynamics",), parameters="runtime"
    )
    library = host(folder, module, tmp_path)
    d = next(d for d in descriptions(module) if d.name == "forward_dynamics")
    rows = {a.name: np.ones((3, a.size)) for a in d.arguments if a.direction == "in"}
    rows["q"][1] = np.inf
    assert launched(module, library, d, rows, 3)[1].tolist() == [0, 1, 0]
    rows["par"] = np.zeros_like(rows["par"])
    assert launched(module, library, d, rows, 3)[1].tolist() == [1, 1, 1]


@needs_nvcc
@pytest.mark.parametrize("name", ["ur5", "biped"])
def test_nvcc_compiles_without_a_warning(name, tmp_path):
    module, folder = generated(name, languages=("cuda",), **CASES[name])
    text = "".join(f'#include "{d.name}.cu"\n' for d in descriptions(module))
    (tmp_path / "all.cu").write_text(text)
    flags = ["-arch=sm_90", "-Werror", "all-warnings", "-Xptxas", "-v", "-c", "-o", "all.o"]
    where = folder / f"{module.name}_cuda"
    done = subprocess.run(
        ["nvcc", *flags, f"-I{where}", "all.cu"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"\d+ registers, .* spilled", resource_text(done.stderr))


@pytest.mark.skipif(shutil.which("hipcc") is None, reason="hipcc is not installed")
def test_hipcc_compiles_kernel_and_launch(tmp_path):
    """For a GPU of AMD, from the sources of CUDA."""
    options = {"scalar": "float", "trig": "inline", "quantities": ("forward_dynamics",)}
    _, folder = generated("pendulum", languages=("cuda",), **options)
    flags = ["-std=c++17", "-x", "hip", "--offload-arch=gfx90a", "-Wall", "-Wextra", "-Werror"]
    command = ["hipcc", *flags, "-c", "forward_dynamics.cu", "-o", tmp_path / "x.o"]
    subprocess.run(command, cwd=folder / "pendulum_cuda", check=True)
    _, stack, spilled = cuda_registers.compiled_by_hip(
        folder / "pendulum_cuda" / "forward_dynamics.cu"
    )
    assert stack == spilled == 0


KERNEL = """
#include "forward_dynamics.cuh"
/* A step of each of n pendulums, state by state in registers. */
__global__ void stepped(size_t n, float h, float *q, float *qd)
{
    const size_t s = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= n)
        return;
    float own_q[2] = {q[s], q[n + s]}, own_qd[2] = {qd[s], qd[n + s]}, tau[2] = {0.0f, 0.0f}, qdd[2];
    if (pendulum_cuda::forward_dynamics(1, own_q, own_qd, tau, qdd) != 0)
        return;
    for (int k = 0; k < 2; ++k) {
        own_qd[k] += h * qdd[k];
        qd[k * n + s] = own_qd[k];
        q[k * n + s] = own_q[k] + h * own_qd[k];
    }
}
"""


@needs_nvcc
def test_a_kernel_of_one_s_own_keeps_a_state_in_registers(tmp_path):
    options = {"scalar": "float", "trig": "inline", "quantities": ("forward_dynamics",)}
    _, folder = generated("pendulum", languages=("cuda",), **options)
    (tmp_path / "own.cu").write_text(KERNEL)
    flags = ["-arch=sm_90", "-Werror", "all-warnings", "-Xptxas", "-v", "-cubin", "-o", "own.cubin"]
    done = subprocess.run(
        ["nvcc", *flags, f"-I{folder / 'pendulum_cuda'}", "own.cu"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "0 bytes stack frame" in done.stderr, done.stderr


def test_names_stay_data(tmp_path, no_nvcc):
    """As the C++ compiler sees them, which is the one that reads comments for nvcc too."""
    nasty = '*/ #error "x" ??/ é \\'
    text = Path(robot_file("pendulum")).read_text(encoding="utf-8")
    for tag in ("link", "joint"):
        name = text.split(f'<{tag} name="')[-1].split('"')[0]
        text = text.replace(f'"{name}"', f"'{nasty} {tag}'")
    (tmp_path / "x.urdf").write_text(text, encoding="utf-8")
    words = ["--quantity", f"frame_pose:{nasty} link", "--quantity", "gravity"]
    words += ["--parameters", "runtime"]
    done = invoke("generate", tmp_path / "x.urdf", "-o", tmp_path / "x", "--lang", "cuda", *words)
    assert done.exit_code == 0, done.output
    assert invoke("verify", tmp_path / "x").exit_code == 0
    for file in (tmp_path / "x").rglob("*.c*"):
        assert file.read_bytes().isascii()


@needs_nvcc
def test_the_benchmark_compiles_and_says_where_there_is_no_gpu(tmp_path, monkeypatch):
    module, folder = generated("pendulum", languages=("cuda",), **CASES["pendulum"])
    d = next(d for d in descriptions(module) if d.name == "forward_dynamics")
    (tmp_path / "case.h").write_text(case("pendulum", "double", d))
    where = ["-I.", f"-I{folder / 'pendulum_cuda'}"]
    flags = ["-arch=sm_90", "-std=c++17", "-Werror", "all-warnings", "-c", "-o", "x.o"]
    subprocess.run(["nvcc", *flags, *where, str(PROGRAM)], cwd=tmp_path, check=True)
    monkeypatch.setattr("benchmarks.cuda.gpus", list)
    said = CliRunner().invoke(benchmark, []).output
    assert said == "nothing measured: this machine has no NVIDIA GPU (nvidia-smi names none)\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ur5", "panda", "quadruped"])
@pytest.mark.parametrize("scalar", ["float", "double"])
def test_all_quantities_of_large_robots(name, scalar, tmp_path):
    options = {"quantities": ("all",)}
    if (
        name == "quadruped"
    ):  # in single precision a closed loop of it overflows, which is C's record
        options = {"quantities": tuple(q for q in QUANTITIES if q not in CONTROLLERS)}
        options["base"] = "floating"
    assert same_bits_as_c(name, tmp_path, scalar=scalar, **options) > 10_000


STORED = json.loads(cuda_registers.FILE.read_text(encoding="utf-8"))


def test_the_table_of_registers_is_that_of_the_stored_kernels():
    assert cuda_registers.table(STORED["kernels"]) in cuda_registers.PAGE.read_text(
        encoding="utf-8"
    )


@needs_nvcc
def test_stored_registers_are_those_of_today(tmp_path):
    if cuda_registers.version() != STORED["nvcc"]:
        pytest.skip("the stored registers are those of another nvcc")
    kernels = {name: rest for name, *rest in cuda_registers.kernels("ur5", "float", tmp_path)}
    for name, (facts, source) in kernels.items():
        row = STORED["kernels"][f"ur5 float {name}"]
        assert {key: row[key] for key in facts} == facts, "run make cuda"
        if name == "mass_matrix":
            assert cuda_registers.compiled(source, (90,)) == {"90": row["90"]}, "run make cuda"


def test_no_kernel_of_dynamics_spills():
    assert all(
        row[processor][2] == 0
        for processor in ("80", "90", "100")
        for name, row in STORED["kernels"].items()
        if " float " in name and not name.endswith("derivatives")
    )


def test_derivatives_of_forward_dynamics_of_a_panda_do_not_spill():
    """In float; with 255 registers of the UR5 also in double."""
    for name in ("panda_arm float", "ur5 double"):
        row = STORED["kernels"][f"{name} forward_dynamics_derivatives"]
        assert [row[processor][2] for processor in ("80", "90", "100")] == [0, 0, 0], name


def test_two_parts_have_the_bits_of_c(tmp_path):
    """The second part computes again what takes few operations, and reads the accelerations."""
    options = {"scalar": "double", "quantities": ("forward_dynamics_derivatives",)}
    module, _ = generated("ur5", languages=("cuda",), **options)
    (function,) = cuda_functions(module)
    first, second = function.partition.pieces
    assert 50 < len({*first} & {*second}) < 0.5 * len(first)
    assert max(map(max, map(live_counts, (first, second)))) < 0.8 * max(
        live_counts(function.body.steps)
    )
    assert same_bits_as_c("ur5", tmp_path, **options) > 700


def test_a_function_with_many_live_values_is_in_pieces():
    module, _ = generated(
        "panda", languages=("cuda",), quantities=("forward_dynamics_derivatives",)
    )
    (function,) = cuda_functions(module)
    assert max(live_counts(function.body.steps)) * 2 > MAX_LIVE_REGISTERS and function.pieces
