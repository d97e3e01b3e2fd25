"""The example examples/adaptive_mpc on a double pendulum: short, and by laws."""

import numpy as np
import pytest

pytest.importorskip("piqp", reason="pip install 'symgen[mpc]'")

from examples.adaptive_mpc.estimator import (
    PayloadEstimator,
    ball,
    consistent,
    curved,
    is_consistent,
)
from examples.adaptive_mpc.inertia import box, moved, parameters, pseudo
from examples.adaptive_mpc.model import NOTHING, Arm
from examples.adaptive_mpc.mpc import Controller, Target
from examples.adaptive_mpc.plant import Noise, Plant
from examples.adaptive_mpc.recursive import RecursiveEstimator, factors, of_factors
from examples.adaptive_mpc.shooting import interval

PAYLOAD = box(0.8, (0.05, 0.0, -0.1), (0.1, 0.1, 0.2))
PRIOR = ball(0.2, 0.05, 0.05)
HOME = np.array([0.6, 0.5])
PERIOD = 0.01
QUIET = Noise(1e-6, 1e-4, 1e-2)


@pytest.fixture(scope="module")
def arm():
    return Arm("robots/pendulum.urdf", "tip")


def reachable(arm, shift=0.0, nodes=10):
    """A target beside where the hand is at home, at rest."""
    place = arm.hand(HOME, np.zeros(2)).position + shift * np.eye(3)[0]
    return Target(np.tile(place, (nodes + 1, 1)), np.zeros((nodes + 1, 3)))


def target(k):
    """The hand swings for 0.6 s, which shows the payload, and then is to stand still."""
    return 0.2 * np.sin(0.1 * k) if k < 60 else 0.1


def close_the_loop(arm, believed, steps=130):
    """Steady error of the hand (m) at the end, where the controller believes in a payload or an
    estimator."""
    plant = Plant(arm, HOME, ((0.0, PAYLOAD),), QUIET)
    controller, errors, before = Controller(arm, HOME), [], plant.sense(np.zeros(2))
    for k in range(steps):
        wanted = reachable(arm, target(k))
        step = controller.step(before.q, before.qd, wanted, getattr(believed, "estimate", believed))
        assert step.solved
        after = plant.run(step.torque, PERIOD)
        if isinstance(believed, (PayloadEstimator, RecursiveEstimator)):
            believed.update(before, after)
            assert is_consistent(believed.estimate)
        errors.append(np.linalg.norm(arm.hand(plant.q, plant.qd).position - wanted.position[0]))
        before = after
    return np.sqrt(np.mean(np.square(errors[-20:])))


def in_numpy(arm, noise):
    return PayloadEstimator(arm, PRIOR, noise, PERIOD)


def generated(arm, noise):
    return RecursiveEstimator(arm, PRIOR, noise, PERIOD, HOME)


@pytest.mark.parametrize("estimator", [in_numpy, generated])
def test_the_estimator_makes_up_for_what_the_controller_does_not_know(arm, estimator):
    """Of the steady error that an unknown payload adds, little is left."""
    known, unknown = close_the_loop(arm, PAYLOAD), close_the_loop(arm, NOTHING)
    estimated = close_the_loop(arm, estimator(arm, QUIET))
    assert unknown > 3 * known
    assert estimated - known < 0.1 * (unknown - known)


def test_a_covariance_comes_back_from_its_factors():
    """One with directions that have no variance, as the payload's covariance has in those of β."""
    root = np.random.default_rng(5).standard_normal((7, 3))
    upper, diagonal = of_factors(factors(root @ root.T), 7)
    assert np.allclose((upper * diagonal) @ upper.T, root @ root.T, atol=1e-12)
    assert np.count_nonzero(diagonal) == 3 and np.allclose(upper, np.triu(upper))


@pytest.mark.parametrize("made", [in_numpy, generated])
@pytest.mark.parametrize(
    ("noise", "most"), [(QUIET, 2e-2), (Noise(1e-12, 1e-10, 1e-8), 1e-3), (Noise(0, 0, 0), 1e-3)]
)
def test_the_estimate_explains_the_forces_however_small_the_noise(arm, made, noise, most):
    """Without noise, differences for accelerations are what is left of the error."""
    plant, estimator = Plant(arm, HOME, ((0.0, PAYLOAD),), noise), made(arm, noise)
    samples = [plant.sense(np.zeros(2))]
    for k in range(100):
        hold = arm.inverse_dynamics(plant.q, np.zeros(2), np.zeros(2), NOTHING)
        samples.append(plant.run(hold + 4 * np.sin(0.1 * k * np.array([1.0, 1.7])), PERIOD))
        assert is_consistent(estimator.update(*samples[-2:]))
    q, qd = (np.array([getattr(s, name) for s in samples[1:]]) for name in ("q", "qd"))
    seen = arm.payload_regressor(q, qd, np.gradient(qd, PERIOD, axis=0)).reshape(-1, 10)
    assert np.abs(seen @ (estimator.estimate - PAYLOAD)).max() < most * np.abs(seen @ PAYLOAD).max()


