"""Controllers on robots that Pinocchio simulates: what their pages promise, measured on motions.

Nothing of the plant comes from symgen (see `pinocchio_plants`)."""

import numpy as np
import pytest

import symgen
from tests.support.pinocchio_plants import Plant, friction, model_of, pin, revolute, robot, urdf

FRICTION = {"friction": "viscous,coulomb"}


# -- friction --------------------------------------------------------------------------------------


@pytest.mark.parametrize("joints", [1, 2])
def test_free_motion_with_friction_has_no_residual(joints):
    """Coasting from 3 rad/s. Without --friction the residual is the friction."""
    plant = Plant(revolute(joints), np.zeros(joints), np.full(joints, 3.0), friction)
    text, found = urdf(joints=joints), {}
    observers = {
        name: robot(text, **more).controller("momentum_observer", gain=100.0)
        for name, more in (("with", FRICTION), ("without", {}))
    }
    for _ in range(100):
        plant.go(np.zeros(joints), 0.001)
        for name, one in observers.items():
            found[name] = one.step(q=plant.q, qd=plant.qd, tau=np.zeros(joints), h=0.001)
    assert np.abs(found["with"]).max() < 0.03
    assert np.abs(found["without"]).max() > 1.0


def test_a_push_is_found_while_there_is_friction():
    plant, push = Plant(revolute(), np.zeros(2), np.full(2, 3.0), friction), np.array([4.0, -1.0])
    one = robot(**FRICTION).controller("momentum_observer", gain=100.0)
    for _ in range(100):
        plant.go(push, 0.001)
        found = one.step(q=plant.q, qd=plant.qd, tau=np.zeros(2), h=0.001)
    assert np.abs(found - push).max() < 0.05


@pytest.mark.parametrize("gain", [1.0, 3000.0, 1e6])
def test_the_observer_is_stable_for_any_gain(gain):
    """At 1 kHz the filter's pole is exp(-gain h): above gain h = 1 it follows in one step."""
    plant, push = Plant(revolute(), np.zeros(2), np.full(2, 1.0)), np.array([4.0, -1.0])
    one = robot().controller("momentum_observer", gain=gain)
    for _ in range(300):
        plant.go(push, 0.001)
        found = one.step(q=plant.q, qd=plant.qd, tau=np.zeros(2), h=0.001)
    wanted = push * (1 - np.exp(-gain * 0.299))
    assert np.abs(found - wanted).max() < 0.02 * np.abs(wanted).max() + 0.02


def motion(t, n=2):
    w = np.array([2.0, 3.0])[:n]
    return {
        "q_ref": 0.5 * (1 - np.cos(w * t)),
        "qd_ref": 0.5 * w * np.sin(w * t),
        "qdd_ref": 0.5 * w * w * np.cos(w * t),
    }


GAINS = {
    "computed_torque": {"k_p": 100.0, "k_d": 20.0, "k_i": 0.0, "limit": 1e3},
    "joint_impedance": {"k_p": 50.0, "k_d": 5.0, "limit": 1e3},
}


def followed(name, plant, seconds=2.0, h=0.001, **options):
    """The largest error of position after the first half."""
    law = robot(**options).controller(name, GAINS[name])
    timed = {"h": h} if name == "computed_torque" else {}
    worst = 0.0
    for k in range(round(seconds / h)):
        wanted = motion(k * h)
        if 2 * k * h > seconds:
            worst = max(worst, np.abs(wanted["q_ref"] - plant.q).max())
        plant.go(law.step(q=plant.q, qd=plant.qd, **wanted, **timed), h)
    return worst


@pytest.mark.parametrize("name", GAINS)
def test_compensated_friction_leaves_no_error(name):
    errors = {
        option: followed(
            name,
            Plant(revolute(), np.zeros(2), np.zeros(2), friction),
            **(FRICTION | {"friction_compensation": option} if option else {}),
        )
        for option in ("", "none", "reference", "measured")
    }
    assert errors["none"] == pytest.approx(errors[""], rel=1e-9)
    assert errors["reference"] < 0.1 * errors["none"]
    assert errors["measured"] < 0.1 * errors["none"]


