"""Friction, springs and armature of joints with several coordinates, against MuJoCo, Drake and
Pinocchio, which have them too, and against power."""

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError, RobotError
from symgen.reading.assemble import load
from tests.support import resisted_joints
from tests.support.tools import invoke

pytestmark = pytest.mark.usefixtures("not_optimized")

BALL_AND_FREE = """<mujoco model="m"><compiler angle="radian"/><option gravity="1 -2 -9.81"/>
<default><joint armature="0.07" damping="0.3"/></default><worldbody>
<body name="a" pos="0 0 1"><joint name="h" type="hinge" axis="0 1 0"/>
<inertial pos="0.1 0 0" mass="1" diaginertia="0.01 0.02 0.03"/>
<body name="b" pos="0.3 0 0.1"><joint name="ball" type="ball" armature="0.05" damping="0.4"/>
<inertial pos="0.1 0 0.05" mass="0.5" diaginertia="0.01 0.02 0.03"/></body></body>
<body name="f" pos="1 0 1"><joint name="free" type="free"/>
<inertial pos="0.02 0.01 0" mass="2" diaginertia="0.01 0.02 0.025"/></body>
</worldbody></mujoco>"""


def test_mujoco_has_the_same_armature_and_damping_of_ball_and_free_joints(tmp_path):
    """M, bias and the damping forces to 1e-12, in our coordinates; `<default>` reaches the free
    joint, whose armature has a mass for translation, which neither weighs nor is left out of the
    Coriolis forces."""
    pytest.importorskip("mujoco")
    from benchmarks.oracle_mjcf import Judge

    path = tmp_path / "m.xml"
    path.write_text(BALL_AND_FREE, encoding="utf-8")
    loaded = load(path)
    assert not [n for n in loaded.notices if n.level == "warning"]
    judge, rng = Judge(path, loaded.model), np.random.default_rng(3)
    names = "mass_matrix", "bias", "gravity", "inverse_dynamics"
    ours = symgen.compile(path, *names, friction="viscous")
    for _ in range(3):
        state = judge.random(rng)
        expected = judge.expected(state)
        judge.at(state)
        damping = judge.lift.T @ judge.data.qfrc_passive
        q, qd, qdd = state["q"], state["qd"], state["qdd"]
        assert np.allclose(ours.mass_matrix(q).ravel(), expected["M"], atol=1e-12)
        assert np.allclose(ours.bias(q, qd), expected["tau_b"], atol=1e-12)
        assert np.allclose(ours.gravity(q), expected["tau_g"], atol=1e-12)
        tau = ours.inverse_dynamics(q, qd, qdd)
        assert np.allclose(tau, expected["tau"] - damping, atol=1e-12)
        assert np.abs(damping).min() > 1e-3


def test_friction_of_a_free_joint_along_world_axes_is_warned_of(tmp_path):
    path = tmp_path / "m.xml"
    text = BALL_AND_FREE.replace(
        'name="free" type="free"', 'name="free" type="free" frictionloss="2"'
    )
    path.write_text(text, encoding="utf-8")
    loaded = load(path)
    (said,) = [n.message for n in loaded.notices if n.level == "warning"]
    assert "frictionloss of free joints ('free')" in said
    joint = next(j for _, j in loaded.model.joints if j.name == "free")
    assert joint.friction == (0.0, 0.0, 0.0, 2.0, 2.0, 2.0)


DRAKE = """<robot name="drake" xmlns:drake="http://drake.mit.edu"><link name="world"/>
<link name="a"><inertial><origin xyz="0.1 0.05 -0.2"/><mass value="1.3"/>
<inertia ixx="0.1" ixy="0" ixz="0" iyy="0.12" iyz="0" izz="0.09"/></inertial></link>
<drake:joint name="j" type="{0}"><parent link="world"/><child link="a"/>
{2}<dynamics damping="{1}"/></drake:joint></robot>"""


@pytest.mark.parametrize(
    ("kind", "damping", "axis"),
    [
        ("planar", "0.7 0.2 0.4", ""),
        ("planar", "0.7 0.2 0.4", "0 0 1"),
        ("planar", "0.7 0.2 0.4", "0 0 -1"),
        ("planar", "0.7 0.2 0.4", "-1 0 0"),
        ("planar", "0.7 0.2 0.4", "3 1 2"),
        ("planar", "0.7 0.2 0.4", "0.02 -0.01 -1"),
        ("universal", "0.5", ""),
        ("ball", "0.6", ""),
    ],
)
def test_drake_has_the_same_axes_and_damping(kind, damping, axis):
    """Accelerations without actuation. Drake's ball joint has roll, pitch and yaw, and the angular
    velocity in the axes of the world."""
    multibody = pytest.importorskip("pydrake.multibody")
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    assert multibody
    text = DRAKE.format(kind, damping, f'<axis xyz="{axis}"/>' if axis else "")
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "urdf")
    plant.Finalize()
    context, rng = plant.CreateDefaultContext(), np.random.default_rng(1)
    ours = symgen.compile(text, "forward_dynamics", friction="viscous")
    for _ in range(3):
        place, rate = rng.uniform(-1, 1, (2, plant.num_velocities()))
        plant.SetPositions(context, place)
        plant.SetVelocities(context, rate)
        theirs = plant.get_generalized_acceleration_output_port(
            plant.GetModelInstanceByName("drake")
        ).Eval(context)
        q, qd = place, rate
        if kind == "ball":
            turned = plant.GetBodyByName("a").EvalPoseInWorld(context).rotation()
            w, *xyz = turned.ToQuaternion().wxyz()
            q, qd = np.array([*xyz, w]), turned.matrix().T @ rate
            theirs = turned.matrix().T @ theirs
        found = ours.forward_dynamics(q, qd, 0 * qd)
        assert np.allclose(found, theirs, rtol=1e-9, atol=1e-9)


