"""The text of generated files is the same each time, plain and soon written: checks G6, G7 and
G10 of tests/cases/index.md."""

import json
import os
import re
import resource
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from symgen.jobs.api import generate
from symgen.jobs.manifest import NAME
from symgen.languages import LANGUAGES, module_files
from tests.support.samples import GIB, limit, made, samples
from tests.support.tools import (
    ROOT,
    c_files,
    generated,
    imported,
    robot_file,
    run,
    snapshot,
)

SURROUNDINGS = {
    "0": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "1": {"LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
    "2": {"LC_ALL": "de_DE.UTF-8", "LANG": "tr_TR.UTF-8", "COLUMNS": "40"},
    "3": {"LANG": "POSIX", "NO_COLOR": "1", "HOME": "/nowhere"},
}


ROBOTS = {
    "utf8_names": {"quantities": ("t=bias+mass_matrix", "forward_dynamics")},
    "ur5": {"parameters": "runtime:flange", "quantities": ("t=bias+mass_matrix",)},
}
COMMANDS = """
import json, sys
from symgen.cli.main import main
for words in json.loads(sys.argv[1]):
    main(words, standalone_mode=False)
"""


@pytest.mark.parametrize("seed", SURROUNDINGS)
def test_g6_surroundings_do_not_matter(seed, tmp_path):
    """To files of any language; both robots are made in one process."""
    commands = []
    for name, options in ROBOTS.items():
        file = os.path.relpath(robot_file(name), tmp_path)
        words = ["generate", file, "-o", name, *(f"--lang={x}" for x in LANGUAGES)]
        words += [f"--quantity={x}" for x in options["quantities"]]
        commands.append([*words, "--parameters", options.get("parameters", "constant")])
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, json.dumps(commands)],
        cwd=tmp_path,
        env=environment | SURROUNDINGS[seed],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for name, options in ROBOTS.items():
        _, folder = generated(name, languages=tuple(LANGUAGES), **options)
        assert snapshot(tmp_path / name) == snapshot(folder)


def test_g6_the_second_run_in_a_process_is_the_same(tmp_path):
    generate(robot_file("ur5"), tmp_path / "a")
    generate(robot_file("ur5"), tmp_path / "b")
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")


@samples
def test_g7_ascii_lines_without_date_or_path(sample):
    _, folder = made(sample)
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(found) >= 6
    for name, data in found.items():
        assert b"\r" not in data and data.isascii() and data.endswith(b"\n"), name
        text = data.decode()
        assert not re.search(r"\b(19|20)\d\d-\d\d-\d\d|\d\d:\d\d:\d\d", text), name
        for trace in (str(folder.parent), str(ROOT), str(Path.home()) + "/", socket.gethostname()):
            assert trace not in text, f"{name} has {trace}"
        assert time.strftime("%Y") not in re.sub(
            r"[0-9a-f]{64}|[\d.]+e?[\d-]+|\(20\d\d\)", "", text
        ), name


def test_g7_no_line_ends_in_a_blank():
    for sample in ("ur5", "ur5_runtime"):
        module, folder = made(sample)
        for path in (*c_files(folder), folder / f"{module.name}.h", folder / f"{module.name}.py"):
            assert not re.search(r"[ \t]+$", path.read_text(), re.MULTILINE), path.name


def test_g10_generation_is_quick(tmp_path):
    start = time.perf_counter()
    limits = {
        "preexec_fn": lambda: limit(resource.RLIMIT_AS, GIB),
        "env": {"OPENBLAS_NUM_THREADS": "1"},
    }
    done = run("generate", robot_file("arm7_general"), "-o", tmp_path / "out", **limits)
    assert done.returncode == 0, done.stderr
    assert time.perf_counter() - start < 60


def test_all_files_are_published():
    module, folder = made("ur5")
    published = {path.name: path.read_text() for path in folder.iterdir()}
    assert published.pop(NAME)
    assert published == module_files(module)
    assert imported(folder / "ur5.py").NQ == module.dof == 6
