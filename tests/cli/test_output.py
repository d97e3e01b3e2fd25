"""The way out: what cannot be seen is escaped, what cannot be written ends a command in one
line."""

import ast
import json
import os
import re
from pathlib import Path

import pytest
from rich.console import Console

from symgen import output
from symgen.cli.main import COMMANDS
from tests.support.hostile import hostile
from tests.support.shell import refusal
from tests.support.tools import ROOT, invoke, robot_file, run

UNSEEN = {
    "C1 CSI": "\u009b31m",
    "next line": "\u0085",
    "delete": "\x7f",
    "right to left": "\u202eabc",
    "isolate": "\u2066",
    "zero width": "a\u200bb",
    "byte order": "\ufeff",
    "tag": "\U000e0041",
    "line separator": "\u2028",
    "emoji": ":smile:",
}


def seen(text):
    return all(line.isprintable() for line in text.split("\n"))


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """A robot whose links and joints have names with what cannot be seen."""
    path = tmp_path_factory.mktemp("unseen") / "r.urdf"
    names = [name for name in UNSEEN.values() if name != "\x7f"]
    path.write_text(hostile("\u202er\u009b", names), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "command",
    [["check"], ["ops"], ["ops", "--all"], ["inspect"], ["inspect", "--groupings"]],
    ids=" ".join,
)
def test_names_reach_no_terminal_raw(command, robot):
    done = invoke(command[0], robot, *command[1:])
    assert done.exit_code == 0, done.output
    assert seen(done.stdout) and seen(done.stderr)
    if command in (["check"], ["inspect"]):
        assert "\\u202eabc" in done.stdout and "\\x9b31m" in done.stdout
        assert ":smile:" in done.stdout


def test_names_reach_no_page_raw(robot, tmp_path):
    assert invoke("inspect", robot, "--html", tmp_path / "r.html").exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert seen(page) and "\\u202eabc" in page


def test_a_terminal_keeps_our_colours_and_no_others():
    out = output.EscapingConsole(force_terminal=True, color_system="standard", width=60)
    with out.capture() as said:
        out.print("[bold]a\x1b[31mb\u009bc[/]")
    assert "\x1b[1ma" in said.get()
    assert re.sub(r"\x1b\[[01]m", "", said.get()) == "a\\x1b[31mb\\x9bc\n"


VALUE = "\u001b[2J\u001b[31mx\nsecond \u009bline"


@pytest.mark.parametrize(
    "key", ["friction", "parameters", "scalar", "rotors", "base", "prefix", "root", "batch", "trig"]
)
def test_values_of_a_job_are_escaped_in_errors(key, tmp_path):
    job = tmp_path / "job.toml"
    file = json.dumps(robot_file("pendulum"))
    job.write_text(f'file = {file}\nout = "out"\n{key} = {json.dumps(VALUE)}\n')
    said = refusal("generate", job)
    assert seen(said) and "\n" not in said


@pytest.mark.parametrize("option", ["--friction", "--parameters", "--quantity", "--root"])
def test_long_values_are_not_echoed_whole(option, tmp_path):
    said = refusal("generate", robot_file("pendulum"), "-o", tmp_path / "x", option, "x" * 40000)
    assert len(said) < 5000


CALLS = {"print", "echo", "secho", "Console"}


def test_nothing_is_printed_elsewhere():
    """Every call that prints or makes a console stands in symgen/output.py."""
    for path in sorted(Path(ROOT, "symgen").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
            f = node.func
            name = f.id if isinstance(f, ast.Name) else getattr(f, "attr", "")
            method = isinstance(f, ast.Attribute) and name == "print"  # of a console
            assert name not in CALLS or method or path.name == "output.py", (path, node.lineno)


# -- what cannot be written ------------------------------------------------------------------------

FULL = Path("/dev/full")
full = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")


@full
@pytest.mark.parametrize(
    "command",
    [["check", "PENDULUM"], ["list", "--json"], ["--help"]],
    ids=" ".join,
)
def test_a_full_device_is_one_line(command):
    arguments = [robot_file("pendulum") if a == "PENDULUM" else a for a in command]
    with FULL.open("w") as device:
        done = run(*arguments, to=device)
    assert done.returncode == 2
    assert done.stderr == "error: cannot write to standard output: No space left on device\n"


def test_a_reader_that_has_seen_enough_is_no_error():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as nowhere:
        done = run("list", "--json", to=nowhere)
    assert done.returncode == 1 and done.stderr == ""


@pytest.mark.parametrize("kind", [MemoryError, RecursionError])
def test_a_machine_that_is_too_small(kind, monkeypatch):
    def large(*arguments):
        raise kind

    monkeypatch.setattr("symgen.jobs.job.Job.load", large)
    assert re.fullmatch(
        "error: out of .*; the input is too large for this machine",
        refusal("check", robot_file("pendulum")),
    )


def test_json_has_no_infinities():
    data = {"a": [1.5, float("inf"), (float("nan"),)], "b": {"c": -float("inf"), "d": True}}
    assert json.loads(output.as_json(data)) == {
        "a": [1.5, None, [None]],
        "b": {"c": None, "d": True},
    }


def test_every_command_is_still_listed():
    assert all(name in invoke("--help").stdout for name in COMMANDS)
    assert issubclass(output.EscapingConsole, Console)
