"""Positions moved along velocities and integration steps: Pinocchio, order of convergence, rest."""

from functools import partial

import numpy as np
import pytest

from symgen.algorithms import steps
from symgen.algorithms.forward_dynamics import forward_dynamics
from symgen.mechanics.parameters import canonical_model
from symgen.proof.laws import evaluate_law
from symgen.tracing.request import FunctionRequest, find_quantity
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support import every_joint, hamel
from tests.support.pinocchio_robots import NAMES, pair, states
from tests.support.random_trees import model
from tests.support.states import close, run

EULER = partial(steps.euler_step, forward_dynamics)
RK4 = partial(steps.rk4_step, forward_dynamics)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [0.0, 1e-18, 1e-9, 1e-5, 1e-2, 0.3, 1.0])
def test_pinocchio_moves_positions_the_same(name, size):
    pin = pytest.importorskip("pinocchio")
    robot, judge = pair(name)
    x = states(name, "dq")
    x["dq"] = size * x["dq"]
    x["q_end"] = run(robot, "integrate", x)["q_next"]
    wanted = pin.integrate(judge, x["q"], x["dq"])
    wanted[3:7] *= np.sign(wanted[3:7] @ x["q_end"][3:7]) if len(wanted) > robot.model.dof else 1
    close(x["q_end"], wanted, 1e-15)
    close(run(robot, "difference", x)["q_diff"], x["dq"], 4e-15)
    found = run(robot, "integrate_jacobians", x)
    for output, end in (("dint_dq", pin.ARG0), ("dint_ddq", pin.ARG1)):
        wanted = pin.dIntegrate(judge, x["q"], x["dq"], end)
        close(found[output], wanted.ravel(), 1e-8)  # small angles cost Pinocchio digits
    wanted = evaluate_law(robot, find_quantity("integrate_jacobians"), {"dq": [x["dq"]]})
    for output, values in wanted.items():
        close(found[output], values[0].astype(float), 2e-15)


def test_the_shorter_turn_is_found_on_both_sides():
    pin = pytest.importorskip("pinocchio")
    robot, judge = pair("quadruped")
    x = states("quadruped", "dq")
    x["q_end"] = states("quadruped", seed=8)["q"]
    for side in (1.0, -1.0):
        x["q_end"][3:7] *= side
        close(run(robot, "difference", x)["q_diff"], pin.difference(judge, x["q"], x["q_end"]))


def falling(method, count, time=0.1):
    """Where a floating robot with moving joints is after a time, by `count` steps."""
    robot = every_joint.made("new on floating")
    arm, x = canonical_model(robot.model), hamel.state(robot)
    q, qd, tau = x["q"].tolist(), x["qd"].tolist(), x["tau"].tolist()
    for _ in range(count):
        q, qd = method(arm, q, qd, tau, [time / count])
    return np.array([*q, *qd], float)


@pytest.mark.parametrize("method, order", [(EULER, 1), (RK4, 4)])
def test_steps_converge_as_fast_as_their_order(method, order):
    """Of all joints with twists, where they turn and move fast."""
    a, b, c = (falling(method, count) for count in (4, 8, 16))
    rate = np.log2(np.abs(a - b).max() / np.abs(b - c).max())
    assert order - 0.3 < rate < order + 0.7


def test_quaternions_stay_unit_ones():
    robot = every_joint.made("ball square")
    arm, x = canonical_model(robot.model), hamel.state(robot)
    q, step = x["q"].tolist(), (0.01 * x["qd"]).tolist()
    for _ in range(3_000):
        q = steps.integrate(arm, q, step)
    for four in arm.coupling.quaternions:
        assert abs(np.linalg.norm(q[four]) - 1.0) < 5e-16


@pytest.mark.parametrize("name", ["ur5", "panda_arm"])
def test_jacobians_of_a_step_cost_little_more_than_those_of_dynamics(name):
    both = ("step_jacobians:euler", "forward_dynamics_derivatives")
    found, known = (
        trace(ParametricModel(model(name)), FunctionRequest.parse(q)).counts.total for q in both
    )
    assert found <= 1.15 * known
