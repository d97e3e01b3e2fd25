"""Springs of elastic joints from logs of motors and links that Pinocchio simulates."""

import json
from functools import cache

import numpy as np
import pytest

import symgen
from benchmarks.closed_loops import SimulatedElasticRobot
from tests.support.tools import invoke

ROBOT = "robots/pendulum.urdf"
STIFFNESS, DAMPING, INERTIA = np.array([150.0, 80.0]), np.array([1.5, 0.6]), np.array([0.3, 0.2])
VISCOUS, COULOMB = np.array([0.4, 0.2]), np.array([0.3, 0.1])
H, NOISE = 1e-3, 2e-5
SPEEDS = np.array([[1.1, 2.3, 4.1, 6.3], [1.7, 2.9, 5.3, 7.1]])
SIZES = np.array([[0.4, 0.25, 0.1, 0.08], [0.5, 0.3, 0.12, 0.08]])


@cache
def columns():
    """Six seconds: motors follow sinusoids by feedback, with friction, and encoders with noise.
    Torques are held for a sample, so that the recorded ones are half a sample early."""
    pytest.importorskip("pinocchio")
    body = SimulatedElasticRobot("pendulum", np.zeros((4, 2)), (STIFFNESS, DAMPING, INERTIA), 1)
    rows = []
    for t in H * np.arange(6000):
        q, qd, delta, deltad = body.state
        theta, rate = q + delta, qd + deltad
        e = (SIZES * np.sin(SPEEDS * t)).sum(axis=1) - theta
        de = (SIZES * SPEEDS * np.cos(SPEEDS * t)).sum(axis=1) - rate
        tau = body.pin.computeGeneralizedGravity(body.model, body.data, q) + 40 * e + 6 * de
        spring = STIFFNESS * delta + DAMPING * deltad
        rows.append([t, *q, *theta, *tau, *spring])
        body.go(tau - VISCOUS * rate - COULOMB * np.tanh(rate / 3e-3), H)
    found = np.array(rows)
    found[:, 1:5] += NOISE * np.random.default_rng(1).normal(size=(len(found), 4))
    return found


def log(sensor=False):
    """The log, with motor torques or those of sensors."""
    found, names = columns(), symgen.Robot(ROBOT).velocities
    starts = {"q": 1, "theta": 3, "tau": 7 if sensor else 5}
    table = {
        f"{g}_{name}": found[:, k + j] for g, k in starts.items() for j, name in enumerate(names)
    }
    return {"t": found[:, 0], **table}


@pytest.mark.parametrize("torque", ["motor", "joint", "model"])
def test_the_simulated_springs_are_found_within_standard_errors(torque):
    late = {"delay": f"{-H / 2}"} if torque == "motor" else {}
    found = symgen.Robot(ROBOT).stiffness(log(torque == "joint"), torque, **late)
    truth = {"joint_stiffness": STIFFNESS, "spring_damping": DAMPING}
    if torque == "motor":
        truth |= {"motor_inertia": INERTIA, "viscous": VISCOUS}
    for name, right in truth.items():
        off, error = found.values[name] - right, found.standard_errors[name]
        assert (abs(off) < 3 * error).all(), (name, off, error)
        assert (error < 0.03 * right).all(), (name, error)


def test_a_delay_of_the_torque_looks_like_damping():
    """K δ(t - d) = K δ - K d δ̇."""
    on_time, early = (
        symgen.Robot(ROBOT).stiffness(log(True), "joint", delay=f"{d}").values["spring_damping"]
        for d in (0.0, -2e-3)
    )
    assert np.allclose(on_time - early, 2e-3 * STIFFNESS, rtol=0.1)


def test_noise_that_makes_springs_too_soft_is_seen():
    noisy, random = log(sensor=True), np.random.default_rng(2)
    for name in [name for name in noisy if name.startswith("theta")]:
        noisy[name] = noisy[name] + 0.02 * random.normal(size=len(noisy["t"]))
    found = symgen.Robot(ROBOT).stiffness(noisy, "joint", cutoff=60.0)
    softer = 1 - found.values["joint_stiffness"][1] / STIFFNESS[1]
    told = float(found.notes[-1].split("'elbow' by about ")[1].split(" %")[0]) / 100
    assert softer > 0.1 and told == pytest.approx(softer, rel=0.3)


def test_the_command_prints_and_writes_what_generated_code_takes(tmp_path):
    np.savez(tmp_path / "log.npz", **log())
    done = invoke("stiffness", ROBOT, tmp_path / "log.npz", "-o", tmp_path / "s.toml", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    import tomllib

    written = tomllib.loads((tmp_path / "s.toml").read_text())
    assert written["joint_stiffness"] == found["joint_stiffness"]
    assert written["standard_errors"]["motor_inertia"] == found["standard_errors"]["motor_inertia"]
    shown = invoke("stiffness", ROBOT, tmp_path / "log.npz").stdout
    assert "joint_stiffness = {1" in shown and "N m/rad" in shown


@pytest.mark.parametrize(
    "options, sentence",
    [
        (("--torque", "spring"), "--torque spring: use one of motor, joint, model"),
        (("--torque", "model", "--delay", "0.001"), "--delay: has no effect with --torque model"),
        (("--column", "theta=motor_{}"), "the log has no column 'motor_"),
        (("--base", "floating"), "supports only robots whose joints have one coordinate each"),
    ],
)
def test_what_is_not_supported_is_refused(tmp_path, options, sentence):
    np.savez(tmp_path / "log.npz", **log())
    done = invoke("stiffness", ROBOT, tmp_path / "log.npz", *options)
    assert done.exit_code == 2 and sentence in done.stderr, done.output
