"""Every robot of example-robot-data against Pinocchio: ``python -m benchmarks.oracle`` (`make oracle`).

Each URDF is compiled with its base fixed, and its tape is run at random states beside Pinocchio's recursive
Newton-Euler and composite-body algorithms. The exit status is 1 if any robot disagrees.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.table import Table

from symgen.algorithms import INPUTS
from symgen.compiler.evaluate import evaluate
from symgen.errors import SymgenError
from symgen.mechanics.assemble import load
from symgen.mechanics.model import Model
from symgen.trace import Robot, Wanted, trace
from tests.public_robots import example_robots

Array = Any
QUANTITIES = ("inverse_dynamics", "bias", "gravity", "mass_matrix")
TOLERANCE = 1e-9
"""Allowed difference, relative to the largest entry."""


@dataclass(frozen=True)
class Result:
    """What became of one file: its worst relative error by quantity, or why symgen refuses it."""

    name: str
    dof: int = 0
    errors: dict[str, float] = field(default_factory=dict)
    refusal: str = ""

    @property
    def worst(self) -> float:
        return max(self.errors.values(), default=0.0)

    @property
    def agrees(self) -> bool:
        return self.worst <= TOLERANCE


def compare(path: Path, states: int = 20, seed: int = 0) -> Result:
    """One URDF file, compiled and run at random states beside Pinocchio."""
    name = short(path)
    try:
        model = load(path).model
    except SymgenError as error:
        return Result(name, refusal=str(error).removeprefix(f"{path}:"))
    judge, errors = Judge(path, model), dict.fromkeys(QUANTITIES, 0.0)
    functions = {quantity: trace(Robot(model), Wanted.parse(quantity)) for quantity in QUANTITIES}
    for state in random_states(model, states, seed):
        for quantity, function in functions.items():
            given = {key: state[key].tolist() for key in function.inputs}
            (found,) = evaluate(function.program, given).values()
            error = relative(np.array([float(x) for x in found]), getattr(judge, quantity)(state).ravel())
            errors[quantity] = max(errors[quantity], error)
    return Result(name, model.dof, errors)


def short(path: Path) -> str:
    """The file below the folder of robots."""
    parts = path.parts
    return "/".join(parts[parts.index("robots") + 1 :]) if "robots" in parts else path.name


def random_states(model: Model, count: int, seed: int) -> Iterator[dict[str, Array]]:
    """Coordinates, velocities and accelerations from -2 to 2, in symgen's joint order."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        yield {name: random.uniform(-2, 2, model.dof) for name in INPUTS if name in ("q", "qd", "qdd")}


def relative(found: Array, expected: Array) -> float:
    """The largest difference by the largest entry (or 1 N m where all are smaller than rounding of that)."""
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-6))


class Judge:
    """Pinocchio on the same file, in symgen's joint order; continuous joints are (cos, sin) there."""

    def __init__(self, path: Path, model: Model) -> None:
        self.model = pin.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.joints = [self.model.joints[self.model.getJointId(name)] for name in model.joint_names]
        self.rows = [joint.idx_v for joint in self.joints]
        assert sorted(self.rows) == list(range(self.model.nv)), f"{path}: joints differ"

    def inverse_dynamics(self, state: dict[str, Array]) -> Array:
        place = self.place(state["q"])
        tau = pin.rnea(self.model, self.data, place, self.placed(state["qd"]), self.placed(state["qdd"]))
        return tau[self.rows]

    def bias(self, state: dict[str, Array]) -> Array:
        return self.inverse_dynamics({**state, "qdd": 0 * state["qd"]})

    def gravity(self, state: dict[str, Array]) -> Array:
        return pin.computeGeneralizedGravity(self.model, self.data, self.place(state["q"]))[self.rows]

    def mass_matrix(self, state: dict[str, Array]) -> Array:
        upper = np.triu(pin.crba(self.model, self.data, self.place(state["q"])))
        return (upper + np.triu(upper, 1).T)[np.ix_(self.rows, self.rows)]

    def place(self, q: Array) -> Array:
        """Pinocchio's configuration."""
        place = np.zeros(self.model.nq)
        for joint, angle in zip(self.joints, q, strict=True):
            place[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(angle), np.sin(angle)) if joint.nq == 2 else angle
        return place

    def placed(self, rates: Array) -> Array:
        """A vector of rates in Pinocchio's order."""
        out = np.zeros(self.model.nv)
        out[self.rows] = rates
        return out


def report(results: Sequence[Result]) -> Table:
    """One line a robot."""
    table = Table("robot", "joints", *QUANTITIES, "verdict", box=None)
    for r in results:
        verdict = f"refused: {r.refusal}" if r.refusal else "agrees" if r.agrees else "DISAGREES"
        table.add_row(r.name, str(r.dof or ""), *(f"{r.errors[q]:.0e}" if r.errors else "" for q in QUANTITIES), verdict)
    return table


def summary(results: Sequence[Result]) -> str:
    """The verdict in one line."""
    refused = [r for r in results if r.refusal]
    judged = [r for r in results if not r.refusal]
    worst = max((r.worst for r in judged), default=0.0)
    agree = sum(r.agrees for r in judged)
    wrong = f"{len(judged) - agree} DISAGREE, " if agree < len(judged) else ""
    return f"{agree} robots agree, {wrong}{len(refused)} refused, worst error {worst:.1e}"


def main() -> int:
    """Judge every robot; the exit status."""
    results = [compare(path) for path in example_robots()]
    console = Console(width=None if sys.stdout.isatty() else 220)
    console.print(report(results))
    console.print(summary(results))
    return 0 if results and all(r.agrees for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
