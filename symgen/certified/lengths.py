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

from symgen.certified.vectors import PlaneRotation, Row, Split, Vector, Vectors, vector_of
from symgen.numbers.types import Numbers

MARGIN_OF_LENGTH: Final = 1.0 + 2.0**-46
"""Each length is multiplied by this for the rounding of its sums and square roots."""


class Lengths:
    """The lengths of vectors in some boxes, from the largest absolute values of the nodes that are
    known so far (rows x boxes; infinite where not known)."""

    UNIT = 1.0
    """The length of cosine and sine of one angle."""

    QUADRATIC = True
    """Whether the squared length of a vector bounds products of its components."""

    def __init__(self, vectors: Vectors, sizes: Numbers) -> None:
        self.vectors, self.sizes = vectors, sizes
        self._known: dict[Vector, Numbers] = {(): np.full(sizes.shape[1], self.UNIT)}

    def of_node(self, row: Row) -> Numbers | float:
        """A bound of the absolute value of a node: of a sum with a rotation, of x y or of x² + y²
        for components of a vector. It is infinite for other nodes."""
        found = [
            self.of(rotation.turned)
            + self._made([(self.vectors.sums[row], rotation)])
            + self._total(rotation.rest)
            for rotation in self.vectors.rotations[row]
        ]
        if self.QUADRATIC:
            found += [part * self.of(pair) ** 2 for part, pair in self._squares(row)]
        bound: Numbers | float = np.fmin.reduce(found) if found else np.inf
        return MARGIN_OF_LENGTH * bound

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

    def of(self, vector: Vector) -> Numbers:
        """The largest length of a vector."""
        if len(vector) == 1:
            size: Numbers = self.sizes[vector[0]]
            return size
        if vector not in self._known:
            self._known[vector] = _length([self.sizes[row] for row in vector])
            found = [self._known[vector], *self._candidates(vector)]
            self._known[vector] = MARGIN_OF_LENGTH * np.fmin.reduce(found)
        return self._known[vector]

    def _total(self, terms: Iterable[Row]) -> Numbers:
        """The largest absolute value of a sum of terms."""
        return sum((self.sizes[k] for k in terms), np.zeros(self.sizes.shape[1]))

    def _candidates(self, vector: Vector) -> Iterator[Numbers]:
        known = self.vectors
        for row in dict.fromkeys(vector):
            outside = list[tuple[int, Row]]()
            for own, other, its in known.partners(row):
                if other in vector and row < other:
                    third = list(vector)
                    third.remove(row)
                    third.remove(other)
                    made = self._made([(known.sums[row], own), (known.sums[other], its)])
                    for split in self._thirds(own.turned, third):
                        before = vector_of(*own.turned, *([split.part] if third else ()))
                        beside = _length([self.of(()), *(self.sizes[k] for k in before)])
                        length = self.of(before) if own.turned else beside
                        added = _length([made, self._of_additions(split.sums)])
                        yield length + added + self._of_sums([own.rest, its.rest, split.rest])
                elif len(vector) == 2 and other not in vector:
                    outside.append((abs(other - row), other))
            if outside:  # two components of three
                yield self.of(vector_of(*vector, min(outside)[1]))
        for factor in set.intersection(*({*known.factors(row)} for row in vector)):
            yield self._scaled(factor, vector)
        for k in range(3 if len(vector) == 3 else 0):
            pair = vector[:k] + vector[k + 1 :]
            if known.are_partners(*pair):
                yield _length([self.of(pair), self.sizes[vector[k]]])

    def _thirds(self, turned: Vector, third: Sequence[Row]) -> list[Split]:
        """Which parts of the third component are components of the vector before the rotation."""
        if not third:
            return [Split(-1, (), ())]
        splits = self.vectors.splits(third[0])
        linked = [s for s in splits if any(self.vectors.are_partners(k, s.part) for k in turned)]
        return linked or splits[:1]

    def _of_sums(self, sums: Sequence[Vector]) -> Numbers:
        """The largest length of a vector whose components are sums of terms. What has a common
        factor is a vector times that."""
        left = [list(terms) for terms in sums if terms]
        total = np.zeros(self.sizes.shape[1])
        shared = [{f for term in terms for f in self.vectors.factors(term)} for terms in left]
        counts = {f: sum(f in s for s in shared) for f in sorted(set().union(*shared))}
        for factor in sorted(counts, key=lambda f: -counts[f]):
            taken = list[Row]()
            where = [
                (terms, next((t for t in terms if factor in self.vectors.factors(t)), None))
                for terms in left
            ]
            if sum(term is not None for _, term in where) > 1:
                for terms, term in where:
                    if term is not None:
                        terms.remove(term)
                        taken.append(term)
                total = total + self._scaled(factor, tuple(taken))
        length: Numbers = total + _length([self._total(terms) for terms in left])
        return length

    def _scaled(self, factor: Row, products: Vector) -> Numbers:
        """The length of a vector of products with a common factor."""
        length: Numbers = self.sizes[factor] * self.of(self._others(factor, products))
        return length

    def _others(self, factor: Row, products: Vector) -> Vector:
        return vector_of(*(self.vectors.factors(row)[factor] for row in products))

    def _made(self, components: Sequence[tuple[Vector, PlaneRotation]]) -> Numbers:
        """What the operations themselves add to one or both components of a rotated vector, each
        with its additions: nothing to the exact value."""
        return np.zeros(self.sizes.shape[1])

    def _of_additions(self, sums: Vector) -> Numbers:
        """What additions add: nothing to the exact value."""
        return np.zeros(self.sizes.shape[1])


