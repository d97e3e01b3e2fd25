"""Weighted least squares from triangular factors."""

import numpy as np
import pytest

from symgen.identification.estimation.triangular_factors import factored
from symgen.identification.estimation.weighted_solve import TriangularSystem, solve


def test_weights_settle_where_no_joint_explains_another():
    """Without common parameters each channel's deviation is that of its own least squares."""
    random = np.random.default_rng(0)
    a, sizes = random.normal(size=(500, 2, 4)), (0.1, 3.0)
    a[:, 0, 2:], a[:, 1, :2] = 0.0, 0.0
    y = a @ [1.0, 2.0, 3.0, 4.0] + random.normal(size=(500, 2)) * sizes
    supports = ((0, 1), (2, 3))
    solution = solve(TriangularSystem(factored(a, y, supports), supports, 4))
    for j, own in enumerate(supports):
        x, rest, *_ = np.linalg.lstsq(a[:, j, list(own)], y[:, j], rcond=None)
        assert np.allclose(solution.values[list(own)], x, rtol=1e-9)
        assert solution.deviations[j] == pytest.approx(np.sqrt(rest[0] / 498), rel=1e-9)
