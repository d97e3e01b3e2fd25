"""Checks of the inertia of each link and body: whether it is physically possible, and whether the
numbers look like kg, m and kg m² (files that were exported in grams or millimetres are formally
correct). The model is not changed.

A mass distribution exists exactly if the 4x4 pseudo-inertia [S h; hᵀ m], S = tr(I)/2 1 - I, is
positive semidefinite (Wensing, Kim & Slotine, RA-L 2018), which is m ≥ 0 and the triangle
inequality of the moments about the centre of mass. The limits of plausible units are twice or more
beyond any right file of 81 robots of example-robot-data and icub-models (docs/inputs.md)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import hypot, sqrt
from typing import Final

import numpy as np

from symgen.mechanics.inertia import (
    central_moments,
    pseudo_inertia_in_parent,
    pseudo_inertia_matrix,
)
from symgen.mechanics.model import Body, Link, RigidBodyModel
from symgen.numbers.scalar import ZERO, NamedNumber, Numbers

DEFINITE, SEMIDEFINITE, INDEFINITE, NO_INERTIA = (
    "definite",
    "semidefinite",
    "indefinite",
    "no inertia",
)
EIGENVALUE_ROUNDING = 1e-9
"""An eigenvalue this small next to the largest is zero: files round their numbers."""


@dataclass(frozen=True, slots=True)
class InertiaVerdict:
    """The verdict on the inertia of one link or body.

    `kind` is ``"link"`` or ``"body"``; `status` one of DEFINITE, SEMIDEFINITE, INDEFINITE,
    NO_INERTIA; `eigenvalues` those of the pseudo-inertia about the centre of mass, ascending, in
    units in which mass and trace of S are 1 (empty without inertia). `message` is a sentence, a
    `warning` or just information."""

    kind: str
    name: str
    status: str
    eigenvalues: tuple[float, ...]
    message: str
    warning: bool = False
    summary: str = ""
    """What one line says of several that have the same (see `symgen.errors.Notice`)."""


def check_inertias(model: RigidBodyModel) -> tuple[InertiaVerdict, ...]:
    """A verdict for every body with links, each followed by those of its links with inertia; then
    the links of the base."""
    verdicts: list[InertiaVerdict] = []
    for i, body in enumerate(model.bodies, 1):
        if body.links:
            verdicts += [
                _judge_body(body, leaf=_alone(model, i)),
                *_judge_links(body.links, moving=True),
            ]
    return (*verdicts, *_judge_links(model.base, moving=False))


def _alone(model: RigidBodyModel, i: int) -> bool:
    """True if the joint of a body moves only that body, through its coordinate or further out."""
    follows = model.body(i).follows
    leaders = {i} if follows is None else {leader for leader, _ in follows.terms}
    terms = (term for body in model.bodies if body.follows for term in body.follows.terms)
    coupled = any(leader in leaders for leader, _ in terms)
    return not coupled and not model.children(i)


def _judge_links(links: Iterable[Link], moving: bool) -> list[InertiaVerdict]:
    heavy = [link for link in links if any(link.parameters or ())]
    return [_verdict("link", link.name, _pseudo(link), moving) for link in heavy]


def _judge_body(body: Body, leaf: bool) -> InertiaVerdict:
    """A body's own faults are those of its links; what is new is a joint that moves nothing,
    neither by itself nor by a rotor or joint that turns with it."""
    total = _of_links(body.links)
    verdict = _verdict("body", body.name, total, warned=False)
    if not leaf or _feels(body, total):
        return verdict
    message = f"joint '{body.joint.name}' moves no inertia, so the mass matrix is singular"
    return InertiaVerdict(
        "body", body.name, verdict.status, verdict.eigenvalues, message, True, IMMOVABLE
    )


IMMOVABLE = "{count} joints move no inertia (those of {elements}), so the mass matrix is singular"
TRIANGLES = (
    "{count} links have a physically impossible inertia ({elements}); add --verbose to "
    "list the moments, or --repair-inertia nearest to replace them"
)


def _feels(body: Body, p: Numbers) -> bool:
    """Whether the last coordinate of a leaf body's joint feels any inertia of it."""
    if body.freedom.slide is not ZERO and p[3, 3] > 0:
        return True
    axis, size = np.array(body.axis), float(np.trace(p[:3, :3]))
    return body.freedom.turn is not ZERO and bool(
        size - axis @ p[:3, :3] @ axis > 1e-13 * abs(size)
    )


def _pseudo(link: Link) -> Numbers:
    return pseudo_inertia_matrix(link.parameters or (0.0,) * 10)


