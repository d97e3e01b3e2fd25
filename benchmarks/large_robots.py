"""``python -m benchmarks.large_robots [JOINTS,...] [--page]``: loops over the bodies beside Pinocchio's
C++, and CasADi's C where it is small, on random chains and trees, in turns in one process.

The results go into docs/benchmarks/large_robots.json, and a table and a picture into docs/large.md
(``--page``: only these). The first time g++ compiles Pinocchio's headers for some minutes."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

import symgen
from benchmarks.bench import ours, peers
from benchmarks.bench.__main__ import machine
from benchmarks.bench.build import FLAGS, FOLDER, empty, log, python
from benchmarks.bench.cases import QUANTITIES, ROBOTS, Case, cases
from benchmarks.bench.clock import Clock, difference, timed
from benchmarks.bench.contender import Contender, Order, states
from benchmarks.bench.plain import Plain
from benchmarks.bench.plots import LOOKS
from benchmarks.page_tables import write_table
from benchmarks.pictures import save
from symgen.inspection.rendering import new_figure, styled
from symgen.languages.c.options import TARGETS
from tests.support.random_trees import anywhere, inertia

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
FILE: Final = DOCS / "benchmarks" / "large_robots.json"
NAMES: Final = (
    "inverse_dynamics",
    "mass_matrix",
    "inverse_dynamics_derivatives",
    "forward_dynamics",
    "forward_dynamics_derivatives",
)
OPTIONS: Final = ("--lang", "c", "--body-loops", "yes")
KINDS: Final = {"straight": ("--lang", "c", "--zeros", "once"), "loops": OPTIONS}
"""Straight-line code and loops of the robots `SMALLER`, and what of them is measured."""
SMALLER: Final = ("snake16", "quadruped_floating", "talos")
LONG: Final = ("regressor", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
SMALL: Final = "humanoid25"
"""The robot on a Cortex-M7."""
SIZES: Final = (20, 50, 100, 200)
BRANCHING: Final = {"chain": 0.0, "tree": 0.3}
"""How often the parent of a link is any link and not the one before."""
AXES: Final = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
CASADI: Final = dict.fromkeys((20, 50), ("inverse_dynamics", "mass_matrix", "forward_dynamics"))
"""What of CasADi's C is compiled in reasonable time, with -O2."""
ROUNDS: Final = 101
TOOLS: Final = ("symgen", "pinocchio", "casadi")

Row = dict[str, Any]


