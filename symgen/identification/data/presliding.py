"""The presliding state of joints: friction before a joint slides.

Dahl's model (1968) in its rate-independent form: for a step Δq of the position and g = sign(Δq),
the state becomes g + (s - g) exp(-|Δq| / δ), which is exact for motion in one direction within the
step. It lies in -1 to 1, keeps the direction of the last motion at standstill, and turns over
within a few distances δ after a reversal."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.samples import Samples

Numbers = NDArray[np.float64]

LEAD: Final = 5
"""Steps of the motion before the first sample, which is unknown, that the initial state assumes. A
joint that moves has slid by more than its presliding distance after so many steps, and noise of the
encoder does not add up over them."""


@dataclass(frozen=True)
class PreslidingStates:
    """Computes states for k joints and g presliding distances of each: positions of the joints are
    `places` (k x nq) q + `offsets` (k); `distances` (k x g) are in rad or m."""

    places: Numbers
    offsets: Numbers
    distances: Numbers

    def states(self, q: Numbers, before: tuple[Numbers, Numbers] | None = None) -> Numbers:
        """The states (N x k x g) at positions q (N x nq); `before` has the position (nq) and the
        state (k x g) of the sample before the first one. Without it the joints are assumed to have
        moved before the first sample as far as they move in the `LEAD` steps after it. An initial
        state of 0 instead would make the first row of a log tell presliding from Coulomb friction:
        the joint slides there."""
        if before is None:
            travel = ((q[min(LEAD, len(q) - 1)] - q[0]) @ self.places.T)[:, None]
            slid = -np.expm1(-np.abs(travel) / self.distances)
            before = q[0], np.sign(travel) * slid
        start, state = before
        positions = np.concatenate([start[None], q]) @ self.places.T + self.offsets
        steps = np.diff(positions, axis=0)
        result = np.empty((len(q), *self.distances.shape))
        for k in range(len(self.distances)):
            result[:, k] = _joint_states(steps[:, k], state[k], self.distances[k])
        return result

    def attached(self, blocks: Iterable[Samples]) -> Iterator[Samples]:
        """The blocks of consecutive samples with their states, each continued from the block before
        unless a gap in time longer than a step of the block separates them."""
        before, end = None, -np.inf
        for samples in blocks:
            if not len(samples):
                yield samples
                continue
            gap = 2.5 * float(np.median(np.diff(samples.t))) if len(samples) > 1 else 0.0
            connected = before is not None and 0 <= samples.t[0] - end <= gap
            states = self.states(samples.q, before if connected else None)
            before, end = (samples.q[-1], states[-1]), float(samples.t[-1])
            yield replace(samples, presliding=states)


def _joint_states(steps: Numbers, state: Numbers, distances: Numbers) -> Numbers:
    """The states (N x g) of one joint after each of its steps (N), beginning with `state` (g); run
    by run of steps in the same direction, in closed form."""
    directions = np.sign(steps)
    edges = np.flatnonzero(np.diff(directions, prepend=np.nan, append=np.nan) != 0)
    result = np.empty((len(steps), len(distances)))
    for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if not directions[a]:
            result[a:b] = state
            continue
        travel = np.cumsum(np.abs(steps[a:b]))[:, None]
        result[a:b] = directions[a] + (state - directions[a]) * np.exp(-travel / distances)
        state = result[b - 1]
    return result
