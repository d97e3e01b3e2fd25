"""The evidence of generated C: each examination sees a fault, what is not installed is named, and
the page is the same every time."""

import json
import shutil
from pathlib import Path

import pytest

from symgen.evidence import examinations, gathering, targets
from symgen.evidence.examinations import EXAMINATIONS, Material
from tests.support.tools import generated, invoke

QUICK = ("Compiler warnings", "Self-test", "Mutation", "Certified bounds", "Memory")


@pytest.fixture
def few(monkeypatch):
    """Few mutants, so that a test is fast."""
    monkeypatch.setattr(examinations, "MUTANTS", 3)


def examined(name):
    return next(e for e in EXAMINATIONS if e.name == name)


def spoilt(folder, file, old, new):
    """A copy of the pendulum's gravity in which a text is replaced."""
    module, source = generated("pendulum", quantities=("gravity",))
    for path in source.glob("*.[ch]"):
        shutil.copy(path, folder)
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")
    return Material(module, folder)


C, TEST = "pendulum_gravity.c", "pendulum_selftest.c"
START = ")\n{\n"


@pytest.mark.parametrize(
    ("name", "file", "old", "new"),
    [
        ("Compiler warnings", C, START, ")\n{\n    int unused;\n"),
        ("Self-test", C, "1.2 * a1_y", "1.2001 * a1_y"),
        ("Coverage", C, START, ")\n{\n    if (q[0] > 1e30) {\n        return;\n    }\n"),
        ("Mutation", TEST, "bad += wrong(", "(void)wrong("),
        ("MISRA C:2012", C, START, ")\n{\n    goto end;\nend:;\n"),
        ("cppcheck", C, START, ")\n{\n    int a[2];\n    a[2] = 0;\n"),
        ("gcc -fanalyzer", C, START, ")\n{\n    int *none = 0;\n    *none = 0;\n"),
        ("Memory", C, START, ")\n{\n    static double state;\n    state += 1.0;\n"),
        ("Frama-C EVA", C, START, ")\n{\n    int k = 1 / (int)(q[0] * 0.0);\n    (void)k;\n"),
    ],
)
def test_each_examination_sees_a_fault(tmp_path, few, name, file, old, new):
    examination = examined(name)
    if absent := [tool for tool in examination.tools if shutil.which(tool) is None]:
        pytest.skip(f"{absent[0]} is not installed")
    assert examination.verdict(spoilt(tmp_path, file, old, new)).holds is False


def test_stack_and_instructions_are_bounded_and_measured(tmp_path, monkeypatch):
    examination = examined("Stack, code and instructions")
    if shutil.which("arm-none-eabi-gcc") is None or shutil.which("qemu-arm") is None:
        pytest.skip("arm-none-eabi-gcc or qemu-arm is not installed")
    chosen = {name: targets.TARGETS[name] for name in ("cortex-m0plus", "cortex-m7")}
    monkeypatch.setattr(targets, "TARGETS", chosen)
    verdict = examination.verdict(spoilt(tmp_path, C, START, START))
    assert verdict.holds
    for _, processor, code, bound, painted, instructions in verdict.rows:
        assert 0 < painted <= bound and code > 0
        assert (instructions > 1000) == (processor == "cortex-m0plus")


def test_the_page_names_what_is_not_installed_and_is_the_same_every_time(
    tmp_path, few, monkeypatch
):
    rows = [e for e in EXAMINATIONS if e.name in (*QUICK, "cppcheck")]
    monkeypatch.setattr(gathering, "EXAMINATIONS", rows)
    found = shutil.which
    absent = lambda tool: None if tool == "cppcheck" else found(tool)  # noqa: E731
    monkeypatch.setattr(examinations.shutil, "which", absent)
    _, folder = generated("pendulum", quantities=("gravity",))
    pages = []
    for out in (tmp_path / "one", tmp_path / "two"):
        done = invoke("evidence", folder, "-o", out)
        assert done.exit_code == 0
        assert "not run: cppcheck not installed" in done.stdout
        pages.append((out / "index.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1] and str(tmp_path) not in pages[0]
    data = json.loads((tmp_path / "one" / "evidence.json").read_text(encoding="utf-8"))
    holds = {e["name"]: e["holds"] for e in data["examinations"]}
    assert holds["Self-test"] is True and holds["cppcheck"] is None
    manifest = json.loads((Path(folder) / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["files"].items() <= data["files"].items()
    assert all(digest in pages[0] for digest in data["files"].values())


def test_a_changed_folder_is_refused(tmp_path):
    _, folder = generated("pendulum", quantities=("gravity",))
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    with (copy / C).open("a", encoding="utf-8") as f:
        f.write("\n")
    done = invoke("evidence", copy, "-o", tmp_path / "out")
    assert done.exit_code == 2 and "changed or missing: pendulum_gravity.c" in done.stderr
    assert not (tmp_path / "out").exists()


def test_files_of_others_are_not_overwritten(tmp_path):
    _, folder = generated("pendulum", quantities=("gravity",))
    page = tmp_path / "index.html"
    page.write_text("mine")
    done = invoke("evidence", folder, "-o", tmp_path)
    assert done.exit_code == 2 and "the folder has other files" in done.stderr
    assert page.read_text() == "mine" and [*tmp_path.iterdir()] == [page]
