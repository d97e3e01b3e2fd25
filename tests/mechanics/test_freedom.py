"""The momentum of a body that a joint moves at unit rate."""

import numpy as np
import pytest

from symgen.mechanics.inertia import Inertia, SecondMoment
from symgen.mechanics.joint_type import Freedom
from symgen.mechanics.spatial import Vector


@pytest.mark.parametrize(("turn", "slide"), [(1.0, 1.0), (-2.0, 0.3), (0.5, 3.0)])
def test_the_momentum_is_that_of_point_masses(turn, slide):
    """Σ m v and Σ r × m v of points that turn about z and slide along it."""
    rng = np.random.default_rng(7)
    masses, points = rng.uniform(0.1, 1.0, 5), rng.uniform(-1.0, 1.0, (5, 3))
    h = masses @ points
    s = np.einsum("p,pi,pj->ij", masses, points, points)
    moment = SecondMoment(s[0, 0], s[0, 1], s[0, 2], s[1, 1], s[1, 2], s[2, 2])
    momentum = Freedom(turn, slide).momentum(Inertia(masses.sum(), Vector(*h), moment))
    velocities = np.cross([0.0, 0.0, turn], points) + np.array([0.0, 0.0, slide])
    linear = masses @ velocities
    angular = masses @ np.cross(points, velocities)
    found = [float(x or 0.0) for x in (*momentum.linear, *momentum.angular)]
    np.testing.assert_allclose(found, [*linear, *angular], atol=1e-14)
