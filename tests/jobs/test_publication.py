"""Nothing is left half done, whatever happens: check G8 of tests/cases/index.md."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from symgen.errors import OptionError
from symgen.jobs.api import generate
from symgen.jobs.publish import DEFERRED, publish
from tests.support.samples import limit, texts
from tests.support.tools import (
    ROOT,
    generated,
    invoke,
    robot_file,
    run,
    snapshot,
)


def test_g8_an_earlier_run_is_replaced(tmp_path):
    folder = tmp_path / "deep" / "out"
    publish(texts("a", "b"), folder)
    (folder / "mine").write_text("mine")
    publish(texts("b", "c", tag="2"), folder)
    assert {path.name for path in folder.iterdir()} == {"b", "c", "mine", "manifest.json"}
    assert (folder / "b").read_text() == "b 2\n" and (folder / "mine").read_text() == "mine"
    assert [path.name for path in folder.parent.iterdir()] == ["out"]


def test_g8_files_no_longer_wanted_disappear(tmp_path):
    invoke("generate", robot_file("pendulum"), "-o", tmp_path)
    assert (tmp_path / "pendulum.py").exists() and (tmp_path / "pendulum_bias.c").exists()
    invoke(
        "generate", robot_file("pendulum"), "-o", tmp_path, "--lang", "c", "--quantity", "gravity"
    )
    assert snapshot(tmp_path).keys() == {
        "CMakeLists.txt",
        "manifest.json",
        "pendulum.c",
        "pendulum.h",
        "pendulum_gravity.c",
        "pendulum_selftest.c",
        "pendulum_trig.h",
        "pendulum_report.json",
    }


FOREIGN = ['{"files": {"a": "x", "mine": "x"}}', '{"name": "app"}', "[]", "not JSON", "\udcff", ""]


@pytest.mark.parametrize("manifest", FOREIGN)
def test_g8_a_foreign_manifest_is_kept(manifest, tmp_path):
    (tmp_path / "manifest.json").write_bytes(manifest.encode("utf-8", "surrogateescape"))
    (tmp_path / "mine").write_text("mine")
    before = snapshot(tmp_path)
    with pytest.raises(OptionError, match=r"manifest.json' exists and was not written by symgen"):
        publish(texts("b"), tmp_path)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", ["pendulum.c", "CMakeLists.txt", "pendulum.py"])
def test_g8_a_foreign_file_is_kept(name, tmp_path):
    (tmp_path / name).write_text("mine")
    before = snapshot(tmp_path)
    done = invoke("generate", robot_file("pendulum"), "-o", tmp_path)
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    assert f"{name}' exists and was not written by symgen" in done.stderr
    assert snapshot(tmp_path) == before


def test_g8_a_manifest_cannot_reach_outside(tmp_path):
    folder = tmp_path / "out"
    publish(texts("a"), folder)
    (tmp_path / "victim").write_text("mine")
    (folder / "manifest.json").write_text(
        texts("../victim", "a", "", "..", "/etc/passwd")["manifest.json"]
    )
    publish(texts("b"), folder)
    assert (tmp_path / "victim").read_text() == "mine"
    assert {path.name for path in folder.iterdir()} == {"b", "manifest.json"}


@pytest.mark.parametrize("where", ["file", "file/below"])
def test_g8_out_is_a_file(where, tmp_path):
    (tmp_path / "file").write_text("mine")
    done = invoke("generate", robot_file("pendulum"), "-o", tmp_path / where)
    assert done.exit_code == 2 and re.fullmatch(r"error: cannot write to '.*': .*\n", done.stderr)
    assert snapshot(tmp_path) == {"file": b"mine"}


KILLED = """
import os, signal, sys
from pathlib import Path
method, count, number = sys.argv.pop(), int(sys.argv.pop()), getattr(signal, sys.argv.pop())
real = getattr(Path, method)
def hit(*a, **k):
    global count
    count -= 1
    if count == 0:
        os.kill(os.getpid(), number)
    return real(*a, **k)