def _of_links(links: Iterable[Link]) -> Numbers:
    """The pseudo-inertia of links that are fixed to each other, in the frame of their body."""
    placed = (pseudo_inertia_in_parent(_pseudo(link), link.pose) for link in links)
    return sum(placed, np.zeros((4, 4)))


def _verdict(kind: str, name: str, p: Numbers, warned: bool) -> InertiaVerdict:
    if not p.any():
        return InertiaVerdict(kind, name, NO_INERTIA, (), "has no inertia")
    central, rounding = _central(p)
    values = tuple(float(v) for v in sorted((*np.linalg.eigvalsh(central), float(p[3, 3] > 0))))
    definite = DEFINITE if values[0] > 0 else INDEFINITE
    status = SEMIDEFINITE if abs(values[0]) <= rounding else definite
    message = _impossible(p) if status == INDEFINITE else MESSAGES[status]
    warning = warned and status == INDEFINITE
    return InertiaVerdict(kind, name, status, values, message, warning, TRIANGLES)


def _central(p: Numbers) -> tuple[Numbers, float]:
    """S about the centre of mass over the size of its trace, and how much of it is rounding."""
    central = central_moments(p)
    trace, size = float(np.trace(central)), abs(float(np.trace(p[:3, :3])))
    if -1e-12 * size <= trace <= 1e-15 * size:  # a point mass, as far as the digits tell
        return np.zeros((3, 3)), EIGENVALUE_ROUNDING
    return central / abs(trace), EIGENVALUE_ROUNDING + 1e-15 * size / abs(trace)


def _moments(p: Numbers) -> Numbers:
    """The tensor about the centre of mass (kg m²), in the axes of the link or body."""
    central = central_moments(p)
    moments: Numbers = np.trace(central) * np.eye(3) - central
    return moments


def principal_moments(links: Iterable[Link]) -> tuple[float, ...]:
    """The principal moments of links that are fixed to each other, about their common centre of
    mass (kg m², ascending); those that are 0 but for rounding are 0."""
    total = _of_links(links)
    values = np.linalg.eigvalsh(_moments(total))
    size, mass = float(np.trace(total[:3, :3])), float(total[3, 3])
    rounding = max(
        EIGENVALUE_ROUNDING * float(np.abs(values).max()), 1e-13 * abs(size), abs(mass) * 1e-18
    )
    return tuple(0.0 if abs(x) <= rounding else float(x) for x in values)


def _impossible(p: Numbers) -> str:
    """The sentence on moments of a link that no body has."""
    moments = np.linalg.eigvalsh(_moments(p))
    if moments[0] >= -EIGENVALUE_ROUNDING * abs(moments).max():
        return _triangle(p)
    return negative_moment(moments)


def negative_moment(moments: Iterable[float]) -> str:
    """The sentence on principal moments (kg m²) of which one is negative."""
    listed = ", ".join(f"{float(x):.4g}" for x in moments)
    return (
        f"inertia has a negative principal moment (the three are {listed} kg m^2), which "
        "is physically impossible"
    )


def _triangle(p: Numbers) -> str:
    """Which moment is too large: one about a link axis where that shows it, else a principal
    one."""
    tensor = _moments(p)
    names, moments = ("Ixx", "Iyy", "Izz"), [float(x) for x in np.diag(tensor)]
    if 2 * max(moments) <= sum(moments):
        names, moments = ("I1", "I2", "I3"), [float(x) for x in np.linalg.eigvalsh(tensor)]
    a, b, c = sorted(range(3), key=lambda i: (moments[i], i))
    principal = "" if names[0] == "Ixx" else "principal moments "
    return (
        f"inertia violates the triangle inequality: {principal}{names[a]} + {names[b]} < "
        f"{names[c]} about"
        f" the centre of mass ({moments[a]:.4g} + {moments[b]:.4g} < {moments[c]:.4g} kg m^2)"
    )


MESSAGES = {
    DEFINITE: "inertia is that of a solid body",
    SEMIDEFINITE: "inertia is that of a point mass, a rod or a flat plate",
}


