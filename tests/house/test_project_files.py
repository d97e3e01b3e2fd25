"""Files for contributors and for releases agree with the project."""

import re
import subprocess
import tomllib

import pytest

from tests.support.tools import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z][\w-]*):", MAKEFILE, re.MULTILINE))


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def workflow():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load(text(".github/workflows/ci.yml"))


def test_the_workflow_runs_every_supported_python():
    jobs = workflow()["jobs"]
    minors = [
        found[1]
        for row in PROJECT["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", row))
    ]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == minors
    assert [step["run"] for step in jobs["linux"]["steps"] if "run" in step] == [
        "make demo",
        "make test",
    ]


def test_other_systems_may_fail_and_linux_may_not():
    jobs = workflow()["jobs"]
    assert jobs["other-systems"]["strategy"]["matrix"]["system"] == [
        "macos-latest",
        "windows-latest",
    ]
    assert [name for name, job in jobs.items() if job.get("continue-on-error")] == ["other-systems"]
    assert workflow()["permissions"] == {"contents": "read"}


def test_the_workflow_uses_targets_of_the_makefile():
    runs = [step.get("run", "") for job in workflow()["jobs"].values() for step in job["steps"]]
    named = {
        word
        for run in runs
        for line in re.findall(r"(?:^|&& )make (.*)", run)
        for word in line.split()
    }
    assert {"demo", "test", "fresh", "release"} <= named <= TARGETS


def test_the_checklist_of_a_release_names_targets_of_the_makefile():
    section = text("docs/promises.md").split("## A release")[1]
    named = {w for line in re.findall(r"`make ([^`]*)`", section) for w in line.split()}
    assert {"release", "fresh", "test-all"} <= named <= TARGETS


def test_pre_commit_has_the_pinned_ruff():
    pin = re.search(r"^ruff==(\S+)", text("constraints.txt"), re.MULTILINE)[1]
    found = re.findall(r"ruff==([\d.]+)", text(".pre-commit-config.yaml"))
    assert found == [pin, pin]


def test_versions_agree():
    version = PROJECT["version"]
    assert f'__version__ = "{version}"' in text("symgen/__init__.py")
    assert f"\nversion: {version}\n" in text("CITATION.cff")
    assert re.search(rf"^## .*{re.escape(version)}", text("CHANGELOG.md"), re.MULTILINE)


def test_links_of_the_files_for_contributors_exist():
    for name in ("CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "README.md", "SECURITY.md"):
        for target in re.findall(r"\]\(([\w./-]+)\)", text(name)):
            assert (ROOT / target).exists(), f"{name}: {target}"


@pytest.mark.parametrize("name", ["run", "fresh", "release"])
def test_scripts_are_bash_without_errors(name):
    path = ROOT / ".ci" / name
    subprocess.run(["bash", "-n", str(path)], check=True)
    assert path.stat().st_mode & 0o111 and path.read_text(encoding="utf-8").startswith("#!")
    assert "set -euo pipefail" in path.read_text(encoding="utf-8")