def test_data_may_weigh_far_more_than_the_prior():
    """One direction weighed up to 1e12, far beyond what the floor on noise lets through; all others
    not at all."""
    row = np.arange(1.0, 11.0)
    for weight in (1e4, 1e8, 1e12):
        information = weight * np.outer(row, row)
        found, covariance = consistent(information, information @ PAYLOAD, PRIOR, PRIOR)
        assert is_consistent(found) and row @ found == pytest.approx(row @ PAYLOAD, rel=1e-3)
        assert np.linalg.eigvalsh(covariance)[0] > -1e-12 * np.linalg.norm(covariance)


def test_a_converged_plan_is_optimal_and_within_the_torque_limits(arm):
    controller = Controller(arm, HOME, iterations=50, tolerance=1e-9)
    wanted, rest = reachable(arm, 0.4), np.zeros(2)
    taken = []
    controller._shift = lambda: taken.append(
        controller.torques
    )  # the plan is to stay as it was solved
    step = controller.step(HOME, rest, wanted, PAYLOAD)
    assert step.solved and step.change <= 1e-9
    stationary, gap = controller.residual(HOME, rest, wanted, PAYLOAD)
    assert stationary < 1e-6 and gap < 1e-8
    effort = arm.limits.effort
    assert np.all(np.abs(taken[0]) <= effort + 1e-6)
    assert np.any(np.abs(taken[0]) > effort - 1e-4), "the limits must matter here"


def test_sensitivities_of_an_interval_are_its_differences(arm):
    states, torques = np.random.default_rng(1).uniform(-1, 1, (3, 4)), np.ones((3, 2))
    _, by = interval(arm, states, torques, PAYLOAD, 0.02)
    for k in range(6):
        tilt = 1e-6 * np.eye(6)[k]
        ends = [
            interval(arm, states + s * tilt[:4], torques + s * tilt[4:], PAYLOAD, 0.02)[0]
            for s in (1, -1)
        ]
        assert np.allclose(by[..., k], (ends[0] - ends[1]) / 2e-6, atol=1e-7)


def test_the_payload_s_regressor_gives_what_it_adds(arm):
    q, qd, qdd = np.random.default_rng(2).uniform(-2, 2, (3, 20, 2))
    added = arm.inverse_dynamics(q, qd, qdd, PAYLOAD) - arm.inverse_dynamics(q, qd, qdd, NOTHING)
    assert np.allclose(arm.payload_regressor(q, qd, qdd) @ PAYLOAD, added, atol=1e-11)


def test_velocity_of_the_hand_by_position(arm):
    q, qd = np.random.default_rng(3).uniform(-2, 2, (2, 2))
    hand = arm.hand(q, qd)
    for k in range(2):
        tilt = 1e-6 * np.eye(2)[k]
        ends = [arm.hand(q + s * tilt, qd).velocity for s in (1, -1)]
        assert np.allclose(hand.velocity_q[:, k], (ends[0] - ends[1]) / 2e-6, atol=1e-8)


def test_the_estimate_without_data_is_the_prior_and_with_much_the_truth():
    nothing = np.zeros((10, 10))
    assert np.allclose(consistent(nothing, np.zeros(10), PRIOR, PAYLOAD)[0], PRIOR, rtol=1e-2)
    sure = 1e12 * np.eye(10)
    assert np.allclose(consistent(sure, sure @ PAYLOAD, PRIOR, PRIOR)[0], PAYLOAD, atol=1e-6)


def test_an_impossible_measurement_gives_a_possible_body():
    impossible = PAYLOAD * np.array([1, 1, 1, 1, 1, 1, 1, 1, 1, -1])
    sure = 1e6 * np.eye(10)
    assert not is_consistent(impossible)
    assert is_consistent(consistent(sure, sure @ impossible, PRIOR, PRIOR)[0])


def test_curved_steps_stay_in_the_cone_and_begin_straight():
    random = np.random.default_rng(4)
    for _ in range(20):
        step = random.standard_normal(10)
        assert is_consistent(curved(PAYLOAD, 0.1 * step * PAYLOAD[4]))
        small = 1e-7 * step * PAYLOAD[4]
        assert np.allclose(curved(PAYLOAD, small) - PAYLOAD, small, atol=1e-11)


def test_moved_parameters_are_those_of_the_moved_body():
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    found = moved(turn, np.array([0.1, 0.2, 0.3])) @ box(2.0, (0.0, 0.0, 0.0), (0.1, 0.2, 0.3))
    assert np.allclose(found, box(2.0, (0.1, 0.2, 0.3), (0.2, 0.1, 0.3)))
    assert np.allclose(parameters(pseudo(PAYLOAD)), PAYLOAD)
