"""Couplings of MuJoCo, ROS and SDF: tendons, transmissions, loops."""

import numpy as np
import pytest

from symgen.errors import OptionError, RobotError
from symgen.reading.assemble import load
from symgen.tracing.robot import ParametricModel
from tests.support.states import run
from tests.support.wild_cases import WILD, case

MJCF = """<mujoco><compiler angle="radian"/><worldbody>
<body name="a"><joint name="j" type="hinge" axis="0 1 0" ref="0.2"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
<body name="b" pos="1 0 0"><joint name="k" type="hinge" axis="0 1 0" armature="0.02"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
<body name="c" pos="0 0 0.3"><joint name="s" type="slide" axis="1 0 0"/>
<inertial pos="0.1 0 0" mass="0.5" diaginertia="0.1 0.1 0.1"/></body></body></body></worldbody>
<tendon><fixed name="t"><joint joint="j" coef="2"/><joint joint="k" coef="-3"/></fixed>
<fixed name="u"><joint joint="s" coef="4"/></fixed></tendon>%s</mujoco>"""


def mjcf(folder, rest, **options):
    path = folder / "r.xml"
    path.write_text(MJCF % rest)
    return path, load(path, **options)


@pytest.mark.parametrize("leader", ['tendon2="u"', ""])
def test_tendons_of_mujoco_couple_joints(tmp_path, leader):
    """The constraint's residual vanishes, and torques do the work of those of MuJoCo's tree."""
    mujoco = pytest.importorskip("mujoco")
    tie = f'<equality><tendon tendon1="t" {leader} polycoef="0.1 0.5 0 0 0"/></equality>'
    path, loaded = mjcf(tmp_path, tie)
    assert loaded.model.joint_names == ("k", "s") and not loaded.notices
    model = mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    follow = next(body.follows for body in loaded.model.bodies if body.follows)
    g = np.array([[dict(follow.terms).get(i, 0.0) for i in (2, 3)], [1, 0], [0, 1]])
    x = {name: rng.uniform(-1, 1, 2) for name in ("q", "qd", "qdd")}
    data.qpos, data.qvel, data.qacc = g @ x["q"] + [follow.offset, 0, 0], g @ x["qd"], g @ x["qdd"]
    mujoco.mj_fwdPosition(model, data)
    assert np.allclose(data.efc_pos[0], 0, atol=1e-15)
    assert np.allclose(data.efc_J.reshape(-1, 3)[0] @ g, 0, atol=1e-15)
    mujoco.mj_fwdVelocity(model, data)
    data.qacc = g @ x["qdd"]
    tau = np.zeros(3)
    mujoco.mj_rne(model, data, 1, tau)
    tau += model.dof_armature * data.qacc
    found = run(ParametricModel(loaded.model), "inverse_dynamics", x)["tau"]
    assert np.allclose(found, g.T @ tau, rtol=1e-12, atol=1e-12)


def test_actuators_of_mujoco_are_motors(tmp_path):
    """Their lengths and forces: torques of joints are momentᵀ times forces."""
    mujoco = pytest.importorskip("mujoco")
    motors = (
        '<actuator><motor name="one" tendon="t" gear="2"/><motor name="two" joint="j" gear="5"/>'
        '<position name="again" joint="j"/></actuator>'
    )
    path, loaded = mjcf(tmp_path, motors, coordinates="actuators")
    assert loaded.model.joint_names == ("two", "one", "s")
    model = mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    data.qpos, data.qvel = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    mujoco.mj_forward(model, data)
    moment = np.zeros((model.nu, 3))
    mujoco.mju_sparse2dense(
        moment, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind
    )
    by = np.vstack([moment[1], moment[0], [0, 0, 1]])
    data.qacc = rng.uniform(-1, 1, 3)
    qdd = data.qacc.copy()
    mujoco.mj_inverse(model, data)
    one, two, _ = data.actuator_length
    x = {"q": [two, one, data.qpos[2]], "qd": by @ data.qvel, "qdd": by @ qdd}
    found = run(ParametricModel(loaded.model), "inverse_dynamics", x)["tau"]
    assert np.allclose(by.T @ found, data.qfrc_inverse, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("couple", "words"),
    [
        ([("nobody", "crank:1")], "no joint 'nobody'"),
        ([("elbow", "nobody:1")], "no joint 'nobody'"),
        ([("elbow", "0.5")], "give JOINT=LEADER:FACTOR"),
        ([("elbow", "crank:1,1,2")], "give JOINT=LEADER:FACTOR"),
        ([("elbow", "crank:x")], "'x' is not a finite number"),
        ([("elbow", "crank:1,crank:2")], "'crank' twice"),
        ([("elbow", "crank:1"), ("elbow", "crank:1")], "given twice"),
    ],
)
def test_couplings_that_are_none(couple, words):
    with pytest.raises(OptionError, match=words):
        case("two_leaders", couple=couple)


