"""Whether a robot's numbers look like kg, m and kg m²: files that were exported in grams or
millimetres are formally sound.

The limits are several times beyond what any of 81 robots of example-robot-data and icub-models
has (docs/inputs.md)."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import hypot, sqrt
from typing import Final

from symgen.mechanics.consistency import principal_moments
from symgen.mechanics.model import Body, Link, Model

MAX_GYRATION: Final = 10.0
"""The largest plausible radius of gyration of a body, in distances around it. Of 380 real files 27
have more, each a placeholder (1 kg m² for everything) or a mistake."""
DENSEST: Final = 2e3
"""A robot's moving mass by the cube of its reach (kg/m³)."""
SMALL_ROBOT: Final = 0.1
"""The reach (m) below which that says nothing: fingers are metal all through."""
FARTHEST: Final = 100.0
"""The reach of a robot (m)."""
SMALLEST: Final = 0.01
"""Where all distances around a body are below this (m), they are no measure of it."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The extent of a body: its name, mass (kg), largest radius of gyration (m), the largest of the
    distances around it (m), and how far it reaches from the base (m)."""

    name: str
    mass: float
    gyration: float
    around: float
    reach: float


def extents(model: Model) -> list[Extent]:
    """The extents of the bodies that have links."""
    sizes, far, carried = [], _distances(model), _carried(model)
    for i, body in enumerate(model.bodies, 1):
        if not body.links:
            continue
        heavy = [link for link in body.links if any(link.parameters or ())]
        mass = sum((link.parameters or (0.0,))[0] for link in heavy)
        around = max(_around(body, carried[i], heavy), default=0.0)
        moment = principal_moments(heavy)[-1] if heavy else 0.0
        gyration = sqrt(max(moment, 0.0) / mass) if mass > 0 else 0.0
        reach = max(far[i] + around, gyration)
        sizes.append(Extent(body.name, mass, gyration, around, reach))
    return sizes


def _distances(model: Model) -> dict[int, float]:
    """How far the joint of each body can be from the base (m)."""
    far = {0: 0.0}
    for i in model.outward:
        body = model.body(i)
        far[i] = far[body.parent] + hypot(*body.pose.position)
    return far


def _carried(model: Model) -> dict[int, list[Body]]:
    """The bodies that each body carries."""
    carried: dict[int, list[Body]] = {i: [] for i in range(model.size + 1)}
    for body in model.bodies:
        carried[body.parent].append(body)
    return carried


def _around(body: Body, carried: list[Body], heavy: list[Link]) -> Iterator[float]:
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


def odd_units(model: Model) -> Iterator[tuple[str, str]]:
    """Remarks on masses and lengths that look like grams or millimetres: the link that each is
    about, and the text."""
    bodies = extents(model)
    for body in bodies:
        if body.around >= SMALLEST and body.gyration > MAX_GYRATION * body.around:
            yield (
                body.name,
                f"radius of gyration is {body.gyration:.4g} m, but all distances around it are "
                f"within {body.around:.4g} m; is the inertia a placeholder, or in kg mm^2 or "
                "g mm^2 instead of kg m^2?",
            )
    reach, mass = max((x.reach for x in bodies), default=0.0), sum(x.mass for x in bodies)
    if reach >= SMALL_ROBOT and mass > DENSEST * reach**3:
        name = max(bodies, key=lambda body: body.mass).name
        yield name, f"{mass:.4g} kg move within {reach:.4g} m; are masses in g, not in kg?"
    if reach > FARTHEST:
        name = max(bodies, key=lambda body: body.reach).name
        yield name, f"the robot reaches {reach:.4g} m; are lengths in mm, not in m?"
