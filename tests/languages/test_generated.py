"""Generated files: checks G1 to G10 of tests/cases/index.md."""

import ast
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tools import (
    ROOT,
    STRICT_C,
    c_files,
    compiled,
    generated,
    imported,
    invoke,
    robot_file,
    run,
    snapshot,
)

from symgen.api import generate
from symgen.compiler.passes import live
from symgen.errors import OptionError
from symgen.jobs.files import files
from symgen.jobs.publish import POLITE, publish
from symgen.languages.c.calls import build
from symgen.languages.c.options import COptions
from symgen.languages.c.text import single
from symgen.languages.describe import descriptions

RUNTIME = {
    "parameters": "runtime",
    "gravity": "runtime",
    "quantities": ("inverse_dynamics", "t=bias+mass_matrix"),
}
CORE = {"quantities": ("inverse_dynamics", "gravity", "bias", "mass_matrix")}
FORWARD = {"quantities": ("forward_dynamics", "inverse=mass_matrix_inverse")}
SAMPLES = {
    "pendulum": ("pendulum", {}),
    "ur5": ("ur5", {}),
    "arm7_general": ("arm7_general", {}),
    "ur5_pieces": ("ur5", {"chunk": 20, **CORE}),
    "panda_float": ("panda", {"scalar": "float", **CORE}),
    "ur5_runtime": ("ur5", RUNTIME),
    "ur5_payload": ("ur5", {"parameters": "runtime:flange", "scalar": "float", **CORE}),
    "ur5_forward": ("ur5", FORWARD),
    "ur5_forward_pieces": ("ur5", {"chunk": 30, **FORWARD}),
    "panda_libm": ("panda", {"scalar": "float", "trig": "libm", **CORE}),
    "reserved_names": ("reserved_names", CORE),
    "utf8_names": ("utf8_names", CORE),
}
samples = pytest.mark.parametrize("sample", SAMPLES)
GIB = 1 << 30


def made(sample):
    name, options = SAMPLES[sample]
    return generated(name, **options)


def code(path):
    """A C file without comments and strings."""
    return re.sub(
        r'/\*.*?\*/|"(?:\\.|[^"\\])*"', " ", path.read_text(encoding="ascii"), flags=re.DOTALL
    )


def bodies(module, folder):
    """Each generated function with its C without comments, from the brace on."""
    for d in descriptions(module):
        yield d, code(folder / f"{module.name}_{d.name}.c").partition("{")[2]


def unindexed(text):
    return re.sub(r"\[[^]]*\]", "", text)


# -- G1: compiles ----------------------------------------------------------------------------------


@samples
def test_g1_strict_c99(sample, tmp_path):
    _, folder = made(sample)
    compiled(*STRICT_C, "-O2", f"-I{folder}", *c_files(folder), "-lm", "-o", "x", cwd=tmp_path)
    assert subprocess.run([tmp_path / "x"], check=False).returncode == 0  # the self-test


@pytest.mark.parametrize("standard", ["gnu99", "c11", "gnu17"])
def test_g1_other_standards(standard, tmp_path):
    _, folder = made("ur5_runtime")
    more = (
        "-Wfloat-conversion",
        "-Wundef",
        "-Wcast-qual",
        "-Wmissing-prototypes",
        "-Wvla",
        "-Wstrict-prototypes",
    )
    compiled(
        f"-std={standard}",
        *STRICT_C[1:],
        *more,
        f"-I{folder}",
        "-c",
        *c_files(folder),
        cwd=tmp_path,
    )


@samples
def test_g1_header_from_cpp(sample, tmp_path):
    module, folder = made(sample)
    calls = "\n".join(
        f"    take(reinterpret_cast<void *>(&{module.name}_{d.name}));"
        for d in descriptions(module)
    )
    (tmp_path / "user.cpp").write_text(
        f'#include "{module.name}.h"\n#include "{module.name}.h"\n'
        f"static int taken = 0;\nstatic void take(void *p) {{ taken += p != nullptr; }}\n"
        f"int main() {{\n{calls}\n"
        f"    return {module.name.upper()}_DOF + taken - {module.dof + calls.count('take')};\n}}\n"
    )
    compiled("-std=c99", "-c", f"-I{folder}", *c_files(folder, ["_selftest"]), cwd=tmp_path)
    flags = ("-std=c++11", "-Wall", "-Wextra", "-pedantic", "-Werror")
    compiled(
        *flags,
        f"-I{folder}",
        "user.cpp",
        *tmp_path.glob("*.o"),
        "-lm",
        "-o",
        "x",
        cwd=tmp_path,
        compiler="g++",
    )
    assert subprocess.run([tmp_path / "x"], check=False).returncode == 0


