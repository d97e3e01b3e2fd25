"""A table in Markdown: ``python -m benchmarks.manifolds`` prints it.

Nanoseconds of integration on manifolds, of rates and slopes of Jacobians, of the centroidal rate,
of the inverse mass matrix and of adjoints beside Pinocchio's."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import symgen
from benchmarks.bench.peers import DEFINES, includes
from symgen.algorithms import LINK_QUANTITIES
from symgen.native.compiler import compiler
from symgen.reading.assemble import load

ROOT = Path(__file__).resolve().parents[1]
TIMED = {
    "integrate": "integrate",
    "difference": "difference",
    "integrate_jacobians": "dIntegrate (both)",
    "centroidal_momentum_rate": "dccrba",
    "mass_matrix_inverse": "computeMinverse (upper half)",
    "frame_jacobian_dot_aligned": "getJointJacobianTimeVariation",
    "frame_hessian_aligned": "getJointKinematicHessian",
    "inverse_dynamics_vjp": "computeRNEADerivatives (whole)",
    "forward_dynamics_vjp": "computeABADerivatives (whole)",
    "inverse_dynamics_hessian": "ComputeRNEASecondOrderDerivatives (whole)",
}
"""By quantity Pinocchio's function for it, or for what has to be weighted then."""
STATES, CALLS, REPEATS, WINDOW = 64, 4000, 400, 2e5


MAIN = """
#include <stdio.h>
#include <time.h>
#include "{name}.h"
{arrays}
static double now(void)
{{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}}
int main(void)
{{
    double best, began;
    int k, r, count;
{calls}
    return 0;
}}
"""
TIMING = """    best = 1e300;
    count = {states};
    for (r = 0; r < {repeats}; ++r) {{
        began = now();
        for (k = 0; k < count; ++k) {{
            const int s = k % {states};
            (void)s;
            (void){call};
        }}
        began = (now() - began) / count;
        best = (began < best) ? began : best;
        count = {window} / best < {count} ? (int)({window} / best) : {count};
        count = (count < {states}) ? {states} : count;
    }}
    printf("{quantity} %.0f\\n", best);
"""


def own_times(file: Path, base: str) -> dict[str, float]:
    """Nanoseconds of generated C by quantity."""
    from symgen.languages.c.backend import functions

    with tempfile.TemporaryDirectory(prefix="symgen-control-") as scratch:
        folder, random = Path(scratch), np.random.default_rng(0)
        link = [link.name for body in load(file).model.moving for link in body.links][-1]
        asked = [f"{name}:{link}" if name in LINK_QUANTITIES else name for name in TIMED]
        options = {"quantities": asked, "trig": "libm", "base": base, "prefix": "arm"}
        module, _, _ = symgen.generate(file, folder, ["c"], **options)
        arrays: dict[str, str] = {}
        calls = []
        for f, name in zip(functions(module), TIMED, strict=True):
            given = []
            for a in f.arguments:
                rows = STATES if a.direction == "in" else 1
                values = random.uniform(-1, 1, (STATES, a.size)) if rows > 1 else None
                if a.direction == "in" and a.name in ("q", "q_end") and base == "floating":
                    values[:, 3:7] /= np.linalg.norm(values[:, 3:7], axis=1)[:, None]
                text = "" if values is None else " = {" + _rows(values) + "}"
                array = a.name if a.direction == "in" else f"{name}_{a.name}"
                arrays[array] = f"static double {array}[{rows}][{a.size}]{text};"
                given.append(f"{array}[s]" if rows > 1 else f"{array}[0]")
            call = f"{f.full_name}({', '.join(given)})"
            numbers = {"repeats": REPEATS, "count": CALLS, "states": STATES, "window": WINDOW}
            calls.append(TIMING.format(call=call, quantity=name, **numbers))
        text = MAIN.format(name="arm", arrays="\n".join(arrays.values()), calls="".join(calls))
        (folder / "time.c").write_text(text)
        flags = ("-O2", "-march=native", "-DARM_SELFTEST_NO_MAIN", f"-I{folder}")
        sources = [str(p) for p in folder.glob("*.c") if not p.name.endswith("_selftest.c")]
        program = str(folder / "time")
        command = compiler()
        one = [command] if isinstance(command, str) else [*command]
        subprocess.run([*one, *flags, *sources, "-lm", "-o", program], check=True)
        return _told(program)


