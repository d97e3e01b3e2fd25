"""Glue: the files for build systems, which are asked for, and what becomes of folders."""

import json
import re

import pytest

from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.jobs.manifest import is_inside
from symgen.jobs.publish import publish
from symgen.jobs.verify import verify
from symgen.languages.c.options import GLUE
from tests.support.glued import made
from tests.support.tools import ROOT, invoke, robot_file, snapshot


@pytest.mark.parametrize("name", GLUE)
def test_only_what_is_asked_for(name, tmp_path):
    one = "gravity_compensation"
    given = ("-o", tmp_path, "--lang", "c", "--glue", name, "--controller", one)
    given += ("--quantity", "forward_dynamics")
    done = invoke("generate", robot_file("pendulum"), *given)
    assert done.exit_code == 0, done.stderr
    plain = re.compile(
        r"(pendulum_fmu/sources/)?pendulum\w*\.[ch]|manifest\.json|pendulum_report\.json"
    )
    files = {file for file, data in snapshot(tmp_path).items() if data is not None}
    found = {file for file in files if not plain.fullmatch(file)}
    assert found == {file.format(name="pendulum", plugin=one) for file in GLUE[name]}


def test_every_build_system_is_on_its_page():
    page = (ROOT / "docs" / "firmware.md").read_text(encoding="utf-8")
    missing = [name for name in GLUE if f"`{name}`" not in page]
    assert not missing, f"docs/firmware.md, Build systems: say what {', '.join(missing)} is"


def test_unknown_glue_is_refused():
    done = invoke("generate", robot_file("pendulum"), "-o", "/nowhere", "--glue", "cmake,scons")
    assert done.exit_code == 2 and done.stderr.startswith(
        "error: --glue 'scons': use some of cmake, zephyr, arduino"
    )
    job = Job.of(robot_file("pendulum"), quantities=("linux=gravity",), glue=("cpp",))
    with pytest.raises(OptionError, match="the name of a function: 'linux' is not usable"):
        job.module(job.load())


@pytest.mark.parametrize("case", ["pieces", "payload"])
def test_a_folder_with_all_glue_proves_itself(case):
    _, folder = made(case)
    assert all(check.passed for check in verify(folder))
    hashes = json.loads((folder / "manifest.json").read_text())["files"]
    assert "zephyr/module.yml" in hashes and "ur5.hpp" in hashes


@pytest.mark.parametrize("name", ["../a", "a/../b", "/a", "a/", "a//b", "./a", "", ".", ".."])
def test_names_that_leave_the_folder(name):
    assert not is_inside(name)


def manifest(*names):
    return json.dumps({"generator": "symgen 0", "files": dict.fromkeys(names, "hash")})


def test_a_folder_within_goes_when_it_is_empty(tmp_path):
    publish({"a": "1", "sub/b": "2", "manifest.json": manifest("a", "sub/b")}, tmp_path / "out")
    assert (tmp_path / "out" / "sub" / "b").read_text() == "2"
    publish({"a": "1", "manifest.json": manifest("a")}, tmp_path / "out")
    assert snapshot(tmp_path / "out").keys() == {"a", "manifest.json"}


def test_folders_within_folders(tmp_path):
    """They come and go like others; the outer ones stay where something else is in them."""
    publish(
        {"a/b/c/d": "1", "a/e": "2", "manifest.json": manifest("a/b/c/d", "a/e")}, tmp_path / "x"
    )
    assert (tmp_path / "x" / "a" / "b" / "c" / "d").read_text() == "1"
    publish({"a/e": "2", "manifest.json": manifest("a/e")}, tmp_path / "x")
    assert snapshot(tmp_path / "x").keys() == {"a", "a/e", "manifest.json"}
    (tmp_path / "x" / "a" / "b").symlink_to(tmp_path)
    with pytest.raises(OptionError, match="a/b' is a symbolic link"):
        publish({"a/b/c/d": "1", "manifest.json": manifest("a/b/c/d")}, tmp_path / "x")


def test_a_folder_within_stays_with_what_is_not_ours(tmp_path):
    publish({"sub/b": "2", "manifest.json": manifest("sub/b")}, tmp_path / "out")
    (tmp_path / "out" / "sub" / "mine").write_text("mine")
    publish({"a": "1", "manifest.json": manifest("a")}, tmp_path / "out")
    assert snapshot(tmp_path / "out").keys() == {"a", "manifest.json", "sub", "sub/mine"}


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b").write_text("mine")
    (tmp_path / "out" / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OptionError, match="sub' is a symbolic link"):
        publish({"sub/b": "2", "manifest.json": manifest("sub/b")}, tmp_path / "out")
    (tmp_path / "out" / "manifest.json").write_text(manifest("sub/b"))
    publish({"a": "1", "manifest.json": manifest("a")}, tmp_path / "out")
    assert (tmp_path / "elsewhere" / "b").read_text() == "mine"
