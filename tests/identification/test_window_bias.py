"""What windows of derivatives do to an estimate is in its standard errors: it does not become less
with more rows, as noise does."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.simulated_logs import write
from symgen.identification.estimation.priors import Prior
from symgen.identification.estimation.run import identify
from symgen.identification.model.estimate import deviations
from symgen.identification.model.settings import Settings
from tests.support.term_logs import RECIPE, log

LONG = replace(RECIPE, duration=20.0)


def found(tmp_path, noise, friction="viscous", **options):
    """An estimate from positions and forces alone; next to no noise stands for very many rows."""
    job, loaded, path = log(tmp_path, lambda q, qd, qdd, load: 2.0 * qd, noise, LONG)
    with np.load(path) as stored:
        columns = {name: stored[name] for name in stored if not name.startswith("qd")}
    write(tmp_path / "derived.npz", columns)
    settings = Settings(friction=friction, **options)
    return identify(job, loaded, str(tmp_path / "derived.npz"), settings)


def off(made):
    """What the values are off by."""
    estimate = made.estimate
    true = estimate.mapping.base(estimate.mapping.prior)
    drives = [2.0 * (name == "viscous elbow") for name in estimate.friction]
    return estimate.values - np.concatenate([true, drives])


def told(made):
    return [note for note in made.notes if "the bias of the filter of derivatives" in note]


@pytest.mark.parametrize("friction", ["viscous", "viscous,coulomb"])
def test_windows_put_values_off_as_far_as_it_is_said(tmp_path, friction):
    """Without noise it is all that they are off by; a higher cutoff makes it less. Rows whose sign
    of friction is unknown by one of the windows alone are not what windows do."""
    made = found(tmp_path, 1e-6, friction, cutoff=6.0)
    wrong, estimate = off(made), made.estimate
    assert np.abs(wrong / estimate.random_errors).max() > 6
    assert np.abs(wrong / estimate.standard_errors).max() < 3
    large = np.abs(wrong) > 4 * estimate.random_errors
    assert large.sum() >= 2
    assert np.abs(estimate.bias[large] / wrong[large] - 1).max() < 0.3
    assert len(told(made)) == 1
    finer = found(tmp_path, 1e-6, friction, cutoff=12.0)
    assert np.abs(finer.estimate.bias).max() < 0.2 * np.abs(estimate.bias).max()


def test_standard_parameters_have_it_in_their_standard_errors(tmp_path):
    made = found(tmp_path, 1e-6, cutoff=6.0, full=True)
    estimate, b = made.estimate, len(made.estimate.mapping)
    prior = Prior(estimate.mapping, deviations(estimate.mapping, made.settings.prior_deviation))
    _, errors = prior.standard(estimate.base, estimate.covariance[:b, :b])
    assert np.array_equal(estimate.standard_errors_of_standard, errors)
    plain = replace(estimate, bias=None)
    assert (errors > 1.5 * prior.standard(plain.base, plain.covariance[:b, :b])[1]).any()


def test_where_noise_is_larger_they_do_next_to_nothing(tmp_path):
    made = found(tmp_path, 1e-2, cutoff=15.0)
    estimate = made.estimate
    assert np.all(estimate.standard_errors < 1.2 * estimate.random_errors)
    assert not told(made) and np.abs(off(made) / estimate.standard_errors).max() < 4


def test_accelerations_that_are_measured_have_no_windows(tmp_path):
    job, _, path = log(tmp_path, lambda q, qd, qdd, load: 2.0 * qd, recipe=replace(LONG, seed=4))
    made = identify(job, job.load(), path, Settings(friction="viscous"))
    assert made.estimate.bias is None
