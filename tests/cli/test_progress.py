"""Progress: stages with counts."""

import re

import numpy as np
import pytest

import symgen
from symgen.compiler.parallel import process_count
from symgen.jobs.generating import generated_files
from symgen.jobs.job import Job
from tests.support.shell import PENDULUM
from tests.support.tools import invoke, robot_file

JOINTS = ("shoulder", "elbow")
NAMES = ("inverse_dynamics", "gravity", "mass_matrix")


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("parameters", ["constant", "runtime"])
def test_generation_counts_functions_and_languages(count, parameters, tmp_path):
    steps = []
    job = Job.of(PENDULUM, quantities=NAMES, parameters=parameters)
    with process_count(count):
        generated_files(job, tmp_path / "out", ("c", "rust"), steps.append)
    assert steps[0] == "reading the robot"
    traced = [f"tracing: function {k + 1} of 3, {name}" for k, name in enumerate(NAMES)]
    assert steps[1:4] == traced and set(steps[1:-2]) == set(traced)
    assert steps[-2:] == [
        "writing code: language 1 of 2, c",
        "writing code: language 2 of 2, rust",
    ]


def test_identification_numbers_its_passes(tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    motion = tmp_path / "m.csv"
    assert invoke("excite", robot_file("pendulum"), "-o", motion, "--budget", "5").exit_code == 0
    head = motion.read_text().splitlines()[0]
    rows = np.loadtxt(motion, delimiter=",", skiprows=1)
    robot = symgen.compile(PENDULUM, "inverse_dynamics")
    index = [[head.split(",").index(f"{x}_{j}") for j in JOINTS] for x in ("q", "qd", "qdd")]
    tau = robot.inverse_dynamics(*(rows[:, columns] for columns in index))
    tau = tau + np.random.default_rng(0).normal(0, 1e-3, tau.shape)
    names = f"{head},{','.join(f'tau_{joint}' for joint in JOINTS)}"
    np.savetxt(motion, np.hstack([rows, tau]), delimiter=",", header=names, comments="")
    steps = []

    class Recorder:
        def __enter__(self):
            return steps.append

        def __exit__(self, *error):
            return False

    monkeypatch.setattr("symgen.cli.identify.progress", Recorder)
    done = invoke("identify", robot_file("pendulum"), motion)
    assert done.exit_code == 0, done.output
    passes = [step for step in steps if step.startswith("pass ")]
    rows = r"row \d+ of \d+"
    assert re.fullmatch(f"pass 1 over the log, finding the joint velocities: {rows}", passes[0])
    fitting = f"pass 2 over the log, fitting the parameters: {rows}"
    assert any(re.fullmatch(fitting, step) for step in passes)
    limiting = rf"pass \d+ over the log, limiting outliers, .*: {rows}"
    assert any(re.fullmatch(limiting, step) for step in passes)
    assert re.fullmatch(rf"pass \d+ over the log, evaluating the estimate: {rows}", passes[-1])
    assert not [step for step in steps if step.startswith("row ")]
