"""The page docs/benchmarks/adjoints.md: ``python -m benchmarks.adjoints`` prints it.

Operations of adjoints and contracted second derivatives beside the aims and beside what CasADi
makes of urdf2casadi's functions and of Pinocchio's over its symbols."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bench.casadi_write import gravity_down, operations
from symgen.tracing.robot import RuntimeModel
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted

ROOT = Path(__file__).resolve().parents[1]
CONTRACTED = (
    "inverse_dynamics_jvp",
    "forward_dynamics_jvp",
    "inverse_dynamics_vjp",
    "forward_dynamics_vjp",
    "inverse_dynamics_hessian",
    "forward_dynamics_hessian",
)
AIMS = {
    "UR5": ("", "", 560, 1100, 1300, 3900),
    "Panda": ("", "", 1250, 2600, 5500, 16500),
}
"""By robot; the last is three times the one before."""


def robots() -> dict[str, Any]:
    """The two whose counts tests/algorithms/test_counts.py guards, by name: file, model and held
    joints."""
    sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("support", "algorithms")]
    from public_robots import example_robot  # type: ignore[import-not-found]
    from test_counts import FINGERS, PANDA, UR5  # type: ignore[import-not-found]

    from symgen.reading.assemble import load

    files = {"UR5": (example_robot(UR5), ()), "Panda": (example_robot(PANDA), FINGERS)}
    return {
        name: (file, load(file, lock=lock).model, tuple(joint for joint, _ in lock))
        for name, (file, lock) in files.items()
    }


TIPS = {"UR5": ("base_link", "tool0"), "Panda": ("panda_link0", "panda_link8")}


def differentiated(*functions: Any) -> tuple[int, ...]:
    """Operations of CasADi's sweeps forward and in reverse, and of its contracted Hessians, of
    inverse and forward dynamics, common subexpressions eliminated."""
    import casadi as cs

    n = functions[0].size1_in(0)
    q, v, a, lam = (cs.SX.sym(name, n) for name in ("q", "v", "a", "lam"))
    every, along = cs.vertcat(q, v, a), cs.SX.sym("d", 3 * n)
    found: list[list[int]] = [[], [], []]
    for function in functions:
        scalar = cs.dot(lam, function(q, v, a))
        gradient = [cs.gradient(scalar, x) for x in (q, v, a)]
        blocks = [cs.jacobian(gradient[0], x) for x in (q, v, a)] + [cs.jacobian(gradient[1], v)]
        forward = [cs.jtimes(function(q, v, a), every, along)]
        for row, outputs in zip(found, (forward, gradient, blocks), strict=True):
            made = cs.Function("f", [q, v, a, lam, along], outputs, {"cse": True})
            row.append(operations(made))
    return tuple(count for row in found for count in row)


def of_pinocchio(file: Path, held: Sequence[str]) -> tuple[int, ...]:
    """Those of Pinocchio's functions over casadi::SX, of forward dynamics in the convention with
    fewer operations."""
    import casadi as cs

    from benchmarks.bench.peers import sx
    from benchmarks.bench.plain import Plain

    program = sx().resolve()
    with tempfile.TemporaryDirectory(prefix="symgen-adjoints-") as scratch:
        model = Path(scratch) / "model.txt"
        model.write_text(Plain.of(file, held, False).text, encoding="utf-8")
        names = ("inverse_dynamics", "forward_dynamics", "forward_dynamics_local")
        subprocess.run([program, model, scratch, *names], check=True)
        tau, *both = (cs.Function.load(f"{scratch}/{name}.casadi") for name in names)
        found = [differentiated(tau, qdd) for qdd in both]
    return tuple(map(min, zip(*found, strict=True)))


def of_urdf2casadi(file: Path, ends: tuple[str, str]) -> tuple[int, ...]:
    """Those of urdf2casadi's functions."""
    from urdf2casadi.urdfparser import URDFparser

    parser = URDFparser(func_opts={})
    parser.from_file(str(file))
    return differentiated(
        parser.get_inverse_dynamics_rnea(*ends, gravity_down()),
        parser.get_forward_dynamics_aba(*ends, gravity_down()),
    )


def counted() -> Iterator[str]:
    """The table of operations."""
    yield "| robot | quantity | operations | aim | urdf2casadi | Pinocchio in SX | of ours |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for name, (file, model, held) in robots().items():
        own = [trace(RuntimeModel(model), Wanted.parse(q)).counts.total for q in CONTRACTED]
        peers = of_urdf2casadi(file, TIPS[name]), of_pinocchio(file, held)
        rows = zip(CONTRACTED, own, AIMS[name], *peers, strict=True)
        for quantity, mine, aim, one, two in rows:
            cells = f"{mine} | {aim} | {one} | {two} | {min(one, two) / mine:.1f}"
            yield f"| {name} | `{quantity}` | {cells} |"


HEAD = """# Adjoints and contracted Hessians

Written by `python -m benchmarks.adjoints`.

UR5 and Panda (fingers held) of example-robot-data. Aims are those of the plan; CasADi is its forward and reverse sweep
(`jtimes` of τ, `gradient` of λᵀτ) and its Hessian of that, of urdf2casadi's and of Pinocchio's recursive Newton-Euler and articulated-body functions in
SX, common subexpressions eliminated; the last column has the smaller of both by ours. The adjoints have three gradients,
the Hessians four blocks; nothing else is computed.
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
