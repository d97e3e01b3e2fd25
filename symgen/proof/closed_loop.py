"""A closed loop in many digits: a controller of `symgen.algorithms.controllers` on a robot that is
simulated, both by their own algorithms in decimal numbers; what C has to give is recorded.

The robot takes the forces of the controller, and of an observer small forces of its own and, from
half of the time on, one that the observer is not told of. What the controller reads is rounded as C
reads it; its own state is not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import cos, prod, sin
from typing import Any, Final

import numpy as np

from symgen.algorithms.controllers import Controller
from symgen.compiler.evaluate import evaluate
from symgen.compiler.program import Program
from symgen.mechanics.coupling import coupling_of
from symgen.numbers.exact import in_decimals
from symgen.tracing.function import Function
from symgen.tracing.robot import Robot
from symgen.tracing.trace import trace
from symgen.tracing.wanted import Wanted

TIME: Final = 0.004
"""Sample time (s)."""
SUBSTEPS: Final = 4
"""Steps of the simulation for each sample."""
SAMPLES: Final = 30
PUSH: Final = 10.0
"""The force that an observer is to find, at the first joint (N m or N)."""

Values = dict[str, list[Any]]


@dataclass
class Loop:
    """A controller with its state, on any scalars: the twin in Python of the struct of C.

    `gains` has every input that does not change, each as long as the array it is for."""

    row: Controller
    program: Program
    gains: Mapping[str, Sequence[Any]]
    state: Mapping[str, Sequence[Any]]

    def step(self, measured: Mapping[str, Sequence[Any]]) -> Values:
        """The outputs for one sample of the inputs that change; the state is that after it."""
        given = {**self.gains, **self.state, **measured}
        taken = {name: given[name] for name, _ in self.program.inputs}
        found: Values = evaluate(self.program, taken, Decimal)
        self.state = {name: found[out] for name, out in self.row.state.items()}
        return found


@dataclass(frozen=True)
class Record:
    """By input that changes and by output a row for each sample; the gains by name."""

    measured: Mapping[str, Sequence[Sequence[float]]]
    wanted: Mapping[str, Sequence[Sequence[float]]]
    gains: Mapping[str, Sequence[float]]


def loop_of(row: Controller, function: Function) -> Loop:
    """The controller of a function at its start, in decimal numbers."""
    sizes = {name: prod(shape) for name, shape in function.program.inputs}
    gains = {name: [Decimal(x)] * sizes[name] for name, x in row.gains.items()}
    state = {name: _start(row, name, sizes[name], gains) for name in row.state}
    return Loop(row, function.program, gains, state)


def _start(
    row: Controller, name: str, size: int, gains: Mapping[str, list[Decimal]]
) -> list[Decimal]:
    how = row.start.get(name, 0.0)
    if isinstance(how, str):
        return [*gains[how]]
    side = round(size**0.5)
    return [Decimal(how) if k % (side + 1) == 0 else Decimal(0) for k in range(size)]


def recordable(row: Controller, function: Function) -> bool:
    """Whether all that the function reads is the controller's: nothing of the robot is open."""
    return {name for name, _ in function.program.inputs} <= {
        *row.step,
        *row.gains,
        *row.state,
        "h",
    }


def record(robot: Robot, row: Controller, function: Function, scalar: str) -> Record:
    """The closed loop of a robot whose numbers are all known."""
    real = np.float64 if scalar == "double" else np.float32
    plant = trace(Robot(robot.model), Wanted.parse("step:euler")).program
    coupling = coupling_of(robot.model)
    n, rest = coupling.velocities, _rest(robot)
    loop = loop_of(row, function)
    q: list[Any] = [Decimal(x) for x in rest]
    qd: list[Any] = [Decimal(0)] * n
    qdd, tau = [*qd], [*qd]
    measured, wanted = dict[str, list[list[float]]](), dict[str, list[list[float]]]()
    with in_decimals():
        for sample in range(SAMPLES):
            t = sample * TIME
            known = {"q": q, "qd": qd, "qdd": qdd, "tau": tau, **_reference(robot, rest, t)}
            seen = {
                name: [Decimal(float(real(float(x)))) for x in known[name]] for name in row.step
            }
            seen["h"] = [Decimal(float(real(TIME)))]
            found = loop.step({k: x for k, x in seen.items() if k in dict(function.program.inputs)})
            for name in row.step:
                measured.setdefault(name, []).append([float(x) for x in seen[name]])
            for name, values in found.items():
                wanted.setdefault(name, []).append([float(x) for x in values])
            tau = found[row.forces] if row.forces else _shaken(n, t)
            pushed = [*tau]
            if not row.forces and sample >= SAMPLES // 2:
                pushed[0] = pushed[0] + Decimal(PUSH)
            before = qd
            for _ in range(SUBSTEPS):
                given = {"q": q, "qd": qd, "tau": pushed, "h": [Decimal(TIME) / SUBSTEPS]}
                q, qd = evaluate(plant, given, Decimal).values()
            qdd = [(a - b) / Decimal(TIME) for a, b in zip(qd, before, strict=True)]
    gains = {name: [float(x) for x in values] for name, values in loop.gains.items()}
    return Record(measured, wanted, gains)


def _rest(robot: Robot) -> list[float]:
    """Positions to start from."""
    coupling = coupling_of(robot.model)
    found = [0.3 + 0.1 * k for k in range(coupling.positions)]
    for four in coupling.quaternions:
        found[four] = [0.0, 0.0, 0.0, 1.0]
    return found


def _reference(robot: Robot, rest: Sequence[float], t: float) -> dict[str, list[Decimal]]:
    """A slow swing about the start; what has a quaternion is to stay."""
    coupling = coupling_of(robot.model)
    q, n = [*rest], coupling.velocities
    speeds, rates = [0.0] * n, [0.0] * n
    for drive, (joint, _) in zip(coupling.drives, coupling.parts, strict=True):
        for term in () if joint.in_body_axes else drive.terms:
            w = 3.0 + term.index
            q[term.place] = rest[term.place] + 0.2 * (1 - cos(w * t))
            speeds[term.index], rates[term.index] = 0.2 * w * sin(w * t), 0.2 * w * w * cos(w * t)
    found = {"q_ref": q, "qd_ref": speeds, "qdd_ref": rates}
    return {name: [Decimal(x) for x in values] for name, values in found.items()}


def _shaken(n: int, t: float) -> list[Decimal]:
    return [Decimal(5.0 * sin((20 + 3 * k) * t)) for k in range(n)]
