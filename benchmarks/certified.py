"""Evidence for certified bounds: random and climbed states of four robots, none of which violates a
bound, and how tight the bounds are. Writes the table of docs/certified.md.

    python -m benchmarks.certified [--states 10000000] [--write]"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import symgen
from benchmarks.page_tables import write_table
from symgen.certified.certificate import certify
from symgen.certified.domain import checked_limits, domain
from symgen.certified.enclosures import Arithmetic
from symgen.certified.options import BOXES
from symgen.certified.search import largest_results, random_inputs, results

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "certified.md"
LIMITS = (("acceleration", 10.0), ("velocity", 3.0), ("position", 3.0))
CASES = [
    (robot, quantity)
    for robot in ("ur5", "panda_arm", "quadruped", "humanoid25")
    for quantity in ("inverse_dynamics", "gravity", "mass_matrix")
]
BLOCK = 50_000
ZERO = 1e-12
"""Entries below this part of the largest one are zero but for rounding; they have no ratio."""
HEAD = (
    "| robot | function | time, s | range / largest: median | worst | error bound / seen: median "
    "| worst | violations |\n|---|---|---|---|---|---|---|---|\n"
)


def row(robot: str, quantity: str, states: int) -> tuple[str, int]:
    """The row of a function in the table, and the number of violations."""
    made = symgen.Robot(ROOT / "robots" / f"{robot}.urdf")
    function = made.trace(quantity)
    limits = checked_limits(made.model, LIMITS)
    found = domain(made.model, function.program, limits, quantity)
    start = time.process_time()
    certificate = certify(function, found, Arithmetic("float", "inline"), BOXES)
    seconds = time.process_time() - start
    refs = [ref for out in function.program.outputs for ref in out.refs]

    def entries(name: str) -> Any:
        rows = [x for out in certificate.outputs for x in getattr(out, name)]
        return np.array([x for x, ref in zip(rows, refs, strict=True) if ref is not None])

    size, error = entries("magnitude"), entries("error")
    largest, seen = largest_results(function.program, found, 20_000), np.zeros(len(size))
    rng, violations = np.random.default_rng(0), int((largest > size * (1 + 1e-12)).sum())
    for _ in range(-(-states // BLOCK)):
        inputs = random_inputs(found, BLOCK, rng)
        exact, computed = (results(function.program, inputs, kind) for kind in ("double", "float"))
        off = np.abs(computed - exact)
        slack = 1e-12 * size[:, None]
        violations += int((np.abs(exact) > size[:, None] + slack).sum())
        violations += int((off > error[:, None] + slack).sum())
        largest = np.maximum(largest, np.abs(exact).max(axis=1))
        seen = np.maximum(seen, off.max(axis=1))
    kept = (largest > ZERO * largest.max()) & (seen > 0)
    sizes, errors = size[kept] / largest[kept], error[kept] / seen[kept]
    figures = (np.median(sizes), sizes.max(), np.median(errors), errors.max())
    text = " | ".join(f"{x:.3g}" for x in (seconds, *figures))
    return f"| {robot} | `{quantity}` | {text} | {violations} |\n", violations


def main() -> None:
    """Print the table, and write it into the page where asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=10_000_000)
    parser.add_argument("--write", action="store_true", help="write the table into the page")
    options = parser.parse_args()
    table = f"{options.states:,} random states of each function, float, {BOXES} boxes:\n\n" + HEAD
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
