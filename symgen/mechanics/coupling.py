"""How the user's coordinates drive those of the bodies: q_bodies = G q + c, with the same G for all
rates.

Joints that follow others or motors, and rotors, are bodies with coordinates of their own in every
algorithm, which this module projects: forces and matrices by Gᵀ, axis by axis. (Featherstone, Rigid
Body Dynamics Algorithms, 2008, section 3.2; for rotors Echeandia 2020, ch. 4.) Joints with a
quaternion have one position more than rates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from random import Random
from typing import Any, Final

import numpy as np

from symgen.mechanics.joints import JointType
from symgen.mechanics.joints.body_axes import BodyAxesJoint, quaternion_rows
from symgen.mechanics.model import Joint, RigidBodyModel
from symgen.mechanics.spatial import scale_constant
from symgen.numbers.scalar import ZERO, Scalar, plain


@dataclass(frozen=True, slots=True)
class CouplingTerm:
    """One term of a coordinate of a body: `factor` times the user's velocity `velocity_index`, and
    for positions times the user's position `position_index`."""

    velocity_index: int
    position_index: int
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class CoordinateMap:
    """The coordinate of a body as a linear function of the user's coordinates: the sum of its
    terms, plus `offset` for the position."""

    terms: tuple[CouplingTerm, ...]
    offset: float = 0.0
    follows: bool = False
    """Whether the coordinates are those of other bodies."""

    @property
    def position_index(self) -> int:
        """The index of the coordinate in the user's positions; only for a body with a coordinate of
        its own."""
        return self.terms[0].position_index

    @property
    def velocity_index(self) -> int:
        """The index of its rate in the user's velocities; only for a body with a coordinate of its
        own."""
        return self.terms[0].velocity_index

    def position(self, q: Sequence[Scalar]) -> Scalar:
        """The body's coordinate from all positions of the user."""
        parts = (scale_constant(term.factor, q[term.position_index]) for term in self.terms)
        return sum(parts, ZERO) + (self.offset or ZERO)

    def rate(self, v: Sequence[Scalar]) -> Scalar:
        """The body's rate from all velocities of the user."""
        return sum(
            (scale_constant(term.factor, v[term.velocity_index]) for term in self.terms), ZERO
        )


