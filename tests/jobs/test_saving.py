"""The hint how many operations a wider ``--snap-angles`` would save."""

import json
import re

import pytest
from tools import invoke, robot_file


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