def written(kind: str, joints: int, path: Path) -> None:
    """Write the URDF of a random robot with revolute joints about an axis of their links."""
    rng, builder = Random(joints), symgen.Builder(kind).link("link0")
    for k in range(1, joints + 1):
        parent = rng.randrange(k) if rng.random() < BRANCHING[kind] else k - 1
        place, axis = anywhere(rng), rng.choice(AXES)
        m, hx, hy, hz, xx, xy, xz, yy, yz, zz = inertia(rng)
        centre, tensor = [hx / m, hy / m, hz / m], [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        builder.link(f"link{k}", m, centre, about(m, centre, tensor))
        builder.joint(
            f"joint{k:04}",
            "revolute",
            f"link{parent}",
            f"link{k}",
            place.position,
            rotation=place.rotation,
            axis=axis,
            lower=-3.0,
            upper=3.0,
            velocity=10.0,
            effort=100.0,
        )
    symgen.Robot(builder).write_urdf(path)


def about(m: float, c: Sequence[float], tensor: Any) -> Any:
    """An inertia about the centre of mass from that about the origin."""
    return np.array(tensor) - m * (np.dot(c, c) * np.eye(3) - np.outer(c, c))


def built(kind: str, joints: int) -> tuple[Plain, Order, list[Contender]]:
    """A robot's functions of all tools."""
    log(f"{kind}, {joints} joints: building")
    folder = empty(FOLDER / f"large-{kind}{joints}")
    file = folder / "robot.urdf"
    written(kind, joints, file)
    plain = Plain.of(file, (), floating=False)
    model = folder / "model.txt"
    model.write_text(plain.text, encoding="utf-8")
    where, case = folder / "symgen", Case(kind, file, quantities=NAMES)
    words = [word for name in NAMES for word in ("--quantity", name)]
    words += ["--trig", "inline", "--prefix", ours.PREFIX]
    cost = python("symgen", "generate", str(file), "-o", str(where), *OPTIONS, *words)
    manifest = json.loads((where / "manifest.json").read_text(encoding="utf-8"))
    flags = (*FLAGS["fast"], *ours.EXACT_ENOUGH)
    mine = ours.compiled_as("symgen", flags, where, manifest, plain, cost)
    order = Order.of(plain, [row["joint"] for row in manifest["joints"]])
    small = Case(kind, file, quantities=CASADI.get(joints, ()))
    casadi = peers.sx_contenders(small, model, folder, order, ("O2",)) if small.quantities else []
    return plain, order, [*mine, *peers.cpp_contenders(case, plain, model, order), *casadi]


def rows(clock: Clock, kind: str, joints: int) -> Iterator[Row]:
    """Nanoseconds of each tool, the better of two conventions, by quantity."""
    plain, _, every = built(kind, joints)
    drawn = states(plain)
    for name in NAMES:
        several = [one for one in every if one.quantity == name]
        error = max(difference(clock, one, several[0], drawn) for one in several)
        times: dict[str, float] = {}
        for one, spent in zip(several, timed(clock, several, drawn, ROUNDS), strict=True):
            tool = one.tool.split()[0]
            times[tool] = min(spent["minimum"], times.get(tool, spent["minimum"]))
        facts = several[0].facts
        row = {"kind": kind, "joints": joints, "quantity": name, "difference": error, **times}
        log(str(row))
        yield row | {
            key: facts[key] for key in ("operations", "bytes", "code", "compile", "generation")
        }


def beside(clock: Clock, case: Case) -> Iterator[Row]:
    """Nanoseconds of straight-line code and of loops, by quantity."""
    plain, found = case.plain(), {}
    for kind, options in KINDS.items():
        where = empty(FOLDER / f"large-{case.name}-{kind}")
        words = [word for name in LONG for word in ("--quantity", name)]
        words += ["--trig", "inline", "--prefix", ours.PREFIX, *case.options]
        cost = python("symgen", "generate", str(case.file), "-o", str(where), *options, *words)
        manifest = json.loads((where / "manifest.json").read_text(encoding="utf-8"))
        flags = (*FLAGS["fast"], *ours.EXACT_ENOUGH)
        found[kind] = ours.compiled_as(kind, flags, where, manifest, plain, cost)
    drawn = states(plain)
    for several in zip(*found.values(), strict=True):
        times = timed(clock, several, drawn, ROUNDS)
        spent = {one.tool: row["minimum"] for one, row in zip(several, times, strict=True)}
        error = difference(clock, several[1], several[0], drawn)
        row = {"robot": case.name, "quantity": several[0].quantity, "difference": error, **spent}
        log(str(row))
        yield row


def microcontroller() -> Row:
    """Bytes of stack, of code and of constant tables (with the names and limits of joints) of
    derivatives of forward dynamics on a Cortex-M7."""
    folder = empty(FOLDER / "large-m7")
    words = ("--quantity", NAMES[-1], "--target", "cortex-m7", "--prefix", ours.PREFIX)
    file = str(ROBOTS / f"{SMALL}.urdf")
    python("symgen", "generate", file, "-o", str(folder), *OPTIONS, *words)
    report = json.loads((folder / f"{ours.PREFIX}_report.json").read_text(encoding="utf-8"))
    sizes: Row = report["functions"][NAMES[-1]]
    row, where = TARGETS["cortex-m7"], {"cwd": folder, "check": True}
    command = [row.compiler, *row.flags, "-O2", "-c", f"{ours.PREFIX}.c", "-o", "tables.o"]
    subprocess.run(command, **where)
    size = [row.compiler.replace("gcc", "size"), "tables.o"]
    printed = subprocess.run(size, capture_output=True, text=True, **where).stdout
    tables = sum(map(int, printed.splitlines()[1].split()[:3]))
    return {**{key: sizes[key] for key in ("stack", "code")}, "tables": tables}


def table(found: Sequence[Row]) -> str:
    """Microseconds of symgen, and how many times as long the others take."""
    lines = ["| robot | joints | " + " | ".join(QUANTITIES[name] for name in NAMES) + " |"]
    lines.append("|---|---:|" + "---:|" * len(NAMES))
    for kind in BRANCHING:
        for joints in SIZES:
            cells = [_cell(r) for r in found if (r["kind"], r["joints"]) == (kind, joints)]
            if cells:
                lines.append(f"| {kind} | {joints} | {' | '.join(cells)} |")
    return "\n".join(lines)


def comparison(found: Sequence[Row]) -> str:
    """Microseconds of straight-line code and of loops."""
    lines = ["| straight-line / loops | " + " | ".join(QUANTITIES[name] for name in LONG) + " |"]
    lines.append("|---|" + "---:|" * len(LONG))
    for robot in SMALLER:
        times = [(r["straight"] / 1e3, r["loops"] / 1e3) for r in found if r["robot"] == robot]
        cells = (f"{a:.2f} / **{b:.2f}**" if b < a else f"**{a:.2f}** / {b:.2f}" for a, b in times)
        lines.append(f"| {robot.replace('_', ', ')} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row) -> str:
    ratios = [f"{row[tool] / row['symgen']:.1f}" for tool in TOOLS[1:] if tool in row]
    return f"{row['symgen'] / 1e3:.1f} ({', '.join(ratios)})"


@styled
def curves(found: Sequence[Row]) -> Any:
    """Microseconds over joints, a panel for each quantity."""
    figure = new_figure(13, 3.4)
    for axis, name in zip(figure.subplots(1, len(NAMES)), NAMES, strict=True):
        for tool, look in zip(TOOLS, ("symgen", "Pinocchio", "CasADi"), strict=True):
            for kind, line in zip(BRANCHING, ("-", ":"), strict=True):
                points = [
                    (row["joints"], row[tool] / 1e3)
                    for row in found
                    if (row["kind"], row["quantity"]) == (kind, name) and tool in row
                ]
                color, mark = LOOKS[look]
                if points:
                    x, y = zip(*points, strict=True)
                    axis.loglog(x, y, f"{mark}{line}", color=color, ms=4, label=f"{look}, {kind}")
        axis.set(title=QUANTITIES[name], xlabel="joints")
        axis.set_xticks(SIZES, [*map(str, SIZES)])
        axis.minorticks_off()
    figure.axes[0].set_ylabel("time per call, µs")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def main(words: list[str]) -> None:
    """Measure, store, and write the page."""
    page = DOCS / "large.md"
    if words != ["--page"]:
        FOLDER.mkdir(parents=True, exist_ok=True)
        sizes = [*map(int, words[0].split(","))] if words else SIZES
        clock, load = Clock(), os.getloadavg()[0]
        found = [row for kind in BRANCHING for n in sizes for row in rows(clock, kind, n)]
        here = machine(("pin", "casadi")) | {"load": load}
        smaller = [row for case in cases() if case.name in SMALLER for row in beside(clock, case)]
        stored = {"machine": here, "rows": found, "smaller": smaller, "m7": microcontroller()}
        FILE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    here, found = stored["machine"], stored["rows"]
    small = stored["m7"]
    text = (
        f"\n{here['processor']} (load {here['load']:.0f}), gcc with `{' '.join(FLAGS['fast'])}`, "
        f"Pinocchio {here['packages']['pin']}, CasADi {here['packages']['casadi']}.\n\n"
        "![Time of one call over the number of joints](benchmarks/large_robots.svg)\n\n"
        f"The derivatives of forward dynamics of `robots/{SMALL}.urdf` on a Cortex-M7 (`--target cortex-m7`, double) take "
        f"{(small['code'] + small['tables']) / 1e3:.0f} kB of flash ({small['tables'] / 1e3:.0f} kB of them constant tables) and {small['stack'] / 1e3:.0f} kB of stack.\n"
    )
    write_table(page, "large robots", f"{table(found)}\n{text}")
    write_table(page, "loops or not", comparison(stored["smaller"]))
    save(curves(found), DOCS / "benchmarks" / "large_robots.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
