"""``python -m benchmarks.loop_times`` writes docs/benchmarks/closed-loops.md: forward dynamics of
the robots with closed loops beside Pinocchio's C++ constrained dynamics, in turns in one process."""

import ctypes
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

import symgen
from benchmarks.bench.build import FOLDER, all_compiled, empty, linked, log
from benchmarks.bench.clock import SLICE, Clock
from benchmarks.bench.contender import STATES, Contender, Order, address
from benchmarks.bench.peers import pinocchio_library
from benchmarks.bench.plain import Plain
from benchmarks.loop_energy import TABLE as ENERGY
from tests.algorithms import test_cassie
from tests.support.loops import delta
from tests.support.open_tree import OpenTree

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "benchmarks" / "closed-loops.md"
NAMES: Final = ("five_bar", "excavator", "ankle", "palletiser", "three_rrr", "stewart")
ROBOTS: Final = (*NAMES, "delta", "Cassie")
FLAGS: Final = ("-std=c99", "-O3", "-march=native", "-ffp-contract=fast")
ROUNDS: Final = 41
MU: Final = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7)
ITERATIONS: Final = (1, 2, 3, 5, 10, 20)
"""Settings of Pinocchio that are tried, the cheapest first. At mu = 0 the dependent rows of planar
loops give wrong accelerations without an error."""
TOLERANCE: Final = 1e-6
"""Allowed difference of accelerations, of the largest entry."""
CALL: Final = """#include "r.h"
static double w[20000];
void call(const double *x, double *y) {{ (void)w; (void)r_forward_dynamics({}); }}
"""


@cache
def pinocchio() -> ctypes.CDLL:
    """Pinocchio's C++, compiled with its headers: a minute the first time."""
    library = pinocchio_library("constrained_cpp.cpp")
    library.pin_set.argtypes = [ctypes.c_double, ctypes.c_int]
    return library


@dataclass(frozen=True)
class Case:
    """A robot with closed loops: its name, symgen's model and the URDF of its open tree."""

    name: str
    robot: symgen.Robot
    tree: str

    @classmethod
    def of(cls, name: str) -> "Case":
        """A robot of robots/, Cassie, or the delta robot of the tests, whose rods are links."""
        if name == "Cassie":
            return cls(name, test_cassie.robot(), test_cassie.tree())
        if name == "delta":
            with TemporaryDirectory() as folder:
                path = Path(folder) / "tree.urdf"
                symgen.Robot(delta(closed=False)).write_urdf(path)
                return cls(name, symgen.Robot(delta()), path.read_text(encoding="utf-8"))
        file = ROOT / "robots" / f"{name}.urdf"
        text = file.read_text(encoding="utf-8")
        tree = re.sub(r"<loop .*?</loop>", "", text, flags=re.DOTALL)
        return cls(name, symgen.Robot(file), tree)


def ours(robot: symgen.Robot, folder: Path) -> int:
    """The address of symgen's C."""
    nq, n = len(robot.positions), robot.dof
    options: dict[str, Any] = {"quantities": ("forward_dynamics",), "trig": "inline"}
    robot.generate(folder, ["c"], prefix="r", zeros="once", **options)
    header = (folder / "r.h").read_text(encoding="utf-8")
    takes_work = re.search(r"r_forward_dynamics\([^)]*\bw\[", header) is not None
    words = ["x", f"x + {nq}", f"x + {nq + n}", *(["w"] if takes_work else []), "y"]
    (folder / "call.c").write_text(CALL.format(", ".join(words)), encoding="utf-8")
    sources = [folder / "r_forward_dynamics.c", folder / "call.c"]
    made = [path for path, _ in all_compiled(sources, (*FLAGS, f"-I{folder}"), header)]
    library = linked(made, folder / "ours.so", "-lm").resolve()
    return address(ctypes.CDLL(str(library)), "call")


def states(tree: OpenTree) -> tuple[Any, Any, list[Any]]:
    """Random states at which the loops close: those of symgen, those of all joints of the open
    tree in Pinocchio's order, and G and k of each."""
    random, coupling = np.random.default_rng(0), tree.coupling
    size = 1.0 if not coupling.newton_positions else 0.4
    small, large, motions = [], [], []
    for _ in range(STATES):
        q = coupling.normalized(random.uniform(-size, size, coupling.positions).tolist())
        qd, tau = random.uniform(-2, 2, (2, coupling.velocities))
        at, _ = coupling.at(q, qd.tolist())
        rates = np.array(at.body_rates(qd.tolist()), float)[tree.order]
        small.append([*q, *qd, *tau])
        large.append(np.concatenate([tree.positions(q), rates, tree.spread(tau)]))
        motions.append(
            (at.velocity_matrix[tree.order], np.array(at.bias_accelerations, float)[tree.order])
        )
    return np.array(small), np.array(large), motions


