"""Terms of friction, rotors and springs: each is found in a log that has it, and chosen where it is
there."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.simulated_logs import moved, write
from symgen.identification.data.samples import PreslidingStates
from symgen.identification.estimation.run import identify
from symgen.identification.model.drive_columns import DEFAULT_LAWS
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from tests.support.term_logs import FILE, RECIPE, log
from tests.support.tools import invoke

WIDTH = 0.01
"""The width of friction (rad/s) in a law that needs one."""
LAWS = {
    "viscous": lambda q, qd, qdd, load: 2.0 * qd,
    "coulomb": lambda q, qd, qdd, load: 2.0 * np.sign(qd),
    "offset": lambda q, qd, qdd, load: 2.0 + 0 * qd,
    "asymmetric": lambda q, qd, qdd, load: 2.0 * np.abs(qd),
    "power": lambda q, qd, qdd, load: 2.0 * qd / np.sqrt(np.hypot(qd, WIDTH)),
    "load": lambda q, qd, qdd, load: 0.1 * np.abs(load) * np.sign(qd),
    "armature": lambda q, qd, qdd, load: 2.0 * qdd,
    "stiffness": lambda q, qd, qdd, load: 2.0 * q,
}
"""Written down here once more, with their coefficients."""


def value(found, name):
    k = found.estimate.names.index(name)
    return found.estimate.values[k], found.estimate.standard_errors[k]


@pytest.mark.parametrize("term", LAWS)
def test_each_term_is_found(tmp_path, term):
    job, loaded, path = log(tmp_path, LAWS[term])
    asked = {"springs": True} if term == "stiffness" else {"armature": term == "armature"}
    friction = term if term in ("viscous", "coulomb", "offset") else f"viscous,coulomb,{term}"
    settings = Settings(
        friction="viscous" if term in ("armature", "stiffness") else friction,
        friction_width=str(WIDTH) if term == "power" else "",
    )
    found = identify(job, loaded, path, replace(settings, **asked))
    x, error = value(found, f"{term} {loaded.model.joint_names[1]}")
    assert abs(x - (0.1 if term == "load" else 2.0)) < 4 * error < 1.0


@pytest.mark.parametrize(
    ("term", "speed"),
    [("stribeck", 0.06), ("stribeck", 0.25), ("saturating", 0.2), ("coulomb", 0.005)],
)
def test_speeds_are_found_by_variable_projection(tmp_path, term, speed):
    """The speed is a candidate times the joint's largest rate; its coefficient comes with it."""
    job = Job.of(FILE)
    t = np.arange(round(RECIPE.duration * RECIPE.rate)) / RECIPE.rate
    fastest = np.abs(moved(job.load().model, RECIPE, t)[1][:, 1]).max()
    own = speed * fastest
    laws = {
        "stribeck": lambda q, qd, qdd, load: 2.0 * np.sign(qd) * np.exp(-((qd / own) ** 2)),
        "saturating": lambda q, qd, qdd, load: 2.0 * np.tanh(qd / own),
        "coulomb": lambda q, qd, qdd, load: 2.0 * np.tanh(qd / own),
    }
    job, loaded, path = log(tmp_path, laws[term], noise=0.001)
    is_width = term == "coulomb"
    friction, width = ("viscous,coulomb", "auto") if is_width else (f"viscous,coulomb,{term}", "")
    settings = Settings(friction=friction, friction_width=width)
    found = identify(job, loaded, path, settings)
    name = f"{term} {loaded.model.joint_names[1]}"
    x, error = value(found, name)
    shapes = dict(zip(found.estimate.friction, found.estimate.shapes, strict=True))
    assert (
        dict(shapes[name])["friction_width" if is_width else f"{term}_velocity"]
        == pytest.approx(own)
        and abs(x - 2.0) < 4 * error < 1.0
    )


def test_the_default_finds_friction_that_grows_with_the_load(tmp_path):
    """Load-dependent friction of the second joint is found by the default terms."""
    job, loaded, path = log(
        tmp_path,
        lambda q, qd, qdd, load: 3 * qd + (1 + 0.2 * np.abs(load)) * np.sign(qd),
        noise=0.003,
    )
    found = identify(job, loaded, path, Settings())
    joint = loaded.model.joint_names[1]
    parts = [value(found, f"{term} {joint}") for term in ("load", "presliding_load")]
    assert sum(x for x, _ in parts) == pytest.approx(0.2, abs=0.03)
    assert {name.split()[0] for name in found.estimate.friction} >= {*DEFAULT_LAWS} - {"armature"}
    assert all(
        c.validation_residual_rms < 0.03 * c.validation_measured_rms
        for c in found.estimate.channels
    )


def test_a_joint_that_moves_at_the_first_sample_has_slid_before():
    """A steady motion has the same states wherever a log begins, and the jitter of an encoder at
    standstill leaves the state near 0."""
    state = PreslidingStates(np.eye(2), np.zeros(2), np.full((2, 1), 1e-3))
    steps = np.arange(50.0)[:, None]
    q = np.hstack([-2e-3 * steps, 1e-5 * (steps % 2)])
    assert np.allclose(state.states(q)[:, 0], -1, atol=1e-4)
    assert np.allclose(state.states(q)[20:, 0], state.states(q[20:])[:, 0], atol=1e-4)
    assert np.abs(state.states(q)[:, 1]).max() < 0.02


