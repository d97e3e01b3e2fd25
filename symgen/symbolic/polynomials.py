"""From a tape to polynomials in sines and cosines of whole angles, and symbols.

An angle is a sum of coordinates; the tape keeps that of parallel axes as one (q2 + q3), and so does
this. Other functions, roots and divisors are generators as they are. Sines and cosines are reduced
to the shortest form: sin² is 1 - cos², and products of functions of angles that belong together
become sums of functions of their sums and differences: c2 c23 + s2 s23 = cos(q3)."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from functools import cache, lru_cache
from math import comb
from typing import Final

from symgen.compiler.passes import upstream
from symgen.compiler.program import Index, Ref
from symgen.numbers.operations import OPS
from symgen.symbolic.symbol_graph import SymbolicTape

EXPONENT_BITS: Final = 8
MAX_EXPONENT: Final = (1 << EXPONENT_BITS) - 1
"""The highest exponent that fits."""
RING_DIGITS: Final = 60
ROUNDING: Final = Decimal("1e-14")
"""A coefficient this much smaller than the largest is what rounding left of a cancellation."""

Terms = Mapping[int, Decimal]
Factors = tuple[tuple[int, int], ...]
"""Generators with their exponents, in order."""


class PolynomialTooLarge(Exception):
    """A polynomial has too many terms or too high a power."""


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A sum of monomials; `degree` is at least that of each."""

    terms: Terms
    degree: int = 0

    @classmethod
    def number(cls, x: float) -> "Polynomial":
        """A constant polynomial."""
        return cls({0: Decimal(repr(x))} if x else {})

    @classmethod
    def generator(cls, k: int) -> "Polynomial":
        """The generator with number `k`."""
        return cls({1 << (EXPONENT_BITS * k): Decimal(1)}, 1)

    def __len__(self) -> int:
        return len(self.terms)

    def __neg__(self) -> "Polynomial":
        return Polynomial({m: -c for m, c in self.terms.items()}, self.degree)

    def __add__(self, other: "Polynomial") -> "Polynomial":
        total = dict(self.terms)
        for m, c in other.terms.items():
            _add_term(total, m, c)
        return Polynomial(total, max(self.degree, other.degree))

    def times(self, other: "Polynomial", most: int) -> "Polynomial":
        """The product. Raises TooLarge where it takes more than so many products of terms."""
        degree, total = self.degree + other.degree, dict[int, Decimal]()
        if degree > MAX_EXPONENT or len(self) * len(other) > most:
            raise PolynomialTooLarge
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                _add_term(total, m + n, c * d)
        return Polynomial(total, degree)

    def scaled(self, factor: Decimal) -> "Polynomial":
        """The polynomial times a number."""
        return Polynomial({m: c * factor for m, c in self.terms.items()}, self.degree)

    def cleaned(self) -> "Polynomial":
        """The polynomial without terms that are rounding errors of a cancellation."""
        largest = max(map(abs, self.terms.values()), default=Decimal(0))
        significant = {m: c for m, c in self.terms.items() if abs(c) > ROUNDING * largest}
        return Polynomial(significant, self.degree)

    @property
    def key(self) -> frozenset[tuple[int, Decimal]]:
        """A hashable key of the terms."""
        return frozenset(self.terms.items())


def _add_term(total: dict[int, Decimal], m: int, c: Decimal) -> None:
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
        skip = low // EXPONENT_BITS
        k, monomial = k + skip, monomial >> (EXPONENT_BITS * skip)
        yield k, monomial & MAX_EXPONENT
        k, monomial = k + 1, monomial >> EXPONENT_BITS


def generators(a: Polynomial) -> list[int]:
    """The generators in a polynomial, in order."""
    union = 0
    for m in a.terms:
        union |= m
    return [k for k, _ in factors(union)]


def monomial(rows: Iterable[tuple[int, int]]) -> int:
    """The monomial of generators with their exponents."""
    return sum(power << (EXPONENT_BITS * k) for k, power in rows)


def sum_of_terms(terms: Iterable[tuple[int, Decimal]], degree: int) -> Polynomial:
    """The sum of terms."""
    total = dict[int, Decimal]()
    for m, c in terms:
        _add_term(total, m, c)
    return Polynomial(total, degree)


def ring_precision() -> AbstractContextManager[object]:
    """The decimal context that all of this is computed in."""
    return localcontext(prec=RING_DIGITS)


