"""The task of exciting a robot: dynamics, parameters and limits, and at which times they are looked
at."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.excitation.clearance import Clearance
from symgen.identification.excitation.fourier import Fourier
from symgen.identification.excitation.motion_limits import Bounds
from symgen.identification.excitation.motion_plan import ExcitationPlan
from symgen.identification.model.regressor_tapes import Dynamics
from symgen.numbers.types import Numbers

PER_HARMONIC: Final = 12
"""Samples a period of the highest harmonic: what the search looks at."""
FINE: Final = 1000
"""Samples a period, at least, on which limits must hold."""
APPROACH: Final = 100
"""Postures on the way to the start of a motion at which free space is checked."""


@dataclass(frozen=True)
class ExcitationTask:
    """A task, what to excite: dynamics, base parameters as the files have them (b and friction),
    limits and plan."""

    names: tuple[str, ...]
    dynamics: Dynamics
    parameters: Numbers
    bounds: Bounds
    plan: ExcitationPlan
    lengths: tuple[bool, ...] = ()
    """Whether the coordinate of each joint is a length; nothing is said where it is empty."""
    drives: tuple[str, ...] = ()
    """The names of the last parameters, those of friction and springs."""
    posture: Numbers | None = None
    """The centre of the motion (n, rad or m), None if the search chooses it."""
    clearance: Clearance | None = None
    """The free space that the motion keeps to."""

    @cached_property
    def separable(self) -> NDArray[np.intp]:
        """The numbers of the parameters that motions can tell from those before them."""
        return self.dynamics.separable(len(self.drives))

    @property
    def left_out(self) -> tuple[str, ...]:
        """The names of those that they cannot."""
        first, kept = len(self.parameters) - len(self.drives), {*self.separable.tolist()}
        return tuple(name for k, name in enumerate(self.drives, first) if k not in kept)

    @property
    def joints(self) -> int:
        """n."""
        return len(self.bounds.lower)

    @property
    def allowed(self) -> Bounds:
        """The limits less the margin."""
        return self.bounds.within(self.plan.margin)

    def grid(self, count: int) -> Numbers:
        """Times at even distances in a period."""
        return np.asarray(np.arange(count) * (self.plan.period / count), np.float64)

    @property
    def coarse(self) -> Numbers:
        """The times that the search looks at."""
        return self.grid(PER_HARMONIC * self.plan.harmonics)

    @property
    def fine(self) -> Numbers:
        """The times at which limits must hold: rows, or more."""
        rows = round(self.plan.period * self.plan.rate)
        return self.grid(rows * max(1, -(-FINE // rows)))

    def excess(self, motion: Fourier, t: Numbers) -> float:
        """The largest excess of the motion, as a part of the limit; negative where it keeps to
        all."""
        states = motion.states(t)
        return float(self.allowed.excess(states[0], states[1], self.dynamics.forces(states)).max())

    @property
    def fixed_centre(self) -> bool:
        """Whether the search keeps the centre of the motion. With free space it does, because a
        motion is shrunk about its centre until it fits."""
        return self.posture is not None or self.clearance is not None

    def path(self, motion: Fourier) -> Numbers:
        """The positions (N x n) at which free space is checked: on the straight way from the centre
        of the motion to its start, then a period."""
        q, share = motion.states(self.fine)[0], np.linspace(0.0, 1.0, APPROACH)[:, None]
        return np.vstack([motion.centre + share * (q[0] - motion.centre), q, q[:1]])

    def whole_excess(self, motion: Fourier) -> float:
        """The largest excess of the motion over its limits at the fine times, and over the free
        space (m) on its path; negative if it keeps to both."""
        worst = self.excess(motion, self.fine)
        if worst > 0 or self.clearance is None:
            return worst
        return max(worst, self.clearance.excess(self.path(motion)))

    def rows(self, motion: Fourier) -> Numbers:
        """The stacked regressor (N n x b), each joint's rows divided by its limit of force."""
        scaled = self.dynamics.regressor(motion.states(self.coarse)) / self.bounds.force[:, None]
        return np.asarray(scaled[:, :, self.separable].reshape(-1, len(self.separable)))
