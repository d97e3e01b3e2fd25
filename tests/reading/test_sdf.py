"""SDFormat files: against Drake's reader where that is there, and against what is known of them."""

import numpy as np
import pytest

from symgen.compiler.evaluate import evaluate
from symgen.errors import RobotError
from symgen.reading.assemble import load
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.random_sdf import NestedSdf, sdf_text


def written(folder, text, name="robot.sdf"):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def terms(path, q, qd, **options):
    """Mass matrix, bias and gravity of ours, by name of the velocity."""
    model = load(path, snap_angles=0.0, **options).model
    given = {"q": q, "qd": qd}
    found = {}
    for quantity in ("mass_matrix", "bias", "gravity"):
        function = trace(ParametricModel(model), FunctionRequest.parse(quantity))
        values = evaluate(function.program, {key: given[key].tolist() for key in function.inputs})
        found |= {name: np.array([float(x) for x in row]) for name, row in values.items()}
    n = len(model.joint_names)
    return found["M"].reshape(n, n), found["tau_b"], found["tau_g"]


@pytest.mark.parametrize("seed", range(20))
def test_drake_agrees(tmp_path, seed):
    """Frames given in each other, joints beside their links, axes in other frames, nested models:
    Drake reads them by libsdformat."""
    plants = pytest.importorskip("pydrake.multibody.plant")
    from pydrake.multibody.parsing import Parser

    path = written(tmp_path, sdf_text(seed))
    plant = plants.MultibodyPlant(0.0)
    Parser(plant).AddModels(str(path))
    plant.Finalize()
    context, model = plant.CreateDefaultContext(), load(path, snap_angles=0.0).model
    short = [name.split("_", 1)[1] for name in plant.GetVelocityNames()]
    suffixes = {"w": "", "v": "", "wx": ".theta1", "wy": ".theta2"}
    names = [n.rpartition("_")[0] + suffixes[n.rpartition("_")[2]] for n in short]
    order = [names.index(name) for name in model.joint_names]
    rng = np.random.default_rng(seed)
    q, qd = rng.uniform(-1, 1, (2, len(order)))
    back = np.argsort(order)
    plant.SetPositions(context, q[back])
    plant.SetVelocities(context, qd[back])
    weight = -plant.CalcGravityGeneralizedForces(context)[order]
    mass, bias, gravity = terms(path, q, qd)
    expected = plant.CalcMassMatrix(context)[np.ix_(order, order)]
    assert np.allclose(mass, expected, rtol=0, atol=1e-9)
    assert np.allclose(gravity, weight, rtol=0, atol=1e-9)
    assert np.allclose(bias, plant.CalcBiasTerm(context)[order] + weight, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_nested_included_and_merged_models_stand_where_drake_has_them(tmp_path, seed):
    """Models without a frame of their own stand in the model around them, wherever that stands;
    placement frames, canonical links, frames of the world, and the names of merged models."""
    plants = pytest.importorskip("pydrake.multibody.plant")
    from pydrake.multibody.parsing import Parser

    path = NestedSdf(seed).write(tmp_path)
    plant = plants.MultibodyPlant(0.0)
    parser = Parser(plant)
    for folder in (inner for inner in tmp_path.iterdir() if inner.is_dir()):
        parser.package_map().Add(folder.name, str(folder))
    parser.AddModels(str(path))
    plant.Finalize()
    joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
    place = {joint.name(): joint.velocity_start() for joint in joints if joint.num_velocities()}
    names = load(path, snap_angles=0.0).model.joint_names
    order = [place[name.rpartition("::")[2]] for name in names]
    assert len(order) == plant.num_velocities() >= 3
    rng, context = np.random.default_rng(seed), plant.CreateDefaultContext()
    q, qd = rng.uniform(-1, 1, (2, len(order)))
    plant.SetPositions(context, q[np.argsort(order)])
    plant.SetVelocities(context, qd[np.argsort(order)])
    weight = -plant.CalcGravityGeneralizedForces(context)[order]
    mass, bias, gravity = terms(path, q, qd)
    assert np.allclose(mass, plant.CalcMassMatrix(context)[np.ix_(order, order)], rtol=0, atol=1e-9)
    assert np.allclose(gravity, weight, rtol=0, atol=1e-9)
    assert np.allclose(bias, plant.CalcBiasTerm(context)[order] + weight, rtol=0, atol=1e-9)


INERTIAL = (
    "<inertial><pose>0.1 0 0 0 0 0</pose><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy>"
    "<izz>0.1</izz></inertia></inertial>"
)
LINKS = f'<link name="base">{INERTIAL}</link><link name="a">{INERTIAL}%s</link>'
JOINT = '<joint name="j" type="%s"><parent>base</parent><child>a</child>%s</joint>'
AXIS = "<axis><xyz>0 1 0</xyz>%s</axis>"


def model(parts, version="1.9", around="%s"):
    return f'<sdf version="{version}">' + around % f'<model name="m">{parts}</model>' + "</sdf>"


def simple(kind="revolute", axis=AXIS % "", link="", version="1.9"):
    return model(LINKS % link + JOINT % (kind, axis), version)


def said(path):
    return [f"{notice.level}: {notice.message}" for notice in load(path).notices]


def test_the_same_robot_as_a_urdf(tmp_path):
    inertial = '<inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>'
    urdf = (
        f'<robot name="m"><link name="base">{inertial}</link><link name="a">{inertial}</link>'
        '<joint name="j" type="continuous"><parent link="base"/><child link="a"/>'
        '<axis xyz="0 1 0"/></joint></robot>'
    )
    ours = load(written(tmp_path, simple())).model
    theirs = load(written(tmp_path, urdf, "robot.urdf")).model
    assert ours == theirs


def test_axes_of_old_versions_are_in_the_models_frame(tmp_path):
    turned = "<pose>0 0 0 0 0 1.5707963267948966</pose>"
    for version, axis in (("1.4", (1, 0, 0)), ("1.5", (0, 1, 0)), ("1.6", (0, 1, 0))):
        found = load(written(tmp_path, simple(link=turned, version=version))).model
        assert found.body(1).axis == pytest.approx(axis, abs=1e-15), version
    parent = AXIS % "<use_parent_model_frame>true</use_parent_model_frame>"
    found = load(written(tmp_path, simple(axis=parent, link=turned, version="1.6"))).model
    assert found.body(1).axis == pytest.approx((1, 0, 0), abs=1e-15)


def test_limits_friction_mimic_and_pitches(tmp_path):
    more = "<limit><lower>-1</lower><upper>inf</upper><effort>-1</effort><velocity>3</velocity></limit><dynamics><damping>0.2</damping><friction>0.1</friction></dynamics>"
    joint = load(written(tmp_path, simple(axis=AXIS % more))).model.body(1).joint
    assert (joint.limits.lower, joint.limits.upper) == (-1, None)
    assert (joint.limits.effort, joint.limits.velocity) == (None, 3)
    assert (joint.damping, joint.friction) == (0.2, 0.1)
    for pitch in (
        "<screw_thread_pitch>0.5</screw_thread_pitch>",
        f"<thread_pitch>{-2 * np.pi / 0.5}</thread_pitch>",
    ):
        joint = load(written(tmp_path, simple("screw", AXIS % "" + pitch))).model.body(1).joint
        assert joint.constants == pytest.approx((0.5 / (2 * np.pi),))
    mimic = '<mimic joint="j"><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic>'
    second = '<joint name="k" type="revolute"><parent>a</parent><child>b</child>' + AXIS % mimic
    text = model(
        LINKS % ""
        + f'<link name="b">{INERTIAL}</link>'
        + JOINT % ("revolute", AXIS % "")
        + second
        + "</joint>",
        "1.11",
    )
    follow = load(written(tmp_path, text)).model.body(2).follows
    assert (follow.terms, follow.offset) == (((1, 2),), pytest.approx(0.3))


def test_gravity_is_that_of_the_world_as_the_model_stands_in_it(tmp_path):
    tilted = "<pose>0 0 0 1.5707963267948966 0 0</pose>"
    world = '<world name="w"><gravity>0 0 -3</gravity><model name="ground"><static>true</static></model>%s</world>'
    path = written(
        tmp_path, model(tilted + LINKS % "" + JOINT % ("revolute", AXIS % ""), around=world)
    )
    assert load(path).model.gravity == pytest.approx((0, -3, 0), abs=1e-15)
    assert load(path, base="floating").model.gravity == (0, 0, -3)


def test_included_models(tmp_path):
    written(tmp_path, simple(), "arm/model.sdf")
    include = '<include><uri>model://arm</uri><name>left</name><pose relative_to="post">0 0 1 0 0 0</pose></include>'
    joint = '<joint name="k" type="fixed"><parent>post</parent><child>left::base</child></joint>'
    path = written(tmp_path, model(f'<link name="post">{INERTIAL}</link>' + include + joint))
    loaded = load(path)
    assert loaded.model.joint_names == ("left::j",) and loaded.model.body(1).pose.position == (
        0,
        0,
        1,
    )
    changed = written(tmp_path, simple(kind="prismatic"), "arm/model.sdf")
    assert changed and load(path).sha256 != loaded.sha256
    outside = model("<include><uri>model://../arm</uri></include>")
    with pytest.raises(RobotError, match="is not found in the folders above the file"):
        load(written(tmp_path, outside))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (simple(axis=AXIS % "<dynamics><spring_stiffness>3</spring_stiffness></dynamics>"), "warning: spring of 'j' is ignored; add --springs to include it"),
        (simple(link="<gravity>false</gravity>"), "warning: links without gravity ('a')"),
        (simple(link="<odd/>"), "note: unknown in <link>, ignored"),
        (simple(), "note: link 'base' has no joint to the world, so it floats"),
        (simple().replace(INERTIAL, "", 1), "warning: links without <inertial> ('base') have the default inertia"),
    ],
)  # fmt: skip
def test_what_is_not_read_is_said(tmp_path, text, words):
    path = written(tmp_path, text)
    assert any(words in line for line in said(path)), said(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (simple("gearbox2"), "type 'gearbox2' is not supported"),
        (simple(link='<pose relative_to="lost">0 0 0 0 0 0</pose>'), "'lost' is not a link, joint, frame or model"),
        (simple(link='<pose relative_to="j">0 0 0 0 0 0</pose>'), "its pose depends on itself"),
        (simple(link="<pose>0 0 zero 0 0 0</pose>"), "the text of <pose> holds 'zero', which is not a decimal number"),
        (simple(link="<pose>0 0 0</pose>"), "the text of <pose> is '0 0 0': 3 numbers where 6 are needed"),
        (simple(version="2"), "version '2' is not a version of SDFormat"),
        (simple().replace(INERTIAL, "<inertial><pose relative_to='a'>1 0 0 0 0 0</pose></inertial>", 1), "<inertial> is relative to 'a'"),
        (simple("screw"), "has no pitch"),
        (simple(axis=""), "has no <axis>"),
        ('<sdf version="1.9"/>', "has no <model>; add one"),
        (simple().replace("<parent>base", "<parent>bass"), "'bass' is not a link, joint, frame or model"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_one_sentence(tmp_path, text, words):
    with pytest.raises(RobotError) as caught:
        load(written(tmp_path, text))
    assert words in str(caught.value) and "\n" not in str(caught.value)


def test_joints_of_the_world_are_said(tmp_path):
    model = "<model name='m'><link name='a'/><link name='b'/><joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint></model>"
    tie = "<joint name='anchor' type='fixed'><parent>world</parent><child>m::a</child></joint>"
    path = written(tmp_path, f"<sdf version='1.9'><world name='w'>{model}{tie}</world></sdf>")
    said = [f"{n.level}: {n.element}: {n.message}" for n in load(path).notices]
    assert "warning: <world>: joints of the world ('anchor') are ignored" in said


def geared(
    axis="0 0 1", box="<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>", body="base"
):
    """Two wheels on a base, with moments of 1 and 2 about the axes of their joints, and a gearbox."""
    inertia = "<inertial><mass>1</mass><inertia><ixx>{0}</ixx><iyy>{0}</iyy><izz>{0}</izz></inertia></inertial>"
    links = "".join(
        f"<link name='{n}'>{inertia.format(x)}</link>" for n, x in (("base", 1), ("a", 1), ("b", 2))
    )
    joint = "<joint name='{0}' type='{1}'><parent>{2}</parent><child>{3}</child>{4}</joint>"
    joints = joint.format("ja", "revolute", "base", "a", "<axis><xyz>0 0 1</xyz></axis>")
    joints += joint.format("jb", "revolute", "base", "b", f"<axis><xyz>{axis}</xyz></axis>")
    more = f"{box}<gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>{body}</gearbox_reference_body>"
    return f"<sdf version='1.9'><model name='m'>{links}{joints}{joint.format('g', 'gearbox', 'a', 'b', more)}</model></sdf>"


@pytest.mark.parametrize(("axis", "factor"), [("0 0 1", -3.0), ("0 0 -1", 3.0)])
def test_a_gearbox_is_a_coupling(tmp_path, axis, factor):
    """theta_2 = -ratio theta_1, so M = 1 + 9 * 2; a joint about the other direction turns otherwise."""
    path = written(tmp_path, geared(axis))
    model = load(path).model
    assert model.joint_names == ("ja",) and not any("gearbox" in line for line in said(path))
    (follower,) = [body for body in model.bodies if body.follows]
    assert follower.joint.name == "jb" and follower.follows.terms == ((1, factor),)
    mass, _, _ = terms(path, np.array([0.3]), np.array([0.2]))
    assert np.allclose(mass, 1 + 9 * 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (geared("1 0 0"), "its axis2 differs from that of joint 'jb'"),
        (geared(body="a"), "no revolute joint is between 'a' and 'a'"),
        (geared(body=""), "it has no <gearbox_reference_body>"),
    ],
)
def test_a_gearbox_that_ties_no_joints_is_said(tmp_path, text, words):
    path = written(tmp_path, text)
    assert any(words in line and "move freely" in line for line in said(path)), said(path)
    assert load(path).model.dof == 2
