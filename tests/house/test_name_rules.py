"""One name, one thing; and a name is had from the file that defines it."""

import ast
from collections import defaultdict
from collections.abc import Iterable

from tests.support.house_files import FILES, nodes, tree


def defined(body: Iterable[ast.stmt]) -> set[str]:
    """What statements define, import aside."""
    names: set[str] = set()
    for node in body:
        match node:
            case ast.ClassDef(name) | ast.FunctionDef(name):
                names.add(name)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                names |= {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}
            case ast.If() | ast.Try():
                names |= defined(node.body) | defined(node.orelse)
    return names


def file_of(module: str) -> str | None:
    """The file of a module of symgen; None of a room, whose `__init__` offers what it has."""
    package, _, rest = module.partition(".")
    path = rest.replace(".", "/") + ".py"
    return path if package == "symgen" and path in FILES else None


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for file in FILES:
        for node in tree(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(file)
    assert len(places) > 300
    assert not {name: files for name, files in places.items() if len(files) > 1}


def test_names_are_had_from_where_they_are_defined() -> None:
    own = {file: defined(tree(file).body) for file in FILES}
    passed_on = [
        (file, f"{node.module}.{alias.name}")
        for file in FILES
        for node in nodes(file)
        if isinstance(node, ast.ImportFrom) and (origin := file_of(node.module or ""))
        for alias in node.names
        if alias.name not in own[origin]
    ]
    assert not passed_on
