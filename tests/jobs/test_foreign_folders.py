"""Files are written into folders that are new, empty or from an earlier run, and into no others."""

import os

import pytest

from tests.support.tools import invoke, robot_file, snapshot

GENERATE = ("generate", robot_file("pendulum"), "--quantity", "gravity", "-o")


def test_a_folder_with_other_files_is_refused(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "holiday.jpg").write_text("mine", encoding="utf-8")
    before = snapshot(tmp_path)
    done = invoke(*GENERATE, folder)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert (
        "holds files that are not from symgen, such as 'holiday.jpg'; choose a new or"
        in done.stderr
    )
    assert snapshot(tmp_path) == before


@pytest.mark.skipif(os.name != "posix", reason="the root folder is that of POSIX systems")
def test_the_root_folder_is_refused():
    before = {entry.name for entry in os.scandir("/")}
    done = invoke(*GENERATE, "/")
    assert done.exit_code == 2 and "'/' holds files that are not from symgen" in done.stderr
    assert {entry.name for entry in os.scandir("/")} == before


def test_new_empty_and_own_folders_are_taken(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder in (empty, tmp_path / "new"):
        for _ in range(2):
            assert invoke(*GENERATE, folder).exit_code == 0
        (folder / "user.c").write_text("/* mine */", encoding="utf-8")
        assert invoke(*GENERATE, folder).exit_code == 0, "a file added to a folder of ours may stay"
        assert (folder / "user.c").read_text(encoding="utf-8") == "/* mine */"


def test_what_a_killed_run_left_does_not_count(tmp_path):
    folder = tmp_path / "x"
    (folder / ".symgen-abcd_012").mkdir(parents=True)
    assert invoke(*GENERATE, folder).exit_code == 0
