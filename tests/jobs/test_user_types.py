"""A user's project that calls symgen passes ``mypy --strict``."""

import os
import subprocess
import sys

import pytest

from tests.support.oracles import mypy_must_be_installed
from tests.support.tools import ROOT

USE = """
from pathlib import Path

import numpy as np

import symgen


def torque(file: Path, q: list[float]) -> float:
    robot = symgen.compile(file, "gravity", exact=True, gravity=(0.0, 0.0, -1.62))
    again = symgen.Robot(file).compile("gravity")
    assert robot.JOINT_NAMES == again.JOINT_NAMES and robot.NQ == len(q)
    found = np.asarray(robot.gravity(q, threads=1))
    return float(found[0])


count: int = symgen.trace("robots/ur5.urdf", "gravity").counts.total
"""


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "symgen" / "py.typed").is_file()


@pytest.mark.slow
def test_a_users_project_passes_strict_checks(tmp_path):
    mypy_must_be_installed()
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    cache = str(ROOT / "build" / "tests" / "compiled-types")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    done = subprocess.run(
        [*command, "--cache-dir", cache, "use.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT)},
    )
    assert done.stdout.startswith("Success"), done.stdout + done.stderr
