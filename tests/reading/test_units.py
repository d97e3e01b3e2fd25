"""Files in grams or millimetres are formally sound: a warning says what their numbers look like, and
hardly any real file has one."""

import pytest

import symgen
from symgen.errors import OptionError
from symgen.mechanics.inertia_checks import odd_units
from symgen.reading.assemble import load
from symgen.reading.plausibility import DEGREES_SUMMARY
from tests.support.public_robots import real_files
from tests.support.tools import ROOT, invoke

SIZE, MASS, MOMENT = 0.3, 1.2, 0.004


LIMITED = "type='revolute'><limit effort='1' velocity='1' lower='"


def arm(path, length=1.0, mass=1.0, moment=1.0):
    """A chain of three links, its numbers in other units."""
    parts, metre = ['<link name="l0"/>'], SIZE * length
    for k in range(1, 4):
        i = MOMENT * moment
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="{metre / 2} 0 0"/>'
            f'<mass value="{MASS * mass}"/><inertia ixx="{i}" ixy="0" ixz="0" iyy="{i}" iyz="0" '
            f'izz="{i}"/></inertial></link><joint name="j{k}" type="continuous">'
            f'<parent link="l{k - 1}"/><child link="l{k}"/><origin xyz="{metre} 0 0"/>'
            '<axis xyz="0 1 0"/></joint>'
        )
    path.write_text(f'<robot name="arm">{"".join(parts)}</robot>')
    return path


@pytest.mark.parametrize(
    ("units", "said"),
    [
        ({"moment": 1e6}, "in kg mm^2 or g mm^2"),  # kg mm^2
        ({"moment": 1e9}, "in kg mm^2 or g mm^2"),  # g mm^2
        ({"mass": 1e3}, "are masses in g"),
        ({"mass": 1e3, "moment": 1e3}, "are masses in g"),
        ({"length": 1e3}, "are lengths in mm"),
        ({"length": 1e3, "mass": 1e3, "moment": 1e9}, "are lengths in mm"),
    ],
)
def test_other_units_are_seen(units, said, tmp_path):
    loaded = load(arm(tmp_path / "arm.urdf", **units))
    assert {n.level for n in loaded.notices} == {"warning"}
    assert any(said in n.message for n in loaded.notices)


def test_plain_units_are_not(tmp_path):
    assert load(arm(tmp_path / "arm.urdf")).notices == ()


def test_order_of_joints_does_not_matter(tmp_path):
    path = arm(tmp_path / "arm.urdf", mass=1e3)
    head, *joints = path.read_text().replace("</robot>", "").split('<link name="l')
    path.write_text(head + "".join(f'<link name="l{x}' for x in joints[::-1]) + "</robot>")
    (notice,) = load(path, joint_order="file").notices
    assert "3600 kg move within 1.2 m" in notice.message


@pytest.mark.parametrize("path", sorted((ROOT / "robots").glob("*.urdf")), ids=lambda p: p.stem)
def test_our_robots_are_in_si(path):
    assert not list(odd_units(load(path).model))


PLACEHOLDERS = {
    "hand_thumb_flex_1_link": "TIAGo",
    "hand_right_thumb_flex_1_link": "TIAGo with two arms",
    "r_wrist": "simple_humanoid, twice",
    "l_gripper_l_finger": "Baxter",
    "wrist_2_link": "UR5, three times",
    "l_hand_thumb_medial_link": "iCub 3 with hands",
    "l_wrist_1": "four iCubs",
    "r_ankle_1": "an iCub",
    "l_platform": "the wrist of an iCub",
}
"""Links of real files with an inertia far too large for their size, the worst of each robot."""


def test_real_files_are_warned_of_placeholders_alone():
    remarks = [list(odd_units(loaded.model)) for loaded in real_files()]
    warned = [found for found in remarks if found]
    assert len(remarks) > 70 and len(warned) <= 0.19 * len(remarks)
    for found in warned:
        assert PLACEHOLDERS.keys() & {name for name, _ in found}, found


def test_a_radius_of_gyration_of_more_than_three_distances_is_warned_of(tmp_path):
    """1 kg m^2 for everything, as exporters write it where they know nothing."""
    for factor, warned in ((0.99, False), (1.01, True)):
        moment = MASS * (3 * SIZE * factor) ** 2 / MOMENT
        remarks = list(odd_units(load(arm(tmp_path / "arm.urdf", moment=moment)).model))
        assert bool(remarks) == warned, (factor, remarks)


@pytest.mark.parametrize(
    ("joint", "gyration", "warned"),
    [
        ("continuous", 0.7, False),  # a wheel with a radius of 1 m
        ("continuous", 1.0, True),  # 1 kg and 1 kg m^2
        ("revolute", 0.7, True),  # with end stops it is no wheel
    ],
)
def test_a_wheel_may_have_nothing_away_from_its_axis(joint, gyration, warned, tmp_path):
    moment = gyration**2
    path = tmp_path / "wheel.urdf"
    path.write_text(
        '<robot name="cart"><link name="base"/><link name="fork"/><link name="wheel"><inertial>'
        f'<mass value="1"/><inertia ixx="{moment / 2}" ixy="0" ixz="0" iyy="{moment / 2}" iyz="0" '
        f'izz="{moment}"/></inertial></link><joint name="steer" type="continuous"><parent '
        'link="base"/><child link="fork"/><origin xyz="1 0 0"/></joint><joint name="roll" '
        f'type="{joint}"><parent link="fork"/><child link="wheel"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )
    remarks = [text for name, text in odd_units(load(path).model) if name == "wheel"]
    assert bool(remarks) == warned
    assert not any("within 0 m" in text for text in remarks)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('<origin xyz="0.3 0 0"/>', '<origin xyz="0.3 0 0" rpy="0 90 0"/>', "the angle 90 rad"),
        ('<origin xyz="0.15 0 0"/>', '<origin xyz="0 0 0" rpy="0 0 -6.3"/>', "the angle -6.3 rad"),
        ('<origin xyz="0.3 0 0"/>', '<origin xyz="0.3 0 0" rpy="0 0 6.283185308"/>', None),
        ('type="continuous">', f"{LIMITED}-120' upper='120'/>", "its limits are -120 and 120 rad"),
        ('type="continuous">', f"{LIMITED}-20' upper='6'/>", None),
        ('type="continuous">', f"{LIMITED}-1e6' upper='1e6'/>", None),
    ],
)
def test_angles_in_degrees_are_seen_at_their_line(before, after, words, tmp_path):
    path = arm(tmp_path / "arm.urdf")
    path.write_text(path.read_text().replace("><", ">\n<").replace(before, after, 1))
    found = [n for n in load(path).notices if "degrees" in n.summary]
    assert len(found) == (words is not None)
    for notice in found:
        line = path.read_text().splitlines()[notice.location.line - 1]
        assert words in notice.message and (after in line or "<joint" in line)
    run = invoke("generate", path, "-o", tmp_path / "out", "--quantity", "gravity")
    assert run.exit_code == 0 and ("degrees" in run.stderr) == bool(found)


def test_real_files_have_no_angles_in_degrees():
    """Of the largest set of real files that is at hand, not one is warned of."""
    assert not [
        x for loaded in real_files() for x in loaded.notices if x.summary == DEGREES_SUMMARY
    ]


def test_a_table_in_degrees_is_refused():
    with pytest.raises(OptionError, match=r"alpha is 90 rad.*not degrees"):
        symgen.from_dh([{"alpha": 90.0}], convention="standard")