class ErrorLengths(Lengths):
    """The lengths of the error vectors of computed vectors: `sizes` are the errors of nodes, and
    `own` their roundings."""

    UNIT = 0.0
    QUADRATIC = False

    def __init__(
        self, exact: Lengths, errors: Numbers, own: Numbers, relative: tuple[float, float]
    ) -> None:
        super().__init__(exact.vectors, errors)
        self.exact, self.own, (self.unit, self.tiny) = exact, own, relative

    def _scaled(self, factor: Row, products: Vector) -> Numbers:
        others = self._others(factor, products)
        size, error = self.exact.sizes[factor], self.sizes[factor]
        passed: Numbers = (size + error) * self.of(others) + error * self.exact.of(others)
        return passed + _length([self.own[row] for row in products])

    def _made(self, components: Sequence[tuple[Vector, PlaneRotation]]) -> Numbers:
        """The larger of errors component by component, and those of the vector: the error of a
        vector by those of cosine and sine is as long as it times the length of these (Cauchy and
        Schwarz), and the products of a component are together as long as the vector."""
        one = _length([self._of_component(*component) for component in components])
        rotation = components[0][1]
        if any(factor is None for _, _, factor in rotation.products):
            return one
        size = self.exact.of(rotation.turned) + self.of(rotation.turned)
        rows = {sine for _, turn in components for _, sine, _ in turn.products}
        sines = _length([self.sizes[sine] for sine in sorted(rows)])
        count = math.sqrt(len(components))
        products = count * (self.unit * (1.0 + sines) * size + 2.0 * self.tiny)
        sums = _length([self._of_additions(sums) for sums, _ in components])
        both: Numbers = np.fmin(one, sines * size + products + sums)
        return both

    def _of_component(self, sums: Vector, rotation: PlaneRotation) -> Numbers:
        made = self._of_additions(sums)
        for row, sine, factor in rotation.products:
            if factor is None:
                made = made + self.sizes[sine]
            else:
                largest = self.exact.sizes[factor] + self.sizes[factor]
                made = made + self.own[row] + self.sizes[sine] * largest
        return made

    def _of_additions(self, sums: Vector) -> Numbers:
        return sum((self.own[row] for row in sums), np.zeros(self.sizes.shape[1]))


def _length(components: Sequence[Numbers]) -> Numbers:
    length: Numbers = np.sqrt(sum((x * x for x in components), np.zeros(1)))
    return length
