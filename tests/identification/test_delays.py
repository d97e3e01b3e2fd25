"""Delays of forces that are given are taken off."""

import json

import numpy as np
import pytest

from benchmarks.simulated_logs import Motion, Recipe, exact, moved, write
from symgen.jobs.job import Job
from tests.support.tools import invoke, robot_file

FILE = robot_file("scara")
RECIPE = Recipe(duration=16.0, rate=250.0, seed=3, motion=Motion(frequency=0.3, reach=0.9))
LATE = (0.0103, -0.0062, 0.0, 0.0185)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """Forces of each joint come at a time of their own; steps are uneven."""
    job = Job.of(FILE)
    loaded = job.load()
    random = np.random.default_rng(2)
    t = np.cumsum(random.choice([0.004, 0.005], round(RECIPE.duration * RECIPE.rate)))
    q, qd, qdd = moved(loaded.model, RECIPE, t)
    names = loaded.model.joint_names
    tau = np.empty_like(q)
    for k, late in enumerate(LATE):
        before = moved(loaded.model, RECIPE, t - late)
        tau[:, k] = (exact(job, loaded, RECIPE, *before) + 2.0 * before[1])[:, k]
    tau += random.normal(size=tau.shape) * 0.01 * tau.std(0)
    columns = {"t": t}
    for prefix, rows in (("q", q), ("qd", qd), ("qdd", qdd), ("tau", tau)):
        columns |= {f"{prefix}_{name}": x for name, x in zip(names, rows.T, strict=True)}
    path = tmp_path_factory.mktemp("late") / "log.npz"
    write(path, columns)
    return path, names


def test_delays_that_are_given_are_taken_off(log):
    path, names = log
    given = ",".join(f"{name}={late}" for name, late in zip(names, LATE, strict=True))
    plain, found = (
        json.loads(invoke("identify", FILE, path, "--friction", "viscous", *more, "--json").stdout)
        for more in ((), ("--delay", given))
    )
    for before, after in zip(plain["channels"], found["channels"], strict=True):
        assert after["residual_rms"] < 1.02 * before["residual_rms"]
    assert found["channels"][0]["residual_rms"] < 0.3 * plain["channels"][0]["residual_rms"]


@pytest.mark.parametrize(
    ("delay", "said"),
    [
        ("x", "give a time in s"),
        ("auto", "give a time in s"),
        ("knee=0.1", "no measured joint"),
        ("3", "give a time in s"),
    ],
)
def test_delays_that_are_none(log, delay, said):
    done = invoke("identify", FILE, log[0], "--delay", delay)
    assert done.exit_code == 2 and said in " ".join(done.output.split())
