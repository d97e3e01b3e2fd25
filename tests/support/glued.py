"""Modules with the files of all build systems, and programs that use them."""

import shutil
import subprocess
from functools import cache

import pytest

from symgen.languages.c.options import GLUE
from tests.support.tools import generated

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "terms=bias+mass_matrix", "gravity")


CASES = {
    "double": ("ur5", {}),
    "float": ("ur5", {"scalar": "float"}),
    "libm": ("ur5", {"trig": "libm"}),
    "pieces": ("ur5", {"chunk": 30}),
    "payload": ("ur5", {"parameters": "runtime:flange", "gravity": "runtime"}),
}


EVERY = tuple(name for name in GLUE if name not in ("ros2", "fmi"))
"""All that any module can have; ROS 2 needs a controller (test_ros2.py), an FMU the forward
dynamics in double precision without inputs at run time (test_fmu.py)."""


cases = pytest.mark.parametrize("case", CASES)


@cache
def made(case):
    name, options = CASES[case]
    return generated(name, glue=EVERY, quantities=FUNCTIONS, **options)


def run(*command, cwd):
    done = subprocess.run(
        [str(x) for x in command], capture_output=True, text=True, check=False, cwd=cwd
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
