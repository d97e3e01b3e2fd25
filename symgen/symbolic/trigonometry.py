"""Sines and cosines in the shortest way: squares reduced, products of parallel axes as one angle.

sin² is 1 - cos², and products of functions of angles that belong together become sums of functions
of their sums and differences: c2 c23 + s2 s23 = cos(q3)."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from decimal import Decimal
from functools import cache
from math import comb
from typing import Final

from symgen.symbolic.polynomials import (
    EXPONENT_BITS,
    MAX_EXPONENT,
    MAX_INTERMEDIATE_TERMS,
    MAX_TERM_PRODUCTS,
    Factors,
    Polynomial,
    Ring,
    TooLarge,
    factors,
    generators,
    in_digits,
    monomial,
    summed,
)

HALF: Final = Decimal("0.5")
Group = Callable[[int], Hashable]
"""What the angle of a generator belongs to: a chain of parallel axes; None for no angle."""


def reduced(ring: Ring, a: Polynomial) -> Polynomial:
    """The polynomial without squares of sines, or of cosines if that has fewer terms."""
    with in_digits():
        for k in generators(a):
            angle = ring.angle(k)
            if angle is not None and angle[0] == "sin":
                cosine = next(iter(ring.function("cos", angle[1]).terms))
                (other, _), *_ = factors(cosine)
                a = min((a, _squares(a, k, other), _squares(a, other, k)), key=len)
        return a.cleaned()


def _squares(a: Polynomial, old: int, new: int) -> Polynomial:
    """Replace the square of generator `old` by 1 minus the square of generator `new`."""
    terms = list[tuple[int, Decimal]]()
    for m, c in a.terms.items():
        power = m >> (EXPONENT_BITS * old) & MAX_EXPONENT
        cofactor = m - monomial([(old, power - power % 2)])
        for j in range(power // 2 + 1):
            terms.append((cofactor + monomial([(new, 2 * j)]), c * comb(power // 2, j) * (-1) ** j))
    return summed(terms, a.degree)


def harmonic(ring: Ring, a: Polynomial, group: Group) -> Polynomial:
    """The polynomial with one sine or cosine per group in each term. Raises TooLarge."""
    with in_digits():
        known = dict[Factors, Polynomial]()
        total = Polynomial({})
        for m, c in a.terms.items():
            total = total + _term(ring, factors(m), group, known).scaled(c)
            if len(total) > MAX_INTERMEDIATE_TERMS:
                raise TooLarge
        return total.cleaned()


def _term(ring: Ring, rows: Factors, group: Group, known: dict[Factors, Polynomial]) -> Polynomial:
    """A monomial as harmonics: the functions of each group as a sum."""
    groups: dict[Hashable, list[tuple[int, int]]] = {}
    for k, power in rows:
        groups.setdefault(group(k), []).append((k, power))
    total = Polynomial({monomial(groups.pop(None, [])): Decimal(1)}, HIGH)
    for rows_of_group in groups.values():
        key = tuple(rows_of_group)
        if key not in known:
            known[key] = _sum(ring, key)
        total = total.times(known[key], MAX_TERM_PRODUCTS)
    return Polynomial(total.terms, HIGH)


HIGH: Final = 60
"""A bound of degrees here, where every factor has a low one."""

Wave = tuple[str, Polynomial, Decimal]
"""A sine or cosine, its angle and its factor."""


def _sum(ring: Ring, rows: Factors) -> Polynomial:
    """A product of sines and cosines as a sum of sines and cosines."""
    total = [("cos", Polynomial({}), Decimal(1))]
    for k, power in rows:
        known_angle = ring.angle(k)
        assert known_angle is not None
        for _ in range(power):
            total = _merged(
                wave for name, angle, c in total for wave in _product(name, angle, c, *known_angle)
            )
    waves = Polynomial({})
    for name, angle, c in total:
        waves = waves + _wave(ring, name, angle).scaled(c)
    return Polynomial(waves.terms, 1)


def _product(first: str, a: Polynomial, c: Decimal, second: str, b: Polynomial) -> list[Wave]:
    """The product of two functions as half the sum of two others."""
    half, plus, minus = c * HALF, a + b, a + -b
    if first == second:
        sign = 1 if first == "cos" else -1
        return [("cos", minus, half), ("cos", plus, sign * half)]
    sign = 1 if first == "sin" else -1
    return [("sin", plus, half), ("sin", minus, sign * half)]


def _merged(waves: Iterable[Wave]) -> list[Wave]:
    """The waves with equal functions of equal angles added."""
    by_angle: dict[object, Wave] = {}
    for name, angle, c in waves:
        key = name, angle.key
        known = by_angle.get(key)
        by_angle[key] = (name, angle, c if known is None else known[2] + c)
    return [wave for wave in by_angle.values() if wave[2]]


def _wave(ring: Ring, name: str, angle: Polynomial) -> Polynomial:
    """The sine or cosine of an angle; 0 or 1 if the angle is 0."""
    if not angle.terms:
        return Polynomial.number(1.0 if name == "cos" else 0.0)
    return ring.function(name, angle)


def groups_of(chains: Mapping[int, Hashable], ring: Ring) -> Group:
    """The group of a generator: the chain of the coordinates in its angle, by atom."""

    @cache
    def group(k: int) -> Hashable:
        angle = ring.angle(k)
        if angle is None:
            return None
        rows = {g for m in angle[1].terms for g, _ in factors(m)}
        atoms = sorted(ring.generators[g].atom for g in rows)
        chain = {chains.get(atom, atom) for atom in atoms}
        return min(chain, key=repr) if chain else None

    return group
