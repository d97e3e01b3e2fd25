"""Dynamics of a robot in many states, for a search for motions: base regressor, its gradient and
joint forces."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symgen.identification.model.equations import States, random_states, separable
from symgen.identification.model.problem import friction
from symgen.jobs.job import Job
from symgen.mechanics.coupling import Coupling, coupling_of
from symgen.native.library import NativeProgram, NativeTape
from symgen.numbers.scalar import Numbers
from symgen.reading.assemble import LoadedRobot
from symgen.tracing.trace import trace_all


@dataclass(frozen=True, eq=False)
class Dynamics:
    """Tapes of the base regressor (n x b, `shape`), of its gradient and of inverse dynamics.

    `nonzero` tells which entries of the regressor are not zero in every state; the gradient takes
    weights of these. `friction` has the coefficients of the files in the order of their columns.
    """

    shape: tuple[int, ...]
    nonzero: NDArray[np.bool_]
    values: NativeTape
    gradient_tape: NativeTape
    inverse: NativeTape
    friction: Numbers
    coupling: Coupling

    def regressor(self, states: States) -> Numbers:
        """The base regressor of each state (N x n x b)."""
        return self.values(*states).reshape(-1, *self.shape)

    def separable(self, drives: int) -> NDArray[np.intp]:
        """The numbers of the parameters less those of the last ones, of `drives`, that no motion
        tells from parameters before them."""
        b = self.shape[1]
        if not drives:
            return np.arange(b)
        last = separable(self.regressor(random_states(self.coupling)), drives)
        return np.array([*range(b - drives), *last], np.intp)

    def gradient(self, states: States, weights: Numbers) -> Numbers:
        """The gradient of Σ weights · regressor (both N x n x b) in q, qd and qdd (3 x N x n), in
        reverse."""
        slopes = self.gradient_tape(*states, weights[:, self.nonzero])
        return slopes.reshape(len(slopes), 3, -1).swapaxes(0, 1)

    def forces(self, states: States) -> Numbers:
        """Joint forces (N x n) by inverse dynamics with the parameters of the robot's files."""
        return self.inverse(*states, np.tile(self.friction, (len(states[0]), 1)))


def dynamics(job: Job, loaded: LoadedRobot) -> Dynamics:
    """The dynamics of a job's robot; its friction, if any, is an input (``runtime:KINDS``), its
    springs are not. Raises OptionError."""
    regressor = traced(job, loaded, "base_regressor")
    without_springs = job.changed(springs=False, runtime_springs=False)  # constants here
    return Dynamics(
        regressor.shape,
        regressor.nonzero,
        regressor.tape,
        regressor.gradient_tape(),
        traced(job, loaded, "inverse_dynamics").tape,
        np.array([*friction(without_springs, loaded.model).values()]),
        coupling_of(loaded.model),
    )


def traced(job: Job, loaded: LoadedRobot, quantity: str) -> NativeProgram:
    """A quantity of a job's robot with its tape. Raises OptionError."""
    alone = job.changed(quantities=(quantity,))
    return NativeProgram.of(
        trace_all(alone.robot(loaded), alone.wanted(), alone.choice())[0].program
    )
