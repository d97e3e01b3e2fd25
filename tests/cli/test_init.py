"""``symgen init`` writes job files with every option."""

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symgen.errors import RobotError
from symgen.jobs.job import Job
from symgen.jobs.jobfile import JOB_OPTIONS, quoted, read, written
from symgen.reading.actuators import KEYS
from tests.support.jobfiles import PENDULUM, refusal
from tests.support.tools import ROOT, invoke, run, snapshot


def test_every_field_of_a_job_has_its_key():
    keys = {option.name for option in JOB_OPTIONS} | {"file"}
    assert Job.of("").choices.flat().keys() == keys - {"file", "out", "languages"}


def section(heading):
    """The keys that a section of docs/formats.md lists."""
    text = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    own = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.partition(":")[0] for line in own.splitlines() if line.startswith("- ")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_every_key_is_documented():
    for name, keys in (
        ("Job files", {*(x.name for x in JOB_OPTIONS), "file"}),
        ("Actuator files", {*KEYS}),
    ):
        missing, unknown = keys - section(name), section(name) - keys
        assert not missing and not unknown, f"docs/formats.md, {name}: {missing=}, {unknown=}"


def uncommented(text):
    """The file with its examples switched on."""
    lines = (
        line[2:]
        if line.startswith("# ") and " = " in line and line.split()[1].isidentifier()
        else line
        for line in text.splitlines()
    )
    return tomllib.loads("\n".join(lines))


def test_init_writes_every_option_and_it_loads_and_generates(tmp_path):
    path = tmp_path / "sub" / "arm.toml"
    path.parent.mkdir()
    done = invoke("init", PENDULUM, "-o", path)
    assert done.exit_code == 0 and done.stdout == f"wrote {path}\n", done.output
    text = path.read_text(encoding="utf-8")
    assert set(uncommented(text)) == {"file", *(option.name for option in JOB_OPTIONS)}
    assert all((option.help or "").split()[-2] in text for option in JOB_OPTIONS)
    assert invoke("generate", path).exit_code == 0
    assert invoke("generate", PENDULUM, "-o", tmp_path / "plain").exit_code == 0
    assert snapshot(path.parent / "build" / "pendulum") == snapshot(tmp_path / "plain")


def test_the_examples_of_init_are_of_the_right_type(tmp_path):
    (tmp_path / "all.toml").write_text(
        "\n".join(
            line.removeprefix("# ")
            if line.split()[1:2] and line.split()[1].isidentifier() and " = " in line
            else line
            for line in written("x", "r.urdf", {"out": '"x"'}).splitlines()
        ),
        encoding="utf-8",
    )
    assert {"lock", "prefix", "formulations"} <= set(read(tmp_path / "all.toml").values)


def test_init_never_overwrites_and_refuses_what_is_no_robot(tmp_path):
    for name in ("a.toml", "b.toml"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "r.urdf").write_text("<robot/>")
    assert refusal("init", PENDULUM, "-o", tmp_path / "a.toml").endswith(
        "a.toml' already exists; choose another name with -o, or move the file away"
    )
    assert refusal("init", tmp_path / "r.urdf", "-o", tmp_path / "c.toml").startswith(
        f"{tmp_path / 'r.urdf'}:1:"
    )
    assert "must end in .toml" in refusal("init", PENDULUM, "-o", tmp_path / "c.urdf")
    assert "cannot write" in refusal("init", PENDULUM, "-o", tmp_path / "no" / "c.toml")
    assert set(snapshot(tmp_path)) == {"a.toml", "b.toml", "r.urdf"}
    assert (tmp_path / "a.toml").read_text() == "mine"


def test_init_of_standard_input_is_refused(tmp_path, monkeypatch):
    """A job file cannot name it: its paths are relative to its own folder."""
    monkeypatch.chdir(tmp_path)
    assert "give that path" in refusal("init", "-") and not [*tmp_path.iterdir()]


def test_init_without_a_name_writes_beside_the_user(tmp_path):
    done = run("init", PENDULUM, cwd=tmp_path)
    assert done.returncode == 0 and set(snapshot(tmp_path)) == {"pendulum.toml"}, done.stderr


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives_being_quoted(text):
    assert tomllib.loads(f"x = {quoted(text)}") == {"x": text}


def test_names_that_are_no_text(tmp_path):
    with pytest.raises(RobotError, match="cannot be read"):
        read(tmp_path / "\x00.toml")
