"""The user's coordinates: their descriptions, and those whose places motors take that are at other
joints."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from symgen.mechanics.coupling import CoordinateMap, Coupling, coupling_of
from symgen.mechanics.elimination import Elimination
from symgen.mechanics.model import Joint, RigidBodyModel
from symgen.numbers.scalar import ZERO, Scalar, plain

DEPENDENT: Final = 1e-9
"""The least singular value of G of motors that can move independently, as a part of its largest
entry."""


def velocity_row(drive: CoordinateMap, n: int) -> list[Scalar]:
    """The row of G of a body."""
    row: list[Scalar] = [ZERO] * n
    for term in drive.terms:
        row[term.velocity_index] = term.factor
    return row


@lru_cache(maxsize=8)
def sample_state(coupling: Coupling) -> tuple[Coupling, list[Any]]:
    """The coupling and the positions of the bodies' joints at numbers near positions 0."""
    q = [0.0] * coupling.positions
    for four in coupling.quaternions:
        q[four] = [0.0, 0.0, 0.0, 1.0]
    return coupling.at(coupling.normalized(q))


@lru_cache(maxsize=8)
def motor_places(coupling: Coupling, bodies: tuple[int, ...]) -> tuple[int, ...] | None:
    """The coordinates whose places motors at the joints of some bodies take, in order: those that
    they move most near positions 0. None if motors move in proportion to each other there."""
    at, _ = sample_state(coupling)
    rows = [velocity_row(at.drives[body - 1], coupling.velocities) for body in bodies]
    numbers = np.array([[plain(x) for x in row] for row in rows])
    if np.linalg.matrix_rank(numbers, tol=DEPENDENT * np.abs(numbers).max()) < len(bodies):
        return None
    return tuple(Elimination.of([*map(list, zip(*rows, strict=True))]).rows)


def single_positions(coupling: Coupling) -> dict[int, int]:
    """By velocity of the user the place of its position, for joints with one coordinate."""
    pairs = zip(coupling.drives, coupling.parts, strict=True)
    return {
        term.velocity_index: term.position_index
        for drive, (kind, _) in pairs
        if kind.has_one_coordinate and not drive.follows
        for term in drive.terms
    }


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
        for link, joint in _links_of(model, model.positioned)
        for row in joint.type.positions
    ]


def velocity_coordinates(model: RigidBodyModel) -> list[UserCoordinate]:
    """The user's velocities in order."""
    return [
        UserCoordinate(joint.coordinate(row.suffix), link, _kind(joint), f"{row.unit}/s")
        for link, joint in _links_of(model, model.leading)
        for row in joint.type.velocities
    ]


def quaternions_of(model: RigidBodyModel) -> list[slice]:
    """The slices of the user's positions that are quaternions."""
    return coupling_of(model).quaternions


def _kind(joint: Joint) -> str:
    """The type of the joint that has a coordinate, or ``motor``."""
    return "motor" if joint.type.is_rotor else joint.kind


def _links_of(
    model: RigidBodyModel, joints: Sequence[tuple[int, Joint]]
) -> list[tuple[str, Joint]]:
    """Some joints, each with the link that it moves."""
    last = ((i + len(joint.type.velocities) - 1, joint) for i, joint in joints)
    return [(model.body(i).name, joint) for i, joint in last]
