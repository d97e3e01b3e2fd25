"""The log of an arm under a controller that acts on noisy positions."""

from functools import cache

import numpy as np

import symgen
from symgen.jobs.job import Job
from tests.support.tools import robot_file

FILE = robot_file("pendulum")
STEP, ROWS, NOISE = 0.005, 2000, 2e-3


@cache
def _compiled():
    return symgen.compile(FILE, "forward_dynamics", "inverse_dynamics", "base_regressor")


class _Arm:
    """The compiled functions, made when one is first asked for and not by whoever collects."""

    def __getattr__(self, name):
        return getattr(_compiled(), name)


ARM = _Arm()
FORCE = 0.05
"""Noise of the forces (N m)."""


def commanded(t):
    """A sum of sines for each joint, with its rates."""
    rates, sizes = np.array([[2.0, 5.1, 9.3], [2.7, 6.2, 11.9]]), np.array([0.8, 0.35, 0.15])
    angle = rates * t + np.array([[0.1, 1.0, 2.0], [2.3, 0.4, 1.1]])
    return (
        (sizes * np.sin(angle)).sum(axis=1),
        (sizes * rates * np.cos(angle)).sum(axis=1),
        -(sizes * rates**2 * np.sin(angle)).sum(axis=1),
    )


def closed_loop(seed):
    """The log of a computed torque on positions with noise: encoder, force, command."""
    random = np.random.default_rng(seed)
    names = Job.of(FILE).load().model.joint_names
    q, qd, _ = commanded(0.0)
    before, speed = q, qd
    rows, states = [], []
    for k in range(ROWS):
        seen = q + random.normal(0, NOISE, 2)
        speed = 0.7 * speed + 0.3 * (seen - before) / STEP if k else qd
        before, (at, rate, change) = seen, commanded(k * STEP)
        wanted = change + 400.0 * (at - seen) + 25.0 * (rate - speed)
        tau = ARM.inverse_dynamics(at, rate, wanted)
        rows.append((k * STEP, *seen, *at, *(tau + random.normal(0, FORCE, 2))))
        states.append((q, qd, ARM.forward_dynamics(q, qd, tau)))
        for _ in range(5):
            qdd = ARM.forward_dynamics(q, qd, tau)
            middle = qd + STEP / 10 * qdd
            qdd = ARM.forward_dynamics(q + STEP / 10 * qd, middle, tau)
            q, qd = q + STEP / 5 * middle, qd + STEP / 5 * qdd
    heads = ["t", *(f"{group}_{name}" for group in ("q", "ref", "tau") for name in names)]
    return dict(zip(heads, np.array(rows).T, strict=True)), np.array(states).swapaxes(0, 1)
