"""``python -m benchmarks.bench [--quick] [--only ROBOT,...] [--no-chains] [--out FOLDER]``:
measure, write, draw.

A whole run takes some ten minutes, and some more the first time, when Pinocchio's headers are
compiled."""

import json
import platform
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from benchmarks.bench import peers
from benchmarks.bench.build import FLAGS, FOLDER, log
from benchmarks.bench.cases import cases, chains
from benchmarks.bench.clock import ROUNDS, Clock
from benchmarks.bench.measure import CHAINS, built, rows
from benchmarks.bench.plots import draw
from benchmarks.bench.report import page

PACKAGES = ("pin", "casadi", "urdf2casadi", "example-robot-data", "numpy")
DOCS = Path("docs/benchmarks")


def machine(packages: Sequence[str] = PACKAGES) -> dict[str, Any]:
    """The processor, the compiler, the commit and the versions of `packages`. Raises
    PackageNotFoundError for a package that is not installed."""
    names = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        if line.startswith("model name")
    ]
    gcc = subprocess.run(
        ["gcc", "--version"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[0]
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    ).stdout.strip()
    cache = Path("/sys/devices/system/cpu/cpu0/cache/index1/size").read_text(encoding="utf-8")
    return {
        "processor": names[0],
        "cores": len(names),
        "instruction_cache": 1024 * int(cache.strip().removesuffix("K")),
        "gcc": gcc,
        "python": platform.python_version(),
        "commit": commit,
        "flags": FLAGS,
        "packages": {name: version(name) for name in packages},
    }


@click.command()
@click.option(
    "--quick", is_flag=True, help="Pendulum and UR5, chains of up to 10 joints, few rounds."
)
@click.option("--only", default="", help="Robots, with commas between.")
@click.option("--chains/--no-chains", "with_chains", default=True)
@click.option("--out", type=click.Path(path_type=Path), default=DOCS, show_default=True)
@click.option(
    "--draw",
    "redraw",
    is_flag=True,
    help="Measure nothing; write page and plots from results.json.",
)
def main(quick: bool, only: str, with_chains: bool, out: Path, redraw: bool) -> None:
    """Measure and write results.json, README.md and plots."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    if not redraw:
        found = measured(quick, only.split(",") if only else [], with_chains)
        (out / "results.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    (out / "README.md").write_text(page(results), encoding="utf-8")
    draw(results, out)


def measured(quick: bool, only: list[str], with_chains: bool) -> dict[str, Any]:
    """All figures."""
    log("compiling Pinocchio (minutes the first time)")
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda make: make(), (peers.cpp, peers.sx)))
    clock, rounds = Clock(), 5 if quick else ROUNDS
    wanted = only or (["pendulum", "ur5"] if quick else [case.name for case in cases()])
    long = (
        [case for case in chains(FOLDER / "chains") if not quick or case.length <= 10]
        if with_chains
        else []
    )
    robots = built([case for case in cases() if case.name in wanted])
    grown = built(long, CHAINS)
    return {
        "machine": machine() | {"trig": round(clock.trig(), 2), "cycle": round(clock.cycle(), 4)},
        "robots": [row for robot in robots for row in rows(robot, clock, rounds)],
        "chains": [
            row | {"joints": chain.case.length}
            for chain in grown
            for row in rows(chain, clock, rounds)
        ],
    }


if __name__ == "__main__":
    main()
