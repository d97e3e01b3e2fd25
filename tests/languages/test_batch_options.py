"""Batches: compilers, self-tests, verification and options."""

import json
import shutil
import subprocess

import pytest

from symgen.jobs.verify import verify
from tests.support.batches import made
from tests.support.tools import (
    STRICT_C,
    c_files,
    compiled,
    generated,
    invoke,
    robot_file,
    snapshot,
    verified,
)


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
    _, folder = made("all inputs")
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


@pytest.mark.parametrize(
    "options, sentence",
    [
        (
            ("--batch", "auto", "--trig", "libm"),
            "error: --batch and --trig libm: vectors cannot call the C library; remove one of them",
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
            "error: --batch: the name 'gravity_rows' is reserved for a batch function; give your "
            "function another name",
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


@pytest.mark.parametrize("scalar, batch", [("double", "2"), ("double", "4"), ("float", "8")])
def test_blocks_shorter_than_the_longest_vector_have_each_length_once(scalar, batch):
    """Of AVX2 and AVX-512 both make four numbers of a block of four: the code for it stands once."""
    options = {"scalar": scalar, "batch": batch, "quantities": ("gravity",)}
    _, folder = generated("pendulum", languages=("c",), **options)
    verified(folder)
