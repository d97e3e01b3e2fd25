"""Modules of few functions, and bounds of their errors."""

from functools import cache

import numpy as np

from symgen.jobs.job import Job
from symgen.proof.bounds import BoundedArray
from tests.support.tools import robot_file

CORE = ("inverse_dynamics", "gravity", "bias", "mass_matrix", "forward_dynamics")


@cache
def module(robot, scalar="double", quantities=CORE, **options):
    job = Job.of(robot_file(robot), scalar=scalar, quantities=quantities, **options)
    return job.module(job.load())


def at(*rows):
    """Exact numbers, a row an entry."""
    values = np.array(rows, float)
    return BoundedArray(values, np.zeros_like(values))
