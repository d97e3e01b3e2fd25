"""What rotors do within a robot's limits: the states that are named, and what is known of simple
robots."""

import numpy as np
import pytest

import symgen
from symgen.jobs.job import Job
from symgen.robot.rotors import GOOD_SHARE, rotor_effects
from tests.support.tools import ROOT, invoke

UR5 = ROOT / "robots" / "ur5.urdf"
PENDULUM = ROOT / "robots" / "pendulum.urdf"
DRIVE = "[joints.{}]\ngear_ratio = 101.0\nrotor_inertia = 2.1e-5\n"


def drives(tmp_path, *joints):
    path = tmp_path / "drives.toml"
    path.write_text("".join(map(DRIVE.format, joints)), encoding="utf-8")
    return path


def effects(file, path):
    job = Job.of(file, actuators=str(path))
    return rotor_effects(job, job.load().model)


@pytest.fixture(scope="module")
def ur5(tmp_path_factory):
    path = drives(tmp_path_factory.mktemp("ur5"), "joint1", "joint2", "joint3")
    return path, effects(UR5, path)


def models(path):
    """By what is taken of rotors: forward and inverse dynamics on arrays, the algorithms without
    their tape."""

    def function(quantity, kind):
        traced = symgen.trace(UR5, quantity, actuators=str(path), rotors=kind)
        (out,) = traced.program.outputs

        def run(**rows):
            columns = {name: list(np.atleast_2d(x).T) for name, x in rows.items()}
            return np.array(traced.run(**columns)[out.name]).T

        return run

    return {
        kind: [function(name, kind) for name in ("forward_dynamics", "inverse_dynamics")]
        for kind in ("exact", "reflected", "none")
    }


def off(models, x, of, kind):
    """By state and joint, what a model is off by."""
    qdd = models["exact"][0](**x)
    forward, inverse = models[kind]
    if of == "acceleration":
        return np.abs(forward(**x) - qdd)
    return np.abs(inverse(q=x["q"], qd=x["qd"], qdd=qdd) - x["tau"])


def test_the_named_states_have_the_named_differences_and_others_have_less(ur5):
    path, told = ur5
    found, random = models(path), np.random.default_rng(7)
    limits = np.array([150, 150, 150, 28, 28, 28.0])
    other = {
        "q": random.uniform(-6.28, 6.28, (500, 6)),
        "qd": random.uniform(-3.14, 3.14, (500, 6)),
        "tau": limits * random.uniform(-1, 1, (500, 6)),
    }
    for d in told.differences:
        (here,) = off(found, {"q": d.q, "qd": d.qd, "tau": d.tau}, d.of, d.model)
        joint = int(here.argmax())
        assert d.joint == f"joint{joint + 1}"
        assert d.unit == {"torque": "N m", "acceleration": "rad/s^2"}[d.of]
        assert np.isclose(here[joint], d.largest, rtol=2e-2)  # the state is told in four digits
        assert off(found, other, d.of, d.model).max() <= d.largest
        if d.of == "torque":
            assert np.isclose(d.share, d.largest / limits[joint])


def test_without_rotors_much_more_is_off_than_with_reflected_ones(ur5):
    by = {(d.model, d.of): d.largest for d in ur5[1].differences}
    assert all(by["none", of] > 20 * by["reflected", of] for of in ("torque", "acceleration"))


def test_a_rotor_on_the_base_is_on_the_diagonal(tmp_path):
    """What stands still carries it, so that ratio^2 inertia is all there is."""
    told = effects(UR5, drives(tmp_path, "joint1"))
    by = {(d.model, d.of): d for d in told.differences}
    assert by["reflected", "torque"].largest < 1e-6
    assert by["none", "torque"].largest > GOOD_SHARE * 150
    assert told.good_up_to == 1.0


def test_limits_that_are_missing_are_said(tmp_path):
    told = effects(PENDULUM, drives(tmp_path, "shoulder"))
    assert all("taken" in line for line in told.assumed)


def test_robots_without_rotors_have_no_effects():
    job = Job.of(PENDULUM)
    assert rotor_effects(job, job.load().model) is None


def test_check_tells(tmp_path):
    path = drives(tmp_path, "joint1", "joint2")
    found = invoke("check", str(UR5), "--actuators", str(path))
    assert "ratio^2 inertia on the diagonal: torque off by" in found.stdout
    assert "no rotors: acceleration off by" in found.stdout
    assert "off by" not in invoke("check", str(UR5)).stdout
