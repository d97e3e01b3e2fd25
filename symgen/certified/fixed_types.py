"""Fixed-point types, the scales of numbers, and the operations on integers.

A number is an integer times a power of two, its scale."""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from symgen.certified.enclosures import MARGIN, UnboundedError
from symgen.compiler.evaluate import levels
from symgen.compiler.passes import live_nodes
from symgen.compiler.program import LEAVES, Program

T = TypeVar("T")

MAX_INTEGER: Final = 2**31 - 2**16
"""The largest integer of a value: the halves of a product of 16-bit products then fit, too."""

MAX_SHIFT: Final = 45
"""The finest scale is 2 to the power of minus this."""

MIN_SHIFT: Final = -20

TURN_BITS: Final = 32
"""Angles are integers that wrap at a turn: the unit is a turn divided by 2 to this power."""

MIN_PRODUCT_SHIFT: Final = 17
"""The least shift of a product of q31, which is made of 16-bit products on some processors."""

MAX_PRODUCT_SHIFT: Final = 62
"""The largest shift of a product."""

HALF_ULP: Final = 0.5 * MARGIN
"""The error of rounding, in units of the last place."""


@dataclass(frozen=True, slots=True)
class FixedType:
    """A fixed-point type: the bits of a number, its largest integer, and the scale of sines."""

    name: str
    bits: int
    largest: int
    sine_shift: int
    low: bool = True
    """Whether a product of 64 bits includes that of the lower halves of its factors. Without it, a
    product is made of three 16-bit products instead of four."""

    @classmethod
    def of(cls, scalar: str, target: str | None) -> "FixedType":
        """The type of a module for a target."""
        return replace(FIXED[scalar], low=target not in SHORT_PRODUCTS or scalar != "q31")


SHORT_PRODUCTS: Final = ("cortex-m0plus",)
"""The targets without products of more than 32 bits."""

FIXED: Final = {
    "q31": FixedType("q31", 32, MAX_INTEGER, 30),
    "q15": FixedType("q15", 16, 2**15 - 1, 14),
}
"""The fixed-point types by name."""


def finest_shift(magnitude: float, largest: int) -> int:
    """The largest s with magnitude 2^s <= largest, at most `MAX_SHIFT`. Raises UnboundedError for
    numbers that are too large."""
    if magnitude <= largest * 2.0**-MAX_SHIFT:
        return MAX_SHIFT
    shift = min(math.floor(math.log2(largest) - math.log2(magnitude)) + 1, MAX_SHIFT)
    while math.ldexp(magnitude, shift) > largest:
        shift -= 1
    if shift < MIN_SHIFT:
        raise UnboundedError("a value may be larger than 32 bits can hold")
    return shift


def angle_rows(program: Program, angles: Collection[tuple[str, int]]) -> frozenset[int]:
    """The rows of the angles: inputs among `angles`, constants, and their sums and differences that
    only sines and cosines read. Raises UnboundedError for an angle that anything else reads."""
    ordered = levels(program)
    operands = [
        [k for k in pair if k >= 0] for pair in zip(*ordered.operands.tolist(), strict=True)
    ]
    angles_found = set[int]()
    pending = [operands[k][0] for k, node in enumerate(ordered.nodes) if node.op in TRIGONOMETRIC]
    while pending:
        row = pending.pop()
        if ordered.nodes[row].op not in ("add", "sub", "neg", *LEAVES):
            raise UnboundedError(
                f"an angle is the result of the operation '{ordered.nodes[row].op}'"
            )
        pending += operands[row] if row not in angles_found else []
        angles_found.add(row)
    inputs = {
        row
        for row, node in enumerate(ordered.nodes)
        if node.op == "input" and (*node[1:],) in angles
    }
    others = (
        row
        for row, node in enumerate(ordered.nodes)
        if row not in angles_found and node.op not in TRIGONOMETRIC
    )
    read = {k for row in others for k in operands[row]}
    read |= {int(k) for out in program.outputs for k in ordered.of(out.refs)[1]}
    for row in sorted((angles_found & read) | (angles_found ^ inputs)):
        node = ordered.nodes[row]
        if node.op == "input" or (row in read and node.op != "const"):
            name = f"{node.a}[{node.b}]" if node.op == "input" else "a sum of angles"
            raise UnboundedError(f"{name} is not read as an angle only")
    return frozenset(angles_found)


TRIGONOMETRIC: Final = ("sin", "cos")

SUM_SHIFT: Final = -1
"""The shift of a product, among the shifts of its step."""


Signed = tuple[int, T]
"""Something that is added, with the sign 1 or -1."""


@dataclass(frozen=True, slots=True)
class IntegerStep:
    """A node as an operation on integers.

    A ``sum`` adds products, whose sum is shifted to the right by `sum_shift`, and then terms. The
    operands are the two factors of each product and then the terms, shifted to the right by
    `operand_shifts`. All are rounded to nearest, but for the `floored` of these shifts: the numbers
    of operands, and `SUM_SHIFT`."""

    row: int
    op: str
    operands: tuple[int, ...] = ()
    operand_shifts: tuple[int, ...] = ()
    signs: tuple[int, ...] = ()
    """The signs of the products, then of the terms. Products with the sign 1 are first."""
    sum_shift: int = 0
    floored: frozenset[int] = frozenset()
    number: int = 0
    """The integer of a constant."""

    @property
    def factors(self) -> int:
        """The number of operands that are factors."""
        return 2 * (len(self.operands) - len(self.signs))

    def shifted_operands(self) -> list[tuple[int, int, bool]]:
        """Each operand with its shift and whether it is rounded down."""
        pairs = zip(self.operands, self.operand_shifts, strict=True)
        return [(row, shift, k in self.floored) for k, (row, shift) in enumerate(pairs)]

    def addends(self, values: Sequence[T]) -> tuple[list[Signed[tuple[T, T]]], list[Signed[T]]]:
        """The factors of the products and the terms, from what the operands are."""
        end = self.factors
        pairs = zip(values[:end:2], values[1:end:2], strict=True)
        products = list(zip(self.signs, pairs, strict=False))
        return products, list(zip(self.signs[end // 2 :], values[end:], strict=True))


ANGLE_UNIT: Final = 2.0 * math.pi / 2.0**TURN_BITS
"""Radians of an integer of an angle of 32 bits."""


def angle_integer(number: float, kind: FixedType) -> int:
    """The integer of a constant angle, which has the digits of an angle of the type."""
    turns = number / (2.0 * math.pi)
    return round((turns % 1.0) * 2.0**kind.bits) << (TURN_BITS - kind.bits)


def input_entries(program: Program) -> Iterator[tuple[str, int]]:
    """The entries of inputs that a program reads."""
    for i in live_nodes(program):
        if program.nodes[i].op == "input":
            yield program.nodes[i].a, program.nodes[i].b


def shifted_right(x: Any, shift: int, floored: bool = False) -> Any:
    """Integers divided by a power of two and rounded, down or to nearest with halves up."""
    return x >> shift if floored or not shift else (x + (1 << (shift - 1))) >> shift
