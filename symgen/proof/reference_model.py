"""The robot of the references: joints and links as in the file, exact numbers; no canonical frames,
no regrouping, no pseudo-inertia. Numbers of a model, which are doubles, become numbers of the
reference. Rotations and axes that are orthonormal to the last digit of a double become orthonormal
in all digits, so that the mechanism is rigid."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any, Final

import numpy as np

from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.model import Body, Link, RigidBodyModel
from symgen.mechanics.spatial import ZERO_VECTOR, Pose, Vector
from symgen.numbers.operations import cos, sin
from symgen.numbers.scalar import ZERO, Scalar
from symgen.proof.reference_loops import Loop, ReferenceLoop, ReferencePolynomial, loop_start

Rows = tuple[Vector, Vector, Vector]
Number = Callable[[float], Scalar]
"""Makes a number of the judge from one of the model."""

WORLD: Final[Rows] = (Vector(1, ZERO, ZERO), Vector(ZERO, 1, ZERO), Vector(ZERO, ZERO, 1))


def matvec(rows: Rows, v: Vector) -> Vector:
    """A matrix times a vector."""
    return Vector(*(row.dot(v) for row in rows))


def matmul(a: Rows, b: Rows) -> Rows:
    """A matrix times a matrix."""
    columns = [matvec(a, Vector(*(row[k] for row in b))) for k in range(3)]
    x, y, z = (Vector(*(c[k] for c in columns)) for k in range(3))
    return x, y, z


def transpose(a: Rows) -> Rows:
    """The matrix with rows for columns."""
    x, y, z = (Vector(*(row[k] for row in a)) for k in range(3))
    return x, y, z


@dataclass(frozen=True)
class Frame:
    """The pose of a frame in another: its axes as columns, and its origin."""

    axes: Rows = WORLD
    origin: Vector = ZERO_VECTOR

    def of(self, other: "Frame") -> "Frame":
        """Where a frame is that is `other` in this one."""
        place = self.origin
        if other.origin is not ZERO_VECTOR:
            place = place + matvec(self.axes, other.origin)
        if self.axes is WORLD or other.axes is WORLD:
            return Frame(other.axes if self.axes is WORLD else self.axes, place)
        return Frame(matmul(self.axes, other.axes), place)


@dataclass(frozen=True)
class ReferenceLink:
    """A link on its body: its frame there, and its ten inertial parameters, None without
    inertia."""

    name: str
    frame: Frame
    parameters: tuple[Scalar, ...] | None


@dataclass(frozen=True)
class ReferenceBody:
    """A body: what carries it, the frame of its joint there, its joint and its links.

    `at` is its place among the coordinates of its joint, from 0, and `constants` is what else the
    joint's type takes from the file; `spin` is the inertia of a rotor about its axis. Its
    coordinate is the sum of its `terms` (index of a velocity, place of a position, factor) plus
    `offset`, its rate the same without it; `position_index` is that of a joint with a
    quaternion."""

    parent: int
    kind: str
    axis: Vector
    frame: Frame
    links: tuple[ReferenceLink, ...]
    at: int
    constants: tuple[Scalar, ...]
    spin: Scalar
    position_index: int
    terms: tuple[tuple[int, int, Scalar], ...]
    offset: Scalar
    grounded: bool
    """Whether it is armature, which stands on the ground, without weight."""
    follows: bool
    """Whether it follows other joints."""
    has_friction: bool
    """Whether friction counts for its coordinate."""
    has_spring: bool
    """Whether a spring counts for its coordinate."""


@dataclass(frozen=True, eq=False)
class ReferenceModel:
    """A robot in the numbers of the reference: body i is `parts[i - 1]`, 0 is the base."""

    parts: tuple[ReferenceBody, ...]
    base: tuple[ReferenceLink, ...]
    outward: tuple[int, ...]
    gravity: Vector
    velocities: int
    positions: int
    loops: tuple[Loop, ...] = ()
    """The closed loops, in the order in which they are solved."""
    followers: tuple[tuple[int, tuple[tuple[int, Scalar], ...]], ...] = ()
    """The rotors of joints that loops determine: the body, and the bodies that it follows with
    factors."""
    start: Callable[[Sequence[Scalar]], list[Scalar]] | None = None
    """Coordinates of all bodies near those at positions of the user, of robots with loops."""
    newton_positions: tuple[tuple[int, int], ...] = ()
    """The bodies whose coordinates loops determine and whose positions are the user's."""
    motion_key: object = field(default_factory=object)
    """The same for mechanisms that move alike, whatever their inertia."""

    def part(self, i: int) -> ReferenceBody:
        """Body `i`."""
        return self.parts[i - 1]

    def path(self, i: int) -> list[int]:
        """The body and its ancestors, without the base."""
        bodies = []
        while i:
            bodies.append(i)
            i = self.part(i).parent
        return bodies

    def body_of(self, link: str) -> tuple[int, ReferenceLink]:
        """The body of a link (0: the base) and the link on it."""
        links = [(0, s) for s in self.base]
        links += [(i, s) for i, part in enumerate(self.parts, 1) for s in part.links]
        return next(pair for pair in links if pair[1].name == link)

    def pull_back(self, of_bodies: Any, axes: int = 1, g: Any = None, inner: int = 0) -> Any:
        """Gᵀ on the last `axes` axes of an array, from the joints of the bodies to the velocities.
        A `g` that depends on the state has a row of entries for each body, numbers or arrays with
        the axes of the batch; `inner` axes are between these and the last `axes`."""
        if self._is_identity:
            return of_bodies
        if g is not None:
            return self._pulled_back(of_bodies, axes, g, inner)
        for _ in range(axes):
            of_bodies = np.moveaxis(of_bodies, -axes, -1)
            out = np.full((*of_bodies.shape[:-1], self.velocities), 0 * self.gravity.z, object)
            for k, part in enumerate(self.parts):
                for index, _, factor in part.terms:
                    out[..., index] += factor * of_bodies[..., k]
            of_bodies = out
        return of_bodies

    def _pulled_back(self, of_bodies: Any, axes: int, g: Any, inner: int) -> Any:
        for _ in range(axes):
            of_bodies = np.moveaxis(of_bodies, -axes, -1)
            extra = inner + axes - 1
            columns = [np.full(of_bodies.shape[:-1], 0 * self.gravity.z, object)] * self.velocities
            for k, row in enumerate(g):
                for index, factor in ((j, x) for j, x in enumerate(row) if x is not ZERO):
                    by = np.asarray(factor, object)
                    by = by.reshape((*by.shape, *(1 for _ in range(extra))))
                    columns[index] = columns[index] + by * of_bodies[..., k]
            of_bodies = np.stack(np.broadcast_arrays(*columns), axis=-1)
        return of_bodies

    @cached_property
    def _is_identity(self) -> bool:
        """Whether the bodies' joints are the velocities, one by one."""
        terms = [[(index, factor) for index, _, factor in part.terms] for part in self.parts]
        return terms == [[(k, 1)] for k in range(self.velocities)]


