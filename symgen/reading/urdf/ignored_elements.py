"""Elements of URDF files: those that are known, those that have no effect, and xacro, which must
have been expanded."""

from collections.abc import Iterator, Sequence
from typing import Final

from symgen.reading.joint_kinds import DRAKES, JOINTS, joint_nodes, word_of
from symgen.reading.urdf.couplings import COUPLING, LOOP_TAGS
from symgen.reading.urdf.transmissions import has_unread_rotor
from symgen.reading.xacro_expansion import check_unexpanded_xacro, is_xacro
from symgen.reading.xml_reader import (
    LINKS_WITHOUT_GRAVITY,
    IgnoredElement,
    XmlNode,
    loops_left_open,
    notice_ignored,
    notice_unknown,
)
from symgen.text import shown

KNOWN_ELEMENTS: Final = {
    "robot": "link joint material transmission gazebo ros2_control sensor",
    "link": "inertial visual collision sensor contact self_collision_checking",
    "inertial": "origin mass inertia",
    "joint": "origin parent child axis limit dynamics mimic calibration safety_controller",
}
"""Elements that need no note, by their parent element, separated by blanks."""
EXTENSIONS: Final = (DRAKES, COUPLING, *LOOP_TAGS)
"""Elements of <robot> that are not part of URDF but are read or reported."""
TRUE_TEXTS: Final = ("true", "1")
FALSE_TEXTS: Final = ("false", "0")


def check_root(root: XmlNode) -> None:
    """Raises RobotError if the root is not <robot> or contains unexpanded xacro that has an
    effect."""
    if root.tag.rpartition(":")[2] != "robot":
        raise root.with_label(f"<{shown(root.tag)}>").error(
            "the root element is not <robot>, <mujoco> or <sdf>; give a URDF, MJCF or SDF file"
        )
    check_unexpanded_xacro(root)


def notice_ignored_elements(root: XmlNode, unread_loops: Sequence[XmlNode]) -> None:
    """Add one notice for each kind of element that has no effect on the model;
    `unread_loops` are the loops that are not read."""
    unknown = (
        (parent, node)
        for parent, owner in _examined_elements(root)
        for node in owner
        if not _is_known(parent, owner, node, root)
    )
    notice_unknown(unknown, KNOWN_ELEMENTS)
    _notice_foreign_attributes(root)
    notice_ignored(root, IGNORED, root)
    if unread_loops:
        names = dict.fromkeys(node.element.get("name") or f"<{node.tag}>" for node in unread_loops)
        first = unread_loops[0].with_label(f"<{unread_loops[0].tag}>")
        first.notice("warning", loops_left_open(names, len(unread_loops)))


def _dynamics(root: XmlNode) -> Iterator[XmlNode]:
    """The first <dynamics> of each joint with damping or friction."""
    for joint in joint_nodes(root):
        nodes = joint.children("dynamics")
        texts = (node.element.get(x) or "0" for node in nodes for x in ("damping", "friction"))
        if any(text.strip(" +-0.") for text in texts):
            yield nodes[0]


def _links_without_gravity(root: XmlNode) -> Iterator[str]:
    """The links that a <gazebo> element exempts from gravity."""
    links = {node.element.get("name") for node in root.children("link")}
    for gazebo in root.children("gazebo"):
        name = gazebo.element.get("reference")
        texts = {node.tag: (node.element.text or "").strip().lower() for node in gazebo}
        if name in links and (
            texts.get("turnGravityOff") in TRUE_TEXTS or texts.get("gravity") in FALSE_TEXTS
        ):
            yield str(name)


IGNORED: Final[tuple[IgnoredElement[XmlNode], ...]] = (
    IgnoredElement(
        "note",
        lambda root: filter(has_unread_rotor, root.children("transmission")),
        "reduction and rotor inertia ({counted}) are ignored; use --actuators to give rotors",
        ("actuators", "coordinates"),
        "reduction and rotor inertia of {counted} (--actuators)",
        counted="transmission",
    ),
    IgnoredElement(
        "note",
        _dynamics,
        "damping and friction ({counted}) are ignored; add --friction to include them",
        ("friction",),
        "damping and friction of {counted} (--friction)",
    ),
    IgnoredElement("warning", _links_without_gravity, LINKS_WITHOUT_GRAVITY),
)
"""The elements of URDF without effect. Loops are reported with their names."""


def _examined_elements(root: XmlNode) -> Iterator[tuple[str, XmlNode]]:
    """The elements whose children are examined, each with its kind."""
    yield "robot", root
    yield from (("link", node) for node in root.children("link"))
    yield from (("joint", node) for node in joint_nodes(root))
    for link in root.children("link"):
        yield from (("inertial", node) for node in link.children("inertial"))


def _is_known(parent: str, owner: XmlNode, node: XmlNode, root: XmlNode) -> bool:
    """True for an element of URDF, of the joint type of `owner` or of an extension that is read,
    and for xacro, which is reported elsewhere."""
    row = JOINTS.get(word_of(owner)) if parent == "joint" else None
    if is_xacro(node) or node.tag in (row.tags if row else ()):
        return True
    if parent == "robot" and node.tag in EXTENSIONS:
        return True
    return (
        node.namespace == root.namespace
        and node.tag.rpartition(":")[2] in KNOWN_ELEMENTS[parent].split()
    )


def _notice_foreign_attributes(root: XmlNode) -> None:
    """Notes on attributes that only joints of other types have, such as the pitch of a screw."""
    names = {name for row in JOINTS.values() for name in row.attributes}
    for node in joint_nodes(root):
        kind = word_of(node)
        used = JOINTS[kind].attributes if kind in JOINTS else ()
        for name in sorted(names.intersection(node.element.keys()).difference(used)):
            node.with_label(f"joint '{shown(node.element.get('name') or '')}'").notice(
                "note", f"{name} of a joint of type '{shown(kind)}' is ignored"
            )
