"""`symgen verify --against`: another library reads the robot's file, so that errors of symgen's own
reading are found."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.jobs.verify import REFERENCE_LIBRARIES, check_against
from tests.support.shell import refusal
from tests.support.tools import invoke, robot_file

ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><origin xyz="0.1 0.02 0.3" rpy="0.4 0.2 0.9"/><mass value="2"/>
<inertia ixx="0.03" iyy="0.02" izz="0.025" ixy="0.001" ixz="0.002" iyz="0.003"/></inertial></link>
<link name="lower"><inertial><origin xyz="0 0.05 0.2" rpy="0.3 -0.5 0.1"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.006" izz="0.008" ixy="0.001" ixz="0.0005" iyz="0"/></inertial></link>
<joint name="a" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/><dynamics damping="0.7" friction="0.4"/></joint>
<joint name="b" type="revolute"><parent link="upper"/><child link="lower"/>
<origin xyz="0 0.1 0.4" rpy="0.2 0 0"/><axis xyz="1 0 0"/>
<limit lower="-3" upper="3" effort="9" velocity="9"/><dynamics damping="0.3" friction="0.2"/></joint>
</robot>"""
SAME_FRICTION = {"pinocchio": "viscous,coulomb", "mujoco": "viscous,coulomb", "drake": "viscous"}
libraries = pytest.mark.parametrize("library", REFERENCE_LIBRARIES)


def module_of(file, **options):
    job = Job.of(str(file), **options)
    return job.module(job.load())


def installed(library):
    pytest.importorskip(REFERENCE_LIBRARIES[library].package)


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(ARM)
    return file


def verdicts(module, library, file):
    return [check.passed for check in check_against(module, library, Path(file))]


@libraries
@pytest.mark.parametrize("robot", ["ur5", "panda_arm"])
def test_other_libraries_read_the_same_robot(robot, library):
    installed(library)
    file = robot_file(robot)
    assert verdicts(module_of(file), library, file) == [True, True]


@libraries
def test_friction_is_compared(arm, library):
    installed(library)
    module = module_of(arm, friction=SAME_FRICTION[library])
    assert verdicts(module, library, arm) == [True, True]