@dataclass(frozen=True, slots=True)
class Coupling:
    """The coordinate maps of all bodies, and the numbers of velocities and of positions of the
    user. `parts` has the joint type of each body and the index of the part that moves it."""

    drives: tuple[CoordinateMap, ...]
    parts: tuple[tuple[JointType, int], ...]
    velocities: int
    positions: int

    @property
    def is_identity(self) -> bool:
        """True if the coordinates of the bodies are those of the user, in the same order, without
        quaternions."""
        one_by_one = all(
            drive == CoordinateMap((CouplingTerm(k, k),)) for k, drive in enumerate(self.drives)
        )
        return one_by_one and not self.quaternions

    def body_positions(self, q: Sequence[Scalar]) -> list[Any]:
        """The positions of the joints of the bodies from the user's positions q (nq)."""
        return [self._place(k, drive, q) for k, drive in enumerate(self.drives)]

    def _place(self, k: int, drive: CoordinateMap, q: Sequence[Scalar]) -> Any:
        joint, part = self.parts[k]
        if isinstance(joint, BodyAxesJoint):
            return joint.configuration(part, q, drive.position_index)
        return drive.position(q)

    def body_rates(self, v: Sequence[Scalar]) -> list[Scalar]:
        """The rates (or accelerations, or changes) of the joints of the bodies from the user's
        (n)."""
        return [drive.rate(v) for drive in self.drives]

    def pull_back(self, values: Sequence[Scalar], axes: Sequence[int | None]) -> list[Scalar]:
        """Gᵀ applied to a row-major array of the bodies. `axes` has the size of each axis, None for
        an axis over bodies, to which Gᵀ is applied."""
        if self.is_identity:
            return list(values)
        by_body = [
            [(term.velocity_index, term.factor) for term in drive.terms] for drive in self.drives
        ]
        targets = [by_body if axis is None else [[(k, 1.0)] for k in range(axis)] for axis in axes]
        shape = [self.velocities if axis is None else axis for axis in axes]
        out: list[Scalar] = [ZERO] * prod(shape)
        for terms, value in zip(product(*targets), values, strict=True):
            for ways in product(*terms) if value is not ZERO else ():
                place, factor = _target(ways, shape)
                out[place] = out[place] + scale_constant(factor, value)
        return out

    @property
    def velocity_matrix(self) -> Any:
        """G (bodies by velocities)."""
        matrix = np.zeros((len(self.drives), self.velocities))
        for k, drive in enumerate(self.drives):
            for term in drive.terms:
                matrix[k, term.velocity_index] = term.factor
        return matrix

    @property
    def position_map(self) -> tuple[Any, Any]:
        """The coordinates of the bodies as a matrix (bodies by positions) times the user's
        positions plus offsets. Rows of joints with a quaternion are zero."""
        matrix, offsets = np.zeros((len(self.drives), self.positions)), np.zeros(len(self.drives))
        for k, drive in enumerate(self.drives):
            for term in () if self.parts[k][0].in_body_axes else drive.terms:
                matrix[k, term.position_index], offsets[k] = term.factor, drive.offset
        return matrix, offsets

    def normalized_body_positions(self, q: Sequence[float]) -> list[Any]:
        """`body_positions` after normalization of quaternions."""
        unit = list(q)
        for four in self.quaternions:
            size = math.hypot(*unit[four])
            unit[four] = [x / size for x in unit[four]]
        return self.body_positions(unit)

    @property
    def quaternions(self) -> list[slice]:
        """The slices of the positions that are quaternions."""
        firsts = zip(self.drives, self.parts, strict=True)
        leading = ((d, joint) for d, (joint, part) in firsts if part == 0 and not d.follows)
        pairs = ((d.position_index, joint.quaternion) for d, joint in leading)
        return [slice(place + q.start, place + q.stop) for place, q in pairs if q is not None]

    def forces(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """Gᵀ τ."""
        return self.pull_back(tau, (None,))

    def matrix(self, m: Sequence[Scalar]) -> list[Scalar]:
        """Gᵀ M G."""
        return self.pull_back(m, (None, None))


UNCOUPLED: Final = Coupling((), (), 0, 0)


def _target(ways: Sequence[tuple[int, float]], shape: Sequence[int]) -> tuple[int, float]:
    """The flat index that an entry is added to, and its factor, by index and factor of each
    axis."""
    place, factor = 0, 1.0
    for (index, by), size in zip(ways, shape, strict=True):
        place, factor = place * size + index, factor * by
    return place, factor


@lru_cache(maxsize=8)
def coupling_of(model: RigidBodyModel) -> Coupling:
    """How the coordinates of a robot's user drive its bodies: in the order of the joints, those
    that follow another left out."""
    index, place, drives = 0, 0, dict[int, CoordinateMap]()
    for i, joint in model.leading:
        apart = 0 if joint.type.in_body_axes else 1
        for k, part in enumerate(joint.type.parts(joint)):
            drives[i + k] = CoordinateMap((CouplingTerm(index + part.velocity, place + apart * k),))
        index += len(joint.type.velocities)
        place += len(joint.type.positions)
    for i, body in enumerate(model.bodies, 1):
        if body.follows is not None:
            terms = (
                CouplingTerm(drives[leader].velocity_index, drives[leader].position_index, factor)
                for leader, factor in body.follows.terms
            )
            drives[i] = CoordinateMap(tuple(terms), body.follows.offset, True)
    ordered = tuple(drives[i] for i in range(1, model.size + 1))
    return Coupling(ordered, tuple((b.joint.type, b.at) for b in model.bodies), index, place)


@dataclass(frozen=True, slots=True)
class UserCoordinate:
    """The description of a position, or of the coordinate whose rate is a velocity of the user."""

    name: str
    link: str
    """The link that its joint moves."""
    kind: str
    unit: str


def position_coordinates(model: RigidBodyModel) -> list[UserCoordinate]:
    """The user's positions in order."""
    return [
        UserCoordinate(joint.coordinate(row.suffix), link, _kind(joint), row.unit)
        for link, joint in _leading_joints(model)
        for row in joint.type.positions
    ]


def velocity_coordinates(model: RigidBodyModel) -> list[UserCoordinate]:
    """The user's velocities in order."""
    return [
        UserCoordinate(joint.coordinate(row.suffix), link, _kind(joint), f"{row.unit}/s")
        for link, joint in _leading_joints(model)
        for row in joint.type.velocities
    ]


def _kind(joint: Joint) -> str:
    """The type of the joint that has a coordinate, or ``motor``."""
    return "motor" if joint.type.is_rotor else joint.kind


def _leading_joints(model: RigidBodyModel) -> list[tuple[str, Joint]]:
    """The joints with coordinates of their own, each with the link that it moves."""
    last = ((i + len(joint.type.velocities) - 1, joint) for i, joint in model.leading)
    return [(model.body(i).name, joint) for i, joint in last]


def with_random_unit_quaternions(
    coupling: Coupling, q: Sequence[float], random: Random
) -> tuple[float, ...]:
    """The positions with random unit quaternions of two decimals, for tests in any precision."""
    drawn = list(q)
    for four in coupling.quaternions:
        drawn[four] = random.choice(UNIT_QUATERNIONS)
    return tuple(drawn)


UNIT_QUATERNIONS: Final = tuple(
    quaternion
    for a, b, c in product(range(-90, 91, 10), repeat=3)
    for w in (math.isqrt(max(10000 - a * a - b * b - c * c, 0)),)
    if a * b * c * w and a * a + b * b + c * c + w * w == 10000
    for quaternion in ((a / 100, b / 100, c / 100, w / 100),)
    if all(abs(plain(x)) < 0.999 for row in quaternion_rows(quaternion) for x in row)
)
"""Some whose squares add up to 1 exactly, without those by which an axis becomes another one, as
there angles of roll and yaw are not defined."""
