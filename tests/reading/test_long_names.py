"""Names that no file system takes, where a robot's file or the command line names a file."""

import pytest

from tests.support.tools import ROOT, invoke

LONG = "a" * 300
XACRO = '<robot name="a" xmlns:xacro="http://ros.org/wiki/xacro">{}</robot>'
SDF = '<sdf version="1.9"><model name="a"><include><uri>{}</uri></include></model></sdf>'
FILES = {
    "a.xml": f'<mujoco><include file="{LONG}.xml"/></mujoco>',
    "a.sdf": SDF.format(LONG),
    "model.sdf": SDF.format(f"model://{LONG}"),
    "a.xacro": XACRO.format(f'<xacro:include filename="$(find {LONG})/a.xacro"/>'),
    "b.xacro": XACRO.format(f'<xacro:include filename="{LONG}"/>'),
}
PENDULUM = str(ROOT / "robots/pendulum.urdf")
COMMANDS = (
    ("check", f"{LONG}.urdf"),
    ("check", PENDULUM, "--actuators", LONG),
    ("check", PENDULUM, "--estimate", LONG),
    ("predict", PENDULUM, "log.csv", "--estimate", LONG),
    ("predict", PENDULUM, "log.csv", "--estimate", f"{LONG}.toml"),
    ("identify", PENDULUM, LONG),
    ("identify", PENDULUM, f"{LONG}.csv"),
    ("identify", PENDULUM, f"{LONG}.npz"),
    ("generate", PENDULUM, "-o", LONG),
    ("verify", LONG),
)


@pytest.mark.parametrize("name", FILES)
def test_in_a_file(tmp_path, name):
    (tmp_path / ".git").mkdir()  # where the search for packages ends
    (tmp_path / name).write_text(FILES[name])
    done = invoke("check", tmp_path / name)
    assert done.exit_code == 2 and done.stdout == ""
    assert f"{name}:1: error: " in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words).replace(LONG, "LONG"))
def test_on_the_command_line(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    done = invoke(*words)
    assert done.exit_code == 2 and done.stdout == "" and "error: " in done.stderr
    assert not list(tmp_path.iterdir())


def test_of_a_folder_of_packages(tmp_path):
    (tmp_path / "a.xacro").write_text(XACRO.format(""))
    done = invoke("check", tmp_path / "a.xacro", "--package-path", LONG)
    assert done.exit_code == 2 and "the folder does not exist" in done.stderr
