"""The operations of the tape: one row each, read by the program, the counts, the views and the
languages."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: how to evaluate it, what it counts as, and how a sign passes through it."""

    name: str
    arity: int
    evaluate: Callable[..., Any]
    counts_as: str
    """The column of an operation count: ``add``, ``mul``, ``div`` or ``trig``; a sign counts as one
    addition, a tanh as trig."""
    parity: str = ""
    """One-operand functions: ``odd`` f(-x) = -f(x), ``even`` f(-x) = f(x)."""
    partials: Callable[..., tuple[Any, ...]] = field(kw_only=True)
    """The derivative in each operand, from the operands and then the result: what is there already
    is used again."""


def _quotient(a: Any, b: Any, v: Any) -> tuple[Any, Any]:
    """1/b and -a/b², by one reciprocal."""
    r = 1.0 / b
    return r, -(v * r)


def _elementary(name: str) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        from symgen.numbers import scalar

        return getattr(scalar, name)(x)

    return apply


OPS: Final[dict[str, Op]] = {
    op.name: op
    for op in (
        Op("add", 2, lambda a, b: a + b, "add", partials=lambda a, b, v: (1.0, 1.0)),
        Op("sub", 2, lambda a, b: a - b, "add", partials=lambda a, b, v: (1.0, -1.0)),
        Op("mul", 2, lambda a, b: a * b, "mul", partials=lambda a, b, v: (b, a)),
        Op("div", 2, lambda a, b: a / b, "div", partials=_quotient),
        Op(
            "sin",
            1,
            _elementary("sin"),
            "trig",
            parity="odd",
            partials=lambda a, v: (_elementary("cos")(a),),
        ),
        Op(
            "cos",
            1,
            _elementary("cos"),
            "trig",
            parity="even",
            partials=lambda a, v: (-_elementary("sin")(a),),
        ),
        Op(
            "tanh",
            1,
            _elementary("tanh"),
            "trig",
            parity="odd",
            partials=lambda a, v: (1.0 - v * v,),
        ),
        Op("sign", 1, _elementary("sign"), "add", parity="odd", partials=lambda a, v: (0.0,)),
    )
}

COUNTED: Final = ("add", "mul", "div", "trig")
assert all(op.counts_as in COUNTED for op in OPS.values())
