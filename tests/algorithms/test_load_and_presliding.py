"""Friction that depends on the load of a joint, and presliding friction with its state: in closed
form, in steps and in simulation, and where each is refused."""

import json
from itertools import pairwise

import numpy as np
import pytest
from mpmath import mp

import symgen
from symgen.errors import OptionError
from symgen.jobs.api import generate, trace
from symgen.mechanics.joint_forces import presliding_after
from tests.support.tools import ROOT, invoke, robot_file

PENDULUM = robot_file("pendulum")
FOLLOWERS = ROOT / "tests" / "wild" / "two_leaders.urdf"
STATE = {"q": [0.3, -0.4], "qd": [0.7, -0.25], "qdd": [0.0, 0.0]}
ROTOR = "rotor_inertia = 1e-3\ngear_ratio = 60.0\n"


@pytest.mark.parametrize("rotor", ["", ROTOR], ids=["bare", "rotors"])
def test_the_load_is_solved_in_closed_form(rotor, tmp_path):
    """The load is the joint force without friction, rotors included."""
    path = tmp_path / "drives.toml"
    path.write_text(
        f"[joints.shoulder]\nload = 0.3\nviscous = 0.5\n{rotor}"
        f"[joints.elbow]\nload = -0.2\ncoulomb = 0.4\noffset = 0.2\n{rotor}"
    )
    given = {"actuators": str(path), "friction": "viscous,coulomb,offset,load"}
    for sign in (1.0, -1.0):
        x = STATE | {"qdd": [3.0 * sign, -2.0]}
        bare = trace(PENDULUM, "inverse_dynamics", **given | {"friction": ""}).run(**x)["tau"]
        tau = trace(PENDULUM, "inverse_dynamics", **given).run(**x)["tau"]
        (a, b), (u, v) = map(float, bare), STATE["qd"]
        wanted = [a + 0.5 * u + 0.3 * abs(a), b - 0.4 + 0.2 + 0.2 * abs(b)]
        assert v < 0 and np.array(tau, float) == pytest.approx(wanted, rel=1e-12)
        back = trace(PENDULUM, "forward_dynamics", **given).run(q=x["q"], qd=x["qd"], tau=tau)
        assert np.array(back["qdd"], float) == pytest.approx(x["qdd"], rel=1e-12)


def test_the_load_of_a_joint_contains_those_that_follow_it(tmp_path):
    """Also a joint that follows two others. In `symgen identify`, too, it is the force of the
    coordinate."""
    joints = [joint.name for _, joint in symgen.load(FOLLOWERS).model.leading]
    path = tmp_path / "drives.toml"
    path.write_text("".join(f"[joints.{name}]\nload = 0.3\n" for name in joints))
    state = {"q": [0.3, -0.4], "qd": [0.7, 0.25], "qdd": [1.5, -2.0]}
    bare = trace(FOLLOWERS, "inverse_dynamics").run(**state)["tau"]
    loaded = trace(FOLLOWERS, "inverse_dynamics", actuators=str(path), friction="load")
    wanted = [float(x) + 0.3 * abs(float(x)) for x in bare]
    assert np.array(loaded.run(**state)["tau"], float) == pytest.approx(wanted, rel=1e-12)
    out = tmp_path / "out"
    generate(FOLLOWERS, out, quantities=("inverse_dynamics",), friction="load", actuators=str(path))
    assert invoke("verify", out).exit_code == 0


def test_what_does_not_support_the_load_is_refused(tmp_path):
    for name in ("base_regressor", "adaptive_slotine_li", "forward_dynamics_derivatives"):
        with pytest.raises(OptionError, match=f"--friction load: {name} does not support it"):
            generate(PENDULUM, tmp_path / "out", quantities=(name,), friction="runtime:load")
    (tmp_path / "stuck.toml").write_text("[joints.elbow]\nload = 1.0\n")
    options = {"actuators": str(tmp_path / "stuck.toml"), "friction": "load"}
    with pytest.raises(OptionError, match="joint 'elbow' has coefficients of 1 or more"):
        generate(PENDULUM, tmp_path / "out", quantities=("forward_dynamics",), **options)
    with pytest.raises(OptionError, match="joints of this robot follow others"):
        trace(FOLLOWERS, "forward_dynamics", friction="runtime:load")
    assert not (tmp_path / "out").exists()


