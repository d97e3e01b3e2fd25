"""``symgen convert``: what is read of a file in any format is read of the URDF that is written."""

from dataclasses import astuple, replace
from importlib.util import find_spec

import numpy as np
import pytest

import symgen
from symgen.compiler.evaluate import evaluate
from symgen.mechanics.model import Limits
from symgen.reading.assemble import load
from symgen.reading.sources import read
from tests.support.random_sdf import sdf_text
from tests.support.tools import ROOT, invoke, robot_file

HINGE = (
    '<mujoco><option gravity="0 0 -3"/><worldbody><body name="a&amp;b" euler="10 20 30">'
    '<joint name="j" axis="0 1 1" pos="0 0.1 0" ref="0.3" armature="0.25" damping="0.1"/>'
    '<inertial pos="0.1 0 0" mass="1" fullinertia="0.1 0.2 0.15 0.01 0 0.02"/></body></worldbody>'
    "</mujoco>"
)


def rounded(value):
    """Numbers to 12 digits, in whatever they stand."""
    if isinstance(value, (tuple, list)):
        return [rounded(x) for x in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


def plain(robot):
    """Links and joints without where they stand, and without limits, which a URDF asks for."""
    rows = [astuple(link) for link in robot.links]
    rows += [astuple(replace(joint, limits=Limits())) for joint in robot.joints]
    return robot.name, [rounded(lineless(row)) for row in rows]


def lineless(row):
    """Without the lines, which are the only integers."""
    return [lineless(x) if isinstance(x, (tuple, list)) else x for x in row if type(x) is not int]


def source(folder, kind):
    """A file of a kind."""
    if kind == "mjcf":
        pytest.importorskip("mujoco")
    texts = {"mjcf": HINGE, **{f"sdf{seed}": sdf_text(seed) for seed in (5, 6)}}
    if kind not in texts:
        return robot_file(kind)
    path = folder / f"robot.{kind}"
    path.write_text(texts[kind])
    return str(path)


@pytest.mark.parametrize("kind", ["mjcf", "sdf5", "sdf6", "panda", "mimic_gripper", "planar_joint"])
def test_the_urdf_says_the_same(tmp_path, kind):
    file, out = source(tmp_path, kind), tmp_path / "out.urdf"
    result = invoke("convert", file, "-o", out)
    assert result.exit_code == 0, result.output
    first, again = read(file), read(out)
    assert plain(again) == plain(first)
    stated = [j.limits for j in first.joints if None not in (j.limits.lower, j.limits.effort)]
    kept = [j.limits for j in again.joints]
    assert all(
        replace(limits, velocity=None) in [replace(k, velocity=None) for k in kept]
        for limits in stated
    )


def test_what_a_urdf_cannot_say_is_said(tmp_path):
    result = invoke("convert", source(tmp_path, "mjcf"), "-o", tmp_path / "out.urdf")
    assert "armature ('j') is written in <dynamics>; this is not part of URDF" in result.stderr
    assert "give --gravity 0,0,-3" in result.stderr
    ball = tmp_path / "ball.urdf"
    ball.write_text(
        CHAIN.replace("universal", "ball")
        .replace(' armature="0.5 0.6"', "")
        .replace("0.3 0.4", "0.3")
    )
    done = invoke("convert", ball, "-o", tmp_path / "b.urdf")
    assert "joints of type 'ball' are an extension of symgen; URDF has no such type" in done.stderr


def test_nothing_is_replaced_and_other_names_are_refused(tmp_path):
    out = tmp_path / "out.urdf"
    out.write_text("mine")
    result = invoke("convert", robot_file("panda"), "-o", out)
    assert result.exit_code == 2 and out.read_text() == "mine"
    result = invoke("convert", robot_file("panda"), "-o", tmp_path / "out.txt")
    assert result.exit_code == 2 and "the name of a URDF file must end in .urdf" in result.stderr


GEARED = (
    "<transmission name='t'><type>SimpleTransmission</type><joint name='pitch'><offset>0.25</offset>"
    "</joint><actuator name='m'><mechanicalReduction>-40</mechanicalReduction></actuator>"
    "</transmission></robot>"
)


@pytest.mark.parametrize("name", ["spring_attr", "rotor_attr", "two_leaders", "geared"])
def test_springs_armature_couplings_and_motors_are_read_back(tmp_path, name):
    source, out = tmp_path / "in.urdf", tmp_path / "out.urdf"
    wild = ROOT / "tests" / "wild" / f"{'differential' if name == 'geared' else name}.urdf"
    text = wild.read_text()
    if name == "geared":
        text = text[: text.index("<transmission")] + GEARED
    source.write_text(text)
    result = invoke("convert", source, "-o", out)
    assert result.exit_code == 0, result.output
    first, again = read(str(source)), read(str(out))
    assert plain(again) == plain(first)
    rows = [
        ([(d.joint, d.ratio, d.inertia, d.armature) for d in robot.drives], motors(robot))
        for robot in (first, again)
    ]
    assert rows[0] == rows[1]
    words = {"spring_attr": "spring_stiffness ('j')", "rotor_attr": "armature ('j')"}
    words |= {"two_leaders": "have one <mimic> for each", "geared": ""}
    assert words[name] in result.stderr


def motors(robot):
    return [(tied.joints, tied.motors) for tied in robot.transmissions]


BODY = """<inertial><origin xyz="0.1 0.02 0.3" rpy="0.4 0.2 0.9"/><mass value="2"/>
<inertia ixx="0.03" iyy="0.02" izz="0.025" ixy="0.001" ixz="0.002" iyz="0.003"/></inertial>"""
CHAIN = f"""<robot name="chain"><link name="base"/><link name="first">{BODY}</link>
<link name="second">{BODY}</link><link name="a.theta1"/>
<joint name="a" type="universal"><parent link="base"/><child link="first"/>
<origin xyz="0.1 0.2 0" rpy="0.1 0 0.3"/><axis xyz="0 1 1"/>
<dynamics damping="0.3 0.4" friction="0.1" armature="0.5 0.6"/></joint>
<joint name="b" type="cylindrical"><parent link="first"/><child link="second"/>
<origin xyz="0 0.1 0.4" rpy="0.2 0 0"/><axis xyz="0 1 0.5"/></joint>
<joint name="c" type="fixed"><parent link="base"/><child link="a.theta1"/></joint></robot>"""


def test_universal_and_cylindrical_joints_become_chains(tmp_path):
    """They move as the joints of the source do, with the same names of coordinates, and urdfdom
    (through Pinocchio) reads them."""
    file, out = tmp_path / "chain.urdf", tmp_path / "out.urdf"
    file.write_text(CHAIN)
    done = invoke("convert", file, "-o", out)
    assert (
        done.exit_code == 0
        and "joints ('a' and 'b') are written as chains of joints" in done.stderr
    )
    assert "extension of symgen; URDF has no" not in done.stderr
    options = {"friction": "viscous,coulomb"}
    robots = [symgen.Robot(path, **options) for path in (file, out)]
    one, two = (robot.trace("inverse_dynamics") for robot in robots)
    names = ("a.theta1", "a.theta2", "b.z", "b.theta")
    assert [load(path).model.joint_names for path in (file, out)] == [names, names]
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 4))
    tau = one.run(q=q, qd=qd, qdd=qdd)["tau"]
    assert np.allclose(tau, two.run(q=q, qd=qd, qdd=qdd)["tau"], rtol=1e-12)
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(out))
    assert (*model.names,)[1:] == names