FOUR_BAR = """<transmission name="t"><type>transmission_interface/FourBarLinkageTransmission</type>
<actuator name="one" role="actuator1"><mechanical_reduction>50</mechanical_reduction></actuator>
<actuator name="two" role="actuator2"><mechanical_reduction>-40</mechanical_reduction></actuator>
<joint name="%s" role="joint2"><offset>0.3</offset><mechanical_reduction>2</mechanical_reduction></joint>
<joint name="pitch" role="joint1"><offset>0.5</offset><mechanical_reduction>3</mechanical_reduction></joint>
</transmission>"""


def with_transmission(folder, transmission):
    text = (WILD / "differential.urdf").read_text()
    path = folder / "r.urdf"
    path.write_text(text[: text.index("<transmission")] + transmission + "</robot>")
    return path


def test_a_four_bar_linkage_of_ros(tmp_path):
    model = load(with_transmission(tmp_path, FOUR_BAR % "roll"), coordinates="actuators").model
    assert model.joint_names == ("one", "two")
    theta = np.array([20.0, -9.0])
    pitch = theta[0] / (50 * 3) + 0.5
    roll = (theta[1] / -40 - theta[0] / (50 * 3)) / 2 + 0.3
    for body, q in zip(model.bodies, (pitch, roll), strict=False):
        terms = dict(body.follows.terms)
        found = sum(terms.get(3 + k, 0.0) * theta[k] for k in range(2)) + body.follows.offset
        assert found == pytest.approx(q, rel=1e-14)


def test_simple_transmissions_have_the_rotor_that_turns(tmp_path):
    """M of a motor is that of the joint by the square of the ratio, its own rotor included."""
    drake = '<drake:rotor_inertia value="2e-4"/><drake:gear_ratio value="-25"/>'
    simple = (
        '<transmission name="t"><type>SimpleTransmission</type><joint name="roll"><offset>0.2</offset>'
        f'</joint><actuator name="roll">{drake}</actuator></transmission>'
    )
    path = with_transmission(tmp_path, simple)
    joints, motors = (load(path, coordinates=c).model for c in ("joints", "actuators"))
    assert motors.joint_names == ("pitch", "roll.motor")
    assert motors.limits["roll.motor"].upper == pytest.approx(-25 * (-3 - 0.2))
    scale = np.diag([1, -1 / 25])
    q = np.array([0.4, 0.7])
    m = [run(ParametricModel(joints), "mass_matrix", {"q": q})["M"].reshape(2, 2)]
    at = {"q": [q[0], -25 * (q[1] - 0.2)]}
    m.append(run(ParametricModel(motors), "mass_matrix", at)["M"].reshape(2, 2))
    assert np.allclose(m[1], scale @ m[0] @ scale, rtol=1e-12)


@pytest.mark.parametrize(
    ("transmission", "options", "words"),
    [
        ("", {}, "no joint has a motor"),
        (FOUR_BAR % "roll", {"lock": [("roll", 0.1)]}, "'roll' is locked, excluded or follows"),
        (FOUR_BAR % "other", {}, "'other' is locked, excluded or follows another joint"),
    ],
)
def test_motors_that_cannot_be_coordinates(tmp_path, transmission, options, words):
    with pytest.raises(OptionError, match=words):
        load(with_transmission(tmp_path, transmission), coordinates="actuators", **options)


@pytest.mark.parametrize(
    ("old", "new"),
    [("50</", "0</"), ("50</", "much</"), ('<actuator name="two"', '<other name="two"')],
)
def test_transmissions_that_are_none_stop_nothing(tmp_path, old, new):
    text = (FOUR_BAR % "roll").replace(old, new)
    text = text.replace(
        "-40</mechanical_reduction></actuator>",
        "-40</mechanical_reduction></other>"
        if "other" in new
        else "-40</mechanical_reduction></actuator>",
    )
    loaded = load(with_transmission(tmp_path, text))
    assert any("is ignored" in str(notice) for notice in loaded.notices)


@pytest.mark.parametrize(("reduction", "noted"), [("50", False), ("-20", True)])
def test_a_second_transmission_of_a_joint_is_said_where_it_says_something_else(
    tmp_path, reduction, noted
):
    one = FOUR_BAR % "roll"
    other = one.replace('"t"', '"again"').replace(">50<", f">{reduction}<")
    loaded = load(with_transmission(tmp_path, one + other))
    said = "transmission 'again': is ignored: joint 'pitch' already belongs to transmission 't'"
    assert any(said in str(notice) for notice in loaded.notices) == noted


SDF = """<sdf version="1.9"><model name="m"><link name="base"/><link name="a"/><link name="b"/>
<joint name="w" type="fixed"><parent>world</parent><child>base</child></joint>%s</model></sdf>"""


HINGE = '<joint name="%s" type="revolute"><parent>%s</parent><child>%s</child><axis><xyz>0 1 0</xyz></axis></joint>'


