"""The page docs/benchmarks/adjoints.md: ``python -m benchmarks.adjoints`` prints it.

Operations of adjoints and contracted second derivatives beside the aims and beside what CasADi
makes of urdf2casadi's functions."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench.casadi_write import gravity_down, operations
from symgen.tracing.robot import Robot
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted

ROOT = Path(__file__).resolve().parents[1]
CONTRACTED = (
    "inverse_dynamics_vjp",
    "forward_dynamics_vjp",
    "inverse_dynamics_hessian",
    "forward_dynamics_hessian",
)
AIMS = {
    "UR5": (560, 1100, 1300, 3900),
    "Panda": (1250, 2600, 5500, 16500),
}
"""By robot; the last is three times the one before."""


def robots() -> dict[str, Any]:
    """The two whose counts tests/algorithms/test_counts.py guards, by name: file and model."""
    sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("support", "algorithms")]
    from public_robots import example_robot  # type: ignore[import-not-found]
    from test_counts import FINGERS, PANDA, UR5  # type: ignore[import-not-found]

    from symgen.reading.assemble import load

    files = {"UR5": (example_robot(UR5), ()), "Panda": (example_robot(PANDA), FINGERS)}
    return {name: (file, load(file, lock=lock).model) for name, (file, lock) in files.items()}


TIPS = {"UR5": ("base_link", "tool0"), "Panda": ("panda_link0", "panda_link8")}


def casadi_counts(file: Path, ends: tuple[str, str]) -> tuple[int, ...]:
    """Operations of CasADi's reverse sweep and contracted Hessian of urdf2casadi's functions,
    common subexpressions eliminated."""
    import casadi as cs
    from urdf2casadi.urdfparser import URDFparser

    parser = URDFparser(func_opts={})
    parser.from_file(str(file))
    n = parser.get_n_joints(*ends)
    q, v, a, lam = (cs.SX.sym(name, n) for name in ("q", "v", "a", "lam"))
    found = []
    for function in (
        parser.get_inverse_dynamics_rnea(*ends, gravity_down()),
        parser.get_forward_dynamics_aba(*ends, gravity_down()),
    ):
        scalar = cs.dot(lam, function(q, v, a))
        gradient = [cs.gradient(scalar, x) for x in (q, v, a)]
        blocks = [cs.jacobian(gradient[0], x) for x in (q, v, a)] + [cs.jacobian(gradient[1], v)]
        for outputs in (gradient, blocks):
            found.append(operations(cs.Function("f", [q, v, a, lam], outputs, {"cse": True})))
    return found[0], found[2], found[1], found[3]


def counted() -> Iterator[str]:
    """The table of operations."""
    yield "| robot | quantity | operations | aim | CasADi | CasADi / ours |"
    yield "|---|---|---:|---:|---:|---:|"
    for name, (file, model) in robots().items():
        own = [trace(Robot(model), Wanted.parse(q)).counts.total for q in CONTRACTED]
        rows = zip(CONTRACTED, own, AIMS[name], casadi_counts(file, TIPS[name]), strict=True)
        for quantity, mine, aim, peer in rows:
            cells = f"{mine} | {aim} | {peer} | {peer / mine:.1f}"
            yield f"| {name} | `{quantity}` | {cells} |"


HEAD = """# Adjoints and contracted Hessians

Written by `python -m benchmarks.adjoints`.

UR5 and Panda (fingers held) of example-robot-data. Aims are those of the plan; CasADi is its reverse sweep (`gradient` of
λᵀτ) and its Hessian of that, of urdf2casadi's recursive Newton-Euler and articulated-body functions in SX, common
subexpressions eliminated. The adjoints have three gradients, the Hessians four blocks; nothing else is computed.
"""
END = """
What was tried to come to the aims is in [ideas](ideas.md).
"""


def main() -> None:
    """Prints the page."""
    print(HEAD)
    print("\n".join(counted()))
    print(END, end="")


if __name__ == "__main__":
    main()
