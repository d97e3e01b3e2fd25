"""A language of another distribution, added by an entry point (tests/cases/plugin)."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.tools import robot_file

PLUGIN = Path("tests/cases/plugin").resolve()


def run(*command, cwd, plugin=PLUGIN):
    """A process in which the plugin is installed."""
    path = os.pathsep.join(
        filter(None, (str(plugin), str(Path.cwd()), os.environ.get("PYTHONPATH")))
    )
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


def test_a_plugin_is_a_language_of_all_commands(tmp_path):
    """Generation, manifest, list and verification."""
    symgen = ("-m", "symgen")
    options = ("-o", "x", "--lang", "mathpy", "--quantity", "mass_matrix")
    made = run(*symgen, "generate", robot_file("pendulum"), *options, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    checked = run(*symgen, "verify", "x", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "mass_matrix: mathpy equals the float run" in checked.stdout
    assert "Python on lists, without NumPy" in run(*symgen, "list", "--all", cwd=tmp_path).stdout
    other = ("-o", "y", "--lang", "mathpi")
    refused = run(*symgen, "generate", robot_file("pendulum"), *other, cwd=tmp_path)
    assert refused.returncode == 2 and "mathpy" in refused.stderr


COMPARED = """
from pathlib import Path
from benchmarks import compared
compared.KEPT = Path("kept")
compared.KEPT.mkdir()
compared.ROBOTS["pendulum"] = {}
from symgen.jobs.job import Job
job = Job.of("robots/pendulum.urdf", quantities=("simple",), trig="libm")
robot = compared.Robot("pendulum")
robot.__dict__["module"] = job.module(job.load())
print(robot.beside_c(compared.OF_PLUGINS["mathpy"]).cell)
"""


def test_the_conformance_suite_runs_it(tmp_path):
    """`benchmarks.compared` compares its functions with the C, bit for bit."""
    names = ("mass_matrix", "inverse_dynamics", "inverse_dynamics_derivatives", "kinetic_energy")
    code = COMPARED.replace("robots/pendulum.urdf", str(robot_file("pendulum")))
    code = code.replace('("simple",)', repr(names))
    done = run("-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4, ") and "bit for bit" in done.stdout


def test_a_plugin_that_cannot_be_loaded_is_left_out_with_a_warning(tmp_path):
    """An entry point without its package, and one that is no language."""
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    lines = ("[symgen.languages]", "missing = nothing_here:ROW", "number = math:pi")
    (info / "entry_points.txt").write_text("\n".join(lines))
    done = run("-m", "symgen", "list", cwd=tmp_path, plugin=tmp_path)
    assert done.returncode == 0
    assert "language missing cannot be loaded: No module named 'nothing_here'" in done.stderr
    assert "language number: math:pi is no symgen.languages.language.Language" in done.stderr
