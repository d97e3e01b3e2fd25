"""Clamps of a program: a number that is kept within a limit by signs, as controllers do
(`symgen.algorithms.controllers.clamped`).

Intervals cannot bound it: where a sign is uncertain, all of the number would be."""

from collections.abc import Iterator
from typing import NamedTuple

from symgen.certified.vectors import Row
from symgen.compiler.evaluate import Levels, levels
from symgen.compiler.passes import cached_analysis
from symgen.compiler.program import Program


class Clamp(NamedTuple):
    """A clamp, the number that it keeps and its limit."""

    row: Row
    number: Row
    limit: Row


@cached_analysis
def clamps(program: Program) -> tuple[Clamp, ...]:
    """The clamps of a program in ascending order."""
    at = levels(program)
    return tuple(
        clamp
        for row in range(len(at.nodes))
        if at.nodes[row].op in ("add", "sub")
        for clamp in list(_clamps(at, row))[:1]
    )


def _operands(at: Levels, row: Row, op: str) -> list[tuple[Row, Row]]:
    """The operands of a node with an operation, in both orders; none of another node."""
    a, b = (int(operands[row]) for operands in at.operands)
    return [(a, b), (b, a)] if at.nodes[row].op == op else []


def _clamps(at: Levels, row: Row) -> Iterator[Clamp]:
    """The ways in which a node is i x + (1 - i) (l sign(x)), i = (1 + sign(l - x sign(x))) / 2."""
    op = at.nodes[row].op
    for kept, replaced in _operands(at, row, op)[:1]:
        for inside, number in _operands(at, kept, "mul"):
            for outside, signed in _operands(at, replaced, "mul"):
                for limit, sign in _operands(at, signed, "mul"):
                    if (
                        at.nodes[sign].op == "sign"
                        and at.operands[0][sign] == number
                        and _is_rest(at, outside, inside, op)
                        and _is_inside(at, inside, (number, sign, limit))
                    ):
                        yield Clamp(row, number, limit)


def _is_rest(at: Levels, outside: Row, inside: Row, op: str) -> bool:
    """Whether a node is 1 - i, or i - 1 where that is subtracted."""
    if at.nodes[outside].op != "sub":
        return False
    ends = [int(operands[outside]) for operands in at.operands]
    one, other = ends if op == "add" else reversed(ends)
    return other == inside and _is_number(at, one, 1.0)


def _is_inside(at: Levels, inside: Row, of: tuple[Row, Row, Row]) -> bool:
    """Whether a node is 0.5 + 0.5 sign(l - x sign(x))."""
    number, sign, limit = of
    return any(
        _is_number(at, half, 0.5)
        and _is_number(at, factor, 0.5)
        and at.nodes[sign_of_rest].op == "sign"
        and first == limit
        and (number, sign) in _operands(at, second, "mul")
        for half, product in _operands(at, inside, "add")
        for factor, sign_of_rest in _operands(at, product, "mul")
        for first, second in _operands(at, int(at.operands[0][sign_of_rest]), "sub")[:1]
    )


def _is_number(at: Levels, row: Row, number: float) -> bool:
    node = at.nodes[row]
    return node.op == "const" and node.a == number
