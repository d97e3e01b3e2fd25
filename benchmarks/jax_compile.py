"""``python -m benchmarks.jax_compile``: how long XLA takes to compile the pure functions of a UR5.

Seconds of processors, the least of some compilations in processes of their own, go into
docs/benchmarks/jax.json and into the table of docs/languages/jax.md."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import symgen
from benchmarks.page_tables import write_table

ROOT: Final = Path(__file__).resolve().parents[1]
FILE: Final = ROOT / "docs" / "benchmarks" / "jax.json"
PAGE: Final = ROOT / "docs" / "languages" / "jax.md"
NAMES: Final = {
    "mass_matrix": ("mass matrix", 1),
    "inverse_dynamics": ("inverse dynamics", 3),
    "forward_dynamics": ("forward dynamics", 3),
}
"""The title and the number of inputs of each function."""
ROUNDS: Final = 3

COMPILED: Final = """
import sys, time
import jax, jax.numpy as jnp
import ur5_jax
function = jax.jit(getattr(ur5_jax, sys.argv[1]))
jax.jit(jnp.sin).lower(jnp.ones(6)).compile()
given = [jnp.ones(6)] * int(sys.argv[2])
equations = len(jax.make_jaxpr(function)(*given).jaxpr.eqns[0].params["jaxpr"].jaxpr.eqns)
begin = time.process_time()
function.lower(*given).compile()
print(equations, time.process_time() - begin)
"""


def measured() -> dict[str, Any]:
    """Equations and seconds by function."""
    found: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        symgen.generate("robots/ur5.urdf", folder, languages=("jax",), quantities=tuple(NAMES))
        path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
        own = {"PYTHONPATH": path, "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
        for name, (_, inputs) in NAMES.items():
            command = [sys.executable, "-c", COMPILED, name, str(inputs)]
            rounds = [
                subprocess.run(
                    command, env=os.environ | own, check=True, capture_output=True, text=True
                ).stdout.split()
                for _ in range(ROUNDS)
            ]
            equations = {int(words[0]) for words in rounds}
            seconds = min(float(words[1]) for words in rounds)
            found[name] = {"equations": equations.pop(), "seconds": round(seconds, 2)}
            print(name, found[name])
    return found


def table(results: dict[str, Any]) -> str:
    """The table of the page."""
    lines = ["| UR5 | operations of XLA's graph | seconds |", "|---|---:|---:|"]
    for name, (title, _) in NAMES.items():
        row = results["functions"][name]
        lines.append(f"| {title} | {row['equations']} | {row['seconds']} |")
    return "\n".join([*lines, "", f"JAX {results['jax']}."]) + "\n"


def main() -> None:
    """Measure, store and write the table."""
    results = {"jax": version("jax"), "functions": measured()}
    FILE.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write_table(PAGE, "compilation", table(results))


if __name__ == "__main__":
    main()
