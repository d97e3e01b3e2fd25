"""Every robot of example-robot-data and icub-models against Pinocchio: ``python -m
benchmarks.oracle``, `make oracle`.

Each URDF is compiled with its base fixed and with its base floating, and its tapes run at random
states beside Pinocchio's algorithms. The exit status is 1 if any robot disagrees or is refused for
a reason that is not in REASONS."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.judge import Judge, State
from benchmarks.relative_error import relative
from symgen.compiler.evaluate import evaluate
from symgen.errors import SymgenError
from symgen.mechanics.model import RigidBodyModel
from symgen.reading.assemble import load
from symgen.reading.sources import read
from symgen.tracing.function import Function
from symgen.tracing.request import FunctionRequest
from symgen.tracing.robot import ParametricModel
from symgen.tracing.trace import trace
from tests.support.public_robots import example_robots, icub_robots

Array = Any
Found = dict[str, Array]
BASES: Final = ("fixed", "floating")
TOLERANCE = 1e-9
"""Allowed difference, relative to the largest entry: right angles are rounded by up to 1e-9 rad."""

TOLERANCE_AS_WRITTEN = 1e-11
"""The same with every angle used as written, so that only arithmetic differs."""

REASONS: Final = {
    "no link": r"has no links",
    "no moving joint": r"has no moving joint",
    "a leader that does not exist": r"mimics joint '\w+', which does not exist",
    "a negative moment": r"inertia has a negative principal moment",
}
"""For what a robot may be refused, as its message says it."""


def _tau(judge: Judge, state: State, found: Found) -> tuple[Array, Array]:
    return found["tau"], judge.inverse_dynamics(state)


def _gravity(judge: Judge, state: State, found: Found) -> tuple[Array, Array]:
    return found["tau_g"], judge.gravity(state)


def _bias(judge: Judge, state: State, found: Found) -> tuple[Array, Array]:
    return found["tau_b"], judge.bias(state)


def _mass_matrix(judge: Judge, state: State, found: Found) -> tuple[Array, Array]:
    return found["M"], judge.mass_matrix(state).ravel()


def _coriolis(judge: Judge, state: State, found: Found) -> tuple[Array, Array]:
    n = len(state["qd"])
    bias, weight = judge.bias(state), judge.gravity(state)
    return found["C"].reshape(n, n) @ state["qd"] + weight, bias


def _accelerations(judge: Judge, state: State, found: Found) -> tuple[Array, Array]:
    """What forces the accelerations found would need, by those given: light fingers make M too
    stiff to compare q̈."""
    return judge.inverse_dynamics({**state, "qdd": found["qdd"]}), state["tau"]


def _regressor(judge: Judge, state: State, found: Found) -> tuple[Array, Array]:
    return found["Y"], judge.regressor(state).ravel()


def _by_q(judge: Judge, state: State, found: Found) -> tuple[Array, Array]:
    return found["dtau_dq"], judge.derivatives(state)[0].ravel()


def _by_qd(judge: Judge, state: State, found: Found) -> tuple[Array, Array]:
    return found["dtau_dqd"], judge.derivatives(state)[1].ravel()


@dataclass(frozen=True)
class Check:
    """A column of the table: the quantity that is compiled, what of it is compared with what."""

    title: str
    quantity: str
    pair: Callable[[Judge, State, Found], tuple[Array, Array]]


BASIC: Final = (
    Check("tau", "inverse_dynamics", _tau),
    Check("gravity", "gravity", _gravity),
    Check("bias", "bias", _bias),
    Check("M", "mass_matrix", _mass_matrix),
)
"""Those that are judged also with all angles as written."""

CHECKS: Final = (
    *BASIC,
    Check("C qd + g", "coriolis_matrix", _coriolis),
    Check("tau of qdd", "forward_dynamics", _accelerations),
    Check("Y", "regressor", _regressor),
    Check("dtau/dq", "inverse_dynamics_derivatives", _by_q),
    Check("dtau/dqd", "inverse_dynamics_derivatives", _by_qd),
)
CHEAP: Final = {"coriolis_matrix": "coriolis/minimal"}
"""Formulations chosen beforehand, where trying all takes long."""


@dataclass(frozen=True)
class Result:
    """What became of one file: worst relative errors by title of CHECKS and with angles as written,
    or why it is refused.

    A robot refused for joints that mimic what does not exist is judged with those held at 0; `held`
    tells how many. `singular` is the reason why there are no forward dynamics, which Pinocchio's
    mass matrix confirms."""

    name: str
    base: str = "fixed"
    dof: int = 0
    errors: dict[str, float] = field(default_factory=dict)
    as_written: float = 0.0
    refusal: str = ""
    held: int = 0
    singular: str = ""

    @property
    def worst(self) -> float:
        return max(self.errors.values(), default=0.0)

    @property
    def agrees(self) -> bool:
        return self.worst <= TOLERANCE and self.as_written <= TOLERANCE_AS_WRITTEN

    @property
    def understood(self) -> bool:
        """Whether a refusal is for one of REASONS."""
        return not self.refusal or any(
            re.search(reason, self.refusal) for reason in REASONS.values()
        )


def compare(path: Path, base: str = "fixed", states: int = 5, seed: int = 0) -> Result:
    """One URDF file, compiled and run at random states beside Pinocchio."""
    try:
        return judged(path, base, [], states, seed)
    except SymgenError as error:
        refused = Result(short(path), base, refusal=str(error).removeprefix(f"{path}:"))
    held = lost(path) if re.search(REASONS["a leader that does not exist"], refused.refusal) else []
    if not held:
        return refused
    try:
        return replace(
            judged(path, base, held, states, seed), refusal=refused.refusal, held=len(held)
        )
    except SymgenError as error:
        return replace(refused, refusal=str(error).removeprefix(f"{path}:"))


def lost(path: Path) -> list[str]:
    """The joints that mimic one that the file does not have."""
    joints = read(path).joints
    names = {joint.name for joint in joints}
    return [joint.name for joint in joints if joint.mimics and joint.mimics.joint not in names]


def judged(path: Path, base: str, held: Sequence[str], states: int, seed: int) -> Result:
    """The errors of a robot with some joints held at 0. Raises SymgenError where it is refused."""
    lock = [(name, 0.0) for name in held]
    model, exact = (
        load(path, lock=lock, base=base, **angles).model for angles in ({}, {"snap_angles": 0.0})
    )
    judge = Judge(path, model, held, base)
    singular = _singular(model, judge)
    checks = [check for check in CHECKS if not singular or check.quantity != "forward_dynamics"]
    errors = differences(model, judge, checks, states, seed)
    plain = differences(exact, judge, BASIC, states, seed)
    return Result(
        short(path), base, model.dof, errors, max(plain.values()), held=len(held), singular=singular
    )


def _singular(model: RigidBodyModel, judge: Judge) -> str:
    """Why symgen refuses the inverse of M, if it does and Pinocchio's is singular indeed."""
    try:
        trace(ParametricModel(model), FunctionRequest.parse("forward_dynamics"))
    except SymgenError as error:
        values = np.linalg.eigvalsh(judge.mass_matrix(judge.random(1, 0)[0]))
        assert values[0] < 1e-12 * values.max(), f"M is regular, but: {error}"
        return str(error)
    return ""


