"""MISRA C:2012 of controllers, where cppcheck has its addon."""

import re
import shutil
import subprocess

import pytest

from symgen.jobs.api import generate
from tests.support.tools import ROOT


def test_controllers_break_no_rule_but_those_of_the_table(tmp_path):
    """What docs/firmware.md does not except is followed."""
    if shutil.which("cppcheck") is None:
        pytest.skip("cppcheck is not installed")
    some = ("computed_torque", "recursive_least_squares", "cartesian_impedance:lower")
    options = {"scalar": "float", "trig": "inline", "controllers": some}
    generate(ROOT / "robots" / "pendulum.urdf", tmp_path, ["c"], **options)
    limits = ("-DFLT_MANT_DIG=24", "-DFLT_EVAL_METHOD=0", "-DFLT_MAX=3.4e38f")
    flags = ("--std=c99", "--addon=misra", "--enable=style", "--suppress=missingIncludeSystem")
    files = map(str, sorted(tmp_path.glob("*_controller.c")))
    command = ["cppcheck", "-q", *flags, *limits, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    if "misra" not in done.stderr:
        pytest.skip("cppcheck has no MISRA addon here")
    page = (ROOT / "docs" / "firmware.md").read_text(encoding="utf-8")
    table = set(re.findall(r"^\| (\d+\.\d+) \|", page, re.MULTILINE))
    found = set(re.findall(r"misra-c2012-(\d+\.\d+)", done.stderr))
    assert found <= table, found - table
