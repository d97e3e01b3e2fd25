"""Large results of a program within the ranges of its inputs, by random states and coordinate
ascent: what a certified range is compared with from below."""

from collections.abc import Collection, Mapping
from typing import Final

import numpy as np

from symgen.certified.domain import Domain
from symgen.compiler.evaluate import levels, values_of
from symgen.compiler.program import Program
from symgen.numbers.trig import TYPES
from symgen.numbers.types import Numbers

POSITION_VALUES: Final = 49
"""Values of a position that the ascent tries."""

STARTS: Final = 16
"""States from which the ascent of an output entry begins."""

PASSES: Final = 2

Inputs = Mapping[str, Numbers]
"""The entries of each input (entries x states)."""


def random_inputs(domain: Domain, count: int, rng: np.random.Generator) -> dict[str, Numbers]:
    """Random states of the domain in numbers of single precision. In half of them velocities and
    accelerations are at the ends of their ranges."""
    inputs = {}
    for name, ranges in domain.ranges.items():
        lower, upper = np.array(ranges).T[:, :, None]
        x = rng.uniform(lower, upper, (len(ranges), count))
        if name != "q":
            x[:, ::2] = np.where(rng.random(x[:, ::2].shape) < 0.5, lower, upper)
        inputs[name] = rounded_inward(x, lower, upper)
    return inputs


def rounded_inward(x: Numbers, lower: Numbers, upper: Numbers) -> Numbers:
    """Numbers of single precision next to `x` that are not outside of the range."""
    near = x.astype(np.float32)
    near = np.where(near > upper, np.nextafter(near, np.float32(-np.inf)), near)
    near = np.where(near < lower, np.nextafter(near, np.float32(np.inf)), near)
    rounded: Numbers = near.astype(np.float64)
    return rounded


def results(program: Program, inputs: Inputs, scalar: str) -> Numbers:
    """The output entries, without structural zeros, as code in a scalar type computes them."""
    given = {name: x.astype(TYPES[scalar]) for name, x in inputs.items()}
    at, count = levels(program), max(np.shape(x)[1] for x in inputs.values())
    for name, shape in program.inputs:
        if name not in given:  # not read by any result
            given[name] = np.zeros((int(np.prod(shape)), count), TYPES[scalar])
    values = values_of(program, given, scalar)
    rows = np.concatenate([at.of(out.refs)[1] for out in program.outputs])
    signs = [r.negative for out in program.outputs for r in out.refs if r is not None]
    signed: Numbers = np.where(np.array(signs)[:, None], -1.0, 1.0) * values[rows]
    return signed


def largest_results(
    program: Program,
    domain: Domain,
    states: int,
    seed: int = 0,
    climbed: Collection[int] | None = None,
) -> Numbers:
    """The largest absolute value of each output entry that is not always zero, among random states
    and after a coordinate ascent from the largest of them, for all entries or some."""
    rng = np.random.default_rng(seed)
    inputs = random_inputs(domain, states, rng)
    found = np.abs(results(program, inputs, "double"))
    best: Numbers = found.max(axis=1)
    for k in range(len(found)) if climbed is None else climbed:
        top = np.argsort(found[k])[-STARTS:]
        start = {n: x[:, top].copy() for n, x in inputs.items()}
        high = _coordinate_ascent(program, domain, start, k)
        best = np.maximum(best, np.abs(results(program, high, "double")).max(axis=1))
    return best


def _coordinate_ascent(
    program: Program, domain: Domain, start: dict[str, Numbers], entry: int
) -> Inputs:
    """States in which one output entry is larger, by trying values of one input at a time."""
    for _ in range(PASSES):
        for name, ranges in domain.ranges.items():
            for j, (lower, upper) in enumerate(ranges):
                if lower == upper:
                    continue
                count = POSITION_VALUES if name == "q" else 3
                line = rounded_inward(np.linspace(lower, upper, count), *np.array([lower, upper]))
                width = start[name].shape[1]
                tried = {n: np.tile(x, (1, count)) for n, x in start.items()}
                tried[name][j] = np.repeat(line, width)
                sizes = np.abs(results(program, tried, "double")[entry]).reshape(count, width)
                start[name][j] = line[sizes.argmax(axis=0)]
    return start
