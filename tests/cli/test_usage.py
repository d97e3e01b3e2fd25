"""The errors of click: one line, escaped and cut like every other error."""

import re

import pytest

from tests.support.tools import invoke, robot_file

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
    assert len(lines) == 1 and lines[0].startswith("error: ") and len(lines[0]) < 4200
    assert re.search(r"; see symgen (check )?--help$", lines[0])
    assert all(c.isprintable() or c == "\n" for c in done.stderr)


def test_an_option_without_its_value_names_the_help_of_its_command():
    done = invoke("identify", robot_file("pendulum"), "log.csv", "--column")
    assert done.exit_code == 2 and done.stdout == ""
    text = "error: option '--column' requires an argument; see symgen identify --help\n"
    assert done.stderr == text
