"""An arm whose parameters are given as arrays."""

import numpy as np

from symgen.algorithms.regressors import (
    base_parameters,
)
from symgen.mechanics.independence import independent_parameters
from symgen.mechanics.parameters import WHOLE, canonical_model, lump_links
from tests.support.random_trees import model
from tests.support.states import numbers


class Arm:
    """A robot at a random state, with random parameters for every body."""

    def __init__(self, name):
        self.model = lump_links(model(name), [body.name for body in model(name).bodies])
        self.n, random = self.model.dof, np.random.default_rng(3)
        self.q, self.qd, self.qdd, self.qd_r, self.qdd_r = random.uniform(
            -2, 2, (5, self.n)
        ).tolist()
        self.pi = random.uniform(-1, 1, 10 * self.n)
        self.whole = canonical_model(self.model, regrouping=WHOLE)
        self.tens = {
            body.name: self.pi[10 * k : 10 * k + 10].tolist()
            for k, body in enumerate(self.model.bodies)
        }
        self.robot = canonical_model(self.model, self.tens)

    def times(self, algorithm, *state, parameters=None):
        """The regressor times the parameters."""
        entries = np.array([complex(x).real for x in algorithm(self.whole, *state)])
        given = self.pi if parameters is None else parameters
        return entries.reshape(-1, len(given)) @ given

    @property
    def beta(self):
        return numbers(base_parameters(self.whole, self.pi.tolist()))

    @property
    def tolerance(self):
        """What base parameters leave out is below the gap: more than rounding where axes are nearly
        parallel."""
        return max(1e-11, 100 * independent_parameters(self.whole).largest_dropped)


def entries(algorithm, robot, *state):
    return np.array([complex(x) for x in algorithm(robot, *(list(map(complex, s)) for s in state))])