@lru_cache(maxsize=8)
def reference_model(model: RigidBodyModel, number: Number) -> ReferenceModel:
    """The robot of a model in numbers made by `number`."""
    coupling, exact = coupling_of(model), _structural(number)
    pairs = zip(model.bodies, coupling.maps, strict=True)
    parts = (_reference_body(body, drive, number) for body, drive in pairs)
    return ReferenceModel(
        tuple(parts),
        tuple(_reference_link(link, number) for link in model.base),
        tuple(model.outward),
        Vector(*(number(x) for x in model.gravity)),
        coupling.velocities,
        coupling.positions,
        tuple(
            ReferencePolynomial(
                c.bodies, tuple((n, number(a)) for n, a in enumerate(c.polynomial) if a)
            )
            if c.polynomial
            else ReferenceLoop.of(c, model, lambda p: Vector(*map(exact, p)))
            for c in model.closures
        ),
        tuple(
            (i, tuple((leader, number(by)) for leader, by in follow.terms))
            for i, follow in coupling.followers
        ),
        partial(loop_start, coupling, number=number) if coupling.loops else None,
        coupling.newton_positions,
    )


def _reference_body(body: Body, drive: Any, number: Number) -> ReferenceBody:
    exact, joint = _structural(number), body.joint
    return ReferenceBody(
        body.parent,
        joint.kind,
        normalize(Vector(*map(exact, body.axis)), number(0.5)),
        frame_of(body.pose, number),
        tuple(_reference_link(link, number) for link in body.links),
        body.at,
        tuple(map(exact, joint.constants)),
        exact(body.spin),
        drive.terms[0].position_index if drive.terms else 0,
        tuple(
            (term.velocity_index, term.position_index, number(term.factor)) for term in drive.terms
        ),
        exact(drive.offset),
        not body.joint.type.on_robot,
        drive.follows,
        body.has_friction,
        body.has_spring,
    )