def differences(
    model: RigidBodyModel, judge: Judge, checks: Sequence[Check], states: int, seed: int
) -> dict[str, float]:
    """The worst relative error of each check's tape."""
    errors = {check.title: 0.0 for check in checks}
    quantities = dict.fromkeys(check.quantity for check in checks)
    functions = {
        quantity: trace(ParametricModel(model), FunctionRequest.parse(quantity), CHEAP)
        for quantity in quantities
    }
    for state in judge.random(states, seed):
        found = {quantity: _run(function, state) for quantity, function in functions.items()}
        for check in checks:
            error = relative(*check.pair(judge, state, found[check.quantity]))
            errors[check.title] = max(errors[check.title], error)
    return errors


def _run(function: Function, state: State) -> Found:
    given = {key: state[key].tolist() for key in function.inputs}
    outputs = evaluate(function.program, given)
    return {name: np.array([float(x) for x in values]) for name, values in outputs.items()}


def short(path: Path) -> str:
    """The file below the folder of robots."""
    parts = path.parts
    return "/".join(parts[parts.index("robots") + 1 :]) if "robots" in parts else path.name


def report(results: Sequence[Result]) -> Table:
    """One line a robot and base."""
    table = Table(
        "robot", "base", "n", *(check.title for check in CHECKS), "as written", "verdict", box=None
    )
    for r in results:
        numbers = [f"{r.errors[c.title]:.0e}" if c.title in r.errors else "" for c in CHECKS]
        written = f"{r.as_written:.0e}" if r.errors else ""
        table.add_row(r.name, r.base, str(r.dof or ""), *numbers, written, verdict(r))
    return table


def verdict(r: Result) -> str:
    """In a few words."""
    word = "agrees" if r.agrees else "DISAGREES"
    if r.refusal and not r.understood:
        return "REFUSED WRONGLY"
    if not r.refusal:
        return f"{word}; M is singular" if r.singular else word
    return f"refused; {word} with {r.held} held" if r.held else "refused"


def summary(results: Sequence[Result]) -> str:
    """The verdict in one line."""
    taken, refused = [r for r in results if not r.refusal], [r for r in results if r.refusal]
    agree, held = sum(r.agrees for r in taken), [r for r in refused if r.held]
    worst = max((r.worst for r in results), default=0.0)
    wrong = f"{len(taken) - agree} DISAGREE, " if agree < len(taken) else ""
    files = len({r.name for r in taken})
    count = f"{agree} of {len(taken)} robots agree ({files} files, base fixed or floating)"
    also = (
        f" ({sum(r.agrees for r in held)} of {len(held)} agree with mimicking joints held)"
        if held
        else ""
    )
    written = f"{max((r.as_written for r in results), default=0.0):.1e} with angles as written"
    return f"{count}, {wrong}{len(refused)} refused{also}, worst error {worst:.1e}, {written}"


def everything(states: int = 5) -> Iterator[Result]:
    """All files with both bases, on all processors."""
    jobs = [(path, base) for path in (*example_robots(), *icub_robots()) for base in BASES]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(compare, *zip(*jobs, strict=True), [states] * len(jobs))


def main() -> int:
    """Judge every robot; the exit status."""
    results = list(everything())
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    console.print(report(results), end="\n\n")
    for result in (r for r in results if r.refusal or r.singular):
        said = result.refusal or f" {result.singular}"
        console.print(f"{result.name} ({result.base}):{said}", markup=False, soft_wrap=True)
    console.print(f"\n{summary(results)}")
    return 0 if results and all(r.agrees and r.understood for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
