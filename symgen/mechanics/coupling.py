"""How the user's coordinates drive those of the bodies: q_bodies = G q + c, with the same G for all
rates.

Joints that mimic others and rotors are bodies with coordinates of their own in every algorithm,
which this module projects: forces and matrices by Gᵀ, axis by axis. (Featherstone, Rigid Body
Dynamics Algorithms, 2008, section 3.2; for rotors Echeandia 2020, ch. 4.) Floating joints have
seven positions to six rates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod
from random import Random
from typing import Any, Final

import numpy as np

from symgen.mechanics.floating import GLUED, POSITIONS, RUN, VELOCITY_OF, Afloat
from symgen.mechanics.joints import JOINT_TYPES
from symgen.mechanics.model import Body, Model
from symgen.numbers.scalar import ZERO, Scalar

SIX: Final = len(RUN)
SEVEN: Final = len(POSITIONS)


@dataclass(frozen=True, slots=True)
class Drive:
    """What moves a body: coordinate `index` times `factor`, plus `offset`; `place` is where its
    position starts."""

    index: int
    place: int
    factor: float = 1.0
    offset: float = 0.0
    follows: bool = False
    """Whether the coordinate is that of another body."""


@dataclass(frozen=True, slots=True)
class Coupling:
    """The drives of all bodies, and the numbers of velocities and of positions of the user; `free`
    has the place of each body in the run of a floating joint, 0 where it is in none."""

    drives: tuple[Drive, ...]
    free: tuple[int, ...]
    velocities: int
    positions: int

    @property
    def trivial(self) -> bool:
        """Whether the bodies' coordinates are those of the user, one by one."""
        return all(drive == Drive(k, k) for k, drive in enumerate(self.drives))

    def places(self, q: Sequence[Scalar]) -> list[Any]:
        """The positions of the bodies' joints."""
        return [self._place(k, drive, q) for k, drive in enumerate(self.drives)]

    def _place(self, k: int, drive: Drive, q: Sequence[Scalar]) -> Any:
        if self.free[k] > 1:
            return GLUED
        if self.free[k] == 1:
            return Afloat.of(q[drive.place : drive.place + SEVEN])
        return _times(drive.factor, q[drive.place]) + (drive.offset or ZERO)

    def rates(self, v: Sequence[Scalar]) -> list[Scalar]:
        """The rates (or accelerations, or changes) of the bodies' joints."""
        return [_times(drive.factor, v[drive.index]) for drive in self.drives]

    def projected(self, values: Sequence[Scalar], axes: Sequence[int | None]) -> list[Scalar]:
        """Gᵀ on an array of the bodies, row-major; `axes` has the size of each axis, None where
        that is a body's."""
        if self.trivial:
            return list(values)
        sizes = [len(self.drives) if axis is None else axis for axis in axes]
        targets = [
            self._targets() if axis is None else [(k, 1.0) for k in range(axis)] for axis in axes
        ]
        shape = [self.velocities if axis is None else axis for axis in axes]
        out: list[Scalar] = [ZERO] * prod(shape)
        for at, value in zip(product(*map(range, sizes)), values, strict=True):
            if value is not ZERO:
                place, factor = _target(at, targets, shape)
                out[place] = out[place] + _times(factor, value)
        return out

    @property
    def by_user(self) -> Any:
        """G, bodies by velocities."""
        matrix = np.zeros((len(self.drives), self.velocities))
        for k, drive in enumerate(self.drives):
            matrix[k, drive.index] = drive.factor
        return matrix

    def normalized(self, q: Sequence[float]) -> list[Any]:
        """`places` of any numbers, quaternions made unit ones."""
        whole = list(q)
        for four in self.quaternions:
            size = math.hypot(*whole[four])
            whole[four] = [x / size for x in whole[four]]
        return self.places(whole)

    @property
    def quaternions(self) -> list[slice]:
        """Where in the positions each floating joint has its quaternion."""
        places = [drive.place for k, drive in enumerate(self.drives) if self.free[k] == 1]
        return [slice(place + 3, place + SEVEN) for place in places]

    def forces(self, tau: Sequence[Scalar]) -> list[Scalar]:
        """Gᵀ τ."""
        return self.projected(tau, (None,))

    def matrix(self, m: Sequence[Scalar]) -> list[Scalar]:
        """Gᵀ M G."""
        return self.projected(m, (None, None))

    def _targets(self) -> list[tuple[int, float]]:
        return [(drive.index, drive.factor) for drive in self.drives]


