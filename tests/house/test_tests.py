"""The rules of the tests: they mirror the rooms, a file has one subject, nothing is between files."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "tests").rglob("*.py"))
TESTS = [path for path in FILES if path.name.startswith("test_")]
ROOMS = {path.parent.name for path in (ROOT / "symgen").glob("*/__init__.py")}
LONGEST = 400


def lines(path):
    return len(path.read_text(encoding="utf-8").splitlines())


def test_files_have_one_subject():
    long = {str(path.relative_to(ROOT)): n for path in FILES if (n := lines(path)) > LONGEST}
    assert not long, "split them by subject"


def test_folders_are_those_of_the_rooms():
    assert {path.parent.name for path in TESTS} <= ROOMS | {"house"}


def test_what_files_share_is_in_support():
    """A test that is imported from is collected with all that it needs, and cannot be moved."""
    names = {path.stem for path in TESTS}
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: from {node.module}"
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[-1] in names
    ]
    assert not found, "\n".join(found)


def test_tests_that_pages_name_are_there():
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "Makefile"]
    named = {
        (page.name, path)
        for page in pages
        for path in re.findall(r"\btests/[\w/]+\.py\b", page.read_text(encoding="utf-8"))
    }
    quick = re.search(r"^QUICK :?= (.*?)(?<!\\)$", (ROOT / "Makefile").read_text(), re.M | re.S)
    named |= {("Makefile", f"tests/{name}.py") for name in re.findall(r"[\w/]+", quick[1])}
    assert len(named) > 10
    assert not [(page, path) for page, path in named if not (ROOT / path).exists()]
