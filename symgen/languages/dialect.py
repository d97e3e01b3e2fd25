"""A target language as the writer sees it: an operation table and a few ways to say things."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from symgen.numbers.operations import OPS, Op

Token = str | int
"""A piece of code, or the number of a tape node whose variable stands there."""


class Text(NamedTuple):
    """An expression in the target language and how tightly it binds."""

    tokens: tuple[Token, ...]
    binding: int
    length: int
    """About how long the code is, before variables have names."""

    @property
    def reads(self) -> frozenset[int]:
        """The nodes whose variables occur."""
        return frozenset([t for t in self.tokens if type(t) is int])


SINE_ARRAY, COSINE_ARRAY = "angle_sine", "cosine"

SUM, PRODUCT, NEGATION, ATOM = range(4)
"""Bindings, loosest first."""

VARIABLE: Final = 5
"""About how long the name of a variable is."""


def atom(token: Token) -> Text:
    """A name, a literal or a variable."""
    return Text((token,), ATOM, len(token) if isinstance(token, str) else VARIABLE)


def _inside(text: Text, at_least: int) -> Text:
    """The expression, in parentheses if it binds less than it must."""
    if text.binding >= at_least:
        return text
    return Text(("(", *text.tokens, ")"), ATOM, text.length + 2)


def _infix(sign: str, binding: int, right: int) -> Callable[[Text, Text], Text]:
    """An operation between its operands, with parentheses where they must be."""
    between, length = (sign,), len(sign)

    def written(a: Text, b: Text) -> Text:
        if a.binding < binding:
            a = _inside(a, binding)
        if b.binding < right:
            b = _inside(b, right)
        tokens = a.tokens + between + b.tokens
        whole = tokens, binding, a.length + length + b.length
        return tuple.__new__(Text, whole)  # Text(*whole) without its Python: most texts are these

    return written


plus = _infix(" + ", SUM, PRODUCT)
minus = _infix(" - ", SUM, PRODUCT)
times = _infix(" * ", PRODUCT, NEGATION)
over = _infix(" / ", PRODUCT, NEGATION)


def negated(a: Text) -> Text:
    """``-a``, with parentheses where they must be."""
    a = _inside(a, ATOM)
    return Text(("-", *a.tokens), NEGATION, 1 + a.length)


def call(function: str) -> Callable[[Text], Text]:
    """A one-argument function of the language."""
    return pattern(f"{function}({{a}})")


def pattern(text: str) -> Callable[[Text], Text]:
    """A function that is written by a text with its operand, which binds loosely, at each ``{a}``;
    the whole binds as a call does."""
    first, *others = text.split("{a}")
    fixed = len(first) + sum(map(len, others))

    def written(a: Text) -> Text:
        tokens = (first, *(t for part in others for t in (*a.tokens, part)))
        return Text(tokens, ATOM, fixed + len(others) * a.length)

    return written


ARITHMETIC: Final[Mapping[str, Callable[..., Text]]] = {
    "add": plus,
    "sub": minus,
    "mul": times,
    "div": over,
    "neg": negated,
}
"""The operations with a symbol, which most languages write alike."""


def functions(written: Callable[[Op], Callable[[Text], Text]]) -> dict[str, Callable[..., Text]]:
    """The table of a language that writes each function of `OPS` as `written`."""
    return {**ARITHMETIC, **{op.name: written(op) for op in OPS.values() if not op.symbol}}


@dataclass(frozen=True, slots=True)
class Dialect:
    """A language: `operations` has a row for each operation of the tape."""

    operations: Mapping[str, Callable[..., Text]]
    literal: Callable[[float], str]
    """Shortest text that reads back as the same number."""
    declare: str
    """Format of the left side of a definition, with ``{name}``."""
    input: Callable[[str, int], str] = lambda array, k: f"{array}[{k}]"
    """Entry of an input array, from 0."""
    entry: Callable[[str, tuple[int, ...], int], str] = lambda array, shape, k: f"{array}[{k}]"
    """Entry of an output array of some shape, numbered row-major."""
    pair: str = ""
    """Format of a call that gives a sine and the cosine of the same ``{angle}``, empty where there
    is none."""
    reserve: str = ""
    """Format of a definition of ``{name}`` without a value, for `pair`; empty if `pair` defines its
    variables."""
    loop: Callable[[Sequence[str], str], list[str]] | None = None
    """Lines that put the sines and cosines of angles into the arrays `SINE_ARRAY` and
    `COSINE_ARRAY`, each followed by the number of the loop."""
    alone: Callable[[Text], Text] = lambda number: number
    """How a number is written that an output entry is, and nothing else."""
    width: int = 80
    """Longest expression that may still grow by writing a value in place."""

    def __post_init__(self) -> None:
        """Raises ValueError for a language that cannot write every program."""
        missing = sorted(OPS.keys() - self.operations.keys())
        if missing:
            raise ValueError(f"a dialect needs operations: {', '.join(missing)} have none")
        fields = {"declare": ("name",), "reserve": ("name",), "pair": ("angle", "sine", "cosine")}
        for field, names in fields.items():
            text = getattr(self, field)
            absent = [name for name in names if f"{{{name}}}" not in text]
            if absent and (text or field == "declare"):
                raise ValueError(f"a dialect needs {{{absent[0]}}} in {field}: {text!r}")
        if not self.pair and (self.reserve or self.loop):
            raise ValueError(
                "a dialect with reserve or loop needs pair, which makes sines in pairs"
            )
