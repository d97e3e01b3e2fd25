"""Random robots with a closed loop: four-bar linkages, slider-cranks, cylinders, and the legs and
rods of an ankle, as URDF with a loop or an option, MJCF and SDF."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

Place = tuple[float, float, float]
ORIGIN: Final = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Part:
    """A link on a joint of its parent."""

    name: str
    parent: str
    kind: str
    xyz: Place
    axis: Place = (0.0, 0.0, 1.0)
    rpy: Place = ORIGIN


@dataclass(frozen=True)
class Mechanism:
    """The parts of a robot on its link ``base``, and the two points that a cut joint joins."""

    parts: Sequence[Part]
    ends: tuple[str, str]
    points: tuple[Place, Place]
    length: float = 0.0

    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
        return [f"to_{part.name}" for part in self.parts]

    @property
    def links(self) -> list[str]:
        """Names of the links that move."""
        return [part.name for part in self.parts]


def _sides(rng: Random) -> tuple[float, float, float, float]:
    """Crank, coupler, rocker and ground; one of ten does not close."""
    ground, crank = rng.uniform(0.3, 0.5), rng.uniform(0.05, 0.2)
    rocker, coupler = rng.uniform(0.25, 0.45), rng.uniform(0.25, 0.45)
    return crank, coupler * rng.choice((1,) * 9 + (0.1,)), rocker, ground


def four_bar(rng: Random) -> Mechanism:
    """Crank and coupler on one side, the rocker on the other."""
    crank, coupler, rocker, ground = (round(x, 3) for x in _sides(rng))
    axis = rng.choice(((0.0, 0.0, 1.0), (0.0, 0.0, -1.0)))
    parts = [
        Part("crank", "swing", "revolute", ORIGIN),
        Part("coupler", "crank", "revolute", (crank, 0.0, 0.0)),
        Part("rocker", "swing", "revolute", (ground, 0.03, 0.0), axis),
    ]
    return Mechanism(parts, ("coupler", "rocker"), ((coupler, 0.0, 0.0), (rocker, 0.0, 0.0)))


def slider_crank(rng: Random) -> Mechanism:
    """A crank, a rod and a piston."""
    parts = [
        Part("crank", "swing", "revolute", ORIGIN),
        Part("rod", "crank", "revolute", (0.1, 0.0, 0.0)),
        Part("piston", "swing", "prismatic", (0.0, 0.02, 0.0), (1.0, 0.0, 0.0)),
    ]
    length = round(rng.uniform(0.15, 0.4), 3)
    return Mechanism(parts, ("rod", "piston"), ((length, 0.0, 0.0), (0.01, 0.0, 0.0)))


def cylinder(rng: Random) -> Mechanism:
    """A boom that a cylinder raises."""
    parts = [
        Part("boom", "swing", "revolute", ORIGIN),
        Part("barrel", "swing", "revolute", (round(rng.uniform(0.2, 0.4), 3), -0.2, 0.0)),
        Part("piston", "barrel", "prismatic", ORIGIN, (1.0, 0.0, 0.0)),
    ]
    return Mechanism(parts, ("boom", "piston"), ((0.5, -0.05, 0.0), ORIGIN))


def _foot(rng: Random) -> list[Part]:
    return [
        Part("cross", "swing", "revolute", (0.4, 0.0, 0.0)),
        Part("foot", "cross", "revolute", ORIGIN, (0.0, 1.0, 0.0)),
        Part("motor", "swing", "revolute", (0.1, 0.0, round(rng.uniform(0.03, 0.06), 3))),
    ]


def leg(rng: Random) -> Mechanism:
    """A rod on a universal joint that holds a foot with two coordinates."""
    lever = round(rng.uniform(0.03, 0.07), 3)
    parts = [
        *_foot(rng),
        Part("pin", "motor", "revolute", (0.0, lever, 0.0)),
        Part("rod", "pin", "revolute", ORIGIN, (0.0, 1.0, 0.0)),
    ]
    return Mechanism(parts, ("rod", "foot"), ((0.3, 0.0, 0.0), (0.0, lever, 0.05)))


def rod(rng: Random) -> Mechanism:
    """The same with a weightless rod of constant length."""
    lever = round(rng.uniform(0.03, 0.07), 3)
    points = (0.0, lever, 0.0), (0.0, lever, 0.05)
    return Mechanism(_foot(rng), ("motor", "foot"), points, round(rng.uniform(0.28, 0.32), 3))


KINDS: Final = (four_bar, four_bar, slider_crank, cylinder, leg, rod)


def mechanism(rng: Random) -> Mechanism:
    """One of them on a base that turns or stands, in straight or in skew axes."""
    made = rng.choice(KINDS)(rng)
    angle = rng.choice((0.0, math.pi / 2, 1.5708, 0.3))
    swing = Part("swing", "base", rng.choice(("revolute", "fixed")), (0.1, 0.2, 0.3))
    parts = [swing, *made.parts]
    if angle:
        lean = Part("swing", "base", swing.kind, swing.xyz, rpy=(angle, rng.choice((0.0, 0.2)), 0))
        parts[0] = lean
    if rng.random() < 0.3:
        end = rng.choice(made.links)
        parts.append(Part("wrist", end, "revolute", (0.1, 0.05, 0.0), (1.0, 0.0, 0.0)))
    return Mechanism(parts, made.ends, made.points, made.length)


def _text(numbers: Sequence[float]) -> str:
    return " ".join(map(repr, numbers))


MASS: Final = '<inertial><mass value="{m}"/><origin xyz="0.05 0.01 0"/><inertia ixx="{a}" ixy="0" '
MASS_END: Final = 'ixz="0" iyy="{b}" iyz="0" izz="{b}"/></inertial>'


def urdf(rng: Random, made: Mechanism, loop: bool) -> bytes:
    """The file, with the element ``loop`` of URDF+ or without."""
    rows = ['<robot name="loops"><link name="base"/>']
    for part in made.parts:
        m = round(rng.uniform(0.2, 3.0), 2)
        mass = (MASS + MASS_END).format(m=m, a=round(0.002 * m, 5), b=round(0.003 * m, 5))
        dynamics = '<dynamics damping="0.1"/>' if rng.random() < 0.2 else ""
        rows.append(
            f'<link name="{part.name}">{mass}</link><joint name="to_{part.name}" '
            f'type="{part.kind}"><origin xyz="{_text(part.xyz)}" rpy="{_text(part.rpy)}"/>'
            f'<parent link="{part.parent}"/><child link="{part.name}"/>'
            f'<axis xyz="{_text(part.axis)}"/>{dynamics}'
            '<limit effort="9" velocity="9" lower="-3" upper="3"/></joint>'
        )
    if loop:
        ends = zip(("predecessor", "successor"), made.ends, made.points, strict=True)
        inner = "".join(
            f'<{tag} link="{link}"><origin xyz="{_text(at)}"/></{tag}>' for tag, link, at in ends
        )
        rows.append(f'<loop name="pin" type="{rng.choice(("revolute", "ball"))}">{inner}</loop>')
    return "".join([*rows, "</robot>"]).encode()


def option(rng: Random, made: Mechanism) -> str:
    """The loop as ``--loop``."""
    first, second = made.ends
    at = (f"at_{k}=[{', '.join(map(repr, p))}]" for k, p in zip(WHICH, made.points, strict=True))
    kind = f'joint="distance", length={made.length}' if made.length else 'joint="ball"'
    more = rng.choice(("", "", "", ", newton=true", ", branch=1", ", branch=-1", ", branch=2"))
    return f'name="pin", first="{first}", second="{second}", {", ".join(at)}, {kind}{more}'


def polynomial(rng: Random, made: Mechanism) -> str:
    """A joint at a polynomial of another one, as ``--loop``."""
    first, second = rng.choice(made.joints), rng.choice(made.joints)
    coefficients = [round(rng.uniform(-0.5, 0.5), 2) for _ in range(rng.choice((2, 3, 5)))]
    return (
        f'name="tie", joint="polynomial", first="{first}", second="{second}", '
        f"polynomial={coefficients}"
    )


WHICH: Final = ("first", "second")


def mjcf(rng: Random, made: Mechanism) -> bytes:
    """The file, its points joined where they are with all joints at 0."""
    turn = {"revolute": "hinge", "prismatic": "slide"}

    def body(part: Part) -> str:
        joint = (
            f'<joint name="to_{part.name}" type="{turn[part.kind]}" axis="{_text(part.axis)}"/>'
            if part.kind in turn
            else ""
        )
        inner = "".join(body(p) for p in made.parts if p.parent == part.name)
        return (
            f'<body name="{part.name}" pos="{_text(part.xyz)}" euler="{_text(part.rpy)}">{joint}'
            f'<inertial pos="0.05 0 0.01" mass="1" diaginertia="0.01 0.02 0.015"/>{inner}</body>'
        )

    weld = "weld" if rng.random() < 0.1 else "connect"
    anchor = f'anchor="{_text(made.points[0])}"' if weld == "connect" else ""
    tree = "".join(body(part) for part in made.parts if part.parent == "base")
    return (
        f'<mujoco><compiler angle="radian"/><worldbody><body name="base">{tree}</body></worldbody>'
        f'<equality><{weld} name="pin" body1="{made.ends[0]}" body2="{made.ends[1]}" {anchor}/>'
        "</equality></mujoco>"
    ).encode()


def sdf(rng: Random, made: Mechanism) -> bytes:
    """The file, with a second joint to one of its links."""
    rows = ['<sdf version="1.9"><model name="loops"><link name="base"/>']
    for part in made.parts:
        pose = f'<pose relative_to="{part.parent}">{_text((*part.xyz, *part.rpy))}</pose>'
        moved = f"<axis><xyz>{_text(part.axis)}</xyz></axis>" if part.kind != "fixed" else ""
        rows.append(
            f'<link name="{part.name}">{pose}<inertial><mass>1</mass><inertia><ixx>0.01</ixx>'
            "<iyy>0.01</iyy><izz>0.01</izz></inertia></inertial></link>"
            f'<joint name="to_{part.name}" type="{part.kind}"><parent>{part.parent}</parent>'
            f"<child>{part.name}</child>{moved}</joint>"
        )
    axis = "<axis><xyz>0 0 1</xyz></axis>"
    kind = rng.choice(("ball", "revolute", "fixed", "universal"))
    rows.append(
        f'<joint name="pin" type="{kind}"><pose>{_text((*made.points[1], *ORIGIN))}</pose>'
        f"<parent>{made.ends[0]}</parent><child>{made.ends[1]}</child>"
        f"{axis if kind in ('revolute', 'universal') else ''}</joint></model></sdf>"
    )
    return "".join(rows).encode()


WRITERS: Final[dict[str, Callable[[Random, Mechanism], bytes]]] = {
    "robot.xml": mjcf,
    "robot.sdf": sdf,
}
"""The formats that join two points where they are, by name of the file."""
