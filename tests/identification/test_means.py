"""Fits of means of equations: what is fast in the forces does not decide what a joint's rows weigh,
and white noise is judged as it was."""

import numpy as np
import pytest

from benchmarks.simulated_logs import write
from symgen.identification.data.open_log import open_log
from symgen.identification.estimation.run import identify
from symgen.identification.model.equations import LinearEquations
from symgen.identification.model.settings import Settings
from symgen.identification.prediction.prediction_errors import Points
from tests.support.term_logs import log


def test_means_are_of_what_counts_and_keep_the_deviation():
    random = np.random.default_rng(0)
    rows, used = random.normal(size=(9001, 2, 3)), random.random((9001, 2)) < 0.7
    x, noise = np.array([1.0, -2.0, 3.0]), random.normal(size=(9001, 2))
    used[40:50, 1] = False
    made = LinearEquations(rows, rows @ x + noise, used).means(10)
    assert made.used.shape == (901, 2) and not made.used[4, 1] and made.used[4, 0]
    own = used[20:30, 0]
    assert made.measured[2, 0] == pytest.approx(
        (rows[20:30, 0] @ x + noise[20:30, 0])[own].sum() / np.sqrt(own.sum())
    )
    left = (made.measured - made.regressor @ x)[made.used]
    assert np.std(left) == pytest.approx(1.0, abs=0.05)


def derived(tmp_path, shaking):
    """A log of positions and forces alone, the second joint's with a vibration that no motion has
    (N m)."""
    job, loaded, path = log(tmp_path, lambda q, qd, qdd, load: 2.0 * qd)
    names = [
        "t",
        *(f"{group}_{name}" for group in ("q", "tau") for name in loaded.model.joint_names),
    ]
    rows = np.concatenate(list(open_log(path).chunks(names)))
    columns = dict(zip(names, rows.T, strict=True))
    columns[f"tau_{loaded.model.joint_names[1]}"] += shaking * np.sin(2 * np.pi * 61 * rows[:, 0])
    write(tmp_path / "log.npz", columns)
    return identify(job, loaded, path, Settings(friction="viscous", cutoff=6.0)).estimate


def test_a_vibration_costs_a_joint_nothing_of_its_weight(tmp_path):
    calm, shaken = derived(tmp_path, 0.0), derived(tmp_path, 1.0)
    assert shaken.channels[1].residual_rms > 10 * calm.channels[1].residual_rms
    assert shaken.channels[1].deviation < 0.3 * shaken.channels[1].residual_rms
    assert calm.channels[1].deviation == pytest.approx(calm.channels[1].residual_rms, rel=0.2)
    true = np.concatenate([shaken.mapping.base(shaken.mapping.prior), [0.0, 2.0, 0.0, 0.0]])
    for made in (calm, shaken):
        assert np.abs((made.values - true) / made.standard_errors).max() < 4
    assert np.all(shaken.standard_errors < 5 * calm.standard_errors)


def test_points_of_a_picture_keep_no_others_alive():
    """Memory of a prediction stays what it is however long the log."""
    rows = np.zeros((1000, 2))
    some = Points(rows[:, 0], rows, rows, rows, rows, rows > 0).rows(slice(None, None, 100))
    assert all(x.base is None and len(x) == 10 for x in vars(some).values())
