"""The columns that the laws of joint forces add to the equations, and the rows that are left out
because the sign of friction is not known near standstill.

Each column is that of a row of `LAWS` (`symgen.mechanics.joint_forces`), evaluated on arrays. Its
coefficient is an unknown. The force is not linear in the shape parameters, so each candidate of
them has a column of its own; `shape_search` selects by variable projection (Golub & Pereyra, SIAM
J. Numer. Anal. 1973)."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from symgen.identification.data.samples import ColumnStatistics, PreslidingStates, Samples
from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.joint_forces import (
    FRICTION_WIDTH,
    INERTIA_GROUP,
    LAWS,
    PRESLIDING_DISTANCE,
    ForceLaw,
    JointState,
    ShapeParameter,
)
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.mechanics.parameters import WHOLE, canonical_model
from symgen.numbers.scalar import Numbers

Flags = NDArray[np.bool_]
ShapePairs = tuple[tuple[str, float], ...]

DEFAULT_LAWS: Final = (
    *("viscous", "coulomb", "offset", "saturating", "load", "presliding", "presliding_load"),
    "armature",
)
"""The laws of ``--friction auto``: those that reach or beat every selection of laws on logs of real
robots that were not fitted (docs/benchmarks/identification.md)."""
OF_LEADERS: Final = {"load", "presliding"}
"""What a law can read only at coordinates that do not follow others."""
NO_SHAPE: Final = {"width": 0.0, "reference": 0.0}


@dataclass(frozen=True, order=True)
class DriveColumn:
    """One unknown: the coefficient of law `law` at joint number `joint`, with its shape parameters
    by name (rad/s, m/s, rad or m), ``friction_width`` among them if it is not 0."""

    joint: int
    law: str
    shape: ShapePairs = ()

    @property
    def row(self) -> ForceLaw:
        """The row of the registry."""
        return LAWS[self.law]

    @property
    def jumps(self) -> bool:
        """True if the force jumps with the sign of the velocity."""
        return self.row.has_width and FRICTION_WIDTH.name not in dict(self.shape)

    @property
    def distance(self) -> float | None:
        """The presliding distance (rad or m), None for a law without one."""
        return dict(self.shape).get(PRESLIDING_DISTANCE.name)

    def force(self, state: JointState) -> Numbers:
        """The force per unit of the coefficient at N states (N)."""
        shape = dict(self.shape)
        width = {"width": shape.pop(FRICTION_WIDTH.name, 0.0)}
        of_joint = self.row.column(state, {**NO_SHAPE, **width, **shape})
        return np.zeros(len(np.asarray(state.rate))) + np.asarray(of_joint, np.float64)


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
    follow: tuple[bool, ...] = ()
    """Whether each follows others: a joint that mimics one, or a motor that moves several joints.
    Such a coordinate has no state of presliding and no load of its own."""

    @classmethod
    def of(cls, model: RigidBodyModel) -> "Joints":
        """The joints of a model that may have friction, and the motors that move several joints;
        no joints that closed loops determine, whose rates are no constant combination of the
        user's."""
        determined = {i for closure in model.closures for i in closure.dependent}
        numbers = [
            i
            for i, body in enumerate(model.bodies, 1)
            if i not in determined
            if i in canonical_model(model, regrouping=WHOLE).friction_bodies
            or (body.joint.type.is_rotor and body.follows and len(body.follows.terms) > 1)
        ]
        coupling, rows = replace(coupling_of(model), loops=()), [i - 1 for i in numbers]
        rates = coupling.velocity_matrix[rows].reshape(len(rows), model.dof)
        places, offsets = coupling.position_map
        return cls(
            tuple(model.body(i).velocity for i in numbers),
            np.asarray(rates, np.float64),
            np.asarray(places[rows], np.float64),
            np.asarray(offsets[rows], np.float64),
            tuple(_owner(model.body(i)) for i in numbers),
            tuple(model.body(i).follows is not None for i in numbers),
        )

    def laws(self, joint: int, laws: Sequence[str]) -> list[str]:
        """Those of some laws that joint number `joint` can have."""
        follows = self.follow[joint] if self.follow else False
        return [law for law in laws if not (follows and LAWS[law].reads & OF_LEADERS)]

    @property
    def channels(self) -> Flags:
        """Which joint acts on which force of the user (k x n)."""
        return np.asarray(self.rates != 0)

    def states(self, samples: Samples, load: Numbers) -> list[JointState]:
        """The states of each joint, without presliding; `load` (N x n) are forces of the user's
        coordinates."""
        positions = samples.q @ self.places.T + self.offsets
        squares = np.square(self.rates).sum(axis=1)
        rows = (
            positions,
            samples.qd @ self.rates.T,
            load @ (self.rates.T / squares) if len(squares) else positions,
            np.zeros_like(positions),
            samples.qdd @ self.rates.T if samples.qdd.size else np.zeros_like(positions),
        )
        return [JointState(*(row[:, k] for row in rows)) for k in range(len(self.names))]


