"""The effect of rounding on each output of a function, in words: the bound over the reference
states, and what is seen there."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symgen.compiler.batch import evaluate_batch
from symgen.compiler.program import Program
from symgen.numbers.trig import TYPES
from symgen.proof.bounds import BoundedArray


@dataclass(frozen=True, slots=True)
class Rounding:
    """The rounding errors of one output: bound of the error of any entry, largest error seen and
    largest entry, over all states."""

    output: str
    bound: float
    seen: float
    entry: float

    @property
    def text(self) -> str:
        """The figures in words, rounded up."""
        if not self.bound:
            return f"{self.output}: exact"
        bound, observed = (f"{_up(x)} ({_up(x / self.entry)})" for x in (self.bound, self.seen))
        if not math.isfinite(self.bound):
            return f"{self.output}: no bound, observed {observed}"
        return f"{self.output}: at most {bound}, observed {observed}"


def _up(x: float) -> str:
    """`x` rounded up to two digits."""
    if not math.isfinite(x):
        return "inf"
    digits, exponent = f"{x:.15e}".split("e")
    return f"{math.ceil(float(digits) * 10) / 10 * 10.0 ** int(exponent):.1e}"


def roundings(
    program: Program,
    inputs: Mapping[str, BoundedArray],
    exact: Mapping[str, BoundedArray],
    scalar: str,
) -> tuple[Rounding, ...]:
    """Errors of a program: the bound is that of `exact`, what is seen is the difference from it
    where the program runs in the scalar type."""
    with np.errstate(all="ignore"):
        rounded = {name: x.values.astype(TYPES[scalar]) for name, x in inputs.items()}
        run = evaluate_batch(program, rounded, scalar)
    return tuple(
        Rounding(
            out.name,
            float(x.bounds.max(initial=0.0)),
            _largest(run[out.name], x.values[[ref is not None for ref in out.refs]]),
            float(np.abs(x.values).max(initial=0.0)) or 1.0,
        )
        for out in program.outputs
        for x in (exact[out.name],)
    )


def _largest(run: NDArray[Any], exact: NDArray[Any]) -> float:
    if not exact.size:
        return 0.0
    largest = float(np.abs(run.astype(np.float64).reshape(len(exact), -1) - exact).max())
    return largest if math.isfinite(largest) else math.inf