def _structural(number: Number) -> Number:
    """Zeros of a model hold in every state."""
    return lambda x: number(x) if x else ZERO


def _reference_link(link: Link, number: Number) -> ReferenceLink:
    ten = None if link.parameters is None else tuple(map(_structural(number), link.parameters))
    return ReferenceLink(link.name, frame_of(link.pose, number), ten)


def frame_of(pose: Pose, number: Number) -> Frame:
    """A pose of the model, made a rigid one to all digits."""
    to_number = _structural(number)
    x, y, z = (Vector(*map(to_number, row)) for row in pose.rotation)
    axes, place = _orthonormal((x, y, z), number(0.5)), Vector(*map(to_number, pose.position))
    return Frame(WORLD if axes == WORLD else axes, ZERO_VECTOR if place == ZERO_VECTOR else place)


def rotation(axis: Vector, angle: Scalar) -> Rows:
    """Rodrigues' formula about a unit axis: c 1 + (1 - c) a aᵀ + s [a]x."""
    c, s = cos(angle), sin(angle)
    x, y, z = axis
    cross = ((ZERO, -z, y), (z, ZERO, -x), (-y, x, ZERO))
    first, second, third = (
        Vector(
            *(
                (c if i == j else ZERO) + (1 - c) * (axis[i] * axis[j]) + s * cross[i][j]
                for j in range(3)
            )
        )
        for i in range(3)
    )
    return first, second, third


def normalize(v: Vector, half: Scalar) -> Vector:
    """The unit vector along one whose length is nearly 1: Newton's iteration for 1/√."""
    for _ in range(NEWTON_ITERATIONS):
        v = v.scaled((3 - v.dot(v)) * half)
    return v


def _orthonormal(rows: Rows, half: Scalar) -> Rows:
    """The rotation nearest to a matrix that is nearly one: the same iteration, R (3 - Rᵀ R) / 2."""
    for _ in range(NEWTON_ITERATIONS):
        square = matmul(transpose(rows), rows)
        if square == WORLD:
            break
        x, y, z = (
            Vector(*((3 * (i == k) - square[i][k]) * half for k in range(3))) for i in range(3)
        )
        rows = matmul(rows, (x, y, z))
    return rows


NEWTON_ITERATIONS: Final = 6
"""Each doubles the right digits, of which a double has 16."""


def entries_array(values: Sequence[Scalar], shape: tuple[int, ...], zero: Scalar) -> Any:
    """Numbers and arrays of one batch as an array, the entries last."""
    out = np.empty((*shape, len(values)), object)
    for k, x in enumerate(values):
        out[..., k] = zero if x is ZERO else x
    return out
