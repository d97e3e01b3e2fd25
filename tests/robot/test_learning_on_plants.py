"""Recursive least squares on motions of a robot that Pinocchio simulates: standstill, and a payload
that changes."""

import numpy as np
import pytest

from tests.support.pinocchio_plants import Plant, pin, revolute, robot, urdf


@pytest.mark.parametrize("forget", [0.99, 0.9])
def test_least_squares_keep_what_they_know_at_standstill(forget):
    """3,000 samples of motion, then a minute at rest: gravity forces and noise, with which an
    exponential window would lose all that gravity does not show."""
    rng, plant = np.random.default_rng(1), Plant(revolute(), np.zeros(2), np.zeros(2))
    one = robot(urdf(dynamics=False))
    found = one.controller("recursive_least_squares", forget=forget)
    regressor = one.compile("base_regressor").base_regressor

    def seen(q, qd, qdd):
        tau = pin.rnea(plant.model, plant.data, q, qd, qdd) + rng.normal(0.0, 0.05, 2)
        return found.step(q=q, qd=qd, qdd=qdd, tau=tau)

    def trace():
        size = round((2 * len(found.state["P"])) ** 0.5 - 0.5)
        u = np.zeros((size, size))
        u[np.tril_indices(size)] = found.state["P"]
        d, u = np.diag(u).copy(), u.T.copy()
        np.fill_diagonal(u, 1.0)
        return ((u * d) * u).sum(), size

    def missed():
        states = np.random.default_rng(2).uniform(-2, 2, (50, 3, 2))
        beta = found.state["beta_hat"]
        rows = [regressor(*x) @ beta - pin.rnea(plant.model, plant.data, *x) for x in states]
        return np.abs(rows).max()

    for _ in range(3000):
        seen(*rng.uniform(-2, 2, (3, 2)))
    learnt, rest = missed(), rng.uniform(-2, 2, 2)
    assert learnt < 0.5
    for _ in range(60_000):
        seen(rest, np.zeros(2), np.zeros(2))
    spread, size = trace()
    assert spread <= 100.0 * size
    assert missed() < 2.0 * learnt


def test_forgetting_follows_a_change():
    """A payload is put on while the robot moves."""
    rng, models = np.random.default_rng(3), [revolute(), revolute()]
    models[1].appendBodyToJoint(
        2, pin.Inertia(1.0, np.array([0, 0, 0.3]), np.eye(3) * 1e-3), pin.SE3.Identity()
    )
    off = {}
    for forget in (0.98, 1.0):
        found = robot(urdf(dynamics=False)).controller("recursive_least_squares", forget=forget)
        for model in models:
            data = model.createData()
            for _ in range(1500):
                q, qd, qdd = rng.uniform(-2, 2, (3, 2))
                tau = pin.rnea(model, data, q, qd, qdd) + rng.normal(0.0, 0.02, 2)
                beta = found.step(q=q, qd=qd, qdd=qdd, tau=tau)
        regressor = robot(urdf(dynamics=False)).compile("base_regressor").base_regressor
        states = np.random.default_rng(2).uniform(-2, 2, (50, 3, 2))
        off[forget] = np.abs(
            [regressor(*x) @ beta - pin.rnea(models[1], data, *x) for x in states]
        ).max()
    assert off[0.98] < 0.5 and off[0.98] < 0.1 * off[1.0]
