"""External wrenches: independent references, and every quantity that feels them."""

from dataclasses import replace

import numpy as np
import pytest

from symgen.algorithms import QUANTITIES
from symgen.algorithms.controllers import CONTROLLERS
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.proof.laws import evaluate_law
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.random_trees import FEW, ROBOTS, model
from tests.support.states import function, run

FELT = [name for name, quantity in QUANTITIES.items() if quantity.depends_on_external_forces]


def pushed(name):
    """A robot with a wrench on its last body and on its first."""
    robot = model(name)
    return ParametricModel(robot, wrenches=(robot.bodies[-1].name, robot.bodies[0].name))


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
    wanted = evaluate_law(
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
    plain = function(robot, f"{kind}_dynamics")
    matrix = np.array(found["dtau_dq" if inverse else "dqdd_dq"]).reshape(robot.model.dof, -1)
    for k in range(robot.model.dof):
        tilted = [complex(q, 1e-30 * (i == k)) for i, q in enumerate(x["q"])]
        out = next(iter(plain.run(**{n: (x | {"q": tilted})[n] for n in plain.inputs}).values()))
        column = np.array([complex(v).imag for v in out]) / 1e-30
        assert np.allclose(
            matrix[:, k], column, rtol=1e-7, atol=1e-7 * max(1.0, np.abs(column).max())
        )


def test_only_forces_and_their_derivatives_feel_wrenches():
    assert [name for name in FELT if name not in CONTROLLERS] == [
        "inverse_dynamics",
        "forward_dynamics",
        "forward_dynamics_residual",
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
        "elastic_forward_dynamics",
        "elastic_forward_dynamics_derivatives",
        "elastic_step:euler",
        "elastic_step:rk4",
        "elastic_feedforward",
        "joint_wrenches",
    ]
    assert {*FELT} & {*CONTROLLERS} == {
        "gravity_compensation",
        "computed_torque",
        "joint_impedance",
        "momentum_observer",
        "elastic_feedback_linearization",
    }


# -- root axes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("quantity", [name for name in FELT if name not in CONTROLLERS])
def test_wrenches_in_root_axes_are_the_textbook_s(name, quantity):
    """Derivatives and rates too, which hold the numbers in root axes constant."""
    robot, q = replace(pushed(name), root_axes=True), QUANTITIES[quantity]
    rng, n = np.random.default_rng(1), robot.model.dof
    x = {k: rng.uniform(0.5, 2, n).tolist() for k in q.inputs} | state(robot) | {"h": [0.01]}
    wanted = evaluate_law(robot, q, {k: [x[k]] for k in (*q.inputs, "wrench")})
    found = run(robot, quantity, x)
    for out, values in wanted.items():
        assert np.allclose(found[out], np.array(values[0], float), rtol=1e-8, atol=1e-8)


def test_root_axes_are_link_axes_turned_by_the_pose():
    """A force along the root's x, on a link that is turned."""
    name = next(n for n in FEW if model(n).dof > 2)
    robot = pushed(name)
    x, link = state(robot), robot.wrenches[0]
    turn = np.array(
        next(
            iter(trace(robot, FunctionRequest.parse(f"frame_pose:{link}")).run(q=x["q"]).values())
        ),
        float,
    ).reshape(3, 3)
    own = np.array(x["wrench"]).reshape(-1, 3)
    there = own.copy()
    there[:2] = own[:2] @ turn.T
    other = trace(robot, FunctionRequest.parse(f"frame_pose:{robot.wrenches[1]}")).run(q=x["q"])
    there[2:] = own[2:] @ np.array(next(iter(other.values())), float).reshape(3, 3).T
    at_root = run(
        replace(robot, root_axes=True), "inverse_dynamics", x | {"wrench": there.ravel().tolist()}
    )
    assert np.allclose(at_root["tau"], run(robot, "inverse_dynamics", x)["tau"], atol=1e-9)


def test_root_axes_without_wrenches_are_refused():
    with pytest.raises(OptionError, match="has no effect without --external-wrench"):
        Job.of(ROBOTS / "pendulum.urdf", wrench_axes="root").wanted()


def test_columns_that_turn_wrenches_with_their_links_are_refused_by_name():
    robot = replace(pushed(FEW[0]), root_axes=True)
    wanted = FunctionRequest.parse("inverse_dynamics_derivatives")
    choice = {"inverse_dynamics_derivatives": "derivatives/minimal"}
    with pytest.raises(OptionError, match="only robots whose external wrenches are in the axes"):
        trace(robot, wanted, choice)
