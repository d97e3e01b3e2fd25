"""Changes of a robot's tree, each of one kind; a registry."""

from collections.abc import Callable
from random import Random
from typing import Final

from fuzz.draw import name as any_name
from fuzz.draw import number, numbers, text
from fuzz.nodes import Node, element
from symgen.reading.joint_kinds import FIXED, JOINTS

Mutation = Callable[[Random, Node], None]
XML: Final[dict[str, Mutation]] = {}
TYPES: Final = (
    *JOINTS,
    *(FIXED, "", "Revolute", "fixed ", "spherical", "mimic"),
)
TAGS: Final = (
    *("link", "joint", "inertial", "mass", "inertia", "origin", "axis", "limit", "mimic", "parent"),
    *(
        "child",
        "dynamics",
        "transmission",
        "actuator",
        "robot",
        "material",
        "calibration",
        "sensor",
    ),
    *(
        "safety_controller",
        "drake:rotor_inertia",
        "mechanicalReduction",
        "visual",
        "xacro:if",
        "a:b",
    ),
    *("model", "sdf", "mujoco", "ros2_control", "gazebo", "loop", "inertial "),
)
KEYS: Final = (
    *("name", "type", "xyz", "rpy", "value", "link", "joint", "multiplier", "offset", "lower"),
    *(
        "upper",
        "effort",
        "velocity",
        "damping",
        "friction",
        "ixx",
        "iyz",
        "izz",
        "quat_xyzw",
        "unit",
    ),
)
MOVING: Final = 60
"""Joints of a long chain that move by themselves; the terms of dynamics grow with their square."""
NUMERIC: Final = {"xyz": 3, "rpy": 3}


def mutation(change: Mutation) -> Mutation:
    """Registers a change under its name in words."""
    XML[change.__name__.replace("_", " ")] = change
    return change


def any_node(rng: Random, root: Node) -> Node:
    """One of the elements."""
    return rng.choice(list(root.walk()))


def parent_of(root: Node, node: Node) -> Node | None:
    """The element that holds another."""
    return next((p for p in root.walk() if any(child is node for child in p.children)), None)


@mutation
def a_number(rng: Random, root: Node) -> None:
    places = [
        (node, key)
        for node in root.walk()
        for key, value in node.attributes
        if value[:1] in "+-.0123456789" and value
    ]
    if places:
        node, key = rng.choice(places)
        node.put(key, numbers(rng, 3) if key in NUMERIC else number(rng, 0.7))


@mutation
def one_component(rng: Random, root: Node) -> None:
    places = [(n, k) for n in root.walk() for k, _ in n.attributes if k in NUMERIC]
    if places:
        node, key = rng.choice(places)
        parts = (node.get(key) or "").split() or [""]
        parts[rng.randrange(len(parts))] = number(rng, 0.6)
        node.put(key, rng.choice((" ", " ", "  ", ",", "\t")).join(parts))


@mutation
def an_attribute(rng: Random, root: Node) -> None:
    node = any_node(rng, root)
    keys = [key for key, _ in node.attributes] or ["name"]
    node.put(rng.choice(keys), text(rng))


@mutation
def no_attribute(rng: Random, root: Node) -> None:
    node = any_node(rng, root)
    if node.attributes:
        del node.attributes[rng.randrange(len(node.attributes))]


@mutation
def another_attribute(rng: Random, root: Node) -> None:
    any_node(rng, root).attributes.append((rng.choice(KEYS), number(rng, 0.5)))


@mutation
def a_name(rng: Random, root: Node) -> None:
    """A name everywhere it stands, so the robot stays one."""
    nodes = [node for node in root.walk() if node.get("name") is not None]
    if not nodes:
        return
    old = rng.choice(nodes).get("name")
    new = rng.choice((any_name(rng, 1.0), rng.choice(nodes).get("name") or ""))
    for node in root.walk():
        node.attributes = [(key, new if value == old else value) for key, value in node.attributes]


@mutation
def no_element(rng: Random, root: Node) -> None:
    holders = [node for node in root.walk() if node.children]
    if holders:
        holder = rng.choice(holders)
        del holder.children[rng.randrange(len(holder.children))]


