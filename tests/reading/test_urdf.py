"""Reading URDF: the public cases, every rule on a file of a few lines, and no traceback for any
bytes."""

import json
import math
import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tools import invoke

from symgen.errors import MOST_ERRORS, RobotError, RobotErrors, SymgenError
from symgen.reading.assemble import load
from symgen.reading.description import Description
from symgen.reading.urdf import KINDS, parse
from symgen.reading.xml_reader import MAX_BYTES, NUMBER
from symgen.text import shown

CASES = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((Path(__file__).resolve().parents[1] / "cases").glob("*.json"))
}
ERRORS = [
    name for name, case in CASES.items() if case["expect"] == "error" and name != "planar_joint"
]
VALUES = [name for name, case in CASES.items() if case["expect"] == "values"]

INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" '
    'izz="1"/></inertial>'
)
LINKS = f'<link name="a"/><link name="b">{INERTIAL}</link>'
ENDS = '<parent link="a"/><child link="b"/>'


def case_file(name: str) -> str:
    return str(Path(__file__).resolve().parents[1] / "cases" / f"{name}.urdf")


def robot(body: str) -> Description:
    return parse(f'<robot name="r">{body}</robot>'.encode(), "r.urdf")


def joint(inside: str = "", kind: str = "revolute", name: str = "j", ends: str = ENDS) -> str:
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def refusal(body: str) -> str:
    with pytest.raises(RobotError) as caught:
        robot(body)
    return str(caught.value)


def test_all_cases_are_here():
    assert len(CASES) == 29 and len(ERRORS) == 8 and len(VALUES) == 20


@pytest.mark.parametrize("name", [name for name in ERRORS if name != "inertia_negative"])
def test_case_is_refused(name):
    wanted, path, start = CASES[name]["error"], case_file(name), time.perf_counter()
    with pytest.raises(RobotError) as caught:
        load(path)
    message = str(caught.value)
    assert time.perf_counter() - start < 1
    assert message.startswith(f"{path}:{caught.value.place.line}: error: ") and "\n" not in message
    assert caught.value.place.line in wanted["lines_accepted"]
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
            "25: error: joint 'pivot': the name is taken by the joint on line 18; rename"
            " one of them",
        ),
        (
            "xyz_two_numbers",
            "14: error: joint 'bend': xyz of <origin> is '0 0.2': 2 numbers where 3 are needed,"
            ' as in xyz="0 0 1"',
        ),
        (
            "two_roots",
            "2: error: <robot>: has 2 root links, 'left_base' and 'right_base'; tie them into "
            "one tree"
            " with joints, or remove all but one with what they carry",
        ),
        (
            "inertial_mass_only",
            "5: error: link 'rod': <inertial> has no <inertia>; add what is missing, or remove"
            " <inertial> for a link without mass and inertia",
        ),
        (
            "xacro_left",
            "3: error: <xacro:property>: what xacro makes of this file is no robot: <robot>: has 2"
            " root links, 'socket' and 'seg_a'; tie them into one tree with joints, or remove all"
            " but one with what they carry",
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
        ("", "<robot>: has no <link>; give the URDF file of a robot"),
        (
            '<link name="a"/><link name="a"/>',
            "link 'a': the name is taken by the link on line 1; rename",
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
            "joint 'j': ties link 'b' to itself",
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
            "<origin>: the xacro expression ${x} is left in xyz; expand",
        ),
        (
            '<link name="$(arg p)a"/>',
            "<link>: the xacro expression $(arg p) is left in name; expand",
        ),
        (
            "<xacro:include filename='x'/>",
            "<xacro:include>: xacro elements are left in what is read; expand",
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
        (b"", "r.urdf:1: error: file: is empty; give a robot's file"),
        (b"\xef\xbb\xbf \n", "r.urdf:1: error: file: is empty; give a robot's file"),
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
            b"<robot>\n\xff</robot>",
            "r.urdf:2: error: XML: bytes that are not UTF-8 text; save the file as UTF-8",
        ),
        (
            b"<?xml version='1.0' encoding='EBCDIC'?><robot/>",
            "r.urdf:1: error: XML: encoding 'EBCDIC' is not supported; save the file as UTF-8",
        ),
        (
            b"<!-- <!DOCTYPE a> -->\n<?pi?>\n<!DOCTYPE robot SYSTEM 'file:///etc/passwd'><robot/>",
            "r.urdf:3: error: <!DOCTYPE>: document types and entities are refused, because they "
            "can expand without"
            " bound; remove the DOCTYPE and write the values out",
        ),
    ],
)
def test_file_that_is_no_robot(data, message):
    with pytest.raises(RobotError) as caught:
        parse(data, "r.urdf")
    assert str(caught.value) == message


