"""The compiler of the tests, tests/support/cc.sh: nothing is compiled twice, and nothing is kept that
is not of the same inputs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.store import ROOT

SCRIPT = ROOT / "tests" / "support" / "cc.sh"

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


@pytest.fixture
def cc(tmp_path):
    """The compiler with a store of its own, and a log of what really was compiled."""
    (tmp_path / "tests" / "support").mkdir(parents=True)
    script = shutil.copy(SCRIPT, tmp_path / "tests" / "support")
    real = tmp_path / "real.sh"
    real.write_text(f'#!/bin/sh\necho >> "{tmp_path}/log"\nexec gcc "$@"\n')
    real.chmod(0o755)
    work = tmp_path / "a folder"
    (work / "include").mkdir(parents=True)
    (work / "x.c").write_text('#include "x.h"\nint main(void) { return VALUE; }\n')
    (work / "include" / "x.h").write_text("#define VALUE 3\n")

    def run(*arguments):
        """Exit status, what is said, and how often the compiler has been run by now."""
        done = subprocess.run(
            [script, *arguments],
            cwd=work,
            env=os.environ | {"SYMGEN_TEST_CC": str(real)},
            capture_output=True,
            text=True,
        )
        log = tmp_path / "log"
        return (
            done.returncode,
            done.stdout + done.stderr,
            len(log.read_text()) if log.exists() else 0,
        )

    return run, work


def value(program: Path) -> int:
    return subprocess.run([program], check=False).returncode


def test_a_second_run_has_the_bytes_of_the_first(cc):
    run, work = cc
    assert run("-O1", "-Iinclude", "x.c", "-o", "one") == (0, "", 1)
    assert run("-O1", "-Iinclude", "x.c", "-o", "two") == (0, "", 1)
    assert (work / "one").read_bytes() == (work / "two").read_bytes() and value(work / "two") == 3
    (work / "other").mkdir()
    shutil.copytree(work / "include", work / "other" / "include")
    (work / "other" / "x.c").write_bytes((work / "x.c").read_bytes())
    same = ("-O1", "-Iother/include", "other/x.c", "-o", "three")
    assert run(*same) == (0, "", 1) and value(work / "three") == 3


def test_what_is_changed_is_compiled_anew(cc):
    run, work = cc
    base = ("-Iinclude", "x.c", "-o", "one")
    assert run(*base)[2] == 1
    (work / "include" / "x.h").write_text("#define VALUE 4\n")
    assert run(*base)[2] == 2 and value(work / "one") == 4
    (work / "x.h").write_text("#define VALUE 5\n")  # nearer than that of -I
    assert run(*base)[2] == 3 and value(work / "one") == 5
    assert run("-DNDEBUG", *base)[2] == 4
    (work / "x.c").write_text('#include "x.h"\nint main(void) { return VALUE + 1; }\n')
    assert run(*base)[2] == 5 and value(work / "one") == 6


def test_folders_of_headers_count_however_they_are_given(cc):
    run, work = cc
    assert run("-Iinclude", "x.c", "-o", "one") == (0, "", 1)
    status, said, runs = run("x.c", "-o", "one")
    assert (status, runs) == (1, 2) and "x.h" in said
    assert run("-I", "include", "x.c", "-o", "one") == (0, "", 3)
    (work / "include" / "x.h").write_text("#define VALUE 4\n")
    assert run("-I", "include", "x.c", "-o", "one") == (0, "", 4) and value(work / "one") == 4


def test_sources_of_cuda_that_are_included_count(cc):
    run, work = cc
    (work / "y.c").write_text('#include "y.cuh"\nint main(void) { return VALUE; }\n')
    for count, number in enumerate((3, 4), 1):
        (work / "y.cuh").write_text(f"#define VALUE {number}\n")
        assert run("y.c", "-o", "y") == (0, "", count) and value(work / "y") == number


def test_only_what_ends_well_and_says_nothing_is_kept(cc):
    run, work = cc
    (work / "warns.c").write_text("int main(void) { int unused; return 0; }\n")
    (work / "wrong.c").write_text("int main(void) { return }\n")
    for count in (1, 2):
        status, said, runs = run("-Wall", "warns.c", "-o", "x")
        assert status == 0 and "unused" in said and runs == 2 * count - 1
        status, said, runs = run("wrong.c", "-o", "y")
        assert status == 1 and "error" in said and runs == 2 * count
    assert not (work / "y").exists()


@pytest.mark.parametrize("other", [("-MD",), ("-save-temps",), ("-g",), ("-fstack-usage",)])
def test_runs_that_write_more_than_one_file_are_the_compilers_own(cc, other):
    run, _ = cc
    for count in (1, 2):
        assert run(*other, "-Iinclude", "x.c", "-o", "one")[2] == count
    assert "gcc" in run("--version")[1]
