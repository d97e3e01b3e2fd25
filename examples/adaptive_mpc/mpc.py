"""Model-predictive control by multiple shooting: sequential quadratic programming, one iteration a
step or several.

Direct multiple shooting: Bock & Plitt, IFAC 1984. One iteration a step, started from the shifted
plan of the step before, is the real-time iteration of Diehl, Bock & Schlöder (SIAM J. Control
Optim. 2005)."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from examples.adaptive_mpc.inertia import Array
from examples.adaptive_mpc.model import NOTHING, Arm
from examples.adaptive_mpc.qp import Blocks, Solver
from examples.adaptive_mpc.shooting import interval


@dataclass(frozen=True)
class Weights:
    """Of the squares in the cost: hand's position (m) and velocity (m/s), joints (rad from home,
    rad/s), torque (N m from what holds the arm still)."""

    position: float = 4e3
    velocity: float = 20.0
    posture: float = 1e-1
    rate: float = 5e-2
    torque: float = 2e-4


@dataclass(frozen=True)
class Target:
    """Where the hand is to be at the nodes 0..N of the horizon: position (m) and velocity (m/s), N
    + 1 x 3."""

    position: Array
    velocity: Array


@dataclass(frozen=True)
class Step:
    """What one control step did: torque (N m), seconds of linearisation and of the quadratic
    programs, their number, the size of the last change of the plan, and whether all were solved."""

    torque: Array
    linearise: float
    solve: float
    iterations: int
    change: float
    solved: bool


class Controller:
    """Plans N intervals ahead and gives the first torque.

    The plan's `states` (N + 1 x 2n) and `torques` (N x n) are kept between steps. An SQP step
    solves min Σ |cost residuals, linearised|² subject to the linearised dynamics and the limits of
    torque, position and velocity; torque limits hold exactly in every plan."""

    def __init__(
        self,
        arm: Arm,
        home: Array,
        nodes: int = 10,
        interval: float = 0.01,
        weights: Weights = Weights(),
        iterations: int = 1,
        tolerance: float = 1e-6,
    ) -> None:
        self.arm, self.home, self.nodes, self.interval = arm, home, nodes, interval
        self.weights, self.iterations, self.tolerance = weights, iterations, tolerance
        n = arm.dof
        self._size = 3 * n * nodes + 2 * n
        self._solver = Solver()
        self._hessian = Blocks((self._size,) * 2, _hessian_places(n, nodes))
        self._dynamics = Blocks((2 * n * (nodes + 1), self._size), _dynamics_places(n, nodes))
        self.states = np.tile(np.concatenate((home, np.zeros(n))), (nodes + 1, 1))
        self.torques = np.tile(
            arm.inverse_dynamics(home, np.zeros(n), np.zeros(n), NOTHING), (nodes, 1)
        )

    def step(self, q: Array, qd: Array, target: Target, payload: Array) -> Step:
        """The torque for a measured state, a target and ten parameters of the payload; then the
        plan moves on."""
        spent, solved, change, count = np.zeros(2), True, np.inf, 0
        state, still = np.concatenate((q, qd)), np.zeros(self.arm.dof)
        hold = self.arm.inverse_dynamics(q, still, still, payload)
        while solved and count < self.iterations and change > self.tolerance:
            start = perf_counter()
            problem = self._problem(state, target, payload, hold)
            middle = perf_counter()
            solved = self._solver.solve(*problem)
            spent += (middle - start, perf_counter() - middle)
            change, count = (self._accept() if solved else change), count + 1
        effort = self.arm.limits.effort
        torque = np.clip(self.torques[0], -effort, effort)  # rounding of the solver, 1e-8
        self._shift()
        return Step(torque, spent[0], spent[1], count, change, solved)

    def residual(self, q: Array, qd: Array, target: Target, payload: Array) -> tuple[float, float]:
        """How far the plan is from optimal: the largest entry of the Lagrangian's gradient, by that
        of the cost, and of the violated dynamics; multipliers are those of the last quadratic
        program."""
        still = np.zeros(self.arm.dof)
        hold = self.arm.inverse_dynamics(q, still, still, payload)
        _, c, A, b, _, _ = self._problem(np.concatenate((q, qd)), target, payload, hold)
        return float(np.abs(c + self._solver.reaction(A)).max() / np.abs(c).max()), float(
            np.abs(b).max()
        )

    def _problem(
        self, state: Array, target: Target, payload: Array, hold: Array
    ) -> tuple[Array, ...]:
        """The quadratic program in changes of the plan: P, c, A, b, lower, upper."""
        n = self.arm.dof
        after, by = interval(self.arm, self.states[:-1], self.torques, payload, self.interval)
        one = np.eye(2 * n)
        A = self._dynamics.fill(
            [one] + [block for k in range(self.nodes) for block in (by[k], -one)]
        )
        b = np.concatenate((state - self.states[0], (self.states[1:] - after).ravel()))
        hessians, gradients = self._cost(target)
        weight = self.weights.torque
        P = self._hessian.fill([*hessians, np.full(n * self.nodes, weight)])
        c = self._stacked(gradients, weight * (self.torques - hold))
        return P, c, A, b, *self._bounds()

    def _cost(self, target: Target) -> tuple[Array, Array]:
        """Gauss-Newton Hessian (N + 1 x 2n x 2n) and gradient (N + 1 x 2n) of the cost of
        states."""
        n, w = self.arm.dof, self.weights
        q, qd = self.states[:, :n], self.states[:, n:]
        hand = self.arm.hand(q, qd)
        zero = np.zeros_like(hand.position_q)
        rows = np.concatenate(
            (
                np.sqrt(w.position) * np.concatenate((hand.position_q, zero), -1),
                np.sqrt(w.velocity) * np.concatenate((hand.velocity_q, hand.position_q), -1),
            ),
            -2,
        )
        errors = np.concatenate(
            (
                np.sqrt(w.position) * (hand.position - target.position),
                np.sqrt(w.velocity) * (hand.velocity - target.velocity),
            ),
            -1,
        )
        regular = np.repeat((w.posture, w.rate), n)
        away = np.concatenate((q - self.home, qd), -1)
        turned = rows.swapaxes(-1, -2)
        return turned @ rows + np.diag(regular), (turned @ errors[..., None])[
            ..., 0
        ] + regular * away

    def _bounds(self) -> tuple[Array, Array]:
        """Limits as limits of changes. The first state is measured; it is what it is."""
        limits = self.arm.limits
        lower = np.concatenate((limits.lower, -limits.velocity)) - self.states
        upper = np.concatenate((limits.upper, limits.velocity)) - self.states
        lower[0], upper[0] = -np.inf, np.inf
        return (
            self._stacked(lower, -limits.effort - self.torques),
            self._stacked(upper, limits.effort - self.torques),
        )

    def _stacked(self, states: Array, torques: Array) -> Array:
        """States and torques in the order of the unknowns: x0, u0, x1, u1, ..., xN."""
        return np.concatenate((np.concatenate((states[:-1], torques), -1).ravel(), states[-1]))

    def _accept(self) -> float:
        """Take the full step of the last quadratic program; the size of the change."""
        n, x = self.arm.dof, self._solver.x
        stages = x[: 3 * n * self.nodes].reshape(self.nodes, 3 * n)
        self.states = self.states + np.vstack((stages[:, : 2 * n], x[-2 * n :]))
        self.torques = self.torques + stages[:, 2 * n :]
        return float(np.abs(x).max())

    def _shift(self) -> None:
        """The plan of the next step to start from: an interval later, the last one held."""
        self.states = np.vstack((self.states[1:], self.states[-1:]))
        self.torques = np.vstack((self.torques[1:], self.torques[-1:]))


def _hessian_places(n: int, nodes: int) -> list[tuple[int, int, int, int]]:
    states = [(3 * n * k, 3 * n * k, 2 * n, 2 * n) for k in range(nodes + 1)]
    torques = [(3 * n * k + 2 * n + i,) * 2 + (1, 1) for k in range(nodes) for i in range(n)]
    return states + torques


def _dynamics_places(n: int, nodes: int) -> list[tuple[int, int, int, int]]:
    places = [(0, 0, 2 * n, 2 * n)]
    for k in range(nodes):
        row = 2 * n * (k + 1)
        places += [(row, 3 * n * k, 2 * n, 3 * n), (row, 3 * n * (k + 1), 2 * n, 2 * n)]
    return places
