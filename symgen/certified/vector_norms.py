"""Bounds of lengths of vectors, and of nodes by them.

The components of a vector fill a box that grows with each rotation, up to the square root of 2
each time; its length stays. If (u, v) is (x, y) rotated plus (r, t), then for each third component

    |(u, v, w)| <= |(x, y, z)| + |(r, t, w - z)|,

from joint to joint. The errors of computed vectors obey the same law, with the roundings and errors
of sines on the way."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from symgen.certified.program_structures import (
    PlaneRotation,
    Row,
    Split,
    Vector,
    Vectors,
    vector_of,
)
from symgen.numbers.scalar import Numbers

NORM_MARGIN: Final = 1.0 + 2.0**-46
"""Each length is multiplied by this for the rounding of its sums and square roots."""


class VectorNorms:
    """The lengths of vectors in some boxes, from the largest absolute values of the nodes that are
    known so far (rows x boxes; infinite where not known)."""

    ANGLE_NORM = 1.0
    """The length of cosine and sine of one angle."""

    QUADRATIC = True
    """Whether the squared length of a vector bounds products of its components."""

    def __init__(self, vectors: Vectors, magnitudes: Numbers) -> None:
        self.vectors, self.magnitudes = vectors, magnitudes
        self._known: dict[Vector, Numbers] = {(): np.full(magnitudes.shape[1], self.ANGLE_NORM)}

    def bound_of_node(self, row: Row) -> Numbers | float:
        """A bound of the absolute value of a node: of a sum with a rotation, of x y or of x² + y²
        for components of a vector. It is infinite for other nodes."""
        found = [
            self.norm(rotation.unrotated)
            + self._rounding_of_rotation([(self.vectors.sums[row], rotation)])
            + self._bound_of_sum(rotation.rest)
            for rotation in self.vectors.rotations[row]
        ]
        if self.QUADRATIC:
            found += [part * self.norm(pair) ** 2 for part, pair in self._squares(row)]
        bound: Numbers | float = np.fmin.reduce(found) if found else np.inf
        return NORM_MARGIN * bound

    def _squares(self, row: Row) -> Iterator[tuple[float, Vector]]:
        """The vector with the squared length that bounds a node, and the part of it that does."""
        known = self.vectors
        first, second = known.first[row], known.second[row]
        if known.ops[row] == "mul" and known.are_partners(first, second):
            yield 0.5, vector_of(first, second)
        if known.ops[row] == "add":
            roots = [known.factors(k) for k in (first, second)]
            if all(len(r) == 1 for r in roots):
                yield 1.0, vector_of(*(k for r in roots for k in r))

    def norm(self, vector: Vector) -> Numbers:
        """The largest length of a vector."""
        if len(vector) == 1:
            size: Numbers = self.magnitudes[vector[0]]
            return size
        if vector not in self._known:
            self._known[vector] = _norm([self.magnitudes[row] for row in vector])
            found = [self._known[vector], *self._norm_candidates(vector)]
            self._known[vector] = NORM_MARGIN * np.fmin.reduce(found)
        return self._known[vector]

    def _bound_of_sum(self, terms: Iterable[Row]) -> Numbers:
        """The largest absolute value of a sum of terms."""
        return sum((self.magnitudes[k] for k in terms), np.zeros(self.magnitudes.shape[1]))

    def _norm_candidates(self, vector: Vector) -> Iterator[Numbers]:
        known = self.vectors
        for row in dict.fromkeys(vector):
            partners = list[tuple[int, Row]]()
            for rotation, other, other_rotation in known.partners(row):
                if other in vector and row < other:
                    third = list(vector)
                    third.remove(row)
                    third.remove(other)
                    rounding = self._rounding_of_rotation(
                        [(known.sums[row], rotation), (known.sums[other], other_rotation)]
                    )
                    for split in self._splits_of_third(rotation.unrotated, third):
                        unrotated = vector_of(*rotation.unrotated, *([split.part] if third else ()))
                        at_rest = _norm([self.norm(()), *(self.magnitudes[k] for k in unrotated)])
                        length = self.norm(unrotated) if rotation.unrotated else at_rest
                        added = _norm([rounding, self._rounding_of_additions(split.sums)])
                        yield (
                            length
                            + added
                            + self._norm_of_sums([rotation.rest, other_rotation.rest, split.rest])
                        )
                elif len(vector) == 2 and other not in vector:
                    partners.append((abs(other - row), other))
            if partners:  # two components of three
                yield self.norm(vector_of(*vector, min(partners)[1]))
        for factor in set.intersection(*({*known.factors(row)} for row in vector)):
            yield self._norm_of_products(factor, vector)
        for k in range(3 if len(vector) == 3 else 0):
            pair = vector[:k] + vector[k + 1 :]
            if known.are_partners(*pair):
                yield _norm([self.norm(pair), self.magnitudes[vector[k]]])

    def _splits_of_third(self, unrotated: Vector, third: Sequence[Row]) -> list[Split]:
        """Which parts of the third component are components of the vector before the rotation."""
        if not third:
            return [Split(-1, (), ())]
        splits = self.vectors.splits(third[0])
        linked = [s for s in splits if any(self.vectors.are_partners(k, s.part) for k in unrotated)]
        return linked or splits[:1]

    def _norm_of_sums(self, sums: Sequence[Vector]) -> Numbers:
        """The largest length of a vector whose components are sums of terms. What has a common
        factor is a vector times that."""
        remaining = [list(terms) for terms in sums if terms]
        total = np.zeros(self.magnitudes.shape[1])
        shared = [{f for term in terms for f in self.vectors.factors(term)} for terms in remaining]
        counts = {f: sum(f in s for s in shared) for f in sorted(set().union(*shared))}
        for factor in sorted(counts, key=lambda f: -counts[f]):
            products = list[Row]()
            where = [
                (terms, next((t for t in terms if factor in self.vectors.factors(t)), None))
                for terms in remaining
            ]
            if sum(term is not None for _, term in where) > 1:
                for terms, term in where:
                    if term is not None:
                        terms.remove(term)
                        products.append(term)
                total = total + self._norm_of_products(factor, tuple(products))
        length: Numbers = total + _norm([self._bound_of_sum(terms) for terms in remaining])
        return length

    def _norm_of_products(self, factor: Row, products: Vector) -> Numbers:
        """The length of a vector of products with a common factor."""
        length: Numbers = self.magnitudes[factor] * self.norm(self._other_factors(factor, products))
        return length

    def _other_factors(self, factor: Row, products: Vector) -> Vector:
        return vector_of(*(self.vectors.factors(row)[factor] for row in products))

    def _rounding_of_rotation(self, components: Sequence[tuple[Vector, PlaneRotation]]) -> Numbers:
        """What the operations themselves add to one or both components of a rotated vector, each
        with its additions: nothing to the exact value."""
        return np.zeros(self.magnitudes.shape[1])

    def _rounding_of_additions(self, sums: Vector) -> Numbers:
        """What additions add: nothing to the exact value."""
        return np.zeros(self.magnitudes.shape[1])


class ErrorNorms(VectorNorms):
    """The lengths of the error vectors of computed vectors: `magnitudes` are the errors of nodes,
    and `roundings` their roundings."""

    ANGLE_NORM = 0.0
    QUADRATIC = False

    def __init__(
        self,
        exact: VectorNorms,
        errors: Numbers,
        roundings: Numbers,
        product_rounding: tuple[float, float],
    ) -> None:
        super().__init__(exact.vectors, errors)
        self.exact, self.roundings, (self.unit, self.tiny) = exact, roundings, product_rounding

    def _norm_of_products(self, factor: Row, products: Vector) -> Numbers:
        others = self._other_factors(factor, products)
        size, error = self.exact.magnitudes[factor], self.magnitudes[factor]
        passed: Numbers = (size + error) * self.norm(others) + error * self.exact.norm(others)
        return passed + _norm([self.roundings[row] for row in products])

    def _rounding_of_rotation(self, components: Sequence[tuple[Vector, PlaneRotation]]) -> Numbers:
        """The larger of errors component by component, and those of the vector: the error of a
        vector by those of cosine and sine is as long as it times the length of these (Cauchy and
        Schwarz), and the products of a component are together as long as the vector."""
        one = _norm([self._rounding_of_component(*component) for component in components])
        rotation = components[0][1]
        if any(factor is None for _, _, factor in rotation.products):
            return one
        size = self.exact.norm(rotation.unrotated) + self.norm(rotation.unrotated)
        rows = {sine for _, turn in components for _, sine, _ in turn.products}
        sines = _norm([self.magnitudes[sine] for sine in sorted(rows)])
        count = math.sqrt(len(components))
        products = count * (self.unit * (1.0 + sines) * size + 2.0 * self.tiny)
        sums = _norm([self._rounding_of_additions(sums) for sums, _ in components])
        both: Numbers = np.fmin(one, sines * size + products + sums)
        return both

    def _rounding_of_component(self, sums: Vector, rotation: PlaneRotation) -> Numbers:
        made = self._rounding_of_additions(sums)
        for row, sine, factor in rotation.products:
            if factor is None:
                made = made + self.magnitudes[sine]
            else:
                largest = self.exact.magnitudes[factor] + self.magnitudes[factor]
                made = made + self.roundings[row] + self.magnitudes[sine] * largest
        return made

    def _rounding_of_additions(self, sums: Vector) -> Numbers:
        return sum((self.roundings[row] for row in sums), np.zeros(self.magnitudes.shape[1]))


def _norm(components: Sequence[Numbers]) -> Numbers:
    length: Numbers = np.sqrt(sum((x * x for x in components), np.zeros(1)))
    return length
