"""Files in grams or millimetres are formally sound: a warning says what their numbers look like, and
hardly any real file has one."""

import pytest

from symgen.mechanics.inertia_checks import odd_units
from symgen.reading.assemble import load
from tests.support.public_robots import real_files
from tests.support.tools import ROOT

SIZE, MASS, MOMENT = 0.3, 1.2, 0.004


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
    "l_hand_thumb_medial_link": "iCub 3 with hands",
    "hand_thumb_flex_1_link": "TIAGo",
    "hand_right_thumb_flex_1_link": "TIAGo with two arms",
    "r_wrist": "simple_humanoid, twice",
    "r_ankle_1": "an iCub",
}
"""Links of real files with an inertia far too large for their size, the worst of each robot."""


def test_real_files_are_warned_of_placeholders_alone():
    remarks = [list(odd_units(loaded.model)) for loaded in real_files()]
    warned = [found for found in remarks if found]
    assert len(remarks) > 70 and len(warned) <= 0.08 * len(remarks)
    for found in warned:
        assert PLACEHOLDERS.keys() & {name for name, _ in found}, found


def test_a_radius_of_gyration_of_more_than_ten_distances_is_warned_of(tmp_path):
    """1 kg m^2 for everything, as exporters write it where they know nothing."""
    for factor, warned in ((0.99, False), (1.01, True)):
        moment = MASS * (10 * SIZE * factor) ** 2 / MOMENT
        remarks = list(odd_units(load(arm(tmp_path / "arm.urdf", moment=moment)).model))
        assert bool(remarks) == warned, (factor, remarks)
