"""A point-to-point motion as an optimal control problem, and its dynamics by generated functions.

The state is (q, qd), the controls are the joint forces; a step is the semi-implicit one of Euler
(`step:euler`), its derivatives are `step_jacobians:euler`, and what second derivatives DDP needs
come contracted with a vector (`forward_dynamics_hessian`): no array with three axes is formed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import symgen

Array = np.ndarray[Any, Any]
ROBOTS = Path(__file__).resolve().parents[2] / "robots"


@dataclass(frozen=True)
class Problem:
    """Go from rest at `start` to rest at `goal` (rad) in `steps` steps of `h` seconds; costs are
    half the squares of errors, rates and forces, running ones by the second."""

    robot: str
    start: Sequence[float]
    goal: Sequence[float]
    steps: int = 40
    h: float = 0.025
    by_force: float = 1e-3
    by_error: float = 1.0
    by_rate: float = 0.1
    end_error: float = 1e3
    end_rate: float = 1e2

    @property
    def n(self) -> int:
        return len(self.start)

    @property
    def file(self) -> Path:
        return ROBOTS / f"{self.robot}.urdf"

    @property
    def aim(self) -> Array:
        """The wanted state."""
        return np.concatenate([self.goal, np.zeros(self.n)])

    @cached_property
    def robot_functions(self) -> Any:
        """Compiled."""
        wanted = ("step:euler", "step_jacobians:euler", "forward_dynamics_hessian", "gravity")
        return symgen.compile(self.file, *wanted)

    # -- dynamics ----------------------------------------------------------------------------------

    def step(self, x: Array, u: Array) -> Array:
        """The state after a step."""
        n = self.n
        return np.concatenate(self.robot_functions.step_euler(x[:n], x[n:], u, [self.h]))

    def slopes(self, x: Array, u: Array) -> tuple[Array, Array]:
        """A and B of a step."""
        n = self.n
        a, b = self.robot_functions.step_jacobians_euler(x[:n], x[n:], u, [self.h])
        return a, b

    def curvature(self, x: Array, u: Array, weights: Array) -> tuple[Array, Array]:
        """Second derivatives of weightsᵀ step in the state (2n x 2n), and in the controls and the
        state (n x 2n); those in the controls alone vanish. q̈ is all that is curved: the rates have
        h q̈, the positions h² q̈ of it."""
        n, h = self.n, self.h
        w = h * (weights[n:] + h * weights[:n])
        qq, qv, vv, qu = self.robot_functions.forward_dynamics_hessian(x[:n], x[n:], u, w)
        return np.block([[qq, qv], [qv.T, vv]]), np.hstack([qu.T, np.zeros((n, n))])

    # -- costs -------------------------------------------------------------------------------------

    @cached_property
    def running(self) -> Array:
        """Weights of the state."""
        return self.h * np.repeat([self.by_error, self.by_rate], self.n)

    @cached_property
    def final(self) -> Array:
        """Those at the end."""
        return np.repeat([self.end_error, self.end_rate], self.n)

    def cost(self, xs: Array, us: Array) -> float:
        """Of a motion."""
        off = xs - self.aim
        run = (self.running * off[:-1] ** 2).sum() + self.h * self.by_force * (us**2).sum()
        return float(run + (self.final * off[-1] ** 2).sum()) / 2

    def rollout(self, us: Array) -> Array:
        """The states under controls."""
        xs = [np.concatenate([self.start, np.zeros(self.n)])]
        for u in us:
            xs.append(self.step(xs[-1], u))
        return np.array(xs)

    @property
    def first(self) -> Array:
        """Controls to begin with: those that hold the robot where it starts."""
        return np.tile(self.robot_functions.gravity(self.start), (self.steps, 1))


PANDA = Problem(
    "panda_arm",
    start=(0.0, -0.4, 0.0, -2.0, 0.0, 1.7, 0.8),
    goal=(1.0, 0.4, -0.5, -1.2, 0.4, 2.2, 0.0),
    by_force=1e-2,
    end_error=100.0,
    end_rate=10.0,
)
