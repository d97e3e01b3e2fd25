"""Statistics of the columns of a log, piece by piece."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symgen.numbers.types import Numbers


@dataclass
class ColumnStatistics:
    """The range, the sum of squares and the number of the entries of columns (k) so far, without
    those that are not to be used or not numbers."""

    low: Numbers | float = np.inf
    high: Numbers | float = -np.inf
    squares: Numbers | float = 0.0
    count: NDArray[np.int64] | int = 0

    def add(self, rows: Numbers, used: NDArray[np.bool_] | None = None) -> None:
        """Takes rows (N x k) into account."""
        used = ~np.isnan(rows) if used is None else used
        self.low = np.minimum(self.low, np.min(rows, 0, initial=np.inf, where=used))
        self.high = np.maximum(self.high, np.max(rows, 0, initial=-np.inf, where=used))
        self.squares = self.squares + np.sum(np.square(rows), 0, where=used)
        self.count = self.count + used.sum(0)

    @property
    def ends(self) -> tuple[Numbers, Numbers]:
        """The least and the largest entry of each column (k)."""
        return np.atleast_1d(self.low), np.atleast_1d(self.high)

    @property
    def largest(self) -> Numbers:
        """The largest size of each column (k)."""
        return np.maximum(*(np.abs(end) for end in self.ends))

    @property
    def rms(self) -> Numbers:
        """The root mean square of each column (k)."""
        return np.sqrt(np.atleast_1d(self.squares) / np.maximum(self.count, 1))
