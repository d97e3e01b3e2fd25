"""Files that stand where one is to be written: never lost, however a command is told to write there,
and however a run ends."""

import itertools
import json
import multiprocessing
import os
import shutil
import signal
from pathlib import Path

import pytest

from symgen.errors import OptionError
from symgen.inspection.rendering import FORMATS
from symgen.jobs import publish as publication
from symgen.jobs.publish import Mark, OutputFile, holding, publish, write_files
from tests.support.shell import refusal
from tests.support.tools import invoke, robot_file, snapshot

PENDULUM = robot_file("pendulum")

# -- single files ----------------------------------------------------------------------------------

COMMANDS = {
    "html": (["inspect", PENDULUM, "--html"], ".html"),
    "png": (["inspect", PENDULUM, "--plot"], ".png"),
    "svg": (["inspect", PENDULUM, "--plot"], ".svg"),
    "pdf": (["inspect", PENDULUM, "--plot"], ".pdf"),
}
USERS = {
    "text": b"mine, written with symgen inspect and symgen excite in mind\n",
    "picture": b"\x89PNG\r\n\x1a\nsome pixels",
    "drawing": b"<?xml version='1.0'?><svg/>",
    "page": b"<!doctype html><title>symgen inspect</title> my notes",
    "empty": b"",
}
commands = pytest.mark.parametrize("command", COMMANDS)


@commands
@pytest.mark.parametrize("content", USERS)
def test_a_users_file_is_kept(command, content, tmp_path):
    arguments, end = COMMANDS[command]
    path = tmp_path / f"mine{end}"
    path.write_bytes(USERS[content])
    assert refusal(*arguments, path).startswith(
        f"error: {str(path)!r} exists and was not written by symgen"
    )
    assert snapshot(tmp_path) == {path.name: USERS[content]}


@commands
def test_ones_own_is_replaced_by_the_same_bytes(command, tmp_path):
    """Wherever it was written; it has no path in it."""
    arguments, end = COMMANDS[command]
    other, path = tmp_path / f"other{end}", tmp_path / f"own{end}"
    assert invoke(*arguments, other).exit_code == 0
    shutil.copy(other, path)
    done = invoke(*arguments, path)
    assert done.exit_code == 0, done.output
    assert path.read_bytes() == other.read_bytes()


@commands
@pytest.mark.parametrize("what", ["folder", "link", "pipe"])
def test_what_is_no_file_is_kept(command, what, tmp_path):
    arguments, end = COMMANDS[command]
    path = tmp_path / f"x{end}"
    {"folder": Path.mkdir, "link": lambda p: p.symlink_to("nowhere"), "pipe": os.mkfifo}[what](path)
    assert refusal(*arguments, path) and os.path.lexists(path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_picture_has_an_end_of_its_format(tmp_path):
    for name in ("x", "x.jpg", "x.png.txt"):
        assert refusal("inspect", PENDULUM, "--plot", tmp_path / name).endswith(
            "give a name that ends in .png, .svg or .pdf"
        )
    assert snapshot(tmp_path) == {} and list(FORMATS) == [".png", ".svg", ".pdf"]


def test_page_and_picture_appear_together_or_not_at_all(tmp_path, monkeypatch):
    """Also where the run ends after the page is made."""
    file = tmp_path / "r.urdf"
    file.write_text(Path(PENDULUM).read_text().replace('"upper"', '"$\\\\frac$"'))
    page, picture = tmp_path / "p.html", tmp_path / "p.png"

    def fails(*_):
        raise ValueError("no such formula")

    with monkeypatch.context() as patched:
        patched.setattr("symgen.inspection.robot_report.drawn", fails)
        _one_fails(file, page, picture)
    assert invoke("inspect", file, "--plot", picture).exit_code == 0  # a name is no formula
    same = tmp_path / "same.png"
    assert "is the path of two outputs" in refusal(
        "inspect", PENDULUM, "--html", same, "--plot", same
    )


def _one_fails(file, page, picture):
    assert "cannot be drawn" in refusal("inspect", file, "--html", page, "--plot", picture)
    assert not page.exists() and not picture.exists()
    assert invoke("inspect", PENDULUM, "--html", page).exit_code == 0
    before = page.read_bytes()
    refusal("inspect", file, "--html", page, "--plot", picture)
    assert page.read_bytes() == before


def test_the_robots_own_file_is_never_replaced(tmp_path):
    """Also where it bears the mark, or is named by another path."""
    mark = Mark("us", lambda stream: True)
    file = tmp_path / "r.urdf"
    file.write_text("robot")
    (tmp_path / "link").symlink_to(file)
    for path in (file, tmp_path / "." / "r.urdf", tmp_path / "link"):
        with pytest.raises(OptionError, match="exists and was not written by us"):
            write_files({OutputFile(path, mark, (str(file),)): b"new"})
    assert file.read_text() == "robot"


def test_a_mark_is_looked_for_at_both_ends_only(tmp_path):
    mark = holding("us", b"<", b"our sign")
    for k, (content, ours) in enumerate(
        [
            (b"<our sign>", True),
            (b"<" + b"x" * 10**6 + b"our sign", True),
            (b"<" + b"x" * 10**6 + b"our sign" + b"x" * 10**6, False),
            (b" <our sign>", False),
        ]
    ):
        path = tmp_path / str(k)
        path.write_bytes(content)
        with path.open("rb") as stream:
            assert mark.ours(stream) == ours


# -- folders ---------------------------------------------------------------------------------------


def texts(*names, robot="a", tag="1"):
    """Files to publish: a manifest that lists them, and them."""
    manifest = {"generator": "symgen 0", "robot": robot, "files": dict.fromkeys(names, "hash")}
    return {**{name: f"{name} {tag}\n" for name in names}, "manifest.json": json.dumps(manifest)}


def test_a_second_robot_does_not_take_the_place_of_the_first(tmp_path):
    assert invoke("generate", PENDULUM, "-o", tmp_path / "out").exit_code == 0
    before = snapshot(tmp_path)
    said = refusal("generate", robot_file("scara"), "-o", tmp_path / "out")
    assert "contains the files of robot 'pendulum'; choose another folder" in said
    assert snapshot(tmp_path) == before
    assert invoke("generate", PENDULUM, "-o", tmp_path / "out", "--prefix", "arm").exit_code == 0
    assert not (tmp_path / "out" / "pendulum.h").exists()


def killed(after, *arguments):
    """How a run, in a copy of this process, ends at the rename number `after`."""

    def work():
        real, left = Path.replace, itertools.count(after, -1)

        def hit(*a, **k):
            if not next(left):
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*a, **k)

        Path.replace = hit
        invoke(*arguments)

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join()
    return process.exitcode


