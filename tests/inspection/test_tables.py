"""Tables, help and waiting on narrow terminals."""

import io
import os
import pty
import re
import sys
import tomllib

import pytest
from rich.console import Console

from symgen.cli.help import HelpContext, page_titles
from symgen.cli.main import COMMANDS, CONTEXT, main
from symgen.inspection.rendering import table
from tests.support.tools import ROOT, invoke, robot_file

NUMBERS = ("-0.0012345", "123456.789", "-2.8973 .. 2.8973")


def printed(width, rows=5):
    made = table(
        "title of it", ["", "a joint", "what is said of it"], ["first", "second", "of the range"]
    )
    for k in range(rows):
        made.add_row(
            str(k), f"left_finger_joint_{k}", "words that may be wrapped between them", *NUMBERS
        )
    return shown(made, width)


def shown(made, width):
    out = io.StringIO()
    Console(width=width, file=out).print(made)
    return out.getvalue()


@pytest.mark.parametrize("width", range(46, 130, 3))
def test_no_number_is_cut_and_no_word_broken(width):
    text = printed(width)
    assert max(map(len, text.splitlines())) <= width
    for number in NUMBERS:
        assert text.count(number) == 5
    for k in range(5):
        assert f"left_finger_joint_{k}" in text
    assert len(re.findall("wrapped", text)) == 5 and "…" not in text


def test_every_piece_names_its_rows():
    pieces = printed(45).count("left_finger_joint_3")
    assert pieces > 1 and printed(200).count("left_finger_joint_3") == 1


def test_a_word_wider_than_the_terminal_is_folded():
    made = table("t", ["name"])
    made.add_row("x" * 50)
    text = shown(made, 20)
    assert max(map(len, text.splitlines())) <= 20 and text.count("x") == 50


@pytest.mark.parametrize("name", ["", *COMMANDS])
@pytest.mark.parametrize("width", [60, 80])
def test_help_fits(name, width):
    whole = HelpContext(main, info_name="symgen", terminal_width=width, **CONTEXT)
    command = main.get_command(whole, name) if name else None
    text = (HelpContext(command, whole, info_name=name) if command else whole).get_help()
    assert max(map(len, text.splitlines())) <= width


def test_help_names_pages_that_are_installed():
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "/docs/**/*.md" in packed["tool"]["hatch"]["build"]["targets"]["wheel"]["include"]
    assert all(
        (ROOT / "docs" / f"{page}.md").is_file() and title for page, title in page_titles().items()
    )
    assert {"tutorial", "howto/ros2", "concepts/coupling", "controllers/computed_torque"} <= {
        *page_titles()
    }
    for name in ("", *COMMANDS):
        text = re.sub(r"\s+", " ", invoke(*filter(None, [name]), "--help").stdout)
        assert "docs/" not in text and set(re.findall(r"symgen docs ([\w/-]+)", text)) <= {
            *page_titles()
        }
    assert "# Formats" in invoke("docs", "formats").stdout
    assert "near names: 'formats'" in invoke("docs", "format").stderr
    assert all(page in invoke("docs").stdout for page in page_titles())


def test_what_waits_is_gone_before_anything_is_printed():
    out = on_terminal(["inspect", robot_file("pendulum")])
    before = out.partition("pendulum: 2 joints")[0].rpartition("\n")[2]
    erased = before.split("\x1b[2K")
    assert len(erased) > 1 and not re.sub(r"\x1b\[[\d;?]*\w", "", erased[-1]).strip()


def test_nothing_moves_in_a_notebook():
    """Its cells show what a command writes line by line."""
    out = on_terminal(["inspect", robot_file("pendulum")], JPY_PARENT_PID="1")
    assert "\x1b[2K" not in out and "\r" not in out.replace("\r\n", "\n")


def on_terminal(arguments, **more):
    """All that a command writes on a terminal of 80 columns."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update({"TERM": "xterm", "COLUMNS": "80", "PYTHONPATH": str(ROOT)} | more)
        os.execv(sys.executable, [sys.executable, "-m", "symgen", *arguments])
    read = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says so at the end
            break
        if not piece:
            break
        read += piece
    os.waitpid(child, 0)
    return read.decode()
