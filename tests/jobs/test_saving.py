"""The hint how many operations a wider ``--snap-angles`` would save."""

import json
import re

import pytest

from tests.support.tools import invoke, robot_file


@pytest.mark.parametrize("robot", ["ur5", "panda_arm"])
@pytest.mark.parametrize("command", ["check", "ops"])
def test_angles_left_as_they_are_though_exact(command, robot):
    """`--snap-angles 0` leaves angles alone whose distance from a right angle is exactly zero."""
    done = invoke(command, robot_file(robot), "--snap-angles", "0")
    assert done.exit_code == 0
    totals = [total(robot, snap) for snap in ("0", "1e-9")]
    hints = re.findall(r"--snap-angles (\S+) would save (\d+) of (\d+)", done.stderr)
    saved = totals[0] - totals[1]
    assert hints == ([("1e-09", str(saved), str(totals[0]))] if saved else [])


def total(robot, snap):
    """The operations of all functions."""
    done = invoke("ops", robot_file(robot), "--snap-angles", snap, "--json")
    return sum(row["total"] for row in json.loads(done.stdout)["quantities"].values())


LINK = (
    '<link name="{}"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
SLIDES = (
    '<robot name="slides"><link name="base"/>{}{}'
    '<joint name="i" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    '<joint name="k" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>'
    '<origin xyz="0.1 0 0" rpy="0 0 1.57"/>'
    '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
)


def test_what_is_singular_beside_the_angles_as_written_saves_nothing(tmp_path):
    """Two slides along one line but for 0.0008 rad, nothing between them: exactly along one line
    there is no forward dynamics, and no hint; what was asked for is written."""
    file = tmp_path / "slides.urdf"
    wanted = ("--quantity", "forward_dynamics", "--lang", "c")
    file.write_text(SLIDES.format('<link name="a"/>', LINK.format("b")))
    done = invoke("generate", file, "-o", tmp_path / "thin", *wanted)
    assert done.exit_code == 0 and (tmp_path / "thin" / "manifest.json").exists(), done.stderr
    assert "--snap-angles" not in done.stderr
    file.write_text(SLIDES.format(LINK.format("a"), LINK.format("b")))
    done = invoke("generate", file, "-o", tmp_path / "thick", *wanted)
    assert re.search(r"--snap-angles \S+ rounds it, which saves \d+ of \d+", done.stderr)
