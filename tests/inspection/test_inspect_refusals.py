"""What ``symgen inspect`` refuses, in one sentence."""

import pytest

from tests.support.inspected import PENDULUM
from tests.support.shell import refusal

GIVE = "give QUANTITY, QUANTITY:I,J or QUANTITY:OUTPUT:I,J, as in mass_matrix:1,1"


SQUARE = "mass_matrix has 2 x 2 entries, counted from 1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        *[
            (text, f"--entry {text!r}: {SQUARE}")
            for text in (
                "mass_matrix:0,1",
                "mass_matrix:1",
                "mass_matrix:1,3",
                "mass_matrix:-1,1",
                "mass_matrix:1,1,1",
            )
        ],
        *[
            (text, f"--entry {text!r}: {GIVE}")
            for text in ("mass_matrix:", "mass_matrix::1", "mass_matrix:M:", "mass_matrix:M:x:1")
        ],
        *[
            (f"mass_matrix:{text}", f"mass_matrix has no output '{said}'; it has M")
            for text, said in (("x,1", "x,1"), ("1.0,1", "1.0,1"), ("\n1,x", "\\n1,x"))
        ],
        ("bias:3", "--entry 'bias:3': bias has 2 entries, counted from 1"),
        ("nope:1", "no quantity is called 'nope'; symgen list shows them all"),
        ("", "no quantity is called ''; symgen list shows them all"),
    ],
)
def test_bad_entries(text, said):
    assert refusal("inspect", PENDULUM, "--entry", text) == f"error: {said}"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--entry", "gravity:1", "--symbolic", "mass"],
            "--symbolic 'mass': use masses or lengths",
        ),
        (["--entry", "gravity:1", "--symbolic", "masses,"], "--symbolic '': use masses or lengths"),
        (
            ["--groupings", "--symbolic", "masses"],
            "--symbolic 'masses': for --groupings use lengths",
        ),
        (
            ["--entry", "gravity:1", "--html", "x.html"],
            "--html: has no effect with --entry; remove one of the two options",
        ),
        (["--html", "/dev/null/r.html"], "cannot write '/dev/null/r.html': Not a directory"),
        (
            ["--html", "{}"],
            "'{}' exists and was not written by symgen inspect; choose another name or move it away",
        ),
    ],
)
def test_bad_options(options, said, tmp_path):
    found = refusal("inspect", PENDULUM, *(text.format(tmp_path) for text in options))
    assert found == f"error: {said.format(tmp_path)}"


def test_a_picture_that_cannot_be_written():
    pytest.importorskip("matplotlib")
    said = refusal("inspect", PENDULUM, "--plot", "/dev/null/r.png")
    assert said == "error: cannot write '/dev/null/r.png': Not a directory"
