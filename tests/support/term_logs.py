"""A log of an arm with friction and springs."""

import numpy as np

from benchmarks.simulated_logs import Motion, Recipe, exact, moved, write
from symgen.jobs.job import Job
from tests.support.tools import robot_file

FILE = robot_file("scara")


RECIPE = Recipe(duration=10.0, rate=250.0, seed=3, motion=Motion(frequency=0.2, reach=0.9))


def log(tmp_path, added, noise=0.01, recipe=RECIPE):
    """A log of an arm whose second joint has more than the dynamics."""
    job = Job.of(FILE)
    loaded = job.load()
    t = np.arange(round(recipe.duration * recipe.rate)) / recipe.rate
    q, qd, qdd = moved(loaded.model, recipe, t)
    tau = exact(job, loaded, recipe, q, qd, qdd)
    extra = added(q[:, 1], qd[:, 1], qdd[:, 1], tau[:, 1])
    tau[:, 1] += extra
    tau += np.random.default_rng(1).normal(size=tau.shape) * noise * tau.std(0)
    columns, names = {"t": t}, loaded.model.joint_names
    for prefix, rows in (("q", q), ("qd", qd), ("qdd", qdd), ("tau", tau)):
        columns |= {f"{prefix}_{name}": x for name, x in zip(names, rows.T, strict=True)}
    path = tmp_path / "log.npz"
    write(path, columns)
    return job, loaded, str(path)
