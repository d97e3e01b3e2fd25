"""Differential dynamic programming (Mayne 1966; Jacobson & Mayne 1970), and iLQR, which leaves the
curvature of the dynamics out (Li & Todorov 2004)."""

from dataclasses import dataclass, field
from time import process_time
from typing import Any

import numpy as np

from examples.ocp.problem import Problem

Array = np.ndarray[Any, Any]
HALVINGS = 12
NEAR = 1.0
"""The gradient from which on DDP takes the curvature of the dynamics: far from the solution it
makes the model of the cost indefinite more often than good."""


@dataclass
class Log:
    """What a solver went through: cost, largest entry of the gradient in the controls, and length
    of the step, by iteration; the motion; seconds."""

    cost: list[float] = field(default_factory=list)
    gradient: list[float] = field(default_factory=list)
    length: list[float] = field(default_factory=list)
    xs: Array = field(default_factory=lambda: np.zeros(0))
    us: Array = field(default_factory=lambda: np.zeros(0))
    seconds: float = 0.0

    @property
    def iterations(self) -> int:
        return len(self.gradient)


@dataclass(frozen=True)
class Sweep:
    """What comes of a way back through time: feedforward and feedback of each step, the largest
    entry of the gradient, and the first and the second part of the expected change of cost."""

    ahead: Array
    back: Array
    gradient: float
    first: float
    second: float


class Indefinite(Exception):
    """A step's cost is not convex in its controls; more regularization is needed."""


def backward(p: Problem, xs: Array, us: Array, second: bool, damping: float) -> Sweep:
    """The quadratic model of the cost to go, from the end to the start. Raises Indefinite."""
    v, vv = p.final * (xs[-1] - p.aim), np.diag(p.final)
    adjoint = v  # the gradient of the cost to go along the motion, which is the exact one
    ahead, back = np.zeros_like(us), np.zeros((*us.shape, xs.shape[1]))
    gradient = first = then = 0.0
    for k in reversed(range(len(us))):
        x, u = xs[k], us[k]
        a, b = p.slopes(x, u)
        qx, qu = p.running * (x - p.aim) + a.T @ v, p.h * p.by_force * u + b.T @ v
        qxx, qux = np.diag(p.running) + a.T @ vv @ a, b.T @ vv @ a
        quu = p.h * p.by_force * np.eye(len(u)) + b.T @ vv @ b
        if second:
            hxx, hux = p.curvature(x, u, v)
            qxx, qux = qxx + hxx, qux + hux
        exact = p.h * p.by_force * u + b.T @ adjoint
        adjoint = p.running * (x - p.aim) + a.T @ adjoint
        gradient = max(gradient, float(np.abs(exact).max()))
        try:
            factor = np.linalg.cholesky(quu + damping * np.eye(len(u)))
        except np.linalg.LinAlgError:
            raise Indefinite from None
        solved = np.linalg.solve(factor.T, np.linalg.solve(factor, np.column_stack([qu, qux])))
        ahead[k], back[k] = -solved[:, 0], -solved[:, 1:]
        first += float(ahead[k] @ qu)
        then += float(ahead[k] @ quu @ ahead[k])
        v = qx + back[k].T @ quu @ ahead[k] + back[k].T @ qu + qux.T @ ahead[k]
        vv = qxx + back[k].T @ quu @ back[k] + back[k].T @ qux + qux.T @ back[k]
        vv = (vv + vv.T) / 2
    return Sweep(ahead, back, gradient, first, then)


def forward(p: Problem, xs: Array, us: Array, sweep: Sweep, length: float) -> tuple[Array, Array]:
    """The motion under part of the feedforward and all of the feedback."""
    states, controls = [xs[0]], []
    for k, u in enumerate(us):
        controls.append(u + length * sweep.ahead[k] + sweep.back[k] @ (states[-1] - xs[k]))
        states.append(p.step(states[-1], controls[-1]))
    return np.array(states), np.array(controls)


def solve(p: Problem, second: bool = True, tolerance: float = 1e-9, most: int = 200) -> Log:
    """The motion of least cost, with the curvature of the dynamics (DDP) or without (iLQR)."""
    log, damping, began = Log(), 0.0, process_time()
    us = p.first
    xs, began = p.rollout(us), process_time()
    cost = p.cost(xs, us)
    while log.iterations < most:
        try:
            near = bool(log.gradient) and log.gradient[-1] < NEAR
            sweep = backward(p, xs, us, second and near, damping)
        except Indefinite:
            damping = max(10 * damping, 1e-6)
            continue
        log.cost.append(cost)
        log.gradient.append(sweep.gradient)
        if sweep.gradient < tolerance:
            break
        length = 1.0
        for _ in range(HALVINGS):
            try:
                states, controls = forward(p, xs, us, sweep, length)
                tried = p.cost(states, controls)
            except np.linalg.LinAlgError:  # so far off that numbers run over
                tried = np.inf
            promised = -length * (sweep.first + length * sweep.second / 2)
            if tried <= cost - 1e-4 * max(promised, 0.0) + 1e-12 * abs(cost):
                xs, us, cost, damping = states, controls, tried, damping / 10
                break
            length /= 2
        else:
            damping, length = max(10 * damping, 1e-6), 0.0
            if damping > 1e6:
                break
        log.length.append(length)
    log.xs, log.us, log.seconds = xs, us, process_time() - began
    return log
