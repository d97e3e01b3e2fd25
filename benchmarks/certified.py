"""Evidence for certified bounds: random and adversarial states of four robots in compiled C, none
of which violates a bound, and how tight the bounds are. Writes the table of docs/certified.md.

    python -m benchmarks.certified [--states 10000000] [--write]"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import symgen
from benchmarks.page_tables import write_table
from symgen.certified.certificate import DEFAULT_BOXES, certify
from symgen.certified.domain import (
    domain,
    random_inputs,
    rounded_inward,
    search_largest_outputs,
    validated_limits,
)
from symgen.certified.enclosures import Arithmetic

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "certified.md"
LIMITS = (("acceleration", 10.0), ("velocity", 3.0), ("position", 3.0))
CASES = [
    (robot, quantity)
    for robot in ("ur5", "panda_arm", "quadruped", "humanoid25")
    for quantity in ("inverse_dynamics", "gravity", "mass_matrix")
]
BLOCK = 2_000_000
"""Results that are computed at once."""
ZERO = 1e-12
"""Entries below this part of the largest one are zero but for rounding; they have no ratio."""
KEPT = 64
"""States with the largest error of an entry from which the search goes on."""
CHILDREN = 2048
SEARCHED = 25
"""Entries of large matrices that are searched for, spread evenly."""
GENERATIONS = 120
LARGE = 400
FEWER = 200_000
"""States of functions with more than `LARGE` entries."""
HEAD = (
    "| robot | function | time, s | range / largest: median | worst | error bound / largest: median "
    "| worst | violations | fewer states |\n|---|---|---|---|---|---|---|---|---|\n"
)

Inputs = dict[str, Any]
"""The entries of each input (entries x states)."""


class Compiled:
    """A function as compiled C in float and in double, on many states at once."""

    def __init__(self, robot: symgen.Robot, quantity: str, entries: Any) -> None:
        self.entries = entries
        self.calls = [
            getattr(robot.compile(quantity, scalar=kind), quantity) for kind in ("double", "float")
        ]

    def both(self, inputs: Inputs) -> tuple[Any, Any]:
        """The results in double, and the absolute errors of those in float (entries x states)."""
        made = []
        for call, kind in zip(self.calls, (np.float64, np.float32), strict=True):
            given = [np.ascontiguousarray(x.T.astype(kind)) for x in inputs.values()]
            made.append(call(*given).reshape(len(given[0]), -1).T[self.entries].astype(float))
        return made[0], np.abs(made[1] - made[0])


def mutated(ranges: Any, parents: Inputs, rng: np.random.Generator, steps: int) -> Inputs:
    """Children of some states, in each of which a few entries have another value: a random one, a
    neighbour, or an end of the range."""
    entries = [(n, j) for n, rows in ranges.items() for j, (a, b) in enumerate(rows) if a < b]
    size = parents[entries[0][0]].shape[1]
    chosen = rng.integers(0, size, CHILDREN)
    children = {name: x[:, chosen] for name, x in parents.items()}
    for _ in range(steps):
        which = rng.integers(0, len(entries), CHILDREN)
        for k, (name, j) in enumerate(entries):
            at = np.flatnonzero(which == k)
            low, high = ranges[name][j]
            near = children[name][j, at] + rng.normal(size=len(at)) * (high - low) * 10.0 ** (
                rng.uniform(-6, -1, len(at))
            )
            kinds = rng.integers(0, 3, len(at))
            tried = [rng.uniform(low, high, len(at)), np.clip(near, low, high)]
            ends = np.where(rng.random(len(at)) < 0.5, low, high)
            values = np.choose(kinds, [*tried, ends if name != "q" else tried[1]])
            children[name][j, at] = rounded_inward(values, *np.array([low, high]))
    return children


def row(robot: str, quantity: str, asked: int) -> tuple[str, int]:
    """The row of a function in the table, and the number of violations."""
    made = symgen.Robot(ROOT / "robots" / f"{robot}.urdf")
    function = made.trace(quantity)
    limits = validated_limits(made.model, LIMITS)
    found = domain(made.model, function.program, limits, quantity)
    start = time.process_time()
    certificate = certify(function, found, Arithmetic("float", "inline"), DEFAULT_BOXES)
    seconds = time.process_time() - start
    refs = [ref for out in function.program.outputs for ref in out.refs]
    kept = np.array([ref is not None for ref in refs])

    def entries(name: str) -> Any:
        rows = [x for out in certificate.outputs for x in getattr(out, name)]
        return np.array(rows)[kept][:, None]

    size, error = entries("magnitude"), entries("error")
    compiled, rng = Compiled(made, quantity, kept), np.random.default_rng(0)
    searched = np.unique(np.linspace(0, len(size) - 1, SEARCHED).astype(int)).tolist()
    largest = search_largest_outputs(function.program, found, 20_000, entries=searched)
    seen, states = np.zeros(len(size)), min(asked, FEWER if len(refs) > LARGE else asked)
    violations = int((largest > size[:, 0] * (1 + 1e-12)).sum())
    best: list[Inputs] = [{} for _ in size]

    def judged(inputs: Inputs) -> Any:
        nonlocal largest, seen, violations
        exact, off = compiled.both(inputs)
        slack = 1e-12 * size
        violations += int((np.abs(exact) > size + slack).sum() + (off > error + slack).sum())
        largest = np.maximum(largest, np.abs(exact).max(axis=1))
        seen = np.maximum(seen, off.max(axis=1))
        return off

    block = BLOCK // len(refs)
    for _ in range(-(-states // block)):
        inputs = random_inputs(found, block, rng)
        off = judged(inputs)
        for k in searched:
            top = np.argpartition(-off[k], KEPT)[:KEPT]
            best[k] = worst(k, joined(best[k], {n: x[:, top] for n, x in inputs.items()}), compiled)
    for k in searched:
        for generation in range(GENERATIONS):
            children = mutated(found.ranges, best[k], rng, 1 + generation % 3)
            judged(children)
            best[k] = worst(k, joined(best[k], children), compiled)
    ratio = (largest > ZERO * largest.max()) & (seen > 0)
    sizes, errors = size[ratio, 0] / largest[ratio], error[ratio, 0] / seen[ratio]
    figures = (np.median(sizes), sizes.max(), np.median(errors), errors.max())
    text = " | ".join(f"{x:.3g}" for x in (seconds, *figures))
    fewer = f"{states:,}" if states < asked else ""
    return f"| {robot} | `{quantity}` | {text} | {violations} | {fewer} |\n", violations


def joined(one: Inputs, other: Inputs) -> Inputs:
    """The states of both."""
    return {n: np.concatenate([one[n], x], axis=1) for n, x in other.items()} if one else other


def worst(entry: int, inputs: Inputs, compiled: Compiled) -> Inputs:
    """The states with the largest error of an entry."""
    top = np.argsort(-compiled.both(inputs)[1][entry], kind="stable")[:KEPT]
    return {name: x[:, top] for name, x in inputs.items()}


def main() -> None:
    """Print the table, and write it into the page where asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=10_000_000)
    parser.add_argument("--write", action="store_true", help="write the table into the page")
    options = parser.parse_args()
    states = (
        f"{options.states:,} random states of each function and a search from the worst of them"
    )
    table = f"{states}, float, {DEFAULT_BOXES} boxes:\n\n" + HEAD
    total = 0
    for robot, quantity in CASES:
        text, violations = row(robot, quantity, options.states)
        print(text, end="", flush=True)
        table, total = table + text, total + violations
    if options.write:
        write_table(PAGE, "certified", table)
    if total:
        raise SystemExit(f"{total} violations")


if __name__ == "__main__":
    main()