def test_unreadable_paths(tmp_path):
    message = r"1: error: file: cannot be read \(.*\); give the path of a robot's file"
    for path in (tmp_path, tmp_path / "none.urdf", "a\0b", tmp_path / "two\nlines"):
        with pytest.raises(RobotError, match=message) as caught:
            load(path)
        assert str(caught.value).isprintable()


def test_huge_file(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(RobotError, match="file: is larger than 64 MiB"):
        load(path)


def test_names_cannot_break_the_line():
    text = refusal('<link name="a&#10;b: error: &#x9b;31m&#x202e;"/><link name="c"/>')
    assert text == (
        "r.urdf:1: error: <robot>: has 2 root links, 'a\\nb: error: \\x9b31m\\u202e' and 'c'; tie"
        " them into one tree with joints, or remove all but one with what they carry"
    )
    assert len(shown("x" * 10**6)) < 200
    assert len(shown("\u202e" * 10**6)) < 200


def test_undeclared_prefixes_are_read_as_ros_does():
    found = robot(LINKS + joint(kind="fixed") + '<sensor:camera name="c"/><sensor:camera/>')
    assert [str(n) for n in found.notices] == [
        "r.urdf:1: note: <sensor:camera>: unknown in <robot>, ignored (2 of them)"
    ]


def test_only_the_roots_namespace_counts():
    data = (
        f'<u:robot xmlns:u="urn:u" xmlns:v="urn:v" name="r"><v:link name="ghost"/><link '
        f'name="bare"/>'
        f"{LINKS}</u:robot>"
    ).replace('<link name="a', '<u:link name="a')
    assert [link.name for link in parse(data.encode(), "r").links] == ["a"]


def test_misspelt_inertial_is_pointed_out():
    found = robot('<link name="a"><Inertial/></link>')
    assert (
        found.notices[0].message
        == "unknown in <link>, ignored; if <inertial> is meant, correct the name"
    )


def test_lines_are_where_start_tags_begin():
    data = b'<robot\n name="r">\n<link\n\n name="a"\n/>\n</robot>'
    found = parse(data, "r.urdf")
    assert (found.line, found.links[0].line) == (1, 3)


def test_notes():
    drive = "<transmission><joint name='j'/><motorInertia>1</motorInertia></transmission>"
    damped = "<dynamics damping='0.1' friction='0'/>"
    found = robot(LINKS + joint("<axis xyz='0 3 4'/>" + damped, "continuous") + drive + drive)
    assert {n.message for n in found.notices} == {
        "axis of length 5 scaled to 1",
        "damping and friction (1 joint) count only with --friction",
        "reduction and rotor inertia (2 transmissions) have no effect on the terms by themselves; "
        "--actuators can give rotors",
    }
    assert (
        robot(LINKS + joint("<dynamics damping='0.0' friction='-0'/>", "continuous")).notices == ()
    )


def test_zero_mass_with_inertia_warns():
    found = robot(
        '<link name="b">' + INERTIAL.replace('mass value="1"', 'mass value="0"') + "</link>"
    )
    assert [str(n) for n in found.notices] == [
        "r.urdf:1: warning: link 'b': has inertia but zero mass; used as written"
    ]


@pytest.mark.parametrize(
    ("text", "axis", "noted"),
    [
        ("0 0 -2", (0, 0, -1), True),
        ("1e-320 0 0", (1, 0, 0), True),
        ("1e308 1e308 0", (0.5**0.5, 0.5**0.5, 0), True),
        ("0.6 0 0.8", (0.6, 0, 0.8), False),
        ("0.7071068 0 0.7071068", (0.5**0.5, 0, 0.5**0.5), False),
    ],
)
def test_axis(text, axis, noted):
    found = robot(LINKS + joint(f"<axis xyz='{text}'/>", "continuous"))
    assert found.joints[0].axis == pytest.approx(axis, abs=1e-15) and bool(found.notices) == noted


def test_fixed_and_floating_joints_need_no_axis():
    for kind in ("fixed", "floating"):
        assert robot(LINKS + joint("<axis xyz='0 0 0'/>", kind)).joints[0].axis == (1, 0, 0)


def test_limits():
    limit = '<limit lower="-1" upper="2" velocity="3"/>'
    limits = robot(LINKS + joint(limit)).joints[0].limits
    assert (limits.lower, limits.upper, limits.velocity, limits.effort) == (-1, 2, 3, None)
    assert robot(LINKS + joint(limit, "continuous")).joints[0].limits.lower is None
    crossed = robot(LINKS + joint('<limit lower="2" upper="-1"/>'))
    assert crossed.notices[0].message == "lower limit 2 is above the upper limit -1"


def test_nameless_robot():
    found = parse(b"<robot><link name='a'/></robot>", "r")
    assert found.name == "robot" and found.notices[0].message == "has no name; called 'robot'"


DIGITS = st.text("0123456789", min_size=1, max_size=20)


@given(
    st.sampled_from(["", "+", "-"]),
    DIGITS,
    st.sampled_from(["", "."]),
    st.one_of(st.just(""), DIGITS),
    st.sampled_from(["", "e", "E-", "e+"]),
)
def test_numbers_of_the_grammar(sign, whole, point, fraction, exponent):
    text = sign + whole + (point and point + fraction) + (exponent and exponent + "3")
    assert robot(LINKS + joint(f"<limit effort=' {text}\n'/>")).joints[0].limits.effort == float(
        text
    )


@given(st.text("0123456789+-.eE_xnaif ,", max_size=12))
@settings(max_examples=300, deadline=None)
def test_numbers_outside_the_grammar(text):
    if NUMBER.fullmatch(text.strip(" ")):
        assert abs(float(text)) >= 0
    else:
        assert "effort of <limit>" in refusal(LINKS + joint(f"<limit effort='{text}'/>"))


@pytest.mark.parametrize(
    "text", ["nan", "inf", "0x10", "1_000", "1e", ".", "+", "1.0f", "\u0661", "\u00a02"]
)
def test_number_spellings_of_python_are_refused(text):
    assert "not a decimal number" in refusal(LINKS + joint(f"<limit effort='{text}'/>"))


def test_no_bytes_end_in_a_traceback(tmp_path):
    generator, path = random.Random(1), tmp_path / "fuzz.urdf"
    texts = [Path(case_file(name)).read_bytes() for name in CASES]
    for _ in range(400):
        path.write_bytes(mutated(generator, generator.choice(texts)))
        try:
            load(path)
        except SymgenError as error:
            assert all(line.isprintable() for line in str(error).split("\n"))


def mutated(generator: random.Random, data: bytes) -> bytes:
    """`data` with a few bytes changed, removed, or copied from elsewhere."""
    edited = bytearray(data)
    for _ in range(generator.randint(1, 6)):
        at, kind = generator.randrange(len(edited)), generator.randrange(4)
        piece = edited[at : at + generator.randint(1, 60)]
        if kind == 0:
            edited[at] = generator.randrange(256)
        elif kind == 1:
            del edited[at : at + len(piece)]
        else:
            to = generator.randrange(len(edited))
            edited[to : to + (kind == 2) * len(piece)] = piece
    return bytes(edited) or b" "


@pytest.mark.parametrize(
    ("quaternion", "rpy"),
    [
        ("0.7071067811865476 0 0 0.7071067811865476", (math.pi / 2, 0, 0)),
        ("0 0 7 7", (0, 0, math.pi / 2)),
        ("0 -0.5 0 -0.5", (0, math.pi / 2, 0)),  # q and -q are one rotation
        ("1e-200 0 0 1e200", (0, 0, 0)),
    ],
)
def test_quaternions_of_urdf_1_1(quaternion, rpy):
    found = robot(LINKS + joint(f"<origin quat_xyzw='{quaternion}'/>", "continuous")).joints[0]
    assert found.origin.rpy == pytest.approx(rpy, abs=1e-15)


def test_the_world_is_implicit_as_for_drake():
    found = robot(LINKS + joint(kind="fixed", name="w", ends='<parent link="world"/><child link="a"/>')
                  + joint(kind="continuous"))  # fmt: skip
    assert found.roots == ("world",) and found.links[0].name == "world"
    assert [n.message for n in found.notices] == [
        "link 'world' is not there, but a joint is on it; taken as the ground"
    ]


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ('<?xml version="0.0"?>', "1: note: XML: XML has no version 0.0; read all the same"),
        ('\n<?xml version="1.0"?>', "2: note: XML: the XML declaration is not the first thing"),
        ('<!-- of us -->\n<?xml version="1.0"?>', "2: note: XML: the XML declaration is not the"),
    ],
)
def test_declarations_that_other_parsers_take(start, said):
    found = parse(f"{start}\n<robot name='r'><link name='a'/></robot>".encode(), "r.urdf")
    assert found.line == start.count("\n") + 2
    (notice,) = found.notices
    assert str(notice).startswith(f"r.urdf:{said}")


