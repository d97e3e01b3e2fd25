"""The solution of small linear systems on scalars, in an order that is fixed at generation.

The order comes from a sample matrix of numbers: of the entries that are large enough, the pivot
that fills in least is taken (Markowitz), while there are more than three unknowns or a row has one
unknown only. Cramer's rule solves the rest. Rows that no pivot is taken from are left out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from symgen.numbers.scalar import ZERO, Scalar, dot, plain, positive

Matrix = Sequence[Sequence[Scalar]]
PIVOT_THRESHOLD: Final = 0.2
"""The least size of a pivot as a part of the largest entry that is left."""
MAX_CRAMER_SIZE: Final = 3
"""The most unknowns that Cramer's rule solves for."""


@dataclass(frozen=True, slots=True)
class Elimination:
    """The order in which the unknowns of a system are solved for: the pivots as pairs of a row and
    a column, and the rows and columns of the system that is left. Each pivot and the determinant
    that is left have the sign of `signs`."""

    pivots: tuple[tuple[int, int], ...]
    rest: tuple[tuple[int, ...], tuple[int, ...]]
    signs: tuple[int, ...]

    @classmethod
    def of(cls, sample: Matrix) -> "Elimination":
        """The order for a matrix of numbers, with structural zeros, and at least as many rows as
        columns."""
        columns, pivots = len(sample[0]), list[tuple[int, int]]()
        entries = (((i, j), x) for i, row in enumerate(sample) for j, x in enumerate(row))
        left = {at: plain(x) for at, x in entries if x is not ZERO}
        while True:
            done = {j for _, j in pivots}
            unknown = [j for j in range(columns) if j not in done]
            # the pivot that fills in least among the large entries, of equal ones the largest
            largest = max((abs(x) for x in left.values()), default=0.0)
            large = [at for at, x in left.items() if abs(x) >= PIVOT_THRESHOLD * largest]
            costs = {at: (_fill(left, at), -abs(left[at])) for at in large}
            pivot = min(large, key=costs.__getitem__, default=(0, 0))
            if not unknown or (len(unknown) <= MAX_CRAMER_SIZE and _fill(left, pivot) > 0):
                break
            pivots.append(pivot)
            left = _reduced(left, pivot)
        rows = _independent_rows(left, unknown)
        order = cls(tuple(pivots), (rows, tuple(unknown)), ())
        signs = tuple(1 if plain(x) > 0 else -1 for x in order._divisors(sample))
        return replace(order, signs=signs)

    @property
    def rows(self) -> list[int]:
        """The rows that are used."""
        return sorted([*(i for i, _ in self.pivots), *self.rest[0]])

    def _divisors(self, matrix: Matrix) -> list[Scalar]:
        """The pivots and the determinant of the system that is left."""
        left, pivots = self._eliminated(matrix, [])[0], list[Scalar]()
        for i, j in self.pivots:
            pivots.append(left[i][j])
        minor = [[left[i][j] for j in self.rest[1]] for i in self.rest[0]]
        return [*pivots, *([dot(minor[0], _cofactors(minor)[0])] if minor else [])]

    def has_signs_of_sample(self, matrix: Matrix) -> bool:
        """Whether the divisors of a matrix of numbers have the signs of the sample."""
        try:
            divisors = [plain(x) for x in self._divisors(matrix)]
        except ZeroDivisionError:
            return False
        return all(x * sign > 0 for x, sign in zip(divisors, self.signs, strict=True))

    def _eliminated(
        self, matrix: Matrix, sides: Sequence[Sequence[Scalar]]
    ) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
        """The matrix and right sides after the steps of elimination."""
        used = {*self.rows}
        a, right = [[*row] for row in matrix], [[*side] for side in sides]
        for n, (i, j) in enumerate(self.pivots):
            later = used - {k for k, _ in self.pivots[: n + 1]}
            targets = [k for k in sorted(later) if a[k][j] is not ZERO]
            inverse = self._inverse(a[i][j], n) if targets else ZERO
            for k in targets:
                factor = a[k][j] * inverse
                a[k] = [
                    ZERO if c == j else x - factor * y
                    for c, (x, y) in enumerate(zip(a[k], a[i], strict=True))
                ]
                for side in right:
                    side[k] = side[k] - factor * side[i]
        return a, right

    def _inverse(self, divisor: Scalar, n: int) -> Scalar:
        """1 over a divisor, which must have its sign; without signs it must not be zero."""
        if not self.signs:
            return divisor * (1.0 / positive(divisor * divisor))
        if self.signs[n] > 0:
            return 1.0 / positive(divisor)
        return -(1.0 / positive(-divisor))

    def solve(
        self, matrix: Matrix, sides: Sequence[Sequence[Scalar]], single_use: bool = False
    ) -> list[list[Scalar]]:
        """The solutions of a system for several right sides; with `single_use`, no other call has
        this matrix, so that few solutions are scaled in place of the cofactors."""
        a, reduced = self._eliminated(matrix, sides)
        rows, columns = self.rest
        minor = [[a[i][j] for j in columns] for i in rows]
        cofactors = _cofactors(minor) if minor else []
        inverse_determinant = (
            self._inverse(dot(minor[0], cofactors[0]), len(self.pivots)) if minor else ZERO
        )
        scale_cofactors = not single_use or len(sides) >= len(columns)
        out = []
        for side in reduced:
            x: list[Scalar] = [ZERO] * len(a[0])
            for n, j in enumerate(columns):
                weights = [
                    row[n] * inverse_determinant if scale_cofactors else row[n] for row in cofactors
                ]
                total = dot(weights, [side[i] for i in rows])
                x[j] = total if scale_cofactors else total * inverse_determinant
            for n, (i, j) in reversed([*enumerate(self.pivots)]):
                known = sum((a[i][k] * x[k] for k in range(len(x)) if k != j), ZERO)
                x[j] = (side[i] - known) * self._inverse(a[i][j], n)
            out.append(x)
        return out


