"""What people are told of a robot's file: one line for each kind, warnings first, and nothing that an
option which they gave makes void."""

import re

import pytest

import symgen
from symgen.errors import Notice, SourceLocation, summarized
from symgen.reading.assemble import load
from tests.support.public_robots import real_files
from tests.support.tools import invoke

INERTIAL = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
)
DRIVE = (
    '<transmission name="t"><joint name="j0"/><actuator name="m">'
    "<mechanicalReduction>{}</mechanicalReduction></actuator></transmission>"
)


def arm(path, inside="", rpy="0.3 0 0", joints=3, kind="continuous", more=""):
    """A chain of joints along z that turn about x."""
    parts = ['<link name="l0"/>']
    for k in range(joints):
        parts.append(
            f'<link name="l{k + 1}">{INERTIAL}</link><joint name="j{k}" type="{kind}">'
            f'<parent link="l{k}"/><child link="l{k + 1}"/>{inside}'
            f'<origin xyz="0 0 0.2" rpy="{rpy}"/></joint>'
        )
    path.write_text(f'<robot name="arm">{"".join(parts)}{more}</robot>')
    return path


def lines(*arguments):
    done = invoke(*arguments)
    assert done.exit_code == 0, done.output
    return [line.partition(".urdf:")[2].partition(" ")[2] for line in done.stderr.splitlines()]


def test_one_line_for_those_of_a_kind(tmp_path):
    path = arm(tmp_path / "arm.urdf", '<axis xyz="0 0 2"/>')
    assert lines("check", path) == [
        "note: file: 3 axes were normalized (joint 'j0', joint 'j1', joint 'j2')"
    ]
    assert lines("check", path, "--verbose") == [
        f"note: joint 'j{k}': the axis has the length 2 and is normalized" for k in range(3)
    ]


def test_one_alone_is_said_as_it_is_and_many_are_counted():
    some = [
        Notice(SourceLocation("f", k), "note", f"e{k}", f"m{k}", "{count} of {elements}")
        for k in range(9)
    ]
    alone = Notice(SourceLocation("f", 20), "note", "file", "by itself")
    loud = Notice(SourceLocation("f", 30), "warning", "x", "loud")
    hidden = Notice(SourceLocation("f", 1), "note", "x", "hidden", detail=True)
    assert summarized([*some[:1], alone, hidden, loud]) == [loud, some[0], alone]
    assert [n.message for n in summarized(some)] == ["9 of e0, e1, e2, e3, 5 more"]
    assert summarized([alone, alone]) == [alone]  # said once


def test_names_with_braces_are_data(tmp_path):
    twice = [
        Notice(
            SourceLocation("f", 1),
            "note",
            f"link '{{count}}{k}{{0}}'",
            "m",
            "{count} of {elements}",
        )
        for k in range(2)
    ]
    assert [n.message for n in summarized(twice)] == ["2 of link '{count}0{0}', link '{count}1{0}'"]


def test_right_angles_of_files_are_no_news(tmp_path):
    path = arm(tmp_path / "arm.urdf", rpy="1.57079632679 0 0")
    assert lines("check", path) == []
    assert len(lines("check", path, "--verbose")) == 3


def test_angles_beside_right_ones_are_one_line_unless_an_option_says_what_becomes_of_them(tmp_path):
    path = arm(tmp_path / "arm.urdf", rpy="1.5708 0 0")
    (line,) = lines("check", path)
    assert re.fullmatch(
        r"note: file: 3 angles are almost, but not exactly, multiples of pi/2; --snap-angles "
        r"4e-06 rounds them, which saves \d+ of \d+ operations",
        line,
    )
    assert lines("check", path, "--snap-angles", "0") == []
    assert lines("check", path, "--snap-angles", "4e-6") == [
        "note: file: angles close to multiples of pi/2 were rounded in 3 places "
        "(joint 'j0', joint 'j1', joint 'j2')"
    ]


def test_friction_is_said_unless_it_is_asked_for(tmp_path):
    path = arm(tmp_path / "arm.urdf", '<dynamics damping="1"/>')
    said = "note: <dynamics>: damping and friction (3 joints) are ignored; add --friction to include them"
    assert lines("ops", path) == [said]
    assert lines("ops", path, "--friction", "viscous") == []


@pytest.mark.parametrize(("reduction", "said"), [("1", 0), ("1.0", 0), ("50", 1), ("-3", 1)])
def test_a_transmission_is_said_where_it_has_a_ratio(reduction, said, tmp_path):
    path = arm(tmp_path / "arm.urdf", more=DRIVE.format(reduction))
    assert len(lines("ops", path)) == said
    rotors = tmp_path / "rotors.toml"
    rotors.write_text("[joints.j0]\nrotor_inertia = 1e-4\ngear_ratio = 50\n")
    assert lines("ops", path, "--actuators", rotors) == []


