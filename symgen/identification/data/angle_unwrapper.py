"""Angles that a recorder gives within one turn, made continuous: where an angle jumps by a turn
from a row to the next, the joint did not."""

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.needed_columns import Layout
from symgen.numbers.types import Numbers

TURN: Final = 2 * math.pi
MOST: Final = TURN / 8
"""What a joint may move beside the turn (rad); a jump that is no turn is left as it is,"""
WIDEST: Final = 1.001 * TURN
"""and so is one of angles that have been further apart (rad): those are not kept within a turn."""


@dataclass
class Turns:
    """Turns, which make the angles of rows continuous, piece by piece of a log. `columns` are those
    of angles, `counts` how often each has jumped by a turn."""

    columns: NDArray[np.intp]
    counts: NDArray[np.int64] = field(init=False)
    carried: Numbers = field(init=False)
    low: Numbers = field(init=False)
    high: Numbers = field(init=False)
    last: Numbers | None = None

    def __post_init__(self) -> None:
        self.counts = np.zeros(len(self.columns), np.int64)
        self.carried = np.zeros(len(self.columns))
        self.low, self.high = self.carried + np.inf, self.carried - np.inf

    @classmethod
    def of(cls, layout: Layout) -> "Turns":
        """For the positions of a layout, in rows without time."""
        angles = [k for k, column in enumerate(layout.q) if column.unit == "rad"]
        return cls(np.array(angles, np.intp))

    def __call__(self, rows: Numbers, begins: NDArray[np.bool_]) -> None:
        """Changes the angles of rows (N x k), of which some (N) begin a stretch and follow on
        nothing."""
        if not len(rows) or not len(self.columns):
            return
        angles = rows[:, self.columns]
        last = angles[0] if self.last is None else self.last
        jumps = np.diff(angles, axis=0, prepend=last[None])
        turns = np.round(jumps / TURN)
        turns[(np.abs(jumps - turns * TURN) > MOST) | begins[:, None]] = 0.0
        turns[self._apart(angles) > WIDEST] = 0.0
        self.counts += (turns != 0).sum(axis=0)
        taken = self.carried - np.cumsum(turns, axis=0)
        first = np.maximum.accumulate(np.where(begins, np.arange(len(rows)), -1))
        taken -= np.where(first[:, None] < 0, 0.0, taken[first])
        self.last, self.carried = angles[-1].copy(), taken[-1].copy()
        if taken.any():
            rows[:, self.columns] = angles + TURN * taken

    def _apart(self, angles: Numbers) -> Numbers:
        """How far the angles have been apart until each row (N x k)."""
        low = np.minimum.accumulate(np.concatenate([self.low[None], angles]))
        high = np.maximum.accumulate(np.concatenate([self.high[None], angles]))
        self.low, self.high = low[-1], high[-1]
        return np.asarray((high - low)[1:])
