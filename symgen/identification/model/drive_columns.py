"""The columns that the drives of all joints add to the equations, and the rows that have no place
in them: near standstill nobody knows the sign of friction."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.presliding import PreslidingStates
from symgen.identification.data.samples import Samples
from symgen.identification.model.terms import TERMS, JointSamples
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.mechanics.parameters import WHOLE, canonical_model
from symgen.numbers.types import Numbers

Flags = NDArray[np.bool_]


@dataclass(frozen=True, order=True)
class DriveColumn:
    """One unknown: a term of TERMS at joint number `joint`, with its shape parameter `speed` (rad/s
    or m/s; for a presliding distance rad or m), 0 if the term has none."""

    joint: int
    term: str
    speed: float = 0.0

    @property
    def jumps(self) -> bool:
        """True if the force jumps with the sign of the velocity."""
        term = TERMS[self.term]
        return term.jumps and not (term.smoothed and self.speed)


def _owner(body: Body) -> tuple[str, int, int]:
    """The joint of a body's coordinate, the place of that among its velocities, their number."""
    joint = body.joint
    return joint.name, body.part.velocity, len(joint.type.velocities)


@dataclass(frozen=True)
class Joints:
    """The coordinates of joints that have friction: rows of `rates` (k x n) take the user's
    velocities to theirs; positions are `places` (k x nq) q + `offsets`. `owners` has the joint of
    each, which velocity of it that is, and how many it has."""

    names: tuple[str, ...]
    rates: Numbers
    places: Numbers
    offsets: Numbers
    owners: tuple[tuple[str, int, int], ...] = ()

    @classmethod
    def of(cls, model: RigidBodyModel) -> "Joints":
        """The joints of a model that may have friction."""
        numbers = canonical_model(model, regrouping=WHOLE).friction_bodies
        coupling, rows = coupling_of(model), [i - 1 for i in numbers]
        rates = coupling.velocity_matrix[rows].reshape(len(rows), model.dof)
        places, offsets = coupling.position_map
        return cls(
            tuple(model.body(i).velocity for i in numbers),
            np.asarray(rates, np.float64),
            np.asarray(places[rows], np.float64),
            np.asarray(offsets[rows], np.float64),
            tuple(_owner(model.body(i)) for i in numbers),
        )

    @property
    def channels(self) -> Flags:
        """Which joint acts on which force of the user (k x n)."""
        return np.asarray(self.rates != 0)

    def motions(self, samples: Samples, load: Numbers) -> list[JointSamples]:
        """The motion of each joint, with an unknown presliding state; `load` (N x n) are forces of
        the user's coordinates."""
        positions = samples.q @ self.places.T + self.offsets
        squares = np.square(self.rates).sum(axis=1)
        rows = (
            positions,
            samples.qd @ self.rates.T,
            samples.qdd @ self.rates.T if samples.qdd.size else np.zeros_like(positions),
            load @ (self.rates.T / squares) if len(squares) else positions,
            np.zeros_like(positions),
        )
        return [JointSamples(*(row[:, k] for row in rows)) for k in range(len(self.names))]


