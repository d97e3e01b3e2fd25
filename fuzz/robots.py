"""Random robots as URDF, small ones of every kind of joint, with or without what is optional; and
robots of this repository to begin with."""

import math
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

from lxml import etree

from fuzz.draw import name as any_name
from fuzz.nodes import Node, element, read
from symgen.errors import OptionError
from symgen.reading.joint_kinds import FIXED, JOINTS

ROOT: Final = Path(__file__).resolve().parents[1]
SMALL: Final = ("pendulum", "scara", "rx90", "panda")
OFTEN: Final = {"revolute": 8, "continuous": 3, "prismatic": 4, FIXED: 3}
KINDS: Final = (*OFTEN, *(word for word in JOINTS if word not in OFTEN))
WEIGHTS: Final = tuple(OFTEN.get(word, 1) for word in KINDS)
ANGLES: Final = (0.0, math.pi / 2, -math.pi / 2, math.pi, 1.5708, 3.1416, 1.57)
AXES: Final = ("1 0 0", "0 1 0", "0 0 1", "0 0 -1", "0.6 0 0.8", "1 1 1", "0 0 2")


def robot(rng: Random, odd_names: float = 0.0, most: int = 6) -> Node:
    """A sound robot of up to six joints, or fewer."""
    joints = min(rng.choice((1, 1, 2, 2, 3, 4, 6)), most)
    links = [_name(rng, "link", k, odd_names) for k in range(joints + 1)]
    made = element("robot", name=any_name(rng, odd_names) or "robot")
    made.children = [_link(rng, name, bare=k == 0) for k, name in enumerate(links)]
    names = [_name(rng, "joint", k, odd_names) for k in range(joints)]
    for k, name in enumerate(names):
        parent = links[rng.randrange(k + 1)] if rng.random() < 0.3 else links[k]
        kind = rng.choices(KINDS, WEIGHTS)[0] if k else rng.choice(KINDS[:3])
        made.children.append(_joint(rng, name, kind, parent, links[k + 1]))
    _extras(rng, made, names)
    return made


def _name(rng: Random, kind: str, k: int, odd: float) -> str:
    return f"{any_name(rng, 1.0)}{k}" if rng.random() < odd else f"{kind}_{k}"


def _link(rng: Random, name: str, bare: bool) -> Node:
    if bare and rng.random() < 0.5:
        return element("link", name=name)
    mass = round(rng.uniform(0.1, 5.0), 3)
    size = rng.uniform(0.02, 0.4)
    a, b, c = sorted(round(mass * size**2 * rng.uniform(0.2, 1.0), 8) for _ in range(3))
    moments = (a, b, min(c, a + b))
    tensor = {"ixx": moments[0], "ixy": 0, "ixz": 0, "iyy": moments[1], "iyz": 0, "izz": moments[2]}
    return element(
        "link",
        element(
            "inertial", _origin(rng, 0.2), element("mass", value=mass), element("inertia", **tensor)
        ),
        name=name,
    )


def _origin(rng: Random, reach: float) -> Node:
    kind = rng.randrange(3)
    xyz = [rng.choice((0.0, round(rng.uniform(-reach, reach), 4))) for _ in range(3)]
    rpy = [rng.choice(ANGLES) if kind else rng.uniform(-3, 3) for _ in range(3)]
    if kind == 2:
        rpy = [rng.choice((0.0, rpy[0])), 0.0, 0.0]
    return element("origin", xyz=" ".join(map(repr, xyz)), rpy=" ".join(map(repr, rpy)))


def _joint(rng: Random, name: str, kind: str, parent: str, child: str) -> Node:
    made = element(
        "joint",
        _origin(rng, 0.5),
        element("parent", link=parent),
        element("child", link=child),
        name=name,
        type=kind,
    )
    axis = "1 0 0"
    if kind != FIXED and JOINTS[kind].axis and rng.random() < 0.9:
        axis = rng.choice(AXES)
        made.children.append(element("axis", xyz=axis))
    _constants(rng, made, kind, axis)
    if kind in ("revolute", "prismatic") or rng.random() < 0.1:
        limit = element("limit", effort=round(rng.uniform(1, 100), 2), velocity=2)
        if kind != "continuous":
            limit.attributes += [("lower", "-1.5"), ("upper", str(rng.choice((1.5, 3))))]
        made.children.append(limit)
    if kind in ("revolute", "prismatic") and rng.random() < 0.3:
        more = {"spring_stiffness": 3, "spring_reference": 0.2} if rng.random() < 0.3 else {}
        more |= {"armature": 0.01} if rng.random() < 0.2 else {}
        friction = rng.choice((0, 0.2))
        made.children.append(element("dynamics", damping=0.1, friction=friction, **more))
    return made


