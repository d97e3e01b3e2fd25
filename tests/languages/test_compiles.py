"""Generated C compiles everywhere and strains no compiler: checks G1 and G9 of
tests/cases/index.md."""

import resource
import shutil
import subprocess
import time

import pytest

from symgen.algorithms import QUANTITIES
from symgen.jobs.api import generate
from symgen.languages.describe import descriptions
from tests.support.samples import GIB, limit, made, samples
from tests.support.tools import (
    STRICT_C,
    c_files,
    compiled,
    runs_beside,
)


@samples
def test_g1_strict_c99(sample, tmp_path):
    _, folder = made(sample)
    compiled(*STRICT_C, "-O2", f"-I{folder}", *c_files(folder), "-lm", "-o", "x", cwd=tmp_path)
    assert subprocess.run([tmp_path / "x"], check=False).returncode == 0  # the self-test


ONE = """<robot name="one"><link name="base"/><link name="a"><inertial><origin xyz="0.1 0.2 0.3"/>
<mass value="1"/><inertia ixx="1" ixy="0.1" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
</joint></robot>"""


@pytest.mark.parametrize("zeros", ["always", "once"])
def test_what_vanishes_whole_is_not_asked_whether_it_is_finite(zeros, tmp_path):
    """Of one joint, outputs of every function that inverts M vanish in every state somewhere."""
    (tmp_path / "one.urdf").write_text(ONE)
    inverting = [q.name for q in QUANTITIES.values() if q.needs_inverse]
    folder = tmp_path / "out"
    generate(tmp_path / "one.urdf", folder, ["c"], quantities=inverting, zeros=zeros)
    compiled(*STRICT_C, "-O2", f"-I{folder}", *c_files(folder), "-lm", "-o", "x", cwd=tmp_path)
    assert subprocess.run([tmp_path / "x"], check=False).returncode == 0


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


@pytest.mark.parametrize(
    "sample", ["ur5_runtime", "panda_float", "ur5_forward_pieces", "reserved_names", "utf8_names"]
)
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
    runs_beside(tmp_path, "user.cpp", *flags, f"-I{folder}")


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


STACK = 16 << 10


DEPTH = 200


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
