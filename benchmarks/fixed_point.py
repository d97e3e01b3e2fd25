"""Evidence for fixed point: random states in compiled C, none of which violates a bound. Writes the
first table of docs/fixed-point.md (`firmware.fixed_point` writes the second).

    python -m benchmarks.fixed_point [--states 1000000] [--write]"""

import argparse
import math
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.page_tables import write_table
from symgen.certified.domain import evaluated_outputs, search_largest_outputs
from symgen.certified.fixed_functions import is_angle
from symgen.jobs.job import Job
from symgen.languages.c.certified_code import fixed_functions_in_c, fixed_point, fixed_type
from symgen.languages.c.fixed_files import Integers, compile_fixed_point, files, inputs_in_si
from symgen.languages.module import Module
from symgen.numbers.scalar import Numbers

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "fixed-point.md"
LIMITS = {"acceleration": 10.0, "velocity": 3.2}
CASES = (
    ("ur5", ("inverse_dynamics", "gravity", "mass_matrix", "coriolis_matrix")),
    ("panda_arm", ("inverse_dynamics",)),
    ("quadruped", ("inverse_dynamics",)),
)
BLOCK = 50_000
SEARCHED = 20_000
"""Random states from which the search for the largest result starts."""
HEAD = (
    "| robot | function | type | largest result | error seen / largest | bound / largest "
    "| bound / seen | violations |\n|---|---|---|---|---|---|---|---|\n"
)


def states(module: Module, count: int, rng: np.random.Generator) -> Integers:
    """Integers within the limits; half of those that are no angles are at a limit in every second
    state."""
    made, kind, found = fixed_point(module).values(), fixed_type(module), Integers()
    for f in module.functions:
        for name, shape in f.program.inputs:
            found[name] = np.zeros((math.prod(shape), count), np.int64)
    for name, rows in found.items():
        for k in range(len(rows)):
            low = max(one.integers(name, k)[0] for one in made)
            high = min(one.integers(name, k)[1] for one in made)
            rows[k] = rng.integers(low, high + 1, count)
            ends = np.where(rng.random(count) < 0.5, low, high)
            quarter = rng.integers(-2, 2, count) << (kind.bits - 2)
            special = quarter if is_angle(module.robot.model, name, k) else ends
            rows[k] = np.where((rng.random(count) < 0.5) & (np.arange(count) % 2), special, rows[k])
    return found


def rows(robot: str, quantities: tuple[str, ...], scalar: str, count: int) -> list[tuple[str, int]]:
    """The rows of the functions of a robot in the table, and the numbers of violations."""
    path = str(ROOT / "robots" / f"{robot}.urdf")
    job = Job.of(path, quantities=quantities, scalar=scalar, certify_limits=LIMITS)
    module = job.module(job.load())
    with tempfile.TemporaryDirectory(prefix="symgen-fixed-") as scratch:
        for name, text in files(module).items():
            (Path(scratch) / name).write_text(text, encoding="utf-8")
        call = compile_fixed_point(module, Path(scratch))
    found = []
    for f, function in zip(fixed_functions_in_c(module), module.functions, strict=True):
        rng, bound, scales = np.random.default_rng(0), list[float](), list[float]()
        for out, traced in zip(f.fixed_function.outputs, function.program.outputs, strict=True):
            live = [e for e, ref in zip(out.error, traced.refs, strict=True) if ref is not None]
            bound += live
            scales += [2.0 ** -f.fixed.outputs[out.name]] * len(live)
        found_largest = search_largest_outputs(function.program, f.fixed_function.domain, SEARCHED)
        largest, seen, violations = float(found_largest.max()), np.zeros(len(bound)), 0
        for _ in range(-(-count // BLOCK)):
            given = states(module, BLOCK, rng)
            exact = evaluated_outputs(function.program, inputs_in_si(module, given), "double")
            off = np.abs(
                _live(call(f, given), function.program.outputs) * np.array(scales)[:, None] - exact
            )
            largest = max(largest, float(np.abs(exact).max()))
            slack = 1e-13 * np.abs(exact).max(axis=1)
            seen = np.maximum(seen, off.max(axis=1))
            violations += int((off > (np.array(bound) + slack)[:, None]).sum())
        some = seen > 0
        ratio = float(np.median(np.array(bound)[some] / seen[some]))
        text = (
            f"| {robot} | `{function.name}` | {scalar} | {largest:.3g} | {seen.max() / largest:.2g} "
            f"| {max(bound) / largest:.2g} | {ratio:.2g} | {violations} |\n"
        )
        found.append((text, violations))
    return found


def _live(integers: Integers, outputs) -> Numbers:  # type: ignore[no-untyped-def]
    return np.concatenate(
        [
            integers[out.name][[k for k, ref in enumerate(out.refs) if ref is not None]]
            for out in outputs
        ]
    ).astype(float)


def main() -> int:
    """Print or write the tables; the exit status is 1 where a bound is violated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    found = [
        row
        for robot, quantities in CASES
        for scalar in ("q31", "q15")
        for row in rows(robot, quantities, scalar, given.states)
    ]
    table = f"{given.states:,} random states of each function:\n\n{HEAD}"
    table += "".join(text for text, _ in found)
    print(table)
    if given.write:
        write_table(PAGE, "fixed point", table)
    return 1 if any(violations for _, violations in found) else 0


if __name__ == "__main__":
    raise SystemExit(main())
