"""Where the system refuses a rename in the middle, a folder is as it was."""

from pathlib import Path

import pytest

from fuzz import child
from fuzz.case import Case, Fault, snapshot
from tests.support.tools import robot_file

ARGUMENTS = ("generate", "robot.urdf", "-o", "out", "--quantity", "gravity")
FILES = {"robot.urdf": Path(robot_file("pendulum")).read_bytes()}


@pytest.mark.parametrize("at", range(0, 9, 2))
def test_a_first_run_leaves_nothing(at, tmp_path):
    case = Case("", ARGUMENTS, FILES, fault=Fault("rename refused", at))
    outcome = child.run(case, tmp_path)
    assert outcome.status == 2 and "Permission denied" in outcome.said, outcome.said
    assert outcome.before == outcome.after


@pytest.mark.parametrize("failing", range(0, 9, 2))
def test_a_later_run_leaves_what_was_there(failing, tmp_path, monkeypatch):
    """One rename is refused, by a name that cannot be written."""
    child.run(Case("", ARGUMENTS, FILES), tmp_path)
    before, real, count = snapshot(tmp_path), Path.replace, [0]

    def refuse_one(own, target):
        count[0] += 1
        if count[0] == failing + 1:
            raise PermissionError(13, "Permission denied")
        return real(own, target)

    monkeypatch.setattr(Path, "replace", refuse_one)
    more = (*ARGUMENTS, "--quantity", "bias", "--lang", "c")
    outcome = child.run(Case("", more, FILES), tmp_path)
    assert outcome.status == 2 and "Permission denied" in outcome.said, outcome.said
    assert snapshot(tmp_path) == before
