"""The compiler's scratch folder on a disk without room."""

from pathlib import Path

import pytest

from fuzz import child, oracles
from fuzz.case import Case, Fault
from tests.support.tools import robot_file

COMMANDS = {
    "excite": ("excite", "robot.urdf", "-o", "motion.csv", "--budget", "1", "--rate", "50"),
    "build": ("build", "robot.urdf", "-o", "pkg", "--quantity", "gravity"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("room", [0, 500, 3000])
def test_no_room_is_one_sentence(command, room, tmp_path):
    files = {"robot.urdf": Path(robot_file("pendulum")).read_bytes()}
    case = Case("", COMMANDS[command], files, fault=Fault("small disk", room))
    outcome = child.run(case, tmp_path)
    assert outcome.status == 2 and outcome.before == outcome.after, outcome.said
    assert outcome.said.startswith("error: ") and "File too large" in outcome.said
    assert not list(oracles.judged(case, outcome)), outcome.said