def test_motors_that_joints_share_are_not_written(tmp_path):
    wild = ROOT / "tests" / "wild" / "differential.urdf"
    result = invoke("convert", wild, "-o", tmp_path / "out.urdf")
    assert "('left_motor' and 'right_motor') are not written to the URDF" in result.stderr


EVERYTHING = """<mujoco model="all"><option gravity="0 0 -9.81"/>
<worldbody>
  <body name="base"><freejoint name="free"/><inertial pos="0 0 0" mass="3" diaginertia="1 1 1"/>
    <body name="a"><joint name="sprung" axis="0 1 0" stiffness="4" springref="0.2"/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body name="b"><joint name="heavy" type="slide" armature="0.5" range="-1 1" actuatorfrcrange="-5 5"/>
        <joint name="second" axis="0 0 1" damping="0.1" pos="0 0.1 0"/>
        <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></body>
    <body name="c"><joint name="follower" axis="1 0 0"/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body>
    <body name="d"><joint name="lone" axis="1 0 0" frictionloss="0.2"/>
      <inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></body>
</worldbody>
<equality><joint joint1="follower" joint2="second" polycoef="0.1 -2 0 0 0"/></equality>
<actuator><motor name="m" joint="lone" gear="40"/></actuator></mujoco>"""
SPRING_ALONE = """<robot name="sprung"><link name="base"/><link name="a"/><joint name="j" type="continuous">
<parent link="base"/><child link="a"/><dynamics spring_stiffness="3"/></joint></robot>"""
SOURCES = {"everything.xml": EVERYTHING, "hinge.xml": HINGE, "spring_alone.urdf": SPRING_ALONE}
SOURCES |= {f"random{seed}.sdf": sdf_text(seed) for seed in range(6)}
FILES = [*(ROOT / "tests" / "sdf").glob("*.sdf"), *(ROOT / "tests" / "wild").glob("*.urdf")]
FILES += [*(ROOT / "tests" / "cases").glob("*.urdf"), *(ROOT / "robots").glob("*.urdf")]
FOREIGN = "so other programs reject the file"
"""Said of joint types that URDF has not, such as screws."""


