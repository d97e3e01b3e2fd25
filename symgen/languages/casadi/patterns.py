"""Arrays as CasADi has them: matrices, column by column, without the entries that always vanish."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import Any

from symgen.numbers.scalar import ZERO


@dataclass(frozen=True)
class SparsityPattern:
    """A sparsity pattern; `rows` of each column where there are entries, none where all are."""

    shape: tuple[int, int]
    rows: tuple[tuple[int, ...], ...] | None = None

    @property
    def nonzeros(self) -> int:
        """How many entries do not always vanish."""
        return prod(self.shape) if self.rows is None else sum(map(len, self.rows))

    @property
    def compressed(self) -> list[int]:
        """Numbers of rows and columns, then 1 where it is dense, else where each column starts and
        the rows of all entries."""
        if self.rows is None:
            return [*self.shape, 1]
        starts = accumulate(map(len, self.rows), initial=0)
        return [*self.shape, *starts, *(row for column in self.rows for row in column)]


def shape_of(sizes: Sequence[int]) -> tuple[int, int]:
    """Rows and columns of an array: one column of a vector; later axes in one where there are
    three."""
    first, *others = sizes
    return first, prod(others)


def columns(sizes: Sequence[int]) -> list[int]:
    """The places of an array's entries, row-major, in the order of columns."""
    rows, count = shape_of(sizes)
    return [row * count + column for column in range(count) for row in range(rows)]


def empty(shape: tuple[int, int]) -> SparsityPattern:
    """The pattern of nothing but zeros."""
    return SparsityPattern(shape, ((),) * shape[1])


def packed(shape: tuple[int, int], values: Sequence[Any]) -> tuple[SparsityPattern, list[Any]]:
    """The pattern of values in the order of columns, `ZERO` where they always vanish, and the
    others."""
    nonzero = [x for x in values if x is not ZERO]
    if len(nonzero) == len(values):
        return SparsityPattern(shape), nonzero
    height, width = shape
    parts = [values[k * height : (k + 1) * height] for k in range(width)]
    rows = tuple(tuple(r for r, x in enumerate(part) if x is not ZERO) for part in parts)
    return SparsityPattern(shape, rows), nonzero