def test_g1_sources_are_cpp_too(tmp_path):
    _, folder = made("panda_float")
    flags = (
        "-std=c++11",
        "-Wall",
        "-Wextra",
        "-pedantic",
        "-Werror",
        "-x",
        "c++",
        f"-I{folder}",
        "-c",
    )
    compiled(*flags, *c_files(folder), cwd=tmp_path, compiler="g++")


def test_g1_clang(tmp_path):
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("clang is not installed")
    flags = (
        "-std=c99",
        "-Weverything",
        "-Werror",
        "-Wno-declaration-after-statement",
        "-Wno-padded",
    )
    for sample in ("panda_float", "ur5_runtime", "ur5_forward_pieces", "panda_libm"):
        _, folder = made(sample)
        compiled(
            *flags,
            f"-I{folder}",
            "-c",
            *c_files(folder, ["_selftest"]),
            cwd=tmp_path,
            compiler=clang,
        )


# -- G2: pure --------------------------------------------------------------------------------------


def symbols(paths, folder, work):
    """Letter and name of every symbol of unoptimised objects."""
    compiled("-std=c99", "-O0", "-fno-pic", f"-I{folder}", "-c", *paths, cwd=work)
    lines = subprocess.run(
        ["nm", *work.glob("*.o")], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return {tuple(line.split()[-2:]) for line in lines if len(line.split()) >= 2}


@samples
def test_g2_no_state_no_heap(sample, tmp_path):
    module, folder = made(sample)
    found = symbols(c_files(folder, ["_selftest"]), folder, tmp_path)
    assert not [name for letter, name in found if letter in "bBdDC"]
    f = "f" if module[COptions].scalar == "float" else ""
    assert {name for letter, name in found if letter == "U"} <= {f"sin{f}", f"cos{f}"}
    shared = {name for letter, name in found if letter.isupper() and letter != "U"}
    assert {name for name in shared if not name.startswith(f"{module.name}_")} == set()


def test_g2_sees_state(tmp_path):
    source = (
        "static double w[3];\ndouble *f(void);\ndouble *f(void) { return w + *(char "
        "*)malloc(3); }\n"
    )
    (tmp_path / "bad.c").write_text(f"#include <stdlib.h>\n{source}")
    found = symbols([tmp_path / "bad.c"], tmp_path, tmp_path)
    assert ("b", "w") in found and ("U", "malloc") in found


def test_g2_threads_give_the_serial_answers():
    module, folder = made("ur5")
    run_c = build(module, folder).inverse_dynamics
    rng = np.random.default_rng(1)
    states = [rng.uniform(-3, 3, (3, 100_000, module.dof)) for _ in range(2)]
    serial = [run_c(*state) for state in states]
    threaded = [None, None]

    def work(k):
        threaded[k] = run_c(*states[k])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(2):
        assert np.array_equal(threaded[k], serial[k])


# -- G3: digits ------------------------------------------------------------------------------------

NUMBER = re.compile(r"(?<![\w.])(\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+)(f?)(?![\w.])")


def constants(program, scalar="double"):
    """Sizes of the numbers that a program needs, without zero."""
    rounded = single if scalar == "float" else float
    used = {
        program.nodes[ref.node] for out in program.outputs for ref in out.refs if ref is not None
    }
    nodes = (
        used
        | {program.nodes[i] for i in live(program)}
        | {
            program.nodes[k]
            for i in live(program)
            for k in (program.nodes[i].a, program.nodes[i].b)
            if isinstance(k, int)
        }
    )
    return {abs(rounded(node.a)) for node in nodes if node.op == "const"} - {0.0}


@samples
def test_g3_c_literals_are_the_constants(sample):
    module, folder = made(sample)
    for d, text in bodies(module, folder):
        rounded = single if module[COptions].scalar == "float" else float
        numbers = {rounded(float(number)) for number, _ in NUMBER.findall(text)} - {0.0}
        assert numbers == constants(d.program, module[COptions].scalar)


@samples
def test_g3_python_literals_are_the_constants(sample):
    module, folder = made(sample)
    tree = ast.parse((folder / f"{module.name}.py").read_text(encoding="ascii"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for d in descriptions(module):
        numbers = [
            node.value
            for node in ast.walk(functions[f"_{d.name}"])
            if isinstance(node, ast.Constant)
        ]
        assert {x for x in numbers if type(x) is float} - {0.0} == constants(d.program)


def test_g3_tables_are_exact():
    module, folder = made("ur5_runtime")
    text = code(folder / f"{module.name}.c").partition("_parameters[")[2].partition("{")[2]
    numbers = [float(x) for x in re.findall(r"-?[\d.]+(?:e[+-]?\d+)?", text)]
    assert numbers == [x for ten in module.robot.blocks.values() for x in ten]
    text = code(folder / f"{module.name}_selftest.c")
    for name in ("q", "qdd", "g"):
        table = re.search(rf"in_{name}\[STATES\]\[\d+\] = (.*?);", text, re.DOTALL)[1]
        found = [float(x) for x in re.findall(r"-?\d[\d.]*(?:e[+-]?\d+)?", table)]
        assert found == [x for state in module.test_states for x in state.inputs[name]]


def test_g3_the_compiler_reads_the_same_doubles(tmp_path):
    module, folder = made("arm7_general")
    texts = sorted(
        {number for _, text in bodies(module, folder) for number, _ in NUMBER.findall(text)}
    )
    rows = "\n".join(f'    printf("%a\\n", {text});' for text in texts)
    (tmp_path / "p.c").write_text(
        f"#include <stdio.h>\nint main(void)\n{{\n{rows}\n    return 0;\n}}\n"
    )
    compiled("-std=c99", "p.c", "-o", "p", cwd=tmp_path)
    printed = subprocess.run(
        [tmp_path / "p"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(texts) > 50 and [float.fromhex(x) for x in printed] == [float(x) for x in texts]


# -- G4: no integer arithmetic ---------------------------------------------------------------------


BOOKKEEPING = re.compile(
    r"static int (?:all_finite|finite_sum)\(.*?\n\}|enum \{[^}]*\};|int bad = 0;|return [^;]*;|"
    r"for \(int k = 0; k < \w+_FILLED\(\d+\); \+\+k\)",
    re.DOTALL,
)


@samples
def test_g4_c_has_no_integers_outside_indexes(sample):
    module, folder = made(sample)
    for _, text in bodies(module, folder):
        counts = re.sub(r"\b\w+_FILLED\(\d+\)", "count", text)  # of angles
        rest = NUMBER.sub(" ", unindexed(BOOKKEEPING.sub(" ", counts)))
        assert not re.search(r"(?<![\w.])\d", rest)
        called = set(re.findall(r"(\w+)\s*\(", rest))
        own = re.compile(rf"part\d+|regular|(?:all_finite|finite_sum)|{module.name}_\w+")
        assert {name for name in called if not own.fullmatch(name)} <= {
            "sin",
            "cos",
            "sinf",
            "cosf",
        }
        assert all(int(k) < 1 << 15 for k in re.findall(r"(?<=\[)\d+(?=\])", text))


@samples
def test_g4_python_has_no_integer_arithmetic(sample):
    module, folder = made(sample)
    tree = ast.parse((folder / f"{module.name}.py").read_text(encoding="ascii"))
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            ends = (node.left, node.right)
            assert not any(isinstance(end, ast.Constant) and type(end.value) is int for end in ends)
            assert not isinstance(node.op, ast.Pow | ast.FloorDiv | ast.Mod)
        if isinstance(node, ast.Constant) and type(node.value) is int:
            assert node.value < 1 << 31


# -- G5: single precision --------------------------------------------------------------------------


@pytest.mark.parametrize("sample", ["panda_float", "ur5_payload", "panda_libm"])
def test_g5_nothing_is_double(sample, tmp_path):
    module, folder = made(sample)
    for path in folder.glob("*.[ch]"):
        assert "double" not in code(path) or path.name.endswith("_selftest.c")
        assert all(suffix == "f" for _, suffix in NUMBER.findall(code(path)))
        assert not re.search(r"\b(sin|cos|fabs)\(", code(path))
    sine = f"{module.name}_sincos_all(" if module[COptions].trig == "inline" else "sinf("
    assert sine in code(folder / f"{module.name}_inverse_dynamics.c")
    compiled(*STRICT_C, "-Wfloat-conversion", f"-I{folder}", "-c", *c_files(folder), cwd=tmp_path)


@pytest.mark.parametrize("name", ["panda", "quadruped"])
def test_g5_results_are_near_those_of_double(name):
    quantities = ("inverse_dynamics", "gravity", "mass_matrix")
    runs = [
        build(*generated(name, quantities=quantities, scalar=scalar))
        for scalar in ("float", "double")
    ]
    n = generated(name, quantities=quantities, scalar="double")[0].dof
    q, qd, qdd = np.random.default_rng(2).uniform(-2, 2, (3, 20, n)).astype(np.float32)
    for quantity, inputs in (
        ("inverse_dynamics", (q, qd, qdd)),
        ("gravity", (q,)),
        ("mass_matrix", (q,)),
    ):
        got, wanted = (getattr(code, quantity)(*inputs).reshape(20, -1) for code in runs)
        assert got.dtype == np.float32
        error = np.max(np.abs(got - wanted), axis=1) / np.max(np.abs(wanted), axis=1)
        assert 0 < np.max(error) <= 1e-4


# -- G6: same text twice ---------------------------------------------------------------------------

SURROUNDINGS = {
    "0": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "1": {"LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
    "2": {"LC_ALL": "de_DE.UTF-8", "LANG": "tr_TR.UTF-8", "COLUMNS": "40"},
    "3": {"LANG": "POSIX", "NO_COLOR": "1", "HOME": "/nowhere"},
}


@pytest.mark.parametrize("seed", SURROUNDINGS)
def test_g6_surroundings_do_not_matter(seed, tmp_path):
    environment = {**SURROUNDINGS[seed], "PYTHONHASHSEED": seed}
    for name, kind in (("utf8_names", "constant"), ("ur5", "runtime:flange")):
        _, folder = generated(name, parameters=kind, quantities=("t=bias+mass_matrix",))
        options = ("--parameters", kind, "--quantity", "t=bias+mass_matrix")
        done = run(
            "generate",
            os.path.relpath(robot_file(name), tmp_path),
            "-o",
            name,
            *options,
            cwd=tmp_path,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        assert snapshot(tmp_path / name) == snapshot(folder)


def test_g6_the_second_run_in_a_process_is_the_same(tmp_path):
    generate(robot_file("ur5"), tmp_path / "a")
    generate(robot_file("ur5"), tmp_path / "b")
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")


# -- G7: plain text --------------------------------------------------------------------------------


@samples
def test_g7_ascii_lines_without_date_or_path(sample):
    _, folder = made(sample)
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(found) >= 6
    for name, data in found.items():
        assert b"\r" not in data and data.isascii() and data.endswith(b"\n"), name
        text = data.decode()
        assert not re.search(r"\b(19|20)\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", text), name
        for trace in (str(folder.parent), str(ROOT), str(Path.home()) + "/", socket.gethostname()):
            assert trace not in text, f"{name} has {trace}"
        assert time.strftime("%Y") not in re.sub(
            r"[0-9a-f]{64}|[\d.]+e?[\d-]+|\(20\d\d\)", "", text
        ), name


def test_g7_no_line_ends_in_a_blank():
    for sample in ("ur5", "ur5_runtime"):
        module, folder = made(sample)
        for path in (*c_files(folder), folder / f"{module.name}.h", folder / f"{module.name}.py"):
            assert not re.search(r"[ \t]+$", path.read_text(), re.MULTILINE), path.name


# -- G8: nothing half-done -------------------------------------------------------------------------


def texts(*names, tag="1"):
    """Files to publish: a manifest that lists them, and them."""
    manifest = {"generator": "symgen 0", "files": dict.fromkeys(names, "hash")}
    return {**{name: f"{name} {tag}\n" for name in names}, "manifest.json": json.dumps(manifest)}


def test_g8_an_earlier_run_is_replaced(tmp_path):
    folder = tmp_path / "deep" / "out"
    publish(texts("a", "b"), folder)
    (folder / "mine").write_text("mine")
    publish(texts("b", "c", tag="2"), folder)
    assert {path.name for path in folder.iterdir()} == {"b", "c", "mine", "manifest.json"}
    assert (folder / "b").read_text() == "b 2\n" and (folder / "mine").read_text() == "mine"
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


def test_g8_files_no_longer_wanted_disappear(tmp_path):
    invoke("generate", robot_file("pendulum"), "-o", tmp_path)
    assert (tmp_path / "pendulum.py").exists() and (tmp_path / "pendulum_bias.c").exists()
    invoke(
        "generate", robot_file("pendulum"), "-o", tmp_path, "--lang", "c", "--quantity", "gravity"
    )
    assert snapshot(tmp_path).keys() == {
        "CMakeLists.txt",
        "manifest.json",
        "pendulum.c",
        "pendulum.h",
        "pendulum_gravity.c",
        "pendulum_selftest.c",
        "pendulum_trig.h",
        "pendulum_report.json",
    }


FOREIGN = ['{"files": {"a": "x", "mine": "x"}}', '{"name": "app"}', "[]", "not JSON", "\udcff", ""]


@pytest.mark.parametrize("manifest", FOREIGN)
def test_g8_a_foreign_manifest_is_kept(manifest, tmp_path):
    (tmp_path / "manifest.json").write_bytes(manifest.encode("utf-8", "surrogateescape"))
    (tmp_path / "mine").write_text("mine")
    before = snapshot(tmp_path)
    with pytest.raises(OptionError, match=r"manifest.json' exists and is not from symgen"):
        publish(texts("b"), tmp_path)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", ["pendulum.c", "CMakeLists.txt", "pendulum.py"])
def test_g8_a_foreign_file_is_kept(name, tmp_path):
    (tmp_path / name).write_text("mine")
    before = snapshot(tmp_path)
    done = invoke("generate", robot_file("pendulum"), "-o", tmp_path)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert f"{name}' exists and is not from symgen" in done.stderr
    assert snapshot(tmp_path) == before


def test_g8_a_manifest_cannot_reach_outside(tmp_path):
    folder = tmp_path / "out"
    publish(texts("a"), folder)
    (tmp_path / "victim").write_text("mine")
    (folder / "manifest.json").write_text(
        texts("../victim", "a", "", "..", "/etc/passwd")["manifest.json"]
    )
    publish(texts("b"), folder)
    assert (tmp_path / "victim").read_text() == "mine"
    assert {path.name for path in folder.iterdir()} == {"b", "manifest.json"}


@pytest.mark.parametrize("where", ["file", "file/below"])
def test_g8_out_is_a_file(where, tmp_path):
    (tmp_path / "file").write_text("mine")
    done = invoke("generate", robot_file("pendulum"), "-o", tmp_path / where)
    assert done.exit_code == 2 and re.fullmatch(r"error: cannot write to '.*': .*\n", done.stderr)
    assert snapshot(tmp_path) == {"file": b"mine"}


KILLED = """
import os, signal, sys
from pathlib import Path
method, count, number = sys.argv.pop(), int(sys.argv.pop()), getattr(signal, sys.argv.pop())
real = getattr(Path, method)
def hit(*a, **k):
    global count
    count -= 1
    if count == 0:
        os.kill(os.getpid(), number)
    return real(*a, **k)
setattr(Path, method, hit)
# A child keeps what its parent ignores: under nohup and in the background SIGHUP and SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
for left in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(left, signal.SIG_DFL)
from symgen.cli.main import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize("method", ["write_bytes", "replace"])
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_g8_a_signal_while_writing(method, number, tmp_path):
    generate(robot_file("pendulum"), tmp_path / "out", quantities=("gravity",), prefix="old")
    arguments = [
        "generate",
        robot_file("pendulum"),
        "-o",
        str(tmp_path / "out"),
        number,
        "3",
        method,
    ]
    command = ["sh", "-c", """trap '' INT HUP TERM; exec "$@" """, "sh"]  # as under nohup
    command += [sys.executable, "-c", KILLED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert snapshot(tmp_path).keys() == {
        "out",
        *(f"out/{path.name}" for path in generated("pendulum")[1].iterdir()),
    }


@pytest.mark.parametrize("delay", [0.1, 0.25, 0.4, 0.55])
def test_g8_killed_at_any_time(delay, tmp_path):
    generate(robot_file("pendulum"), tmp_path / "out")
    before = snapshot(tmp_path)
    command = [
        sys.executable,
        "-m",
        "symgen",
        "generate",
        robot_file("ur5"),
        "-o",
        str(tmp_path / "out"),
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(delay)
    process.terminate()
    process.communicate()
    after = {f"out/{name}" for name in snapshot(generated("ur5")[1])}
    assert snapshot(tmp_path) == before or snapshot(tmp_path).keys() == {"out", *after}


def refused_without_a_trace(folder, reason, **options):
    """Generating into the folder fails in one line and leaves it, and what is beside it, as it
    was."""
    before = snapshot(folder.parent)
    done = run("generate", robot_file("ur5"), "-o", folder, **options)
    assert done.returncode == 2 and re.fullmatch(
        rf"error: cannot write to '.*': {reason}\n", done.stderr
    ), done.stderr
    assert snapshot(folder.parent) == before


def test_g8_writing_fails_half_way(tmp_path):
    generate(robot_file("ur5"), tmp_path / "out", quantities=("gravity",))
    refused_without_a_trace(
        tmp_path / "out", "File too large", preexec_fn=lambda: limit(resource.RLIMIT_FSIZE, 4000)
    )


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 96 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system is not allowed here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def small(folder):
    """Leave the files of a smaller run for a robot called as that of `refused_without_a_trace`."""
    file = folder.parents[1] / "small.urdf"
    file.write_text(Path(robot_file("pendulum")).read_text().replace('"pendulum"', '"ur5"'))
    generate(file, folder, quantities=("gravity",))


def test_g8_full_disk(small_disk):
    small(small_disk / "out")
    refused_without_a_trace(small_disk / "out", "No space left on device")


def test_g8_mount_point(small_disk):
    generate(robot_file("pendulum"), small_disk)
    assert (small_disk / "pendulum.h").exists() and not list(small_disk.glob(".symgen*"))


def test_g8_read_only_file_system(small_disk):
    small(small_disk / "out")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    refused_without_a_trace(small_disk / "out", "Read-only file system")


def test_g8_read_only_folder(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere; see test_g8_read_only_file_system")
    generate(robot_file("ur5"), tmp_path / "out", quantities=("gravity",))
    (tmp_path / "out").chmod(0o500)
    refused_without_a_trace(tmp_path / "out", "Permission denied")


# -- G9 and G10: size ------------------------------------------------------------------------------

STACK = 16 << 10
DEPTH = 200


def limit(kind, value):
    resource.setrlimit(kind, (value, value))


def test_g9_the_compiler_copes(tmp_path):
    _, folder = made("arm7_general")
    start = time.perf_counter()
    flags = ("-std=c99", "-O3", "-fstack-usage", f"-I{folder}", "-c")
    compiled(
        *flags, *c_files(folder), cwd=tmp_path, preexec_fn=lambda: limit(resource.RLIMIT_AS, GIB)
    )
    assert time.perf_counter() - start < 60
    frames = {
        line.split("\t")[0]: int(line.split("\t")[1])
        for path in tmp_path.glob("*.su")
        for line in path.read_text().splitlines()
    }
    assert len(frames) >= 6 and max(frames.values()) <= STACK, frames


def depth(text):
    level = deepest = 0
    for c in text:
        level += (c in "([{") - (c in ")]}")
        deepest = max(deepest, level)
    return deepest


def test_g9_brackets_and_lines_are_shallow():
    module, folder = made("arm7_general")
    for path in (*c_files(folder), folder / f"{module.name}.py"):
        assert depth(path.read_text()) < DEPTH
        assert max(map(len, path.read_text().splitlines())) < 4000


def test_g10_generation_is_quick(tmp_path):
    start = time.perf_counter()
    limits = {
        "preexec_fn": lambda: limit(resource.RLIMIT_AS, GIB),
        "env": {"OPENBLAS_NUM_THREADS": "1"},
    }
    done = run("generate", robot_file("arm7_general"), "-o", tmp_path / "out", **limits)
    assert done.returncode == 0, done.stderr
    assert time.perf_counter() - start < 60


def test_all_files_are_published():
    module, folder = made("ur5")
    assert {path.name: path.read_text() for path in folder.iterdir()} == files(module)
    assert imported(folder / "ur5.py").NQ == module.dof == 6


def test_g8_signals_work_as_before_afterwards(tmp_path):
    before = [signal.getsignal(number) for number in POLITE]
    publish(texts("a"), tmp_path)
    assert [signal.getsignal(number) for number in POLITE] == before


def test_g8_threads_may_publish(tmp_path):
    thread = threading.Thread(target=publish, args=(texts("a"), tmp_path))
    thread.start()
    thread.join()
    assert (tmp_path / "a").exists()