@pytest.mark.parametrize("name", GAINS)
def test_compensation_at_the_reference_is_stable_where_friction_is_overestimated(name):
    """The controller believes in twice the friction and more; at the measured rate that is negative
    damping."""
    errors = {}
    for option in ("reference", "measured"):
        plant = Plant(revolute(), np.zeros(2), np.zeros(2), lambda q, qd: 0.1 * friction(q, qd))
        law = robot(**FRICTION, friction_compensation=option).controller(
            name, {**GAINS[name], "k_d": 0.5}
        )
        still = {"q_ref": np.zeros(2), "qd_ref": np.zeros(2), "qdd_ref": np.zeros(2)}
        plant.qd = np.full(2, 0.2)
        timed = {"h": 0.001} if name == "computed_torque" else {}
        try:
            for _ in range(4000):
                plant.go(law.step(q=plant.q, qd=plant.qd, **still, **timed), 0.001)
            errors[option] = np.abs(plant.q).max()
        except ArithmeticError:  # it has run away
            errors[option] = np.inf
    assert errors["reference"] < 0.02
    assert errors["measured"] > 10 * errors["reference"]


# -- springs ---------------------------------------------------------------------------------------


def test_gravity_compensation_holds_against_springs():
    stiffness, rest = 6.0, 0.3
    builder = symgen.Builder("spring")
    builder.link("base")
    tensor = (0.06, 0.001, 0.0, 0.05, 0.0, 0.02)
    builder.link("a", mass=3.0, center_of_mass=(0.1, 0.02, 0.2), inertia=tensor)
    spring = {"stiffness": stiffness, "reference": rest}
    builder.joint("ja", "continuous", "base", "a", axis=(0.0, 0.6, 0.8), **spring)
    held = symgen.Robot(builder, springs=True).controller(
        "gravity_compensation", k_d=1.0, limit=1e3
    )
    plant = Plant(revolute(1), np.array([0.8]), np.zeros(1), lambda q, qd: -stiffness * (q - rest))
    for _ in range(3000):
        plant.go(held.step(q=plant.q, qd=plant.qd), 0.001)
    assert abs(plant.q[0] - 0.8) < 1e-3


# -- decay of errors -------------------------------------------------------------------------------

CHAINS = {
    "revolute": ("continuous", lambda: revolute(1)),
    "ball": ("ball", lambda: model_of(pin.JointModelSpherical())),
    "floating": ("floating", lambda: model_of(pin.JointModelFreeFlyer())),
}


@pytest.mark.parametrize("rate", [0.0, 5.0, 20.0])
@pytest.mark.parametrize("kind", CHAINS)
def test_errors_decay_as_promised(kind, rate):
    """e'' + 20 e' + 100 e = 0 from e = 1: (1 + 10 t) exp(-10 t), with a reference that turns about
    an axis of its own at a constant rate."""
    joint, model = CHAINS[kind][0], CHAINS[kind][1]()
    law = robot(urdf(joint, joints=1, dynamics=False)).controller(
        "computed_torque", k_p=100.0, k_d=20.0, k_i=0.0, limit=1e6
    )
    n = model.nv
    qd_ref = np.zeros(n)
    qd_ref[-3:] = rate * np.array([0.6, 0.0, 0.8])[-min(n, 3) :]
    away = np.zeros(n)
    away[-min(n, 3)] = 1.0
    neutral = pin.neutral(model)
    plant = Plant(model, pin.integrate(model, neutral, -away), np.zeros(n))
    frame = pin.difference(model, plant.q, neutral)
    assert np.abs(frame - away).max() < 1e-12
    plant.qd = moved_twist(model, plant.q, neutral, qd_ref)
    h, steps = 2e-4, 5000
    for k in range(steps):
        q_ref = pin.integrate(model, neutral, qd_ref * (k * h))
        tau = law.step(q=plant.q, qd=plant.qd, q_ref=q_ref, qd_ref=qd_ref, qdd_ref=0 * qd_ref, h=h)
        plant.go(tau, h)
        if k == 499:
            early = np.linalg.norm(error(model, plant.q, neutral, qd_ref, 500 * h))
    left = np.linalg.norm(error(model, plant.q, neutral, qd_ref, 1.0))
    assert early == pytest.approx(2 * np.exp(-1.0), rel=0.03)
    assert left < 0.0015


