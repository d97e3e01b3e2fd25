"""Statements as blocks of lines of code, once variables have names."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from symgen.compiler.value import Index
from symgen.languages.dialect import COSINES, SINES, Dialect, Text
from symgen.languages.sine_loops import SineLoop
from symgen.languages.writer import Statement, Step


class CodeLine(NamedTuple):
    """A statement as code: ``left`` (several entries may share a value) becomes ``right``; without
    ``left``, that is a line as it stands."""

    left: tuple[str, ...]
    right: str


@dataclass(slots=True)
class Block:
    """The lines of one step of the algorithm."""

    title: str
    lines: list[CodeLine] = field(default_factory=list)


def blocks(
    steps: list[Step],
    where: Mapping[Index, str],
    dialect: Dialect,
    declared: Mapping[Index, str] | None = None,
) -> list[Block]:
    """Statements as code with each variable's text from `where`; those in `declared` are defined by
    that text."""
    result: list[Block] = []
    declared, loops = declared or {}, 0
    for s in steps:
        if not result or result[-1].title != s.section:
            result.append(Block(s.section))
        if isinstance(s, Statement):
            left = s.left or (_definition(s.node, where, dialect, declared),)
            result[-1].lines.append(CodeLine(left, _code(s.right, where)))
        elif len(s.angles) == 1:
            result[-1].lines += _both(s, where, dialect, declared)
        else:
            result[-1].lines += _loop(s, loops, where, dialect, declared)
            loops += 1
    return result


def _code(text: Text, where: Mapping[Index, str]) -> str:
    return "".join([t if isinstance(t, str) else where[t] for t in text.tokens])


def _both(
    s: SineLoop, where: Mapping[Index, str], dialect: Dialect, declared: Mapping[Index, str]
) -> Iterator[CodeLine]:
    for node in s.makes:
        if dialect.reserve and node not in declared:
            yield CodeLine((), dialect.reserve.format(name=where[node]))
    sine, cosine = (where[node] for node in s.makes)
    yield CodeLine(
        (), dialect.pair.format(angle=_code(s.angles[0], where), sine=sine, cosine=cosine)
    )


def _loop(
    s: SineLoop,
    loops: int,
    where: Mapping[Index, str],
    dialect: Dialect,
    declared: Mapping[Index, str],
) -> Iterator[CodeLine]:
    """The loop, with arrays of its own, and the variables that it makes."""
    assert dialect.loop is not None
    number = f"{loops + 1}" if loops else ""
    yield from (
        CodeLine((), line)
        for line in dialect.loop([_code(angle, where) for angle in s.angles], number)
    )
    for k, pair in enumerate(s.pairs):
        for node, array in zip(pair, (SINES, COSINES), strict=True):
            if node is not None:
                yield CodeLine(
                    (_definition(node, where, dialect, declared),), f"{array}{number}[{k}]"
                )


def _definition(
    node: Index | None, where: Mapping[Index, str], dialect: Dialect, declared: Mapping[Index, str]
) -> str:
    assert node is not None  # a statement without entries to store defines a variable
    return declared.get(node) or dialect.declare.format(name=where[node])
