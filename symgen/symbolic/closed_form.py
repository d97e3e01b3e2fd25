"""Closed forms: short expressions for the entries of quantities.

A polynomial is written as people would write it: common factors gathered, step by step. Two ways
take turns. Where many parts of a sum are multiples of one another, such as all that a mass has to
do with, they become a product of sums; else the factor whose gathering saves most text is taken out
of the terms that have it (a greedy form of Horner's rule)."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Final

import sympy

from symgen.compiler.program import Output, Ref
from symgen.errors import OptionError
from symgen.mechanics.base_parameters import base_names, base_values, latex_name, link_of_parameter
from symgen.mechanics.canonical_model import CanonicalModel, LinkFrame
from symgen.mechanics.independence import IndependentParameters, independent_parameters
from symgen.mechanics.model import PARAMETER_NAMES
from symgen.mechanics.parameters import WHOLE, canonical_model, lump_links
from symgen.mechanics.spatial import Pose, Vector
from symgen.numbers.scalar import NamedNumber
from symgen.symbolic.polynomials import (
    MAX_EXPONENT,
    MAX_TERMS,
    Polynomial,
    PolynomialTooLarge,
    Ring,
    factors,
    generators,
    groups_of,
    harmonic,
    monomial,
    reduce_squares,
)
from symgen.symbolic.symbol_graph import (
    FUNCTION_EXPRESSIONS,
    NumberFormat,
    SymbolicTape,
    as_latex,
    replacements,
    symbol,
    unshared_operations,
)
from symgen.symbolic.symbolic_trace import SymbolChoice, with_lengths
from symgen.tracing.robot import ParametricModel


@dataclass
class PolynomialWriter:
    """Writes polynomials of a ring as factored expressions. `group` maps a generator to its
    class."""

    ring: Ring
    number: NumberFormat
    group: Callable[[int], Hashable]
    _expressions: dict[int, sympy.Expr] = field(default_factory=dict)
    _lengths: dict[object, int] = field(default_factory=dict)

    def factored(self, a: Polynomial) -> sympy.Expr:
        """The polynomial as a factored expression."""
        if len(a) <= 1:
            return sympy.Add(*(self._term(m, c) for m, c in a.terms.items()))
        common = _common_monomial(a)
        if common:
            return self._product(self._term(common, Decimal(1)), _divided_by(a, common))
        products = self._products(a)
        if products is not None:
            return sympy.Add(*(self._product_of_sums(t, r) for t, r in products))
        return self._factored_greedily(a)

    def expression(self, k: int) -> sympy.Expr:
        """The expression of generator `k`."""
        if k not in self._expressions:
            generator = self.ring.generators[k]
            if generator.argument is None:
                expression = self.ring.tape.atom(generator.atom)
            else:
                expression = FUNCTION_EXPRESSIONS[generator.function](
                    self._argument_expression(generator.argument)
                )
            self._expressions[k] = expression
        return self._expressions[k]

    def _argument_expression(self, a: Polynomial) -> sympy.Expr:
        """The argument of a function, without squares of sines. Angles, which are linear, are not
        factored."""
        a = reduce_squares(self.ring, a)
        if all(sum(n for _, n in factors(m)) <= 1 for m in a.terms):
            return sympy.Add(*(self._term(m, c) for m, c in a.terms.items()))
        return self.factored(a)

    def _term(self, m: int, c: Decimal) -> sympy.Expr:
        return sympy.Mul(self.number(c), *(self.expression(k) ** n for k, n in factors(m)))

    def _product(self, factor_expression: sympy.Expr, a: Polynomial) -> sympy.Expr:
        """The product of `factor_expression` and a polynomial, with the sign taken out that most
        terms have. SymPy must not multiply a number into the sum."""
        sign = _majority_sign(a.terms.values())
        first, second = factor_expression * int(sign), self.factored(a.scaled(sign))
        if first.is_Number and second.is_Add and first != 1:
            return sympy.Mul(first, second, evaluate=False)
        return first * second

    # -- products of sums --------------------------------------------------------------------------

    def _products(self, a: Polynomial) -> list[tuple[Polynomial, Polynomial]] | None:
        """The polynomial as the sum of products with the fewest terms; None if no such sum has
        fewer terms than the polynomial."""
        masks: dict[Hashable, int] = {}
        for k in generators(a):
            kind = self.group(k)
            masks[kind] = masks.get(kind, 0) | monomial([(k, MAX_EXPONENT)])
        if len(masks) < 2:
            return None
        best, size = None, len(a)
        for kind in sorted(masks, key=repr):
            parts = self._cofactor_pairs(a, masks[kind])
            terms = sum(len(t) + len(r) for t, r in parts)
            if terms < size:
                best, size = parts, terms
        return best

    def _cofactor_pairs(self, a: Polynomial, mask: int) -> list[tuple[Polynomial, Polynomial]]:
        """The polynomial as pairs (cofactor, polynomial in the generators of `mask`). Polynomials
        that are multiples of each other are joined."""
        rows: dict[int, dict[int, Decimal]] = {}
        for m, c in a.terms.items():
            generator = m & mask
            rows.setdefault(m - generator, {})[generator] = c
        equal: dict[Hashable, tuple[dict[int, Decimal], dict[int, Decimal]]] = {}
        for cofactor, row in rows.items():
            lead = row[min(row)]
            unit = {m: c / lead for m, c in row.items()}
            # equal ratios differ in their last digits
            key = tuple(sorted((m, Decimal(f"{c:.12e}")) for m, c in unit.items()))
            equal.setdefault(key, ({}, unit))[0][cofactor] = lead
        return [(Polynomial(t, a.degree), Polynomial(r, a.degree)) for t, r in equal.values()]

    def _product_of_sums(self, t: Polynomial, r: Polynomial) -> sympy.Expr:
        """The product of two sums. If the first has one term, its number is multiplied into the
        second."""
        sign = _majority_sign(t.terms.values())
        t, r = t.scaled(sign), r.scaled(sign)
        if len(t) == 1:
            (m, c), *_ = t.terms.items()
            return self._product(self._term(m, Decimal(1)), r.scaled(c))
        return self._product(self.factored(t), r)

    # -- one factor after the other ----------------------------------------------------------------

    def _factored_greedily(self, a: Polynomial) -> sympy.Expr:
        """The polynomial with the factor taken out that shortens the text most, or as a plain
        sum."""
        saved = Counter[object]()
        for m, c in a.terms.items():
            for k, _ in factors(m):
                saved[k] += 1
            if abs(c) != 1:
                saved[abs(c)] += 1
        best = max(saved, key=lambda x: ((saved[x] - 1) * self._length(x), repr(x)))
        if saved[best] < 2:
            return sympy.Add(*(self._term(m, c) for m, c in a.terms.items()))
        inside, outside = dict[int, Decimal](), dict[int, Decimal]()
        for m, c in a.terms.items():
            (inside if _has_factor(m, c, best) else outside)[m] = c
        if isinstance(best, Decimal):
            best = best * _majority_sign(inside.values())
            part = Polynomial({m: c / best for m, c in inside.items()}, a.degree)
            factor_expression = self.number(best)
        else:
            assert isinstance(best, int)
            part = _divided_by(Polynomial(inside, a.degree), monomial([(best, 1)]))
            factor_expression = self.expression(best)
        product = self._product(factor_expression, part)
        return product + self.factored(Polynomial(outside, a.degree)) if outside else product

    def _length(self, x: object) -> int:
        """The number of characters of a factor."""
        if x not in self._lengths:
            expression = self.number(x) if isinstance(x, Decimal) else self.expression(x)  # type: ignore[arg-type]
            self._lengths[x] = len(str(expression))
        return self._lengths[x]


def _majority_sign(numbers: Iterable[Decimal]) -> Decimal:
    """The sign of the majority of the numbers."""
    return Decimal(-1 if sum(1 if c < 0 else -1 for c in numbers) > 0 else 1)


def _common_monomial(a: Polynomial) -> int:
    """The monomial that all terms have in common; 0 for none."""
    rows = [dict(factors(m)) for m in a.terms]
    shared = {k: min(row.get(k, 0) for row in rows) for k in rows[0]}
    return monomial((k, n) for k, n in shared.items() if n)


def _divided_by(a: Polynomial, m: int) -> Polynomial:
    """Divided by a monomial that all terms have."""
    return Polynomial({n - m: c for n, c in a.terms.items()}, a.degree)


def _has_factor(m: int, c: Decimal, factor: object) -> bool:
    if isinstance(factor, Decimal):
        return abs(c) == factor
    return any(k == factor for k, _ in factors(m))


MAX_NESTED_OPERATIONS: Final = 4000
"""Operations of an expression that is given as its algorithm computes it."""


@dataclass
class ClosedForms:
    """Closed forms of values of an expression graph. `chains` maps the atom of each coordinate to
    the chain of parallel axes that it belongs to."""

    tape: SymbolicTape
    number: NumberFormat
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
        forms = self._polynomial_forms(ref)
        if forms:
            return min(map(self._writer.factored, forms), key=lambda x: len(str(x)))
        if unshared_operations(self.tape, ref) <= MAX_NESTED_OPERATIONS:
            out = Output("", (1,), (ref,))
            _, expressions = replacements(self.tape, [out], self.number, None, lambda _, x: x[0])
            return expressions[0]
        raise OptionError(
            f"{name} has more than {MAX_TERMS} terms, too many for a closed form; use numbers "
            "instead of symbols, lock joints with --lock, or use "
            "symgen.Robot(FILE).symbolic.cse(QUANTITY) in Python, which returns "
            "replacements"
        )

    def _polynomial_forms(self, ref: Ref) -> list[Polynomial]:
        """The polynomials that equal the value; empty if all are too large."""
        try:
            plain = self._ring.polynomial(ref)
        except PolynomialTooLarge:
            return []
        forms = [reduce_squares(self._ring, plain)]
        with suppress(PolynomialTooLarge):
            waves = harmonic(self._ring, plain, self._group_of_several)
            forms.append(reduce_squares(self._ring, waves))
        return [form for form in forms if len(form) <= MAX_TERMS]

    def _group_of_several(self, k: int) -> Hashable:
        """The group of a generator if the group has several axes, else None, so that powers of the
        functions of a single joint are kept."""
        group = self._group(k)
        return group if sum(other == group for other in self.chains.values()) > 1 else None


# -- base parameters -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Relation:
    """A base parameter, the link of its body, and its expression in the parameters of the
    bodies."""

    name: str
    link: str
    expression: sympy.Expr


class Relations(dict[str, sympy.Expr]):
    """Base parameters by name: expressions that notebooks show as equations."""

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def latex(self) -> str:
        """The equations, aligned."""
        rows = [rf"{latex_name(name)} &= {as_latex(x)}" for name, x in self.items()]
        return r"\begin{aligned}" + r" \\ ".join(rows) + r"\end{aligned}"


def grouping_relations(
    robot: ParametricModel, setting: SymbolChoice, number: NumberFormat
) -> tuple[Relation, ...]:
    """The base parameters of a robot in the ten of each body as a whole, m1, hx1, ... Izz1 about
    its link's origin, and J8 of rotor 8; with symbols for lengths about its canonical frame.

    Raises OptionError where lengths are symbols and a parameter is grouped with a factor that only
    numbers tell, as with first joints of restricted motion."""
    model = lump_links(robot.model, [body.name for body in robot.model.moving])
    free_fall = Vector(1.0, 1.0, 1.0) if robot.runtime_gravity else None
    layout = canonical_model(model, gravity=free_fall, regrouping=WHOLE)
    if setting.lengths:  # the parameters of the bodies are in their canonical frames
        layout = with_lengths(layout)
        canonical = {layout.body(i).name: LinkFrame(i, Pose()) for i in layout.link_bodies}
        layout = replace(layout, link_frames={**layout.link_frames, **canonical})
    independents, tape = independent_parameters(layout), SymbolicTape()
    names = [f"{name}{i}" for i in layout.link_bodies for name in PARAMETER_NAMES]
    names += [f"{layout.body(i).joint.rotor_moment[0]}{i}" for i in layout.rotors]
    values = tape.of(map(symbol, names))
    columns = base_names(independents)
    if setting.lengths or _has_symbolic_lengths(layout):
        _check_grouping(independents, columns)
    tape.output("base", (len(columns),), base_values(layout, values))
    closed_forms = ClosedForms(tape, number)
    refs = zip(columns, tape.outputs[0].refs, strict=True)
    return tuple(
        Relation(name, link_of_parameter(model, name), closed_forms.expression(ref, name))
        for name, ref in refs
    )


def _has_symbolic_lengths(layout: CanonicalModel) -> bool:
    lengths = (
        x
        for body in layout.bodies
        for x in (body.placement.to_axis.b, body.placement.to_axis.d, body.placement.r)
    )
    return any(isinstance(x, NamedNumber) for x in lengths)


def _check_grouping(independent: IndependentParameters, columns: tuple[str, ...]) -> None:
    """Raise OptionError if a grouping factor depends on lengths; factors of regrouping are 0.5, 1
    or 2."""
    for name, key in zip(columns, independent.keys, strict=True):
        if any(abs(factor) not in (0.5, 1.0, 2.0) for _, factor in independent.grouped[key]):
            raise OptionError(
                f"{name}: its grouping depends on the values of lengths; use lengths='numbers'"
            )