def test_a_loop_of_sdf_is_left_open(tmp_path):
    path = tmp_path / "r.sdf"
    joints = (("j", "base", "a"), ("k", "base", "b"), ("close", "a", "b"))
    path.write_text(SDF % "".join(HINGE % ends for ends in joints))
    loaded = load(path)
    assert loaded.model.joint_names == ("j", "k")
    said = [str(notice) for notice in loaded.notices]
    assert any("'close' closes a loop, which is left open" in line for line in said)


@pytest.mark.parametrize("tag", ["loop_joint", "drake:ball_constraint"])
def test_other_words_for_loops(tmp_path, tag):
    path = with_transmission(tmp_path, f'<{tag} name="ring"/>')
    said = [str(notice) for notice in load(path).notices]
    assert any(f"warning: <{tag}>: " in line and "left open" in line for line in said)
    assert not any("unknown" in line for line in said)


@pytest.mark.parametrize(
    ("name", "coordinates"), [("two_leaders", "joints"), ("differential", "actuators")]
)
def test_pinocchio_projected_has_the_same(name, coordinates):
    """The tree by Pinocchio, which leaves a second <mimic> and transmissions out, projected by
    hand."""
    pin = pytest.importorskip("pinocchio")
    tree = pin.buildModelFromUrdf(str(WILD / f"{name}.urdf"))
    data, model = tree.createData(), load(WILD / f"{name}.urdf", coordinates=coordinates).model
    if name == "two_leaders":  # shoulder, crank
        by = {"shoulder": ([1, 0], 0), "crank": ([0, 1], 0), "elbow": ([-1, 1], 0)}
    else:
        by = {"pitch": ([1 / 200, -1 / 200], 0.5), "roll": ([1 / 200, 1 / 200], 0)}
    rows = [by[joint] for joint in tree.names[1:]]
    g, offset = np.array([row for row, _ in rows], float), np.array([c for _, c in rows])
    rng = np.random.default_rng(1)
    x = {key: rng.uniform(-2, 2, 2) for key in ("q", "qd", "qdd")}
    at = (g @ x["q"] + offset, g @ x["qd"], g @ x["qdd"])
    robot = ParametricModel(model)
    found = run(robot, "inverse_dynamics", x)["tau"]
    assert np.allclose(found, g.T @ pin.rnea(tree, data, *at), rtol=1e-12, atol=1e-14)
    mass = pin.crba(tree, data, at[0])
    whole = np.triu(mass) + np.triu(mass, 1).T
    found = run(robot, "mass_matrix", x)["M"].reshape(2, 2)
    assert np.allclose(found, g.T @ whole @ g, rtol=1e-12, atol=1e-16)
    pin.computeRNEADerivatives(tree, data, *at)
    found = run(robot, "inverse_dynamics_derivatives", x)
    for ours, theirs in (("dtau_dq", data.dtau_dq), ("dtau_dqd", data.dtau_dv)):
        near = g.T @ theirs @ g
        assert np.allclose(found[ours].reshape(2, 2), near, rtol=1e-10, atol=1e-14)
    link = "forearm" if name == "two_leaders" else "hand"
    pin.computeJointJacobians(tree, data, at[0])
    frame = pin.getFrameJacobian(tree, data, tree.getFrameId(link), pin.ReferenceFrame.LOCAL)
    (found,) = run(robot, f"frame_jacobian_body:{link}", x).values()
    assert np.allclose(found.reshape(6, 2), frame @ g, rtol=1e-12, atol=1e-14)


def test_motors_are_bound_by_the_joints_that_they_move(tmp_path):
    """excite: limits of a motor are those of its joint, turned around; the order is that of
    coordinates."""
    pytest.importorskip("scipy")
    from symgen.identification.excitation.motion_limits import motion_bounds

    drake = '<drake:gear_ratio value="-25"/>'
    simple = (
        '<transmission name="t"><type>SimpleTransmission</type><joint name="pitch"/>'
        f'<actuator name="m">{drake}</actuator></transmission>'
    )
    path = with_transmission(tmp_path, simple)
    found = motion_bounds(load(path, coordinates="actuators"), [])
    assert found.lower.tolist() == [-75, -3] and found.upper.tolist() == [75, 3]
    assert found.speed.tolist() == [125, 5] and found.force.tolist() == [2, 50]
    shared = load(WILD / "differential.urdf", coordinates="actuators")
    with pytest.raises(RobotError, match="joint 'pitch': depends on several joints or motors"):
        motion_bounds(shared, [])


def test_a_fixed_joint_follows_no_other(tmp_path):
    path = tmp_path / "fixed.urdf"
    path.write_text(
        '<robot name="m"><link name="a"/><link name="b"/><link name="c"/>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
        '<joint name="f" type="fixed"><parent link="b"/><child link="c"/></joint></robot>'
    )
    for leader in ("j:1", "f:0"):
        with pytest.raises(OptionError, match="--couple 'f': joint 'f' is fixed"):
            load(path, couple=[("f", leader)])
