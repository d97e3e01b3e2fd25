"""What is said of joints that are not one coordinate each: floating and planar ones, followers,
rotors."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from symgen.mechanics.coupling import coupling_of
from symgen.mechanics.listing import listed, rotor_of
from symgen.mechanics.model import Model


def floats(model: Model) -> bool:
    """Whether a robot has a floating joint, so that positions and velocities differ."""
    return any(body.free for body in model.bodies)


def frame(model: Model) -> str:
    """Whose axes are those that stay: the root link's or, where no link stays, the world's."""
    return "root link" if model.base else "world"


def order(model: Model) -> list[str]:
    """The order of coordinates."""
    if not floats(model):
        return ["Coordinates follow the order of the moving joints in the file (table below)."]
    coupling = coupling_of(model)
    first = ", the floating base first" if not model.base else ""
    return [
        f"Coordinates follow the order of the moving joints in the file{first} (tables below): "
        f"{coupling.positions}",
        f"positions q; {coupling.velocities} velocities qd, which accelerations, forces and "
        f"matrices follow.",
    ]


def joints(model: Model) -> list[str]:
    """How joints with several coordinates, followers and rotors are to be understood."""
    kinds = {"floating": _floating, "planar": _planar}
    said = [
        text
        for kind, tell in kinds.items()
        if any(j.kind == kind for j in listed(model))
        for text in tell(model)
    ]
    if said:
        said.append(
            "Of the bodies in local names a floating joint has six and a planar one three, the "
            "last with its link."
        )
    return [*said, *_followers(model), *_rotors(model)]


def _floating(model: Model) -> Iterator[str]:
    yield (
        "A floating joint has seven positions: x, y, z of the body's origin in the frame it "
        "moves in (m) and the unit"
    )
    yield (
        "quaternion qx, qy, qz, qw, which turns the body's axes into those of that frame; its "
        "length must be 1, it is"
    )
    yield (
        "not normalised. Its six velocities are the twist of the body in its own axes: "
        "velocity of the origin (m/s),"
    )
    yield (
        "angular velocity (rad/s); accelerations are their rates, forces the force and the "
        "moment about the origin"
    )
    yield (
        "(N, N m) in the same axes. Derivatives in q are by these six: along unit twists, not "
        "by the seven numbers,"
    )
    yield (
        "dq likewise. Coordinates, velocities and forces are Pinocchio's. C qd is the bias "
        "without gravity, dM/dt is"
    )
    yield (
        "C + C^T, and C_ij is the sum over k of Gamma_ijk qd_k; where j and k both belong to "
        "the joint, Gamma_ijk and"
    )
    yield (
        "Gamma_ikj differ, and packed symbols have their mean. tau_qq is the derivative of dtau_dq "
        "along the twists;"
    )
    yield "with such j and k tau_qq_ijk and tau_qq_ikj differ, and dg/dq is not symmetric."
    if not model.base:
        yield (
            "The frame that the base moves in is the world: poses, positions and gravity are "
            "in its axes."
        )


def _planar(model: Model) -> Iterator[str]:
    yield (
        "A planar joint moves by x and y, then turns by theta about the normal of its plane; x "
        "is the x axis of the"
    )
    yield (
        "joint's frame as it appears in the plane (its y axis where x is the normal), and y "
        "completes x, y, normal."
    )
    yield "Velocities and forces in x and y are along these axes, which do not turn with the body."


def _followers(model: Model) -> Iterator[str]:
    followers = [joint for joint in listed(model) if joint.leader]
    for joint in followers:
        yield f"Joint {joint.name} follows {joint.leader}: {joint.name} = {joint.follows}."
    if followers:
        yield (
            "It has no coordinate of its own; what acts on it is felt by the joint it follows, "
            "times the factor."
        )


def _rotors(model: Model) -> Iterator[str]:
    for joint in listed(model):
        if rotor_of(joint.body):
            yield f"Rotor of joint {joint.name}: {rotor_of(joint.body)}."


def has_rotors(model: Model) -> bool:
    """Whether inertia of rotors is in the dynamics."""
    return any(body.spin or rotor_of(body) for body in model.bodies)


# -- units and meanings that fit the robot ---------------------------------------------------------

Choose = Callable[[list[str]], str]
CHOICES: Final[dict[str, Choose]] = {
    "rad": lambda ways: ways[0],
    "m": lambda ways: ([way for way in ways if "rad" not in way] or ways)[-1],
}
"""Of the units by joint type, that of a robot all of whose coordinates have this unit."""

OTHERWISE: Final = ("kg | kg m | kg m^2", "1 | m")
"""Units that are not by joint type."""


def unit(model: Model, text: str, array: str = "") -> str:
    """The unit of an array of this robot: where its joints are of one type, that of this type
    alone."""
    found = {name for joint in listed(model) for name in joint.unit.split(", ")}
    if "|" not in text or text in OTHERWISE:
        return text
    if len(found) > 1:
        return f"{text} | 1" if array == "q" and floats(model) else text
    return chosen(CHOICES[found.pop()], text)


def chosen(choose: Choose, text: str) -> str:
    """A unit such as ``(rad | m)^2`` and ``N m | N, per rad | m`` with one way for each group."""
    inside = re.sub(
        r"\(([^()]* \| [^()]*)\)", lambda group: _grouped(choose(group[1].split(" | "))), text
    )
    return "".join(
        choose(part.split(" | ")) for part in re.split(r"(, per |, | by | per )", inside)
    )


def _grouped(text: str) -> str:
    return text if text.isalpha() else f"({text})"


TO_WORLD: Final = {"root link's": "world's", "root's": "world's", "root axes": "world axes"}
SYMMETRIC: Final = ", symmetric but for floating joints"
"""What is said of a matrix that is symmetric where every qd is the rate of a q."""


def meaning(model: Model, text: str) -> str:
    """What an array or formula means for this robot."""
    words = {SYMMETRIC: "" if floats(model) else ", symmetric"}
    words |= TO_WORLD if not model.base else {}
    for old, new in words.items():
        text = text.replace(old, new)
    return text