def test_pinocchio_has_the_same_armature_of_a_universal_and_a_spherical_joint():
    """Armature that is the same about all axes; other armature of a spherical joint has no
    Coriolis forces there and is refused."""
    pin = pytest.importorskip("pinocchio")
    model = pin.Model()
    placement = pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.2, -0.4), np.array([0.1, -0.2, 0.3]))
    x, y = np.eye(3)[:2]
    first = model.addJoint(0, pin.JointModelUniversal(x, y), placement, "cardan")
    second = model.addJoint(first, pin.JointModelSpherical(), placement, "ball")
    for k in (first, second):
        inertia = pin.Inertia(1.2, np.array([0.1, 0.05, -0.1]), np.diag([0.02, 0.03, 0.025]))
        model.appendBodyToJoint(k, inertia, pin.SE3.Identity())
    model.armature = np.array([0.1, 0.4, 0.2, 0.2, 0.2])
    data, rng = model.createData(), np.random.default_rng(2)
    ours = symgen.compile(model, "inverse_dynamics")
    for _ in range(3):
        q = pin.normalize(model, rng.uniform(-1, 1, model.nq))
        qd, qdd = rng.uniform(-1, 1, (2, model.nv))
        tau = pin.rnea(model, data, q, qd, qdd)
        pin.crba(model, data, q)
        lacks = 0.0 if np.allclose(tau, pin.rnea(model, data, q, qd, 0 * qdd)) else 1.0
        assert lacks and np.allclose(ours.inverse_dynamics(q, qd, qdd), tau, atol=1e-12)
    model.armature = np.array([0.1, 0.4, 0.2, 0.2, 0.3])
    with pytest.raises(OptionError, match="armature of the ball joint 'ball' differs between"):
        load(model)


@pytest.mark.parametrize("name", resisted_joints.ROBOTS)
def test_what_friction_takes_is_all_that_energy_loses(name):
    """τ·q̇ = d/dt (kinetic + potential energy) + the power of friction, Σ d v² + c |v|; in finite
    differences along a motion with the constants that the robot was built with."""
    builder = resisted_joints.ROBOTS[name]()
    made = symgen.compile(
        builder,
        *("inverse_dynamics", "kinetic_energy", "potential_energy", "integrate"),
        friction="viscous,coulomb",
        springs=True,
    )
    robot = symgen.Robot(builder)
    rng, h = np.random.default_rng(4), 1e-6
    n = len(robot.velocities)
    damping, friction = (
        np.array([c for j in robot.joints for c in spread(getattr(j, word), j.velocities)])
        for word in ("damping", "friction")
    )
    assert len(damping) == n and damping.min() > 0 and friction.min() > 0
    for _ in range(3):
        q, (v, a) = start(robot, rng), rng.uniform(-1, 1, (2, n))
        energies = []
        for t in (-h, h):
            place = made.integrate(q, t * (v + t / 2 * a))
            energies.append(made.kinetic_energy(place, v + t * a) + made.potential_energy(place))
        rate = (energies[1] - energies[0]) / (2 * h)
        lost = damping @ v**2 + friction @ np.abs(v)
        assert np.allclose(made.inverse_dynamics(q, v, a) @ v, rate + lost, rtol=1e-6)


def spread(constant, indices):
    return constant if isinstance(constant, tuple) else [constant] * len(indices)


def start(robot, rng):
    q = rng.uniform(-1, 1, len(robot.positions))
    for name in robot.positions:
        if name.endswith(".qx"):
            k = robot.positions.index(name)
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q


PLANAR = '<joint name="j" type="planar"><parent link="a"/><child link="b"/>{0}</joint>'
LINKS = (
    '<link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" '
    'iyy="1" iyz="0" izz="1"/></inertial></link>'
)


def planar(dynamics: str, kind: str = "planar") -> str:
    return f'<robot name="r">{LINKS}{PLANAR.format(dynamics).replace("planar", kind)}</robot>'