def written_urdf(name, folder):
    """The URDF of a source, None of one that is refused, and whether a joint is foreign to URDF."""
    path = next((file for file in FILES if file.name == name), folder / name)
    if name in SOURCES:
        path.write_text(SOURCES[name])
    result = invoke("convert", path, "-o", folder / "out.urdf")
    assert result.exit_code == 0 or name not in SOURCES, result.output
    return None if result.exit_code else (folder / "out.urdf", FOREIGN in result.stderr)


@pytest.mark.parametrize("name", sorted([*SOURCES, *(file.name for file in FILES)]))
def test_what_is_written_is_read_by_the_readers_of_others(name, tmp_path):
    """By urdfdom (through Pinocchio), by urdfdom's Python reader where it is installed, and by
    yourdfpy; only a joint type that URDF has not is refused, and that is a warning."""
    pin = pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    made = written_urdf(name, tmp_path)
    if made is None:
        return
    path, is_foreign = made
    if is_foreign:
        with pytest.raises(ValueError, match="does not contain a valid URDF model"):
            pin.buildModelFromUrdf(str(path))
        return
    model = pin.buildModelFromUrdf(str(path))
    joints = {joint.name for joint in read(path).joints if joint.kind != "fixed"}
    assert {*model.names} - {"universe", "root_joint"} == joints
    for reader in (_by_urdfdom_py, _by_yourdfpy):
        reader(path, joints)


def _by_urdfdom_py(path, joints):
    if find_spec("urdf_parser_py") is None:
        return
    from urdf_parser_py.urdf import URDF

    assert joints <= {joint.name for joint in URDF.from_xml_string(path.read_bytes()).joints}


def _by_yourdfpy(path, joints):
    if find_spec("yourdfpy") is None:
        return
    import yourdfpy

    robot = yourdfpy.URDF.load(str(path), load_meshes=False, build_scene_graph=False)
    assert joints <= {*robot.joint_map}


def test_a_part_is_written_as_a_robot_of_its_own(tmp_path):
    """The arm of a mobile manipulator: Pinocchio and symgen agree on the written file, and symgen
    on the file computes what symgen with --root and --tip computes."""
    pin = pytest.importorskip("pinocchio")
    file, out = robot_file("panda"), tmp_path / "part.urdf"
    part = {"root": "link1", "tip": "link6"}
    result = invoke("convert", file, "--root", part["root"], "--tip", part["tip"], "-o", out)
    assert result.exit_code == 0, result.output
    model = pin.buildModelFromUrdf(str(out))
    assert [*model.names][1:] == [f"joint{k}" for k in range(2, 7)]
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, model.nv))
    tau = pin.rnea(model, model.createData(), q, qd, qdd)
    ours = symgen.trace(file, "inverse_dynamics", **part)
    entries = {"q": q.tolist(), "qd": qd.tolist(), "qdd": qdd.tolist()}
    assert np.allclose(evaluate(ours.program, entries)["tau"], tau, atol=1e-8)


def test_a_part_with_a_turned_root_needs_its_gravity(tmp_path):
    result = invoke("convert", robot_file("panda"), "--root", "link2", "-o", tmp_path / "part.urdf")
    assert result.exit_code == 0 and "give --gravity" in result.stderr
    fall = result.stderr.split("give --gravity ")[1].split()[0]
    loaded = load(robot_file("panda"), root="link2")
    assert np.allclose(loaded.model.gravity, [float(x) for x in fall.split(",")], atol=1e-9)


@pytest.mark.parametrize(
    "robot, tip, message",
    [
        ("panda", "nowhere", "--tip 'nowhere': the robot has no such link"),
        ("mimic_gripper", "jaw_far", "which is not in the part; choose a part that contains both"),
    ],
)
def test_a_part_that_cannot_be_written_is_refused(tmp_path, robot, tip, message):
    out = tmp_path / "part.urdf"
    result = invoke("convert", robot_file(robot), "--tip", tip, "-o", out)
    assert result.exit_code == 2 and message in result.stderr and not out.exists()