def test_what_an_option_would_count_is_one_line(tmp_path):
    inside = '<dynamics damping="1" {}/>'
    more = DRIVE.format(50)
    path = arm(tmp_path / "arm.urdf", inside.format(""), rpy="1.5708 0 0", more=more)
    (line,) = lines("check", path)
    assert re.fullmatch(
        r"note: file: ignored unless requested: reduction and rotor inertia of 1 transmission \(--actuators\), "
        r"damping and friction of 3 joints \(--friction\), 3 angles rounded to multiples of pi/2 "
        r"\(--snap-angles 4e-06, saves \d+ of \d+ operations\)",
        line,
    )
    assert len(lines("check", path, "--verbose")) == 6  # and each angle by itself
    (line,) = lines("ops", path, "--friction", "viscous", "--snap-angles", "0")
    assert line.startswith("note: <transmission>: ")
    arm(path, inside.format('spring_stiffness="5"'), more=more)
    (line,) = lines("check", path)  # as grave as the gravest of them
    assert line.startswith("warning: file: ignored unless requested: ")
    assert "springs of 'j0', 'j1' and 'j2' (--springs)" in line


def test_angles_beside_right_ones_are_told_where_equations_are_shown(tmp_path):
    path = arm(tmp_path / "arm.urdf", rpy="1.5708 0 0")
    (line,) = lines("inspect", path)
    assert line == (
        "note: file: 3 angles are almost, but not exactly, multiples of pi/2; --snap-angles "
        "4e-06 rounds them, which shortens the equations"
    )
    assert lines("inspect", path, "--snap-angles", "0") == []


def test_limits_that_are_missing_are_one_warning(tmp_path):
    path = arm(tmp_path / "arm.urdf", '<axis xyz="0 0 2"/>', kind="revolute")
    first, second = lines("check", path)
    assert first == (
        "warning: file: 3 joints have no <limit>, which URDF requires (joint 'j0', joint 'j1', "
        "joint 'j2'); they are read without limits"
    )
    assert second.startswith("note: ")


def test_real_files_say_little():
    """Before there were summaries the median was 7 lines a file and the mean 21."""
    counts = sorted(len(summarized(loaded.notices)) for loaded in real_files())
    assert counts[len(counts) // 2] <= 1 and sum(counts) / len(counts) <= 2, counts


MJCF = (
    '<mujoco><option><flag gravity="disable"/></option><worldbody><body><joint name="j" damping="1"/>'
    '<inertial pos="0.1 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>'
)
SDF = (
    '<sdf version="1.9"><model name="m"><link name="a"><inertial/></link>'
    '<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz>'
    "<dynamics><damping>1</damping></dynamics></axis></joint></model></sdf>"
)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (MJCF, {"--friction": "viscous", "--gravity": "0,0,-9.81"}),
        (SDF, {"--friction": "viscous"}),
    ],
)
def test_what_an_option_answers_is_not_said_in_any_format(text, given, tmp_path):
    if text is MJCF:
        pytest.importorskip("mujoco")
    path = tmp_path / "robot.xml"
    path.write_text(text)
    for option, value in given.items():
        for more, count in (((), 1), ((option, value), 0)):
            said = invoke("ops", path, "--quantity", "inverse_dynamics", *more)
            assert said.exit_code == 0, said.output
            lines = [line for line in said.stderr.splitlines() if f"{option}" in line]
            assert len(lines) == count, said.stderr


def test_limits_the_wrong_way_round_and_negative_numbers_are_said_in_every_format(tmp_path):
    limit = '<limit lower="2" upper="-1" effort="-5" velocity="1"/><dynamics damping="-0.5"/>'
    assert lines("check", arm(tmp_path / "a.urdf", limit, joints=1, kind="revolute"))[:3] == [
        "warning: joint 'j0': lower limit 2 is above the upper limit -1",
        "warning: file: 2 numbers of damping, friction and limits are negative (joint 'j0'); used "
        "as written",
        "note: <dynamics>: damping and friction (1 joint) are ignored; add --friction to include them",
    ]
    built = symgen.Builder("b")
    built.link("l0")
    built.link("l1", mass=1.0)
    built.joint("j", "prismatic", "l0", "l1", lower=1.0, upper=0.0, friction=-2.0)
    said = [notice.message for notice in symgen.Robot(built).notices]
    assert "lower limit 1 is above the upper limit 0" in said
    assert "friction is negative (-2); used as written" in said


UNIVERSAL = """<sdf version="1.9"><model name="m"><link name="a">{0}</link><link name="b">{0}</link>
<joint name="u" type="universal"><parent>a</parent><child>b</child>
<axis><xyz>1 0 0</xyz><dynamics><damping>3</damping></dynamics></axis>
<axis2><xyz>0 1 0</xyz>{1}</axis2></joint></model></sdf>"""


def test_friction_of_the_axes_of_an_sdf_joint_is_offered_as_that_of_others_is(tmp_path):
    path = tmp_path / "u.sdf"
    path.write_text(UNIVERSAL.format("<inertial/>", "<limit><lower>0</lower></limit>"))
    for options, offered in (((), True), (("--friction", "viscous"), False)):
        said = invoke("generate", path, "-o", tmp_path / "out", *options).stderr
        assert "note: <sdf>: limits of joints with several coordinates ('u') are ignored" in said
        assert ("--friction" in said) == offered
    assert load(path).model.bodies[0].joint.damping == (3.0, 0.0)
    path.write_text(UNIVERSAL.format("<inertial/>", '<mimic joint="u"/>'))
    refused = invoke("check", path)
    assert refused.exit_code == 2 and "joint 'u': mimics" in refused.stderr
