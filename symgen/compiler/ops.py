"""The operations of the tape: one row each, read by the program, the counts, the views and the languages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Op:
    """One operation: how to evaluate it, what it counts as, and how a sign passes through it."""

    name: str
    arity: int
    evaluate: Callable[..., Any]
    counts_as: str
    """The column of an operation count: ``add``, ``mul``, ``div`` or ``trig``."""
    commutative: bool = False
    parity: str = ""
    """One-operand functions: ``odd`` f(-x) = -f(x), ``even`` f(-x) = f(x)."""


def _elementary(name: str) -> Callable[[Any], Any]:
    def apply(x: Any) -> Any:
        from symgen import scalar

        return getattr(scalar, name)(x)

    return apply


OPS: Final[dict[str, Op]] = {
    op.name: op
    for op in (
        Op("add", 2, lambda a, b: a + b, "add", commutative=True),
        Op("sub", 2, lambda a, b: a - b, "add"),
        Op("mul", 2, lambda a, b: a * b, "mul", commutative=True),
        Op("div", 2, lambda a, b: a / b, "div"),
        Op("sin", 1, _elementary("sin"), "trig", parity="odd"),
        Op("cos", 1, _elementary("cos"), "trig", parity="even"),
    )
}

COUNTED: Final = ("add", "mul", "div", "trig")
assert all(op.counts_as in COUNTED for op in OPS.values())