UNCOUPLED: Final = Coupling((), (), 0, 0)


def _target(
    at: Sequence[int], targets: Sequence[Sequence[tuple[int, float]]], shape: Sequence[int]
) -> tuple[int, float]:
    """The flat index that an entry is added to, and its factor."""
    place, factor = 0, 1.0
    for k, axis, size in zip(at, targets, shape, strict=True):
        place, factor = place * size + axis[k][0], factor * axis[k][1]
    return place, factor


def _times(factor: float, x: Scalar) -> Scalar:
    """1.0 and -1.0 cost nothing and alter no bit on any scalar."""
    return x if factor == 1 else -x if factor == -1 else factor * x


@lru_cache(maxsize=8)
def coupling_of(model: Model) -> Coupling:
    """How the coordinates of a robot's user drive its bodies; those of a floating joint are
    numbered as VELOCITIES."""
    index, place, drives = 0, 0, dict[int, Drive]()
    for i, body in enumerate(model.bodies, 1):
        if body.follows is not None:
            continue
        first = index - max(body.free - 1, 0)
        drives[i] = Drive(first + VELOCITY_OF[body.free - 1] if body.free else index, place)
        index += 1
        place += (SEVEN if body.free == SIX else 0) if body.free else 1
    for i, body in enumerate(model.bodies, 1):
        if body.follows is not None:
            leader, follow = drives[body.follows.leader], body.follows
            drives[i] = Drive(leader.index, leader.place, follow.factor, follow.offset, True)
    ordered = tuple(drives[i] for i in range(1, model.size + 1))
    return Coupling(ordered, tuple(body.free for body in model.bodies), index, place)


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A position of the user, or the coordinate whose rate is a velocity of the user, as people
    read it."""

    name: str
    link: str
    """The link that its joint moves."""
    kind: str
    unit: str


def positions(model: Model) -> list[Coordinate]:
    """The user's positions in order."""
    found = []
    for k, body in _own(model):
        link, stem = _moved(model, k), body.joint.name.rpartition(".")[0]
        if body.free == 1:
            units = ("m",) * 3 + ("1",) * 4
            found += [
                Coordinate(f"{stem}.{p}", link, "floating", u)
                for p, u in zip(POSITIONS, units, strict=True)
            ]
        elif not body.free:
            found.append(Coordinate(body.joint.name, link, body.kind, _unit(body)))
    return found


def velocities(model: Model) -> list[Coordinate]:
    """The user's velocities in order."""
    bodies = {body.joint.name: (k, body) for k, body in _own(model)}
    rows = ((name, *bodies[name]) for name in model.joint_names)
    return [
        Coordinate(name, _moved(model, k), body.kind, f"{_unit(body)}/s") for name, k, body in rows
    ]


def _own(model: Model) -> list[tuple[int, Body]]:
    """The bodies with coordinates of their own."""
    return [(k, body) for k, body in enumerate(model.bodies) if body.follows is None]


def _moved(model: Model, k: int) -> str:
    """The link that the joint of a body moves: of a run, that of the last body."""
    return next(body.name for body in model.bodies[k:] if body.links)


def _unit(body: Body) -> str:
    return JOINT_TYPES[body.joint.kind].coordinate_unit


def upright(coupling: Coupling, q: Sequence[float], random: Random) -> tuple[float, ...]:
    """The positions with unit quaternions of two decimals, for tests in any precision."""
    found = list(q)
    for four in coupling.quaternions:
        found[four] = random.choice(UNIT_QUATERNIONS)
    return tuple(found)


UNIT_QUATERNIONS: Final = tuple(
    (a / 100, b / 100, c / 100, w / 100)
    for a, b, c in product(range(-90, 91, 10), repeat=3)
    for w in (math.isqrt(max(10000 - a * a - b * b - c * c, 0)),)
    if a * b * c * w and a * a + b * b + c * c + w * w == 10000
)
"""Some whose squares add up to 1 exactly."""
