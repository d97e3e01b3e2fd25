"""Inverse kinematics against Pinocchio's poses and Jacobians, and NumPy's least squares."""

import numpy as np
import pytest

import symgen
from symgen.algorithms.inverse_kinematics import DAMPING, MIN_DAMPING
from symgen.compiler.evaluate import evaluate
from symgen.tracing.request import FunctionRequest
from symgen.tracing.trace import trace
from tests.support.pinocchio_robots import NAMES, pair, states
from tests.support.random_trees import ROBOTS
from tests.support.states import close, run

LINKS = {"ur5": "flange", "panda_arm": "flange", "quadruped": "fl_foot"}


def posed(name, q):
    """Pinocchio, the pose of the link at q, and its Jacobian in root axes."""
    pin = pytest.importorskip("pinocchio")
    _, model = pair(name)
    data = model.createData()
    frame = model.getFrameId(LINKS[name])
    pin.framesForwardKinematics(model, data, q)
    jacobian = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
    return pin, data.oMf[frame].copy(), jacobian


def problem(name, away=0.2, seed=3, **changed):
    """Inputs of a step from a posture that is `away` (rad, m) from one that has the pose."""
    x, (_, model) = states(name, seed=seed), pair(name)
    pin, pose, _ = posed(name, x["q"])
    step = np.random.default_rng(seed).normal(size=model.nv)
    step *= away / np.linalg.norm(step)
    return {
        "q": pin.integrate(model, x["q"], step),
        "q_ref": states(name, seed=seed + 1)["q"],
        "p_ref": pose.translation,
        "quat_ref": pin.Quaternion(pose.rotation).coeffs(),
        "task_weight": np.ones(6),
        "null_gain": [0.0],
        "q_min": np.full(model.nq, -9.0),
        "q_max": np.full(model.nq, 9.0),
        **changed,
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_step_is_the_least_squares_solution(name):
    """The rows of the cost stacked, with Pinocchio's Jacobian, by NumPy's SVD."""
    weights, gain = np.array([1.0, 2.0, 0.5, 0.3, 0.0, 1.5]), 0.4
    x = problem(name, task_weight=weights, null_gain=[gain])
    pin, pose, jacobian = posed(name, x["q"])
    _, model = pair(name)
    off = pin.Quaternion(x["quat_ref"]).matrix() @ pose.rotation.T
    rotation = pin.log3(off)
    angle = np.linalg.norm(rotation)
    error = np.r_[x["p_ref"] - pose.translation, rotation * (2 * np.sin(angle / 2) / angle)]
    damping = np.sqrt(DAMPING * ((weights * error) ** 2).sum() + MIN_DAMPING)
    posture = gain * pin.difference(model, x["q"], x["q_ref"])
    posture[~np.any(jacobian, axis=0)] = 0.0
    rows = np.vstack([weights[:, None] * jacobian, damping * np.eye(model.nv)])
    step = np.linalg.lstsq(rows, np.r_[weights * error, damping * posture], rcond=None)[0]
    (mine,) = run(pair(name)[0], f"inverse_kinematics_step:{LINKS[name]}", x).values()
    close(mine, pin.integrate(model, x["q"], step), 1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_solutions_have_the_pose(name):
    """From 0.2 rad away, all by two calls and all but one by the first; the error is that of
    Pinocchio's pose."""
    calls = []
    for seed in range(12):
        x, error = problem(name, seed=seed), np.ones(2)
        while (error > 1e-6).any():
            calls.append(seed)
            x["q"], error, _, status = run(
                pair(name)[0], f"inverse_kinematics:{LINKS[name]}", x
            ).values()
            assert status[0] % 2 == (error > 1e-6).any()
        pin, pose, _ = posed(name, x["q"])
        rotation = pin.log3(pin.Quaternion(x["quat_ref"]).matrix() @ pose.rotation.T)
        close(
            error,
            np.array([np.linalg.norm(pose.translation - x["p_ref"]), np.linalg.norm(rotation)]),
        )
    assert len(calls) <= 13


def test_positions_remain_within_limits():
    """A limit between the start and the solution: the joint ends on it, and the error tells."""
    x = problem("ur5")
    free, *_ = run(pair("ur5")[0], "inverse_kinematics:flange", x).values()
    low, high = x["q_min"].copy(), x["q_max"].copy()
    low[2], high[4] = free[2] + 0.03, free[4] - 0.02
    x |= {"q_min": low, "q_max": high}
    q, error, _, status = run(pair("ur5")[0], "inverse_kinematics:flange", x).values()
    assert status == [1.0]
    assert (low <= q).all() and (q <= high).all() and q[2] == low[2] and q[4] == high[4]
    assert error.max() > 1e-3


def test_the_null_space_leads_to_the_posture():
    """A Panda with the pose, where nothing of the way to the posture is left in the null space."""
    robot, x = pair("panda_arm")[0], problem("panda_arm", null_gain=[0.3])
    before = np.linalg.norm(x["q"] - x["q_ref"])
    for _ in range(6):
        x["q"], error, *_ = run(robot, "inverse_kinematics:flange", x).values()
    left = x["q_ref"] - x["q"]
    null = np.linalg.svd(posed("panda_arm", x["q"])[2])[2][6]
    assert error.max() < 1e-6
    assert abs(null @ left) < 1e-5 < 0.01 < before - np.linalg.norm(left)


def test_a_position_alone():
    """Without weights of the orientation, only the position is reached."""
    x = problem("ur5", task_weight=np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]))
    x["quat_ref"] = np.array([1.0, 0.0, 0.0, 0.0])
    q, error, _, status = run(pair("ur5")[0], "inverse_kinematics:flange", x).values()
    assert status == [0.0]
    assert np.linalg.norm(posed("ur5", q)[1].translation - x["p_ref"]) < 1e-6
    assert error[0] < 1e-6 < error[1]


