"""Drive gains from a run without and a run with a load of known mass."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.simulated_logs import Motion, Recipe, exact, moved, write
from symgen.jobs.job import Job
from tests.support.tools import invoke, robot_file

ARM = robot_file("rx90")
MASS = 3.0
LOAD = (0.02, -0.05, 0.12)


@cache
def truth():
    names = Job.of(ARM).load().model.joint_names
    return dict(zip(names, 10.0 + 1.5 * np.arange(len(names)), strict=True))


def loaded_arm(folder):
    """The arm with a load on its last link, as a file of its own."""
    text = Path(ARM).read_text(encoding="utf-8")
    last = Job.of(ARM).load().model.moving[-1].name
    x, y, z = LOAD
    more = (
        f'<link name="load"><inertial><origin xyz="{x} {y} {z}"/><mass value="{MASS}"/>'
        '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.008"/></inertial></link>'
        f'<joint name="hold" type="fixed"><parent link="{last}"/><child link="load"/></joint>'
    )
    path = folder / "loaded.urdf"
    path.write_text(text.replace("</robot>", more + "</robot>"))
    return str(path)


def currents(folder, file, seed, noise=0.01):
    """A log of currents of a robot, with friction that grows with the load."""
    job = Job.of(file, friction="runtime:viscous,coulomb,offset")
    loaded, names = job.load(), list(truth())
    rubbing = {f"viscous {n}": 2.0 for n in names} | {f"coulomb {n}": 3.0 for n in names}
    recipe = Recipe(duration=15.0, rate=100.0, seed=seed, friction=rubbing, motion=Motion(0.2))
    t = np.arange(1500) / 100.0
    q, qd, qdd = moved(loaded.model, recipe, t)
    tau = exact(job, loaded, recipe, q, qd, qdd)
    i = tau / np.array(list(truth().values()))
    i += np.random.default_rng(seed).normal(size=i.shape) * noise * np.sqrt(np.mean(i**2, axis=0))
    groups = {"actual_q": q, "actual_qd": qd, "actual_current": i}
    columns = {f"{g}_{k}": x[:, k] for g, x in groups.items() for k in range(len(names))}
    path = folder / f"log{seed}.csv"
    write(path, {"timestamp": t, **columns})
    return path


def test_gains_are_found_and_serve_to_identify(tmp_path):
    without, heavy = currents(tmp_path, ARM, 1), currents(tmp_path, loaded_arm(tmp_path), 2)
    options = ("--mass", MASS, "-o", tmp_path / "gains.toml", "--json")
    done = invoke("gains", ARM, without, heavy, *options)
    assert done.exit_code == 0, done.output
    for name, row in json.loads(done.stdout)["gains"].items():
        error = max(row["standard_error"], 1e-3 * truth()[name])
        assert abs(row["gain"] - truth()[name]) < 4 * error, (name, row)
        assert row["standard_error"] < 0.05 * row["gain"], (name, row)
    found = invoke("identify", ARM, without, "--columns", tmp_path / "gains.toml")
    assert found.exit_code == 0, found.output


def test_runs_that_do_not_tell_the_gains(tmp_path):
    without = currents(tmp_path, ARM, 1)
    said = invoke("gains", ARM, without, without, "--mass", MASS)
    assert said.exit_code == 2 and "the gains cannot be estimated" in said.stderr
    said = invoke("gains", ARM, without, without, "--mass", "-1")
    assert said.exit_code == 2 and "give the load's mass in kg" in said.stderr
    said = invoke("gains", ARM, without, without, "--mass", "1", "--link", "none")
    assert said.exit_code == 2 and "no moving link has this name" in said.stderr


def test_a_file_of_actuators_may_have_the_constants(tmp_path):
    """Of the motor, times the gear ratio, as on the command line."""
    path = currents(tmp_path, ARM, 1)
    rows = [
        f'[joints."{n}"]\ntorque_constant = {k / 50}\ngear_ratio = 50.0\n'
        for n, k in truth().items()
    ]
    (tmp_path / "drives.toml").write_text("\n".join(rows))
    asked = [f"--torque-constant={n}={k / 50}" for n, k in truth().items()]
    asked += [f"--gear-ratio={n}=50" for n in truth()]
    one, other = (
        json.loads(invoke("identify", ARM, path, "--json", *options).stdout)["parameters"]
        for options in (["--actuators", tmp_path / "drives.toml"], asked)
    )
    for name, row in one.items():
        assert row["estimate"] == pytest.approx(other[name]["estimate"], rel=1e-9), name
    (tmp_path / "drives.toml").write_text("\n".join(rows[1:]))
    said = invoke("identify", ARM, path, "--actuators", tmp_path / "drives.toml")
    assert said.exit_code == 2 and "set torque_constant in an actuator file" in said.stderr
