"""Linear systems near a state and motions from one, with quaternions right."""

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError
from symgen.mechanics.coupling import coupling_of
from symgen.robot.linearization import rates
from tests.support.built import built_zoo
from tests.support.joint_zoo import pinocchio as zoo_model
from tests.support.oracles import oracle
from tests.support.states import close
from tests.support.tools import ROOT, robot_file

pin = oracle("pinocchio")

UR5 = robot_file("ur5")


def displaced(robot, q, step):
    """The positions after a small displacement, by the joint types themselves."""
    coupling, found = coupling_of(robot.model), list(q)
    for drive, (joint, part) in zip(coupling.maps, coupling.joint_parts, strict=True):
        if part == 0:
            own = slice(drive.position_index, drive.position_index + len(joint.positions))
            first = min(
                d.velocity_index
                for d, (j, _) in zip(coupling.maps, coupling.joint_parts, strict=True)
                if j is joint and d.position_index == drive.position_index
            )
            found[own] = joint.integrate(
                found[own], list(step[first : first + len(joint.velocities)])
            )
    return np.array(found)


def a_state(robot, seed=1):
    random = np.random.default_rng(seed)
    q = displaced(robot, robot.neutral, random.uniform(-1, 1, robot.dof))
    return q, random.uniform(-1, 1, robot.dof), random.uniform(-1, 1, robot.dof)


ROBOTS = [
    symgen.Robot(robot_file("scara")),
    symgen.Robot(built_zoo()),
    symgen.Robot(robot_file("pendulum"), base="floating", root="upper"),
]
IDS = ["arm", "other joints", "floating"]


@pytest.mark.parametrize("robot", ROBOTS, ids=IDS)
def test_rates_of_positions_are_what_joints_do(robot):
    q, v, _ = a_state(robot)
    h = 1e-6
    ahead, back = displaced(robot, q, h * v), displaced(robot, q, -h * v)
    close(rates(robot.model, q, v), (ahead - back) / (2 * h), 1e-9)


@pytest.mark.parametrize("robot", ROBOTS, ids=IDS)
def test_a_and_b_against_small_steps(robot):
    """d/dt of a displacement, by the dynamics at displaced states: differences of twists."""
    q, v, tau = a_state(robot, 2)
    found = symgen.linearize(robot, q, v, tau)
    n = robot.dof
    dynamics = robot.trace("forward_dynamics")

    def accelerations(q, v, tau):
        out = dynamics.run(q=q.tolist(), qd=v.tolist(), tau=tau.tolist())
        return np.array([float(x) for x in next(iter(out.values()))])

    h, unit = 1e-5, np.eye(n)
    by_q = [
        (
            accelerations(displaced(robot, q, h * e), v, tau)
            - accelerations(displaced(robot, q, -h * e), v, tau)
        )
        / (2 * h)
        for e in unit
    ]
    by_v = [
        (accelerations(q, v + h * e, tau) - accelerations(q, v - h * e, tau)) / (2 * h)
        for e in unit
    ]
    by_tau = [(accelerations(q, v, tau + e) - accelerations(q, v, tau - e)) / 2 for e in unit]
    a, b = found
    close(a[n:, :n], np.array(by_q).T, 1e-6)
    close(a[n:, n:], np.array(by_v).T, 1e-6)
    close(b[n:], np.array(by_tau).T, 1e-9)
    close(found.residual, accelerations(q, v, tau), 1e-9)
    assert not b[:n].any()


@pytest.mark.parametrize("robot", ROBOTS, ids=IDS)
def test_a_linear_system_follows_its_robot(robot):
    """Two motions that start close differ as the linear system says, displacements as twists."""
    q, v, tau = a_state(robot, 3)
    found, h, dt = symgen.linearize(robot, q, v, tau), 1e-5, 2e-6
    n, random = robot.dof, np.random.default_rng(4)
    first = random.uniform(-1, 1, 2 * n)
    other = displaced(robot, q, h * first[:n])
    one = robot.simulate(dt, q, v, tau, times=[dt])
    two = robot.simulate(dt, other, v + h * first[n:], tau, times=[dt])
    model = robot.model
    before, after = (difference(model, *pair) / h for pair in ((q, other), (one.q[0], two.q[0])))
    close((after - before) / dt, (found.A @ first)[:n], 2e-3)


def difference(model, q, other):
    """The twist from one place to a near one: least squares of the rates of positions."""
    n = model.dof
    columns = np.array([rates(model, q, e) for e in np.eye(n)]).T
    return np.linalg.lstsq(columns, other - q, rcond=None)[0]


def test_the_default_forces_keep_it_from_accelerating():
    found = symgen.linearize(UR5, [0.1, -1.0, 0.5, 0.3, 0.2, 0.4])
    close(found.residual, np.zeros(6), 1e-10)
    assert found.A.shape == (12, 12) and "rate of" in found._repr_html_()
    close(found.A[:6, 6:], np.eye(6))


