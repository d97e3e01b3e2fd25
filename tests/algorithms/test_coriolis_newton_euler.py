"""The Coriolis matrix of Newton-Euler equations, straight from the printed equation by Pinocchio's
Jacobians and inertias."""

import numpy as np
import pytest

from symgen.mechanics.parameters import lump_links, parameter_blocks
from tests.support.pinocchio_robots import NAMES, pair, states
from tests.support.states import close, run


def printed(pin, judge, x):
    """Σ Jᵀ (I dJ/dt + v ×* I J), everything in the world frame."""
    data = judge.createData()
    pin.computeJointJacobiansTimeVariation(judge, data, x["q"], x["qd"])
    pin.forwardKinematics(judge, data, x["q"], x["qd"])
    total = np.zeros((judge.nv, judge.nv))
    for k in range(1, judge.njoints):
        j = pin.getJointJacobian(judge, data, k, pin.WORLD)
        rate = pin.getJointJacobianTimeVariation(judge, data, k, pin.WORLD)
        inertia = data.oMi[k].act(judge.inertias[k]).matrix()
        motion = data.oMi[k].act(data.v[k])
        total += j.T @ (inertia @ rate - motion.action.T @ inertia @ j)
    return total


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_printed_one(name):
    pin = pytest.importorskip("pinocchio")
    robot, judge = pair(name)
    x = states(name, "qd", "qdd")
    n = judge.nv
    found = run(robot, "coriolis_matrix_newton_euler", x)["C_ne"].reshape(n, n)
    close(found, printed(pin, judge, x))
    others = run(robot, "coriolis_matrix", x)["C"].reshape(n, n)
    close(found @ x["qd"], others @ x["qd"])
    close(found + found.T, others + others.T)
    assert np.abs(found - others).max() > 0.1 * np.abs(others).max()


@pytest.mark.parametrize("name", ["ur5", "panda_arm"])
def test_its_slopes_and_rate(name):
    """dC/dq q̇ + dC/dq̇ q̈ is the rate, and the rate follows the printed equation along a motion."""
    pin = pytest.importorskip("pinocchio")
    robot, judge = pair(name)
    x, n, step = states(name, "qd", "qdd"), judge.nv, 1e-5
    slopes = run(robot, "coriolis_matrix_newton_euler_gradient", x)
    by_q, by_qd = (slopes[k].reshape(n, n, n) for k in ("C_ne_q", "C_ne_qd"))
    rate = run(robot, "coriolis_matrix_newton_euler_rate", x)["C_ne_dot"].reshape(n, n)
    close(by_q @ x["qd"] + by_qd @ x["qdd"], rate)
    later, before = (
        {"q": x["q"] + t * x["qd"] + t * t / 2 * x["qdd"], "qd": x["qd"] + t * x["qdd"]}
        for t in (step, -step)
    )
    wanted = (printed(pin, judge, later) - printed(pin, judge, before)) / (2 * step)
    close(rate, wanted, 1e-8)


@pytest.mark.parametrize("name", ["ur5", "panda_arm"])
def test_its_regressor(name):
    """Y π = M q̈_r + C q̇_r + g for the parameters of the file."""
    pin = pytest.importorskip("pinocchio")
    robot, judge = pair(name)
    x, n = states(name, "qd", "qd_r", "qdd_r"), judge.nv
    names = [body.name for body in robot.model.bodies]
    ten = [
        e
        for values in parameter_blocks(lump_links(robot.model, names), names).values()
        for e in values
    ]
    y = run(robot, "slotine_li_regressor_newton_euler", x)["Y_ne"].reshape(n, -1)
    tensor = run(robot, "coriolis_matrix_newton_euler_by_parameters", x)["C_ne_pi"]
    c = printed(pin, judge, x)
    close(tensor.reshape(n, n, -1) @ ten, c)
    mass = run(robot, "mass_matrix", x)["M"].reshape(n, n)
    held = pin.computeGeneralizedGravity(judge, judge.createData(), x["q"])
    close(y @ ten, mass @ x["qdd_r"] + c @ x["qd_r"] + held)