def row(name: str, clock: Clock) -> tuple[str, float]:
    """The line of a robot, and the ratio. Raises StopIteration where accelerations differ."""
    log(name)
    folder, case, library = empty(FOLDER / f"loops-{name}"), Case.of(name), pinocchio()
    robot, tree = case.robot, OpenTree.of(case.robot.model, case.tree)
    (folder / "tree.urdf").write_text(case.tree, encoding="utf-8")
    plain = Plain.of(folder / "tree.urdf", (), bool(tree.base))
    (folder / "model.txt").write_text(plain.text, encoding="utf-8")
    (folder / "loops.txt").write_text(_loops(tree), encoding="utf-8")
    files = (str(folder / part).encode() for part in ("model.txt", "loops.txt"))
    if library.pin_load(*files):
        raise RuntimeError(f"Pinocchio does not take {name}")
    small, large, motions = states(tree)
    order = Order.same(plain)
    pair = [
        Contender(tool, "forward_dynamics", at, order, 0, lambda flat: flat)
        for tool, at in (
            ("symgen", ours(robot, folder / "c")),
            ("pinocchio", address(library, "pin_constrained")),
        )
    ]
    iterations = next(n for n in ITERATIONS if _agree(n, clock, pair, (small, large), motions))
    times = _times(clock, pair, (small, large))
    operations = robot.trace("forward_dynamics").counts.total
    loops, ratio = len(robot.model.closures), times[1] / times[0]
    joints = tree.tree.njoints - 1
    cells = (name, f"{joints}, {loops}, {robot.dof}", f"{operations:,}", f"{times[0]:,.0f}")
    line = (*cells, f"{times[1]:,.0f} ({iterations})", f"{ratio:.1f}")
    return f"| {' | '.join(line)} |", ratio


def _loops(tree: OpenTree) -> str:
    """The cut joints as constrained_cpp.cpp reads them."""
    lines = []
    for closure in tree.model.closures:
        ends = zip(closure.bodies, closure.points, strict=True)
        joints = ((tree.joint(body), point) for body, point in ends)
        lines.append(" ".join(f"{joint} {' '.join(map(repr, p))}" for joint, p in joints))
    return "\n".join(lines) + "\n"


def _agree(
    iterations: int, clock: Clock, pair: list[Contender], given: tuple[Any, Any], motions: Any
) -> bool:
    """Whether Pinocchio, with some iterations and the first mu that suffices, has the accelerations
    of symgen."""
    return any(_difference(mu, iterations, clock, pair, given, motions) < TOLERANCE for mu in MU)


def _difference(
    mu: float,
    iterations: int,
    clock: Clock,
    pair: list[Contender],
    given: tuple[Any, Any],
    motions: Any,
) -> float:
    """The largest difference of accelerations of all joints, of the largest entry."""
    library, worst = pinocchio(), 0.0
    library.pin_set(mu, iterations)
    for k, (g, rest) in enumerate(motions):
        found, wanted = np.zeros(g.shape[1]), np.zeros(len(g))
        for one, x, out in zip(pair, given, (found, wanted), strict=True):
            clock.run(one, 1, np.repeat(x[k : k + 1], STATES, axis=0), out)
        library.pin_read(wanted.ctypes.data_as(ctypes.c_void_p))
        worst = max(worst, float(np.abs(g @ found + rest - wanted).max() / np.abs(wanted).max()))
    return worst


def _times(clock: Clock, pair: list[Contender], given: tuple[Any, Any]) -> list[float]:
    """Nanoseconds of each: the medians of the turns."""
    out = np.zeros(256)
    calls = [
        int(SLICE / clock.run(one, 256, x, out)) + 64 for one, x in zip(pair, given, strict=True)
    ]
    turns = [
        [clock.run(one, n, x, out) for one, n, x in zip(pair, calls, given, strict=True)]
        for _ in range(ROUNDS)
    ]
    return [median(column) for column in zip(*turns, strict=True)]


HEAD: Final = """# Closed loops: forward dynamics compared with Pinocchio

`python -m benchmarks.loop_times` writes this page. Its C++ program takes g++ some minutes.

The table has the robots of `robots/` with closed loops and two more. The rods of this delta robot are links. Cassie, of
`example-robot-data`, has a floating base and two loops of Newton's method; its module is generated with `--snap-angles 0.001`.

symgen's function takes the independent coordinates and has no loop or
factorisation at run time; Pinocchio's `constraintDynamics` takes the coordinates of the open tree, which must satisfy the loops,
and one 3D constraint for each cut joint. Its iterations are the fewest, and its mu is the least of 1e-12 to 1e-7, with which the
accelerations of all joints agree to {tolerance:g} of the largest at {states} random states. With mu = 0 the dependent rows of planar loops
give wrong accelerations. Both functions go through these states; a time is the median of {rounds} turns in one process. symgen is C with `--zeros once --trig inline`, compiled by gcc with
`{flags}`; Pinocchio {version} is compiled by g++ with `-O3 -march=native -DNDEBUG`. The processor is
{processor}, shared (load {load:.0f}), so the ratios are more reliable than the times; symgen at {commit}.

symgen is {least:.0f} to {most:.0f} times faster.

| robot | joints, loops, coordinates | operations | symgen, ns | Pinocchio, ns (iterations) | ratio |
|---|---|---:|---:|---:|---:|
"""


def main() -> None:
    """Write the page."""
    import os

    import pinocchio as pin

    from benchmarks.bench.__main__ import machine

    clock, load = Clock(), os.getloadavg()[0]
    rows = [row(name, clock) for name in ROBOTS]
    ratios, here = [ratio for _, ratio in rows], machine(())
    head = HEAD.format(
        tolerance=TOLERANCE,
        states=STATES,
        rounds=ROUNDS,
        flags=" ".join(FLAGS),
        version=pin.__version__,
        load=load,
        least=min(ratios),
        most=max(ratios),
        **{name: here[name] for name in ("processor", "commit")},
    )
    text = head + "".join(f"{line}\n" for line, _ in rows)
    before = PAGE.read_text(encoding="utf-8")
    text += before[before.index(f"\n<!-- {ENERGY} -->") :]
    PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
