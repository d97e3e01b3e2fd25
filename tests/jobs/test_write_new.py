"""Files that are never replaced appear whole or not at all."""

import os
import signal
from pathlib import Path

import pytest

from fuzz import child, oracles
from fuzz.case import Case, Fault
from symgen.errors import OptionError
from symgen.jobs.publish import write_new
from tests.support.tools import robot_file


def test_it_is_written_once(tmp_path):
    path = tmp_path / "job.toml"
    write_new(path, b"first")
    with pytest.raises(OptionError, match="already exists; choose another name"):
        write_new(path, b"second")
    assert path.read_bytes() == b"first" and [*tmp_path.iterdir()] == [path]


def test_what_comes_between_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "job.toml"
    real = Path.hardlink_to

    def late(own, stage):
        path.write_bytes(b"another's")
        return real(own, stage)

    monkeypatch.setattr(Path, "hardlink_to", late)
    with pytest.raises(OptionError, match="exists"):
        write_new(path, b"mine")
    assert path.read_bytes() == b"another's" and [*tmp_path.iterdir()] == [path]


def test_a_file_system_without_links(tmp_path, monkeypatch):
    def refuse(own, stage):
        raise OSError(95, os.strerror(95))

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    write_new(tmp_path / "job.toml", b"mine")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"mine"]


@pytest.mark.parametrize("name", ["", ".", "none/job.toml", "a\0b", "link"])
def test_what_cannot_be_written_is_one_sentence(name, tmp_path):
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(OptionError) as caught:
        write_new(tmp_path / name, b"mine")
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


@pytest.mark.parametrize("room", [0, 100, 3000])
def test_a_full_disk_leaves_nothing(room, tmp_path):
    files = {"robot.urdf": Path(robot_file("pendulum")).read_bytes()}
    arguments = ("init", "robot.urdf", "-o", "job.toml")
    case = Case("", arguments, files, fault=Fault("small disk", room))
    outcome = child.run(case, tmp_path)
    assert outcome.status == 2 and outcome.before == outcome.after, outcome.said
    assert not list(oracles.judged(case, outcome))


def test_a_polite_end_leaves_the_whole_file_or_none(tmp_path):
    files = {"robot.urdf": Path(robot_file("pendulum")).read_bytes()}
    arguments = ("init", "robot.urdf", "-o", "job.toml")
    outcome = child.run(
        Case("", arguments, files, fault=Fault("terminated at rename", 0)), tmp_path
    )
    assert outcome.signal == signal.SIGTERM and set(outcome.after) == {"job.toml", "robot.urdf"}
    assert outcome.after["job.toml"].endswith(b"\n") and b"xacro_args" in outcome.after["job.toml"]
