"""Reference dynamics of the textbook in world axes, for any scalars and arrays of them: usual
inertia tensors, a balance of forces for every link (Newton, Euler) and kinetic energies. It has no
recursion of forces, no regrouping and no expression graph. All laws of `symgen.proof.laws` start
from it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from symgen.mechanics.joint_forces import FRICTION as FRICTION_LAWS
from symgen.mechanics.joint_forces import LAWS
from symgen.mechanics.spatial import ZERO_VECTOR, Vector
from symgen.numbers.operations import exp, sign, sqrt, tanh
from symgen.numbers.scalar import ZERO, Scalar
from symgen.proof.reference_kinematics import (
    BodyInWorld,
    BodyMotion,
    State,
    UnitMotion,
    body_coordinate,
    body_motions,
    body_poses,
    body_rates,
    unit_motion,
)
from symgen.proof.reference_model import (
    WORLD,
    Frame,
    ReferenceLink,
    ReferenceModel,
    Rows,
    matmul,
    matvec,
    transpose,
)


@dataclass(frozen=True)
class LinkInWorld:
    """A link in the world: where it is and its ten parameters about its origin, in world axes."""

    origin: Vector
    axes: Rows
    m: Scalar
    h: Vector
    inertia: Rows

    def inertia_times(self, v: Vector) -> Vector:
        """The inertia tensor times `v`."""
        return matvec(self.inertia, v)

    def momentum(self, w: Vector, v: Vector) -> tuple[Vector, Vector]:
        """Linear momentum, and angular momentum about the link's origin, which moves at `v`."""
        return v.scaled(self.m) + w.cross(self.h), self.inertia_times(w) + self.h.cross(v)

    def about(self, point: Vector = ZERO_VECTOR) -> "LinkInWorld":
        """The same link with its parameters about a point, by default the origin of the root
        (Steiner's rule)."""
        h, m = self.h, self.m
        p = self.origin if point is ZERO_VECTOR else self.origin - point
        first, lever = h + p.scaled(m), 2 * p.dot(h) + m * p.dot(p)
        a, b, c = (
            Vector(
                *(
                    self.inertia[i][j]
                    + (lever if i == j else ZERO)
                    - (p[i] * h[j] + h[i] * p[j] + m * p[i] * p[j])
                    for j in range(3)
                )
            )
            for i in range(3)
        )
        return LinkInWorld(point, WORLD, m, first, (a, b, c))

    def plus(self, other: "LinkInWorld") -> "LinkInWorld":
        """The inertia of both, which are given about the same point."""
        a, b, c = (x + y for x, y in zip(self.inertia, other.inertia, strict=True))
        return LinkInWorld(self.origin, self.axes, self.m + other.m, self.h + other.h, (a, b, c))


NO_INERTIA: Final = LinkInWorld(
    ZERO_VECTOR, WORLD, ZERO, ZERO_VECTOR, (ZERO_VECTOR, ZERO_VECTOR, ZERO_VECTOR)
)


def _link_in_world(
    body: BodyInWorld, link: ReferenceLink, parameters: Sequence[Scalar]
) -> LinkInWorld:
    m, hx, hy, hz, ixx, ixy, ixz, iyy, iyz, izz = parameters
    frame = body.frame_in_world(link.frame)
    tensor = (Vector(ixx, ixy, ixz), Vector(ixy, iyy, iyz), Vector(ixz, iyz, izz))
    inertia_times = matmul(frame.axes, matmul(tensor, transpose(frame.axes)))
    return LinkInWorld(
        frame.origin, frame.axes, m, matvec(frame.axes, Vector(hx, hy, hz)), inertia_times
    )


def moving_inertias(robot: ReferenceModel, x: State) -> Sequence[tuple[int, LinkInWorld]]:
    """All links and rotors with inertia, each with its body."""
    # only the latest are stored, because regressors evaluate many models
    links: Sequence[tuple[int, LinkInWorld]] = x.trajectory.positions.cache.latest(
        "inertias", (robot, x.link_parameters), lambda: [*_moving_links(robot, x)]
    )
    return links


def _moving_links(robot: ReferenceModel, x: State) -> Iterator[tuple[int, LinkInWorld]]:
    bodies = body_poses(robot, x.trajectory.positions)
    for i in robot.outward:
        part = robot.part(i)
        if part.spin is not ZERO:
            yield i, _rotor(unit_motion(part), bodies[i], part.spin)
        for link in part.links:
            parameters = x.link_parameters.get(link.name, link.parameters)
            if parameters is not None:
                yield i, _link_in_world(bodies[i], link, parameters)


