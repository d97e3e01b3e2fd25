"""The Makefile: environments of several versions of Python, folders with blanks, extras by name."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tools import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")

FAKE = """#!/bin/sh
case "$*" in
*python_version*) echo {version} ;;
*"-m venv"*) eval folder=\\${{$#}}; mkdir -p "$folder/bin"; rm -f "$folder"/ready* "$folder"/with*
    cp "$0" "$folder/bin/python"; echo "venv $*" >> {log} ;;
*) echo "{version} $*" >> {log} ;;
esac
"""
"""A Python of another version: it tells that, makes environments like itself, and logs the rest."""


@pytest.fixture
def checkout(tmp_path):
    """A folder with a blank in its name, with what make needs."""
    folder = tmp_path / "a checkout"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    for version in ("3.11.2", "3.12.1"):
        python = folder / f"python{version}"
        log = f"'{folder / 'log'}'"
        python.write_text(FAKE.format(version=version, log=log), encoding="utf-8")
        python.chmod(0o755)
    (folder / "log").touch()
    return folder


def make(folder, *words, **environment):
    """What make logs in that folder, by `FAKE`."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("MAKE", "MFLAGS", "PYTHON", "TESTS", "EXTRAS"))
    }
    done = subprocess.run(
        ["make", *words],
        cwd=folder,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    log = (folder / "log").read_text(encoding="utf-8").splitlines()
    (folder / "log").write_text("", encoding="utf-8")
    return done, log


def test_another_python_makes_the_environment_anew(checkout):
    done, log = make(checkout, "test", PYTHON="./python3.11.2")
    assert done.returncode == 0, done.stderr
    assert [line for line in log if line.startswith("venv")] == ["venv -m venv --clear .venv"]
    assert log[-1] == "3.11.2 -m pytest"
    done, log = make(checkout, "test", PYTHON="./python3.11.2")
    assert log == ["3.11.2 -m pytest"], "nothing is installed again"
    done, log = make(checkout, "test", PYTHON="./python3.12.1")
    assert (
        log[0] == "venv -m venv --clear .venv" and "making .venv with Python 3.12.1" in done.stdout
    )
    assert log[-1] == "3.12.1 -m pytest"
    assert any("pip" in line and "--editable .[test,pinocchio]" in line for line in log)
    done, log = make(checkout, "test")
    assert log == ["3.12.1 -m pytest"], "without PYTHON the environment that is there is used"


def test_a_python_that_cannot_be_run_is_one_sentence(checkout):
    make(checkout, "test", PYTHON="./python3.11.2")
    done, log = make(checkout, "test", PYTHON="no-such-python")
    assert done.returncode == 2 and not log
    assert "cannot run 'no-such-python'; give PYTHON=python3.12 or the like" in done.stdout
    assert (checkout / ".venv" / "bin" / "python").exists()


def test_tests_and_extras_can_be_chosen(checkout):
    words = ("test", "EXTRAS=dev", 'TESTS=tests/cli -k "a or b"')
    _, log = make(checkout, *words, PYTHON="./python3.11.2")
    assert any("--editable .[dev]" in line for line in log)
    assert log[-1] == "3.11.2 -m pytest tests/cli -k a or b"


@pytest.mark.skipif(shutil.which("cc") is None, reason="cc is not installed")
def test_the_firmware_example_is_made_in_a_folder_with_a_blank(checkout):
    """With the real symgen; the compiler for the board and its emulator only note that they ran."""
    for name in ("examples/firmware", "robots", "firmware"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("build"))
    programs = checkout / "programs"
    programs.mkdir()
    for name in ("arm-none-eabi-gcc", "qemu-system-arm"):
        (programs / name).write_text('#!/bin/sh\necho "ran ${0##*/}"\n', encoding="utf-8")
        (programs / name).chmod(0o755)
    make(checkout, ".venv/ready-3.11.2", PYTHON="./python3.11.2")
    runner = checkout / ".venv" / "bin" / "python"
    runner.write_text(
        f'#!/bin/sh\ncase "$*" in *python_version*) echo 3.11.2 ;; *) exec "{sys.executable}" "$@" ;; esac\n',
        encoding="utf-8",
    )
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    done, _ = make(checkout, "example-firmware", PATH=path, PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("ran arm-none-eabi-gcc") == 2 and "ran qemu-system-arm" in done.stdout
    assert (checkout / "examples" / "firmware" / "build" / "plant" / "plant.h").is_file()


def test_every_extra_of_the_makefile_is_one_of_the_project():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"\$\(call with,(\w+)\)", text)) | {"test", "pinocchio"}
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = set(
        re.findall(
            r"^(\w+) = \[", project.split("[project.optional-dependencies]")[1], re.MULTILINE
        )
    )
    assert named <= extras, named - extras


def test_the_tests_run_before_optional_tools_are_installed():
    """In .ci/run no target that installs programs stands before the tests."""
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    targets = [word for line in lines if line.startswith("make ") for word in line.split()[1:]]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    installing = set(re.findall(r"^([\w-]+):[^#\n]* (?:arm|host)\b", makefile, re.MULTILINE))
    assert "example-firmware" in installing & set(targets)
    first = min(targets.index(name) for name in installing & set(targets))
    assert {"fresh", "test-all"} <= set(targets[:first])
    assert Path(ROOT / ".ci" / "fresh").stat().st_mode & 0o111
