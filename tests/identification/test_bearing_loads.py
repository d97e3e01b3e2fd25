"""The largest and root-mean-square wrenches in joints, over a log and over a simulation."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import symgen
from tests.support.oracles import oracle
from tests.support.term_logs import FILE, RECIPE, log
from tests.support.tools import invoke, robot_file

pin = oracle("pinocchio")
SHORT = replace(RECIPE, duration=3.0)


def loads_of(wrenches, axis):
    """The loads of a joint from its wrenches (N x 6), by projection."""
    across = np.eye(3) - np.outer(axis, axis)
    sizes = {
        "axial_force": np.abs(wrenches[:, :3] @ axis),
        "radial_force": np.linalg.norm(wrenches[:, :3] @ across, axis=1),
        "bending_moment": np.linalg.norm(wrenches[:, 3:] @ across, axis=1),
        "force": np.linalg.norm(wrenches[:, :3], axis=1),
        "moment": np.linalg.norm(wrenches[:, 3:], axis=1),
    }
    return {k: (x.max(), np.sqrt((x * x).mean())) for k, x in sizes.items()}


def pinocchio_wrenches(file, q, qd, qdd):
    """The wrenches of all joints (N x joints x 6)."""
    model = pin.buildModelFromUrdf(str(file))
    data = model.createData()
    rows = []
    for state in zip(q, qd, qdd, strict=True):
        pin.rnea(model, data, *state)
        rows.append([f.vector for f in data.f[1:]])
    return np.array(rows)


def test_the_loads_over_a_log_are_those_of_pinocchio(tmp_path):
    _, loaded, path = log(tmp_path, lambda q, qd, qdd, tau: 0 * q, recipe=SHORT)
    done = invoke("predict", FILE, path, "--joint-wrenches", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)["joints"]
    with np.load(path) as columns:
        names = loaded.model.joint_names
        states = [np.stack([columns[f"{x}_{n}"] for n in names], 1) for x in ("q", "qd", "qdd")]
    wrenches = pinocchio_wrenches(FILE, *states)
    for k, (_, joint) in enumerate(loaded.model.joints):
        wanted = loads_of(wrenches[:, k], np.array(joint.axis))
        for name, (largest, rms) in wanted.items():
            assert found[joint.name][name]["maximum"] == pytest.approx(largest, rel=2e-2, abs=1e-6)
            assert found[joint.name][name]["rms"] == pytest.approx(rms, rel=2e-2, abs=1e-6)
    table = invoke("predict", FILE, path, "--joint-wrenches").stdout
    assert "Loads of the joints" in table and "bending moment" in table


HELD = """<link name="grip"><inertial><origin xyz="0.02 0.01 0.1"/><mass value="1.5"/>
<inertia ixx="0.01" ixy="0" ixz="0.001" iyy="0.02" iyz="0" izz="0.015"/></inertial></link>
<joint name="sensor" type="{}"><parent link="{}"/><child link="grip"/><axis xyz="0 1 0"/>
<origin xyz="0.01 0.03 -0.05" rpy="0.3 -0.2 0.4"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/></joint></robot>"""


def test_the_loads_of_a_kept_fixed_joint_over_a_log_are_those_of_pinocchio(tmp_path):
    """Pinocchio has it as a revolute joint that stays at 0."""
    _, loaded, path = log(tmp_path, lambda q, qd, qdd, tau: 0 * q, recipe=SHORT)
    last, bare = loaded.model.bodies[-1].name, Path(FILE).read_text()
    files = {}
    for kind in ("fixed", "revolute"):
        files[kind] = tmp_path / f"{kind}.urdf"
        files[kind].write_text(bare.replace("</robot>", HELD.format(kind, last)))
    options = ("--joint-wrenches", "--json", "--keep-fixed", "sensor")
    done = invoke("predict", files["fixed"], path, *options)
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)["joints"]
    with np.load(path) as columns:
        states = [
            np.stack([columns[f"{x}_{n}"] for n in loaded.model.joint_names], 1)
            for x in ("q", "qd", "qdd")
        ]
    wide = [np.hstack([x, np.zeros((len(x), 1))]) for x in states]
    wrenches = pinocchio_wrenches(files["revolute"], *wide)[:, -1]
    for name, (largest, rms) in loads_of(wrenches, np.array([0, 1, 0])).items():
        if name in ("force", "moment"):
            assert found["sensor"][name]["maximum"] == pytest.approx(largest, rel=2e-2)
            assert found["sensor"][name]["rms"] == pytest.approx(rms, rel=2e-2)


def test_an_estimate_does_not_determine_wrenches(tmp_path):
    _, _, path = log(tmp_path, lambda q, qd, qdd, tau: 0 * q, recipe=SHORT)
    done = invoke("predict", FILE, path, "--joint-wrenches", "--estimate", tmp_path)
    assert done.exit_code == 2 and "do not determine the wrenches in joints" in done.stderr
    assert done.stdout == ""


def test_a_simulation_has_the_wrenches_of_its_motion():
    file = robot_file("ur5")
    robot = symgen.Robot(file)
    motion = robot.simulate(0.05, [0.1, -1.0, 0.8, 0.3, 0.2, 0.1], joint_wrenches=True)
    qdd = robot.compile("forward_dynamics").forward_dynamics(motion.q, motion.qd, motion.tau)
    wanted = pinocchio_wrenches(file, motion.q, motion.qd, qdd)
    assert np.allclose(motion.joint_wrenches, wanted, rtol=1e-9, atol=1e-9)
    for k, joint in enumerate(motion.joint_loads):
        expected = loads_of(wanted[:, k], np.array(robot.model.bodies[k].joint.axis))
        for name, (largest, rms) in expected.items():
            assert joint.loads[name].maximum == pytest.approx(largest)
            assert joint.loads[name].rms == pytest.approx(rms)
    assert robot.simulate(0.1).joint_loads == ()
