"""The files of symgen and their syntax trees, for the tests of the house."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "symgen"
FILES = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*.py"))}


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(FILES[name].read_text(encoding="utf-8"))


@cache
def nodes(name: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(name)))


ORDER = (
    "errors",
    "text",
    "options",
    "render",
    "output",
    "numbers",
    "mechanics",
    "reading",
    "compiler",
    "algorithms",
    "tracing",
    "proof",
    "certified",
    "native",
    "languages",
    "jobs",
    "evidence",
    "symbolic",
    "inspection",
    "identification",
    "robot",
    "cli",
)
"""Rooms and top-level modules, lowest first: each may know those before it, as far as STRANGERS lets it."""