BODY = """<inertial><origin xyz="0.1 0.02 0.3" rpy="0.4 0.2 0.9"/><mass value="2"/>
<inertia ixx="0.03" iyy="0.02" izz="0.025" ixy="0.001" ixz="0.002" iyz="0.003"/></inertial>"""
JOINT = """<{tag} name="a" type="{kind}"><parent link="base"/><child link="first"/>
<origin xyz="0.1 0.2 0" rpy="0.1 0 0.3"/><axis xyz="{axis}"/></{tag}>"""
TWO_JOINTS = f"""<robot name="two" xmlns:drake="http://drake.mit.edu"><link name="base"/>
<link name="first">{BODY}</link><link name="second">{BODY}</link>{{joint}}
<joint name="b" type="revolute"><parent link="first"/><child link="second"/><axis xyz="0 1 0"/>
<origin xyz="0 0.1 0.4" rpy="0.2 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
SEVERAL_COORDINATES = [
    ("pinocchio", "joint", "floating", "0 0 1"),
    ("pinocchio", "joint", "planar", "0 0 1"),
    ("mujoco", "joint", "floating", "0 0 1"),
    ("drake", "joint", "planar", "0 1 1"),
    ("drake", "drake:joint", "ball", "0 0 1"),
    ("drake", "drake:joint", "universal", "0 0 1"),
]


@pytest.mark.parametrize(("library", "tag", "kind", "axis"), SEVERAL_COORDINATES)
def test_joints_with_several_coordinates_are_compared(library, tag, kind, axis, tmp_path):
    """Every library has other positions and velocities for them."""
    installed(library)
    file = tmp_path / "two.urdf"
    file.write_text(TWO_JOINTS.format(joint=JOINT.format(tag=tag, kind=kind, axis=axis)))
    module = module_of(file)
    assert verdicts(module, library, file) == [True, True]
    last = module.robot.model.bodies[-1]
    assert verdicts(changed(module, -1, pose=last.pose.inverse), library, file) == [True, False]


@pytest.mark.parametrize("library", ["pinocchio", "drake"])
def test_a_floating_base_is_compared(arm, library):
    installed(library)
    module = module_of(arm, base="floating", friction=SAME_FRICTION[library])
    assert verdicts(module, library, arm) == [True, True]
    last = module.robot.model.bodies[-1]
    assert verdicts(changed(module, -1, pose=last.pose.inverse), library, arm) == [True, False]


GEOM = '<geom size="0.1" pos="0.2 0 0.1"/>'
MJCF = f"""<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0" armature="0.1"/>{GEOM}
<body name="b" pos="0 0 0.3"><joint name="k" axis="1 0 0" type="slide" damping="0.3"/>{GEOM}</body>
</body></worldbody></mujoco>"""
INERTIAL = """<inertial><pose>0.1 0 0.2 0.3 0 0</pose><mass>2</mass><inertia><ixx>0.02</ixx>
<iyy>0.03</iyy><izz>0.02</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>"""
MOVING = f"""<model name="arm"><pose>0 0 1 0.1 0 0</pose><link name="base">{INERTIAL}</link>
<link name="a"><pose>0 0 0.1 0 0 0</pose>{INERTIAL}</link><joint name="j" type="revolute">
<parent>base</parent><child>a</child><axis><xyz>0 1 0</xyz></axis></joint></model>"""
FREE = f"""<mujoco><worldbody><body name="a" pos="0 0 1" euler="10 0 20"><freejoint/>{GEOM}
<body name="b" pos="0 0 0.3"><joint name="k" type="ball" damping="0.3"/>{GEOM}
<body name="c" pos="0 0.1 0.3"><joint type="hinge" axis="1 0 0"/>
<joint name="s" type="slide" axis="0 1 0"/>{GEOM}</body></body></body></worldbody></mujoco>"""
FILES = {
    "free and ball joints, and two joints of one body": ("mujoco", "a.xml", FREE),
    "an MJCF file": ("mujoco", "a.xml", MJCF),
    "an MJCF file that includes another": (
        "mujoco",
        "a.xml",
        MJCF.replace("<worldbody>", '<include file="part.xml"/><worldbody>'),
    ),
    "a world with a static model": (
        "drake",
        "a.sdf",
        f'<sdf version="1.9"><world name="w"><model name="box"><static>true</static>'
        f'<link name="b">{INERTIAL}</link></model>{MOVING}</world></sdf>',
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_files_of_other_formats_are_compared(kind, tmp_path):
    """The digest of an MJCF file covers what MuJoCo compiles, not only the bytes of the file."""
    library, name, text = FILES[kind]
    installed(library)
    (tmp_path / "part.xml").write_text('<mujoco><option gravity="0 1 -9"/></mujoco>')
    file = tmp_path / name
    file.write_text(text)
    module = module_of(file)
    assert verdicts(module, library, file) == [True, True]
    file.write_text(text.replace("0.3", "0.4"))
    with pytest.raises(OptionError, match="the file has changed since"):
        verdicts(module, library, file)


def changed(module, k, **body_changes):
    """The module of a robot one of whose bodies was read differently."""
    model = module.robot.model
    bodies = list(model.bodies)
    bodies[k] = replace(bodies[k], **body_changes)
    return replace(module, robot=replace(module.robot, model=replace(model, bodies=tuple(bodies))))


@libraries
def test_a_wrong_gravity_is_found(arm, library):
    installed(library)
    module = module_of(arm)
    model = replace(module.robot.model, gravity=(0.0, 0.0, -9.8))
    module = replace(module, robot=replace(module.robot, model=model))
    assert verdicts(module, library, arm) == [False, False]


@libraries
def test_an_inertia_with_transposed_axes_is_found(arm, library):
    """As where the rotation of <inertial> is transposed."""
    installed(library)
    module = module_of(arm)
    last = module.robot.model.bodies[1]
    (link,) = last.links
    m, hx, hy, hz, ixx, ixy, ixz, iyy, iyz, izz = link.parameters
    wrong = replace(link, parameters=(m, hx, hy, hz, ixx, -ixy, ixz, iyy, iyz, izz))
    assert verdicts(changed(module, 1, links=(wrong,)), library, arm) == [True, False]


@libraries
def test_halved_friction_is_found(arm, library):
    installed(library)
    module = module_of(arm, friction=SAME_FRICTION[library])
    joint = module.robot.model.bodies[0].joint
    halved = replace(joint, damping=joint.damping / 2, friction=joint.friction / 2)
    assert verdicts(changed(module, 0, joint=halved), library, arm) == [True, False]


def test_the_command_prints_the_comparison_first(arm, tmp_path):
    installed("pinocchio")
    folder, wanted = tmp_path / "out", ("--quantity", "gravity", "--lang", "python")
    assert not invoke("generate", arm, "-o", folder, *wanted).exit_code
    done = invoke("verify", folder, "--against", "pinocchio", "--robot-file", arm)
    assert done.exit_code == 0
    assert "the robot agrees with pinocchio" in done.stdout
    other = shutil.copy(arm, tmp_path / "other.urdf")
    other.write_text(ARM.replace("0.7", "0.8"))
    for arguments, sentence in (
        (("--against", "pinocchio"), "give --robot-file FILE, the 'arm.urdf'"),
        (("--robot-file", arm), "only --against reads the robot's file"),
        (("--against", "pinocchio", "--robot-file", other), "generated from another file"),
        (("--against", "pinocchio", "--robot-file", tmp_path / "no.urdf"), "cannot be read"),
    ):
        assert sentence in refusal("verify", folder, *arguments)


def test_what_cannot_be_compared_is_refused_in_one_sentence(arm, monkeypatch):
    installed("pinocchio")
    with pytest.raises(Exception, match="generated with --base floating"):
        installed("mujoco")
        verdicts(module_of(arm, base="floating"), "mujoco", arm)
    tilted = arm.with_name("tilted.urdf")
    joint = JOINT.format(tag="joint", kind="planar", axis="0 1 1")
    tilted.write_text(TWO_JOINTS.format(joint=joint))
    with pytest.raises(OptionError, match="planar with an axis other than"):
        verdicts(module_of(tilted), "pinocchio", tilted)
    with pytest.raises(OptionError, match=r"joints 'a', 'a_RZ', .* are not in the file"):
        verdicts(module_of(tilted), "mujoco", tilted)
    with pytest.raises(Exception, match="generated with --lock"):
        verdicts(module_of(arm, lock=(("a", 0.0),)), "pinocchio", arm)
    with pytest.raises(Exception, match=r"generated with --tip.*with symgen convert --root LINK"):
        verdicts(module_of(arm, tip="upper"), "pinocchio", arm)
    with pytest.raises(Exception, match="does not read Coulomb friction"):
        installed("drake")
        verdicts(module_of(arm, friction="coulomb"), "drake", arm)
    monkeypatch.setattr("symgen.jobs.verify.find_spec", lambda package: None)
    with pytest.raises(
        Exception, match=r"pinocchio is not installed; install it: pip install pin$"
    ):
        verdicts(module_of(arm), "pinocchio", arm)