def test_the_presliding_state_is_found(tmp_path):
    """A Dahl state with a distance between two candidates, integrated here step by step; the model
    predicts the held-out rows, reversals included."""

    def dahl(q, qd, qdd, load):
        state, states = 0.0, []
        for step in np.diff(q, prepend=q[0]):
            state = np.sign(step) + (state - np.sign(step)) * np.exp(-abs(step) / 2e-3)
            states.append(state)
        return 2.0 * np.array(states)

    job, loaded, path = log(tmp_path, dahl, noise=0.003)
    found = identify(job, loaded, path, Settings(friction="presliding"))
    x, _ = value(found, f"presliding {loaded.model.joint_names[1]}")
    plain = identify(job, loaded, path, Settings(friction="coulomb"))
    errors = [f.estimate.channels[1].validation_residual_rms for f in (found, plain)]
    assert x == pytest.approx(2.0, abs=0.05) and errors[0] < 0.5 * errors[1]


def test_what_no_motion_tells_apart_is_left_out_and_said(tmp_path):
    job, loaded, path = log(tmp_path, LAWS["viscous"])
    found = identify(job, loaded, path, Settings(friction="viscous", armature=True))
    first = loaded.model.joint_names[0]
    assert any(
        f"armature {first}" in note and "cannot be distinguished" in note for note in found.notes
    )
    assert f"armature {first}" not in found.estimate.friction


def test_prediction_of_an_estimate_and_of_the_files(tmp_path, monkeypatch):
    """An estimate predicts its log down to the noise; the file, without friction, does not. Pictures are laid out and not drawn."""
    for module in ("plots", "prediction_report"):
        monkeypatch.setattr(
            f"symgen.identification.report.{module}.encoded", lambda figure, kind: b""
        )
    *_, path = log(tmp_path, LAWS["coulomb"])
    out = tmp_path / "out"
    done = invoke("identify", FILE, path, "--friction", "viscous,coulomb", "-o", out)
    assert done.exit_code == 0, done.output
    stored = str(out / "model.toml")
    said = invoke("predict", FILE, path, "--estimate", stored, "--json", "-o", tmp_path / "seen")
    good = json.loads(said.stdout)["channels"]
    of_folder = invoke("predict", FILE, path, "--estimate", out, "--json")
    for again, before in zip(json.loads(of_folder.stdout)["channels"], good, strict=True):
        assert again["all"] == pytest.approx(before["all"], rel=1e-9)
    poor = json.loads(invoke("predict", FILE, path, "--json").stdout)["channels"]
    assert all(c["all"]["relative"] < 0.011 for c in good)
    assert poor[1]["all"]["relative"] > 0.05 and good[1]["moving"]["rows"] < good[1]["all"]["rows"]
    assert {p.name for p in (tmp_path / "seen").iterdir()} == {
        "prediction.json",
        "predicted.png",
        "residuals.png",
    }


def test_validation_is_on_another_log(tmp_path):
    *_, path = log(tmp_path, LAWS["viscous"])
    (tmp_path / "other").mkdir()
    *_, other = log(tmp_path / "other", LAWS["coulomb"], recipe=replace(RECIPE, seed=5))
    said = invoke("identify", FILE, path, "--friction", "viscous", "--validation", other, "--json")
    channels = json.loads(said.stdout)["validation"]["channels"]
    assert channels[0]["all"]["relative"] < 0.011 < 0.05 < channels[1]["all"]["relative"]


def test_a_robust_loss_is_not_led_astray_by_outliers(tmp_path):
    """One row of a hundred is off by many times the noise, all to one side."""
    job, loaded, path = log(tmp_path, LAWS["viscous"])
    columns = dict(np.load(path))
    random = np.random.default_rng(2)
    for name in columns:
        if name.startswith("tau_"):
            columns[name][random.random(len(columns[name])) < 0.01] += 30.0
    write(tmp_path / "log.npz", columns)
    plain, robust = (
        identify(job, loaded, path, Settings(friction="viscous,offset", loss=loss)).estimate
        for loss in ("squares", "huber")
    )
    truth = [*plain.mapping.base(plain.mapping.prior), *(0, 0, 2, 0, 0, 0, 0, 0)]
    off = [np.abs(e.values - truth) / plain.standard_errors for e in (plain, robust)]
    assert off[1].max() < 2 and off[1].sum() < 0.5 * off[0].sum()
    assert robust.standard_errors.max() < 0.5 * plain.standard_errors.max()


@pytest.mark.parametrize("full", [False, True])
def test_a_robot_without_inertia_has_a_neutral_prior(tmp_path, full):
    """Its URDF gets bodies that predict the log."""
    *_, path = log(tmp_path, lambda q, qd, qdd, load: 0 * q)
    text = re.sub(r"<inertial>.*?</inertial>", "", Path(FILE).read_text(), flags=re.DOTALL)
    (tmp_path / "bare.urdf").write_text(text)
    made = tmp_path / "made.urdf"
    more = ["--full"] if full else []
    done = invoke("identify", tmp_path / "bare.urdf", path, "--urdf", made, *more)
    assert done.exit_code == 0, done.output
    assert "the prior is uniform rods between the joints" in done.stderr
    said = json.loads(invoke("predict", made, path, "--json").stdout)
    assert all(c["all"]["relative"] < 0.0115 for c in said["channels"])
    assert "definite" in invoke("check", made).stdout


def test_standard_parameters_of_bodies_that_the_file_does_not_mean_are_no_urdf(tmp_path):
    """Forces of twenty times the size, as of motors behind gears, make bodies as heavy."""
    *_, path = log(tmp_path, lambda q, qd, qdd, load: 0 * q)
    columns = dict(np.load(path))
    write(
        Path(path), {name: x * (20 if name.startswith("tau") else 1) for name, x in columns.items()}
    )
    done = invoke("identify", FILE, path, "--full", "--urdf", tmp_path / "made.urdf")
    assert done.exit_code == 1 and not (tmp_path / "made.urdf").exists()
    assert (
        "estimated mass of body 'outer_link' is" in done.stderr and "was not written" in done.stderr
    )
