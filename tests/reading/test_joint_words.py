"""The joints that URDF has not: how they are written, what is refused, what is said."""

import math

import pytest

import symgen
from symgen.errors import RobotError
from symgen.reading.assemble import load
from tests.support.joint_zoo import written

LINKS = """<link name="base"/><link name="a"><inertial><mass value="1"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>"""
ENDS = '<parent link="base"/><child link="a"/>'


def read(tmp_path, joint, space=' xmlns:drake="http://drake.mit.edu"'):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r"{space}>{LINKS}{joint}</robot>', encoding="utf-8")
    return load(path)


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        (f'<joint name="j" type="screw">{ENDS}</joint>', "needs one pitch, but has none"),
        (
            f'<joint name="j" type="screw" pitch="1">{ENDS}<screw_thread_pitch value="1"/></joint>',
            "needs one pitch, but has 2",
        ),
        (f'<joint name="j" type="screw" pitch="1e200">{ENDS}</joint>', "pitch .* is too large"),
        (f'<drake:joint name="j" type="curvilinear">{ENDS}</drake:joint>', "unknown type"),
        (
            f'<joint name="j" type="universal">{ENDS}<axis2 xyz="1 0.1 0"/></joint>',
            "axis2 of a universal joint is not perpendicular to its axis",
        ),
        (
            f'<joint name="j" type="ball">{ENDS}<mimic joint="j"/></joint>',
            "mimics itself",
        ),
    ],
)
def test_what_is_no_such_joint_is_refused(tmp_path, joint, message):
    with pytest.raises(RobotError, match=message):
        read(tmp_path, joint)


def test_the_prefix_need_not_be_declared(tmp_path):
    joint = f'<drake:joint name="j" type="ball">{ENDS}</drake:joint>'
    assert read(tmp_path, joint, space="").model.joint_names == ("j.wx", "j.wy", "j.wz")


def test_a_pitch_is_metres_in_one_turn(tmp_path):
    model = read(tmp_path, f'<joint name="j" type="screw" pitch="0.01">{ENDS}</joint>').model
    assert model.body(1).joint.constants == (0.01 / (2 * math.pi),)


def test_the_second_axis_is_given_or_drakes(tmp_path):
    for more, second in (
        ("", (0.0, 1.0, 0.0)),
        ('<axis2 xyz="0 0 2"/>', (0.0, 0.0, 1.0)),
    ):
        model = read(tmp_path, f'<joint name="j" type="universal">{ENDS}{more}</joint>').model
        assert model.body(1).axis == (1.0, 0.0, 0.0)
        assert model.body(2).axis == second


@pytest.mark.parametrize("axis", ["", '<axis xyz="0 0.6 0.8"/>'])
def test_a_universal_drake_joint_ignores_its_axis_as_in_drake(tmp_path, axis):
    found = read(tmp_path, f'<drake:joint name="j" type="universal">{ENDS}{axis}</drake:joint>')
    assert [body.axis for body in found.model.bodies] == [(1, 0, 0), (0, 1, 0)]
    said = [str(n) for n in found.notices if "is ignored, as in Drake" in str(n)]
    assert len(said) == bool(axis) and all("use a plain <joint>" in text for text in said)
    plain = read(tmp_path, f'<joint name="j" type="universal">{ENDS}{axis}</joint>')
    assert (0.0, 0.6, 0.8) in [body.axis for body in plain.model.bodies] or not axis


@pytest.mark.parametrize(
    ("axis", "axes"),
    [
        ("", [(0, 0, -1), (0, 1, 0), (1, 0, 0)]),
        ("0 0 2", [(1, 0, 0), (0, 1, 0), (0, 0, 1)]),
        ("0 0 -1", [(1, 0, 0), (0, -1, 0), (0, 0, -1)]),
        ("-1 0 0", [(0, 0, 1), (0, 1, 0), (-1, 0, 0)]),
    ],
)
def test_a_planar_drake_joint_has_the_axes_of_drake(tmp_path, axis, axes):
    """test_resisted_joints compares with Drake itself. A default axis is reported."""
    tag = f'<axis xyz="{axis}"/>' if axis else ""
    found = read(tmp_path, f'<drake:joint name="j" type="planar">{ENDS}{tag}</drake:joint>')
    assert [body.axis for body in found.model.bodies] == axes
    assert any("the axis is x, as in Drake" in str(n) for n in found.notices) != bool(axis)


