"""Views of a robot's joints and links, for people who ask in Python."""

from collections.abc import Iterator
from dataclasses import dataclass

from symgen.mechanics.listing import ListedJoint, carrying_link, listed
from symgen.mechanics.matrices import about_centre
from symgen.mechanics.model import Link, Model, PerCoordinate


@dataclass(frozen=True, slots=True)
class JointView:
    """A joint: its `type`, its links (`parent`, `child`), its limits (rad or m, rad/s or m/s,
    N m or N; None if not given), and the indices of its entries of q and of the velocities (none
    for a joint that `follows` another).

    `damping` (N m s/rad or N s/m) and `friction` (N m or N) have an effect with the option
    ``friction``; a spring of `stiffness` (N m/rad or N/m) with zero force at `reference` (rad or m)
    has an effect with ``springs``. Each is one number for all velocities of the joint, or a tuple
    with one number per velocity."""

    name: str
    type: str
    parent: str
    child: str
    positions: tuple[int, ...]
    velocities: tuple[int, ...]
    unit: str
    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None
    damping: PerCoordinate
    friction: PerCoordinate
    stiffness: PerCoordinate
    reference: PerCoordinate
    follows: str = ""


@dataclass(frozen=True, slots=True)
class LinkInertia:
    """A link and the `body` that it belongs to (the base, or the link that a joint moves): mass
    (kg), centre of mass (m), and inertia (kg m²) about the centre of mass in link axes; 0, None
    and None if the link has no inertia."""

    name: str
    body: str
    mass: float
    center_of_mass: tuple[float, ...] | None
    inertia: tuple[tuple[float, ...], ...] | None


def joints_of(model: Model) -> tuple[JointView, ...]:
    """The joints in the order of their coordinates."""
    return tuple(_joint(model, joint) for joint in listed(model))


def _joint(model: Model, row: ListedJoint) -> JointView:
    joint = row.body.joint
    limits = joint.limits
    return JointView(
        row.name,
        row.kind,
        carrying_link(model, row.bodies[0]),
        row.body.name,
        row.positions,
        row.velocities,
        row.unit,
        limits.lower,
        limits.upper,
        limits.velocity,
        limits.effort,
        joint.damping,
        joint.friction,
        joint.stiffness,
        joint.reference,
        row.follows,
    )


def links_of(model: Model) -> tuple[LinkInertia, ...]:
    """The links, those of the base first, then body by body."""
    return tuple(_links(model))


def _links(model: Model) -> Iterator[LinkInertia]:
    for link in model.base:
        yield _link(link, model.root)
    for body in model.moving:
        for link in body.links:
            yield _link(link, body.name)


def _link(link: Link, body: str) -> LinkInertia:
    ten = link.parameters
    if ten is None or not ten[0]:
        return LinkInertia(link.name, body, 0.0, None, None)
    return LinkInertia(link.name, body, ten[0], *about_centre(ten))
