"""Closed forms: entries of quantities as people would write them."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import sympy

from symgen.compiler.program import Ref
from symgen.errors import OptionError
from symgen.symbolic.expansion import MOST, Ring
from symgen.symbolic.gathering import Number, Writer
from symgen.symbolic.harmonics import groups_of, harmonic, reduced
from symgen.symbolic.paper import Paper
from symgen.symbolic.polynomial import Polynomial, TooLarge


@dataclass
class Closed:
    """Closed forms of values on a tape; `chains` has for the atoms of coordinates which parallel
    axes they belong to."""

    paper: Paper
    number: Number
    chains: Mapping[int, Hashable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._ring = Ring(self.paper)
        self._group = groups_of(self.chains, self._ring)
        self._writer = Writer(self._ring, self.number, self._group)
        self._known: dict[Ref, sympy.Expr] = {}

    def expression(self, ref: Ref | None, what: str) -> sympy.Expr:
        """The shortest of several ways to write a value called `what`. Raises OptionError where it
        has more terms than anyone would read."""
        if ref is None:
            return sympy.Integer(0)
        positive = Ref(ref.node, False)
        if positive not in self._known:
            self._known[positive] = self._shortest(positive, what)
        found = self._known[positive]
        return -found if ref.negative else found

    def _shortest(self, ref: Ref, what: str) -> sympy.Expr:
        try:
            plain = self._ring.polynomial(ref)
        except TooLarge:
            raise OptionError(
                f"{what} has more than {MOST} terms, too many for a closed form; "
                "symbolic.cse gives it with replacements"
            ) from None
        ways = [reduced(self._ring, plain)]
        waves = self._waves(plain)
        if waves is not None:
            ways.append(waves)
        return min(map(self._writer.written, ways), key=lambda x: len(str(x)))

    def _waves(self, a: Polynomial) -> Polynomial | None:
        try:
            return reduced(self._ring, harmonic(self._ring, a, self._multiple))
        except TooLarge:
            return None

    def _multiple(self, k: int) -> Hashable:
        """The group of a generator where it is one of several axes; a joint alone is left as
        powers."""
        group = self._group(k)
        return group if group in self._several else None

    @property
    def _several(self) -> set[Hashable]:
        groups = list(self.chains.values())
        return {group for group in groups if groups.count(group) > 1}
