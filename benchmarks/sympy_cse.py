"""The same recursions on SymPy expressions and on symgen's expression graph: ``python -m
benchmarks.sympy_cse`` stores operations and times in docs/benchmarks/sympy.json.

The algorithms of symgen run on any kind of number. Here each runs on SymPy symbols, and `sympy.cse`
eliminates common subexpressions of the result; then it runs on the expression graph from which
symgen generates code. Operations are additions, multiplications, divisions, sines and cosines;
negation is free for both. Times are processor times of one run in one process."""

import json
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import sympy

from benchmarks.figures.counts import ROOT, model
from benchmarks.proof import here
from symgen.algorithms import QUANTITIES
from symgen.mechanics.parameters import canonical_model
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace

FILE: Final = ROOT / "docs" / "benchmarks" / "sympy.json"
ROBOTS: Final = ("example/ur5", "example/panda", "example/talos")
WANTED: Final = {
    "inverse_dynamics": ("q", "qd", "qdd"),
    "mass_matrix": ("q",),
    "forward_dynamics": ("q", "qd", "tau"),
}
"""By quantity: its inputs."""

PASSES: Final = (None, "basic")
"""Values of `optimizations` of `sympy.cse`: its default, and with factorisation of the
expressions before."""


def operations(expressions: Sequence[Any]) -> int:
    """Operations of expressions; negation is free."""
    total = sum(sympy.count_ops(x, visual=True) for x in expressions)
    return int(
        total.subs(sympy.Symbol("NEG"), 0).replace(lambda x: x.is_Symbol, lambda x: sympy.S.One)
    )


LIMIT: Final = 120
"""Seconds after which a run of SymPy is given up."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raises TimeoutError in the block after this time."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def by_sympy(key: str, quantity: str, optimizations: str | None) -> dict[str, float] | None:
    """Operations and seconds of `sympy.cse` on the formulation with the fewest operations in
    symgen's count; None if it takes longer than `LIMIT`."""
    robot = model(key)
    inputs = [sympy.symbols(f"{name}:{robot.dof}", real=True) for name in WANTED[quantity]]
    chosen = trace(ParametricModel(robot), FunctionRequest.parse(quantity)).parts[0][1].name
    way = next(way for way in QUANTITIES[quantity].formulations if way.name == chosen)
    built = canonical_model(robot, regrouping=way.regrouping)
    start = time.process_time()
    try:
        with limited(LIMIT):
            entries = [sympy.sympify(x) for x in way.algorithm(built, *map(list, inputs))]
            replaced, left = sympy.cse(entries, optimizations=optimizations)
    except TimeoutError:
        return None
    seconds = time.process_time() - start
    return {"operations": operations([x for _, x in replaced] + list(left)), "seconds": seconds}


def by_symgen(key: str, quantity: str) -> dict[str, float]:
    """Operations and seconds of symgen, which traces all formulations of the quantity."""
    start = time.process_time()
    function = trace(ParametricModel(model(key)), FunctionRequest.parse(quantity))
    return {"operations": function.counts.total, "seconds": time.process_time() - start}


def main() -> None:
    """Measure and store."""
    rows = []
    for key in ROBOTS:
        for quantity in WANTED:
            model(key)
            row: dict[str, Any] = {
                "robot": key,
                "quantity": quantity,
                "symgen": by_symgen(key, quantity),
            }
            for optimizations in PASSES:
                name = f"cse {optimizations or 'default'}"
                row[name] = by_sympy(key, quantity, optimizations)
                print(key, quantity, name, row[name], row["symgen"], flush=True)
            rows.append(row)
    FILE.write_text(
        json.dumps(
            {"machine": here(), "limit": LIMIT, "sympy": sympy.__version__, "rows": rows}, indent=1
        )
        + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