@mutation
def twice(rng: Random, root: Node) -> None:
    holders = [node for node in root.walk() if node.children]
    if holders:
        holder = rng.choice(holders)
        holder.children.insert(0, rng.choice(holder.children).copy())


@mutation
def moved(rng: Random, root: Node) -> None:
    node = any_node(rng, root)
    holder = parent_of(root, node)
    if holder is None:
        return
    holder.children = [child for child in holder.children if child is not node]
    target = any_node(rng, root)
    target.children.insert(rng.randint(0, len(target.children)), node)


@mutation
def renamed(rng: Random, root: Node) -> None:
    any_node(rng, root).tag = rng.choice(TAGS)


@mutation
def unknown_element(rng: Random, root: Node) -> None:
    tag = rng.choice(TAGS)
    any_node(rng, root).children.append(element(tag, name=any_name(rng), value=number(rng)))


@mutation
def words(rng: Random, root: Node) -> None:
    any_node(rng, root).text = text(rng)


@mutation
def another_type(rng: Random, root: Node) -> None:
    joints = root.every("joint")
    if joints:
        rng.choice(joints).put("type", rng.choice(TYPES))


@mutation
def another_end(rng: Random, root: Node) -> None:
    """A joint between other links: cycles, two parents, loops of one."""
    ends, links = root.every("parent") + root.every("child"), root.named("link")
    if ends and links:
        rng.choice(ends).put("link", rng.choice([*links, "nowhere"]))


@mutation
def a_mimic(rng: Random, root: Node) -> None:
    joints = root.every("joint")
    if joints:
        mimic = element("mimic", joint=rng.choice(joints).get("name") or "", offset=number(rng))
        if rng.random() < 0.7:
            mimic.put("multiplier", number(rng))
        rng.choice(joints).children.append(mimic)


@mutation
def an_inertia(rng: Random, root: Node) -> None:
    """Inertial data of another size, all of them: dust, planets, negative, of zero."""
    factor = rng.choice((0.0, 1e-12, 1e-300, 1e12, 1e100, 1e300, -1.0, 1e-3))
    for node in rng.choice(
        (root.every("inertial"), [rng.choice(root.every("inertial") or [root])])
    ):
        for part in node.walk():
            if part.tag in ("mass", "inertia"):
                part.attributes = [(k, _scaled(v, factor)) for k, v in part.attributes]


def _scaled(value: str, factor: float) -> str:
    try:
        return repr(float(value) * factor)
    except ValueError:
        return value


@mutation
def lengths(rng: Random, root: Node) -> None:
    factor = rng.choice((0.0, 1e-9, 1e-3, 1e3, 1e9, 1e200))
    for node in root.every("origin"):
        parts = (node.get("xyz") or "0 0 0").split()
        node.put("xyz", " ".join(_scaled(part, factor) for part in parts))


@mutation
def many(rng: Random, root: Node) -> None:
    """Something very often: children, attributes, depth, joints in a row."""
    count, kind = rng.choice((50, 300, 3000)), rng.randrange(4)
    node = any_node(rng, root)
    if kind == 0:
        node.children += [element(rng.choice(TAGS), name=f"n{k}") for k in range(count)]
    elif kind == 1:
        node.attributes += [(f"a{k}", "1") for k in range(count)]
    elif kind == 2:
        for _ in range(count):
            node.children.append(Node("link"))
            node = node.children[-1]
    elif rng.random() < 0.1:
        _long_chain(rng, root, count)


def _long_chain(rng: Random, root: Node, count: int) -> None:
    links, last = root.named("link"), ""
    kind, mimic = rng.choice(("fixed", "revolute", "prismatic")), rng.random() < 0.3
    most = 2000 if kind == "fixed" or mimic else MOVING
    for k in range(min(count, most)):
        joint = element(
            "joint",
            element("parent", link=f"c{k - 1}" if k else (links or ["a"])[-1]),
            element("child", link=f"c{k}"),
            name=f"cj{k}",
            type=kind,
        )
        if mimic and last:
            joint.children.append(element("mimic", joint=last))
        last = f"cj{k}"
        root.children += [element("link", name=f"c{k}"), joint]


def mutated(rng: Random, root: Node) -> Node:
    """A copy with one change, or a few."""
    made = root.copy()
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 6))):
        rng.choice(list(XML.values()))(rng, made)
    return made
