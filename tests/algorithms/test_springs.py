"""Springs of joints as files have them: read, counted where asked for, said where not; against
MuJoCo and numbers of the public cases. That every quantity has them is in test_friction.py and
tests/proof/test_judges.py."""

import json

import numpy as np
import pytest

import symgen
from symgen.errors import OptionError, RobotError
from symgen.jobs.job import Job, notices_after_tracing
from symgen.reading.assemble import load
from symgen.tracing.robot import ParametricModel
from tests.support.states import run
from tests.support.tools import ROOT, invoke

WILD = ROOT / "tests" / "wild"
LINK = '<inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
ONE = (
    '<robot name="r"><link name="base"/><link name="a">' + LINK + "</link>"
    '<joint name="j" type="%s"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>'
    '<limit lower="-3" upper="3" effort="50" velocity="5"/>%s</joint>%s</robot>'
)


def written(folder, text):
    path = folder / "r.urdf"
    path.write_text(text)
    return path


def torque(robot, **more):
    return run(robot, "inverse_dynamics", {"q": [0.5], "qd": [0.0], "qdd": [0.0]} | more)["tau"]


def of(file, **options):
    job = Job.of(str(file), **options)
    loaded = job.load()
    return job.robot(loaded), [str(notice) for notice in loaded.notices]


def test_a_spring_in_dynamics_counts_where_asked_for():
    wanted = json.loads((WILD / "spring_attr.json").read_text())
    without, said = of(WILD / "spring_attr.urdf")
    assert torque(without) == pytest.approx(wanted["tau_without_spring"], rel=1e-14)
    assert [line for line in said if "spring of" in line] == [
        f"{WILD / 'spring_attr.urdf'}:4: warning: <robot>: spring of 'j' is ignored; add --springs to include it"
    ]
    for option in ("springs", "runtime_springs"):
        robot, said = of(WILD / "spring_attr.urdf", **{option: True})
        found = torque(robot, springs=[12.0, 0.3])
        assert found == pytest.approx(wanted["tau_with_spring"], rel=1e-14)
        assert not any("spring of" in line for line in said)


def test_rotor_inertia_in_dynamics_counts_once():
    """It is said twice, by two words."""
    wanted = json.loads((WILD / "rotor_attr.json").read_text())
    for rotors, key in (("exact", "M_with_rotor_inertia"), ("none", "M_without")):
        robot, said = of(WILD / "rotor_attr.urdf", rotors=rotors)
        assert run(robot, "mass_matrix", {"q": [0.5]})["M"] == pytest.approx([wanted[key]])
        assert any("spring of 'j' is ignored; add --springs to include it" in line for line in said)


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ('<dynamics stiffness="4"/>', ""),
        ('<dynamics spring_stiffness="4" stiffness="4"/>', ""),
        ("", '<gazebo reference="j"><springStiffness>4</springStiffness></gazebo>'),
        ("", '<gazebo reference="j"><spring_stiffness> 4 </spring_stiffness></gazebo>'),
    ],
)
@pytest.mark.parametrize("reference", ["", "0.25"])
def test_the_words_for_springs(tmp_path, inside, outside, reference):
    if reference and inside:
        inside = inside.replace("/>", f' spring_reference="{reference}"/>')
    if reference and outside:
        outside = outside.replace("</g", f"<springReference>{reference}</springReference></g")
    robot, _ = of(written(tmp_path, ONE % ("revolute", inside, outside)), springs=True)
    joint = robot.model.bodies[0].joint
    assert (joint.stiffness, joint.reference) == (4.0, float(reference or 0))