setattr(Path, method, hit)
# A child keeps what its parent ignores: under nohup and in the background SIGHUP and SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
for left in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(left, signal.SIG_DFL)
from symgen.cli.main import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("method", "number"),
    [
        ("chmod", "SIGTERM"),
        ("replace", "SIGTERM"),
        ("replace", "SIGINT"),
        ("replace", "SIGHUP"),
    ],
)
def test_g8_a_signal_while_writing(method, number, tmp_path):
    generate(robot_file("pendulum"), tmp_path / "out", quantities=("gravity",), prefix="old")
    arguments = [
        "generate",
        robot_file("pendulum"),
        "-o",
        str(tmp_path / "out"),
        number,
        "3",
        method,
    ]
    command = ["sh", "-c", """trap '' INT HUP TERM; exec "$@" """, "sh"]  # as under nohup
    command += [sys.executable, "-c", KILLED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert snapshot(tmp_path).keys() == {
        "out",
        *(f"out/{path.name}" for path in generated("pendulum")[1].iterdir()),
    }


@pytest.mark.parametrize("delay", [0.1, 0.25, 0.4, 0.55])
def test_g8_killed_at_any_time(delay, tmp_path):
    generate(robot_file("pendulum"), tmp_path / "out")
    before = snapshot(tmp_path)
    command = [
        sys.executable,
        "-m",
        "symgen",
        "generate",
        robot_file("ur5"),
        "-o",
        str(tmp_path / "out"),
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(delay)
    process.terminate()
    process.communicate()
    after = {f"out/{name}" for name in snapshot(generated("ur5")[1])}
    assert snapshot(tmp_path) == before or snapshot(tmp_path).keys() == {"out", *after}


def refused_without_a_trace(folder, reason, **options):
    """Generating into the folder fails in one line and leaves it, and what is beside it, as it
    was."""
    before = snapshot(folder.parent)
    done = run("generate", robot_file("ur5"), "-o", folder, **options)
    assert done.returncode == 2 and re.fullmatch(
        rf"error: cannot write to '.*': {reason}\n", done.stderr
    ), done.stderr
    assert snapshot(folder.parent) == before


def test_g8_writing_fails_half_way(tmp_path):
    generate(robot_file("ur5"), tmp_path / "out", quantities=("gravity",))
    refused_without_a_trace(
        tmp_path / "out", "File too large", preexec_fn=lambda: limit(resource.RLIMIT_FSIZE, 4000)
    )


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 96 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", str(disk)]
    if (
        os.geteuid() != 0
        or not shutil.which("mount")
        or subprocess.run(mount, capture_output=True, check=False).returncode
    ):
        pytest.skip("mounting a file system is not allowed here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def small(folder):
    """Leave the files of a smaller run for a robot called as that of `refused_without_a_trace`."""
    file = folder.parents[1] / "small.urdf"
    file.write_text(Path(robot_file("pendulum")).read_text().replace('"pendulum"', '"ur5"'))
    generate(file, folder, quantities=("gravity",))


def test_g8_full_disk(small_disk):
    small(small_disk / "out")
    refused_without_a_trace(small_disk / "out", "No space left on device")


def test_g8_mount_point(small_disk):
    generate(robot_file("pendulum"), small_disk)
    assert (small_disk / "pendulum.h").exists() and not list(small_disk.glob(".symgen*"))


def test_g8_read_only_file_system(small_disk):
    small(small_disk / "out")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    refused_without_a_trace(small_disk / "out", "Read-only file system")


def test_g8_read_only_folder(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere; see test_g8_read_only_file_system")
    generate(robot_file("ur5"), tmp_path / "out", quantities=("gravity",))
    (tmp_path / "out").chmod(0o500)
    refused_without_a_trace(tmp_path / "out", "Permission denied")


def test_g8_signals_work_as_before_afterwards(tmp_path):
    before = [signal.getsignal(number) for number in DEFERRED]
    publish(texts("a"), tmp_path)
    assert [signal.getsignal(number) for number in DEFERRED] == before


def test_g8_threads_may_publish(tmp_path):
    thread = threading.Thread(target=publish, args=(texts("a"), tmp_path))
    thread.start()
    thread.join()
    assert (tmp_path / "a").exists()
