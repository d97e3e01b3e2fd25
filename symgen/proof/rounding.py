"""How far single precision is from double precision, over many random states: a figure for each
output."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from symgen.compiler.batch import evaluate_batch
from symgen.compiler.program import Program

STATES: Final = 10_000
BLOCK: Final = 1000
"""States computed at a time, so that their values fit into the processor's cache."""

Array = NDArray[Any]
Range = tuple[list[float], list[float]]


@dataclass(frozen=True, slots=True)
class Rounding:
    """Of one output: largest and root-mean-square error of its entries, and the largest entry, over
    all states."""

    output: str
    largest: float
    rms: float
    entry: float

    @property
    def text(self) -> str:
        """The figures in words, rounded up."""
        if not math.isfinite(self.largest):
            return f"{self.output}: not finite in some states"
        if not self.largest:
            return f"{self.output}: exact"
        largest, rms = (f"{_up(x)} ({_up(x / self.entry)})" for x in (self.largest, self.rms))
        return f"{self.output}: largest {largest}, rms {rms}"


def _up(x: float) -> str:
    """`x` rounded up to two digits."""
    digits, exponent = f"{x:.15e}".split("e")
    return f"{math.ceil(float(digits) * 10) / 10 * 10.0 ** int(exponent):.1e}"


def random_inputs(
    ranges: Mapping[str, Range], quaternions: Sequence[slice] = ()
) -> dict[str, Array]:
    """Numbers of single precision evenly from `ranges` (lowest and highest of each entry), entries
    first; those of q that are quaternions are made unit ones."""
    rng = np.random.RandomState(0)  # its numbers stay the same in every version of NumPy
    drawn = {
        name: rng.uniform(low, high, (STATES, len(low))).T for name, (low, high) in ranges.items()
    }
    for four in quaternions:
        drawn["q"][four] /= np.sqrt((drawn["q"][four] ** 2).sum(axis=0))
    return {name: np.ascontiguousarray(x, np.float32) for name, x in drawn.items()}


def roundings(program: Program, inputs: Mapping[str, Array]) -> tuple[Rounding, ...]:
    """Errors of a program in single precision, given the same inputs as in double precision."""
    used = {name: inputs[name] for name, _ in program.inputs}
    rows = list(_blocks(program, used))
    return tuple(_joined(name, [row[name] for row in rows]) for name in rows[0])


def _blocks(
    program: Program, inputs: Mapping[str, Array]
) -> Iterator[dict[str, tuple[float, float, float]]]:
    """By output: largest error, mean square error and largest entry in a block of states."""
    for first in range(0, STATES, BLOCK):
        part = {name: x[:, first : first + BLOCK] for name, x in inputs.items()}
        with np.errstate(all="ignore"):
            double = evaluate_batch(
                program, {name: x.astype(np.float64) for name, x in part.items()}, "double"
            )
            single = evaluate_batch(program, part, "float")
            yield {name: _figures(single[name], wanted) for name, wanted in double.items()}


def _figures(got: Array, wanted: Array) -> tuple[float, float, float]:
    if not wanted.size:
        return 0.0, 0.0, 0.0
    error = np.abs(got.astype(np.float64) - wanted)
    return float(error.max()), float(np.mean(error * error)), float(np.abs(wanted).max())


def _joined(name: str, figures: list[tuple[float, float, float]]) -> Rounding:
    largest, squares, entries = zip(*figures, strict=True)
    worst = max(largest) if all(map(math.isfinite, largest)) else math.inf
    return Rounding(name, worst, math.sqrt(sum(squares) / len(squares)), max(entries))
