"""Wrenches in joints against Pinocchio and MuJoCo, and against joint forces."""

from dataclasses import replace

import numpy as np
import pytest

from symgen.errors import OptionError
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.loops import four_bar
from tests.support.oracles import oracle
from tests.support.pinocchio_robots import NAMES, pair, states
from tests.support.random_trees import ROBOTS
from tests.support.states import close, run
from tests.support.tools import invoke

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


# -- fixed joints ----------------------------------------------------------------------------------

INERTIAL = (
    '<inertial><origin xyz="{} 0.02 0.1" rpy="0.1 0.2 0.3"/><mass value="{}"/>'
    '<inertia ixx="0.03" ixy="0.001" ixz="0.002" iyy="0.02" iyz="0" izz="0.025"/></inertial>'
)
LINKS = "".join(
    f'<link name="{name}">{INERTIAL.format(0.03 * k, k)}</link>'
    for k, name in enumerate(("base", "arm", "sensor", "tool", "finger", "side"), 1)
)
KINDS = {
    "turn": "revolute",
    "flange": "fixed",
    "mount": "fixed",
    "grip": "prismatic",
    "out": "revolute",
}
ENDS = (
    ("base", "arm"),
    ("arm", "sensor"),
    ("sensor", "tool"),
    ("sensor", "finger"),
    ("arm", "side"),
)
LIMIT = '<limit lower="-2" upper="2" effort="9" velocity="9"/>'


def held(kinds):
    """A robot whose sensor carries a tool and a finger, while another joint leaves its arm."""
    joints = "".join(
        f'<joint name="{name}" type="{kind}"><parent link="{a}"/><child link="{b}"/>'
        f'<origin xyz="0.1 0.02 {0.1 * k}" rpy="0.3 {0.2 * k} 0.1"/>'
        f'<axis xyz="0 {k % 2} {1 - k % 2}"/>{LIMIT}</joint>'
        for k, ((name, kind), (a, b)) in enumerate(zip(kinds.items(), ENDS, strict=True))
    )
    return f'<robot name="held">{LINKS}{joints}</robot>'


def held_state():
    """A state of the moving joints, and the same with the fixed ones at 0, as Pinocchio has it."""
    rng = np.random.default_rng(2)
    x = {name: rng.uniform(-1, 1, 3) for name in STATE}
    judge = pin.buildModelFromXML(held(KINDS | {"flange": "revolute", "mount": "revolute"}))
    at = [judge.joints[judge.getJointId(name)].idx_v for name in ("turn", "grip", "out")]
    wide = [np.zeros(judge.nv) for _ in STATE]
    for row, values in zip(wide, x.values(), strict=True):
        row[at] = values
    return x, judge, wide


def test_what_a_fixed_joint_transmits_is_pinocchio_s():
    x, judge, wide = held_state()
    data = judge.createData()
    torque = pin.rnea(judge, data, *wide)
    robot = ParametricModel(load(held(KINDS), keep_fixed=("mount", "flange")).model)
    for name in KINDS:
        (found,) = run(robot, f"joint_wrench:{name}", x).values()
        close(found, data.f[judge.getJointId(name)].vector)
    (tau,) = run(robot, "inverse_dynamics", x).values()
    at = [judge.joints[judge.getJointId(name)].idx_v for name in ("turn", "grip", "out")]
    close(tau, torque[at])
    plain = ParametricModel(load(held(KINDS)).model)
    close(tau, run(plain, "inverse_dynamics", x)["tau"])


def test_a_push_on_the_tool_passes_the_flange():
    """Its force, turned and moved to the origin of the flange, is taken off; friction and the
    armature of the finger's motor are inside other joints."""
    x, judge, wide = held_state()
    model = load(held(KINDS), keep_fixed=("flange",)).model
    plain = ParametricModel(model)
    pushed = replace(plain, wrenches=("tool",), friction=("viscous",))
    push = np.array([3.0, -2.0, 5.0, 0.3, 0.1, -0.2])
    (free,) = run(plain, "joint_wrench:flange", x).values()
    (found,) = run(pushed, "joint_wrench:flange", x | {"wrench": push}).values()
    data = judge.createData()
    pin.forwardKinematics(judge, data, wide[0])
    ends = [data.oMi[judge.getJointId(name)] for name in ("flange", "mount")]
    moved = ends[0].actInv(ends[1]).act(pin.Force(push)).vector
    close(found, free - moved)


@pytest.mark.parametrize("kept", [(), ("flange", "mount")])
def test_a_kept_fixed_joint_has_no_friction_and_no_spring(kept):
    model = load(held(KINDS), keep_fixed=kept).model
    robot = ParametricModel(model, friction=("viscous",), runtime_friction=True, springs=True)
    robot = replace(robot, runtime_springs=True)
    inputs = dict(trace(robot, FunctionRequest.parse("inverse_dynamics")).program.inputs)
    assert inputs["friction"] == (3,) and inputs["springs"] == (6,)


def test_c_of_a_kept_fixed_joint_is_verified(tmp_path):
    robot, out = tmp_path / "held.urdf", tmp_path / "out"
    robot.write_text(held(KINDS))
    names = ("joint_wrench:flange", "joint_wrenches", "joint_wrench_derivatives:flange")
    options = [part for name in names for part in ("--quantity", name)]
    done = invoke("generate", robot, "-o", out, "--keep-fixed", "flange", *options, "--lang", "c")
    assert done.exit_code == 0, done.stderr
    done = invoke("verify", out)
    assert done.exit_code == 0, done.stdout


def test_the_count_of_a_kept_fixed_joint():
    robot = ParametricModel(load(held(KINDS), keep_fixed=("flange",)).model)
    assert trace(robot, FunctionRequest.parse("joint_wrench:flange")).counts.total <= 340


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("turn", {}, "--keep-fixed 'turn': the joint is not fixed"),
        ("none", {}, "--keep-fixed 'none': the robot has no such joint"),
        ("flange", {"lock": (("turn", 0.0), ("grip", 0.0), ("out", 0.0))}, "without moving joints"),
    ],
)
def test_a_joint_that_cannot_be_kept_is_refused(name, options, message):
    with pytest.raises(OptionError, match=message):
        load(held(KINDS), keep_fixed=(name,), **options)


def test_a_fixed_joint_of_a_closed_loop_is_refused():
    loop = four_bar().link("pad").joint("weld", "fixed", "wrist", "pad")
    with pytest.raises(OptionError, match="closed loops are not supported"):
        load(loop, keep_fixed=("weld",))
