"""Programs outside the package, which the tests do not all run, import names that exist."""

import ast
from functools import cache

import pytest

from tests.support.tools import ROOT

FOLDERS = ("benchmarks", "firmware", "fuzz")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


@cache
def names_of(module: str) -> frozenset[str] | None:
    """What a module of the repository defines or imports at its top level; its files, for a
    package. None for a module that does not exist."""
    path = ROOT.joinpath(*module.split("."))
    file = path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
    if not file.is_file():
        return frozenset(child.stem for child in path.glob("*.py")) if path.is_dir() else None
    found = {child.stem for child in path.iterdir()} if path.is_dir() else set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom | ast.Import):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return frozenset(found)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imported_names_exist(file):
    missing = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        and str(node.module).partition(".")[0] in ("symgen", *FOLDERS)
        for alias in node.names
        if alias.name not in (names_of(str(node.module)) or ())
    ]
    assert not missing


def test_missing_names_are_found():
    assert names_of("symgen.no_such_module") is None
    assert "SymgenError" in names_of("symgen.errors") and "Nothing" not in names_of("symgen.errors")
