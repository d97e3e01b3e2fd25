"""One interval of multiple shooting: a Runge-Kutta step of the generated forward dynamics, with
exact sensitivities."""

from typing import Any

import numpy as np

from examples.adaptive_mpc.inertia import Array
from examples.adaptive_mpc.model import Arm


def interval(
    arm: Arm, states: Array, torques: Array, payload: Array, h: float
) -> tuple[Array, Array]:
    """The states one step of h seconds later (... x 2n) and their derivatives by state and torque
    (... x 2n x 3n).

    All intervals of a horizon at once. A state is q, then q̇; the torque is held. The derivatives
    are those of the Runge-Kutta step itself, by the chain rule through ∂q̈ of its four stages."""
    n = arm.dof
    seed = np.broadcast_to(np.eye(2 * n, 3 * n), (*states.shape[:-1], 2 * n, 3 * n))
    rate, by = np.zeros_like(states), np.zeros_like(seed)
    total, total_by = rate, by
    for reach, weight in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        rate, by = _rate(arm, states + reach * h * rate, torques, payload, seed + reach * h * by)
        total, total_by = total + weight * rate, total_by + weight * by
    return states + h / 6 * total, seed + h / 6 * total_by


def _rate(
    arm: Arm, states: Array, torques: Array, payload: Array, by: Array
) -> tuple[Array, Array]:
    """The rates of states that have derivatives `by`, and their derivatives."""
    n = arm.dof
    q, qd = states[..., :n], states[..., n:]
    qdd, by_q, by_qd, by_tau = arm.dynamics(q, qd, torques, payload)
    by_qdd: Any = by_q @ by[..., :n, :] + by_qd @ by[..., n:, :]
    by_qdd[..., 2 * n :] += by_tau
    return np.concatenate((qd, qdd), -1), np.concatenate((by[..., n:, :], by_qdd), -2)
