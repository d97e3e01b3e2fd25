"""The joints of a robot as people know them: those of its file, whatever bodies they consist of,
and their rotors."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from symgen.mechanics.coupling import SEVEN, Drive, coupling_of
from symgen.mechanics.floating import RUN
from symgen.mechanics.joints import JOINT_TYPES
from symgen.mechanics.model import Body, Model

PLANAR: Final = 3
"""Bodies of a planar joint."""

UNITS: Final = {"planar": "m, rad", "floating": "m, 1"}
"""Of the coordinates of joints with several."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A joint of the file: the numbers of its bodies, the last of which has its links, and of its
    coordinates."""

    name: str
    kind: str
    """revolute, prismatic, planar or floating."""
    bodies: tuple[int, ...]
    body: Body
    """The last of its bodies."""
    positions: tuple[int, ...]
    """Indices into q, none of a joint that follows another."""
    velocities: tuple[int, ...]
    leader: str = ""
    """The joint that it follows."""
    follows: str = ""
    """And how, as in ``0.8 near + 0.01``."""

    @property
    def unit(self) -> str:
        """Unit of the coordinate, units of several."""
        return UNITS.get(self.kind) or JOINT_TYPES[self.kind].coordinate_unit


def listed(model: Model) -> list[Listed]:
    """The joints in the order of the file."""
    coupling, found, i = coupling_of(model), list[Listed](), 1
    while i <= model.size and not model.body(i).spin:
        first = model.body(i)
        last = i + (len(RUN) if first.free else PLANAR if first.planar else 1) - 1
        drives, run = coupling.drives[i - 1 : last], tuple(range(i, last + 1))
        name = first.joint.name.rpartition(".")[0] if last > i else first.joint.name
        places, indices = (
            ((), ()) if first.follows else (_places(first, drives), sorted(d.index for d in drives))
        )
        found.append(
            Listed(
                name,
                first.kind,
                run,
                model.body(last),
                tuple(places),
                tuple(indices),
                model.body(first.follows.leader).joint.name if first.follows else "",
                _follows(model, first),
            )
        )
        i = last + 1
    return found


def _places(first: Body, drives: tuple[Drive, ...]) -> Iterator[int]:
    if first.free:
        return iter(range(drives[0].place, drives[0].place + SEVEN))
    return (drive.place for drive in drives)


def _follows(model: Model, body: Body) -> str:
    if body.follows is None:
        return ""
    factor, offset = body.follows.factor, body.follows.offset
    times = "" if factor == 1 else "-" if factor == -1 else f"{factor!r} "
    rest = f" {'-' if offset < 0 else '+'} {abs(offset)!r}" if offset else ""
    return f"{times}{model.body(body.follows.leader).joint.name}{rest}"


def moving(model: Model, velocity: str) -> Listed:
    """The joint that has a velocity of this name."""
    index = model.joint_names.index(velocity)
    return next(joint for joint in listed(model) if index in joint.velocities)


def rotor_of(body: Body) -> str:
    """What is taken of the rotor that drives a body's joint, in words."""
    joint = body.joint
    if joint.armature:
        unit = "kg m^2" if JOINT_TYPES[joint.kind].coordinate_unit == "rad" else "kg"
        return f"{joint.armature:.6g} {unit} on the joint's own inertia"
    if joint.rotor is None:
        return ""
    rest = [f"{joint.rotor.mass:.6g} kg more on its carrier"] if joint.rotor.mass else []
    spins = (
        [f"{joint.rotor.inertia:.6g} kg m^2 at ratio {joint.rotor.ratio:.6g}"]
        if joint.rotor.inertia
        else []
    )
    return ", ".join((*spins, *rest))


def carrying_link(model: Model, i: int) -> str:
    """The name of the link that carries the joint of body `i`, the innermost part of it where it
    has several."""
    at = model.body(i).parent
    while at and not model.body(at).links:
        at = model.body(at).parent
    return model.body(at).name if at else model.root


def numbered(indices: tuple[int, ...]) -> str:
    """Indices that follow one another, as in ``3`` or ``0 to 6``."""
    if len(indices) < 2:
        return "".join(map(str, indices))
    return f"{indices[0]} to {indices[-1]}"
