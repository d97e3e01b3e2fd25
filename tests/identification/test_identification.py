"""What identification finds in simulated logs whose truth is known."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.simulated_logs import Motion, Sensors, simulated, write
from symgen.identification.data.samples import Samples
from symgen.identification.estimation.iterative import IterativeEstimator
from symgen.identification.estimation.priors import Prior
from symgen.identification.estimation.result import ExcitationError
from symgen.identification.estimation.run import identify
from symgen.identification.estimation.triangular_factors import factored, triangle
from symgen.identification.estimation.weighted_solve import TriangularSystem, solve
from symgen.identification.model.drive_columns import MotionRanges
from symgen.identification.model.estimate import Estimate, deviations
from symgen.identification.model.problem import problem_for
from symgen.identification.model.settings import Settings
from tests.support.known_truth import ARM, SHORT, SMALL, found, loaded

SILENT = Sensors(noise=0.0)


FRICTION = {
    "viscous joint1": 2.0,
    "coulomb joint1": 1.5,
    "offset joint3": 0.2,
    "viscous joint5": 0.7,
}


ALL = "runtime:viscous,coulomb,offset"


SEEN = MotionRanges(np.ones(6), np.ones(6), np.zeros(6), 0)


def truth(estimate: Estimate, friction=None):
    given = friction or {}
    return np.array(
        [
            *estimate.mapping.base(estimate.mapping.prior),
            *(given.get(n, 0.0) for n in estimate.friction),
        ]
    )


def scores(estimate, friction=None):
    return (estimate.values - truth(estimate, friction)) / estimate.standard_errors


def test_a_log_without_noise_gives_the_truth(tmp_path):
    recipe = replace(SHORT, sensors=SILENT, friction=FRICTION)
    estimate = found(
        tmp_path, recipe, Settings(friction=ALL, loss="squares"), friction=ALL
    ).estimate
    assert np.allclose(estimate.values, truth(estimate, FRICTION), rtol=0, atol=1e-11)
    assert all(
        c.residual_rms < 1e-4 * c.measured_rms and c.validation_residual_rms < 1e-4 * c.measured_rms
        for c in estimate.channels
    )


def test_a_wrench_without_noise_gives_the_truth(tmp_path):
    estimate = found(
        tmp_path, replace(SHORT, sensors=SILENT, wrench="link3"), Settings(sensor="wrench:joint3")
    ).estimate
    assert [c.name for c in estimate.channels] == ["fx", "fy", "fz", "tx", "ty", "tz"]
    assert np.allclose(estimate.values, truth(estimate), rtol=0, atol=1e-11)
    bodies = {name.rpartition("_")[2] for name in estimate.names}
    assert bodies == {"3", "4", "5", "6"}, "a wrench depends on what the joint carries alone"
    total = sum(estimate.mapping.prior[10 * k] for k in range(2, 6))
    assert estimate.values[estimate.names.index("MR_3")] == pytest.approx(total), (
        "and weighs all of it"
    )


def test_standard_errors_are_those_of_many_logs():
    """Over many draws of noise the errors have a mean square of one standard error each, within
    what chance leaves."""
    job, robot = loaded(ARM, friction=ALL)
    problem, quiet = (
        problem_for(job, robot, Settings(friction=ALL)),
        simulated(job, robot, replace(SHORT, sensors=SILENT)),
    )
    drives = IterativeEstimator(problem, Settings(friction=ALL), None, SEEN, None).drives
    names = robot.model.joint_names
    rest = (
        np.stack([quiet[f"{p}_{name}"] for name in names], 1) for p in ("q", "qd", "qdd", "tau")
    )
    equations, random, size = (
        problem.equations(drives),
        np.random.default_rng(0),
        len(problem.mapping) + len(drives.columns),
    )
    rows = equations.equations(Samples.of(quiet["t"], *rest))
    a, y = rows.regressor, rows.measured
    true = np.concatenate(
        [problem.mapping.base(problem.mapping.prior), np.zeros(len(drives.columns))]
    )
    every = []
    for _ in range(20):
        noisy = y + random.normal(size=y.shape) * np.arange(1.0, 7.0)
        solution = solve(
            TriangularSystem(factored(a, noisy, equations.supports), equations.supports, size)
        )
        inverse = np.linalg.inv(solution.factor)
        every.append((solution.values - true) / np.sqrt(np.sum(inverse**2, axis=1)))
    assert np.mean(np.square(every)) == pytest.approx(1.0, abs=0.15) and np.abs(every).max() < 4.5


def test_positions_alone_are_enough(tmp_path):
    """Noise and steps of an encoder, velocities and accelerations by the filter."""
    sensors = Sensors(noise=0.01, quantum=2e-5)
    result = found(tmp_path, replace(SHORT, sensors=sensors), suffix=".parquet")
    assert result.dataset.derivative_filter is not None and not result.dataset.layout.qd
    assert np.abs(scores(result.estimate)).max() < 4.5


def test_a_noisy_joint_weighs_less(tmp_path):
    job, robot = loaded(ARM)
    columns = simulated(job, robot, SHORT)
    quiet = columns["tau_joint2"]
    rough = quiet + np.random.default_rng(1).normal(size=len(quiet)) * 20.0
    write(tmp_path / "log.npz", columns | {"tau_joint2": rough})
    estimate = identify(job, robot, str(tmp_path / "log.npz"), Settings(friction="none")).estimate
    assert estimate.channels[1].deviation == pytest.approx(20.0, rel=0.1)
    assert np.abs(scores(estimate)).max() < 4.5


def test_a_delay_is_seen_in_the_residuals(tmp_path):
    exact, late = (
        found(tmp_path, replace(SHORT, sensors=Sensors(noise=1e-3, delay=delay))).estimate
        for delay in (0, 10)
    )
    assert all(
        b.residual_rms > 3 * a.residual_rms
        for a, b in zip(exact.channels, late.channels, strict=True)
    )


def test_a_motion_that_excites_too_little_is_refused_and_a_prior_helps(tmp_path):
    slow = replace(SHORT, motion=Motion(frequency=2e-4))
    with pytest.raises(
        ExcitationError, match=r"does not excite \d of 8 parameters \(condition number"
    ):
        found(tmp_path, slow, file=SMALL)
    result = found(tmp_path, slow, Settings(full=True), file=SMALL)
    assert (
        "the prior determines these" in result.notes[0]
        and np.isfinite(result.estimate.standard_errors).all()
    )
    assert np.abs(scores(result.estimate)).max() < 4.5


def test_standard_parameters_are_the_least_squares_with_the_prior(tmp_path):
    """Against one dense least squares of the log and the prior together, from another prior than
    the truth."""
    result = found(tmp_path, SHORT, Settings(full=True, prior_deviation=0.2))
    mapping = result.estimate.mapping
    prior = Prior(replace(mapping, prior=mapping.prior * 1.1), deviations(mapping, 0.2))
    r, z = result.estimate.factor, result.estimate.factor @ result.estimate.values
    both = np.concatenate([r @ mapping.factors, np.diag(1 / prior.deviation)])
    wanted = np.linalg.lstsq(
        both, np.concatenate([z, prior.mapping.prior / prior.deviation]), rcond=None
    )[0]
    belief = prior.of_values(0)
    joint = np.concatenate(
        [np.column_stack([r, z]), np.column_stack([belief.factor, belief.target])]
    )
    t = triangle(joint)
    base = np.linalg.solve(t[:-1, :-1], t[:-1, -1])
    values, errors = prior.standard(base, np.linalg.inv(t[:-1, :-1].T @ t[:-1, :-1]))
    assert np.allclose(values, wanted, rtol=1e-6, atol=1e-8)
    assert np.allclose(errors, np.sqrt(np.diag(np.linalg.inv(both.T @ both))), rtol=1e-5)
    assert np.allclose(mapping.factors @ values, base, rtol=1e-9, atol=1e-9)
    assert np.allclose(
        mapping.base(result.estimate.standard), result.estimate.base, rtol=0, atol=1e-12
    )


def test_the_factor_tells_the_covariance_of_base_parameters(tmp_path):
    estimate = found(tmp_path, SHORT, file=SMALL, friction=ALL).estimate
    b = len(estimate.mapping)
    r = estimate.base_factor
    assert np.allclose(np.linalg.inv(r.T @ r), estimate.covariance[:b, :b], rtol=1e-6, atol=1e-15)
