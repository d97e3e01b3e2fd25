"""Closed forms: short expressions for the entries of quantities."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Final

import sympy

from symgen.compiler.program import Output, Ref
from symgen.errors import OptionError
from symgen.symbolic.factoring import PolynomialWriter
from symgen.symbolic.polynomials import MAX_TERMS, Polynomial, Ring, TooLarge
from symgen.symbolic.symbolic_tape import Number, SymbolicTape, operations, replacements
from symgen.symbolic.trigonometry import groups_of, harmonic, reduced

MAX_NESTED_OPERATIONS: Final = 4000
"""Operations of an expression that is given as its algorithm computes it."""


@dataclass
class ClosedForms:
    """Closed forms of values of an expression graph. `chains` maps the atom of each coordinate to
    the chain of parallel axes that it belongs to."""

    tape: SymbolicTape
    number: Number
    chains: Mapping[int, Hashable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._ring = Ring(self.tape)
        self._group = groups_of(self.chains, self._ring)
        self._writer = PolynomialWriter(self._ring, self.number, self._group)
        self._known: dict[Ref, sympy.Expr] = {}

    def expression(self, ref: Ref | None, name: str) -> sympy.Expr:
        """The shortest of several expressions for the value called `name`. Raises OptionError if it
        has more than `MAX_TERMS` terms."""
        if ref is None:
            return sympy.Integer(0)
        positive = Ref(ref.node, False)
        if positive not in self._known:
            self._known[positive] = self._shortest(positive, name)
        shortest = self._known[positive]
        return -shortest if ref.negative else shortest

    def _shortest(self, ref: Ref, name: str) -> sympy.Expr:
        ways = self._ways(ref)
        if ways:
            return min(map(self._writer.written, ways), key=lambda x: len(str(x)))
        if operations(self.tape, ref) <= MAX_NESTED_OPERATIONS:
            return self._nested(ref)
        raise OptionError(
            f"{name} has more than {MAX_TERMS} terms, too many for a closed form; use numbers "
            "instead of symbols, lock joints with --lock, or use "
            "symgen.Robot(FILE).symbolic.cse(QUANTITY) in Python, which returns "
            "replacements"
        )

    def _ways(self, ref: Ref) -> list[Polynomial]:
        """The polynomials that equal the value; empty if all are too large."""
        try:
            plain = self._ring.polynomial(ref)
        except TooLarge:
            return []
        forms = (reduced(self._ring, plain), self._waves(plain))
        return [form for form in forms if form is not None and len(form) <= MAX_TERMS]

    def _nested(self, ref: Ref) -> sympy.Expr:
        """The value in the form that the algorithm computes, without expansion of products."""
        out = Output("", (1,), (ref,))
        _, expressions = replacements(self.tape, [out], self.number, None, lambda _, x: x[0])
        return expressions[0]

    def _waves(self, a: Polynomial) -> Polynomial | None:
        try:
            return reduced(self._ring, harmonic(self._ring, a, self._multiple))
        except TooLarge:
            return None

    def _multiple(self, k: int) -> Hashable:
        """The group of a generator if the group has several axes, else None, so that powers of the
        functions of a single joint are kept."""
        group = self._group(k)
        return group if sum(other == group for other in self.chains.values()) > 1 else None