@pytest.mark.parametrize("after", range(7))
@pytest.mark.parametrize("first", [True, False], ids=["first", "again"])
def test_a_run_that_was_killed_is_healed_by_the_next(after, first, tmp_path):
    """SIGKILL at each rename: whatever is left is known as ours, and the next run leaves what it
    leaves in an empty folder."""
    wanted = ["generate", PENDULUM, "--quantity", "gravity", "--lang", "c", "-o"]
    assert invoke(*wanted, tmp_path / "whole").exit_code == 0
    out = tmp_path / "out"
    if not first:
        assert invoke("generate", PENDULUM, "--quantity", "bias", "-o", out).exit_code == 0
    assert killed(after, *wanted, out) == -signal.SIGKILL
    stale = [*tmp_path.glob(".symgen-*"), *out.glob(".symgen-*")]
    assert stale
    for path in stale:
        os.utime(path, (0, 0))
    untouched = after == 0 and not first
    assert (invoke("verify", out).exit_code == 0) == untouched
    done = invoke(*wanted, out)
    assert done.exit_code == 0, done.output
    assert snapshot(out) == snapshot(tmp_path / "whole")
    assert not [*tmp_path.glob(".symgen-*")]


def test_only_old_temporary_files_are_cleared(tmp_path):
    """A running run renames its files long before they are old."""
    old, new, users, folder = (
        tmp_path / name
        for name in (".symgen-abcd1234", ".symgen-zzzz9999", ".symgen-notes", ".symgen-0123abcd")
    )
    folder.mkdir()  # as earlier versions left them
    for path in (old, new, users):
        path.write_text("x")
    for path in (old, users, folder):
        os.utime(path, (0, 0))
    publication.remove_stale_files(tmp_path)
    assert [*tmp_path.iterdir()] and not old.exists() and not folder.exists()
    assert new.exists() and users.exists()


def test_a_listing_of_both_runs_holds_between(tmp_path, monkeypatch):
    """While files are moved the listing names those of both runs, so that neither is foreign."""
    publish(texts("a", "b"), tmp_path)
    seen = []
    usual = Path.replace

    def watched(self, target):
        found = usual(self, target)
        seen.append(set(json.loads((tmp_path / "manifest.json").read_text())["files"]))
        return found

    monkeypatch.setattr(Path, "replace", watched)
    publish(texts("b", "c"), tmp_path)
    assert seen[0] == seen[1] == {"a", "b", "c", "manifest.json"} and seen[-1] == {"b", "c"}
    assert sorted(snapshot(tmp_path)) == ["b", "c", "manifest.json"]
    shutil.rmtree(tmp_path)