@dataclass(frozen=True)
class DriveUnknowns:
    """The unknowns of drives: `columns`, in the order of the equations' last columns.

    `slowest` (k) is the rate of each joint (rad/s or m/s) below which its sign is not known, and
    `margin` the number of rows by which derivatives are uncertain around a standstill, half a
    window of theirs. `load` are the values (base parameters, then those of `load_columns`) that
    loads are computed from; without them loads are the measured forces. `presliding` computes the
    states that columns read."""

    joints: Joints
    columns: tuple[DriveColumn, ...]
    slowest: Numbers
    margin: int = 0
    load: Numbers | None = None
    load_columns: tuple[DriveColumn, ...] = ()
    presliding: PreslidingStates | None = None

    def with_loads(self, columns: Sequence[DriveColumn], values: Numbers) -> "DriveUnknowns":
        """The unknowns with loads by an estimate: `values` are base parameters and then the
        coefficients of `columns`. The load contains the inertia of rotors, as in generated code,
        and neither friction nor springs."""
        first = len(values) - len(columns)
        inertias = [k for k, column in enumerate(columns) if column.row.group == INERTIA_GROUP]
        load = np.concatenate([values[:first], values[[first + k for k in inertias]]])
        return replace(self, load=load, load_columns=tuple(columns[k] for k in inertias))

    @property
    def names(self) -> tuple[str, ...]:
        """Of the unknowns, such as ``viscous shoulder``."""
        return tuple(f"{column.law} {self.joints.names[column.joint]}" for column in self.columns)

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
        return any("load" in column.row.reads for column in self.columns)

    @property
    def jumps(self) -> bool:
        """Whether some column jumps with the sign of a velocity."""
        return any(column.jumps for column in self.columns)

    @property
    def has_candidates(self) -> bool:
        """Whether some law of a joint has several columns, among whose shapes to select."""
        return len({(column.joint, column.law) for column in self.columns}) < len(self.columns)

    def only(self, numbers: Collection[int]) -> "DriveUnknowns":
        """With some of the columns."""
        return replace(self, columns=tuple(self.columns[k] for k in sorted(numbers)))

    def values(self, samples: Samples, regressor: Numbers) -> Numbers:
        """The forces of the user that one unit of each unknown adds (N x n x f); `regressor`
        (N x n x b) are the columns of the base parameters."""
        states = self.joints.states(samples, self._loads(samples, regressor))
        presliding = samples.presliding
        if self.presliding is not None and not presliding.size:
            presliding = self.presliding.states(samples.q)
        forces = np.zeros((len(samples), samples.qd.shape[1], len(self.columns)))
        for k, column in enumerate(self.columns):
            state = states[column.joint]
            if column.distance is not None:
                place = self._distance(column.joint, column.distance)
                state = state._replace(presliding=presliding[:, column.joint, place])
            self._add(forces[:, :, k], column, state)
        return forces

    def _loads(self, samples: Samples, regressor: Numbers) -> Numbers:
        """The forces of the user that the links and rotors need (N x n)."""
        if self.load is None:
            return samples.measured
        first = regressor.shape[2]
        load = np.asarray(regressor @ self.load[:first])
        if self.load_columns:
            states = self.joints.states(samples, load)
            for column, value in zip(self.load_columns, self.load[first:].tolist(), strict=True):
                self._add(load, column, states[column.joint], value)
        return load

    def _add(self, forces: Numbers, column: DriveColumn, state: JointState, by: float = 1) -> None:
        """Add `by` times the column of a joint to the forces of the user (N x n)."""
        of_joint = by * column.force(state)
        for u in np.flatnonzero(self.joints.rates[column.joint]):
            forces[:, u] += self.joints.rates[column.joint, u] * of_joint

    def _distance(self, joint: int, distance: float) -> int:
        """The number of a presliding distance among those of its joint."""
        assert self.presliding is not None
        return int(np.argmin(np.abs(self.presliding.distances[joint] - distance)))

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
    laws: Sequence[str], joints: Joints, fastest: Numbers, travel: Numbers, width: float | None
) -> tuple[DriveColumn, ...]:
    """The columns of some laws at every joint, joint by joint, with every candidate of the shape
    parameters; none of a law that needs one at a joint that never moves.

    `fastest` (k) are the joints' largest velocities, `travel` (k) the ranges of their positions;
    `width` is that of the direction, None if it is to be a part of the largest velocity."""
    sizes = [{"rad/s": x, "rad": y, "1": 1.0} for x, y in zip(fastest, travel, strict=True)]
    return tuple(
        DriveColumn(k, law, shape)
        for k in range(len(joints.names))
        for law in joints.laws(k, laws)
        for shape in _shapes(LAWS[law], sizes[k], width)
    )


