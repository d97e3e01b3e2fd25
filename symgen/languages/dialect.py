"""The syntax of a target language: a table of operations, and formats of statements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from symgen.numbers.operations import OPS, Op

Token = str | int
"""A piece of code, or the number of a tape node whose variable stands there."""


class Expression(NamedTuple):
    """An expression in the target language and its precedence."""

    tokens: tuple[Token, ...]
    precedence: int
    length: int
    """Approximate length of the code; variables do not have names yet."""

    @property
    def reads(self) -> frozenset[int]:
        """The nodes whose variables occur."""
        return frozenset([t for t in self.tokens if type(t) is int])


SINE_ARRAY, COSINE_ARRAY = "angle_sine", "cosine"

SUM, PRODUCT, NEGATION, ATOM = range(4)
"""Precedences, lowest first."""

VARIABLE_LENGTH: Final = 5
"""Approximate length of a variable's name."""


def atom(token: Token) -> Expression:
    """A name, a literal or a variable."""
    return Expression((token,), ATOM, len(token) if isinstance(token, str) else VARIABLE_LENGTH)


def _parenthesized(text: Expression, at_least: int) -> Expression:
    """The expression, in parentheses if its precedence is too low."""
    if text.precedence >= at_least:
        return text
    return Expression(("(", *text.tokens, ")"), ATOM, text.length + 2)


def _infix(sign: str, binding: int, right: int) -> Callable[[Expression, Expression], Expression]:
    """A binary operation, with parentheses where they are needed."""
    between, length = (sign,), len(sign)

    def written(a: Expression, b: Expression) -> Expression:
        if a.precedence < binding:
            a = _parenthesized(a, binding)
        if b.precedence < right:
            b = _parenthesized(b, right)
        tokens = a.tokens + between + b.tokens
        whole = tokens, binding, a.length + length + b.length
        return tuple.__new__(Expression, whole)  # Expression(*whole), faster

    return written


def negated(a: Expression) -> Expression:
    """``-a``, with parentheses where they are needed."""
    a = _parenthesized(a, ATOM)
    return Expression(("-", *a.tokens), NEGATION, 1 + a.length)


def text_pattern(text: str) -> Callable[[Expression], Expression]:
    """A function that is written as a text with its operand at each ``{a}``, without parentheses
    around it; the result has the precedence of a call."""
    first, *others = text.split("{a}")
    fixed = len(first) + sum(map(len, others))

    def written(a: Expression) -> Expression:
        tokens = (first, *(t for part in others for t in (*a.tokens, part)))
        return Expression(tokens, ATOM, fixed + len(others) * a.length)

    return written


ARITHMETIC: Final[Mapping[str, Callable[..., Expression]]] = {
    "add": _infix(" + ", SUM, PRODUCT),
    "sub": _infix(" - ", SUM, PRODUCT),
    "mul": _infix(" * ", PRODUCT, NEGATION),
    "div": _infix(" / ", PRODUCT, NEGATION),
    "neg": negated,
}
"""The operations with a symbol, which most languages share."""


def operation_table(pattern: Callable[[Op], str]) -> dict[str, Callable[..., Expression]]:
    """The operations of a language, by name; `pattern` gives the text of each function of `OPS`
    with its operand as ``{a}``, such as ``Math.sin({a})``."""
    called = (op for op in OPS.values() if not op.symbol)
    return {**ARITHMETIC, **{op.name: text_pattern(pattern(op)) for op in called}}


@dataclass(frozen=True, slots=True)
class Dialect:
    """A language: `operations` has a row for each operation of the tape."""

    operations: Mapping[str, Callable[..., Expression]]
    literal: Callable[[float], str]
    """Shortest text that reads back as the same number."""
    declare: str
    """Format of the left side of a definition, with ``{name}``."""
    input: Callable[[str, int], str] = lambda array, k: f"{array}[{k}]"
    """Entry of an input array, from 0."""
    entry: Callable[[str, tuple[int, ...], int], str] = lambda array, shape, k: f"{array}[{k}]"
    """Entry of an output array of some shape, numbered row-major."""
    sincos_call: str = ""
    """Format of a call that gives a sine and the cosine of the same ``{angle}``, empty where there
    is none."""
    declare_uninitialized: str = ""
    """Format of a definition of ``{name}`` without a value, for `sincos_call`; empty if
    `sincos_call` defines its variables."""
    sincos_loop: Callable[[Sequence[str], str], list[str]] | None = None
    """Lines that put the sines and cosines of angles into the arrays `SINE_ARRAY` and
    `COSINE_ARRAY`, each followed by the number of the loop."""
    constant_entry: Callable[[Expression], Expression] = lambda number: number
    """How a constant is written if it is an entry of an output."""
    case_sensitive: bool = True
    """Whether names that differ only in capitals are different names."""
    width: int = 80
    """Maximum length of an expression into which values are written in place."""

    def __post_init__(self) -> None:
        """Raises ValueError for a language that cannot write every program."""
        missing = sorted(OPS.keys() - self.operations.keys())
        if missing:
            raise ValueError(f"a dialect needs operations: {', '.join(missing)} have none")
        fields = {
            "declare": ("name",),
            "declare_uninitialized": ("name",),
            "sincos_call": ("angle", "sine", "cosine"),
        }
        for field, names in fields.items():
            text = getattr(self, field)
            absent = [name for name in names if f"{{{name}}}" not in text]
            if absent and (text or field == "declare"):
                raise ValueError(f"a dialect needs {{{absent[0]}}} in {field}: {text!r}")
        if not self.sincos_call and (self.declare_uninitialized or self.sincos_loop):
            raise ValueError(
                "a dialect with declare_uninitialized or sincos_loop needs sincos_call, which "
                "makes sines in pairs"
            )