@dataclass(frozen=True)
class DriveUnknowns:
    """The unknowns of drives: `columns`, in the order of the equations' last columns.

    `slowest` (k) is the rate of each joint (rad/s or m/s) below which its sign is not known, and
    `margin` the number of rows by which derivatives are uncertain around a standstill, half a
    window of theirs. `load` (b) are the base parameters that loads are computed from; without them
    loads are the measured forces. `presliding` computes the states that columns read."""

    joints: Joints
    columns: tuple[DriveColumn, ...]
    slowest: Numbers
    margin: int = 0
    load: Numbers | None = None
    presliding: PreslidingStates | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Of the unknowns, such as ``viscous shoulder``."""
        return tuple(f"{column.term} {self.joints.names[column.joint]}" for column in self.columns)

    @cached_property
    def supports(self) -> Flags:
        """Which unknown acts on which force of the user (n x f)."""
        numbers = [column.joint for column in self.columns]
        return self.joints.channels[numbers].T

    def channels(self, first: int) -> dict[int, int]:
        """The channel on which each column acts most, by its number after `first` columns."""
        return {
            first + k: int(np.argmax(np.abs(self.joints.rates[column.joint])))
            for k, column in enumerate(self.columns)
        }

    @property
    def loaded(self) -> bool:
        """Whether some column depends on the load."""
        return any(TERMS[column.term].loaded for column in self.columns)

    def only(self, numbers: Collection[int]) -> "DriveUnknowns":
        """With some of the columns."""
        return replace(self, columns=tuple(self.columns[k] for k in sorted(numbers)))

    def values(self, samples: Samples, load: Numbers) -> Numbers:
        """The forces of the user that one unit of each unknown adds (N x n x f)."""
        motions = self.joints.motions(samples, load)
        states = samples.presliding
        if self.presliding is not None and not states.size:
            states = self.presliding.states(samples.q)
        forces = np.zeros((len(samples), samples.qd.shape[1], len(self.columns)))
        for k, column in enumerate(self.columns):
            motion = motions[column.joint]
            if TERMS[column.term].state:
                motion = replace(motion, presliding=states[:, column.joint, self._distance(column)])
            of_joint = TERMS[column.term].column(motion, column.speed)
            for u in np.flatnonzero(self.joints.rates[column.joint]):
                forces[:, u, k] = self.joints.rates[column.joint, u] * of_joint
        return forces

    def _distance(self, column: DriveColumn) -> int:
        """The number of a column's presliding distance among those of its joint."""
        assert self.presliding is not None
        return int(np.argmin(np.abs(self.presliding.distances[column.joint] - column.speed)))

    def known(self, samples: Samples) -> Flags:
        """The rows (N x n) in which the sign of each friction that acts on a force is known."""
        rates = np.abs(samples.qd @ self.joints.rates.T)
        unsure = self._signed & (rates <= self.slowest)
        unsure |= dilated(standing(unsure, 2 * self.margin + 1), self.margin)
        return ~np.asarray(unsure.astype(np.float64) @ self.joints.channels > 0)

    @cached_property
    def _signed(self) -> Flags:
        """The joints (k) with a term that jumps with the sign of the velocity."""
        numbers = {column.joint for column in self.columns if column.jumps}
        return np.array([k in numbers for k in range(len(self.joints.names))], np.bool_)


def standing(slow: Flags, length: int) -> Flags:
    """The rows of runs of at least `length` slow rows, column by column; runs at the ends may go
    on."""
    wide = np.pad(slow, ((length, length), (0, 0)), mode="edge")
    inner = ~dilated(~wide, length // 2)
    return slow & dilated(inner, length // 2)[length : length + len(slow)]


def dilated(rows: Flags, by: int) -> Flags:
    """Rows (N x k) with a marked row at most `by` rows away."""
    if not by or not rows.any():
        return rows
    sums = np.zeros((len(rows) + 1, rows.shape[1]), np.int64)
    np.cumsum(rows, axis=0, out=sums[1:])
    n = np.arange(len(rows))
    return np.asarray(sums[np.minimum(n + by + 1, len(rows))] > sums[np.maximum(n - by, 0)])


def candidates(
    terms: Sequence[str], joints: Joints, fastest: Numbers, travel: Numbers, width: float | None
) -> tuple[DriveColumn, ...]:
    """The columns of some terms at every joint, joint by joint, with every candidate of a shape
    parameter; none of a term that needs one at a joint that never moves.

    `fastest` (k) are the joints' largest velocities, `travel` (k) the ranges of their positions;
    `width` is that of the direction, None if it is to be chosen."""
    return tuple(
        DriveColumn(k, name, shape)
        for k in range(len(joints.names))
        for name in terms
        for shape in _shapes(name, float(fastest[k]), float(travel[k]), width)
    )


def _shapes(name: str, fastest: float, travel: float, width: float | None) -> list[float]:
    term = TERMS[name]
    if not term.shapes or (term.smoothed and width is not None):
        return [float(width or 0.0) if term.smoothed else 0.0]
    return sorted({x * (travel if term.state else fastest) for x in term.shapes} - {0.0})


def presliding_states(columns: Sequence[DriveColumn], joints: Joints) -> PreslidingStates | None:
    """The states that some columns read; None if none does."""
    distances = [
        sorted({c.speed for c in columns if c.joint == k and TERMS[c.term].state})
        for k in range(len(joints.names))
    ]
    most = max(map(len, distances), default=0)
    if not most:
        return None
    padded = [(row + [row[-1] if row else 1.0] * most)[:most] for row in distances]
    return PreslidingStates(joints.places, joints.offsets, np.array(padded))
