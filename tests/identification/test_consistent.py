"""Least squares among what is physical: bodies that can be, and friction that is not negative."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.simulated_logs import Motion, Recipe, Sensors, simulated, write
from symgen.errors import OptionError
from symgen.identification.consistency.entropic import Entropic
from symgen.identification.consistency.nearest_bodies import free_links
from symgen.identification.consistency.sdp import Programme
from symgen.identification.estimation.run import identify
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from symgen.mechanics.inertia_matrices import pseudo_inertia_matrix
from tests.support.tools import robot_file

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
    assert any("the constraints of --consistent" in note for note in result.notes)


def test_without_a_bound_it_is_least_squares(tmp_path):
    free, result = both(tmp_path, 0.002, 3, 2.0)
    assert feasible(free)
    off = np.abs((result.estimate.values - free.values) / free.naive_errors)
    assert off.max() < 0.02


# -- entropic prior --------------------------------------------------------------------------------


def entropic(tmp_path, noise, seed, weight, friction=0.0):
    """Without and with the entropic prior."""
    names = both(tmp_path, noise, seed, friction)
    settings = Settings(friction="viscous,coulomb", consistent=True, entropic=weight)
    job = Job.of(FILE)
    return names[0], identify(job, job.load(), str(tmp_path / "log.npz"), settings).estimate


def solid(mapping, standard):
    """Least eigenvalue of each body's pseudo-inertia."""
    tens = standard[: 10 * len(mapping.bodies)].reshape(-1, 10)
    return np.array([np.linalg.eigvalsh(pseudo_inertia_matrix(ten))[0] for ten in tens])


def test_bodies_of_the_entropic_prior_are_definite_and_optimal(tmp_path):
    """Where nothing physical is near, and no step from them lowers the cost."""
    free, found = entropic(tmp_path, 0.5, 0, 1.0)
    mapping, b = found.mapping, len(found.mapping)
    assert np.allclose(mapping.base(found.standard), found.base, rtol=1e-9, atol=1e-12)
    values = np.concatenate([mapping.base(-mapping.prior), free.values[b:]])
    assert not feasible(replace(free, values=values)) and (values[b:] < 0).any()
    programme = Programme(tuple(free_links(mapping.model, mapping)), mapping)
    for weight in (1e-2, 10.0):
        problem = Entropic(programme, values, free.factor, weight)
        v, standard = problem.solution([b + k for k in range(len(found.friction))])
        assert (solid(mapping, standard) > 0).all() and (v[b:] >= 0).all()
        there = standard - mapping.prior + programme.embedding @ programme.start
        x, random = np.linalg.lstsq(programme.embedding, there)[0], np.random.default_rng(0)
        least = problem.cost(x, v)
        for size in (1e-4, 1e-2):
            for _ in range(20):
                other = x + size * random.standard_normal(len(x))
                base = programme.matrix @ other + programme.constant
                assert problem.cost(other, np.append(base, v[b:])) >= least * (1 - 1e-9)


def test_what_the_log_does_not_tell_stays_at_the_prior(tmp_path):
    """The truth is the prior: directions that no force depends on do not move, and a large weight
    leaves nothing but the prior."""
    _, found = entropic(tmp_path, 0.002, 3, 1e-3, 2.0)
    mapping = found.mapping
    hidden = np.eye(len(mapping.prior)) - np.linalg.pinv(mapping.factors) @ mapping.factors
    change = found.standard - mapping.prior
    assert np.abs(hidden @ change).max() < 0.05 * np.abs(mapping.prior).max()
    _, held = entropic(tmp_path, 0.5, 0, 1e9)
    assert np.allclose(held.standard, mapping.prior, atol=1e-3 * np.abs(mapping.prior).max())


def test_with_little_weight_it_is_consistent_least_squares(tmp_path):
    free, found = entropic(tmp_path, 0.002, 3, 1e-9, 2.0)
    assert np.abs((found.values - free.values) / free.naive_errors).max() < 0.02


def test_an_entropic_prior_belongs_to_consistent_bodies():
    for options in ({}, {"consistent": True, "full": True}):
        with pytest.raises(OptionError, match="--entropic: this prior needs --consistent"):
            Settings(entropic=1.0, **options)
