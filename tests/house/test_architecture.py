"""The house rules: which room may know which, and how large things may grow."""

import ast
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from functools import cache
from importlib import import_module

from symgen.algorithms import LINK_QUANTITIES, QUANTITIES
from symgen.algorithms.titles import ALGORITHMS
from tests.support.house_files import FILES, ORDER, nodes, tree

MAX_FILE_LINES = 400
MAX_UNDOCUMENTED_METHOD_LINES = 6

STRANGERS = {
    "mechanics": {"compiler"},
    "reading": {"compiler"},
    "compiler": {"mechanics", "reading"},
    "algorithms": {"compiler", "reading"},
}
"""Rooms before it that a room must not know all the same: mechanics and compiler meet in tracing."""


def imported(name: str) -> set[str]:
    """The parts of symgen that a file imports, anywhere in it: rooms and top-level modules."""
    found = set()
    for node in nodes(name):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}:{node.lineno}: imports are absolute"
            module = node.module or ""
            names = (
                [f"symgen.{alias.name}" for alias in node.names] if module == "symgen" else [module]
            )
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {part.split(".")[1] for part in names if part.startswith("symgen.")}
    return found


def told(faults: Iterable[str]) -> str:
    """All that break a rule, a line each."""
    return "\n".join(faults)


def length(function: ast.FunctionDef) -> int:
    """Lines of the body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


# -- rooms -----------------------------------------------------------------------------------------


def room(name: str) -> str:
    return name.split("/")[0] if "/" in name else ""


def allowed(name: str) -> set[str]:
    """What a file may import: its own room, what stands before it, less its strangers."""
    own = room(name) or name.removesuffix(".py")
    before = set(ORDER[: ORDER.index(own)]) if own in ORDER else set(ORDER)
    return (before | {own, "__version__"}) - STRANGERS.get(own, set())


def test_a_room_knows_only_what_stands_before_it():
    strangers = {name: sorted(imported(name) - allowed(name)) for name in FILES}
    assert not told(
        f"{name} must not import symgen.{', symgen.'.join(s)}" for name, s in strangers.items() if s
    )


def test_every_file_can_be_loaded():
    for name in FILES:
        *rooms, file = name.removesuffix(".py").split("/")
        if file != "__main__":
            import_module(".".join(["symgen", *rooms, *([] if file == "__init__" else [file])]))


def test_a_room_says_what_it_knows_and_offers():
    for name in sorted({room(name) for name in FILES} - {""}):
        said = ast.get_docstring(tree(f"{name}/__init__.py"))
        assert "Knows " in said and "ffers " in said, name


def test_the_top_has_few_modules():
    assert len([name for name in FILES if not room(name)]) <= 6


def test_every_room_has_its_place():
    assert {room(name) for name in FILES} - {""} <= set(ORDER)


def test_files_of_algorithms_register_themselves():
    start = "symgen.algorithms."
    loaded = {f"algorithms/{x.removeprefix(start)}.py" for x in sys.modules if x.startswith(start)}
    files = {name for name in FILES if room(name) == "algorithms"} - {"algorithms/__init__.py"}
    assert files <= loaded
    assert {q.group for q in (*QUANTITIES.values(), *LINK_QUANTITIES.values())} <= {*ALGORITHMS}


SUBPACKAGES = (
    "data",
    "model",
    "diagnostics",
    "prediction",
    "consistency",
    "estimation",
    "gains",
    "excitation",
    "report",
)
"""Of identification, lowest first: each imports only those before it, within functions too."""


def identification_imports():
    """The modules of identification, and those of it that each imports anywhere."""
    own = {name for name in FILES if name.startswith("identification/")}
    for name in sorted(own):
        modules = set()
        for node in nodes(name):
            if isinstance(node, ast.ImportFrom) and node.module:
                path = node.module.removeprefix("symgen.").replace(".", "/")
                modules |= {path, *(f"{path}/{alias.name}" for alias in node.names)}
        yield name, {f"{module}.py" for module in modules} & own


def test_subpackages_of_identification_know_only_those_before_them():
    for name, imports in identification_imports():
        part = name.split("/")[1]
        before = SUBPACKAGES[: SUBPACKAGES.index(part) + 1] if part in SUBPACKAGES else SUBPACKAGES
        later = sorted(x for x in imports if x.count("/") > 1 and x.split("/")[1] not in before)
        assert not later, f"{name} must not import {later}"


def test_identification_has_no_import_cycle():
    left = dict(identification_imports())
    while free := [name for name, imports in left.items() if not imports & left.keys()]:
        for name in free:
            del left[name]
    assert not left, f"modules that import each other: {sorted(left)}"


# -- sizes -----------------------------------------------------------------------------------------


def test_files_are_short():
    lines = {
        name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in FILES.items()
    }
    long = {name for name, n in lines.items() if n > MAX_FILE_LINES}
    assert not told(f"{name} has {lines[name]} lines; split it" for name in long)


# -- documents -------------------------------------------------------------------------------------


def undocumented(node: ast.AST, where: str) -> list[str]:
    """Public functions and classes without a docstring: of a module, and what is in its public
    classes.

    Methods of a few lines (properties, steps of a protocol that is documented as such) may speak
    for themselves."""
    found = []
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.ClassDef | ast.FunctionDef) or child.name.startswith("_"):
            continue
        path = f"{where}.{child.name}"
        method = isinstance(node, ast.ClassDef) and isinstance(child, ast.FunctionDef)
        speaks = method and length(child) <= MAX_UNDOCUMENTED_METHOD_LINES
        if not speaks and not ast.get_docstring(child):
            found.append(path)
        if isinstance(child, ast.ClassDef):
            found += undocumented(child, path)
    return found


def test_public_things_are_documented():
    missing = told(path for name in FILES for path in undocumented(tree(name), name))
    assert not missing, f"no docstring:\n{missing}"


def test_modules_are_documented():
    written = (name for name in FILES if tree(name).body)
    assert not told(name for name in written if not ast.get_docstring(tree(name)))


# -- habits ----------------------------------------------------------------------------------------


def negative(index: ast.expr) -> bool:
    """A negative number as an index, or as an end of a slice."""
    if isinstance(index, ast.Slice):
        return any(end is not None and negative(end) for end in (index.lower, index.upper))
    return (
        isinstance(index, ast.UnaryOp)
        and isinstance(index.op, ast.USub)
        and isinstance(index.operand, ast.Constant)
    )


def test_no_body_is_counted_from_the_end():
    places = [
        f"{name}:{node.lineno}"
        for name in FILES
        if name.startswith("algorithms/")
        for node in nodes(name)
        if isinstance(node, ast.Subscript) and negative(node.slice) and not _splits_text(node)
    ]
    assert not places, "base is 0, bodies are 1..n: " + told(places)


def _splits_text(node: ast.Subscript) -> bool:
    """``name.rsplit(".", 1)[-1]`` counts pieces of text, not bodies."""
    call = node.value
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and "split" in call.func.attr
    )


# -- coupling --------------------------------------------------------------------------------------

MAX_FAN_OUT = 15
"""Modules of symgen that a module imports, within functions too."""

CEILINGS = {
    "modules in import cycles": 8,
    "modules with a larger fan-out": 16,
    "file names in several packages": 3,
    "private functions of at most three lines with one caller": 100,
}
"""Numbers of today where a limit is not reached yet. They only go down: lower one with the change
that lowers the number."""

TINY_LINES = 3


@cache
def import_graph() -> dict[str, set[str]]:
    """The modules of symgen by file, each with those that it imports anywhere."""
    graph = {}
    for name in FILES:
        found = set()
        for node in nodes(name):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("symgen"):
                path = (node.module or "").removeprefix("symgen").lstrip(".").replace(".", "/")
                for alias in node.names:
                    inside = f"{path}/{alias.name}".lstrip("/")
                    candidates = (f"{inside}.py", f"{inside}/__init__.py", f"{path}.py")
                    files = (f for f in (*candidates, f"{path}/__init__.py") if f in FILES)
                    found |= {next(files, name)}
        graph[name] = found - {name}
    return graph


def at_most(what: str, found: Collection[str]) -> None:
    assert len(found) <= CEILINGS[what], f"{what}: {len(found)}\n" + told(sorted(found))


def reached(start: str) -> set[str]:
    """The modules that a module imports, and those that these import."""
    graph, found, waiting = import_graph(), set[str](), [start]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_modules_do_not_import_each_other():
    at_most("modules in import cycles", {name for name in FILES if name in reached(name)})


def test_modules_import_few_others():
    large = {f"{name}: {len(x)}" for name, x in import_graph().items() if len(x) > MAX_FAN_OUT}
    at_most("modules with a larger fan-out", large)


def test_file_names_are_those_of_one_package():
    places = defaultdict(list)
    for name in FILES:
        file = name.split("/")[-1]
        if not file.startswith("__"):
            places[file].append(name)
    several = {f"{file}: {', '.join(x)}" for file, x in places.items() if len(x) > 1}
    at_most("file names in several packages", several)


def test_functions_are_more_than_a_name_for_a_line():
    """Private functions without decorators that one place of their module names."""
    tiny = set()
    for name in FILES:
        read = Counter(
            x.id if isinstance(x, ast.Name) else x.attr
            for x in nodes(name)
            if isinstance(x, ast.Name | ast.Attribute)
        )
        tiny |= {
            f"{name}:{x.lineno} {x.name}"
            for x in nodes(name)
            if isinstance(x, ast.FunctionDef)
            and x.name.startswith("_")
            and not x.name.startswith("__")
            and not x.decorator_list
            and length(x) <= TINY_LINES
            and read[x.name] == 1
        }
    at_most("private functions of at most three lines with one caller", tiny)