def several(body):
    with pytest.raises(RobotErrors) as caught:
        robot(body)
    return str(caught.value).splitlines()


def test_independent_faults_are_said_at_once_in_the_order_of_lines():
    bad = LINKS.replace('mass value="1"', 'mass value="-1"')
    assert several(joint('<axis xyz="0 0 0"/>') + "\n" + bad + "\n" + joint(kind="curly")) == [
        "r.urdf:1: error: joint 'j': axis is zero; give a direction such as xyz=\"0 0 1\"",
        "r.urdf:2: error: link 'b': mass is negative (-1 kg); give 0 or more",
        several(joint(kind="curly") + joint(kind="curly"))[0].replace(":1:", ":3:"),
    ]


def test_faults_of_the_tree_are_said_at_once():
    ends = '<parent link="{}"/><child link="{}"/>'
    lines = several(
        LINKS
        + joint(name="j", ends=ends.format("a", "x"))
        + joint(name="k", ends=ends.format("y", "b"))
    )
    assert ["'x'" in lines[0], "'y'" in lines[1], len(lines)] == [True, True, 2]


def test_of_many_faults_the_first_are_said():
    lines = several(joint(kind="curly") * 30)
    assert len(lines) == MOST_ERRORS + 1
    assert lines[-1] == "r.urdf:1: error: file: 10 more errors"


def test_each_fault_is_a_line_on_the_shell(tmp_path):
    path, twice = tmp_path / "r.urdf", joint(kind="a\u202eb") * 2
    path.write_text(f'<robot name="r">{twice}</robot>')
    done = invoke("check", path)
    said = rf"{path}:1: error: joint 'j': unknown type 'a\u202eb'; use one of {', '.join(KINDS)}"
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.splitlines() == [said] * 2


def test_faults_beside_what_urdf_has_are_said_at_once():
    """Springs and rotors that files write all the same."""
    rows = [
        joint("<axis xyz='0 0 1'/><dynamics armature='-1'/>"),
        joint("<axis xyz='0 0 1'/><dynamics stiffness='x'/>").replace('"j"', '"k"'),
    ]
    first, second = several(LINKS + "\n" + "\n".join(rows))
    assert "armature is negative (-1)" in first and "stiffness of <dynamics> holds 'x'" in second
