"""Example robots: every function and command has them, also where only the wheel is installed."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import symgen
from symgen.errors import OptionError
from symgen.reading.sources import examples
from tests.support.tools import ROOT, invoke

HELP_COMMANDS = [
    line.split("   ")[0].split()
    for line in invoke("--help").stdout.splitlines()
    if line.startswith("  symgen ")
]


def test_every_robot_of_the_repository_is_an_example():
    assert [*examples()] == sorted(path.stem for path in (ROOT / "robots").glob("*.urdf"))
    assert symgen.Robot(symgen.example("ur5")).joints
    assert symgen.load(symgen.example("pendulum")).model.dof == 2
    with pytest.raises(OptionError, match="no example robot is called 'ur55'; near names: 'ur5'"):
        symgen.example("ur55")


def test_the_list_has_paths_that_commands_take():
    lines = invoke("robots").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*examples()]
    assert invoke("check", lines[0].split()[1]).exit_code == 0
    assert invoke("robots", "ur5").stdout.split() == ["ur5", str(symgen.example("ur5"))]
    done = invoke("robots", "no_robot")
    assert done.exit_code == 2 and done.stderr.startswith("error: no example robot is called")


def test_copies_replace_nothing(tmp_path):
    folder = tmp_path / "new" / "robots"
    assert invoke("robots", "-o", folder).exit_code == 0
    assert {path.stem for path in folder.iterdir()} == {*examples()}
    (folder / "iiwa7.urdf").unlink()
    assert invoke("robots", "-o", folder).exit_code == 0, "the same files may stay"
    (folder / "ur5.urdf").write_text("mine", encoding="utf-8")
    (folder / "iiwa7.urdf").unlink()
    done = invoke("robots", "-o", folder)
    assert done.exit_code == 2 and "ur5.urdf' already exists" in done.stderr
    assert (folder / "ur5.urdf").read_text(encoding="utf-8") == "mine"
    assert not (folder / "iiwa7.urdf").exists() and not [*folder.glob(".symgen-*")]


def test_the_help_begins_with_commands_that_run_one_after_the_other(tmp_path, monkeypatch):
    assert len(HELP_COMMANDS) >= 5 and HELP_COMMANDS[0] == ["symgen", "robots", "-o", "robots"]
    monkeypatch.chdir(tmp_path)
    for program, *words in HELP_COMMANDS:
        done = invoke(*words)
        assert program == "symgen" and done.exit_code == 0, (words, done.output)


BUILD = "import hatchling.build as b, sys; print(b.build_wheel(sys.argv[1]))"


def test_the_wheel_has_robots_pages_and_notebooks(tmp_path):
    """Installed without the repository, with the libraries of this environment beside it."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
    command = [sys.executable, "-c", BUILD, str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    wheel = tmp_path / built.stdout.split()[-1]
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("symgen/")}
    for folder, pattern in (
        ("robots", "*.urdf"),
        ("docs", "**/*.md"),
        ("docs", "notebooks/*.ipynb"),
    ):
        wanted = {f"symgen/{p.relative_to(ROOT).as_posix()}" for p in (ROOT / folder).glob(pattern)}
        assert wanted <= names, wanted - names
    files = [p.relative_to(ROOT) for p in (ROOT / "templates").rglob("*") if p.is_file()]
    templates = {p.as_posix() for p in files if "__pycache__" not in p.parts}
    assert {f"symgen/{name}" for name in templates} <= names
    venv.create(tmp_path / "env", with_pip=False)
    (site,) = (tmp_path / "env").glob("lib/python*/site-packages")
    shutil.unpack_archive(wheel, site, "zip")
    (site / "others.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n", encoding="utf-8")
    python = str(tmp_path / "env" / "bin" / "python")
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    for words in (*HELP_COMMANDS, ["symgen", "docs", "howto/ros2"]):
        done = subprocess.run(
            [python, "-m", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (words, done.stderr)
