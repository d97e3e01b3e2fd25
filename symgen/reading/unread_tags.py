"""Tags that must not be in a URDF file (xacro), and those that do not count (unknown tags, drives,
damping)."""

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from symgen.reading.drives import has_rotor, reduction, unread_rotor
from symgen.reading.joints import DRAKES, JOINTS, joint_nodes, word_of
from symgen.reading.leftovers import check_unexpanded_xacro, is_xacro
from symgen.reading.loops import LOOP_TAGS
from symgen.reading.unread_rows import WEIGHTLESS, IgnoredElement, notice_ignored
from symgen.reading.urdf_plus import COUPLING
from symgen.reading.xml_reader import XmlNode
from symgen.text import shown

KNOWN = {
    "robot": {"link", "joint", "material", "transmission", "gazebo", "ros2_control", "sensor"},
    "link": {"inertial", "visual", "collision", "sensor", "contact", "self_collision_checking"},
    "inertial": {"origin", "mass", "inertia"},
    "joint": {
        "origin",
        "parent",
        "child",
        "axis",
        "limit",
        "dynamics",
        "mimic",
        "calibration",
        "safety_controller",
    },
}
"""Tags that need no note, by the element they stand in."""


OWN = (DRAKES, COUPLING, *LOOP_TAGS)
"""Tags in <robot> that others read."""


def check_root(root: XmlNode) -> None:
    """Raises RobotError where the root is not <robot> or xacro is left in what would be read."""
    if root.tag.rpartition(":")[2] != "robot":
        raise root.called(f"<{shown(root.tag)}>").error(
            "the root element is not <robot>, <mujoco> or <sdf>; give a URDF, MJCF or SDF file"
        )
    check_unexpanded_xacro(root)


def note_ignored(root: XmlNode) -> None:
    """Add one note for each kind of thing in the file that has no effect on the model."""
    _note_unknown(root)
    _note_foreign(root)
    _note_transmissions(root)
    _note_dynamics(root)
    notice_ignored(root, ROWS, root)


def _weightless(root: XmlNode) -> Iterator[str]:
    """Links to which Gazebo's elements give no gravity."""
    links = {node.element.get("name") for node in root.children("link")}
    for gazebo in root.children("gazebo"):
        name = gazebo.element.get("reference")
        texts = {node.tag: (node.element.text or "").strip().lower() for node in gazebo}
        falls_not = texts.get("turnGravityOff") in TRUE or texts.get("gravity") in FALSE
        if name in links and falls_not:
            yield str(name)


TRUE: Final = ("true", "1")
FALSE: Final = ("false", "0")
ROWS: Final = (IgnoredElement("warning", _weightless, WEIGHTLESS),)
"""What Gazebo's elements say of links that is not computed."""


def _parts(root: XmlNode) -> Iterator[tuple[str, XmlNode]]:
    yield "robot", root
    yield from (("link", node) for node in root.children("link"))
    yield from (("joint", node) for node in joint_nodes(root))
    for link in root.children("link"):
        yield from (("inertial", node) for node in link.children("inertial"))


def _note_unknown(root: XmlNode) -> None:
    unknown = [
        (part, node)
        for part, owner in _parts(root)
        for node in owner
        if not _is_known(part, owner, node, root)
    ]
    first = {node.tag: (part, node) for part, node in reversed(unknown)}
    count = Counter(node.tag for _, node in unknown)
    for tag, (part, node) in first.items():
        near = difflib.get_close_matches(tag.lower(), KNOWN[part], 1, 0.75)
        hint = f"; if <{near[0]}> is meant, correct the name" if near else ""
        times = f" ({count[tag]} of them)" if count[tag] > 1 else ""
        node.called(f"<{shown(tag)}>").notice(
            "note", f"unknown in <{part}>, ignored{times}{hint}", "" if near else UNKNOWN
        )


UNKNOWN: Final = "unknown tags, ignored: {elements}"


def _is_known(part: str, owner: XmlNode, node: XmlNode, root: XmlNode) -> bool:
    """Whether what stands in an element of the file is one of its tags, or one of those that only
    joints of the owner's type have."""
    row = JOINTS.get(word_of(owner)) if part == "joint" else None
    if is_xacro(node):  # said already
        return True
    if node.tag in (row.tags if row else ()) or (part == "robot" and node.tag in OWN):
        return True
    return node.namespace == root.namespace and node.tag.rpartition(":")[2] in KNOWN[part]


def _note_foreign(root: XmlNode) -> None:
    """Notes attributes that the elements of joints of other types have, such as the pitch of a
    screw."""
    names = {name for row in JOINTS.values() for name in row.attributes}
    for node in joint_nodes(root):
        kind = word_of(node)
        used = JOINTS[kind].attributes if kind in JOINTS else ()
        for name in sorted(names.intersection(node.element.keys()).difference(used)):
            node.called(f"joint '{shown(node.element.get('name') or '')}'").notice(
                "note", f"{name} of a joint of type '{shown(kind)}' is ignored"
            )


def _note_transmissions(root: XmlNode) -> None:
    nodes = [
        node
        for node in root.children("transmission")
        if not has_rotor(node) and (reduction(node) not in (None, 1.0) or unread_rotor(node))
    ]
    _note_effect(
        "reduction and rotor inertia",
        nodes,
        "transmission",
        "are ignored; use --actuators to give rotors",
        "--actuators",
        unless=("actuators", "coordinates"),
    )


def _note_dynamics(root: XmlNode) -> None:
    joints = [
        joint for joint in joint_nodes(root) if any(map(_is_damped, joint.children("dynamics")))
    ]
    nodes = [joint.children("dynamics")[0] for joint in joints]
    _note_effect(
        "damping and friction",
        nodes,
        "joint",
        "are ignored; add --friction to include them",
        "--friction",
        unless=("friction",),
    )


def _note_effect(
    subject: str,
    nodes: Sequence[XmlNode],
    kind: str,
    effect: str,
    option: str,
    unless: tuple[str, ...],
) -> None:
    if nodes:
        count = f"{len(nodes)} {kind}" + "s" * (len(nodes) > 1)
        label = nodes[0].called(f"<{nodes[0].tag}>")
        offer = f"{subject} of {count} ({option})"
        label.notice("note", f"{subject} ({count}) {effect}", unless=unless, offer=offer)


def _is_damped(dynamics: XmlNode) -> bool:
    return any(
        (dynamics.element.get(name) or "0").strip(" +-0.") for name in ("damping", "friction")
    )