def test_presliding_is_rate_independent_and_dissipates():
    """One step is as good as many, and the work on the state is at least the change of the storage
    δ s²/2, along a path with reversals."""
    path = [0.0, 0.03, 0.5, 0.42, 0.44, -0.2, -0.19, 0.6]
    delta, s, work = 0.125, mp.mpf(0), mp.mpf(0)
    with mp.workdps(30):
        for a, b in pairwise(path):
            change, before, steps = mp.mpf(b) - a, s, 64
            s = presliding_after(before, change, delta)
            fine = before
            for _ in range(steps):
                fine = presliding_after(fine, change / steps, delta)
            assert abs(fine - s) < 1e-25 and abs(s) <= 1
            toward = mp.sign(change)
            share = 1 - mp.exp(-abs(change) / delta)
            work += toward * (toward * abs(change) + (before - toward) * delta * share)
            assert work >= delta * s * s / 2
            slope = mp.diff(lambda x, s=s: presliding_after(s, x, delta), 0, direction=1)
            assert abs(slope - (1 - s) / delta) < 1e-12


def test_presliding_in_code_in_steps_and_in_simulation(tmp_path):
    """Steps that carry the state follow the simulation through a reversal; the robot comes to rest
    where presliding holds it."""
    pytest.importorskip("scipy")
    path = tmp_path / "drives.toml"
    rows = "presliding = {}\npresliding_distance = 0.01\nviscous = 8.0\n"
    path.write_text(f"[joints.shoulder]\n{rows.format(60.0)}[joints.elbow]\n{rows.format(20.0)}")
    given = {"actuators": str(path), "friction": "viscous,presliding"}
    start, rates = [0.3, -0.4], [0.5, 0.5]
    robot = symgen.Robot(PENDULUM, **given)
    run = robot.simulate(0.05, start, rates, times=[0.0, 0.05])
    step, update = robot.compile("step:rk4").step_rk4, robot.compile("presliding_update")
    q, qd, s, h = np.array(start), np.array(rates), np.zeros(2), np.array([5e-5])
    for _ in range(1000):
        at = q
        q, qd = step(q, qd, np.zeros(2), h, s)
        s = update.presliding_update(at, q, s)
    assert (np.sign(qd) != np.sign(rates)).any(), "no reversal"
    assert q == pytest.approx(run.q[-1], abs=2e-6) and qd == pytest.approx(run.qd[-1], abs=2e-4)
    assert s == pytest.approx(run.presliding[-1], abs=2e-4)
    rest = robot.simulate(3.0, start, rates, rtol=1e-6)
    held = trace(PENDULUM, "gravity").run(q=rest.q[-1].tolist())["tau_g"]
    assert (abs(rest.qd[-1]) < 1e-3).all()
    assert -rest.presliding[-1] * [60.0, 20.0] == pytest.approx(np.array(held, float), abs=0.05)


def test_predictions_of_logs_contain_the_laws(tmp_path):
    """Friction of 0.1 times the load of a joint that moves in one direction."""
    t = np.arange(0, 2, 0.01)
    q, qd = np.stack([0.2 * t, 0.5 * t], 1), np.tile([0.2, 0.5], (len(t), 1))
    rigid = symgen.compile(PENDULUM, "inverse_dynamics").inverse_dynamics(q, qd, 0 * q)
    tau = rigid + np.stack([0 * t, 0.1 * np.abs(rigid[:, 1])], 1)
    names = [f"{kind}_{joint}" for kind in ("q", "qd", "tau") for joint in ("shoulder", "elbow")]
    log, path = tmp_path / "log.csv", tmp_path / "drives.toml"
    header = ",".join(["t", *names])
    rows = np.column_stack([t, q, qd, tau])
    np.savetxt(log, rows, delimiter=",", header=header, comments="")
    path.write_text("[joints.elbow]\nload = 0.1\n")
    errors = []
    for options in ((), ("--actuators", path)):
        done = invoke("predict", PENDULUM, log, *options, "--json")
        assert done.exit_code == 0, done.output
        errors.append(json.loads(done.stdout)["channels"][1]["all"]["relative"])
    assert errors[1] < 1e-3 < 0.05 < errors[0]
