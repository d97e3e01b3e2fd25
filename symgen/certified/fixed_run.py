"""Fixed-point programs on integers: what generated code computes, bit for bit."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symgen.certified.fixed_point import FixedProgram
from symgen.certified.fixed_types import AFTER, TURN_BITS, IntegerStep, rounded
from symgen.numbers.types import AnyArray

Sines = Callable[[Any], tuple[Any, Any]]
"""Sine and cosine of an angle in 32 bits, as integers."""


def run(
    fixed: FixedProgram, inputs: Mapping[str, AnyArray], sines: Sines | None = None
) -> dict[str, AnyArray]:
    """The integers of the outputs (entries x states) from those of the inputs, which are within
    their limits."""
    values: list[Any] = [0] * len(fixed.at.nodes)
    for step in fixed.steps:
        values[step.row] = _value(fixed, step, values, inputs, sines)
    width, results = max(x.shape[1] for x in inputs.values()), {}
    for out in fixed.program.outputs:
        rows = np.zeros((len(out.refs), width), np.int64)
        for k, ref in enumerate(out.refs):
            if ref is not None:
                row = int(fixed.at.row[ref.node])
                value = rounded(values[row], fixed.shifts[row] - fixed.outputs[out.name])
                rows[k] = -value if ref.negative else value
        results[out.name] = rows
    return results


def _value(
    fixed: FixedProgram,
    step: IntegerStep,
    values: Sequence[Any],
    inputs: Mapping[str, AnyArray],
    sines: Sines | None,
) -> Any:
    node = fixed.at.nodes[step.row]
    operands = [values[k] for k in step.operands]
    if step.op in ("const", "angle const"):
        return np.int64(step.number)
    if step.op in ("input", "angle input"):
        return inputs[node.a][node.b] << (TURN_BITS - fixed.kind.bits) * (step.op != "input")
    if step.op in ("sin", "cos"):
        assert sines is not None
        return sines(operands[0])[step.op == "cos"]
    pairs = zip(operands, step.before_of(), strict=True)
    products, terms = step.addends([rounded(x, shift, down) for x, (_, shift, down) in pairs])
    total = sum(sign * x for sign, x in terms)
    if products:
        low = 0 if fixed.kind.low else 1
        wide = sum(sign * (a * b - low * _half(a) * _half(b)) for sign, (a, b) in products)
        outer = products[0][0]
        total = total + outer * rounded(outer * wide, step.after, AFTER in step.down)
    return total


def _half(x: Any) -> Any:
    """The lower half of integers, with a sign."""
    return (x + 2**15) % 2**16 - 2**15
