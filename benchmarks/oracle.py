"""Every robot of example-robot-data against Pinocchio: ``python -m benchmarks.oracle`` (`make oracle`).

Each URDF is compiled with its base fixed, and its tape is run at random states beside Pinocchio's recursive
Newton-Euler and composite-body algorithms. The exit status is 1 if any robot disagrees.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
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
from symgen.mechanics.urdf import read
from symgen.robot import Robot
from symgen.tracing import Wanted, trace
from tests.public_robots import example_robots

Array = Any
QUANTITIES = ("inverse_dynamics", "bias", "gravity", "mass_matrix")
TOLERANCE = 1e-9
"""Allowed difference, relative to the largest entry: right angles are rounded by up to 1e-9 rad."""

TOLERANCE_AS_WRITTEN = 1e-11
"""The same with every angle used as written, so that only arithmetic differs."""


@dataclass(frozen=True)
class Result:
    """What became of one file: worst relative errors by quantity and with angles as written, or why it is refused.

    A robot refused for mimicking joints is judged with those held at 0; `held` tells how many.
    """

    name: str
    dof: int = 0
    errors: dict[str, float] = field(default_factory=dict)
    as_written: float = 0.0
    refusal: str = ""
    held: int = 0

    @property
    def worst(self) -> float:
        return max(self.errors.values(), default=0.0)

    @property
    def agrees(self) -> bool:
        return self.worst <= TOLERANCE and self.as_written <= TOLERANCE_AS_WRITTEN


def compare(path: Path, states: int = 20, seed: int = 0) -> Result:
    """One URDF file, compiled and run at random states beside Pinocchio."""
    try:
        return judged(path, [], states, seed)
    except SymgenError as error:
        refused = Result(short(path), refusal=str(error).removeprefix(f"{path}:"))
    held = [joint.name for joint in read(path).joints if joint.mimics] if "mimic" in refused.refusal else []
    if not held:
        return refused
    try:
        return replace(judged(path, held, states, seed), refusal=refused.refusal, held=len(held))
    except SymgenError as error:
        return replace(refused, refusal=str(error).removeprefix(f"{path}:"))


def judged(path: Path, held: Sequence[str], states: int, seed: int) -> Result:
    """The errors of a robot with some joints held at 0. Raises SymgenError where it is refused."""
    lock = [(name, 0.0) for name in held]
    model, exact = load(path, lock=lock).model, load(path, lock=lock, snap_angles=0.0).model
    judge = Judge(path, model, held)
    errors, plain = (differences(m, judge, states, seed) for m in (model, exact))
    return Result(short(path), model.dof, errors, max(plain.values()))


def differences(model: Model, judge: "Judge", states: int, seed: int) -> dict[str, float]:
    """The worst relative error of each quantity's tape."""
    errors = dict.fromkeys(QUANTITIES, 0.0)
    functions = {quantity: trace(Robot(model), Wanted.parse(quantity)) for quantity in QUANTITIES}
    for state in random_states(model, states, seed):
        for quantity, function in functions.items():
            given = {key: state[key].tolist() for key in function.inputs}
            (found,) = evaluate(function.program, given).values()
            error = relative(np.array([float(x) for x in found]), getattr(judge, quantity)(state).ravel())
            errors[quantity] = max(errors[quantity], error)
    return errors


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
    """The largest difference by the largest entry, or by 1e-6 where nothing is larger (balanced robots)."""
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-6))


class Judge:
    """Pinocchio on the same file, in symgen's joint order; continuous joints are (cos, sin) there."""

    def __init__(self, path: Path, model: Model, held: Sequence[str] = ()) -> None:
        self.model = pin.buildModelFromUrdf(str(path))
        if held:
            still = [self.model.getJointId(name) for name in held]
            self.model = pin.buildReducedModel(self.model, still, pin.neutral(self.model))
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
    table = Table("robot", "joints", *QUANTITIES, "as written", "verdict", box=None)
    for r in results:
        numbers = [f"{x:.0e}" for x in (*r.errors.values(), r.as_written)] if r.errors else [""] * 5
        table.add_row(r.name, str(r.dof or ""), *numbers, verdict(r))
    return table


def verdict(r: Result) -> str:
    """In a few words."""
    word = "agrees" if r.agrees else "DISAGREES"
    if not r.refusal:
        return word
    return f"refused; {word} with {r.held} held" if r.held else "refused"


def summary(results: Sequence[Result]) -> str:
    """The verdict in one line."""
    taken, refused = [r for r in results if not r.refusal], [r for r in results if r.refusal]
    agree, held = sum(r.agrees for r in taken), [r for r in refused if r.held]
    worst = max((r.worst for r in results), default=0.0)
    wrong = f"{len(taken) - agree} DISAGREE, " if agree < len(taken) else ""
    also = f" ({sum(r.agrees for r in held)} of {len(held)} agree with mimicking joints held)" if held else ""
    written = f"{max((r.as_written for r in results), default=0.0):.1e} with angles as written"
    return f"{agree} robots agree, {wrong}{len(refused)} refused{also}, worst error {worst:.1e}, {written}"


def main() -> int:
    """Judge every robot; the exit status."""
    results = [compare(path) for path in example_robots()]
    console = Console(width=None if sys.stdout.isatty() else 180, highlight=False)
    console.print(report(results), end="\n\n")
    for result in (r for r in results if r.refusal):
        console.print(f"{result.name}:{result.refusal}", markup=False, soft_wrap=True)
    console.print(f"\n{summary(results)}")
    return 0 if results and all(r.agrees for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