def _shapes(law: ForceLaw, sizes: dict[str, float], width: float | None) -> Iterator[ShapePairs]:
    """Every choice of the shape parameters of a law; `sizes` are those of a joint by unit. A power
    of the speed has no slope at rest without a width, so it always has one."""
    choices = [_choices(parameter, sizes) for parameter in law.shape]
    is_power = any(parameter.unit == "1" for parameter in law.shape)
    if law.has_width and (width is None or (not width and is_power)):
        choices.append(_choices(FRICTION_WIDTH, sizes))
    elif law.has_width and width:
        choices.append([(FRICTION_WIDTH.name, width)])
    yield from product(*choices)


def _choices(parameter: ShapeParameter, sizes: dict[str, float]) -> list[tuple[str, float]]:
    size = float(sizes[parameter.unit])
    return [(parameter.name, x * size) for x in parameter.search if size]


def presliding_states(columns: Sequence[DriveColumn], joints: Joints) -> PreslidingStates | None:
    """The states that some columns read; None if none does."""
    distances: list[list[float]] = [[] for _ in joints.names]
    for column in columns:
        if column.distance is not None and column.distance not in distances[column.joint]:
            distances[column.joint].append(column.distance)
    most = max(map(len, distances), default=0)
    if not most:
        return None
    padded = [sorted(row + [row[-1] if row else 1.0] * (most - len(row))) for row in distances]
    return PreslidingStates(joints.places, joints.offsets, np.array(padded))


SIGMAS: Final = 6.0
"""A rate within so many standard deviations of its noise has no sign that can be relied on."""
PART: Final = 0.01
"""Nor has one below this part of the joint's largest rate: there friction is no step, and a delay
of a sample matters."""


@dataclass(frozen=True)
class MotionRanges:
    """The rates seen in the motion of k joints that may have friction: the largest rate (rad/s or
    m/s), the range of the position (rad or m), the rate below which its sign is not known, and the
    number of rows by which derivatives are uncertain around a standstill."""

    fastest: Numbers
    travel: Numbers
    slowest: Numbers
    margin: int


def motion_ranges(
    joints: Joints, blocks: Iterable[Samples], margin: int, slowest: float | None
) -> MotionRanges:
    """The rates in all blocks of a log; `slowest` is the rate where somebody gives it."""
    k, noise = len(joints.names), np.zeros(len(joints.names))
    positions, rates = ColumnStatistics.of(k), ColumnStatistics.of(k)
    for samples in blocks:
        positions.add(samples.q @ joints.places.T + joints.offsets)
        rates.add(samples.qd @ joints.rates.T)
        noise = np.maximum(noise, np.abs(joints.rates) @ samples.noise)
    low, high = positions.ends
    fastest = np.where(np.isinf(rates.largest), 0.0, rates.largest)
    least = np.maximum(SIGMAS * noise, PART * fastest)
    travel = np.maximum(high - low, 0.0)
    return MotionRanges(
        fastest, travel, least if slowest is None else np.full_like(least, slowest), margin
    )