def test_the_x_direction_of_a_planar_joint_is_given_and_written(tmp_path):
    """A planar joint of Drake keeps its x direction in a URDF that symgen writes; a default one is
    not written."""
    odd = f'<drake:joint name="j" type="planar">{ENDS}<axis xyz="3 1 2"/></drake:joint>'
    plain = f'<joint name="j" type="planar">{ENDS}<axis xyz="3 1 2"/></joint>'
    for joint, is_written in ((odd, True), (plain, False)):
        before = read(tmp_path, joint).model
        notices = symgen.Robot(tmp_path / "robot.urdf").write_urdf(tmp_path / f"{is_written}.urdf")
        assert any("as <axis2>" in str(notice) for notice in notices) == is_written
        assert (
            "<axis2 " in (tmp_path / f"{is_written}.urdf").read_text(encoding="utf-8")
        ) == is_written
        after = load(tmp_path / f"{is_written}.urdf").model
        for one, other in zip(before.bodies, after.bodies, strict=True):
            assert one.axis == pytest.approx(other.axis, abs=1e-15)
    axis2 = f'<joint name="j" type="planar">{ENDS}<axis xyz="0 0 1"/><axis2 xyz="0 1 0"/></joint>'
    assert read(tmp_path, axis2).model.body(2).axis == (-1.0, 0.0, 0.0)


def test_a_second_axis_alone_of_drakes_element_is_said_to_have_no_effect(tmp_path):
    joint = f'<drake:joint name="j" type="universal">{ENDS}<axis2 xyz="0 0 1"/></drake:joint>'
    (said,) = [str(n) for n in read(tmp_path, joint).notices]
    assert "<axis2> of a universal <drake:joint> is ignored, as in Drake" in said


def test_blanks_around_a_type_say_nothing(tmp_path):
    """Of what such joints alone have."""
    for kind, more in (("screw", ' pitch="0.1">'), ("universal", '><axis2 xyz="0 0 1"/>')):
        joint = f'<joint name="j" type=" {kind} "{more}{ENDS}</joint>'
        found = read(tmp_path, joint)
        assert found.notices == () and found.model.body(1).joint.constants


def test_what_is_not_used_is_said(tmp_path):
    more = '<limit effort="1" velocity="1"/><dynamics damping="1"/>'
    found = read(tmp_path, f'<joint name="j" type="ball">{ENDS}{more}</joint>').notices
    first, second = [str(n) for n in found]
    assert "<limit> of a joint with several coordinates is ignored" in first
    assert "damping and friction (1 joint) are ignored; add --friction to include them" in second
    joint = f'<joint name="j" type="continuous">{ENDS}<axis2 xyz="0 0 1"/></joint>'
    assert any("axis2" in str(n) for n in read(tmp_path, joint).notices)
    for kind, more, message in (
        ("continuous", "", "pitch of a joint of type 'continuous' is ignored"),
        ("ball", '<axis xyz="0 0 1"/>', "<axis> of a ball joint is ignored"),
    ):
        joint = f'<joint name="j" type="{kind}" pitch="0.1">{ENDS}{more}</joint>'
        assert any(message in str(n) for n in read(tmp_path, joint).notices)


def test_a_screw_can_be_held(tmp_path):
    """At half a turn it is half the pitch further, turned by pi."""
    path = written(tmp_path, drake=True)
    held = load(path, lock=(("lead", math.pi),)).model
    assert "lead" not in held.joint_names
    free, link = load(path).model, next(x for b in held.bodies for x in b.links if x.name == "c")
    start = free.body(6).pose
    moved = [x - y for x, y in zip(link.pose.position, start.position, strict=True)]
    along = start.rotate((0.6, 0.0, 0.8))
    assert moved == pytest.approx([0.15 * x for x in along], abs=1e-15)


def test_no_quiet_note_about_drakes_tags(tmp_path):
    assert not load(written(tmp_path, drake=True)).notices
