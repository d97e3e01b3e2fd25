"""Wrenches at several joints, with and without the forces of joints."""

import json
from functools import cache

import numpy as np
import pytest

import symgen
from benchmarks.identifiability import chain
from benchmarks.simulated_logs import Recipe, exact, moved, write
from symgen.identification.model.equations import random_states
from symgen.identification.model.problem import problem_for
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.model import PARAMETER_NAMES
from tests.support.tools import invoke

JOINTS = ("joint1", "joint2", "joint3")
COMPONENTS = ("fx", "fy", "fz", "tx", "ty", "tz")
RUBBING = {f"viscous {j}": 0.5 for j in JOINTS} | {f"coulomb {j}": 0.8 for j in JOINTS}


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "chain.urdf"
    path.write_text(chain(3))
    return str(path)


@cache
def recorded(file):
    """A log with the forces of joints and the wrenches at each, 1 % noise."""
    job = Job.of(file, friction="runtime:viscous,coulomb")
    loaded, recipe = job.load(), Recipe(duration=10.0, rate=100.0, friction=RUBBING)
    random, t = np.random.default_rng(0), np.arange(1000) / 100.0
    q, qd, qdd = moved(loaded.model, recipe, t)

    def noisy(y):
        return y + random.normal(size=y.shape) * 0.01 * np.sqrt(np.mean(y**2, axis=0) + 1e-9)

    columns = {"t": t}
    groups = {"q": q, "qd": qd, "qdd": qdd, "tau": noisy(exact(job, loaded, recipe, q, qd, qdd))}
    columns |= {f"{g}_{j}": x[:, k] for g, x in groups.items() for k, j in enumerate(JOINTS)}
    plain = Job.of(file)
    for k, j in enumerate(JOINTS):
        at = Recipe(duration=10.0, rate=100.0, wrench=f"link{k + 1}")
        wrench = noisy(exact(plain, loaded, at, q, qd, qdd))
        columns |= {f"wrench_{j}_{c}": wrench[:, i] for i, c in enumerate(COMPONENTS)}
    return columns


def wholly(mapping, link):
    """Whether all ten parameters of a link follow from the base parameters: their unit vectors lie
    in the rows of K."""
    rows = np.linalg.svd(mapping.factors, full_matrices=False)[2]
    k = 10 * mapping.bodies.index(link)
    return np.allclose(np.linalg.norm(rows[:, k : k + len(PARAMETER_NAMES)], axis=0), 1, atol=1e-9)


def test_wrenches_at_every_joint_see_26_of_30_and_the_outer_links_wholly(arm):
    """As published for an arm of three joints (Cărmizaru 2022)."""
    job = Job.of(arm)
    loaded = job.load()
    mapping = problem_for(job, loaded, Settings(sensor="wrench:joint1,joint2,joint3")).mapping
    assert len(mapping) == 26 and len(mapping.standard) == 30
    assert [wholly(mapping, f"link{k}") for k in (1, 2, 3)] == [False, True, True]
    first = problem_for(job, loaded, Settings(sensor="wrench:joint1")).mapping
    assert len(first) == 20 and not wholly(first, "link2") and not wholly(first, "link3")
    both = problem_for(job, loaded, Settings(sensor="torque+wrench:joint1,joint2,joint3")).mapping
    assert len(both) == 26, "the forces of joints are components of these wrenches"


@pytest.mark.parametrize(
    ("sensor", "options", "count"),
    [
        ("wrench:joint1,joint2,joint3", (), 26),
        ("torque+wrench:joint3", ("--friction", "viscous,coulomb"), 24),
        ("torque+wrench:joint1,joint3", ("--friction", "viscous,coulomb"), 29),
    ],
)
def test_a_log_of_several_sensors_gives_the_truth(arm, tmp_path, sensor, options, count):
    columns = dict(recorded(arm))
    if sensor.endswith(":joint3"):
        columns |= {f"wrench_{c}": columns[f"wrench_joint3_{c}"] for c in COMPONENTS}
    write(tmp_path / "log.csv", columns)
    done = invoke("identify", arm, tmp_path / "log.csv", "--sensor", sensor, "--json", *options)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["parameters"]
    for name, row in found.items():
        error = max(row["standard_error"], 1e-9)
        assert abs(row["estimate"] - RUBBING.get(name, row["prior"])) < 4.5 * error, name
    assert len(found) == count


def test_sensors_that_cannot_be(arm, tmp_path):
    write(tmp_path / "log.csv", recorded(arm))

    def refused(sensor, *more):
        done = invoke("identify", arm, tmp_path / "log.csv", "--sensor", sensor, *more)
        assert done.exit_code == 2 and done.stdout == "", done.output
        return done.stderr

    for sensor in ("force", "wrench:", "torque+", "torque+force"):
        assert "use torque, wrench:JOINT,JOINT or torque+wrench:JOINT" in refused(sensor)
    assert "no moving joint is called 'none'" in refused("wrench:joint1,none")
    assert "a measured wrench does not depend on the friction" in refused(
        "wrench:joint1", "--friction", "viscous"
    )
    assert "has no column 'wrench_fx'" in refused("wrench:joint1")


def test_random_states_are_states_of_the_robot():
    """Four of their positions are a unit quaternion where a joint has one."""
    built = symgen.Builder("turning").link("base").link("body", 1.0, inertia=(1, 0, 0, 1, 0, 1))
    robot = symgen.Robot(built.joint("j", "ball", "base", "body"))
    q, qd, qdd = random_states(coupling_of(robot.model))
    assert q.shape[1] == 4 and qd.shape == qdd.shape == (len(q), 3)
    assert np.allclose(np.linalg.norm(q, axis=1), 1.0, rtol=1e-15)
