"""Wrenches in joints against Pinocchio and MuJoCo, and against joint forces."""

from dataclasses import replace

import numpy as np
import pytest

from symgen.errors import OptionError
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.oracles import oracle
from tests.support.pinocchio_robots import NAMES, pair, states
from tests.support.random_trees import ROBOTS
from tests.support.states import close, run

pin = oracle("pinocchio")
mujoco = oracle("mujoco")
STATE = ("q", "qd", "qdd")
UR5 = {
    "joint_wrench:joint1": 467,
    "joint_wrench:joint6": 222,
    "joint_wrench_derivatives:joint3": 2383,
}


def of_pinocchio(name, x):
    """Force and moment in each joint by Pinocchio's recursive Newton-Euler algorithm, and the
    rotation of each joint's frame."""
    _, judge = pair(name)
    data = judge.createData()
    pin.rnea(judge, data, x["q"], x["qd"], x["qdd"])
    pin.forwardKinematics(judge, data, x["q"])
    return np.array([f.vector for f in data.f[1:]]), [p.rotation for p in data.oMi[1:]]


@pytest.mark.parametrize("name", NAMES)
def test_wrenches_are_pinocchio_s(name):
    robot, _ = pair(name)
    x = states(name, "qd", "qdd")
    wanted, turns = of_pinocchio(name, x)
    close(run(robot, "joint_wrenches", x)["w_joints"], wanted.ravel())
    for k, (_, joint) in enumerate(robot.model.joints):
        (found,) = run(robot, f"joint_wrench:{joint.name}", x).values()
        close(found, wanted[k])
        (found,) = run(robot, f"joint_wrench_aligned:{joint.name}", x).values()
        close(found.reshape(2, 3), wanted[k].reshape(2, 3) @ turns[k].T)


@pytest.mark.parametrize("name", ["ur5", "quadruped"])
def test_the_regressor_times_the_parameters_is_the_wrench(name):
    robot, _ = pair(name)
    x = states(name, "qd", "qdd")
    everything = ParametricModel(robot.model, tuple(b.name for b in robot.model.moving))
    pi = np.concatenate(list(everything.blocks.values()))
    joint = robot.model.bodies[-2].joint.name
    (regressor,) = run(robot, f"joint_wrench_regressor:{joint}", x).values()
    (wrench,) = run(robot, f"joint_wrench:{joint}", x).values()
    close(regressor.reshape(6, -1) @ pi, wrench)


@pytest.mark.parametrize("varied", STATE)
def test_derivatives_are_those_of_the_wrench(varied):
    """Against the complex step of the wrench itself."""
    robot, _ = pair("panda_arm")
    x, joint = states("panda_arm", "qd", "qdd"), "joint3"
    slopes = run(robot, f"joint_wrench_derivatives:{joint}", x)
    found = slopes[f"w_joint_{varied}_{joint}"].reshape(6, -1)
    (one,) = FunctionRequest.parse(f"joint_wrench:{joint}").quantities
    function = trace(robot, FunctionRequest("w", (one,)))
    for k in range(robot.model.dof):
        tilted = x | {varied: x[varied] + 1e-30j * np.eye(robot.model.dof)[k]}
        (column,) = function.run(**{name: tilted[name] for name in STATE}).values()
        close(found[:, k], np.array([complex(w).imag for w in column]) / 1e-30)


def test_mujoco_s_sensors_read_the_same_wrench():
    """MuJoCo's force and torque sensors read the wrench between a body and its parent."""
    file = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body name="upper">
      <joint name="a" type="hinge" axis="0 1 0"/><inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.2 0.3"/>
      <body name="lower" pos="0.3 0 0.4"><joint name="b" type="hinge" axis="1 0 0"/>
      <inertial pos="0 0.1 0.2" mass="1" diaginertia="0.01 0.02 0.03"/><site name="s"/></body></body></worldbody>
      <sensor><force site="s"/><torque site="s"/></sensor></mujoco>"""
    model = mujoco.MjModel.from_xml_string(file)
    data = mujoco.MjData(model)
    data.qpos, data.qvel = [0.4, -0.7], [1.2, 0.8]
    mujoco.mj_forward(model, data)
    x = {"q": data.qpos, "qd": data.qvel, "qdd": data.qacc}
    (found,) = run(ParametricModel(load(file).model), "joint_wrench:b", x).values()
    close(found, data.sensordata, 1e-9)


def test_along_the_axis_it_is_the_joint_force_without_friction_and_the_joint_s_own_rotor(tmp_path):
    """The rotors that links carry load the joints inward of them; friction and springs act inside
    the joint, between the drive and the bearing."""
    drives = tmp_path / "drives.toml"
    drives.write_text("[joints.joint4]\ngear_ratio = 50\nrotor_inertia = 1e-4\nviscous = 3.0\n")
    geared = load(ROBOTS / "ur5.urdf", actuators=drives).model
    plain, robot = ParametricModel(load(ROBOTS / "ur5.urdf").model), ParametricModel(geared)
    x = states("ur5", "qd", "qdd")
    rubbing = replace(robot, friction=("viscous",))
    for k, (_, joint) in enumerate(plain.model.joints):
        (wrench,) = run(rubbing, f"joint_wrench:{joint.name}", x).values()
        load_force = run(robot if k < 3 else plain, "inverse_dynamics", x)["tau"][k]
        close(wrench[3:] @ np.array(joint.axis), np.array(load_force))


def test_external_wrenches_are_taken_off():
    """A force on the tool that carries its weight leaves the wrench of the rest of the arm."""
    robot = ParametricModel(load(ROBOTS / "ur5.urdf").model, wrenches=("link6",))
    x = states("ur5", "qd", "qdd")
    (free,) = run(robot, "joint_wrench:joint6", x | {"wrench": np.zeros(6)}).values()
    (held,) = run(robot, "joint_wrench:joint6", x | {"wrench": free}).values()
    close(held, np.zeros(6))


@pytest.mark.parametrize("name", UR5)
def test_counts(name):
    arm = ParametricModel(load(ROBOTS / "ur5.urdf").model)
    assert trace(arm, FunctionRequest.parse(name)).counts.total <= UR5[name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("joint_wrench", "a quantity of a joint; name the joint, as in joint_wrench:JOINT"),
        ("joint_wrench:link3", "no moving joint is called 'link3'"),
        ("joint_wrench:flange_joint", "no moving joint is called 'flange_joint'"),
    ],
)
def test_a_joint_that_does_not_move_is_refused(name, message):
    arm = ParametricModel(load(ROBOTS / "ur5.urdf").model)
    with pytest.raises(OptionError, match=message):
        trace(arm, FunctionRequest.parse(name))
