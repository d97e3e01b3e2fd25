"""What a target language is to the writer: an operation table and a few ways to say things."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Text(NamedTuple):
    """An expression in the target language and how tightly it binds (see `Dialect.operations`)."""

    code: str
    binding: int


SUM, PRODUCT, NEGATION, ATOM = range(4)
"""Bindings, loosest first."""


def parenthesised(text: Text, at_least: int) -> str:
    return text.code if text.binding >= at_least else f"({text.code})"


def plus(a: Text, b: Text) -> Text:
    return Text(f"{parenthesised(a, SUM)} + {parenthesised(b, PRODUCT)}", SUM)


def minus(a: Text, b: Text) -> Text:
    return Text(f"{parenthesised(a, SUM)} - {parenthesised(b, PRODUCT)}", SUM)


def times(a: Text, b: Text) -> Text:
    return Text(f"{parenthesised(a, PRODUCT)} * {parenthesised(b, NEGATION)}", PRODUCT)


def over(a: Text, b: Text) -> Text:
    return Text(f"{parenthesised(a, PRODUCT)} / {parenthesised(b, NEGATION)}", PRODUCT)


def negated(a: Text) -> Text:
    return Text(f"-{parenthesised(a, ATOM)}", NEGATION)


def call(function: str) -> Callable[[Text], Text]:
    """A one-argument function of the language."""
    return lambda a: Text(f"{function}({a.code})", ATOM)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A language: `operations` has a row for each operation of the tape."""

    operations: Mapping[str, Callable[..., Text]]
    literal: Callable[[float], str]
    """Shortest text that reads back as the same number."""
    input: Callable[[str, int], str]
    """Entry of an input array, from 0."""
    declare: str
    """Format of a definition with ``{name}`` and ``{code}``."""
    entry: Callable[[str, tuple[int, ...], int], str]
    """Entry of an output array of some shape, numbered row-major."""
    width: int = 80
    """Longest expression that may still grow by writing a value in place."""
