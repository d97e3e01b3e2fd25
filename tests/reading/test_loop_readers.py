"""Loops of all formats: the same four-bar linkage, and the frames of cut joints against MuJoCo and
Drake."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symgen.mechanics.model import Closure
from symgen.reading.assemble import LoadedRobot, load
from tests.support.bars import CLOSED, DRAKE
from tests.support.oracles import oracle

BALL = (
    '<drake:ball_constraint xmlns:drake="http://drake.mit.edu">'
    '<drake:ball_constraint_body_A name="rod"/><drake:ball_constraint_body_B name="rocker"/>'
    '<drake:ball_constraint_p_AP value="0.45 0 0"/><drake:ball_constraint_p_BQ value="0.3 0 0"/>'
    "</drake:ball_constraint>"
)
GAZEBO = (
    '<gazebo><joint name="pin" type="revolute"><parent>rod</parent><child>rocker</child>'
    "<pose>0.25 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint></gazebo>"
)


def closure(text: str, axis: str = "0 0 1") -> Closure:
    (found,) = load(CLOSED.format(axis=axis, loop=text)).model.closures
    return found


def test_a_ball_constraint_of_drake_is_a_loop() -> None:
    found, wanted = closure(BALL), closure(DRAKE)
    assert (found.points, found.dependent) == (wanted.points, wanted.dependent)
    assert found.joint == "ball"


def test_drake_reads_the_ball_constraint() -> None:
    pydrake = pytest.importorskip("pydrake.all")
    plant = pydrake.MultibodyPlant(1e-3)
    pydrake.Parser(plant).AddModelsFromString(CLOSED.format(axis="0 0 1", loop=BALL), "urdf")
    assert plant.num_constraints() == 1


def test_a_joint_in_gazebo_is_where_it_is_at_zero() -> None:
    """0.25 m along the rocker, which starts at 0.4 m: 0.45 m along the rod, which starts at 0.2 m;
    its axis is the z axis of both frames."""
    found = closure(GAZEBO)
    assert np.allclose(found.points, ((0.45, 0, 0), (0.25, 0, 0)), atol=1e-15)
    assert found.joint == "revolute"
    assert [[row[2] for row in rotation] for rotation in found.rotations] == [[0, 0, 1]] * 2


@pytest.mark.parametrize(
    "text",
    [
        GAZEBO.replace("<pose>", '<pose relative_to="base">'),
        GAZEBO.replace("revolute", "prismatic"),
        GAZEBO.replace("0.25 0 0", "0.25 0"),
        BALL.replace("0.45 0 0", "0.45 x 0"),
        BALL.replace("body_A", "body_C"),
    ],
)
def test_others_stay_open_with_a_warning(text: str) -> None:
    loaded = load(CLOSED.format(axis="0 0 1", loop=text))
    (warning,) = [notice for notice in loaded.notices if notice.level == "warning"]
    assert not loaded.model.closures and "closes a loop, which is left open" in warning.message


def sdf(folder: Path, joints: Sequence[str]) -> LoadedRobot:
    links = "".join(f'<link name="{name}"/>' for name in ("base", "crank", "rod", "rocker"))
    world = '<joint name="w" type="fixed"><parent>world</parent><child>base</child></joint>'
    text = f'<sdf version="1.9"><model name="m">{links}{world}{"".join(joints)}</model></sdf>'
    (folder / "r.sdf").write_text(text, encoding="utf-8")
    return load(folder / "r.sdf")


def hinge(name: str, parent: str, child: str, pose: str, kind: str = "revolute") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><pose relative_to="{parent}">{pose}</pose>'
        f"<parent>{parent}</parent><child>{child}</child><axis><xyz>0 1 0</xyz></axis></joint>"
    )


BARS = (
    hinge("a", "base", "crank", "0 0 0 0 0 0"),
    hinge("b", "crank", "rod", "0 0 0.2 0 0.1 0"),
    hinge("c", "base", "rocker", "0.4 0 0 0 0 0"),
)


def test_a_second_joint_to_a_link_of_sdf_closes_a_loop(tmp_path: Path) -> None:
    """All links have the frame of the model, so the cut point is the same in both."""
    loaded = sdf(tmp_path, [*BARS, hinge("pin", "rod", "rocker", "0.4 0 0.25 0 0.2 0")])
    (found,) = loaded.model.closures
    assert loaded.model.joint_names == ("a",) and found.joint == "revolute"
    places = [body.pose for body in loaded.model.bodies]
    ends = [places[0] @ places[1], places[2]]
    points = [np.array(pose.transform(x)) for pose, x in zip(ends, found.points, strict=True)]
    assert np.allclose(points, [[0.4, 0, 0.25]] * 2, atol=1e-14)
    (note,) = [notice for notice in loaded.notices if "planar loop" in notice.message]
    assert note.element == "loop 'pin'" and note.location.line == 1


def test_a_second_prismatic_joint_of_sdf_is_left_open(tmp_path: Path) -> None:
    loaded = sdf(tmp_path, [*BARS, hinge("pin", "rod", "rocker", "0 0 0 0 0 0", "prismatic")])
    assert not loaded.model.closures
    assert any("'pin' closes a loop, which is left open" in n.message for n in loaded.notices)


MJCF = """<mujoco><compiler angle="radian"/><worldbody>
<body name="one" pos="0.1 0.2 0.3" euler="0.2 0.3 0.4"><joint name="a" axis="1 2 3"/>
<inertial pos="0 0 0.1" mass="1" diaginertia="1 1 1"/><site name="s" pos="0.1 0 0.2" euler="1 0 0"/></body>
<body name="two" pos="-0.1 0.2 0.5" euler="-0.3 0.1 0.9"><joint name="b" axis="0 1 3"/>
<inertial pos="0 0 0.1" mass="1" diaginertia="1 1 1"/><site name="t" pos="0 0.3 0.2"/></body>
</worldbody><equality>%s</equality></mujoco>"""


@pytest.mark.parametrize(
    "constraint",
    [
        '<weld name="w" body1="one" body2="two" anchor="0.1 0.2 0.3"/>',
        '<weld name="w" body1="one" body2="two" relpose="0.1 0.2 0.3 0.5 0.5 0.5 0.5"/>',
        '<weld name="w" site1="s" site2="t"/>',
        '<connect name="w" site1="s" site2="t"/>',
        '<connect name="w" body1="one" body2="two" anchor="0.1 0.2 0.3"/>',
    ],
)
def test_constraints_of_mujoco_are_loops(constraint: str) -> None:
    """The residual of MuJoCo's constraint is 0 where the frames of the loop coincide, and the
    distance of their origins elsewhere."""
    from symgen.reading.sources import describe

    mujoco = oracle("mujoco")
    text = MJCF % constraint
    (loop,) = describe(text).loops
    model: Any = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:] = 0.3, -0.4
    mujoco.mj_forward(model, data)
    poses = []
    for link, rotation, point in zip(loop.links, loop.rotations, loop.points, strict=True):
        turn = data.body(link).xmat.reshape(3, 3)
        poses.append((turn @ rotation, data.body(link).xpos + turn @ point))
    (one, first), (other, second) = poses
    assert data.efc_pos[:3] == pytest.approx(first - second, abs=1e-12)
    assert loop.joint == ("fixed" if "weld" in constraint else "ball")
    if loop.joint == "fixed":
        change, axis = one.T @ other, np.zeros(3)
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            axis[k] = change[j, i] - change[i, j]
        found = data.efc_pos[3:6]
        assert np.abs(np.cross(axis, found)).max() < 1e-12 * np.abs(found).max() + 1e-15


def test_refusals_of_mjcf_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    path.write_text(MJCF % '\n<weld name="w" body1="one" body2="two"/>', encoding="utf-8")
    (warning,) = [n for n in load(path).notices if n.element == "loop 'w'"]
    assert warning.location.line == 7 and "left open" in warning.message