def _constants(rng: Random, made: Node, kind: str, axis: str) -> None:
    """The constants of a joint's type. One with a default, which is the second axis, is written now
    and then, with the opposite sign."""
    x, y, z = map(float, axis.split())
    size = math.hypot(x, y, z)
    along = (x / size, y / size, z / size)
    for taken in JOINTS[kind].parameters if kind != FIXED else ():
        try:
            constants = taken.from_python(kind, along, None)
        except OptionError:
            constants = tuple(round(rng.uniform(-0.2, 0.2), 3) for _ in range(taken.size))
        else:
            if rng.random() < 0.7:
                continue
            constants = tuple(0.0 - x for x in constants)
        written = taken.to_xml(along, constants)
        if written is None:
            continue
        tag, key, numbers = written
        said = " ".join(map(repr, numbers))
        if tag:
            made.children.append(element(tag, **{key: said}))
        else:
            made.attributes.append((key, said))


def _extras(rng: Random, made: Node, names: list[str]) -> None:
    driven = [j for j in made.every("joint") if j.get("type") in ("revolute", "prismatic")]
    if len(driven) > 1 and rng.random() < 0.2:
        leader, follower = driven[0], driven[-1]
        mimic = element("mimic", joint=leader.get("name"), multiplier=-1.5, offset=0.1)
        follower.children.append(mimic)
        if len(driven) > 2 and rng.random() < 0.4:
            follower.children.append(element("mimic", joint=driven[1].get("name"), offset=-0.2))
    if driven and rng.random() < 0.15:
        made.children.append(_transmission(rng, str(driven[0].get("name"))))
    if len(driven) > 1 and rng.random() < 0.15:
        made.children.append(_shared(rng, [str(j.get("name")) for j in driven[:2]]))
    if rng.random() < 0.1:
        made.children.append(element("gazebo", element("mu1", value=0.2), reference=names[0]))


def _transmission(rng: Random, joint: str) -> Node:
    actuator = element("actuator", name="motor")
    actuator.children.append(Node("mechanicalReduction", text="50"))
    if rng.random() < 0.7:
        actuator.children += [
            element("drake:rotor_inertia", value=1e-5),
            element("drake:gear_ratio", value=100),
        ]
    return element(
        "transmission",
        Node("type", text="transmission_interface/SimpleTransmission"),
        element("joint", name=joint),
        actuator,
        name="drive",
        **{"xmlns:drake": "http://drake.mit.edu"},
    )


def _shared(rng: Random, joints: list[str]) -> Node:
    """Two motors that move two joints."""
    kind = rng.choice(("DifferentialTransmission", "FourBarLinkageTransmission"))
    made = element("transmission", Node("type", text=f"transmission_interface/{kind}"), name="both")
    for k, joint in enumerate(joints, 1):
        end = element("joint", Node("offset", text="0.1"), name=joint, role=f"joint{k}")
        reduction = Node("mechanicalReduction", text=rng.choice(("-20", "3.5", "0")))
        made.children += [
            end,
            element("actuator", reduction, name=f"m{k}", role=f"actuator{k}"),
        ]
    return made


@cache
def _stored() -> tuple[bytes, ...]:
    cases = sorted((ROOT / "tests" / "cases").glob("*.urdf"))
    return tuple(p.read_bytes() for p in [*cases, *(ROOT / f"robots/{n}.urdf" for n in SMALL)])


def stored(rng: Random) -> Node | bytes:
    """A robot of this repository, as a tree where it is well-formed."""
    data = rng.choice(_stored())
    try:
        return read(data)
    except etree.XMLSyntaxError:
        return data