def _fill(left: dict[tuple[int, int], float], pivot: tuple[int, int]) -> int:
    """The number of entries that the elimination by a pivot may add."""
    i, j = pivot
    return (sum(a == i for a, _ in left) - 1) * (sum(b == j for _, b in left) - 1)


def _reduced(
    left: dict[tuple[int, int], float], pivot: tuple[int, int]
) -> dict[tuple[int, int], float]:
    """The entries that are left after a step of elimination."""
    i, j = pivot
    row = {b: x for (a, b), x in left.items() if a == i and b != j}
    out = {at: x for at, x in left.items() if at[0] != i and at[1] != j}
    for (k, b), x in left.items():
        for c, y in row.items() if b == j and k != i else ():
            out[k, c] = out.get((k, c), 0.0) - x / left[pivot] * y
    return out


def _independent_rows(
    left: dict[tuple[int, int], float], columns: Sequence[int]
) -> tuple[int, ...]:
    """As many rows as there are columns, chosen by full pivoting."""
    rows, chosen = sorted({i for i, _ in left}), list[int]()
    matrix = np.array([[left.get((i, j), 0.0) for j in columns] for i in rows])
    for _ in columns:
        k, c = np.unravel_index(np.argmax(np.abs(matrix)), matrix.shape)
        chosen.append(rows[k])
        if matrix[k, c]:
            matrix = matrix - np.outer(matrix[:, c] / matrix[k, c], matrix[k])
        matrix[k] = 0.0
    return tuple(sorted(chosen))


def _cofactors(m: Matrix) -> list[list[Scalar]]:
    """The cofactors of a matrix of at most three rows."""
    if len(m) == 1:
        return [[1.0]]
    if len(m) == MAX_CRAMER_SIZE - 1:
        return [[m[1][1], -m[1][0]], [-m[0][1], m[0][0]]]
    turns = [(1, 2), (2, 0), (0, 1)]
    return [[m[a][c] * m[b][d] - m[a][d] * m[b][c] for c, d in turns] for a, b in turns]
