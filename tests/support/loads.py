"""Robots with loads, and estimates of their parameters."""

from functools import cache

import numpy as np

from symgen.identification.model.estimate import Estimate
from symgen.identification.model.problem import torque_mapping
from symgen.jobs.job import Job
from symgen.mechanics.inertia import inertial_parameters_of

M, C, TENSOR = 1.5, np.array([0.02, -0.03, 0.08]), np.diag([0.004, 0.005, 0.003])


LOAD = inertial_parameters_of(
    np.block(
        [
            [np.trace(TENSOR) / 2 * np.eye(3) - TENSOR + M * np.outer(C, C), M * C[:, None]],
            [M * C[None], np.array([[M]])],
        ]
    )
)


@cache
def robot(file):
    job = Job.of(file)
    loaded = job.load()
    return job, loaded, torque_mapping(loaded.model)


def estimate(file, base, spread=1e-3):
    """An estimate with these base parameters and equal standard errors relative to their size."""
    mapping = robot(file)[2]
    factor = np.diag(1 / (spread * (np.abs(base) + 0.01)))
    return Estimate(mapping, (), np.asarray(base), factor, (), 1.0, 1.0, np.zeros(0))