MAX_GYRATION: Final = 3.0
"""The largest plausible radius of gyration of a body, in distances around it."""
MIN_DISTANCE: Final = 0.1
"""Smaller distances around a body (m) count as this one."""
MIN_WHEEL_DISTANCE: Final = 0.3
"""The same of a body that may be a wheel, which turns without end and carries nothing: nothing need
be away from its axis. The limit is then that of a disc with a radius of 1.27 m."""
MAX_DENSITY: Final = 2e3
"""A robot's moving mass by the cube of its reach (kg/m³)."""
MIN_REACH_FOR_DENSITY: Final = 0.1
"""The reach (m) below which that says nothing: fingers are metal all through."""
MAX_REACH: Final = 100.0
"""The reach of a robot (m)."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The extent of a body: its name, mass (kg), largest radius of gyration (m) and the largest
    plausible one, the largest of the distances around it (m), and how far it reaches from the base
    (m)."""

    name: str
    mass: float
    gyration: float
    max_gyration: float
    around: float
    reach: float


def extents(model: RigidBodyModel) -> list[Extent]:
    """The extents of the bodies that have links."""
    sizes, far = [], {0: 0.0}  # far: how far the joint of each body can be from the base
    for i in model.outward:
        far[i] = far[model.body(i).parent] + hypot(*model.body(i).pose.position)
    for i, body in enumerate(model.bodies, 1):
        if not body.links:
            continue
        heavy = [link for link in body.links if any(link.parameters or ())]
        mass = sum((link.parameters or (0.0,))[0] for link in heavy)
        ends = (end for c in model.closures for end in zip(c.bodies, c.points, strict=True))
        pins = (hypot(*point) for k, point in ends if k == i)
        carried = [*map(model.body, model.children(i))]
        around = max(chain(_around(body, carried, heavy), pins), default=0.0)
        moment = principal_moments(heavy)[-1] if heavy else 0.0
        gyration = sqrt(max(moment, 0.0) / mass) if mass > 0 else 0.0
        reach, limits = max(far[i] + around, gyration), body.joint.limits
        endless = body.joint.kind == "revolute" and (limits.lower, limits.upper) == (None, None)
        least = MIN_WHEEL_DISTANCE if endless and not carried else MIN_DISTANCE
        limit = MAX_GYRATION * max(around, least)
        sizes.append(Extent(body.name, mass, gyration, limit, around, reach))
    return sizes


def _around(body: Body, carried: Iterable[Body], heavy: list[Link]) -> Iterator[float]:
    """The distances to the joint before, to the joints behind, to the links' frames and centres of
    mass."""
    yield hypot(*body.pose.position)
    yield from (hypot(*other.pose.position) for other in carried)
    for link in body.links:
        yield hypot(*link.pose.position)
    for link in heavy:
        m, *h = (link.parameters or (0.0,) * 4)[:4]
        if m > 0:
            yield hypot(*(x / m for x in h))


def odd_units(model: RigidBodyModel) -> Iterator[tuple[str, str]]:
    """Remarks on masses and lengths that look like grams or millimetres: the link that each is
    about, and the text."""
    bodies = extents(model)
    sized = any(body.around for body in bodies)
    for body in bodies:
        if sized and body.gyration > body.max_gyration:
            around = f"all distances around it are within {body.around:.4g} m"
            if not body.around:
                around = "no joint, frame or centre of mass is away from its joint"
            yield (
                body.name,
                f"radius of gyration is {body.gyration:.4g} m, but {around}; is the inertia a "
                "placeholder, or in kg mm^2 or g mm^2 instead of kg m^2?",
            )
    reach, mass = max((x.reach for x in bodies), default=0.0), sum(x.mass for x in bodies)
    if reach >= MIN_REACH_FOR_DENSITY and mass > MAX_DENSITY * reach**3:
        name = max(bodies, key=lambda body: body.mass).name
        yield name, f"{mass:.4g} kg move within {reach:.4g} m; are masses in g, not in kg?"
    if reach > MAX_REACH:
        name = max(bodies, key=lambda body: body.reach).name
        yield name, f"the robot reaches {reach:.4g} m; are lengths in mm, not in m?"


MIN_GYRATION: Final = 1e-9
"""A principal moment with a radius of gyration below this (m) is rounding in the file."""


def tensor_trouble(tensor: tuple[float, ...], mass: float) -> str:
    """Why no body has this tensor; empty where one can, and of symbols, of which nothing is
    known."""
    if any(isinstance(x, NamedNumber) for x in (*tensor, mass)):
        return ""
    size = max(map(abs, tensor))
    if not size:
        return ""
    xx, xy, xz, yy, yz, zz = (x / size for x in tensor)
    moments = np.linalg.eigvalsh(np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))))
    if moments[0] >= -max(EIGENVALUE_ROUNDING * max(abs(moments)), mass * MIN_GYRATION**2 / size):
        return ""
    return negative_moment(float(m) * size for m in moments)
