"""Packages of ``symgen build`` on other processors than the one that compiled them."""

import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from symgen.languages.backends.python import INSTRUCTION_SETS
from symgen.native.compiler import compiler
from symgen.native.store import SUFFIX
from tests.support.tools import invoke, robot_file

GRAVITY = """
import pendulum
print(pendulum.gravity([0.5, 0.25]).tobytes().hex())
"""


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """The folder of a package that was built portably, and of one for this processor."""
    folder = tmp_path_factory.mktemp("builds")
    common = ("build", robot_file("pendulum"), "--quantity", "gravity")
    for name, options in {"portable": [], "native": ["--native"]}.items():
        result = invoke(*common, "-o", folder / name, *options)
        assert result.exit_code == 0, result.output
    return folder


def gravity(folder, *before):
    """What `GRAVITY` prints with a package's folder, run by the words `before` and this Python."""
    return subprocess.run(
        [*before, str(Path(sys.executable).resolve()), "-c", GRAVITY],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path[1:]])},
    )


def wheel_of(folder):
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/WHEEL")]
        return path.name, archive.read(name).decode()


def test_a_native_wheel_is_called_so(builds):
    """The name has a build tag (PEP 427), so the same version for this processor alone is another
    file."""
    portable, native = (wheel_of(builds / name) for name in ("portable", "native"))
    assert re.fullmatch(r"pendulum-0\.1\.0-cp\d+-cp\d+\w*-\w+\.whl", portable[0])
    assert native[0] == portable[0].replace("-0.1.0-", "-0.1.0-1native-")
    assert "Build: 1native\n" in native[1] and "Build:" not in portable[1]
    with zipfile.ZipFile(builds / "portable" / portable[0]) as archive:
        metadata = archive.read("pendulum-0.1.0.dist-info/METADATA").decode()
    assert f"Requires-Python: ==3.{sys.version_info.minor}.*\n" in metadata
    assert "License: 0BSD\n" in metadata


def test_the_default_package_runs_on_every_processor(builds):
    """A Nehalem of 2008 has no AVX. The package for this processor says what it lacks there."""
    emulator = shutil.which("qemu-x86_64")
    if emulator is None or platform.machine() != "x86_64":
        pytest.skip("qemu-x86_64 is not installed, or this is no x86-64")
    here = gravity(builds / "portable")
    old = gravity(builds / "portable", emulator, "-cpu", "Nehalem")
    assert here.returncode == old.returncode == 0, here.stderr + old.stderr
    assert here.stdout == old.stdout != ""
    if "avx" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
        pytest.skip("this processor has nothing that a Nehalem lacks")
    refused = gravity(builds / "native", emulator, "-cpu", "Nehalem")
    assert refused.returncode == 1, refused.stderr
    assert "ImportError: pendulum was compiled for a processor with " in refused.stderr


def test_every_instruction_set_of_the_flags_is_checked(builds):
    """Each feature macro that the compiler sets for this processor, of those in the table, has its
    test in the compiled module: the name that its message prints."""
    if platform.machine() != "x86_64":
        pytest.skip("the check is for x86-64")
    command = [*compiler(), "-march=native", "-dM", "-E", "-xc", os.devnull]
    macros = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (file,) = (builds / "native" / "pendulum").glob(f"_native{SUFFIX}")
    (plain,) = (builds / "portable" / "pendulum").glob(f"_native{SUFFIX}")
    for macro, name in INSTRUCTION_SETS.items():
        has = f"#define {macro} " in macros
        assert (name.encode() + b"\0" in file.read_bytes()) == has, macro
        assert name.encode() + b"\0" not in plain.read_bytes(), macro
