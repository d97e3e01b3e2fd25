"""Elastic joints against Pinocchio, and the energy of motors, springs and links."""

import numpy as np
import pytest

import symgen
from benchmarks.closed_loops import SimulatedElasticRobot, elastic_start, elastic_swing
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
    start = energy("pendulum", state("pendulum"))
    lost = [
        abs(energy("pendulum", simulated("pendulum", "rk4", h, damping=0.0)) - start)
        for h in (1e-3, 5e-4)
    ]
    assert lost[1] < 1e-4 * abs(start)
    assert 12.0 < lost[0] / lost[1] < 50.0  # of order four at least
    assert energy("pendulum", simulated("pendulum", "rk4", 5e-4)) < start - 1e-3


def test_both_methods_lead_to_the_same_state():
    ends = [simulated("pendulum", "euler", h, seconds=0.05) for h in (1e-4, 5e-5)]
    exact = simulated("pendulum", "rk4", 5e-4, seconds=0.05)
    for key in ("q", "qd", "delta", "deltad"):
        first, second = (np.abs(end[key] - exact[key]).max() for end in ends)
        assert second < 0.6 * first < 0.05


def companion(gains):
    """A of x' = A x with x = (e, e', e'', e''') of one joint."""
    a = np.eye(4, k=1)
    a[3] = [-gains[name] for name in ("k_p", "k_d", "k_a", "k_j")]
    return a


@pytest.mark.parametrize("h, most", [(1e-3, 5e-3), (5e-4, 2.5e-3)])
def test_errors_decay_as_the_gains_say(h, most):
    """Pinocchio simulates links, springs and motors. Only the hold of the torques, which is
    proportional to the sample time, is between the errors and their equation."""
    pytest.importorskip("pinocchio")
    linalg = pytest.importorskip("scipy.linalg")
    random, n = np.random.default_rng(2), 2
    gains = dict(zip(("k_j", "k_a", "k_d", "k_p"), np.poly([-8, -10, -12, -14])[1:], strict=True))
    springs = random.uniform(60, 120, n), np.zeros(n), random.uniform(0.1, 0.3, n)
    state = elastic_start(0.2, springs[0]) + random.uniform(-0.02, 0.02, (4, n))
    body = SimulatedElasticRobot("pendulum", state, springs, steps=2)
    arm = symgen.Robot("robots/pendulum.urdf", friction="none")
    fixed = {"joint_stiffness": springs[0], "motor_inertia": springs[2], "limit": 1e3}
    law = arm.controller("elastic_feedback_linearization", **gains, **fixed)
    tiny = 1e-5
    links = body.slope(state, np.zeros(n))[1]
    ahead = body.slope(state + tiny * body.slope(state, np.zeros(n)), np.zeros(n))[1]
    motion = [*state[:2], links, (ahead - links) / tiny]
    start = np.array([x - y for x, y in zip(elastic_swing(0.0).values(), motion, strict=False)])
    found = []
    for k in range(round(1.0 / h)):
        wanted = elastic_swing(k * h)
        solution = linalg.expm(k * h * companion(gains)) @ start if k % 50 == 0 else None
        if solution is not None:
            found.append(np.abs(wanted["q_ref"] - body.q - solution[0]).max())
        q, qd, delta, deltad = body.state
        body.go(law.step(q=q, qd=qd, delta=delta, deltad=deltad, **wanted), h)
    assert found[0] < 1e-12 and max(found) < most and np.abs(start).max() > 0.1


@pytest.mark.parametrize("base, closed", [("floating", False), ("fixed", True)])
def test_feedback_linearisation_refuses_robots_without_motors_in_all_joints(base, closed):
    file = f"robots/{'five_bar' if closed else 'quadruped'}.urdf"
    reason = "closed loops" if closed else "only robots without ball and floating joints"
    with pytest.raises(symgen.SymgenError, match=f"elastic_feedback_linearization.*{reason}"):
        symgen.Robot(file, base=base).compile("elastic_feedback_linearization")
    every = symgen.Robot(file, base=base, quantities=("all",))
    names = [function.name for function in every.job.functions(every.job.robot(every.loaded))]
    assert "gravity" in names and "elastic_feedback_linearization" not in names
