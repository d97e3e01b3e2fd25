"""Friction of a joint with several coordinates is identified coordinate by coordinate."""

import numpy as np

import symgen
from symgen.reading.assemble import load
from tests.support.tools import invoke

LINK = (
    '<link name="{0}"><inertial><origin xyz="0.1 0.05 0.02"/><mass value="{1}"/><inertia ixx="0.2" '
    'ixy="0" ixz="0" iyy="0.3" iyz="0" izz="0.25"/></inertial></link>'
)
ROBOT = (
    '<robot name="stage"><link name="base"/>'
    + LINK.format("table", 4.0)
    + LINK.format("arm", 2.0)
    + '<joint name="stage" type="planar"><parent link="base"/><child link="table"/>'
    '<axis xyz="0 0 1"/><dynamics damping="{0}" friction="{1}"/></joint>'
    '<joint name="elbow" type="continuous"><parent link="table"/><child link="arm"/>'
    '<origin xyz="0.3 0 0.1"/><axis xyz="0 1 0"/><dynamics damping="{2}" friction="{3}"/></joint>'
    "</robot>"
)


def test_a_file_of_actuators_has_a_list_for_them(tmp_path):
    """The truth has other coefficients than the file that the estimate starts from; the file that
    is written gives the forces of the truth."""
    truth = ROBOT.format("3 5 0.7", "1.5 2 0.3", 0.4, 0.2)
    prior, drives, log = (tmp_path / name for name in ("prior.urdf", "drives.toml", "log.csv"))
    prior.write_text(ROBOT.format("1", "1", 1, 1), encoding="utf-8")
    made = symgen.compile(truth, "inverse_dynamics", friction="viscous,coulomb")
    t, rng = np.arange(0, 20, 0.01), np.random.default_rng(0)
    q, qd, qdd = np.zeros((3, len(t), 4))
    for k in range(4):
        for rate in rng.uniform(0.5, 6, 5):
            a, phase = rng.uniform(0.1, 0.4), rng.uniform(0, 6)
            q[:, k] += a * np.sin(rate * t + phase)
            qd[:, k] += a * rate * np.cos(rate * t + phase)
            qdd[:, k] -= a * rate**2 * np.sin(rate * t + phase)
    tau = np.array([made.inverse_dynamics(*row) for row in zip(q, qd, qdd, strict=True)])
    names = symgen.Robot(truth).velocities
    heads = [f"{word}_{name}" for word in ("q", "qd", "qdd", "tau") for name in names]
    rows = np.column_stack([t, q, qd, qdd, tau + rng.normal(0, 1e-4, tau.shape)])
    np.savetxt(log, rows, delimiter=",", header=",".join(["t", *heads]), comments="")
    asked = ("--friction", "viscous,coulomb", "--actuators-out", drives)
    done = invoke("identify", prior, log, *asked)
    assert done.exit_code == 0, done.output
    joints = {j.name: j for _, j in load(prior, actuators=drives).model.joints}
    stage, elbow = joints["stage"], joints["elbow"]
    assert np.allclose(stage.damping, [3, 5, 0.7], atol=2e-3)
    assert np.allclose(stage.friction, [1.5, 2, 0.3], atol=2e-3)
    assert np.allclose([elbow.damping, elbow.friction], [0.4, 0.2], atol=2e-3)