def error(model, q, neutral, qd_ref, t):
    return pin.difference(model, q, pin.integrate(model, neutral, qd_ref * t))


def moved_twist(model, q, q_ref, v):
    """A velocity at q_ref in the axes of the body at q, by Pinocchio."""
    if model.nv == 1:
        return v.copy()
    if model.nv == 3:
        turn = pin.Quaternion(q).matrix().T @ pin.Quaternion(q_ref).matrix()
        return turn @ v
    here, there = pin.XYZQUATToSE3(q), pin.XYZQUATToSE3(q_ref)
    return (here.actInv(there)).act(pin.Motion(v)).vector


# -- passivity -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["chain", "ball"])
def test_joint_impedance_neither_gains_nor_loses_energy(kind):
    """Without damping, ½ v_eᵀ M v_e + ½ k_p |e|² of the errors is constant along a fast motion of the
    reference: the loop is lossless, and passive with damping."""
    ball = kind == "ball"
    model = model_of(pin.JointModelSpherical()) if ball else revolute()
    text = urdf("ball", joints=1, dynamics=False) if ball else urdf(dynamics=False)
    n, h, k_p = model.nv, 1e-4, 30.0
    plant = Plant(model, pin.neutral(model), np.zeros(n))
    plant.q = pin.integrate(model, plant.q, np.full(n, 0.5))
    plant.qd = np.full(n, 2.0)

    def energies(k_d, seconds=0.4):
        body = Plant(model, plant.q, plant.qd)
        law = robot(text).controller("joint_impedance", k_p=k_p, k_d=k_d, limit=1e6)
        rate, values = np.full(n, 4.0), []
        for k in range(round(seconds / h)):
            q_ref = pin.integrate(model, pin.neutral(model), rate * (k * h))
            e = pin.difference(model, body.q, q_ref)
            v = (moved_twist(model, body.q, q_ref, rate) if ball else rate) - body.qd
            m = pin.crba(model, body.data, body.q)
            m = np.triu(m) + np.triu(m, 1).T
            values.append(v @ m @ v / 2 + k_p * e @ e / 2)
            body.go(law.step(q=body.q, qd=body.qd, q_ref=q_ref, qd_ref=rate, qdd_ref=0 * rate), h)
        return np.array(values)

    lossless, damped = energies(0.0), energies(2.0)
    assert np.abs(lossless / lossless[0] - 1).max() < 0.02  # the sampling, halved with h
    assert np.diff(damped).max() < 1e-6 * damped[0] and damped[-1] < 0.2 * damped[0]


def test_cartesian_impedance_does_not_gain_energy():
    """The task alone, without the posture: kinetic energy and that of the spring of the link."""
    model = revolute()
    body = Plant(model, np.array([0.4, -0.6]), np.array([1.0, -2.0]))
    k_x = np.array([80.0] * 3 + [0.0] * 3)
    gains = {"k_x": k_x, "d_x": 0.0, "k_p": 0.0, "k_d": 0.0, "damping": 0.05, "limit": 1e6}
    law = robot(urdf(dynamics=False)).controller("cartesian_impedance:b", gains)
    p_ref, values, h = np.array([0.05, 0.1, 0.25]), [], 1e-4
    for _ in range(5000):
        pin.forwardKinematics(model, body.data, body.q)
        e = p_ref - body.data.oMi[2].translation
        m = pin.crba(model, body.data, body.q)
        m = np.triu(m) + np.triu(m, 1).T
        values.append(body.qd @ m @ body.qd / 2 + 80.0 * e @ e / 2)
        aim = {"q_ref": np.zeros(2), "p_ref": p_ref, "quat_ref": [0.0, 0.0, 0.0, 1.0]}
        body.go(law.step(q=body.q, qd=body.qd, **aim), h)
    assert np.abs(np.array(values) / values[0] - 1).max() < 0.02
