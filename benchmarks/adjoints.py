"""Operations of adjoints and contracted second derivatives: ours, the aims, and those of CasADi's
differentiation of urdf2casadi's functions and of Pinocchio's over casadi::SX.

``python -m benchmarks.adjoints`` counts the peers and stores them in docs/benchmarks/adjoints.json;
`make figures` writes the page docs/benchmarks/adjoints.md."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.bench.casadi_write import gravity_down, operations
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "benchmarks" / "adjoints.json"
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
    from symgen.reading.assemble import load
    from tests.algorithms.test_counts import FINGERS, PANDA, UR5  # type: ignore[import-not-found]
    from tests.support.public_robots import example_robot  # type: ignore[import-not-found]

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


def peer_counts() -> dict[str, dict[str, list[int]]]:
    """By robot and quantity: operations of urdf2casadi's and of Pinocchio's functions."""
    found = {}
    for name, (file, _, held) in robots().items():
        both = zip(of_urdf2casadi(file, TIPS[name]), of_pinocchio(file, held), strict=True)
        found[name] = dict(zip(CONTRACTED, map(list, both), strict=True))
    return found


def own_counts() -> dict[str, dict[str, int]]:
    """By robot and quantity: our operations."""
    return {
        name: {
            q: trace(ParametricModel(model), FunctionRequest.parse(q)).counts.total
            for q in CONTRACTED
        }
        for name, (_, model, _) in robots().items()
    }


def text(ours: Mapping[str, Mapping[str, int]]) -> str:
    """The page; the counts of the peers are the stored ones."""
    peers = json.loads(FILE.read_text(encoding="utf-8"))
    lines = [
        "| robot | quantity | operations | target | urdf2casadi | Pinocchio in SX | ratio |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for name, row in ours.items():
        for (quantity, mine), aim in zip(row.items(), AIMS[name], strict=True):
            one, two = peers[name][quantity]
            cells = f"{mine} | {aim} | {one} | {two} | {min(one, two) / mine:.1f}"
            lines.append(f"| {name} | `{quantity}` | {cells} |")
    return "\n".join([HEAD, *lines, END])


HEAD = """# Adjoints and contracted Hessians: operations compared with CasADi

`make figures` writes this page; `python -m benchmarks.adjoints` counts the operations of the other tools.

The robots are the UR5 and the Panda (with fixed fingers) of example-robot-data. The targets were set before the
implementation. CasADi differentiates the recursive Newton-Euler and articulated-body functions of urdf2casadi and of
Pinocchio in SX: by its forward and reverse modes (`jtimes` of τ, `gradient` of λᵀτ) and its Hessian of λᵀτ, with
elimination of common subexpressions. The last column is the smaller of both counts divided by that of symgen. An adjoint
(`vjp`) has three gradients, and a Hessian has four blocks; the functions compute nothing else.

"""
END = """
The page on [ideas](ideas.md) lists the optimisations that were tried.
"""


def main() -> None:
    """Count the operations of the peers and store them."""
    FILE.write_text(json.dumps(peer_counts(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