@pytest.mark.parametrize("name", NAMES)
def test_the_singularity_distance_is_about_the_least_singular_value(name):
    for seed in range(8):
        x = problem(name, seed=seed)
        (mine,) = run(pair(name)[0], f"singularity_distance:{LINKS[name]}", x).values()
        least = np.linalg.svd(posed(name, x["q"])[2], compute_uv=False)[-1]
        assert min(least, 0.3) / np.sqrt(6.1) < mine[0] <= 1.01 * np.hypot(least, 1e-3)


def test_a_straight_arm_is_singular():
    x = problem("ur5", q=np.array([0.4, -0.9, 0.0, 0.7, 0.5, 0.3]))
    (mine,) = run(pair("ur5")[0], "singularity_distance:flange", x).values()
    assert mine[0] < 1.1e-3


@pytest.mark.parametrize("beyond", [0.0, 0.1])
def test_the_status_of_a_straight_arm(beyond):
    """Near singular at its own pose, and not converged to one beyond it."""
    x = problem("ur5", q=np.array([0.4, -0.9, 0.0, 0.7, 0.5, 0.3]))
    pin, pose, _ = posed("ur5", x["q"])
    x["p_ref"] = pose.translation + np.array([beyond, 0.0, 0.0])
    x["quat_ref"] = pin.Quaternion(pose.rotation).coeffs()
    (status,) = run(pair("ur5")[0], "inverse_kinematics_status:flange", x).values()
    assert status == [2.0 + (beyond > 0.0)]


def test_c_has_the_iterations_in_a_loop_with_the_same_bits():
    robot, x = pair("ur5")[0], problem("ur5", null_gain=[0.1])
    compiled = symgen.compile(
        ROBOTS / "ur5.urdf", "inverse_kinematics:flange", exact=True, trig="libm"
    )
    found = compiled.inverse_kinematics_flange(*x.values())
    program = trace(robot, FunctionRequest.parse("inverse_kinematics:flange")).program
    straight = evaluate(program, x, lambda number: number)
    for array, entries in zip(found, straight.values(), strict=True):
        assert array.tolist() == [float(e) for e in entries]
