"""What click says of a command line: escaped and cut like every other text."""

import pytest
from tools import invoke, robot_file

ARGUMENTS = {
    "argument": ("check", robot_file("pendulum"), "{}"),
    "option": ("check", robot_file("pendulum"), "--{}"),
    "number": ("check", robot_file("pendulum"), "--snap-angles", "{}"),
    "command": ("{}",),
    "option of the program": ("--{}", "check"),
}


@pytest.mark.parametrize("place", ARGUMENTS)
@pytest.mark.parametrize("odd", ["a\x1b[31mb", "a\x9bb", "a\u202eb", "a\nb\nc", "x" * 40_000])
def test_odd_words_are_escaped_and_cut(place, odd):
    done = invoke(*(word.format(odd) for word in ARGUMENTS[place]))
    assert done.exit_code == 2 and done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[0].startswith("Usage: ") and lines[-1].startswith("Error: ")
    assert len(lines) <= 4 and max(map(len, lines)) < 4200
    assert all(c.isprintable() or c == "\n" for c in done.stderr)


def test_an_option_without_its_value_comes_with_the_usage_of_its_command():
    done = invoke("identify", robot_file("pendulum"), "log.csv", "--column")
    assert done.exit_code == 2 and done.stdout == ""
    assert "identify [OPTIONS]" in done.stderr.splitlines()[0]
    assert done.stderr.endswith("Error: Option '--column' requires an argument.\n")