def test_one_number_holds_for_all_coordinates_and_a_list_for_each():
    one = load(planar('<dynamics damping="0.5" friction="0.1" armature="0.3"/>')).model
    assert (one.bodies[0].joint.damping, one.bodies[0].joint.armature) == (0.5, 0.3)
    assert [b.constant("damping") for b in one.bodies[:3]] == [0.5] * 3
    each = load(planar('<dynamics damping="0.5 0.5 0.2" spring_stiffness="0 0 3"/>')).model
    assert [b.constant("damping") for b in each.bodies[:3]] == [0.5, 0.5, 0.2]
    assert [b.constant("stiffness") for b in each.bodies[:3]] == [0.0, 0.0, 3.0]


@pytest.mark.parametrize(
    ("dynamics", "kind", "words"),
    [
        ('damping="1 2"', "planar", "damping of <dynamics> is '1 2': 2 numbers where 3 are needed"),
        ('damping="1 x 2"', "planar", "damping of <dynamics> holds 'x'"),
        ('armature="1 2 3"', "ball", "its armature differs between axes"),
        ('armature="0.1 0.1 0.1 0.2 0.2 0.3"', "floating", "its armature differs between axes"),
        ('armature="0.1 -0.1 0.1"', "planar", "armature is negative (0.1 -0.1 0.1)"),
    ],
)
def test_constants_that_no_joint_has_are_refused(dynamics, kind, words):
    with pytest.raises(RobotError) as caught:
        load(planar(f"<dynamics {dynamics}/>", kind))
    assert words in str(caught.value)


def test_builders_take_lists_and_refuse_what_a_kind_does_not_have():
    def ball(**values):
        robot = symgen.Builder("r").link("a").link("b", 1.0, inertia=(1, 0, 0, 1, 0, 1))
        return robot.joint("j", "ball", "a", "b", **values).description()

    assert ball(damping=[1, 2, 3]).joints[0].damping == (1.0, 2.0, 3.0)
    assert ball(damping=(2, 2, 2)).joints[0].damping == 2.0
    for values, words in (
        ({"damping": [1, 2]}, "a ball joint has 3 coordinates"),
        ({"stiffness": 2.0}, "a ball joint has no stiffness"),
        ({"rotor_inertia": 2.0}, "a ball joint has no rotor_inertia"),
        ({"armature": -1.0}, "no negative rotor_inertia or armature"),
    ):
        with pytest.raises(OptionError, match=words):
            ball(**values)


def test_files_of_actuators_have_them(tmp_path):
    robot, path = tmp_path / "r.urdf", tmp_path / "drives.toml"
    robot.write_text(planar('<dynamics damping="9"/>'), encoding="utf-8")
    path.write_text("[joints.j]\nviscous = [1, 2, 3]\noffset = 0.5\narmature = [0.1, 0.1, 0.2]\n")
    model = load(robot, actuators=path).model
    joint = model.bodies[0].joint
    assert (joint.damping, joint.offset) == ((1.0, 2.0, 3.0), 0.5)
    assert [body.spin for body in model.bodies if body.spin] == [0.1, 0.1, 0.2]
    path.write_text("[joints.j]\nviscous = [1, 2]\n")
    done = invoke("check", robot, "--actuators", path)
    assert done.exit_code == 2 and "a planar joint has 3 coordinates" in done.stderr
    path.write_text("[joints.j]\ngear_ratio = 3\n")
    done = invoke("check", robot, "--actuators", path)
    assert done.exit_code == 2 and "a planar joint has no gear" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_of_all_of_it_is_proved_and_converted(tmp_path):
    """C, its manifest and its proof; and a URDF that says the same."""
    robot = symgen.Robot(resisted_joints.planar_and_ball())
    out, urdf = tmp_path / "out", tmp_path / "r.urdf"
    names = "inverse_dynamics", "forward_dynamics", "regressor", "mass_matrix"
    options = {"friction": "runtime:viscous,coulomb", "springs": True, "quantities": names}
    robot.generate(out, **options)
    assert invoke("verify", out).exit_code == 0
    robot.write_urdf(urdf)
    again, model = symgen.Robot(urdf).model, robot.model
    for mine, theirs in zip(model.bodies, again.bodies, strict=True):
        assert (mine.joint.damping, mine.joint.armature) == (
            theirs.joint.damping,
            theirs.joint.armature,
        )
        assert (mine.joint.stiffness, mine.spin) == (theirs.joint.stiffness, theirs.spin)


def test_a_base_that_floats_has_no_columns_of_friction():
    """A joint with several coordinates has columns and inputs where its file gives it friction."""
    arm = resisted_joints.universal_and_cylindrical()
    floating = symgen.Robot(arm, base="floating")
    fixed = symgen.Robot(arm)
    assert fixed.model.bodies[0].has_friction and fixed.model.bodies[0].has_spring
    assert [b.has_friction for b in floating.model.bodies[:6]] == [False] * 6
