"""Who computes an identification makes no difference: processes of dask, weights."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from symgen.identification.estimation.triangular_factors import reduced
from symgen.identification.estimation.weighted_solve import TriangularSystem, solve
from symgen.identification.model.settings import Settings
from tests.support.known_truth import SHORT, SMALL, found


def test_dask_gives_the_same(tmp_path):
    """Workers behind a TCP scheduler get everything as bytes; ten blocks, more than are in flight
    at a time."""
    distributed = pytest.importorskip("distributed")
    recipe = replace(SHORT, rate=5000.0)
    alone = found(tmp_path, recipe, file=SMALL)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        protocol="tcp://",
        dashboard_address=None,
    ) as cluster:
        settings = Settings(scheduler=cluster.scheduler_address)
        there = found(tmp_path, recipe, settings, file=SMALL)
    assert np.allclose(there.estimate.values, alone.estimate.values, rtol=1e-10, atol=0)
    assert np.allclose(there.estimate.factor, alone.estimate.factor, rtol=1e-10, atol=1e-8)
    assert there.estimate.channels == alone.estimate.channels


def test_equations_travel(tmp_path):
    """What goes to a worker gives the same bits after a journey as bytes."""
    result = found(tmp_path, SHORT, file=SMALL)
    there = pickle.loads(pickle.dumps(result.equations))
    here, far = (e.equations(result.last[0]).regressor for e in (result.equations, there))
    assert np.array_equal(here, far) and there.supports == result.equations.supports


def test_weights_settle_where_no_joint_explains_another():
    """Without common parameters each channel's deviation is that of its own least squares."""
    random = np.random.default_rng(0)
    a, sizes = random.normal(size=(500, 2, 4)), (0.1, 3.0)
    a[:, 0, 2:], a[:, 1, :2] = 0.0, 0.0
    y = a @ [1.0, 2.0, 3.0, 4.0] + random.normal(size=(500, 2)) * sizes
    supports = ((0, 1), (2, 3))
    solution = solve(TriangularSystem(reduced(a, y, supports), supports, 4))
    for j, own in enumerate(supports):
        x, rest, *_ = np.linalg.lstsq(a[:, j, list(own)], y[:, j], rcond=None)
        assert np.allclose(solution.values[list(own)], x, rtol=1e-9)
        assert solution.deviations[j] == pytest.approx(np.sqrt(rest[0] / 498), rel=1e-9)
