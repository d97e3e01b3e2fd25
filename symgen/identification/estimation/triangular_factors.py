"""Least squares of any length in constant memory: triangular factors of blocks, combined in a fixed
tree.

Tall and skinny QR (Demmel, Grigori, Hoemmen & Langou, SIAM J. Sci. Comput. 2012, sec. 3). The tree
depends on the numbers of the blocks alone, so whoever computes them, in whatever order, gets the
same factor."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.numbers.scalar import Numbers

ONE_THREAD_ENTRIES: Final = 8192
"""Matrices of at most this many entries are factorised by one thread of the usual BLAS, so with the
same bits whatever number of threads it has."""


@dataclass(frozen=True)
class TriangularFactors:
    """The triangular factors of some equations, one for each channel.

    The factor of a channel is that of [A y], its columns those of the parameters that it depends on
    and then the measurement: at most (p + 1) x (p + 1), upper triangle. `rows` is how many
    equations each channel has."""

    rows: tuple[int, ...]
    factors: tuple[Numbers, ...]

    def combined(self, other: "TriangularFactors") -> "TriangularFactors":
        """The factors of the equations of both, `self` first."""
        pairs = zip(self.factors, other.factors, strict=True)
        return TriangularFactors(
            tuple(a + b for a, b in zip(self.rows, other.rows, strict=True)),
            tuple(triangle(np.concatenate(pair)) for pair in pairs),
        )

    def channels(self, which: slice) -> "TriangularFactors":
        """The factors of some channels."""
        return TriangularFactors(self.rows[which], self.factors[which])

    def only(self, numbers: Sequence[Sequence[int]]) -> "TriangularFactors":
        """With some columns of each channel, by their numbers in its factor, and the
        measurement."""
        pairs = zip(self.factors, numbers, strict=True)
        return TriangularFactors(
            self.rows, tuple(triangle(factor[:, [*kept, -1]]) for factor, kept in pairs)
        )


Batches = tuple[TriangularFactors, ...]
"""The factors of consecutive parts of a log."""


def triangle(matrix: Numbers) -> Numbers:
    """The upper triangle R (p x p, of fewer than p rows as many as these) of a matrix (m x p) of
    any number of rows; RᵀR is the matrix's."""
    count, width = matrix.shape
    leaf = max(ONE_THREAD_ENTRIES // width, 2 * width)
    while count > leaf:
        pieces = -(-count // leaf)
        padded = np.zeros((pieces * leaf, width))
        padded[:count] = matrix
        matrix = _upper(padded.reshape(pieces, leaf, width)).reshape(-1, width)
        count = len(matrix)
    return _upper(matrix)


def _upper(matrices: Numbers) -> Numbers:
    """R of each of some matrices. ``np.linalg.qr`` with mode r makes a mask at every call."""
    reflectors, _ = np.linalg.qr(matrices, mode="raw")
    rows = min(matrices.shape[-2:])
    packed = np.swapaxes(reflectors, -1, -2)[..., :rows, :]
    return np.where(_upper_mask(rows, matrices.shape[-1]), packed, 0.0)


@lru_cache(maxsize=256)
def _upper_mask(rows: int, width: int) -> NDArray[np.bool_]:
    return np.triu(np.ones((rows, width), np.bool_))


def factored(
    equations: Numbers,
    measured: Numbers,
    supports: Sequence[Sequence[int]],
    used: NDArray[np.bool_] | None = None,
) -> TriangularFactors:
    """The factors of equations (N x c x p) and measurements (N x c); `supports` has the columns of
    each channel, `used` (N x c) which equations count, all where it is not given."""
    matrices = []
    for j, columns in enumerate(supports):
        rows = slice(None) if used is None or used[:, j].all() else used[:, j]
        kept = equations[rows, j][:, list(columns)]
        matrices.append(np.concatenate([kept, measured[rows, j, None]], axis=1))
    return TriangularFactors(tuple(map(len, matrices)), tuple(map(triangle, matrices)))


def gathered(parts: Iterable[TriangularFactors], length: int) -> Batches:
    """Consecutive parts joined, `length` of them to one."""
    done, waiting = list[TriangularFactors](), list[TriangularFactors]()
    for part in parts:
        waiting.append(part)
        if len(waiting) == length:
            done += filter(None, [combined(waiting)])
            waiting = []
    return (*done, *filter(None, [combined(waiting)]))


def combined(parts: Iterable[TriangularFactors]) -> TriangularFactors | None:
    """All parts in one, memory for the logarithm of their number; None where there are none."""
    tree = FactorTree()
    for part in parts:
        tree.add(part)
    return tree.total


class FactorTree:
    """A binary tree over the numbers of parts: like the digits of a counter, what is complete on a
    level is handed to the next one."""

    def __init__(self) -> None:
        self._levels: list[TriangularFactors | None] = []

    def add(self, part: TriangularFactors) -> None:
        """The next part."""
        for k, before in enumerate(self._levels):
            if before is None:
                self._levels[k] = part
                return
            self._levels[k], part = None, before.combined(part)
        self._levels.append(part)

    @property
    def total(self) -> TriangularFactors | None:
        """All parts so far in one; None where there are none."""
        found = [part for part in reversed(self._levels) if part is not None]
        return reduce(TriangularFactors.combined, found) if found else None
