"""An independent judge: textbook dynamics in world axes, for any scalars.

No canonical frame, no regrouping, no pseudo-inertia and no tape: link frames as the file has them,
usual inertia tensors, velocities and accelerations of every link in the world. Self-test values
come from here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.floating import Afloat, Six, rotation, twist_of
from symgen.mechanics.model import Joint, Link, Model, Pose
from symgen.mechanics.spatial import NULL, Vector
from symgen.numbers.operations import cos, sign, sin, tanh
from symgen.numbers.scalar import Scalar

Tens = Mapping[str, Sequence[Scalar]]
"""Ten parameters by link name, in place of those of the model."""

Rows = tuple[Vector, Vector, Vector]


@dataclass(frozen=True)
class Rigid:
    """A link in the world: where it is and its ten parameters about its origin, in world axes."""

    place: Vector
    axes: Rows
    m: Scalar
    h: Vector
    inertia: Rows

    def turned(self, v: Vector) -> Vector:
        """The inertia tensor times `v`."""
        return _times(self.inertia, v)


@dataclass(frozen=True)
class Moving:
    """A body in the world: axes, origin, joint axis, and how it moves."""

    axes: Rows
    place: Vector
    z: Vector
    sliding: bool
    w: Vector = NULL
    wd: Vector = NULL
    a: Vector = NULL

    def acceleration(self, point: Vector) -> Vector:
        """Acceleration of the body's particle at `point`."""
        r = point - self.place
        return self.a + self.wd.cross(r) + self.w.cross(self.w.cross(r))

    def twist(self, point: Vector) -> tuple[Vector, Vector]:
        """Angular velocity, and velocity at `point`, per unit rate of the body's own joint."""
        return (NULL, self.z) if self.sliding else (self.z, self.z.cross(point - self.place))


def _times(rows: Rows, v: Vector) -> Vector:
    return Vector(*(row.dot(v) for row in rows))


def _product(a: Rows, b: Rows) -> Rows:
    columns = [_times(a, Vector(*(row[k] for row in b))) for k in range(3)]
    x, y, z = (Vector(*(c[k] for c in columns)) for k in range(3))
    return x, y, z


def _transposed(a: Rows) -> Rows:
    x, y, z = (Vector(*(row[k] for row in a)) for k in range(3))
    return x, y, z


def _rows(pose: Pose) -> Rows:
    x, y, z = (Vector(*row) for row in pose.rotation)
    return x, y, z


def _rotation(axis: Vector, angle: Scalar) -> Rows:
    """Rodrigues' formula."""
    c, s = cos(angle), sin(angle)
    x, y, z = (
        Vector(*((1 - c) * axis[i] * axis[j] + (c if i == j else 0.0) for j in range(3)))
        + Vector(*(s * e for e in Vector(*(1.0 if k == i else 0.0 for k in range(3))).cross(axis)))
        for i in range(3)
    )
    return x, y, z


WORLD: Final[Rows] = (Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0))


def motion(
    model: Model, q: Sequence[Scalar], qd: Sequence[Scalar], qdd: Sequence[Scalar], gravity: Vector
) -> dict[int, Moving]:
    """Every body in the world at a state of the bodies' joints; the base accelerates against
    gravity."""
    bodies = {0: Moving(WORLD, NULL, NULL, False, a=-gravity)}
    for i in model.outward:
        body, here = model.body(i), slice(i - 1, i + 5)
        before = bodies[body.parent]
        if body.free == 1:
            before = _afloat(before, body.pose, q[i - 1], twist_of(qd[here]), twist_of(qdd[here]))
        if body.free:
            z = _times(before.axes, Vector(*body.joint.axis))
            bodies[i] = replace(before, z=z, sliding=body.joint.kind == "prismatic")
        else:
            bodies[i] = _moved(before, body.pose, body.joint, q[i - 1], qd[i - 1], qdd[i - 1])
    return bodies


def _afloat(parent: Moving, pose: Pose, at: Afloat, rate: Six, change: Six) -> Moving:
    """A floating body: its twist relative to its parent, in its own axes, and how fast the numbers
    of that change.

    A vector of constant numbers in these axes turns with them.
    """
    start = _product(parent.axes, _rows(pose))
    place = parent.place + _times(parent.axes, Vector(*pose.position)) + _times(start, at.place)
    axes = _product(start, rotation(at.turned))
    (v, spin), (vd, spind) = ([_times(axes, x) for x in six] for six in (rate, change))
    w = parent.w + spin
    a = parent.acceleration(place) + vd + w.cross(v) + parent.w.cross(v)
    return Moving(axes, place, NULL, False, w, parent.wd + spind + w.cross(spin), a)


def _moved(parent: Moving, pose: Pose, joint: Joint, q: Scalar, qd: Scalar, qdd: Scalar) -> Moving:
    axes = _product(parent.axes, _rows(pose))
    place = parent.place + _times(parent.axes, Vector(*pose.position))
    axis = Vector(*joint.axis)
    z = _times(axes, axis)
    if joint.kind == "prismatic":
        place = place + z.scaled(q)
        own = parent.w.cross(z).scaled(2 * qd) + z.scaled(qdd)
        return Moving(axes, place, z, True, parent.w, parent.wd, parent.acceleration(place) + own)
    wd = parent.wd + parent.w.cross(z).scaled(qd) + z.scaled(qdd)
    turned = axes if joint.kind in ("rotor", "armature") else _product(axes, _rotation(axis, q))
    return Moving(turned, place, z, False, parent.w + z.scaled(qd), wd, parent.acceleration(place))


