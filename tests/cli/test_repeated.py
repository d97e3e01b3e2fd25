"""What is given twice where one value counts is refused, not dropped or counted twice."""

import pytest

from symgen.text import repeated
from tests.support.tools import invoke, robot_file

PENDULUM = robot_file("pendulum")
TWICE = {
    "--external-wrench: link 'upper' is given twice": "--external-wrench upper,lower,upper",
    "--parameters: link 'upper' is given twice": "--parameters runtime:upper,upper",
    "--formulation gravity: two values are given": "--formulation gravity=newton_euler/minimal "
    "--formulation gravity=newton_euler/balanced",
    "--lock 'elbow': two values are given": "--lock elbow=1 --lock elbow=1",
}


@pytest.mark.parametrize("said", TWICE)
def test_it_is_refused(said):
    done = invoke("ops", PENDULUM, "--quantity", "inverse_dynamics", *TWICE[said].split())
    assert done.exit_code == 2 and done.stdout == "", done.output
    assert done.stderr.startswith(f"error: {said}; ") and done.stderr.count("\n") == 1


def test_limits_of_a_motion(tmp_path):
    limits = ("--limit", "elbow.effort=3", "--limit", "elbow.effort=5")
    done = invoke("excite", PENDULUM, "-o", tmp_path / "motion.csv", *limits)
    assert done.stderr == "error: --limit elbow.effort: two values are given; keep one of them\n"
    assert done.exit_code == 2 and not [*tmp_path.iterdir()]


def test_the_first_repeated_name():
    assert repeated("abcb") == "b" and repeated("abba") == "b" and repeated("abc") is None
