"""Messages that lead a newcomer to the right file, option or name."""

import pytest

import symgen
from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.algorithms.titles import SYNONYMS
from symgen.errors import OptionError, RobotError
from symgen.reading.assemble import load
from tests.support.tools import ROOT, invoke
from tests.support.xacros import XMLNS, library  # noqa: F401

PENDULUM = str(ROOT / "robots" / "pendulum.urdf")


@pytest.mark.parametrize("name", SYNONYMS)
def test_every_synonym_is_no_quantity_and_leads_to_one(name):
    assert name not in QUANTITIES and name not in LINK_QUANTITIES
    for target in SYNONYMS[name].split("+"):
        table = LINK_QUANTITIES if target.endswith(":LINK") else QUANTITIES
        assert target.removesuffix(":LINK") in table


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("rnea", "inverse_dynamics"),
        ("CRBA", "mass_matrix"),
        ("nonlinear_effects", "bias"),
        ("nonLinearEffects", "bias"),
        ("fk", "frame_pose:LINK"),
        ("forward_kinematics", "frame_pose:LINK"),
        ("jacobian:tool", "frame_jacobian_aligned:LINK"),
        ("inverse_dynamics_regressor", "regressor"),
        ("M", "mass_matrix"),
    ],
)
def test_the_name_of_another_library_leads_to_ours(name, use):
    done = invoke("ops", PENDULUM, "--quantity", name)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert f"no quantity is called '{name}'; use {use}," in done.stderr


def test_quantities_may_be_a_list():
    listed = symgen.compile(PENDULUM, ["gravity", "mass_matrix"])
    plain = symgen.compile(PENDULUM, "gravity", "mass_matrix")
    assert listed.functions.keys() == plain.functions.keys() == {"gravity", "mass_matrix"}


@pytest.mark.parametrize(
    ("text", "value"), [("-pi/2", -1.5707963267948966), ("pi", 3.141592653589793), ("0", 0.0), (" 3 * pi / 4", 2.356194490192345)]
)  # fmt: skip
def test_angles_of_a_table_may_be_multiples_of_pi(text, value):
    def pose(alpha):
        row = symgen.DH(a=1, alpha=alpha, mass=1, center_of_mass=(0.1, 0, 0))
        return symgen.from_dh([row, row], "standard").model

    assert pose(text) == pose(value)


@pytest.mark.parametrize("text", ["pie", "pi/0", "2pi/", "", "1.5"])
def test_other_texts_are_no_angles(text):
    with pytest.raises(OptionError, match=r"row 1: alpha is .*; give a number in rad"):
        symgen.from_dh([symgen.DH(a=1, alpha=text)], "standard")


@pytest.mark.parametrize(
    ("file", "data", "word"),
    [
        ("robot.json", b'{"links": []}', "JSON"),
        ("robot.urdf", b' {"links": []}', "JSON"),
        ("robot.yaml", b"links: []", "YAML"),
        ("robot.lua", b"return {}", "Lua"),
        ("robot.usda", b"#usda 1.0\n", "USD"),
        ("robot.usd", b"PXR-USDC\x00\x00\xff", "USD"),
        ("robot.kindsl", b"Robot arm {}", "RobCoGen"),
        ("base.stl", b"solid base", "STL"),
    ],
)
def test_a_format_that_is_not_read_is_named(file, data, word, tmp_path):
    path = tmp_path / file
    path.write_bytes(data)
    done = invoke("check", path)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert (
        f"{path}:1: error: file: {word}" in done.stderr
        and "is not supported; give a" in done.stderr
    )


def test_a_spherical_joint_is_a_ball():
    parts = '<link name="b"/><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = '<joint name="j" type="{}"><parent link="b"/><child link="a"/></joint>'
    spherical, ball = (
        load(f'<robot name="r">{parts}{joint.format(word)}</robot>').model
        for word in ("spherical", "ball")
    )
    assert spherical == ball and len(ball.joint_names) == 3


TRANSMISSION = (
    '<transmission name="t{0}"><type>x/SimpleTransmission</type><joint name="{1}"/>'
    '<actuator name="m{0}"><mechanicalReduction>{2}</mechanicalReduction></actuator></transmission>'
)


def test_transmissions_are_one_line_for_each_cause(tmp_path):
    text = (ROOT / "robots" / "pendulum.urdf").read_text()
    rows = [TRANSMISSION.format(k, ("shoulder", "elbow")[k % 2], 50 + k) for k in range(6)]
    rows += [TRANSMISSION.format(k, "shoulder", 0) for k in range(6, 9)]
    names = [joint.name for joint in symgen.Robot(PENDULUM).joints]
    body = "".join(rows).replace("shoulder", names[0]).replace("elbow", names[1])
    path = tmp_path / "robot.urdf"
    path.write_text(text.replace("</robot>", body + "</robot>"))
    lines = [x for x in invoke("check", path).stderr.splitlines() if ") are ignored: " in x]
    assert len(lines) == 2, lines
    assert "4 transmissions (" in lines[0] and "belong to earlier transmissions" in lines[0]
    assert "3 transmissions (" in lines[1] and "reduction of ... is 0" in lines[1]
    verbose = invoke("check", path, "--verbose").stderr
    assert verbose.count("is ignored: ") == 7


@pytest.mark.usefixtures("library")
def test_a_default_that_is_declared_after_its_use_is_explained(tmp_path):
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(
        f'<robot name="$(arg name)" {XMLNS}><xacro:arg name="name" default="kinova arm"/>'
        '<link name="a"/></robot>'
    )
    with pytest.raises(RobotError) as caught:
        load(path)
    said = str(caught.value)
    assert "argument 'name' is used before <xacro:arg> declares its default 'kinova arm'" in said
    assert "--xacro-arg 'name=kinova arm'" in said


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    "inside",
    [
        '<link name="$(eval 1/)"/>',
        '<link name="$(dirname)"/>',
        '<xacro:include filename="lost/a"/>',
    ],
)
def test_what_xacro_says_stands_there_once(inside, tmp_path):
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(f'<robot name="r" {XMLNS}><link name="a"/>{inside}</robot>')
    with pytest.raises(RobotError) as caught:
        load(path)
    said = str(caught.value).partition("cannot expand it: ")[2]
    words = said.replace("'", "").split()
    assert said and words[: len(words) // 2] != words[(len(words) + 1) // 2 :]
    assert said.count("invalid syntax") <= 1 and said.count("No such file") <= 1


@pytest.mark.usefixtures("library")
def test_a_file_of_macros_names_them_and_the_files_that_call_them(tmp_path):
    (tmp_path / "urdf").mkdir()
    (tmp_path / "robots").mkdir()
    path = tmp_path / "urdf" / "macros.xacro"
    path.write_text(
        f'<robot {XMLNS}><xacro:macro name="arm" params="p"><link name="a"/></xacro:macro>'
        '<xacro:macro name="hand" params="p"><link name="b"/></xacro:macro></robot>'
    )
    with pytest.raises(RobotError) as caught:
        load(path)
    assert "only defines the macros 'arm' and 'hand'; give a file that calls them" in str(
        caught.value
    )
    call = f'<robot name="r" {XMLNS}><xacro:arm p="1"/></robot>'
    for folder in ("urdf", "robots"):
        (tmp_path / folder / f"{folder}.urdf.xacro").write_text(call)
    with pytest.raises(RobotError) as caught:
        load(path)
    assert "such as 'urdf.urdf.xacro' and '../robots/robots.urdf.xacro'" in str(caught.value)