def _rigid(body: Moving, link: Link, tens: Tens) -> Rigid | None:
    ten = tens.get(link.name, link.parameters)
    if ten is None:
        return None
    m, hx, hy, hz, ixx, ixy, ixz, iyy, iyz, izz = ten
    axes = _product(body.axes, _rows(link.pose))
    tensor = (Vector(ixx, ixy, ixz), Vector(ixy, iyy, iyz), Vector(ixz, iyz, izz))
    place = body.place + _times(body.axes, Vector(*link.pose.position))
    return Rigid(
        place,
        axes,
        m,
        _times(axes, Vector(hx, hy, hz)),
        _product(axes, _product(tensor, _transposed(axes))),
    )


def _links(model: Model, bodies: Mapping[int, Moving], tens: Tens) -> list[tuple[int, Rigid]]:
    pairs = (
        (i, _rigid(bodies[i], link, tens)) for i in model.outward for link in model.body(i).links
    )
    rotors = [
        (i, _rotor(bodies[i], model.body(i).spin)) for i in model.outward if model.body(i).spin
    ]
    return [*rotors, *((i, rigid) for i, rigid in pairs if rigid is not None)]


def _rotor(body: Moving, spin: Scalar) -> Rigid:
    """Inertia about the joint's axis alone."""
    x, y, z = (body.z.scaled(spin * e) for e in body.z)
    return Rigid(body.place, body.axes, 0.0, NULL, (x, y, z))


def _path(model: Model, i: int) -> list[int]:
    """The body and its ancestors, without the base."""
    path = []
    while i:
        path.append(i)
        i = model.body(i).parent
    return path


@dataclass(frozen=True)
class State:
    """The inputs of a reference run, of the user's coordinates; `gravity` is free fall in root
    axes, `tens` replaces parameters.

    `wrenches` are external ones by link: force and moment about the link's origin, in its axes.
    """

    q: Sequence[Scalar]
    qd: Sequence[Scalar]
    qdd: Sequence[Scalar]
    gravity: Vector
    tens: Tens
    wrenches: Mapping[str, Sequence[Scalar]] = field(default_factory=dict)
    friction: Sequence[Sequence[Scalar]] = ()
    """Viscous, Coulomb and offset of each body's joint, where there is friction."""
    friction_width: float = 0.0
    """Where it is not 0, the step of Coulomb friction is tanh(rate / width)."""


def inverse_dynamics(model: Model, x: State) -> list[Scalar]:
    """Joint forces from the balance of force and moment of every link (Newton, Euler)."""
    coupling = coupling_of(model)
    rates = coupling.rates(x.qd)
    bodies = motion(model, coupling.places(x.q), rates, coupling.rates(x.qdd), x.gravity)
    tau: list[Scalar] = [0.0] * model.size
    for i, link in _links(model, bodies, x.tens):
        body = bodies[i]
        a = body.acceleration(link.place)
        force = a.scaled(link.m) + body.wd.cross(link.h) + body.w.cross(body.w.cross(link.h))
        moment = link.turned(body.wd) + body.w.cross(link.turned(body.w)) + link.h.cross(a)
        for j in _path(model, i):
            w, v = bodies[j].twist(link.place)
            tau[j - 1] = tau[j - 1] + w.dot(moment) + v.dot(force)
    width = x.friction_width
    steps = [tanh(rate / width) if width else sign(rate) for rate in rates]
    rubbing = [
        v * rate + c * s + o for (v, c, o), rate, s in zip(x.friction, rates, steps, strict=False)
    ]
    moved = [t + f for t, f in zip(tau, rubbing, strict=True)] if rubbing else tau
    return coupling.forces(_less_wrenches(model, x, bodies, moved))


def _less_wrenches(
    model: Model, x: State, bodies: Mapping[int, Moving], tau: list[Scalar]
) -> list[Scalar]:
    """The joint forces without what external wrenches do."""
    for i in model.outward:
        for link in (link for link in model.body(i).links if link.name in x.wrenches):
            axes = _product(bodies[i].axes, _rows(link.pose))
            place = bodies[i].place + _times(bodies[i].axes, Vector(*link.pose.position))
            six = x.wrenches[link.name]
            force, moment = _times(axes, Vector(*six[:3])), _times(axes, Vector(*six[3:]))
            for j in _path(model, i):
                w, v = bodies[j].twist(place)
                tau[j - 1] = tau[j - 1] - w.dot(moment) - v.dot(force)
    return tau


def mass_matrix(model: Model, x: State) -> list[Scalar]:
    """M as the kinetic energy of every link at unit rates of two joints."""
    n, coupling = model.size, coupling_of(model)
    still = [0.0] * n
    bodies = motion(model, coupling.places(x.q), still, still, NULL)
    matrix: list[Scalar] = [0.0] * (n * n)
    for i, link in _links(model, bodies, x.tens):
        path = [(j, *bodies[j].twist(link.place)) for j in _path(model, i)]
        for j, w, v in path:
            force = v.scaled(link.m) + w.cross(link.h)
            moment = link.turned(w) + link.h.cross(v)
            for k, other_w, other_v in path:
                entry = (j - 1) * n + k - 1
                matrix[entry] = matrix[entry] + other_w.dot(moment) + other_v.dot(force)
    return coupling.matrix(matrix)


def bias(model: Model, x: State) -> list[Scalar]:
    """Joint forces without joint acceleration."""
    return inverse_dynamics(model, State(x.q, x.qd, [0.0] * model.dof, x.gravity, x.tens))


def gravity(model: Model, x: State) -> list[Scalar]:
    """Joint forces at rest."""
    return bias(model, State(x.q, [0.0] * model.dof, x.qdd, x.gravity, x.tens))


REFERENCES: Final[dict[str, Callable[[Model, State], list[Scalar]]]] = {
    "tau": inverse_dynamics,
    "tau_g": gravity,
    "tau_b": bias,
    "M": mass_matrix,
}
"""The reference by the name of an output."""