def _rows(values: Any) -> str:
    return ", ".join("{" + ", ".join(f"{x:.4f}" for x in row) + "}" for row in values)


def _told(*command: str) -> dict[str, float]:
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: float(ns) for name, ns in map(str.split, lines)}


def pinocchio_times(program: Path, file: Path, base: str) -> dict[str, float]:
    """Nanoseconds of Pinocchio's."""
    import pinocchio

    free = (pinocchio.JointModelFreeFlyer(),) if base == "floating" else ()
    model = pinocchio.buildModelFromUrdf(str(file), *free)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as text:
        for k in range(1, model.njoints):
            there, own = model.jointPlacements[k], model.inertias[k]
            numbers = [*there.rotation.ravel(), *there.translation, own.mass, *own.lever]
            numbers += [*own.inertia.ravel()]
            kind, name = model.joints[k].shortname(), model.names[k]
            row = " ".join(f"{x!r}" for x in map(float, numbers))
            text.write(f"{kind} {name} {model.parents[k]} {row}\n")
        text.flush()
        return _told(str(program), text.name)


def built(folder: Path) -> Path:
    """The program that times Pinocchio, from the headers of its wheel."""
    program = folder / "manifold"
    library = next(
        Path(entry) / "cmeel.prefix/lib"
        for entry in sys.path
        if (Path(entry) / "cmeel.prefix/lib/libpinocchio_default.so").exists()
    )
    source = ROOT / "benchmarks" / "bench" / "manifold.cpp"
    own = ("-O2", "-DNDEBUG", "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION")
    flags = ("-std=c++17", *own, *DEFINES, *includes())
    where = (f"-L{library}", "-lpinocchio_default", f"-Wl,-rpath,{library}")
    subprocess.run(["g++", *flags, str(source), "-o", str(program), *where], check=True)
    return program


def timed() -> Iterator[str]:
    """The table of nanoseconds."""
    yield "| robot | quantity | symgen ns | function of Pinocchio | ns | Pinocchio / symgen |"
    yield "|---|---|---:|---|---:|---:|"
    with tempfile.TemporaryDirectory(prefix="symgen-control-") as scratch:
        program = built(Path(scratch))
        for robot, base in (("ur5", "fixed"), ("panda_arm", "fixed"), ("quadruped", "floating")):
            file = ROOT / "robots" / f"{robot}.urdf"
            mine, other = own_times(file, base), pinocchio_times(program, file, base)
            for quantity, peer in TIMED.items():
                a, b = mine[quantity], other[quantity]
                title = f"{robot}, {base} base"
                yield f"| {title} | `{quantity}` | {a:.0f} | {peer} | {b:.0f} | {b / a:.1f} |"


HEAD = """# Manifolds, Jacobian rates and adjoints: time compared with Pinocchio

`python -m benchmarks.manifolds` writes this page. Its C++ program takes g++ one to two minutes.

Each value is the minimum of 400 runs of 0.2 ms (at most 4,000 calls) on 64 states and one thread. The machine was shared, so the
ratios are more reliable than the times. symgen is C with the sines of the C library, compiled by gcc with -O2 -march=native.
Pinocchio {version} is compiled by g++ with -O2 -DNDEBUG and uses the library of its wheel.

Notes:

- Pinocchio computes the upper half of M⁻¹, symgen the whole matrix.
- With a fixed base, `integrate` and `difference` are additions, because positions and velocities are vectors of the same size.
- Pinocchio has no adjoints and no Hessian of weighted forces. Its times are those of the complete matrices and arrays, without the
  weighting. It has no second derivatives of the forward dynamics.

"""


def main() -> None:
    """Prints the page."""
    import pinocchio

    print(HEAD.format(version=pinocchio.__version__))
    print("\n".join(timed()))


if __name__ == "__main__":
    main()