@pytest.mark.parametrize("robot", ROBOTS, ids=IDS)
def test_energy_is_kept(robot):
    q, v, _ = a_state(robot, 5)
    motion = robot.simulate(0.5, q, v, times=[0.0, 0.25, 0.5])
    energies = robot.trace("terms=kinetic_energy+potential_energy")

    def energy(q, v):
        given = {"q": q.tolist(), "qd": v.tolist()}
        out = energies.run(**{k: given[k] for k in energies.inputs})
        return sum(float(x) for values in out.values() for x in values)

    kept = [energy(*row) for row in zip(motion.q, motion.qd, strict=True)]
    assert np.ptp(kept) <= 1e-6 * max(1.0, abs(kept[0]))
    for four in coupling_of(robot.model).quaternions:
        close(np.linalg.norm(motion.q[:, four], axis=1), np.ones(3), 1e-14)


@pytest.mark.parametrize("coordinates", ["joints", "actuators"])
def test_coupled_joints_move(coordinates):
    """Motors that move two joints each: the rates of positions are the velocities, and equations
    are those of the algorithms."""
    robot = symgen.Robot(ROOT / "tests" / "wild" / "differential.urdf", coordinates=coordinates)
    n = robot.dof
    v = np.linspace(0.5, 1, n)
    close(rates(robot.model, np.zeros(n), v), v)
    motion = robot.simulate(1e-5, np.full(n, 0.2), v, times=[1e-5])
    close(motion.q[0] - 0.2, 1e-5 * v, 1e-6)
    assert (np.abs(motion.q[0] - 0.2) > 4e-6).all()
    made, q = robot.symbolic.mass_matrix(), np.linspace(0.3, 0.8, n)
    function = robot.trace("mass_matrix").run(q=q.tolist())
    at = dict(zip(robot.symbolic.inputs("mass_matrix")["q"], q, strict=True))
    found = np.array(made.xreplace(at)).astype(float).ravel()
    close(found, np.array([float(x) for x in next(iter(function.values()))]), 1e-12)


def test_a_motion_against_pinocchio():
    """Small steps of Pinocchio's own integration and dynamics, extrapolated to none."""
    robot, model = symgen.Robot(built_zoo()), zoo_model()
    q, v, tau = a_state(robot, 6)
    data, found = model.createData(), []
    for steps in (200, 400):
        place, speed, dt = q.copy(), v.copy(), 0.05 / steps
        for _ in range(steps):  # the midpoint rule
            half = pin.integrate(model, place, speed * dt / 2)
            middle = speed + dt / 2 * pin.aba(model, data, place, speed, tau)
            place = pin.integrate(model, place, middle * dt)
            speed = speed + dt * pin.aba(model, data, half, middle, tau)
        found.append(np.concatenate([place, speed]))
    motion = robot.simulate(0.05, q, v, tau, times=[0.05])
    ours = np.concatenate([motion.q[0], motion.qd[0]])
    close(ours, (4 * found[1] - found[0]) / 3, 1e-5)


def test_forces_may_be_a_function():
    robot = symgen.Robot(robot_file("pendulum"))
    still = robot.compile("gravity").gravity
    motion = robot.simulate(1.0, [0.3, -0.5], tau=lambda t, q, qd: still(q) - 5.0 * qd)
    close(motion.q[200], np.array([0.3, -0.5]), 1e-9)
    assert motion.t.shape == (201,) and motion.evaluations > 0 and "201 rows" in repr(motion)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda r: r.simulate(-1), "give a positive number"),
        (lambda r: r.simulate(1, q=[0]), "q needs 2 finite numbers"),
        (lambda r: r.simulate(1, tau=[1, 2, 3]), "tau needs 2 finite numbers"),
        (lambda r: r.simulate(1, times=[0.5, 0.2]), "times must increase"),
        (lambda r: r.linearize([0, float("nan")]), "q needs 2 finite numbers"),
        (lambda r: r.with_options(gravity="runtime").linearize([0, 0]), "g would be inputs"),
        (lambda r: r.with_options(gravity="runtime").simulate(1), "simulate: g would be inputs"),
        (lambda r: r.simulate(1, parameters="runtime"), "simulate: par would be inputs"),
    ],
)
def test_what_does_not_fit_is_said(call, said):
    with pytest.raises(OptionError, match=said):
        call(symgen.Robot(robot_file("pendulum")))


def test_options_of_a_simulation_make_another_robot():
    robot = symgen.Robot(robot_file("pendulum"))
    held = (("elbow", 0.4),)
    one = robot.simulate(0.2, [0.3], lock=held, times=[0.2])
    close(one.q, robot.with_options(lock=held).simulate(0.2, [0.3], times=[0.2]).q, 1e-15)
    assert one.velocities == ("shoulder",)