def _rotor(kind: UnitMotion, at: BodyInWorld, spin: Scalar) -> LinkInWorld:
    """A rotor with inertia about the joint's axis alone, the same inertia about all axes, or mass
    at its origin."""
    if kind.is_point:
        return LinkInWorld(
            at.origin, at.axes, spin, ZERO_VECTOR, (ZERO_VECTOR, ZERO_VECTOR, ZERO_VECTOR)
        )
    if kind.is_round:
        rows = (
            Vector(spin, ZERO, ZERO),
            Vector(ZERO, spin, ZERO),
            Vector(ZERO, ZERO, spin),
        )
        return LinkInWorld(at.origin, at.axes, ZERO, ZERO_VECTOR, rows)
    a, b, c = (at.z.scaled(spin * e) for e in at.z)
    return LinkInWorld(at.origin, at.axes, ZERO, ZERO_VECTOR, (a, b, c))


def newton_euler_wrench(link: LinkInWorld, body: BodyMotion) -> tuple[Vector, Vector]:
    """Force and moment about its origin that move a link as it moves (Newton, Euler)."""
    a = body.acceleration(link.origin)
    force = a.scaled(link.m) + body.wd.cross(link.h) + body.w.cross(body.w.cross(link.h))
    gyration = body.w.cross(link.inertia_times(body.w))
    return force, link.inertia_times(body.wd) + gyration + link.h.cross(a)


def inverse_dynamics(robot: ReferenceModel, x: State) -> list[Scalar]:
    """Forces of the bodies' joints from the balance of force and moment of every link."""
    moving, bodies = body_motions(robot, x.trajectory), body_poses(robot, x.trajectory.positions)
    tau: list[Scalar] = [ZERO] * len(robot.parts)
    for i, link in moving_inertias(robot, x):
        force, moment = newton_euler_wrench(link, moving[i])
        about = moment + link.origin.cross(force)
        for j in robot.path(i):
            tau[j - 1] = tau[j - 1] + bodies[j].power(force, about)
    tau = _minus_wrenches(robot, x, tau)
    return [t + force for t, force in zip(tau, _passive(robot, x, tau), strict=True)]


def direction(rate: Scalar, row: Mapping[str, Scalar]) -> Scalar:
    """The sign of a rate, or with a width tanh(rate / width)."""
    return sign(rate) if row["width"] is ZERO else tanh(rate / row["width"])


def _stribeck(rate: Scalar, row: Mapping[str, Scalar]) -> Scalar:
    ratio = rate / row["stribeck_velocity"]
    return direction(rate, row) * exp(-(ratio * ratio))


def _saturating(rate: Scalar, row: Mapping[str, Scalar]) -> Scalar:
    """tanh(rate / velocity) by an exponential that does not overflow."""
    size = sqrt(rate * rate) / row["saturating_velocity"]
    part = exp(-(size + size))
    return sign(rate) * (1 - part) / (1 + part)


def _power(rate: Scalar, row: Mapping[str, Scalar]) -> Scalar:
    """rate (rate² + width²)^((p - 1)/2)."""
    square, exponent = rate * rate + row["width"] * row["width"], (row["power_exponent"] - 1) / 2
    return rate * cast(Any, square) ** exponent  # type: ignore[no-any-return]


FRICTION: Final[dict[str, Callable[[Scalar, Mapping[str, Scalar]], Scalar]]] = {
    "viscous": lambda rate, row: rate,
    "coulomb": direction,
    "asymmetric": lambda rate, row: sqrt(rate * rate),
    "stribeck": _stribeck,
    "power": _power,
    "saturating": _saturating,
    "presliding": lambda rate, row: row.get("state", ZERO),
    "offset": lambda rate, row: 1,
}
"""Friction per unit of its coefficient of each law that depends on the rate or on the state of
presliding; `_passive` has the others."""
for _missing in [law for law in FRICTION_LAWS if LAWS[law].reads <= {"presliding"}]:
    if _missing not in FRICTION:
        raise ValueError(f"FRICTION of {__name__} has no row for the law '{_missing}'; add it")


def has_load(row: Mapping[str, Scalar]) -> bool:
    """Whether friction depends on the load of the joint."""
    return "load" in row or "presliding_load" in row


def load_factor(rate: Scalar, row: Mapping[str, Scalar]) -> Scalar:
    """The friction per unit of load."""
    sliding = ZERO if rate is ZERO else row.get("load", ZERO) * direction(rate, row)
    return sliding + row.get("presliding_load", ZERO) * row.get("state", ZERO)


def _load(robot: ReferenceModel, i: int, tau: Sequence[Scalar]) -> Scalar:
    """The load of a joint with those of the joints and rotors that follow it."""
    own, load = robot.part(i), tau[i - 1]
    for part, force in zip(robot.parts, tau, strict=True):
        if part.follows and not own.follows:
            factors = [by for index, _, by in part.terms if index == own.terms[0][0]]
            load = sum((by * force for by in factors), load)
    return load


