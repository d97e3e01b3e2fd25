"""One identification problem solved twice: linear least squares, and nonlinear multiple-shooting
least squares.

Both take the same simulated samples (q, q̇, held τ). The unknowns are the same too: a largest set
of standard parameters that joint torques can tell apart, the rest at their true values."""

from typing import Any

import numpy as np
from scipy.linalg import qr

from benchmarks.identifiability import PERIOD, SAMPLES, SEED, Chain, motion
from symgen.numbers.scalar import Numbers

NOISE = (1e-5, 5e-4)
"""Standard deviations of positions (rad) and velocities (rad/s)."""


class Experiment:
    """Samples of a chain of n joints that follows a motion, and both ways to find its parameters
    from them."""

    def __init__(self, n: int) -> None:
        dynamics = "dynamics=forward_dynamics+forward_dynamics_derivatives"
        self.arm = Chain(
            n, dynamics, "forward_dynamics", "inverse_dynamics", "regressor", parameters="runtime"
        )
        self.run, truth = self.arm.run, self.arm.truth
        states = np.random.default_rng(SEED).uniform(-2, 2, (3, 40 * n, n))
        _, triangle, order = qr(
            self.run.regressor(*states).reshape(-1, 10 * n), mode="economic", pivoting=True
        )
        size = np.abs(np.diag(triangle))
        self.columns = np.sort(order[: int((size > 1e-9 * size[0]).sum())])
        self.known = truth.copy()
        self.known[self.columns] *= 0.7
        self.known_rest = np.where(np.isin(np.arange(10 * n), self.columns), 0.0, truth)
        self.states, self.torques = self._simulated()

    @property
    def unknowns(self) -> int:
        return len(self.columns)

    def error(self, found: Numbers) -> float:
        """The largest error of joint torques on another motion, by the largest torque."""
        motion_b = motion(self.arm.n, PERIOD * np.arange(200), SEED + 1)
        rows = self.run.regressor(*motion_b)
        ten = self.known_rest.copy()
        ten[self.columns] = found
        return float(
            np.abs(rows @ (ten - self.arm.truth)).max() / np.abs(rows @ self.arm.truth).max()
        )

    def linear(self) -> Numbers:
        """Inverse dynamics halfway between samples, linear in the parameters: one QR."""
        n = self.arm.n
        q, qd = self.states[:, :n], self.states[:, n:]
        rows = self.run.regressor(
            (q[1:] + q[:-1]) / 2, (qd[1:] + qd[:-1]) / 2, np.diff(qd, axis=0) / PERIOD
        )
        rest = (self.torques - rows @ self.known_rest).ravel()
        return np.linalg.lstsq(
            rows[..., self.columns].reshape(-1, self.unknowns), rest, rcond=None
        )[0]

    def shooting(self, tolerance: float = 1e-8, most: int = 30) -> tuple[Numbers, int]:
        """Gauss-Newton on the states at all samples and the parameters; parameters and iterations.

        Minimises the weighted distance of states from samples, subject to each state being a
        Runge-Kutta step after the one before. Condensed: the linearised steps leave the first state
        and the parameters as unknowns."""
        ten, states = self.known.copy(), self.states.copy()
        weights = np.repeat(1 / np.array(NOISE), self.arm.n)
        for count in range(1, most + 1):  # noqa: B007
            after, by_state, by_ten = self._interval(states[:-1], self.torques, ten)
            base, rows = self._condensed(after - states[1:], by_state, by_ten)
            error = (self.states - states - base) * weights
            matrix = (rows * weights[:, None]).reshape(-1, rows.shape[-1])
            scale = 1 / np.linalg.norm(matrix, axis=0)
            step = scale * np.linalg.lstsq(matrix * scale, error.ravel(), rcond=None)[0]
            states = states + base + rows @ step
            change = step[2 * self.arm.n :]
            ten[self.columns] += change
            if np.abs(change).max() < tolerance:
                break
        return ten[self.columns], count

    def _condensed(
        self, gaps: Numbers, by_state: Numbers, by_ten: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Changes of all states: a constant part, and the matrix by the first state and the
        parameters."""
        size = gaps.shape[1]
        base, rows = [np.zeros(size)], [np.eye(size, size + self.unknowns)]
        for gap, by, p in zip(gaps, by_state, by_ten, strict=True):
            base.append(by @ base[-1] + gap)
            following = by @ rows[-1]
            following[:, size:] += p
            rows.append(following)
        return np.array(base), np.array(rows)

    def _interval(
        self, states: Numbers, torques: Numbers, ten: Numbers
    ) -> tuple[Numbers, Numbers, Numbers]:
        """A Runge-Kutta step of each state, its derivatives by the state and by the unknown
        parameters."""
        n, h = self.arm.n, PERIOD
        par = self.run.regroup(ten)
        seed = np.broadcast_to(
            np.eye(2 * n, 2 * n + self.unknowns), (len(states), 2 * n, 2 * n + self.unknowns)
        )
        rate, by = np.zeros_like(states), np.zeros_like(seed)
        total, total_by = rate, by
        for reach, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
            rate, by = self._rate(states + reach * h * rate, torques, par, seed + reach * h * by)
            total, total_by = total + weight * rate, total_by + weight * by
        by_all = seed + h / 6 * total_by
        return states + h / 6 * total, by_all[..., : 2 * n], by_all[..., 2 * n :]

    def _rate(
        self, states: Numbers, torques: Numbers, par: Numbers, by: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Rates and their derivatives; ∂q̈/∂π = -M⁻¹ Y at the acceleration itself, since Y π = τ
        there."""
        n = self.arm.n
        q, qd = states[..., :n], states[..., n:]
        qdd, by_q, by_qd, inverse = self.run.dynamics(q, qd, torques, par)
        by_qdd: Any = by_q @ by[..., :n, :] + by_qd @ by[..., n:, :]
        by_qdd[..., 2 * n :] -= inverse @ self.run.regressor(q, qd, qdd)[..., self.columns]
        return np.concatenate((qd, qdd), -1), np.concatenate((by[..., n:, :], by_qdd), -2)

    def _simulated(self) -> tuple[Numbers, Numbers]:
        """Noisy states and the torques between them: those of the motion halfway, pulled to it by a
        weak spring."""
        n, par = self.arm.n, self.run.regroup(self.arm.truth)
        times = PERIOD * np.arange(SAMPLES + 1)
        q, qd, _ = motion(n, times)
        halfway = motion(n, times[:-1] + PERIOD / 2)
        state, states, torques = np.concatenate((q[0], qd[0])), [], []
        for k in range(SAMPLES):
            states.append(state)
            pull = 20 * (q[k] - state[:n]) + 5 * (qd[k] - state[n:])
            torques.append(
                self.run.inverse_dynamics(halfway[0][k], halfway[1][k], halfway[2][k] + pull, par)
            )
            state = self._finely(state, torques[-1], par)
        noise = np.random.default_rng(SEED).standard_normal((SAMPLES + 1, 2 * n)) * np.repeat(
            NOISE, n
        )
        return np.array([*states, state]) + noise, np.array(torques)

    def _finely(self, state: Numbers, torque: Numbers, par: Numbers, parts: int = 4) -> Numbers:
        n, h = self.arm.n, PERIOD / parts

        def rate(x: Numbers) -> Numbers:
            return np.concatenate((x[n:], self.run.forward_dynamics(x[:n], x[n:], torque, par)))

        for _ in range(parts):
            a = rate(state)
            b = rate(state + h / 2 * a)
            c = rate(state + h / 2 * b)
            d = rate(state + h * c)
            state = state + h / 6 * (a + 2 * b + 2 * c + d)
        return state
