"""Reading URDF: the public cases, and every rule on a file of a few lines."""

import time

import pytest

from symgen.errors import RobotError
from symgen.reading.assemble import load
from symgen.reading.urdf import parse
from tests.support.urdf import CASES, ENDS, LINKS, case_file, joint, refusal

ERRORS = [
    name for name, case in CASES.items() if case["expect"] == "error" and name != "planar_joint"
]


VALUES = [name for name, case in CASES.items() if case["expect"] == "values"]


def test_all_cases_are_here():
    assert len(CASES) == 29 and len(ERRORS) == 8 and len(VALUES) == 20


@pytest.mark.parametrize("name", [name for name in ERRORS if name != "inertia_negative"])
def test_case_is_refused(name):
    wanted, path, start = CASES[name]["error"], case_file(name), time.process_time()
    with pytest.raises(RobotError) as caught:
        load(path)
    message = str(caught.value)
    assert time.process_time() - start < 1
    assert (
        message.startswith(f"{path}:{caught.value.location.line}: error: ") and "\n" not in message
    )
    assert caught.value.location.line in wanted["lines_accepted"]
    for options in wanted["must_mention"]:
        assert any(option in message for option in options.split("|")), message


@pytest.mark.parametrize("name", VALUES)
def test_case_is_accepted(name):
    case, loaded = CASES[name], load(case_file(name))
    assert list(loaded.model.joint_names) == case["joint_order"]
    assert loaded.model.base[0].name == case["root_link"]
    for body in loaded.model.bodies:
        assert body.joint.axis == pytest.approx(
            case["joints"][body.joint.name]["unit_axis"], abs=1e-15
        )
        assert body.name == case["joints"][body.joint.name]["child"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "duplicate_joint_name",
            "25: error: joint 'pivot': the name is already used by the joint on line 18; rename"
            " one of them",
        ),
        (
            "xyz_two_numbers",
            "14: error: joint 'bend': xyz of <origin> is '0 0.2': 2 numbers where 3 are needed,"
            ' as in xyz="0 0 1"',
        ),
        (
            "two_roots",
            "2: error: <robot>: has 2 root links, 'left_base' and 'right_base'; connect them "
            "with joints, or choose one with --root LINK, which keeps only the links that it carries",
        ),
        (
            "inertial_mass_only",
            "5: error: link 'rod': <inertial> has no <inertia>; add it, or remove"
            " <inertial> for a link without mass and inertia",
        ),
        (
            "xacro_left",
            "3: error: <xacro:property>: the output of xacro is not a robot: <robot>: has 2"
            " root links, 'socket' and 'seg_a'; connect them with joints, or choose"
            " one with --root LINK, which keeps only the links that it carries",
        ),
    ],
)
def test_whole_message(name, message):
    with pytest.raises(RobotError) as caught:
        load(case_file(name))
    assert str(caught.value) == f"{case_file(name)}:{message}"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "<robot>: has no links; add at least one"),
        (
            '<link name="a"/><link name="a"/>',
            "link 'a': the name is already used by the link on line 1; rename",
        ),
        ("<link/>", '<link>: <link> has no name; write name="..."'),
        ('<link name=" "/>', "has a blank name"),
        (
            LINKS + joint(ends='<child link="b"/>'),
            "joint 'j': has no <parent>; add <parent link=\"...\"/>",
        ),
        (LINKS + joint(ends='<parent link="a"/>'), "joint 'j': has no <child>"),
        (LINKS + joint(ends='<parent/><child link="b"/>'), "joint 'j': <parent> has no link"),
        (
            LINKS + joint(ends='<parent link="z"/><child link="b"/>'),
            "joint 'j': parent link 'z' does not exist",
        ),
        (
            LINKS + joint(ends='<parent link="a"/><child link="z"/>'),
            "joint 'j': child link 'z' does not exist",
        ),
        (
            LINKS + joint(ends='<parent link="b"/><child link="b"/>'),
            "joint 'j': connects link 'b' to itself",
        ),
        (
            LINKS + joint() + joint(name="k", ends='<parent link="b"/><child link="a"/>'),
            "joint 'j': joints 'j' and 'k' form a cycle; a robot is a tree: remove one of them",
        ),
        (
            '<link name="root"/>'
            + LINKS
            + joint()
            + joint(name="k", ends='<parent link="b"/><child link="a"/>'),
            "form a cycle",
        ),
        (
            LINKS + joint(kind="curvilinear"),
            "joint 'j': unknown type 'curvilinear'; use one of revolute, continuous,",
        ),
        (LINKS + f'<joint name="j">{ENDS}</joint>', "joint 'j': <joint> has no type"),
        (LINKS + joint('<axis xyz="0 0 0"/>'), "joint 'j': axis is zero; give a direction"),
        (LINKS + joint("<axis/>"), "joint 'j': <axis> has no xyz"),
        (
            LINKS + joint("<axis xyz='1 0 0'/><axis xyz='0 1 0'/>"),
            "a second <axis> (the first is on line 1)",
        ),
        (
            LINKS + joint("<origin xyz='1,5 0 0'/>"),
            "xyz of <origin> holds '1,5', which is not a decimal number",
        ),
        (LINKS + joint("<origin xyz=''/>"), "xyz of <origin> is '': 0 numbers where 3 are needed"),
        (
            LINKS + joint("<origin rpy='0 0 1e999'/>"),
            "rpy of <origin> holds '1e999', which is too large",
        ),
        (
            LINKS + joint("<origin rpy='0 0 0' quat_xyzw='0 0 0 1'/>"),
            "<origin> has both rpy and quat_xyzw; keep one of them",
        ),
        (LINKS + joint("<origin quat_xyzw='0 0 0 0'/>"), "quat_xyzw is zero; give a rotation"),
        (
            LINKS + joint("<limit lower='1 2'/>"),
            "lower of <limit> is '1 2': 2 numbers where 1 is needed",
        ),
        (
            LINKS + joint("<origin xyz='${x} 0 0'/>"),
            "<origin>: xyz contains the unexpanded xacro expression ${x}; give",
        ),
        (
            '<link name="$(arg p)a"/>',
            "<link>: name contains the unexpanded xacro expression $(arg p); give",
        ),
        (
            "<xacro:include filename='x'/>",
            "<xacro:include>: the file contains unexpanded xacro elements; give",
        ),
        (
            LINKS.replace('mass value="1"', 'mass value="-1"'),
            "link 'b': mass is negative (-1 kg); give 0",
        ),
        (LINKS.replace('<mass value="1"/>', ""), "link 'b': <inertial> has no <mass>; add"),
        (LINKS.replace(' izz="1"', ""), "link 'b': <inertia> has no izz; write izz"),
    ],
)
def test_rule(body, message):
    text = refusal(body)
    assert text.startswith("r.urdf:1: error: ") and message in text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "r.urdf: error: is empty; give a robot file"),
        (b"\xef\xbb\xbf \n", "r.urdf: error: is empty; give a robot file"),
        (
            b"<scene/>",
            "r.urdf:1: error: <scene>: the root element is not <robot>, <mujoco> or <sdf>; give a URDF, MJCF or SDF file",
        ),
        (
            b"<robot>\n<link name='a'>\n</robot>",
            "r.urdf:3: error: XML: not well-formed: Opening and ending tag"
            " mismatch: link line 2 and robot; correct the XML",
        ),
        (
            b"<robot>\n\xff\x01</robot>",
            "r.urdf:2: error: XML: bytes that are not UTF-8 text; save the file as UTF-8",
        ),
        (
            b"<?xml version='1.0' encoding='EBCDIC'?><robot/>",
            "r.urdf:1: error: XML: encoding 'EBCDIC' is not supported; save the file as UTF-8",
        ),
        (
            b"<!-- <!DOCTYPE a> -->\n<?pi?>\n<!DOCTYPE robot SYSTEM 'file:///etc/passwd'><robot/>",
            "r.urdf:3: error: <!DOCTYPE>: document types and entities are not accepted, because they "
            "can expand without"
            " bound; remove the DOCTYPE and write the values out",
        ),
    ],
)
def test_file_that_is_no_robot(data, message):
    with pytest.raises(RobotError) as caught:
        parse(data, "r.urdf")
    assert str(caught.value) == message