MAX_TERMS: Final = 3000
"""Terms that a closed form may have; more nobody reads."""
MAX_INTERMEDIATE_TERMS: Final = 4 * MAX_TERMS
"""Terms that what it is made of may have: much cancels."""
MAX_TERM_PRODUCTS: Final = 1_500_000
"""Products of terms that one closed form may take: some seconds."""


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator of the ring: an atom of the expression graph, or a function of a polynomial
    (``inverse`` for a divisor)."""

    function: str
    argument: Polynomial | None = None
    atom: Index = -1


@dataclass
class Ring:
    """The generators found so far, and the polynomials of the nodes of an expression graph.
    Generators are added while nodes are converted."""

    tape: SymbolicTape
    generators: list[Generator] = field(default_factory=list)
    _numbers: dict[object, int] = field(default_factory=dict)
    _known: dict[Index, Polynomial] = field(default_factory=dict)
    _remaining_products: int = MAX_TERM_PRODUCTS

    def polynomial(self, ref: Ref | None) -> Polynomial:
        """The polynomial of an entry of an output, without what rounding left. Raises TooLarge."""
        if ref is None:
            return Polynomial({})
        self._remaining_products = MAX_TERM_PRODUCTS
        with ring_precision():
            for index in upstream(self.tape, [ref.node]):
                if index not in self._known:
                    self._known[index] = self._convert(index)
            cleaned = self._known[ref.node].cleaned()
            return -cleaned if ref.negative else cleaned

    def product(self, a: Polynomial, b: Polynomial) -> Polynomial:
        """The product. Raises TooLarge if the budget of products of terms is exhausted."""
        product = a.times(b, self._remaining_products)
        self._remaining_products -= len(a) * len(b)
        return _check_size(product)

    def _convert(self, index: Index) -> Polynomial:
        node = self.tape.nodes[index]
        if node.op == "const":
            return Polynomial.number(node.a)
        if node.op == "input":
            return self.add_generator(index, Generator("", None, index))
        a = self._known[node.a]
        if node.b is None:
            return -a if node.op == "neg" else self.function(node.op, a)
        return ARITHMETIC[node.op](self, a, self._known[node.b])

    def add_generator(self, key: object, generator: Generator) -> Polynomial:
        """The polynomial of a generator, which is added to the ring if it is new."""
        if key not in self._numbers:
            self._numbers[key] = len(self.generators)
            self.generators.append(generator)
        return Polynomial.generator(self._numbers[key])

    def function(self, name: str, a: Polynomial) -> Polynomial:
        """A function of a polynomial. The sign of an argument whose first coefficient is negative
        is moved out of sine and cosine."""
        first = min((m for m in a.terms if m), default=None)
        flipped = name in FUNCTION_PARITY and first is not None and a.terms[first] < 0
        argument = -a if flipped else a
        result = self.add_generator((name, argument.key), Generator(name, argument))
        return -result if flipped and FUNCTION_PARITY[name] < 0 else result

    def angle(self, k: int) -> tuple[str, Polynomial] | None:
        """The name and the argument of a generator that is a sine or cosine, else None."""
        generator = self.generators[k]
        if generator.function not in ("sin", "cos") or generator.argument is None:
            return None
        return generator.function, generator.argument


FUNCTION_PARITY: Final = {
    op.name: {"odd": -1, "even": 1}[op.parity] for op in OPS.values() if op.parity and not op.symbol
}
"""What a sign of the operand does to functions."""


def _quotient(ring: Ring, a: Polynomial, b: Polynomial) -> Polynomial:
    if not any(b.terms) and b.terms:
        return a.scaled(Decimal(1) / b.terms[0])
    return ring.product(a, ring.function("inverse", b))


ARITHMETIC: Final[dict[str, Callable[[Ring, Polynomial, Polynomial], Polynomial]]] = {
    "add": lambda ring, a, b: _check_size(a + b),
    "sub": lambda ring, a, b: _check_size(a + -b),
    "mul": lambda ring, a, b: ring.product(a, b),
    "div": _quotient,
}


def _check_size(a: Polynomial) -> Polynomial:
    if len(a) > MAX_INTERMEDIATE_TERMS:
        raise PolynomialTooLarge
    return a


def atoms_in(ring: Ring, a: Polynomial) -> set[Index]:
    """The atoms that a polynomial depends on, also through functions."""
    atoms = set[Index]()
    for k in {k for m in a.terms for k, _ in factors(m)}:
        generator = ring.generators[k]
        if generator.argument is None:
            atoms.add(generator.atom)
        else:
            atoms |= atoms_in(ring, generator.argument)
    return atoms


HALF: Final = Decimal("0.5")
Group = Callable[[int], Hashable]
"""What the angle of a generator belongs to: a chain of parallel axes; None for no angle."""


def reduce_squares(ring: Ring, a: Polynomial) -> Polynomial:
    """The polynomial without squares of sines, or of cosines if that has fewer terms."""
    with ring_precision():
        for k in generators(a):
            angle = ring.angle(k)
            if angle is not None and angle[0] == "sin":
                cosine = next(iter(ring.function("cos", angle[1]).terms))
                (other, _), *_ = factors(cosine)
                a = min((a, _replace_square(a, k, other), _replace_square(a, other, k)), key=len)
        return a.cleaned()


def _replace_square(a: Polynomial, old: int, new: int) -> Polynomial:
    """Replace the square of generator `old` by 1 minus the square of generator `new`."""
    terms = list[tuple[int, Decimal]]()
    for m, c in a.terms.items():
        power = m >> (EXPONENT_BITS * old) & MAX_EXPONENT
        cofactor = m - monomial([(old, power - power % 2)])
        for j in range(power // 2 + 1):
            terms.append((cofactor + monomial([(new, 2 * j)]), c * comb(power // 2, j) * (-1) ** j))
    return sum_of_terms(terms, a.degree)


def harmonic(ring: Ring, a: Polynomial, group: Group) -> Polynomial:
    """The polynomial with one sine or cosine per group in each term. Raises TooLarge."""
    with ring_precision():
        known = dict[Factors, Polynomial]()
        total = Polynomial({})
        for m, c in a.terms.items():
            total = total + _harmonic_term(ring, factors(m), group, known).scaled(c)
            if len(total) > MAX_INTERMEDIATE_TERMS:
                raise PolynomialTooLarge
        return total.cleaned()


def _harmonic_term(
    ring: Ring, rows: Factors, group: Group, known: dict[Factors, Polynomial]
) -> Polynomial:
    """A monomial as harmonics: the functions of each group as a sum."""
    groups: dict[Hashable, list[tuple[int, int]]] = {}
    for k, power in rows:
        groups.setdefault(group(k), []).append((k, power))
    total = Polynomial({monomial(groups.pop(None, [])): Decimal(1)}, DEGREE_BOUND)
    for rows_of_group in groups.values():
        key = tuple(rows_of_group)
        if key not in known:
            known[key] = _harmonic_sum(ring, key)
        total = total.times(known[key], MAX_TERM_PRODUCTS)
    return Polynomial(total.terms, DEGREE_BOUND)


DEGREE_BOUND: Final = 60
"""A bound of degrees here, where every factor has a low one."""

Wave = tuple[str, Polynomial, Decimal]
"""A sine or cosine, its angle and its factor."""


def _harmonic_sum(ring: Ring, rows: Factors) -> Polynomial:
    """A product of sines and cosines as a sum of sines and cosines."""
    total = [("cos", Polynomial({}), Decimal(1))]
    for k, power in rows:
        known_angle = ring.angle(k)
        assert known_angle is not None
        for _ in range(power):
            total = _merge_waves(
                wave
                for name, angle, c in total
                for wave in _product_to_sum(name, angle, c, *known_angle)
            )
    waves = Polynomial({})
    for name, angle, c in total:
        zero = Polynomial.number(1.0 if name == "cos" else 0.0)  # of the angle 0
        waves = waves + (ring.function(name, angle) if angle.terms else zero).scaled(c)
    return Polynomial(waves.terms, 1)


def _product_to_sum(
    first: str, a: Polynomial, c: Decimal, second: str, b: Polynomial
) -> list[Wave]:
    """The product of two functions as half the sum of two others."""
    half, plus, minus = c * HALF, a + b, a + -b
    if first == second:
        sign = 1 if first == "cos" else -1
        return [("cos", minus, half), ("cos", plus, sign * half)]
    sign = 1 if first == "sin" else -1
    return [("sin", plus, half), ("sin", minus, sign * half)]


def _merge_waves(waves: Iterable[Wave]) -> list[Wave]:
    """The waves with equal functions of equal angles added."""
    by_angle: dict[object, Wave] = {}
    for name, angle, c in waves:
        key = name, angle.key
        known = by_angle.get(key)
        by_angle[key] = (name, angle, c if known is None else known[2] + c)
    return [wave for wave in by_angle.values() if wave[2]]


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
