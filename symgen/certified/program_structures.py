"""Vectors and clamps of a program, found on its expression graph, whatever algorithm made it.

Two sums are partners where u = c x + s y + ... and v = c y - s x + ..., with cosine and sine of one
angle, so that they are components of one vector, which a joint rotates. A clamp keeps a number
within a limit by signs, as controllers do (`symgen.algorithms.controllers.clamped`): where a sign
is uncertain, intervals would take all of the number for possible."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from symgen.compiler.evaluate import Levels, Rows, levels
from symgen.compiler.passes import cached_analysis
from symgen.compiler.program import Program

MAX_TERMS: Final = 16
"""Terms of a sum in which rotations are searched."""

Row = int
Vector = tuple[Row, ...]
"""The rows of some components, in ascending order."""


def vector_of(*rows: Row) -> Vector:
    """A vector with some components."""
    return tuple(sorted(rows))


class Product(NamedTuple):
    """A product with the sine or cosine of an angle; without a second factor this itself."""

    row: Row
    sine: Row
    factor: Row | None


@dataclass(frozen=True, slots=True)
class PlaneRotation:
    """A rotation in a sum: its products, what they turn, and the other terms of the sum."""

    key: Any
    """The angle, the factors of its cosine and sine, and whether both products have one sign."""
    partner: Any
    """The key of the sum that has the other component of the vector."""
    products: tuple[Product, ...]
    rest: Vector

    @property
    def unrotated(self) -> Vector:
        """The components before the rotation; none of a sine alone, whose vector has length 1."""
        return vector_of(*(p.factor for p in self.products if p.factor is not None))


@dataclass(frozen=True, slots=True)
class Split:
    """A sum as a partial sum and other terms, and the additions that are then between them."""

    part: Row
    rest: Vector
    sums: Vector


class Vectors:
    """The terms, factors and rotations of all nodes of a program, by their rows."""

    def __init__(self, at: Levels) -> None:
        self.first, self.second = (operands.tolist() for operands in at.operands)
        self.ops = [node.op for node in at.nodes]
        self.terms = list[tuple[tuple[Row, int], ...]]()
        self.sums = list[Vector]()
        for row in range(len(self.ops)):
            self._flatten(row)
        self.rotations = [tuple(self._rotations(row)) for row in range(len(self.ops))]
        self._by_key: dict[Any, list[tuple[Row, PlaneRotation]]] = {}
        for row, found in enumerate(self.rotations):
            for rotation in found:
                self._by_key.setdefault(rotation.key, []).append((row, rotation))
        self.partners = cache(self._partners)
        self.splits = cache(self._splits)

    def _flatten(self, row: Row) -> None:
        """Note the terms of a sum with their signs, and the additions that make it."""
        terms, sums = ((row, 1),), Vector()
        if self.ops[row] in ("add", "sub"):
            a, b = self.first[row], self.second[row]
            sign = 1 if self.ops[row] == "add" else -1
            if len(self.terms[a]) + len(self.terms[b]) <= MAX_TERMS:
                terms = (*self.terms[a], *((k, sign * s) for k, s in self.terms[b]))
                sums = (*self.sums[a], *self.sums[b], row)
        self.terms.append(terms)
        self.sums.append(sums)

    def factors(self, row: Row) -> dict[Row, Row]:
        """The factors of a product, each with the other one."""
        a, b = self.first[row], self.second[row]
        return {a: b, b: a} if self.ops[row] == "mul" else {}

    def _rotations(self, row: Row) -> Iterator[PlaneRotation]:
        """The rotations in the terms of a node."""
        by_angle: dict[Row, dict[str, list[tuple[Product | None, int]]]] = {}
        for term, sign in self.terms[row]:
            for sine, factor in {term: None, **self.factors(term)}.items():
                if self.ops[sine] in ("sin", "cos"):
                    kinds = by_angle.setdefault(self.first[sine], {"cos": [], "sin": []})
                    kinds[self.ops[sine]].append((Product(term, sine, factor), sign))
        for angle, kinds in by_angle.items():
            absent: list[tuple[Product | None, int]] = [(None, 0)]
            for (c, cosine_sign), (s, sine_sign) in itertools.product(
                *(kinds[k] or absent for k in kinds)
            ):
                products = tuple(p for p in (c, s) if p is not None)
                x, y = ("none" if p is None else p.factor for p in (c, s))
                used = {p.row for p in products}
                if len(used) == len(products) and (len(used) == 1 or None not in (x, y)):
                    rest = tuple(term for term, _ in self.terms[row] if term not in used)
                    sign = cosine_sign * sine_sign
                    yield PlaneRotation((angle, x, y, sign), (angle, y, x, -sign), products, rest)

    def _partners(self, row: Row) -> list[tuple[PlaneRotation, Row, PlaneRotation]]:
        """The nodes that have the other component of a rotated vector, with both rotations."""
        return [
            (rotation, other, other_rotation)
            for rotation in self.rotations[row]
            for other, other_rotation in self._by_key.get(rotation.partner, ())
            if other != row
        ]

    def are_partners(self, a: Row, b: Row) -> bool:
        """Whether two nodes are components of a rotated vector."""
        return any(other == b for _, other, _ in self.partners(a))

    def _splits(self, row: Row) -> list[Split]:
        """A node, and the ways in which a sum is a partial sum and other terms."""
        found = [Split(row, (), ())]
        if len(self.terms[row]) > 1:
            a, b = self.first[row], self.second[row]
            for part, other in ((a, b), (b, a)):
                for split in self.splits(part):
                    found.append(Split(split.part, (*split.rest, other), (*split.sums, row)))
        return found


@cached_analysis
def vectors(program: Program) -> Vectors:
    """The vectors of a program."""
    return Vectors(levels(program))


@dataclass(frozen=True, slots=True)
class Rotations:
    """The sums c x + s y and differences of a program in which c and s are cosine and sine of one
    angle: their rows in ascending order, and those of c, x, s and y."""

    rows: Rows
    parts: tuple[Rows, ...]


@cached_analysis
def rotations(program: Program) -> Rotations:
    """The rotations of a program: of what turns with an angle a sum is never larger than the
    vector, which interval arithmetic does not know."""
    at = levels(program)
    first, second = at.operands
    found = []
    for row, node in enumerate(at.nodes):
        factors = _factors(at, first[row]), _factors(at, second[row])
        if node.op in ("add", "sub"):
            pairs = [
                (row, c, x, s, y)
                for c, x in factors[0]
                for s, y in factors[1]
                if at.nodes[c].op != at.nodes[s].op and at.nodes[c].a == at.nodes[s].a
            ]
            found += pairs[:1]
    columns = np.array(found, np.intp).reshape(-1, 5).T
    return Rotations(columns[0], tuple(columns[1:]))


def _factors(at: Levels, row: int) -> list[tuple[int, int]]:
    """The ways in which a product is a sine or cosine times another factor."""
    if at.nodes[row].op != "mul":
        return []
    a, b = (int(operands[row]) for operands in at.operands)
    return [pair for pair in ((a, b), (b, a)) if at.nodes[pair[0]].op in ("sin", "cos")]


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
    constant, other = ends if op == "add" else reversed(ends)
    return other == inside and _is_number(at, constant, 1.0)


def _is_inside(at: Levels, inside: Row, parts: tuple[Row, Row, Row]) -> bool:
    """Whether a node is 0.5 + 0.5 sign(l - x sign(x))."""
    number, sign, limit = parts
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
