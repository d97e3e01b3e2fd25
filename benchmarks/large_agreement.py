"""``python -m benchmarks.large_agreement``: loops over the bodies of large robots against Pinocchio and
against laws in 75 digits.

The robots are random chains and trees, and humanoids and arms with hands of example-robot-data. The results go
into docs/benchmarks/large_agreement.json, from which `make figures` writes a table of docs/large.md.
The exit status is 1 if an error is above `TOLERANCE`."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import localcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pinocchio as pin

import symgen
from benchmarks.figures.counts import ROOT
from benchmarks.judge import Judge, State
from benchmarks.large_robots import BRANCHING, NAMES, SIZES, written
from benchmarks.relative_error import relative
from symgen.proof.laws.dynamics import tau
from symgen.proof.states import DIGITS, States, decimals, slope
from symgen.reading.assemble import load
from symgen.tracing.robot import ParametricModel
from tests.support.public_robots import example_robot

Array = Any
INPUTS: Final = ("q", "qd", "qdd")
FILE: Final = ROOT / "docs" / "benchmarks" / "large_agreement.json"
HANDS: Final = {
    "G1 with hands, floating base": ("g1_29dof_with_hand_rev_1_0.urdf", "floating"),
    "TIAGo with a hand": ("tiago_description/robots/tiago.urdf", "fixed"),
    "TIAGo with a hand, floating base": ("tiago_description/robots/tiago.urdf", "floating"),
    "TIAGo with two hands": ("tiago_description/robots/tiago_dual.urdf", "fixed"),
}
TOLERANCE: Final = 1e-9
"""Allowed difference, relative to the largest entry."""
STATES: Final = 3
"""States that are compared with Pinocchio; the first one with the laws."""
SAMPLED: Final = 4
"""Columns of matrices that are compared with the laws: the first, the last and random ones."""


@dataclass(frozen=True)
class Robot:
    """A robot by its file, with its compiled functions."""

    judge: Judge
    robot: ParametricModel
    functions: Any

    @classmethod
    def of(cls, path: Path, base: str = "fixed") -> "Robot":
        """The functions with loops over the bodies. Every angle is used as written."""
        options: dict[str, Any] = {"base": base, "snap_angles": 0.0}
        model = load(path, **options).model
        functions = symgen.compile(str(path), *NAMES, body_loops=True, **options)
        return cls(Judge(path, model, base=base), ParametricModel(model), functions)

    def outputs(self, state: State) -> dict[str, tuple[Array, ...]]:
        """The outputs of each function."""
        q, qd, qdd, force = (state[name] for name in ("q", "qd", "qdd", "tau"))
        f = self.functions
        return {
            "inverse_dynamics": (f.inverse_dynamics(q, qd, qdd),),
            "mass_matrix": (f.mass_matrix(q),),
            "inverse_dynamics_derivatives": f.inverse_dynamics_derivatives(q, qd, qdd),
            "forward_dynamics": (f.forward_dynamics(q, qd, force),),
            "forward_dynamics_derivatives": f.forward_dynamics_derivatives(q, qd, force),
        }

    def of_pinocchio(self, state: State) -> dict[str, tuple[Array, ...]]:
        """The same by Pinocchio, of robots without mimic joints."""
        judge, j = self.judge, self.judge.coupling
        place, qd = judge.place(state["q"]), j @ state["qd"]
        qdd = pin.aba(judge.model, judge.data, place, qd, j @ state["tau"])
        found = pin.computeABADerivatives(judge.model, judge.data, place, qd, j @ state["tau"])
        m = judge.mass_matrix(state)
        return {
            "inverse_dynamics": (judge.inverse_dynamics(state),),
            "mass_matrix": (m,),
            "inverse_dynamics_derivatives": (*judge.derivatives(state), m),
            "forward_dynamics": (j.T @ qdd,),
            "forward_dynamics_derivatives": tuple(j.T @ x @ j for x in found),
        }


def against_pinocchio(robot: Robot, states: Sequence[State]) -> dict[str, float]:
    """The largest error of each quantity."""
    worst = dict.fromkeys(NAMES, 0.0)
    for state in states:
        right = robot.of_pinocchio(state)
        for name, outputs in robot.outputs(state).items():
            pairs = zip(outputs, right[name], strict=True)
            worst[name] = max(worst[name], *(relative(a, b) for a, b in pairs))
    return worst


def against_laws(robot: Robot, state: State, columns: Sequence[int]) -> dict[str, float]:
    """The largest error of each quantity, relative to the largest entry of what it is compared with.

    Joint forces come from Newton's and Euler's equations of every link in 75 digits, columns of
    matrices from differences of these. Results of forward dynamics are inserted into the equations:
    joint forces are the given ones, and do not change along a column of a derivative."""
    found = robot.outputs(state)
    (accelerations,), (m,) = found["forward_dynamics"], found["mass_matrix"]
    of_forces = dict(zip(INPUTS, found["inverse_dynamics_derivatives"], strict=True))
    of_rates = dict(zip(INPUTS, found["forward_dynamics_derivatives"], strict=True))
    with localcontext(prec=DIGITS):
        x = States.of(
            robot.robot, {name: [state[name]] for name in INPUTS}, has_external_forces=False
        )
        solved = x.with_inputs(qdd=decimals(accelerations[None]))
        units = decimals(np.eye(x.n)[columns])[:, None]
        changes = {name: _floats(slope(tau, x, **{name: units})) for name in INPUTS}
        forces, again = _floats(tau(x)), _floats(tau(solved))
        left = 0.0
        for name in INPUTS[:2]:
            rates = decimals(of_rates[name][:, columns].T)[:, None]
            change = slope(tau, solved, **{name: units, "qdd": rates})
            left = max(left, _part(change, slope(tau, solved, **{name: units})))
        rates = decimals(of_rates["qdd"][:, columns].T)[:, None]
        inverted = relative(_floats(slope(tau, solved, qdd=rates)), np.eye(x.n)[:, columns])
    lower = np.linalg.cholesky(m)  # raises an error unless M is positive definite
    return {
        "inverse_dynamics": relative(found["inverse_dynamics"][0], forces),
        "mass_matrix": max(
            relative(m[:, columns], changes["qdd"]), relative(m, m.T), relative(lower @ lower.T, m)
        ),
        "inverse_dynamics_derivatives": max(
            relative(of_forces[name][:, columns], changes[name]) for name in INPUTS
        ),
        "forward_dynamics": relative(again, state["tau"]),
        "forward_dynamics_derivatives": max(left, inverted),
    }


def _part(change: Array, whole: Array) -> float:
    """What is left of a change, as a part of the largest entry of the change of one input alone."""
    return float(np.abs(_floats(change)).max() / np.abs(_floats(whole)).max())


def _floats(values: Array) -> Array:
    """Numbers of the only state."""
    return values[0].astype(float)


def robots() -> Iterator[tuple[dict[str, Any], Robot]]:
    """All robots with what the table says of them."""
    with TemporaryDirectory() as folder:
        for kind in BRANCHING:
            for joints in SIZES:
                path = Path(folder) / f"{kind}{joints}.urdf"
                written(kind, joints, path)
                yield {"robot": f"random {kind}"}, Robot.of(path)
    for name, (file, base) in HANDS.items():
        yield {"robot": name}, Robot.of(example_robot(file), base)


def compared(facts: Mapping[str, Any], robot: Robot) -> dict[str, Any]:
    """The errors of a robot."""
    n = len(robot.judge.names)
    drawn = robot.judge.random(STATES, n)
    inner = np.random.default_rng(n).integers(1, n - 1, SAMPLED - 2).tolist()
    columns = [0, *inner, n - 1]
    return {
        **facts,
        "velocities": n,
        "pinocchio": against_pinocchio(robot, drawn),
        "laws": against_laws(robot, drawn[0], columns),
    }


def main() -> int:
    """Compare all robots, and store the errors."""
    found = []
    for facts, robot in robots():
        found.append(compared(facts, robot))
        print(json.dumps(found[-1]), flush=True)
    stored = {"pinocchio": pin.__version__, "rows": found}
    FILE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    errors = [x for row in found for way in ("pinocchio", "laws") for x in row[way].values()]
    return 0 if max(errors) <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
