"""Time of functions, side by side: each in turn runs about a millisecond, round after round."""

import ctypes
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.bench.build import FOLDER, compiled, linked
from benchmarks.bench.contender import STATES, Contender, address

ROUNDS = 21
SLICE = 1e6
"""Nanoseconds of a turn."""

TOLERANCE = 1e-7
"""Allowed difference from ours, of the largest entry: angles beside right ones are rounded by
symgen."""


class Clock:
    """The loop in C."""

    def __init__(self) -> None:
        made, _ = compiled(Path(__file__).with_name("clock.c"), ("-O2",))
        library = ctypes.CDLL(str(linked([made], FOLDER / "clock.so", "-lm").resolve()))
        self._run, self._trig = library.nanoseconds, address(library, "trig")
        self._cycle = library.cycle
        self._run.restype = self._cycle.restype = ctypes.c_double
        self._run.argtypes = [
            ctypes.c_void_p,
            ctypes.c_long,
            ctypes.c_void_p,
            ctypes.c_long,
            ctypes.c_long,
            ctypes.c_void_p,
        ]

    def run(self, one: Contender, calls: int, states: Any, out: Any) -> float:
        """Nanoseconds of one call."""
        return self._spent(one.address, calls, states, out)

    def _spent(self, function: int, calls: int, states: Any, out: Any) -> float:
        total = self._run(
            function, calls, states.ctypes.data, states.shape[1], STATES, out.ctypes.data
        )
        return float(total) / calls

    def trig(self) -> float:
        """Nanoseconds of a sine or cosine of libm, two of one angle at a time."""
        angles, out = np.random.default_rng(0).uniform(-2, 2, (STATES, 1)), np.zeros(2)
        return min(self._spent(self._trig, 10_000, angles, out) for _ in range(50)) / 2

    def cycle(self) -> float:
        """Nanoseconds of a cycle of the processor, as fast as it goes."""
        return min(float(self._cycle()) for _ in range(200))

    def result(self, one: Contender, state: Any) -> Any:
        """In symgen's order, for a state in symgen's order."""
        out = np.zeros(max(one.size, 1))
        states = np.ascontiguousarray(np.repeat(one.order.states(state[None, :]), STATES, axis=0))
        self.run(one, 1, states, out)
        return one.read(out)


def difference(clock: Clock, one: Contender, judge: Contender, states: Any) -> float:
    """The largest, relative to the largest entry, over some states."""
    worst = 0.0
    for state in states[:5]:
        expected, found = clock.result(judge, state), clock.result(one, state)
        worst = max(
            worst, float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-6))
        )
    return worst


def timed(
    clock: Clock, several: Sequence[Contender], states: Any, rounds: int = ROUNDS
) -> list[dict[str, float]]:
    """Minimum and median ns of a call of each, in interleaved rounds."""
    given = [np.ascontiguousarray(one.order.states(states)) for one in several]
    out = np.zeros(max(one.size for one in several) + 1)
    first = [
        min(clock.run(one, 2 * STATES, x, out) for _ in range(3))
        for one, x in zip(several, given, strict=True)
    ]
    calls = [max(STATES, round(SLICE / ns)) for ns in first]
    spent = [
        [clock.run(one, n, x, out) for one, n, x in zip(several, calls, given, strict=True)]
        for _ in range(rounds)
    ]
    columns = list(zip(*spent, strict=True))
    return [
        {"minimum": round(min(column), 2), "median": round(median(column), 2)} for column in columns
    ]
