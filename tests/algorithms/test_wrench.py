"""External wrenches: independent references, and every quantity that feels them."""

import numpy as np
import pytest
from random_trees import FEW, model
from states import run, traced

from symgen.algorithms import QUANTITIES
from symgen.proof.laws import judged
from symgen.tracing.robot import Robot

FELT = [name for name, quantity in QUANTITIES.items() if quantity.feels_wrench]


def pushed(name):
    """A robot with a wrench on its last body and on its first."""
    robot = model(name)
    return Robot(robot, wrenches=(robot.bodies[-1].name, robot.bodies[0].name))


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    names = ("q", "qd", "qdd", "tau")
    return {k: rng.uniform(-2, 2, robot.model.dof).tolist() for k in names} | {
        "wrench": rng.uniform(-9, 9, 6 * len(robot.wrenches)).tolist()
    }


@pytest.mark.parametrize("name", FEW)
def test_inverse_dynamics_is_the_textbook_s(name):
    robot = pushed(name)
    x = state(robot)
    wanted = judged(
        robot, QUANTITIES["inverse_dynamics"], {k: [x[k]] for k in ("q", "qd", "qdd", "wrench")}
    )["tau"][0]
    assert np.allclose(
        run(robot, "inverse_dynamics", x)["tau"], np.array(wanted, float), rtol=1e-11, atol=1e-11
    )


@pytest.mark.parametrize("name", FEW)
def test_a_wrench_changes_something(name):
    robot = pushed(name)
    x = state(robot)
    still = x | {"wrench": [0.0] * 12}
    assert not np.allclose(
        run(robot, "inverse_dynamics", x)["tau"], run(robot, "inverse_dynamics", still)["tau"]
    )


@pytest.mark.parametrize("name", FEW)
def test_forward_dynamics_undoes_inverse_dynamics(name):
    robot = pushed(name)
    x = state(robot)
    tau = run(robot, "inverse_dynamics", x)["tau"]
    found = run(robot, "forward_dynamics", x | {"tau": tau.tolist()})["qdd"]
    assert np.allclose(found, x["qdd"], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("inverse", [True, False])
def test_derivatives_are_those_of_the_pushed_robot(name, inverse):
    """Against the complex step of the function itself."""
    robot = pushed(name)
    x, kind = state(robot), "inverse" if inverse else "forward"
    found = run(robot, f"{kind}_dynamics_derivatives", x)
    function = traced(robot, f"{kind}_dynamics")
    matrix = np.array(found["dtau_dq" if inverse else "dqdd_dq"]).reshape(robot.model.dof, -1)
    for k in range(robot.model.dof):
        tilted = [complex(q, 1e-30 * (i == k)) for i, q in enumerate(x["q"])]
        out = next(
            iter(function.run(**{n: (x | {"q": tilted})[n] for n in function.inputs}).values())
        )
        column = np.array([complex(v).imag for v in out]) / 1e-30
        assert np.allclose(
            matrix[:, k], column, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(column).max())
        )


def test_only_forces_and_their_derivatives_feel_wrenches():
    assert FELT == [
        "inverse_dynamics",
        "forward_dynamics",
        "inverse_dynamics_derivatives",
        "forward_dynamics_derivatives",
        "inverse_dynamics_jvp",
        "forward_dynamics_jvp",
        "step:euler",
        "step:rk4",
        "step_jacobians:euler",
        "step_jacobians:rk4",
        "inverse_dynamics_vjp",
        "forward_dynamics_vjp",
        "inverse_dynamics_hessian",
        "forward_dynamics_hessian",
        "inverse_dynamics_rate",
        "inverse_dynamics_second_rate",
        "inverse_dynamics_second_derivatives",
        "elastic_feedforward",
    ]
