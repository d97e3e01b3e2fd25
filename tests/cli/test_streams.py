"""What goes to stdout and what to stderr, what is printed where, and how programs end."""

import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

from symgen import __main__ as program
from tests.support.shell import PENDULUM
from tests.support.tools import ROOT, generated, invoke, robot_file, run


def test_the_name_table_and_the_notes_when_piped():
    done = run("check", robot_file("axis_scaled"))
    assert done.returncode == 0 and "\x1b" not in done.stdout + done.stderr
    assert (
        all(re.match(r".+:\d+: (note|warning): ", line) for line in done.stderr.splitlines())
        and done.stderr
    )
    for name in generated("axis_scaled")[0].robot.model.joint_names:
        assert re.search(rf"^ \d+ +{name} ", done.stdout, re.MULTILINE)


def test_silence_on_stderr_where_there_is_nothing_to_say(tmp_path):
    done = run("generate", PENDULUM, "-o", tmp_path / "out", "--quantity", "gravity")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.endswith(
        f"files in {tmp_path}/out; verify them: symgen verify {tmp_path}/out\n"
    )


def test_any_name_prints_in_any_locale(tmp_path):
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for command, said in (("generate", "\\xe9cole"), ("dump", "\u624b")):
        more = ("-o", tmp_path / "out") if command == "generate" else ()
        done = run(command, robot_file("utf8_names"), "--quantity", "gravity", *more, env=plain)
        assert done.returncode == 0 and done.stderr == "" and said in done.stdout


LOADED = """
import sys
from types import SimpleNamespace

import pytest
from symgen import generate
generate(sys.argv[1], sys.argv[2], quantities=("all",))
print([name for name in ("sympy", "matplotlib", "dask", "pandas") if name in sys.modules])
"""


def test_generation_loads_nothing_that_it_does_not_need(tmp_path):
    """SymPy alone takes half a second; it is for closed forms."""
    command = [sys.executable, "-c", LOADED, ROOT / "robots/pendulum.urdf", tmp_path / "out"]
    assert (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_an_interrupt_ends_with_the_status_of_one(monkeypatch, tmp_path):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("symgen.jobs.job.Job.of", stopped)
    done = invoke("generate", PENDULUM, "-o", tmp_path / "out")
    assert (done.exit_code, done.stdout) == (130, "") and not (tmp_path / "out").exists()
    assert done.stderr == "interrupted; no incomplete file was left\n"


def test_an_interrupt_while_the_program_is_loaded(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "symgen.cli.main", SimpleNamespace(main=interrupted))
    with pytest.raises(SystemExit) as ended:
        program.run()
    assert ended.value.code == 130 and "interrupted" in capsys.readouterr().err


CLOSED = {
    "stdout": (">&-", 2, "error: standard output is closed; redirect it, as in > /dev/null\n"),
    "stderr": ("2>&-", 0, ""),
    "stdin": ("<&-", 0, ""),
    "stdout and stderr": (">&- 2>&-", 2, ""),
}


@pytest.mark.parametrize("streams", CLOSED)
@pytest.mark.parametrize("command", ["check", "ops", "check --json", "generate", "--help"])
def test_closed_streams_end_in_one_line(streams, command, tmp_path):
    """Nothing is written into a file that took the descriptor of a closed stream."""
    redirection, status, said = CLOSED[streams]
    words = {"generate": f"generate {PENDULUM} --quantity gravity -o out", "--help": "--help"}
    line = words.get(command, f"{command.split()[0]} {PENDULUM} {command.partition(' ')[2]}")
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m symgen {line} {redirection}"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (status, said)
    assert (tmp_path / "out").exists() == (command == "generate" and not status)


def test_an_error_with_closed_stderr_has_its_status(tmp_path):
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m symgen check missing.urdf 2>&-"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
