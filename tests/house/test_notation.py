"""What docs/notation.md states about frames and signs holds for the generated functions."""

import numpy as np
import pytest

import symgen
from tests.support.tools import robot_file

LINK = "link6"
FRAMES = ("body", "aligned", "world")


@pytest.fixture(scope="module")
def arm():
    quantities = [f"frame_jacobian_{name}:{LINK}" for name in FRAMES]
    quantities += ["inverse_dynamics", "coriolis_matrix", "coriolis_matrix_newton_euler"]
    return symgen.compile(
        robot_file("ur5"),
        *quantities,
        f"frame_pose:{LINK}",
        "mass_matrix",
        "mass_matrix_rate",
        "gravity",
        external_wrench=(LINK,),
    )


@pytest.fixture(scope="module")
def state():
    return np.random.default_rng(0).uniform(-1, 1, (4, 6))


def test_jacobians_have_the_axes_and_points_of_the_table(arm, state):
    q = state[0]
    r, p = getattr(arm, f"frame_pose_{LINK}")(q)
    body, aligned, world = (getattr(arm, f"frame_jacobian_{name}_{LINK}")(q) for name in FRAMES)
    np.testing.assert_allclose(aligned, np.vstack([r @ body[:3], r @ body[3:]]), atol=1e-14)
    at_root = aligned[:3] - np.cross(aligned[3:].T, p).T
    np.testing.assert_allclose(world, np.vstack([at_root, aligned[3:]]), atol=1e-14)


def test_columns_of_the_rotation_are_the_axes_of_the_link(arm, state):
    """The velocity of the origin, by differences of p, is the linear part of the aligned Jacobian."""
    q, h = state[0], 1e-6
    pose, jacobian = (
        getattr(arm, f"frame_pose_{LINK}"),
        getattr(arm, f"frame_jacobian_aligned_{LINK}"),
    )
    p = [(pose(q + h * e)[1] - pose(q - h * e)[1]) / (2 * h) for e in np.eye(6)]
    np.testing.assert_allclose(jacobian(q)[:3], np.array(p).T, atol=1e-8)


def test_an_external_wrench_acts_on_the_link(arm, state):
    q, qd, qdd, _ = state
    wrench = np.arange(1.0, 7.0)
    jacobian = getattr(arm, f"frame_jacobian_body_{LINK}")(q)
    without, loaded = (arm.inverse_dynamics(q, qd, qdd, w) for w in (0 * wrench, wrench))
    np.testing.assert_allclose(loaded, without - jacobian.T @ wrench, atol=1e-12)


def test_both_coriolis_matrices_have_the_rate_of_m(arm, state):
    q, qd, *_ = state
    for c in (arm.coriolis_matrix(q, qd), arm.coriolis_matrix_newton_euler(q, qd)):
        np.testing.assert_allclose(arm.mass_matrix_rate(q, qd), c + c.T, atol=1e-13)


def test_torques_without_motion_are_those_that_hold_the_robot(arm, state):
    q, qd, qdd, _ = state
    none = np.zeros(6)
    np.testing.assert_allclose(
        arm.inverse_dynamics(q, none, none, none), arm.gravity(q), atol=1e-13
    )
    sum_of_terms = arm.mass_matrix(q) @ qdd + arm.coriolis_matrix(q, qd) @ qd + arm.gravity(q)
    np.testing.assert_allclose(arm.inverse_dynamics(q, qd, qdd, none), sum_of_terms, atol=1e-12)
