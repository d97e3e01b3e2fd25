"""Linearization of the dynamics of a robot about a state."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgen import api
from symgen.errors import OptionError
from symgen.jobs.job import Job
from symgen.mechanics.coupling import position_coordinates
from symgen.numbers.types import Numbers
from symgen.reading.sources import RobotSource
from symgen.robot.position_rates import drift, normalized, vector
from symgen.text import html_table
from symgen.tracing.function import Function


@dataclass(frozen=True)
class Linearized:
    """The linearized dynamics ẋ = A x + B u about a state; unpacks into A (2n x 2n) and B (2n x n).

    x contains the changes of positions (n) and of velocities (n), u the changes of joint forces
    (n). The change of the position of a joint with a quaternion is a small twist in body axes.
    `residual` is the acceleration at the state, 0 at an equilibrium; otherwise
    ẋ = A x + B u + (qd, residual)."""

    A: Numbers
    B: Numbers
    q: Numbers
    qd: Numbers
    tau: Numbers
    residual: Numbers
    names: tuple[str, ...]

    def __iter__(self) -> Iterator[Numbers]:
        return iter((self.A, self.B))

    def _repr_html_(self) -> str:
        states = [*self.names, *(f"{name}'" for name in self.names)]
        rows = [
            (state, *(f"{x:.4g}" for x in row))
            for state, row in zip(states, np.hstack([self.A, self.B]), strict=True)
        ]
        head = ("rate of", *states, *(f"tau {name}" for name in self.names))
        return html_table("A and B", head, rows)


def linearize(
    robot: RobotSource,
    q: Sequence[float],
    qd: Sequence[float] | None = None,
    tau: Sequence[float] | None = None,
    **options: Any,
) -> Linearized:
    """Linearize the dynamics about the state `q` (nq), `qd` (n; 0 by default) with joint forces
    `tau` (n), by default those for which the accelerations are 0.

    >>> A, B = symgen.linearize("arm.urdf", q0)

    The derivatives are those of ``forward_dynamics_derivatives`` and exact except for rounding.
    `options` are those of `symgen.compile`, such as ``friction="viscous"``. Raises SymgenError,
    also for a robot with runtime parameters."""
    job = Job.of(robot, **options)
    loaded = job.load()
    model = loaded.model
    slopes = api.trace(job, "forward_dynamics_derivatives")
    other_inputs = [name for name in slopes.inputs if name not in ("q", "qd", "tau")]
    if other_inputs:
        raise OptionError(
            f"linearize: {', '.join(other_inputs)} would be inputs; do not make gravity, "
            "parameters or friction runtime inputs, and use no presliding"
        )
    n, nq = model.dof, len(position_coordinates(model))
    place = normalized(model, vector("q", q, nq, ()))
    speed = vector("qd", qd, n, np.zeros(n))
    at_rest = {"q": place.tolist(), "qd": speed.tolist(), "qdd": [0.0] * n}
    holding = _values(api.trace(job, "inverse_dynamics"), at_rest)[0]
    force = vector("tau", tau, n, holding)
    state = {"q": place.tolist(), "qd": speed.tolist(), "tau": force.tolist()}
    by_q, by_qd, by_tau = [x.reshape(n, n) for x in _values(slopes, state)]
    a = np.block([[-drift(model, speed), np.eye(n)], [by_q, by_qd]])
    b = np.vstack([np.zeros((n, n)), by_tau])
    residual = _values(api.trace(job, "forward_dynamics"), state)[0]
    return Linearized(a, b, place, speed, force, residual, model.joint_names)


def _values(function: Function, state: dict[str, list[float]]) -> list[Numbers]:
    """The outputs of a function on floats."""
    outputs = function.run(**{name: state[name] for name in function.inputs})
    return [np.array([float(x) for x in out]) for out in outputs.values()]  # type: ignore[arg-type]
