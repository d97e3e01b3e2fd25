"""Least squares among what is physical: bodies that can be, and friction that is not negative."""

import numpy as np
import pytest
from tools import robot_file

from benchmarks.simulated_logs import Motion, Recipe, Sensors, simulated, write
from symgen.identification.bodies import free_links
from symgen.identification.programme import Programme
from symgen.identification.run import identify
from symgen.identification.settings import Settings
from symgen.jobs.job import Job

FILE = robot_file("scara")
MOTION = Motion(frequency=0.3, reach=0.9)


def both(tmp_path, noise, seed, friction):
    """Least squares without and with bounds of the same log, with so much friction of each kind."""
    job = Job.of(FILE, friction="runtime:viscous,coulomb")
    loaded = job.load()
    names = loaded.model.joint_names
    rubbing = {f"{kind} {name}": friction for kind in ("viscous", "coulomb") for name in names}
    recipe = Recipe(6.0, 100.0, seed, MOTION, Sensors(noise=noise), rubbing)
    write(tmp_path / "log.npz", simulated(job, loaded, recipe))
    log, terms = str(tmp_path / "log.npz"), "viscous,coulomb"
    made = [
        identify(Job.of(FILE), loaded, log, Settings(friction=terms, consistent=bounds))
        for bounds in (False, True)
    ]
    return made[0].estimate, made[1]


def feasible(estimate):
    """Whether some bodies have the base parameters."""
    programme = Programme(
        tuple(free_links(estimate.mapping.model, estimate.mapping)), estimate.mapping
    )
    return programme.nearest(estimate.base) is not None


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bounds_hold_and_nothing_physical_fits_better(tmp_path, seed):
    """The truth is physical, so it cannot be nearer to the free least squares."""
    free, result = both(tmp_path, 0.5, seed, 0.0)
    found = result.estimate
    b = len(found.mapping)
    assert (free.values[b:] < 0).any(), "the law needs a log that breaks a bound"
    assert (found.values[b:] >= 0).all() and feasible(found)
    truth = np.concatenate([found.mapping.base(found.mapping.prior), np.zeros(len(found.friction))])
    off = [np.linalg.norm(free.factor @ (x - free.values)) for x in (found.values, truth)]
    assert 0 < off[0] <= off[1] * (1 + 1e-6)
    assert any("consistent bodies and drives" in note for note in result.notes)


def test_without_a_bound_it_is_least_squares(tmp_path):
    free, result = both(tmp_path, 0.002, 3, 2.0)
    assert feasible(free)
    off = np.abs((result.estimate.values - free.values) / free.naive_errors)
    assert off.max() < 0.02
