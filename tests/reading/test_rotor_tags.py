"""Rotors and reductions in a file of URDF."""

import json
import re

import pytest

from symgen.errors import RobotError
from symgen.mechanics.model import Rotor
from symgen.reading.assemble import load
from symgen.reading.joint_kinds import JOINTS, has_several_coordinates
from tests.support.driven import actuators, joints
from tests.support.tools import ROOT, robot_file

GEARED = robot_file("transmission_reduction")


def drake(tmp_path, *transmissions):
    text = (ROOT / "robots" / "pendulum.urdf").read_text(encoding="utf-8")
    made = "".join(
        f"<transmission><joint name='{j}'/><actuator name='m'>{tags}</actuator></transmission>\n"
        for j, tags in transmissions
    )
    text = text.replace("</robot>", made + "</robot>")
    path = tmp_path / "drake.urdf"
    path.write_text(text, encoding="utf-8")
    return path


INERTIA, RATIO = '<drake:rotor_inertia value="1.5"/>', '<drake:gear_ratio value="300"/>'


@pytest.mark.parametrize(
    ("tags", "rotor"),
    [
        (INERTIA + RATIO, Rotor(300.0, 1.5)),
        (INERTIA, Rotor(1.0, 1.5)),
        (RATIO, None),
        ("", None),
        (INERTIA + "<mechanicalReduction>7</mechanicalReduction>", Rotor(1.0, 1.5)),
    ],
)
def test_the_tags_of_drake(tags, rotor, tmp_path):
    assert joints(drake(tmp_path, ("elbow", tags)))["elbow"].rotor == rotor


@pytest.mark.parametrize("kind", [word for word in JOINTS if has_several_coordinates(word)])
def test_joints_with_several_coordinates_have_no_rotor(kind, tmp_path):
    """Which of the coordinates would it turn by?"""
    path = drake(tmp_path, ("elbow", INERTIA + RATIO))
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub('name="elbow" type="[a-z]+"', f'name="elbow" type="{kind}"', text))
    loaded = load(path)
    assert all(body.joint.rotor is None and not body.spin for body in loaded.model.bodies)
    (said,) = [str(n) for n in loaded.notices if "rotors" in n.message]
    assert "rotors of joints with several coordinates ('elbow') are ignored" in said


def test_declared_prefixes_too(tmp_path):
    path = drake(tmp_path, ("elbow", INERTIA))
    text = path.read_text(encoding="utf-8").replace(
        "<robot ", '<robot xmlns:drake="https://drake.mit.edu" '
    )
    path.write_text(text, encoding="utf-8")
    loaded = load(path)
    assert loaded.model.bodies[1].joint.rotor == Rotor(1.0, 1.5)
    assert not [notice for notice in loaded.notices if "transmission" in notice.message]


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        ('<drake:rotor_inertia value="-1"/>', "<drake:rotor_inertia> is -1"),
        ('<drake:rotor_inertia value="1 2 3"/>', "value of <drake:rotor_inertia> is '1 2 3'"),
        ("<drake:rotor_inertia/>", "<drake:rotor_inertia> has no value"),
        (INERTIA + '<drake:gear_ratio value="0"/>', "<drake:gear_ratio> is 0"),
        (INERTIA + INERTIA, "<drake:rotor_inertia> is given twice"),
    ],
)
def test_tags_of_drake_gone_wrong(tags, said, tmp_path):
    with pytest.raises(
        RobotError, match=rf"drake.urdf:\d+: error: joint 'elbow': {re.escape(said)}"
    ):
        load(drake(tmp_path, ("elbow", tags)))


def test_two_rotors_on_a_joint(tmp_path):
    with pytest.raises(RobotError, match="joint 'elbow': a second rotor"):
        load(drake(tmp_path, ("elbow", INERTIA), ("elbow", INERTIA)))


def test_the_file_comes_before_the_tags(tmp_path):
    robot = drake(tmp_path, ("elbow", INERTIA + RATIO), ("shoulder", INERTIA))
    found = joints(
        robot, actuators=actuators(tmp_path, "[joints.elbow]\nrotor_inertia = 2\nrotor_mass = 1")
    )
    assert found["elbow"].rotor == Rotor(300.0, 2.0, mass=1.0) and found["shoulder"].rotor == Rotor(
        1.0, 1.5
    )


def test_a_rotor_on_a_joint_that_is_held(tmp_path):
    loaded = load(drake(tmp_path, ("elbow", INERTIA)), lock=[("elbow", 0.0)])
    assert [
        n.element for n in loaded.notices if n.message == "does not move, so its rotor is ignored"
    ] == ["joint 'elbow'"]


def test_reductions_alone_change_nothing_and_serve_the_file(tmp_path):
    """The case of /cases: reduction² inertia is what is added to the diagonal of M."""
    case = json.loads(
        (ROOT / "tests" / "cases" / "transmission_reduction.json").read_text(encoding="utf-8")
    )
    assert all(j.rotor is None and j.armature == 0.0 for j in joints(GEARED).values())
    path = actuators(
        tmp_path, "[joints]\nmain.rotor_inertia = 0.00002\nnip.rotor_inertia = 0.000004\n"
    )
    assert [j.rotor.ratio for j in joints(GEARED, actuators=path).values()] == [100.0, -50.0]
    found = {
        name: j.armature for name, j in joints(GEARED, actuators=path, rotors="reflected").items()
    }
    for sample in case["samples"]:
        for name in found:
            added = (
                sample["with_reflected_rotor_inertia"]["M"][name][name] - sample["M"][name][name]
            )
            assert found[name] == pytest.approx(added, rel=1e-9)


def test_reductions_of_ros2_control_and_of_no_number(tmp_path):
    text = (
        (ROOT / "robots" / "pendulum.urdf")
        .read_text(encoding="utf-8")
        .replace(
            "</robot>",
            """
      <ros2_control name="x" type="system"><transmission name="t"><plugin>p</plugin>
      <joint name="elbow" role="j"><mechanical_reduction> 50 </mechanical_reduction></joint></transmission>
      </ros2_control><transmission><joint name="shoulder"/><actuator name="m">
      <mechanicalReduction>QQQ</mechanicalReduction></actuator></transmission></robot>""",
        )
    )
    robot = tmp_path / "r.urdf"
    robot.write_text(text, encoding="utf-8")
    path = actuators(tmp_path, "[joints.elbow]\nrotor_inertia = 1\n")
    assert joints(robot, actuators=path)["elbow"].rotor == Rotor(50.0, 1.0)
    with pytest.raises(RobotError, match="gear_ratio is missing"):
        load(robot, actuators=actuators(tmp_path, "[joints.shoulder]\nrotor_inertia = 1\n"))
