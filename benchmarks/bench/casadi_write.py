"""C and counts of CasADi functions: ``python -m benchmarks.bench.casadi_write u2c|sx SOURCE FOLDER
QUANTITY...``.

`u2c` makes them with urdf2casadi from a URDF of a chain, `sx` loads what pinocchio_sx wrote.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import casadi as cs

FREE = {cs.OP_INPUT, cs.OP_OUTPUT, cs.OP_CONST, cs.OP_ASSIGN, cs.OP_NEG}
"""What is no operation here: +, -, *, /, sin and cos count one each, as in symgen."""

VARIANTS = ("", "_local")
JACOBIANS = 10
"""Most joints for which urdf2casadi's functions are differentiated: beyond, gcc takes minutes
(Pinocchio's remain)."""


def operations(f: Any) -> int:
    """The operations of a function."""
    return sum(f.instruction_id(k) not in FREE for k in range(f.n_instructions()))


def gravity_down() -> list[float]:
    return [0.0, 0.0, -9.81]


def urdf2casadi(source: Path, wanted: Sequence[str], simplify: bool) -> dict[str, Any]:
    """urdf2casadi's algorithms; derivatives by CasADi."""
    from urdf2casadi.urdfparser import URDFparser

    parser = URDFparser(func_opts={})
    parser.from_file(str(source))
    chain = [link.name for link in parser.robot_desc.links]
    root, tip = chain[0], chain[-1]
    n = parser.get_n_joints(root, tip)
    q, v, a = (cs.SX.sym(name, n) for name in "qva")
    tau = parser.get_inverse_dynamics_rnea(root, tip, gravity_down())
    mass = parser.get_inertia_matrix_crba(root, tip)
    aba = parser.get_forward_dynamics_aba(root, tip, gravity_down())
    makers = {
        "inverse_dynamics": lambda: [tau(q, v, a)],
        "bias": lambda: [tau(q, v, cs.SX(n, 1))],
        "gravity": lambda: [parser.get_gravity_rnea(root, tip, gravity_down())(q)],
        "mass_matrix": lambda: [mass(q)],
        "forward_dynamics": lambda: [aba(q, v, a)],
        "inverse_dynamics_derivatives": lambda: [
            *(cs.jacobian(tau(q, v, a), x) for x in (q, v)),
            mass(q),
        ],
        "forward_dynamics_derivatives": lambda: [cs.jacobian(aba(q, v, a), x) for x in (q, v, a)],
    }
    short = [
        name
        for name in wanted
        if name in makers and (n <= JACOBIANS or not name.endswith("derivatives"))
    ]
    return {name: cs.Function(name, [q, v, a], makers[name](), {"cse": simplify}) for name in short}


def pinocchio(source: Path, wanted: Sequence[str], simplify: bool) -> dict[str, Any]:
    """Pinocchio's, of each the variant of fewer operations."""
    found = {}
    for name in wanted:
        files = [path for v in VARIANTS if (path := source / f"{name}{v}.casadi").exists()]
        found[name] = min(
            (_again(name, cs.Function.load(str(path)), simplify) for path in files), key=operations
        )
    return found


def _again(name: str, f: Any, simplify: bool) -> Any:
    """The same under a name, without common subexpressions."""
    inputs = [cs.SX.sym(x, f.size1_in(k)) for k, x in enumerate("qva")]
    outputs = f(*inputs)
    return cs.Function(
        name, inputs, list(outputs) if isinstance(outputs, tuple) else [outputs], {"cse": simplify}
    )


def write(f: Any, folder: Path) -> dict[str, Any]:
    """The C of a function, one that takes a state and a result beside it; its facts."""
    here = Path.cwd()
    os.chdir(folder)
    f.generate(f"{f.name()}.c", {"main": False})
    os.chdir(here)
    path = folder / f"{f.name()}.c"
    facts = {"operations": operations(f), "bytes": path.stat().st_size, "places": _places(f)}
    with path.open("a", encoding="utf-8") as file:
        file.write(_call(f))
    return facts


def _places(f: Any) -> list[int]:
    """Where each number that is written is in the row-major outputs, one after the other; the rest
    is zero."""
    found, start = [], 0
    for k in range(f.n_out()):
        sparsity = f.sparsity_out(k)
        rows, columns = sparsity.get_triplet()
        found += [
            start + row * sparsity.size2() + column
            for row, column in zip(rows, columns, strict=True)
        ]
        start += sparsity.numel()
    return [*found, start]


def _call(f: Any) -> str:
    sizes, starts = [f.size1_in(k) for k in range(3)], [0]
    for k in range(f.n_out()):
        starts.append(starts[-1] + f.nnz_out(k))
    inputs = f"x, x + {sizes[0]}, x + {sizes[0] + sizes[1]}" + ", 0" * (f.sz_arg() - 3)
    outputs = ", ".join(f"y + {k}" for k in starts[:-1]) + ", 0" * (f.sz_res() - f.n_out())
    return (
        f"\nvoid call_{f.name()}(const double *x, double *y)\n{{\n"
        f"  static casadi_int iw[{f.sz_iw() + 1}];\n  static double w[{f.sz_w() + 1}];\n"
        f"  const double *arg[] = {{{inputs}}};\n  double *res[] = {{{outputs}}};\n"
        f"  {f.name()}(arg, res, iw, w, 0);\n}}\n"
    )


def main(kind: str, source: str, folder: str, *wanted: str) -> None:
    """Write the C files and facts.json."""
    simplify = "plain" not in wanted
    maker = {"u2c": urdf2casadi, "sx": pinocchio}[kind]
    made = maker(Path(source), [name for name in wanted if name != "plain"], simplify)
    facts = {name: write(f, Path(folder)) for name, f in made.items()}
    (Path(folder) / "facts.json").write_text(json.dumps(facts), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
