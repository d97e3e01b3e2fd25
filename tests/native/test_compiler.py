"""The system's C compiler: how it is found on each platform, and what is reported of its output."""

import os
import re
import sys
from pathlib import Path

import pytest

import symgen
from symgen.native import compiler as compiler_module
from symgen.native.compiler import (
    PLATFORMS,
    CompilerError,
    compiler,
    first_error,
    outer_temporary_folder,
    platform,
    run_compiler,
)
from symgen.native.library import missing_headers
from tests.support.shell import refusal
from tests.support.tools import generated, invoke, robot_file

SILENT = "import sys; sys.exit(3)"
LOUD = (
    "import sys; print('note: before', file=sys.stderr)\n"
    "for k in range(2400): print(f'x.c:{k}:1: error: number {k}', file=sys.stderr)\n"
    "sys.exit(1)"
)


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Sets CC to a Python program with the given text."""

    def make(text):
        path = tmp_path / "fake.py"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setenv("CC", f"{sys.executable} {path}")
        return path

    return make


def test_a_compiler_that_prints_nothing_is_reported_with_its_exit_status(fake, tmp_path):
    fake(SILENT)
    with pytest.raises(CompilerError) as caught:
        run_compiler(["x.c"], tmp_path)
    said = re.escape(f"error: the C compiler ({sys.executable}, exit status 3) failed: it printed ")
    assert re.fullmatch(said + "nothing", str(caught.value))


def test_a_long_output_is_its_first_error_and_a_log(fake, tmp_path):
    fake(LOUD)
    with pytest.raises(CompilerError) as caught:
        run_compiler(["x.c"], tmp_path)
    found = re.search(
        r"failed: x\.c:0:1: error: number 0 \(all 2401 lines: (.*)\)$", str(caught.value)
    )
    log = Path(found[1])
    try:
        lines = log.read_text(encoding="utf-8").splitlines()
    finally:
        log.unlink()
    assert len(lines) == 2401 and lines[0] == "note: before" and lines[-1].endswith("number 2399")


def test_verify_reports_a_failing_compiler_in_one_row(fake):
    """The log stays after the process that has run the compiler, whose temporary files are
    deleted."""
    _, folder = generated("pendulum")
    fake(LOUD)
    done = invoke("verify", folder, "--json")
    log = Path(re.search(r"all 2401 lines: ([^)]*)\)", done.stdout)[1])
    assert done.exit_code == 1 and len(done.stdout.splitlines()) < 100
    assert log.parent == Path(outer_temporary_folder()) and log.is_file()
    log.unlink()
    done = invoke("verify", folder)
    assert "number 0" in done.stdout and "number 1" not in done.stdout and "FAILED" in done.stdout
    Path(re.search(r"(\S+symgen-compiler-\S+\.log)", re.sub(r"\s+", " ", done.stdout))[1]).unlink()


CRASH = "import sys; print('x: internal error: File size limit\\nPlease report it.'); sys.exit(4)"


def test_a_refusal_is_one_line_however_short_the_output_is(fake):
    """A compiler that crashes prints three lines."""
    assert first_error(["a"]) == "a" and first_error([]) == "it printed nothing"
    fake(CRASH)
    (line,) = refusal("build", robot_file("pendulum"), "-o", "wheel").splitlines()
    begin, _, log = line.partition(" (all 2 lines: ")
    assert begin.endswith("exit status 4) failed: x: internal error: File size limit")
    Path(log.removesuffix(")")).unlink()


def test_a_log_that_cannot_be_written_is_left_out(monkeypatch, tmp_path):
    monkeypatch.setattr(compiler_module, "outer_temporary_folder", lambda: str(tmp_path / "gone"))
    said = first_error(["a", "b", "c: error: first", "d"])
    assert said == "c: error: first (4 lines in all, no log: No such file or directory)"


# -- platforms -------------------------------------------------------------------------------------


@pytest.fixture
def on(monkeypatch):
    return lambda name: monkeypatch.setattr(sys, "platform", name)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (r"C:\mingw64\bin\gcc.exe", [r"C:\mingw64\bin\gcc.exe"]),
        (r"C:\mingw64\bin\gcc.exe -O1", [r"C:\mingw64\bin\gcc.exe", "-O1"]),
        (
            r'"C:\Program Files\LLVM\bin\clang.exe" -O1',
            [r"C:\Program Files\LLVM\bin\clang.exe", "-O1"],
        ),
    ],
)
def test_a_path_of_windows_keeps_its_backslashes(command, words, on, monkeypatch):
    on("win32")
    monkeypatch.setenv("CC", command)
    known = {words[0]}
    monkeypatch.setattr(
        compiler_module.shutil, "which", lambda name: name if name in known else None
    )
    assert compiler() == words


def test_a_compiler_in_a_folder_with_blanks(tmp_path, monkeypatch):
    path = tmp_path / "a folder" / "cc"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    assert compiler() == [str(path)]


ADVICE = {"linux": "apt install gcc", "darwin": "xcode-select --install", "win32": "winget install"}


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_missing_compiler_is_reported_with_the_command_that_installs_it(name, on, monkeypatch):
    on(name)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(compiler_module.shutil, "which", lambda name: None)
    with pytest.raises(CompilerError, match=f"no C compiler found; .*{ADVICE[name]}.*, or set CC"):
        compiler()


def test_flags_follow_the_platform(on):
    """Windows' code has no -fPIC and no math library, its DLLs need Python's import library and
    stay locked while they are loaded; macOS leaves symbols of Python open."""
    on("win32")
    windows = platform()
    assert not windows.position_independent and not windows.math_library
    assert windows.library_suffix == ".dll" and windows.loaded_files_are_locked
    folder, library = windows.extension_links()
    assert folder.startswith("-L") and folder.endswith("libs")
    assert library == f"-lpython3{sys.version_info.minor}"
    on("darwin")
    assert platform().extension_links() == ("-undefined", "dynamic_lookup")
    on("freebsd14")
    assert platform() == PLATFORMS["linux"]
    on("darwin")
    assert "python3-dev" not in missing_headers()


def test_a_library_that_cannot_be_deleted_does_not_fail(on, monkeypatch, tmp_path):
    """On Windows the folder of a loaded library cannot be removed: `compile` works all the same."""
    with compiler_module.workspace() as folder:
        assert folder.is_dir()
    assert not folder.exists()
    on("win32")
    monkeypatch.setattr(os, "rmdir", _refuse)
    with compiler_module.workspace() as folder:
        pass
    assert folder.exists()
    monkeypatch.undo()
    folder.rmdir()


def _refuse(*arguments, **options):
    raise PermissionError(13, "Access is denied")


def test_verify_without_a_compiler_says_that_a_check_was_not_run(monkeypatch):
    _, folder = generated("pendulum")
    monkeypatch.setenv("CC", "no-such-compiler")
    done = invoke("verify", folder)
    text = re.sub(r"\s+", " ", done.stdout)
    assert done.exit_code == 1 and "not run C compiles without a warning" in text
    assert "FAILED" not in text and "1 of " in text and "checks could not be run" in text
    with pytest.raises(symgen.SymgenError, match="there is no such program"):
        symgen.compile(robot_file("ur5"), "gravity", exact=True)