@pytest.mark.parametrize(
    ("inside", "outside", "words"),
    [
        ('<dynamics stiffness="4" spring_stiffness="5"/>', "", "stiffness is 4 and spring_stiffness is 5"),
        ('<dynamics stiffness="4"/>', '<gazebo reference="j"><springStiffness>5</springStiffness></gazebo>', "keep one of them"),
        ('<dynamics armature="-1"/>', "", "armature is negative (-1)"),
        ('<dynamics stiffness="1e308"/>', "", "spring, actuator, pitch or second axis has a number"),
        ('<dynamics friction="-1e308"/>', "", "friction, spring, actuator, pitch or second axis has a number"),
        ("", '<gazebo reference="j"><springStiffness>hard</springStiffness></gazebo>', "which is not a decimal number"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_spring_is_refused(tmp_path, inside, outside, words):
    with pytest.raises(RobotError) as error:
        load(written(tmp_path, ONE % ("revolute", inside, outside)))
    assert words in str(error.value).replace("spring_stiffness is 5 and stiffness is 4", words)


def test_a_ball_has_no_linear_spring(tmp_path):
    text = ONE.replace('<axis xyz="0 1 0"/>', "") % ("ball", '<dynamics stiffness="4"/>', "")
    path = written(tmp_path, text)
    words = "springs of ball and floating joints ('j') are ignored"
    assert any(words in str(notice) for notice in load(path).notices)
    with pytest.raises(OptionError, match="--springs: joint 'j' is a ball joint"):
        of(path, springs=True)


def test_armature_of_a_ball_is_on_the_diagonal(tmp_path):
    text = ONE.replace('<axis xyz="0 1 0"/>', "") % ("ball", '<dynamics armature="4"/>', "")
    without = text.replace('armature="4"', "")
    q, (more, less) = (
        [0.5, -0.5, 0.5, 0.5],
        (symgen.compile(t, "mass_matrix") for t in (text, without)),
    )
    assert np.allclose(more.mass_matrix(q) - less.mass_matrix(q), 4 * np.eye(3), atol=1e-12)
    assert not [n for n in load(written(tmp_path, text)).notices if "armature" in n.message]


def test_springs_of_a_file_of_actuators_come_first(tmp_path):
    path = tmp_path / "drives.toml"
    path.write_text("[joints.j]\nstiffness = 7.0\nreference = -0.1\narmature = 0.2\n")
    robot, _ = of(WILD / "spring_attr.urdf", actuators=str(path), springs=True)
    joint = robot.model.bodies[0].joint
    assert (joint.stiffness, joint.reference, joint.armature) == (7.0, -0.1, 0.2)
    path.write_text("[joints.j]\nreference = -0.1\n")
    joint = of(WILD / "spring_attr.urdf", actuators=str(path))[0].model.bodies[0].joint
    assert (joint.stiffness, joint.reference) == (12.0, -0.1)


def test_asking_for_springs_that_are_not_there_is_said(tmp_path):
    path = written(tmp_path, ONE % ("revolute", "", ""))
    job = Job.of(str(path), springs=True)
    loaded = job.load()
    assert "no joint has a spring" in str(notices_after_tracing(job, loaded, job.module(loaded))[0])


MJCF = """<mujoco><compiler angle="radian"/><option gravity="1 -2 -9.81"/><worldbody>
<body name="a"><joint name="j" type="hinge" axis="0 1 0" stiffness="5" springref="0.4" ref="0.1" damping="0.7"/>
<inertial pos="0.1 0.02 0" mass="2" diaginertia="0.1 0.2 0.15"/>
<body name="b" pos="0.3 0 0"><joint name="s" type="slide" axis="1 1 0" stiffness="40" springref="-0.2" armature="0.3"/>
<inertial pos="0.1 0 0.1" mass="1" diaginertia="0.1 0.1 0.1"/></body></body></worldbody></mujoco>"""


def test_mujoco_has_the_same_springs(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "r.xml"
    path.write_text(MJCF)
    robot, _ = of(path, springs=True)
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    weights = []
    for _ in range(3):
        x = {name: rng.uniform(-1, 1, 2) for name in ("q", "qd", "qdd")}
        data.qpos, data.qvel, data.qacc = x["q"], x["qd"], x["qdd"]
        mujoco.mj_inverse(model, data)
        mujoco.mj_energyPos(model, data)
        wanted = data.qfrc_inverse + data.qfrc_damper
        found = run(robot, "inverse_dynamics", x)["tau"]
        assert np.allclose(found, wanted, rtol=1e-12, atol=1e-12)
        weights.append(run(robot, "potential_energy", x)["V"][0] - data.energy[0])
    assert np.ptp(weights) < 1e-12  # gravity is 0 at another height there
    spring = run(robot, "potential_energy", x)["V"][0]
    spring -= run(ParametricModel(robot.model), "potential_energy", x)["V"][0]
    strain = x["q"] - [0.4, -0.2]
    assert spring == pytest.approx(0.5 * np.dot([5, 40], strain * strain))


def test_a_pendulum_on_a_spring_keeps_its_energy():
    """d/dt (T + V) = 0 where no torque acts."""
    robot, _ = of(WILD / "spring_attr.urdf", springs=True)
    x = {"q": [0.7], "qd": [1.3], "tau": [0.0]}
    (qdd,) = run(robot, "forward_dynamics", x)["qdd"]
    tilt, rows = 1e-7, []
    for sign in (-1, 1):
        at = {"q": [x["q"][0] + sign * tilt * 1.3], "qd": [1.3 + sign * tilt * qdd]}
        rows.append(
            run(robot, "kinetic_energy", at)["T"][0] + run(robot, "potential_energy", at)["V"][0]
        )
    assert abs(rows[1] - rows[0]) / (2 * tilt) < 1e-6


def test_the_command_line_and_the_header(tmp_path):
    result = invoke(
        "generate", str(WILD / "spring_attr.urdf"), "-o", str(tmp_path / "c"), "--springs",
        "--quantity", "inverse_dynamics", "--quantity", "potential_energy_regressor",
    )  # fmt: skip
    assert result.exit_code == 0 and "spring of" not in result.stderr, result.output
    text = " ".join((tmp_path / "c" / "spring_attr.h").read_text().replace(" * ", " ").split())
    assert "(with separate columns in potential_energy_regressor): tau = " in text
    assert (
        "tau = ... + stiffness (q - reference)" in text
        and "come from the robot's file (j)." in text
    )
    assert invoke("verify", str(tmp_path / "c")).exit_code == 0


@pytest.mark.parametrize("options", [{"runtime_springs": True}, {"friction": "runtime:viscous"}])
def test_a_robot_whose_joints_cannot_have_them_has_no_empty_input(tmp_path, options):
    path = written(tmp_path, ONE.replace('<axis xyz="0 1 0"/>', "") % ("ball", "", ""))
    with pytest.raises(
        OptionError, match="no joint of this robot has a coordinate with this effect"
    ):
        of(path, **options)
