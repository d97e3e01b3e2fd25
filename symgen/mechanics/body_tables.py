"""The constants of a robot's bodies in tables with a column for each coordinate: what code with
loops over the bodies reads.

Every body has a frame whose z axis is that of its joint. Columns are ordered so that a subtree is a
run of columns; the base has the column behind the last."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import ClassVar, Final

import numpy as np

from symgen.mechanics.coupling import CouplingTerm, coupling_of
from symgen.mechanics.joint_forces import JointForce
from symgen.mechanics.model import Body, RigidBodyModel
from symgen.mechanics.spatial import Pose, Triple
from symgen.mechanics.standard_joints import default_second_axis
from symgen.numbers.scalar import Numbers, Scalar, plain
from symgen.text import shown

LANES: Final = 8
"""Rows of tables have a multiple of this many columns."""

FLOATING: Final = "floating"


def unsupported(model: RigidBodyModel) -> str:
    """What of a robot such tables cannot hold, in words; empty if they hold the robot."""
    coupling = coupling_of(model)
    if model.closures:
        return "closed loops"
    if any(body.joint.type.is_rotor and not _is_armature(model, body) for body in model.bodies):
        return "rotors that turn by themselves, and the armature of a floating base,"
    for body, drive in zip(model.bodies, coupling.maps, strict=True):
        if body.joint.type.is_rotor:
            continue
        if drive.offset or drive.terms != (
            CouplingTerm(drive.velocity_index, drive.position_index),
        ):
            return f"joint '{shown(body.joint.name)}', which follows others"
        if body.in_body_axes and (body.joint.kind != FLOATING or not _is_only_root(model, body)):
            return f"joint '{shown(body.joint.name)}' of type {body.joint.kind}"
    heavy = [b for b in model.bodies if not _ten(b)[0] and any(_ten(b)[1:4])]
    return f"link '{shown(heavy[0].name)}' without mass that has a first moment" if heavy else ""


def _is_armature(model: RigidBodyModel, body: Body) -> bool:
    """Whether a rotor is a number that is added to the diagonal of M."""
    terms = body.follows.terms if body.follows else ()
    return (
        body.joint.kind == "armature"
        and len(terms) == 1
        and model.body(terms[0][0]).follows is None
    )


def _is_only_root(model: RigidBodyModel, body: Body) -> bool:
    """Whether a body belongs to the joint that carries all others, at rest in root axes."""
    roots = [i for i in model.children(0) if not model.body(i).joint.type.is_rotor]
    first = model.body(roots[0])
    return len(roots) == 1 and first.joint == body.joint and first.pose == Pose()


@dataclass(frozen=True, eq=False)
class BodyTables:
    """The tables of a robot that `unsupported` has no words for."""

    model: RigidBodyModel
    forces: tuple[JointForce, ...] = ()
    """Friction and springs of each body's joint; empty for none."""
    lanes: ClassVar[int] = LANES
    factor: ClassVar[int] = 13
    """Numbers of a factor of M for each coordinate."""

    @cached_property
    def bodies(self) -> tuple[int, ...]:
        """The numbers of the bodies in the order of the columns."""
        outward, coordinates = [*self._outward()], 6 * self.floating
        first = sorted(outward[:coordinates], key=self._velocity)
        return (*first, *outward[coordinates:])

    def _outward(self) -> Iterator[int]:
        waiting = [0]
        while waiting:
            i = waiting.pop()
            children = reversed(self.model.children(i))
            waiting += [k for k in children if not self.model.body(k).joint.type.is_rotor]
            if i:
                yield i

    def _velocity(self, i: int) -> int:
        return coupling_of(self.model).maps[i - 1].velocity_index

    @property
    def n(self) -> int:
        """The number of coordinates."""
        return self.model.dof

    @property
    def columns(self) -> int:
        """The columns of a row: coordinates, the base, and what fills vectors."""
        return -(-(self.n + 1) // LANES) * LANES

    @property
    def floating(self) -> bool:
        """Whether the first six coordinates are those of a floating base."""
        return self.model.body(1).in_body_axes

    @property
    def quaternion(self) -> int:
        """The place of the quaternion among the positions."""
        place = self.model.body(1).joint.type.quaternion
        return place.start if place else 0

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The number of the user's velocity of each column."""
        return tuple(map(self._velocity, self.bodies))

    @property
    def permuted(self) -> bool:
        """Whether the user's coordinates have another order."""
        return self.order != tuple(range(self.n))

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """The column of the parent of each column, -1 for the base. The coordinates of a floating
        base, which all move with it, are in a row."""
        places = {i: k for k, i in enumerate(self.bodies)} | {0: -1}
        return tuple(
            k - 1 if k < 6 * self.floating else places[self.model.body(i).parent]
            for k, i in enumerate(self.bodies)
        )

    @property
    def parents_or_base(self) -> tuple[int, ...]:
        """The column of the parent of each column, that of the base behind the coordinates."""
        return tuple(self.n if p < 0 else p for p in self.parents)

    @cached_property
    def _pairs(self) -> list[tuple[int, int]]:
        """The bodies of the columns, each behind that of its parent."""
        return [
            (self.bodies[p] if p >= 0 else 0, i)
            for p, i in zip(self.parents, self.bodies, strict=True)
        ]

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The column behind the subtree of each column."""
        ends = list(range(1, self.n + 1))
        for k in reversed(range(self.n)):
            if self.parents[k] >= 0:
                ends[self.parents[k]] = max(ends[self.parents[k]], ends[k])
        return tuple(ends)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The first column of the run of columns to each column in which each is the parent of the
        next."""
        starts: list[int] = []
        for k, parent in enumerate(self.parents):
            starts.append(starts[parent] if parent == k - 1 and k else k)
        return tuple(starts)

    @cached_property
    def branches(self) -> tuple[int, ...]:
        """The columns that have children other than the next column."""
        apart = {p for k, p in enumerate(self.parents) if p not in (k - 1, -1)}
        return tuple(sorted(apart))

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """The number of `branches` on the path to each column that is one of them, -1 of others:
        two with the same number are not on one path."""
        above: list[int] = []
        for parent in self.parents:
            above.append(above[parent] + (parent in self.branches) if parent >= 0 else 0)
        return tuple(n if k in self.branches else -1 for k, n in enumerate(above))

    @property
    def levels(self) -> int:
        """How many `branches` a path has at most."""
        return 1 + max(self.slots)

    @property
    def chain(self) -> bool:
        """Whether each column moves all that follow, in the user's order."""
        return self.starts == (0,) * self.n and not (self.permuted or self.floating)

    @property
    def several_roots(self) -> bool:
        """Whether more than one column has the base for its parent."""
        return self.parents.count(-1) > 1

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """How many columns are on the path to each column, itself included."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 + (depths[parent] if parent >= 0 else 0))
        return tuple(depths)

    @property
    def outer(self) -> int:
        """The number of pairs of a coordinate and one that moves it; of a floating base all pairs
        of its own."""
        return sum(self.depths) - self.n + 21 * self.floating

    @property
    def triples(self) -> int:
        """The number of three coordinates on a path, of which the first two may be equal."""
        return sum(depth * (depth + 1) // 2 for depth in self.depths)

    @property
    def solved(self) -> int:
        """The number of pairs of a row and a column in the solution of three square systems, those
        of an inverse in the order of the columns by halves."""
        n = self.n
        # Half of the columns before the vector that contains the diagonal, of all rows
        full, last = n // LANES, n % LANES
        zeros = 0 if self.permuted else LANES * full * (LANES * (full - 1) // 2 + last) // 2
        return 3 * n * n - zeros

    @cached_property
    def slides(self) -> bool:
        """Whether a coordinate does anything else than turn its body by itself."""
        return bool((self.turn != 1.0).any() or self.slide.any())

    @cached_property
    def turn(self) -> Numbers:
        """How far each body turns for a unit of its coordinate."""
        return np.array([plain(self.model.body(i).freedom.turn) for i in self.bodies])

    @cached_property
    def slide(self) -> Numbers:
        """How far each body slides along its axis for a unit of its coordinate (m)."""
        return np.array([plain(self.model.body(i).freedom.slide) for i in self.bodies])

    @cached_property
    def _axes(self) -> dict[int, Numbers]:
        """The rotation of each body's frame in the frame of the model."""
        return {0: np.eye(3)} | {i: _to_axis(self.model.body(i).axis) for i in self.bodies}

    @cached_property
    def rotations(self) -> Numbers:
        """The rotation of each body in its parent at position 0: nine rows."""
        rows = [
            self._axes[p].T @ np.array(self.model.body(i).pose.rotation) @ self._axes[i]
            for p, i in self._pairs
        ]
        return self._columns(rows, 9)

    @cached_property
    def places(self) -> Numbers:
        """The place of each body in its parent at position 0 (m): three rows."""
        rows = [
            self._axes[p].T @ np.array(self.model.body(i).pose.position) for p, i in self._pairs
        ]
        return self._columns(rows, 3)

    @cached_property
    def masses(self) -> Numbers:
        """Mass, centre of mass, and the inertia about it in the axes of the body: ten rows."""
        return self._columns([self._mass(i) for i in self.bodies], 10)

    def _mass(self, i: int) -> Numbers:
        m, h, inertia = _moments(_ten(self.model.body(i)))
        centre = h / m if m else np.zeros(3)
        about = inertia - m * (centre @ centre * np.eye(3) - np.outer(centre, centre))
        turned = self._axes[i].T @ about @ self._axes[i]
        return np.array([m, *(self._axes[i].T @ centre), *turned[np.triu_indices(3)]])

    @cached_property
    def armature(self) -> list[float]:
        """What the rotors add to the diagonal of M (kg m² or kg); empty if there are none."""
        row = [0.0] * self.columns
        for rotor in (body for body in self.model.bodies if body.joint.type.is_rotor):
            ((leader, by),) = rotor.follows.terms if rotor.follows else ()
            row[self.bodies.index(leader)] += rotor.spin * by * by
        return row if any(row) else []

    @cached_property
    def passive(self) -> dict[str, list[float]]:
        """The coefficients of friction and springs by column, law to row."""
        laws = dict.fromkeys(law for force in self.forces for law in force.coefficients)
        return {law: self._row([f.coefficients.get(law) for f in self.forces]) for law in laws}

    @property
    def coefficients(self) -> dict[str, list[float]]:
        """The tables of armature, friction and springs that the robot has, by name."""
        rows = {"armature": self.armature} if self.armature else {}
        if "stiffness" in self.passive:
            rows["reference"] = self._row([f.shape.get("reference") for f in self.forces])
        return rows | self.passive

    def _row(self, of_bodies: Sequence[Scalar | None]) -> list[float]:
        row = [plain(of_bodies[i - 1] or 0.0) for i in self.bodies]
        return row + [0.0] * (self.columns - self.n)

    @cached_property
    def blocks(self) -> list[int]:
        """The place of each column among the bodies with links, -1 for none."""
        placed = [i for i, body in enumerate(self.model.bodies, 1) if body.links]
        return [placed.index(i) if i in placed else -1 for i in self.bodies]

    @property
    def link_axes(self) -> list[list[float]]:
        """The rotation of the first link of each column in the axes of the body, row-major."""
        return [self._axes[i].T.ravel().tolist() for i in self.bodies]

    @property
    def mass(self) -> float:
        """The mass of all moving links (kg)."""
        return fsum(self.masses[0])

    def largest_terms(self, qd: Numbers, qdd: Numbers, fall: float) -> tuple[Numbers, Numbers]:
        """What accelerations of bodies, and moments of their inertial forces and weights about the
        origin, can be at most in some states (rows) if all terms add up. Twists of joints are added
        outward, as if each link were stretched."""
        speeds, rates = (np.abs(x)[:, self.order] for x in (qd, qdd))
        size, base = np.zeros((self.n, len(qd))), np.zeros(len(qd))
        turning, turned, pushed, reach = size.copy(), size.copy(), size.copy(), size.copy()
        lengths, (m, *centre, xx, _, _, yy, _, zz) = np.hypot.reduce(self.places), self.masses
        moments = base
        for k, p in enumerate(self.parents):
            w, dw, a, r = ((x[p] if p >= 0 else base) for x in (turning, turned, pushed, reach))
            turning[k] = w + self.turn[k] * speeds[:, k]
            turned[k] = dw + self.turn[k] * rates[:, k] + w * speeds[:, k]
            pushed[k] = a + (dw + w * w) * lengths[k] + self.slide[k] * rates[:, k]
            pushed[k] += 2 * w * self.slide[k] * speeds[:, k]
            reach[k] = r + lengths[k]
            c, spin = np.hypot.reduce([x[k] for x in centre]), turned[k] + turning[k] ** 2
            force = m[k] * (fall + pushed[k] + spin * c)
            moments = moments + force * (reach[k] + c) + (xx[k] + yy[k] + zz[k]) * spin
        return np.max(pushed + turned + turning**2, axis=0), moments

    def frame(self, link: str) -> tuple[int, list[list[float]], list[float]]:
        """The column of the body that carries a link, and the rotation and place of the link's
        frame in the body's."""
        bodies = [(0, self.model.base), *enumerate((b.links for b in self.model.bodies), 1)]
        body, pose = next((i, x.pose) for i, links in bodies for x in links if x.name == link)
        axes = self._axes[body].T
        column = self.bodies.index(body) if body else self.n
        turn, place = axes @ np.array(pose.rotation), axes @ np.array(pose.position)
        return column, turn.tolist(), place.tolist()

    def _columns(self, rows: list[Numbers], size: int) -> Numbers:
        table = np.zeros((size, self.columns))
        table[:, : self.n] = np.array(rows).reshape(self.n, size).T
        return table


def _to_axis(axis: Triple) -> Numbers:
    """A rotation whose last column is a unit axis."""
    for k in range(3):
        if axis[k] == 1.0:
            return np.roll(np.eye(3), k + 1, axis=0)
    x = np.array(default_second_axis(axis))
    return np.column_stack([x, np.cross(axis, x), axis])


def _ten(body: Body) -> Numbers:
    """The ten parameters of a body in its frame, those of all its links together."""
    total = np.zeros(10)
    for link in (link for link in body.links if link.parameters is not None):
        m, h, inertia = _moments(np.array(link.parameters))
        r, p = np.array(link.pose.rotation), np.array(link.pose.position)
        turned, about = r @ h, r @ inertia @ r.T
        product = np.outer(p, turned) + np.outer(turned, p) + m * np.outer(p, p)
        about += np.trace(product) * np.eye(3) - product
        total += np.array([m, *(turned + m * p), *about[np.triu_indices(3)]])
    return total


def _moments(ten: Numbers) -> tuple[float, Numbers, Numbers]:
    m, h, (xx, xy, xz, yy, yz, zz) = float(ten[0]), ten[1:4], ten[4:]
    return m, h, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
