"""Refinement by multiple shooting: exact sensitivities, and simulations that are nearer."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.simulated_logs import write
from symgen.errors import OptionError
from symgen.identification.estimation.refining import Refined, force_error, simulation_error
from symgen.identification.estimation.run import identify
from symgen.identification.estimation.shooting import STEPS, Simulator, Windows
from symgen.identification.model.drive_columns import DriveColumn, DriveUnknowns, Joints
from symgen.identification.model.equations import Instants
from symgen.identification.model.problem import base_kernel, torque_mapping, without_drives
from symgen.identification.model.regressor_tapes import traced
from symgen.identification.model.settings import Settings
from symgen.jobs.job import Job
from tests.support.closed_loop import ARM, FILE, closed_loop
from tests.support.term_logs import log


def simulator():
    """A pendulum with viscous and smooth Coulomb friction, and its values."""
    job = without_drives(Job.of(FILE))
    loaded = job.load()
    joints = Joints.of(loaded.model)
    columns = tuple(DriveColumn(k, term, 0.5) for k in range(2) for term in ("viscous", "coulomb"))
    made, kernel = traced(job, loaded, "base_regressor"), base_kernel(job, loaded)
    size = kernel.shape[1]
    equations = Instants(kernel, tuple(range(size)), DriveUnknowns(joints, columns, np.zeros(2)))
    return Simulator(equations, made.slopes(), made.nonzero), size


def test_sensitivities_are_differences_of_motions():
    own, size = simulator()
    job = Job.of(FILE)
    mapping = torque_mapping(job.load().model)
    values = np.concatenate([mapping.base(mapping.prior), [0.3, 0.2, 0.4, 0.1]])
    random = np.random.default_rng(0)
    w = Windows(
        random.uniform(-1, 1, (3, STEPS + 1, 2)),
        random.uniform(-1, 1, (3, 2)),
        random.uniform(-2, 2, (3, STEPS, 2)),
        np.full((3, STEPS), 0.01),
    )
    found, by = own.sensitivities(w, w.start, values)
    assert np.allclose(found, own.positions(w, w.start, values))
    for k in range(4 + size + 4):
        tilt = 1e-6 * np.eye(4 + size + 4)[k]
        ends = [own.positions(w, w.start + s * tilt[:4], values + s * tilt[4:]) for s in (1, -1)]
        slope = (ends[0] - ends[1]) / 2e-6
        assert np.allclose(by[..., k], slope, atol=1e-6 * max(1.0, np.abs(slope).max()))


def test_refinement_simulates_better_and_takes_bias_away(tmp_path):
    """Positions with noise bias least squares of forces; simulated motions hardly."""
    columns, states = closed_loop(0)
    write(tmp_path / "log.npz", columns)
    job = Job.of(FILE)
    loaded = job.load()
    plain, fine = (
        identify(job, loaded, str(tmp_path / "log.npz"), Settings(cutoff=20.0, refine=wanted))
        for wanted in (False, True)
    )
    (note,) = [n for n in fine.notes if "--refine" in n]
    assert "not used" not in note
    true = plain.estimate.mapping.base(plain.estimate.mapping.prior)
    along = ARM.base_regressor(*states).reshape(-1, len(true))
    off = [np.sqrt(np.mean((along @ (e.estimate.base - true)) ** 2)) for e in (plain, fine)]
    assert off[0] > 1.5 and off[1] < 0.1 * off[0]
    assert np.abs((fine.estimate.base - true) / fine.estimate.standard_errors).max() < 4
    rms = [sum(c.residual**2 for c in e.estimate.channels) for e in (plain, fine)]
    assert rms[0] < rms[1], "forces are fitted best by least squares of forces"


def test_a_model_that_runs_away_is_said_and_not_used(tmp_path):
    """Forces that fall with speed make a model that drives itself: its motion grows beyond bounds
    within a window, and the estimate stays that of least squares."""
    job, loaded, path = log(tmp_path, lambda q, qd, qdd, load: -2000.0 * qd)
    asked = Settings(friction="viscous", cutoff=6.0)
    plain, tried = (
        identify(job, loaded, path, replace(asked, refine=wanted)) for wanted in (False, True)
    )
    (note,) = [n for n in tried.notes if "--refine" in n]
    assert "the simulation of the least-squares estimate diverges" in note and note.endswith(
        "the refinement is not used"
    )
    assert (tried.estimate.values == plain.estimate.values).all()


def test_a_joint_that_stands_still_in_all_windows_does_not_count():
    """What is held out may be a part in which some joint is done with moving."""
    q = np.zeros((2, STEPS + 1, 2))
    q[:, :, 0] = np.linspace(0, 1, STEPS + 1)
    w = Windows(q, q[:, 0], q[:, 1:], q[:, 1:, 0])
    off = simulation_error(w, q + np.array([0.01, 0.02]))
    assert off == pytest.approx(0.01 / np.sqrt(np.mean(q[:, :, 0] ** 2)))


def test_forces_decide_where_the_simulation_is_better(tmp_path):
    """A refinement that simulates better and predicts forces worse is not better; and forces are
    judged along motion with next to no noise, where values that are right are better than those of
    least squares, which fit the noise of the motion too."""
    made = Refined(None, None, (0.02, 0.018), (0.1, 0.11))
    assert not made.better and replace(made, forces=(0.1, 0.09)).better
    columns, _ = closed_loop(0)
    write(tmp_path / "log.npz", columns)
    job = Job.of(FILE)
    found = identify(job, job.load(), str(tmp_path / "log.npz"), Settings(cutoff=20.0))
    estimate, read = found.estimate, found.reading
    true = estimate.mapping.base(estimate.mapping.prior)
    along = [force_error(read, found.equations, x) for x in (estimate.values, true)]
    assert along[1] < 0.6 * along[0]
    rows = [found.system.squares(j, true) for j in found.system.channels]
    assert sum(rows) > sum(found.system.squares(j, estimate.values) for j in (0, 1))


@pytest.mark.parametrize(
    ("options", "flag"),
    [
        ({"full": True}, "--full"),
        ({"consistent": True}, "--consistent"),
        ({"method": "energy"}, "--method energy"),
    ],
)
def test_what_cannot_be_refined_is_said(options, flag):
    with pytest.raises(OptionError, match=f"--refine and {flag}"):
        Settings(refine=True, **options)
