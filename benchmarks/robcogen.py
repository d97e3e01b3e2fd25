"""Our C beside the C++ that RobCoGen wrote: ``python -m benchmarks.robcogen CONTROL_TOOLBOX`` prints
a table in Markdown.

RobCoGen itself is on no registry that this project reaches; what it wrote for HyA, an arm of six
joints, is in the control toolbox of ETH Zurich (a checkout of github.com/ethz-adrl/control-toolbox),
and that is compiled here with the flags of our C. The same arm is built from what that code says of
its links, and values are compared before they are timed. Needs Eigen and a C++ compiler.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import symgen
from symgen.native.compiler import compiler
from symgen.reading.builder import Builder

FLAGS = ("-O3", "-march=native", "-DNDEBUG")
QUANTITIES = ("inverse_dynamics", "gravity", "mass_matrix", "forward_dynamics")
SOURCE = Path(__file__).with_suffix(".cpp")


def arm(described: str) -> Builder:
    """The arm whose links' spatial transforms (from the parent, at q = 0) and spatial inertias
    RobCoGen's code prints; its joints turn about z of their links."""
    robot = Builder("arm").link("link0")
    for k, line in enumerate(described.splitlines()):
        x, inertia = np.array(line.split(), float).reshape(2, 6, 6)
        turned, mass = x[:3, :3].T, inertia[5, 5]
        com = _vector(inertia[:3, 3:]) / mass
        about = inertia[:3, :3] - mass * (com @ com * np.eye(3) - np.outer(com, com))
        at = _vector(-turned @ x[3:, :3])
        robot.link(f"link{k + 1}", mass, com.tolist(), about.tolist())
        where = {"xyz": at.tolist(), "rotation": turned.round(15).tolist()}
        robot.joint(f"joint{k + 1}", "continuous", f"link{k}", f"link{k + 1}", **where)
    return robot


def _vector(cross: Any) -> Any:
    """v of the matrix v x."""
    return np.array((cross[2, 1], cross[0, 2], cross[1, 0]))


def table(toolbox: Path) -> Iterator[str]:
    """Lines of Markdown: nanoseconds of each, their ratio, and how far the values are apart."""
    yield "| quantity | symgen ns | RobCoGen ns | RobCoGen / symgen | difference |"
    yield "|---|---:|---:|---:|---:|"
    with tempfile.TemporaryDirectory(prefix="symgen-robcogen-") as scratch:
        for line in _timed(toolbox, Path(scratch)).splitlines():
            name, ours, theirs, apart = line.split()
            ratio = f"**{float(theirs) / float(ours):.1f}**"
            yield f"| {name} | {ours} | {theirs} | {ratio} | {apart} |"


def _timed(toolbox: Path, folder: Path) -> str:
    robot = arm(_told(toolbox, folder / "described"))
    symgen.generate(robot, folder, ["c"], quantities=QUANTITIES, prefix="arm")
    found = compiler()
    command = [found] if isinstance(found, str) else [*found]
    ours = [str(path) for path in sorted(folder.glob("*.c")) if "selftest" not in path.name]
    subprocess.run([*command, *FLAGS, "-ffp-contract=fast", "-c", *ours], check=True, cwd=folder)
    objects = map(str, sorted(folder.glob("*.o")))
    return _told(toolbox, folder / "timed", "-DOURS", f"-I{folder}", *objects)


def _told(toolbox: Path, program: Path, *words: str) -> str:
    """What the program prints, compiled with the headers of the toolbox."""
    roots = ("ct_rbd/include/ct", "ct_models/include")
    headers = ("-isystem", "/usr/include/eigen3", *(f"-I{toolbox / root}" for root in roots))
    given = (*headers, str(SOURCE), *words, "-lm", "-o", str(program))
    subprocess.run(["g++", "-std=c++17", "-w", *FLAGS, *given], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "ct_rbd").is_dir():
        raise SystemExit(__doc__)
    print("\n".join(table(Path(sys.argv[1]))))
