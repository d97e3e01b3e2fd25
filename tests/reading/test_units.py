"""Files in grams or millimetres are formally sound: a warning says what their numbers look like, and
hardly any real file has one."""

import pytest
from public_robots import real_files
from tools import ROOT

from symgen.mechanics.plausible_units import odd_units
from symgen.reading.assemble import load

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
        ({"moment": 1e6}, "inertia in kg mm^2 or g mm^2"),  # kg mm^2
        ({"moment": 1e9}, "inertia in kg mm^2 or g mm^2"),  # g mm^2
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


def test_at_most_one_in_a_hundred_real_files_is_warned_of():
    warned = [bool(list(odd_units(loaded.model))) for loaded in real_files()]
    assert len(warned) > 70 and sum(warned) <= 0.01 * len(warned)
