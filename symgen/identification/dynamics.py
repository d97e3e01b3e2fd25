"""What a search for motions asks of a robot in many states: base regressor, its gradient and joint
forces."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.methods import friction
from symgen.jobs.job import Job
from symgen.mechanics.independence import independent_columns
from symgen.native.tape import NativeTape, Traced
from symgen.reading.assemble import Loaded
from symgen.tracing.trace import trace_all

Numbers = NDArray[np.float64]
States = tuple[Numbers, Numbers, Numbers]
"""q, qd and qdd, N x n each."""


STATES: Final = 64
"""Random states that tell which parameters depend on others."""


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Tapes of the base regressor (n x b, `shape`), of its gradient and of inverse dynamics.

    `nonzero` tells which entries of the regressor are not zero in every state; the gradient takes
    weights of these. `friction` has the coefficients of the files in the order of their columns.
    """

    shape: tuple[int, ...]
    nonzero: NDArray[np.bool_]
    values: NativeTape
    slopes: NativeTape
    inverse: NativeTape
    friction: Numbers

    def regressor(self, states: States) -> Numbers:
        """The base regressor of each state (N x n x b)."""
        return self.values(*states).reshape(-1, *self.shape)

    def told(self, drives: int) -> NDArray[np.intp]:
        """The numbers of the parameters that motions can tell from those before them, of the last
        ones, those of `drives`: a follower's friction is part of its leader's, for one."""
        first, b = self.shape[1] - drives, self.shape[1]
        if not drives:
            return np.arange(b)
        random = np.random.default_rng(0)
        q, qd, qdd = random.uniform(-2, 2, (3, STATES, self.shape[0]))
        rows = self.regressor((q, qd, qdd)).reshape(-1, b)
        found = (k for k in independent_columns(rows).chosen if k >= first)
        return np.array([*range(first), *found], np.intp)

    def gradient(self, states: States, weights: Numbers) -> Numbers:
        """The gradient of Σ weights · regressor (both N x n x b) in q, qd and qdd (3 x N x n), in
        reverse."""
        found = self.slopes(*states, weights[:, self.nonzero])
        return found.reshape(len(found), 3, -1).swapaxes(0, 1)

    def forces(self, states: States) -> Numbers:
        """Joint forces (N x n) by inverse dynamics with the parameters of the robot's files."""
        return self.inverse(*states, np.tile(self.friction, (len(states[0]), 1)))


def dynamics(job: Job, loaded: Loaded) -> Dynamics:
    """Those of a job's robot; its friction, if any, is an input (``runtime:KINDS``), its springs
    are not. Raises OptionError."""
    regressor = traced(job, loaded, "base_regressor")
    return Dynamics(
        regressor.shape,
        regressor.nonzero,
        regressor.tape,
        regressor.slopes(),
        traced(job, loaded, "inverse_dynamics").tape,
        np.array([*friction(_frictional(job), loaded.model).values()]),
    )


def _frictional(job: Job) -> Job:
    """The job without springs, which are constants of inverse dynamics here."""
    return job.changed(springs=False, runtime_springs=False)


def traced(job: Job, loaded: Loaded, quantity: str) -> Traced:
    """A quantity of a job's robot with its tape. Raises OptionError."""
    own = job.changed(quantities=(quantity,))
    return Traced.of(trace_all(own.robot(loaded), own.wanted(), own.choice())[0].program)
