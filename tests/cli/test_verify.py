"""``symgen verify``: it passes what is generated and catches any change of it."""

import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest

from tests.support.shell import refusal
from tests.support.tools import generated, invoke, run, snapshot

VERIFIED = {
    "plain": ("pendulum", {}),
    "float": ("pendulum", {"scalar": "float"}),
    "runtime": ("pendulum", {"parameters": "runtime", "gravity": "runtime"}),
    "body": (
        "ur5",
        {"parameters": "runtime:link3", "quantities": ("t=bias+mass_matrix", "inverse_dynamics")},
    ),
    "payload": (
        "ur5",
        {"parameters": "runtime:flange", "scalar": "float", "quantities": ("gravity",)},
    ),
    "c": ("pendulum", {"languages": ("c",)}),
    "python": ("pendulum", {"languages": ("python",)}),
    "slider": ("gravity_slider", {"gravity": "runtime"}),
}


@pytest.mark.parametrize("name", VERIFIED)
def test_verify_passes(name):
    robot, options = VERIFIED[name]
    module, folder = generated(robot, **options)
    before = snapshot(folder)
    done = invoke("verify", folder)
    assert done.exit_code == 0 and done.stderr == "" and "FAILED" not in done.stdout, done.stdout
    assert re.search(r"^all \d+ checks passed$", done.stdout, re.MULTILINE)
    c, python = ("C equals" in done.stdout), ("Python equals" in done.stdout)
    assert (c, python) == (name != "python", name != "c")
    assert snapshot(folder) == before
    assert "regroup: C equals" in done.stdout or not module.robot.runtime


def mutated(folder, name, pattern, replacement, rehash=True):
    """Change one place of a generated file, and its hash in the manifest as one who covers it up
    would."""
    path, manifest = folder / name, folder / "manifest.json"
    old = path.read_text()
    new, count = re.subn(pattern, replacement, old, count=1)
    assert count == 1 and new != old
    path.write_text(new)
    if rehash:
        text = json.loads(manifest.read_text())
        text["files"][name] = hashlib.sha256(new.encode()).hexdigest()
        manifest.write_text(json.dumps(text))


@pytest.fixture
def copy(tmp_path):
    """A copy of the pendulum's files that a test may spoil."""
    few = generated("pendulum", quantities=("inverse_dynamics", "bias", "gravity"))
    return Path(shutil.copytree(few[1], tmp_path / "copy"))


def failures(folder):
    done = invoke("verify", folder)
    assert done.exit_code == 1 and done.stderr == ""
    assert re.search(r"^\d+ of \d+ checks failed$", done.stdout, re.MULTILINE)
    return [
        line.split("FAILED")[1].strip() for line in done.stdout.splitlines() if "FAILED" in line
    ]


MUTATIONS = {
    "constant": (
        "pendulum_gravity.c",
        r"1\.2 \*",
        "1.2000000000000002 *",
        "gravity: C equals the float run bit for bit",
    ),
    "sign": ("pendulum_bias.c", r" - ", " + ", "bias: C equals the float run"),
    "output index": ("pendulum_gravity.c", r"tau_g\[1\]", "tau_g[0]", "C compiles"),
    "reference value": (
        "pendulum_selftest.c",
        r"(want_tau\[STATES\]\[2\] = \{\s*\{-?)",
        r"\g<1>9",
        "C compiles",
    ),
    "syntax": ("pendulum.h", r"#endif", "", "C compiles"),
    "Python constant": ("pendulum.py", r"= 9\.81", "= 9.82", "inverse_dynamics: Python equals"),
    "Python name": ("pendulum.py", r"cos\(q1\)", "cos(q0)", "inverse_dynamics: Python equals"),
    "Python syntax": ("pendulum.py", r"return", "retrun", "Python module loads"),
    "Python index": (
        "pendulum.py",
        r"tau\[1\]",
        "tau[0]",
        "inverse_dynamics: Python equals",
    ),
    "Python not finite": ("pendulum.py", r"= 9\.81", "= np.nan", "inverse_dynamics: Python equals"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_verify_catches(name, copy):
    file, pattern, replacement, caught = MUTATIONS[name]
    mutated(copy, file, pattern, replacement)
    assert any(line.startswith(caught) for line in failures(copy)), failures(copy)


@pytest.mark.parametrize("file", ["pendulum.h", "pendulum.py", "CMakeLists.txt"])
def test_verify_catches_any_change(file, copy):
    path = copy / file
    path.write_text(path.read_text() + "\n")
    found = failures(copy)
    assert len(found) == 1 and found[0].startswith("the files are unchanged")
    assert f"changed or missing: {file}" in found[0]


@pytest.mark.parametrize(
    "file", ["pendulum.h", "pendulum_bias.c", "pendulum_selftest.c", "pendulum.py"]
)
def test_verify_catches_a_missing_file(file, copy):
    (copy / file).unlink()
    assert any(f"changed or missing: {file}" in line for line in failures(copy))


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (
            None,
            "error: cannot read '{}': No such file or directory; give a folder that symgen generate wrote",
        ),
        ("", "error: '{}' is not a valid manifest (it is not JSON); generate the folder again"),
        (
            "[1]",
            "error: '{}' is not a valid manifest (expected an object, found a list); "
            "generate the folder again",
        ),
        (
            '{"format": 2}',
            "error: '{}' is not a valid manifest (missing key 'conventions', 'dof', 'files' and 11 "
            "more); generate the folder again",
        ),
        (
            '{"format": 99}',
            "error: '{}': the format is 99, and this version reads 2; generate the folder again",
        ),
    ],
)
def test_verify_refuses_what_is_no_generated_folder(manifest, said, tmp_path):
    path = tmp_path / "manifest.json"
    if manifest is not None:
        path.write_text(manifest)
    assert refusal("verify", tmp_path) == said.format(path)


def test_verify_leaves_nothing_behind(copy, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = run("verify", copy, env={"TMPDIR": str(scratch)})
    assert done.returncode == 0 and done.stderr == "" and snapshot(scratch) == {}
