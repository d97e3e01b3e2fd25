"""The optimal control example: quadratic convergence, derivatives, and the same optimum by others."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

from examples.ocp import ddp
from examples.ocp.problem import PANDA, Problem

SMALL = Problem("pendulum", (0.3, 0.4), (1.0, -0.5), by_force=0.1)


def tail(log):
    """Gradients from the first on that is below a tenth."""
    start = next(k for k, g in enumerate(log.gradient) if g < 0.1)
    return log.gradient[start:]


def test_ddp_converges_quadratically_and_ilqr_does_not():
    newton, gauss = ddp.solve(SMALL), ddp.solve(SMALL, second=False)
    assert newton.gradient[-1] < 1e-9 and gauss.gradient[-1] < 1e-9
    assert np.isclose(newton.cost[-1], gauss.cost[-1], rtol=1e-12)
    assert newton.gradient[-1] < 10 * newton.gradient[-2] ** 1.5
    assert len(tail(newton)) < 0.5 * len(tail(gauss))
    late = [g for g in gauss.gradient if 1e-8 < g < 1e-4]
    ratios = np.array(late[1:]) / late[:-1]
    assert ratios.min() > 0.3  # linear: each iteration gains the same factor


def test_curvature_is_that_of_the_step():
    random, n = np.random.default_rng(0), SMALL.n
    x, u, weights = random.uniform(-1, 1, 4), random.uniform(-1, 1, 2), random.uniform(-1, 1, 4)

    def gradient(x, u):
        a, b = SMALL.slopes(x, u)
        return np.concatenate([weights @ a, weights @ b])

    small, z = 1e-6, np.concatenate([x, u])
    rows = [
        (gradient(*np.split(z + small * e, [2 * n])) - gradient(*np.split(z - small * e, [2 * n])))
        / (2 * small)
        for e in np.eye(3 * n)
    ]
    whole = np.array(rows)
    xx, ux = SMALL.curvature(x, u, weights)
    assert np.allclose(whole[: 2 * n, : 2 * n], xx, atol=1e-6)
    assert np.allclose(whole[2 * n :, : 2 * n], ux, atol=1e-6)
    assert np.allclose(whole[2 * n :, 2 * n :], 0, atol=1e-6)


def test_ipopt_finds_the_same():
    pytest.importorskip("casadi")
    from examples.ocp import ipopt

    short = replace(SMALL, steps=20)
    mine, other = ddp.solve(short), ipopt.solve(short)
    assert np.isclose(mine.cost[-1], other.cost[-1], rtol=1e-8)
    assert np.allclose(mine.us, other.us, atol=1e-5)


def test_crocoddyl_finds_the_same():
    if importlib.util.find_spec("crocoddyl") is None:
        pytest.skip("crocoddyl is not installed")
    from examples.ocp import crocoddyl_reference

    assert np.isclose(ddp.solve(SMALL).cost[-1], crocoddyl_reference.solve(SMALL).cost[-1])


@pytest.mark.slow
def test_a_panda_goes_from_point_to_point():
    log = ddp.solve(PANDA)
    assert log.iterations <= 20 and log.gradient[-1] < 1e-9
    assert log.gradient[-2] < 1e-3 and log.gradient[-1] < log.gradient[-2] ** 1.8
