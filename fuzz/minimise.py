"""Makes a failing case small: leaves out elements, attributes, lines, keys and arguments as long as
the same kind of trouble remains (after Zeller's delta debugging)."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from lxml import etree

from fuzz import nodes
from fuzz.case import Case
from fuzz.nodes import Node

TRIES: Final = 400


def minimised(
    case: Case, fails: Callable[[Case], bool], tries: int = TRIES, seconds: float = 60.0
) -> Case:
    """A case of which nothing single can be left out, or the smallest within the tries."""
    end = time.monotonic() + seconds
    left, progress = tries, True
    while progress:
        progress = False
        for smaller in candidates(case):
            left -= 1
            if left < 0 or time.monotonic() > end:
                return case
            if fails(smaller):
                case, progress = smaller, True
                break
    return case


def candidates(case: Case) -> Iterator[Case]:
    """Cases with something left out, large pieces first."""
    if case.environment:
        yield replace(case, environment={})
    for name in case.files:
        yield replace(case, files={k: v for k, v in case.files.items() if k != name})
    words = case.arguments
    for width in (2, 1):
        for k in range(len(words) - 1, 0, -1):
            if k + width <= len(words):
                yield replace(case, arguments=words[:k] + words[k + width :])
    for name, data in case.files.items():
        for smaller in _smaller(data):
            yield replace(case, files={**case.files, name: smaller})


def _smaller(data: bytes) -> Iterator[bytes]:
    try:
        root = nodes.read(data)
    except (etree.XMLSyntaxError, ValueError):
        yield from _fewer_lines(data)
    else:
        yield from (nodes.written(tree) for tree in _fewer_elements(root))


def _fewer_elements(root: Node) -> Iterator[Node]:
    """Trees without a run of children (halves first), then without an attribute or text."""
    for number, node in enumerate(root.walk()):
        width = len(node.children)
        while width:
            for start in range(0, len(node.children), width):
                made = root.copy()
                del _numbered(made, number).children[start : start + width]
                yield made
            width //= 2
    for number, node in enumerate(root.walk()):
        for key in range(len(node.attributes)):
            made = root.copy()
            del _numbered(made, number).attributes[key]
            yield made


def _numbered(root: Node, number: int) -> Node:
    return next(node for k, node in enumerate(root.walk()) if k == number)


def _fewer_lines(data: bytes) -> Iterator[bytes]:
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        lines = (
            [data[k : k + 1] for k in range(min(len(data), 200))]
            if len(data) <= 200
            else [
                data[: len(data) // 2],
                data[len(data) // 2 :],
            ]
        )
    width = len(lines) // 2
    while width:
        for start in range(0, len(lines), width):
            yield b"".join(lines[:start] + lines[start + width :])
        width //= 2
