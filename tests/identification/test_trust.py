"""How far the robot's file is trusted: as parts of the log that take no part in the fit say."""

import re
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.simulated_logs import write
from symgen.identification.estimation.result import ExcitationError
from symgen.identification.estimation.run import identify
from symgen.identification.model.settings import Settings
from tests.support.term_logs import RECIPE, log

LAW = {"added": lambda q, qd, qdd, load: 2.0 * qd + np.sign(qd), "noise": 1.0}
SETTINGS = Settings(friction="auto", held_out=0.6)


def wrong_prior(tmp_path, mapping, factor):
    """A file in which every body has `factor` times its mass and inertia."""
    rows = mapping.by_body(factor * mapping.prior)
    lines = [
        f'[bodies."{name}"]\n' + "\n".join(f"{key} = {x!r}" for key, x in ten.items())
        for name, ten in rows.items()
    ]
    (tmp_path / "prior.toml").write_text("\n".join(lines), encoding="utf-8")
    return str(tmp_path / "prior.toml")


def prior_deviation(found):
    """The relative deviation of the prior by the note on it; None without one."""
    notes = [re.search(r"relative deviation (\S+)\)", note) for note in found.notes]
    return next((float(match[1]) for match in notes if match), None)


def held_out(estimate):
    return np.array([c.validation_residual_rms for c in estimate.channels])


def test_a_file_that_is_right_helps_a_short_log_and_one_that_is_wrong_does_not_harm(tmp_path):
    """The prior takes the place of what a short, noisy log does not tell; a file that is off by a
    factor of 5 counts for next to nothing."""
    job, loaded, path = log(tmp_path, **LAW, recipe=replace(RECIPE, duration=4.0, rate=100.0))
    alone = identify(job, loaded, path, replace(SETTINGS, prior_deviation=1e6))
    right = identify(job, loaded, path, SETTINGS)
    assert prior_deviation(right) == pytest.approx(0.3)
    assert any("stay near those of the robot file" in note for note in right.notes)
    true = right.estimate.mapping.base(right.estimate.mapping.prior)
    off = [np.abs(one.estimate.base - true).max() for one in (alone, right)]
    assert off[1] < 0.7 * off[0]
    prior = wrong_prior(tmp_path, right.estimate.mapping, 5.0)
    wrong = identify(job, loaded, path, replace(SETTINGS, prior=prior))
    assert (prior_deviation(wrong) or 1.0) > 0.5
    assert np.all(held_out(wrong.estimate) < 1.1 * held_out(alone.estimate))


def test_only_what_is_chosen_automatically_has_a_prior(tmp_path):
    job, loaded, path = log(tmp_path, **LAW, recipe=replace(RECIPE, duration=4.0, rate=100.0))
    found = identify(job, loaded, path, replace(SETTINGS, friction="viscous,coulomb"))
    assert prior_deviation(found) is None


def still(tmp_path, part):
    """A log whose last joint stands still in the first part of it, rates 0 to the bit."""
    job, loaded, path = log(tmp_path, **LAW, recipe=replace(RECIPE, duration=4.0, rate=100.0))
    with np.load(path) as stored:
        columns = {name: stored[name].copy() for name in stored}
    for name, value in (("q", 0.3), ("qd", 0.0), ("qdd", 0.0)):
        columns[f"{name}_quill_turn"][: round(400 * part)] = value
    write(tmp_path / "still.npz", columns)
    return job, loaded, str(tmp_path / "still.npz")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"friction": "viscous,load"},
            "some parameters are not identifiable from the training rows",
        ),
        (
            {"friction": "viscous", "loss": "huber"},
            "some parameters are not identifiable from the training rows",
        ),
    ],
)
def test_a_joint_that_stands_still_in_the_rows_for_the_estimate_is_said(tmp_path, options, said):
    with pytest.raises(ExcitationError, match=said):
        identify(*still(tmp_path, 0.85), Settings(**options))


@pytest.mark.parametrize("part", [0.85, 1.0])
@pytest.mark.parametrize("options", [{"friction": "auto"}, {"friction": "stribeck"}])
def test_a_prior_decides_what_stands_still_whatever_is_chosen(tmp_path, part, options):
    """Speeds and terms are chosen without what the log does not tell, and a joint that never moves
    has no speed to choose from."""
    made = identify(*still(tmp_path, part), Settings(full=True, **options))
    assert np.isfinite(made.estimate.values).all()
    said = " ".join(made.notes)
    assert (
        "the prior determines these" in said
        or "stribeck quill_turn cannot be distinguished from" in said
    )
    assert ("stribeck quill_turn" in made.estimate.friction) <= (part < 1)
