"""Sparse polynomials with decimal coefficients: what a closed form is before it is written.

A monomial is one whole number: each generator has eight bits of it, its exponent, so that a product
of monomials is a sum. Coefficients are decimals of many digits, so that what cancels in the
mathematics leaves nothing above rounding."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache
from typing import Final

BITS: Final = 8
HIGHEST: Final = (1 << BITS) - 1
"""The highest exponent that fits."""
DIGITS: Final = 60
ROUNDING: Final = Decimal("1e-14")
"""A coefficient this much smaller than the largest is what rounding left of a cancellation."""

Terms = Mapping[int, Decimal]
Factors = tuple[tuple[int, int], ...]
"""Generators with their exponents, in order."""


class TooLarge(Exception):
    """A polynomial with more terms, or a higher power, than anyone would read."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of monomials; `degree` is at least that of each."""

    terms: Terms
    degree: int = 0

    @classmethod
    def number(cls, x: float) -> "Polynomial":
        """The polynomial that is a number."""
        return cls({0: Decimal(repr(x))} if x else {})

    @classmethod
    def generator(cls, k: int) -> "Polynomial":
        """The generator with number `k`."""
        return cls({1 << (BITS * k): Decimal(1)}, 1)

    def __len__(self) -> int:
        return len(self.terms)

    def __neg__(self) -> "Polynomial":
        return Polynomial({m: -c for m, c in self.terms.items()}, self.degree)

    def __add__(self, other: "Polynomial") -> "Polynomial":
        total = dict(self.terms)
        for m, c in other.terms.items():
            _put(total, m, c)
        return Polynomial(total, max(self.degree, other.degree))

    def times(self, other: "Polynomial", most: int) -> "Polynomial":
        """The product. Raises TooLarge where it takes more than so many products of terms."""
        degree, total = self.degree + other.degree, dict[int, Decimal]()
        if degree > HIGHEST or len(self) * len(other) > most:
            raise TooLarge
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                _put(total, m + n, c * d)
        return Polynomial(total, degree)

    def scaled(self, factor: Decimal) -> "Polynomial":
        """The polynomial times a number."""
        return Polynomial({m: c * factor for m, c in self.terms.items()}, self.degree)

    def cleaned(self) -> "Polynomial":
        """Without what rounding left."""
        largest = max(map(abs, self.terms.values()), default=Decimal(0))
        significant = {m: c for m, c in self.terms.items() if abs(c) > ROUNDING * largest}
        return Polynomial(significant, self.degree)

    @property
    def key(self) -> frozenset[tuple[int, Decimal]]:
        """The key that tells it from others."""
        return frozenset(self.terms.items())


def _put(total: dict[int, Decimal], m: int, c: Decimal) -> None:
    known = total.get(m)
    if known is None:
        total[m] = c
        return
    total_of_term = known + c
    if total_of_term:
        total[m] = total_of_term
    else:
        del total[m]


@lru_cache(maxsize=1 << 14)
def factors(monomial: int) -> Factors:
    """The generators of a monomial with their exponents."""
    return tuple(_factors(monomial))


def _factors(monomial: int) -> Iterator[tuple[int, int]]:
    k = 0
    while monomial:
        low = (monomial & -monomial).bit_length() - 1
        skip = low // BITS
        k, monomial = k + skip, monomial >> (BITS * skip)
        yield k, monomial & HIGHEST
        k, monomial = k + 1, monomial >> BITS


def generators(a: Polynomial) -> list[int]:
    """The generators in a polynomial, in order."""
    union = 0
    for m in a.terms:
        union |= m
    return [k for k, _ in factors(union)]


def monomial(rows: Iterable[tuple[int, int]]) -> int:
    """The monomial of generators with their exponents."""
    return sum(power << (BITS * k) for k, power in rows)


def summed(terms: Iterable[tuple[int, Decimal]], degree: int) -> Polynomial:
    """The sum of terms."""
    total = dict[int, Decimal]()
    for m, c in terms:
        _put(total, m, c)
    return Polynomial(total, degree)


def in_digits() -> AbstractContextManager[object]:
    """The decimal context that all of this is computed in."""
    return localcontext(prec=DIGITS)
