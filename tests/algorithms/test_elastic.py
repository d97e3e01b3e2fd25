"""Elastic joints against Pinocchio, and the energy of motors, springs and links."""

import numpy as np
import pytest

from tests.support.pinocchio_robots import NAMES, pair, states
from tests.support.states import close, run


def state(name, seed=5, damping=1.0, **changed):
    """A state of links and springs, soft springs with damping and motors."""
    x, n = states(name, "qd", seed=seed), pair(name)[0].model.dof
    random = np.random.default_rng(seed)
    return x | {
        "delta": random.uniform(-0.3, 0.3, n),
        "deltad": random.uniform(-1.0, 1.0, n),
        "joint_stiffness": random.uniform(5.0, 20.0, n),
        "spring_damping": damping * random.uniform(0.01, 0.03, n),
        "motor_inertia": random.uniform(0.2, 0.6, n),
        "tau_m": random.uniform(-5.0, 5.0, n),
        "h": [1e-3],
        **changed,
    }


@pytest.mark.parametrize("name", NAMES)
def test_links_move_as_their_springs_drive_them(name):
    pin = pytest.importorskip("pinocchio")
    (robot, model), x = pair(name), state(name)
    spring = x["joint_stiffness"] * x["delta"] + x["spring_damping"] * x["deltad"]
    links, motors = run(robot, "elastic_forward_dynamics", x).values()
    data = model.createData()
    close(links, pin.aba(model, data, x["q"], x["qd"], spring), 1e-9)
    close(motors, (x["tau_m"] - spring) / x["motor_inertia"])
    pin.computeABADerivatives(model, data, x["q"], x["qd"], spring)
    upper = np.triu(data.Minv)
    inverse = upper + np.triu(upper, 1).T
    n = model.nv
    for mine, theirs in zip(
        run(robot, "elastic_forward_dynamics_derivatives", x).values(),
        (data.ddq_dq, data.ddq_dv, inverse * x["joint_stiffness"], inverse * x["spring_damping"]),
        strict=True,
    ):
        close(mine.reshape(n, n), theirs, 1e-8)


def test_the_torques_of_feedforward_cause_the_motion():
    robot = pair("ur5")[0]
    x = state("ur5", damping=0.0) | states("ur5", "qdd", "qddd", "qdddd", seed=8)
    motor, delta, deltad = run(robot, "elastic_feedforward", x).values()
    x |= {"tau_m": motor, "delta": delta, "deltad": deltad}
    links, _ = run(robot, "elastic_forward_dynamics", x).values()
    close(links, x["qdd"], 1e-9)


def energy(name, x):
    """Of links by Pinocchio, of motors and of springs."""
    pin = pytest.importorskip("pinocchio")
    model = pair(name)[1]
    data = model.createData()
    pin.computeMechanicalEnergy(model, data, x["q"], x["qd"])
    motors = 0.5 * (x["motor_inertia"] * (x["qd"] + x["deltad"]) ** 2).sum()
    return data.mechanical_energy + motors + 0.5 * (x["joint_stiffness"] * x["delta"] ** 2).sum()


def simulated(name, method, h, seconds=0.1, **changed):
    """The state after some seconds without motor torques."""
    x = state(name, **changed) | {"h": [h], "tau_m": np.zeros(pair(name)[0].model.dof)}
    for _ in range(round(seconds / h)):
        values = run(pair(name)[0], f"elastic_step:{method}", x).values()
        x |= dict(zip(("q", "qd", "delta", "deltad"), values, strict=True))
    return x


def test_energy_is_kept_without_damping_and_lost_with_it():
    start = energy("ur5", state("ur5"))
    lost = [
        abs(energy("ur5", simulated("ur5", "rk4", h, damping=0.0)) - start) for h in (1e-3, 5e-4)
    ]
    assert lost[1] < 1e-4 * abs(start)
    assert 12.0 < lost[0] / lost[1] < 50.0  # of order four at least
    assert energy("ur5", simulated("ur5", "rk4", 5e-4)) < start - 1e-3


def test_both_methods_lead_to_the_same_state():
    ends = [simulated("ur5", "euler", h, seconds=0.05) for h in (1e-4, 5e-5)]
    exact = simulated("ur5", "rk4", 5e-4, seconds=0.05)
    for key in ("q", "qd", "delta", "deltad"):
        first, second = (np.abs(end[key] - exact[key]).max() for end in ends)
        assert second < 0.6 * first < 0.05
