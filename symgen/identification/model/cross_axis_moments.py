"""The moments that a joint carries across its axis, which a torque sensor in it feels a little of:
the crosstalk of a real sensor, whose gauges and bearing are never wholly symmetric.

They come from the standard parameters that are known beforehand: crosstalk is a few percent, so
what the prior is off by hardly changes it."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from symgen.identification.data.samples import Samples
from symgen.identification.model.compiled_kernel import Kernel, kernel
from symgen.jobs.job import Job
from symgen.mechanics.model import Body
from symgen.mechanics.parameters import WHOLE, canonical_model
from symgen.numbers.types import Numbers
from symgen.reading.assemble import LoadedRobot

PIECE: Final = 512
"""Rows whose wrenches are computed at a time."""


@dataclass(frozen=True)
class Bearing:
    """A joint that turns: its regressor of wrenches, and in its own axes its axis and two
    directions across it (3 x 3, rows), which stay with the parent."""

    wrench: Kernel
    axes: Numbers

    @classmethod
    def of(cls, wrench: Kernel, body: Body) -> "Bearing":
        """The first direction is the coordinate axis farthest from the joint's, made
        orthogonal to it; the second completes a right-handed frame."""
        axis = np.array(body.axis)
        first = np.eye(3)[int(np.argmin(np.abs(axis)))]
        first = first - (first @ axis) * axis
        first /= np.linalg.norm(first)
        return cls(wrench, np.stack([axis, first, np.cross(axis, first)]))

    def __call__(self, wrenches: Numbers, angle: Numbers) -> Numbers:
        """The moments across the axis (N x 2) of wrenches (N x 6) at angles (N)."""
        u, v = (wrenches[:, 3:] @ self.axes[1:].T).T
        c, s = np.cos(angle), np.sin(angle)
        return np.stack([c * u - s * v, s * u + c * v], axis=1)


@dataclass(frozen=True)
class Bending:
    """The moments across axes of the joints that have drives, by standard parameters (s); None
    where a joint does not turn about an axis."""

    bearings: tuple[Bearing | None, ...]
    standard: Numbers

    def __call__(self, samples: Samples, positions: Numbers) -> Numbers:
        """The moments (N x k x 2) of k joints at their positions (N x k)."""
        moments = np.zeros((len(samples), len(self.bearings), 2))
        for start in range(0, len(samples), PIECE):
            rows = slice(start, start + PIECE)
            part = samples.part(rows)
            for k, bearing in enumerate(self.bearings):
                if bearing is not None:
                    wrenches = bearing.wrench(part.q, part.qd, part.qdd) @ self.standard
                    moments[rows, k] = bearing(wrenches, positions[rows, k])
        return moments


def bending(job: Job, loaded: LoadedRobot, standard: Numbers) -> Bending:
    """The moments across axes of a robot whose joints have no drives of their own. Raises
    OptionError."""
    model = loaded.model
    bodies = [model.body(i) for i in canonical_model(model, regrouping=WHOLE).friction_bodies]
    return Bending(tuple(_bearing(job, loaded, body) for body in bodies), standard)


def _bearing(job: Job, loaded: LoadedRobot, body: Body) -> Bearing | None:
    if not body.links or not body.freedom.is_pure_rotation:
        return None
    quantity = f"wrench_regressor:{body.links[0].name}"
    return Bearing.of(kernel(job.changed(quantities=(quantity,)), loaded), body)