def _passive(robot: ReferenceModel, x: State, tau: Sequence[Scalar]) -> Iterator[Scalar]:
    """Friction, and springs by Hooke's law, where the joints transmit `tau`."""
    for i, rate in enumerate(body_rates(robot, x.trajectory.positions, x.trajectory.qd), 1):
        if i in x.passive:
            row = x.passive[i]
            laws = [k for k in FRICTION if rate is not ZERO or LAWS[k].acts_at_rest]
            laws = [k for k in laws if {k, *(p.name for p in LAWS[k].shape)} <= {*row}]
            total = sum((row[k] * FRICTION[k](rate, row) for k in laws), ZERO)
            if has_load(row):
                load = _load(robot, i, tau)
                total = total + load_factor(rate, row) * load * sign(load)
            if "stiffness" in row:
                place = body_coordinate(robot, i, x.trajectory.positions)
                total = total + row["stiffness"] * (place - row["reference"])
            yield total
        else:
            yield ZERO


def spring_energy(robot: ReferenceModel, x: State) -> Scalar:
    """The energy of the springs, ½ k (q - r)² each (J)."""
    total: Scalar = ZERO
    for i, row in ((i, row) for i, row in x.passive.items() if "stiffness" in row):
        strain = body_coordinate(robot, i, x.trajectory.positions) - row["reference"]
        total = total + row["stiffness"] * strain * strain / 2
    return total


def _minus_wrenches(robot: ReferenceModel, x: State, tau: list[Scalar]) -> list[Scalar]:
    """The joint forces without what external wrenches do."""
    bodies = body_poses(robot, x.trajectory.positions)
    for i, place, force, moment in wrenches_in_world(robot, x):
        about = moment + place.cross(force)
        for j in robot.path(i):
            tau[j - 1] = tau[j - 1] - bodies[j].power(force, about)
    return tau


def wrenches_in_world(
    robot: ReferenceModel, x: State
) -> Iterator[tuple[int, Vector, Vector, Vector]]:
    """The external wrenches: the body, the origin of the link, force and moment about it, in world
    axes."""
    bodies = body_poses(robot, x.trajectory.positions)
    for wrench in x.wrenches:
        i, solid = robot.body_of(wrench.link)
        frame = bodies[i].frame_in_world(solid.frame)
        force, moment = (
            Vector(*three) if wrench.root_axes else matvec(frame.axes, Vector(*three))
            for three in (wrench.six[:3], wrench.six[3:])
        )
        yield i, frame.origin, force, moment


def transmitted_wrench(robot: ReferenceModel, x: State, body: int, at: Frame) -> list[Scalar]:
    """Force and moment about the origin of a frame, in its axes, that move a body (0: the base) and
    all beyond it, less external wrenches on them."""
    moving = body_motions(robot, x.trajectory)
    acting = [
        (i, link.origin, *newton_euler_wrench(link, moving[i]))
        for i, link in moving_inertias(robot, x)
    ]
    acting += [(i, place, -f, -n) for i, place, f, n in wrenches_in_world(robot, x) if i]
    force, moment = ZERO_VECTOR, ZERO_VECTOR
    for i, place, f, n in acting:
        if body in (0, *robot.path(i)) and not robot.part(i).grounded:
            force, moment = force + f, moment + n + (place - at.origin).cross(f)
    back = transpose(at.axes)
    return [*matvec(back, force), *matvec(back, moment)]


def mass_matrix(robot: ReferenceModel, x: State) -> list[Scalar]:
    """M of the bodies' joints: s_j · I_k s_k for every joint j on the path to joint k, where s are
    the joints' unit twists and I_k is the inertia of all links beyond joint k, all about the
    origin of the root and in its axes (twice the kinetic energy at unit rates of both joints)."""
    n = len(robot.parts)
    bodies, beyond = body_poses(robot, x.trajectory.positions), _inertias_beyond(robot, x)
    matrix: list[Scalar] = [ZERO] * (n * n)
    for k, inertia in beyond.items():
        linear, angular = inertia.momentum(*bodies[k].screw)
        for j in robot.path(k):
            w, v = bodies[j].screw
            entry = w.dot(angular) + v.dot(linear)
            matrix[(k - 1) * n + j - 1] = matrix[(j - 1) * n + k - 1] = entry
    return matrix


def _inertias_beyond(robot: ReferenceModel, x: State) -> dict[int, LinkInWorld]:
    """For each joint that moves any inertia the sum of all of it, about the origin of the root."""
    beyond = dict[int, LinkInWorld]()
    for i, link in moving_inertias(robot, x):
        beyond[i] = beyond.get(i, NO_INERTIA).plus(link.about())
    for i in reversed(robot.outward):
        parent = robot.part(i).parent
        if parent and i in beyond:
            beyond[parent] = beyond.get(parent, NO_INERTIA).plus(beyond[i])
    return beyond
