"""The table of docs/howto/inverse-kinematics.md: ``python -m benchmarks.inverse_kinematics`` writes
microseconds of a UR5's inverse kinematics beside Pinocchio's C++ and, with the package pytracik,
TRAC-IK. g++ takes one to two minutes.

TRAC-IK is C++ that is called from Python; a call of its forward kinematics takes about as long as
the binding and is taken off."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pinocchio

import symgen
from benchmarks.bench.peers import DEFINES, includes
from benchmarks.page_tables import write_table

ROOT = Path(__file__).resolve().parents[1]
ROBOT = ROOT / "robots" / "ur5.urdf"
PAGE = ROOT / "docs" / "howto" / "inverse-kinematics.md"
CLOSE: Final = 1e-6
REPEATS: Final = 20
Row = tuple[str, float, float]
"""A solver, its microseconds, and the percentage of poses that it has solved."""


def main() -> None:
    """Print the table."""
    library = next(
        folder
        for folder in (Path(entry) / "cmeel.prefix/lib" for entry in sys.path)
        if (folder / "libpinocchio_default.so").exists()
    )
    with tempfile.TemporaryDirectory(prefix="symgen-ik-") as scratch:
        folder = Path(scratch)
        options = {"quantities": ["inverse_kinematics:flange"], "prefix": "arm"}
        symgen.generate(ROBOT, folder, ["c"], **options)
        sources = [str(p) for p in folder.glob("*.c") if not p.name.endswith("_selftest.c")]
        flags = ("-O2", f"-I{folder}")
        subprocess.run(["gcc", *flags, "-c", *sources], check=True, cwd=folder)
        own = (
            "-std=c++17",
            "-DNDEBUG",
            "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
            *DEFINES,
            *includes(),
            *flags,
        )
        linked = ("-lpinocchio_default", f"-L{library}")
        source = str(ROOT / "benchmarks" / "bench" / "inverse_kinematics.cpp")
        objects = [str(p) for p in folder.glob("*.o")]
        program = str(folder / "time")
        command = ["g++", *own, source, *objects, *linked, f"-Wl,-rpath,{library}", "-o", program]
        subprocess.run(command, check=True)
        (folder / "model.txt").write_text(_model())
        arguments = [program, str(folder / "model.txt"), str(folder / "problems.txt")]
        done = subprocess.run(arguments, check=True, capture_output=True, text=True)
        rows = [_row(line) for line in done.stdout.splitlines()]
        rows += _trac_ik(np.loadtxt(folder / "problems.txt"))
    least = rows[0][1]
    lines = [
        f"| {name} | {each:.3g} | {each / least:.3g} | {solved:.1f} % |"
        for name, each, solved in rows
    ]
    head = (
        "| solver | µs per solution | relative to symgen | solved to 1e-6 |\n|---|---:|---:|---:|"
    )
    write_table(PAGE, "inverse-kinematics-time", "\n".join([head, *lines, ""]))


def _row(line: str) -> Row:
    """A row that the program has printed."""
    name, each, solved = (cell.strip() for cell in line.strip("|").split("|"))
    return name, float(each), float(solved.removesuffix(" %"))


def _trac_ik(problems: Any) -> list[Row]:
    """TRAC-IK on the same problems, where it is installed: with its default limit of 5 ms."""
    try:
        from trac_ik import trac_ik
    except ImportError:
        return []
    library, least = trac_ik.pytracik, -2 * np.pi * np.ones(6)
    solver = library.TRAC_IK(
        "base", "flange", ROBOT.read_text(), 0.005, CLOSE, library.SolveType.Speed
    )
    library.set_joint_limits(solver, least, -least)
    model = pinocchio.buildModelFromUrdf(str(ROBOT))
    data, frame = model.createData(), model.getFrameId("flange")
    took, solved = [], 0
    for problem in problems:
        start, aim = problem[:6], problem[6:]
        found = np.array(library.ik(solver, start, *aim))
        pinocchio.framesForwardKinematics(model, data, found[1:])
        wanted = pinocchio.XYZQUATToSE3(aim)
        off = pinocchio.log6(data.oMf[frame].actInv(wanted)).vector
        solved += bool(found[0] >= 0 and np.linalg.norm(off) < CLOSE)
        each = _fastest(lambda start=start, aim=aim: library.ik(solver, start, *aim))
        took.append(each - _fastest(lambda start=start: library.fk(solver, start)))
    return [("TRAC-IK, Speed", 1e6 * float(np.mean(took)), 100.0 * solved / len(problems))]


def _fastest(call: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def _model() -> str:
    """The joints of the robot and its flange as Pinocchio reads them."""
    model = pinocchio.buildModelFromUrdf(str(ROBOT))
    rows = [
        (joint.shortname(), place)
        for joint, place in zip(model.joints[1:], model.jointPlacements[1:], strict=True)
    ]
    rows.append(("flange", model.frames[model.getFrameId("flange")].placement))
    numbers = [[*place.rotation.ravel(), *place.translation] for _, place in rows]
    return "".join(
        f"{name} {' '.join(repr(float(x)) for x in row)}\n"
        for (name, _), row in zip(rows, numbers, strict=True)
    )


if __name__ == "__main__":
    main()
