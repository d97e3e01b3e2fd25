"""Elements of SDFormat: those that are known, and those that have no effect."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from symgen.reading.ignored_elements import (
    LINKS_WITHOUT_GRAVITY,
    IgnoredElement,
    notice_ignored,
)
from symgen.reading.joint_kinds import has_several_coordinates
from symgen.reading.sdf.joint_elements import TYPES, axes
from symgen.reading.sdf.scopes import Scope, flag, number, text
from symgen.reading.xml_reader import XmlNode
from symgen.text import shown

KNOWN: Final = {
    "model": "link joint frame model include pose static self_collide allow_auto_disable "
    "enable_wind",
    "link": "inertial pose visual collision sensor light self_collide gravity kinematic "
    "enable_wind must_be_base_link velocity_decay audio_source audio_sink battery projector "
    "particle_emitter",
    "joint": "parent child axis axis2 pose physics sensor thread_pitch screw_thread_pitch "
    "gearbox_ratio gearbox_reference_body drake:rotor_inertia drake:gear_ratio",
    "axis": "xyz limit dynamics use_parent_model_frame mimic initial_position",
    "inertial": "pose mass inertia density",
}
"""Elements that need no note, by their parent element, separated by blanks."""


def notice_ignored_elements(root: XmlNode, models: Sequence[Scope]) -> None:
    """Add one notice for each kind of element without effect, and for each unknown element."""
    notice_ignored(root.with_label("<sdf>"), IGNORED, models)
    unknown = Counter(
        (part, child.tag)
        for part, node in _parts(models)
        for child in node
        if child.tag not in KNOWN[part].split()
    )
    for (part, tag), count in unknown.items():
        times = f" ({count} of them)" if count > 1 else ""
        root.with_label(f"<{shown(tag)}>").notice("note", f"in <{part}>, ignored{times}")


def _parts(models: Sequence[Scope]) -> Iterator[tuple[str, XmlNode]]:
    for model in models:
        yield "model", model.node
        for node in model.node:
            if node.tag in ("link", "joint"):
                yield node.tag, node
                parts = {"axis": "axis", "axis2": "axis", "inertial": "inertial"}
                yield from ((parts[n.tag], n) for n in node if n.tag in parts)


def _links(models: Sequence[Scope]) -> Iterator[tuple[str, XmlNode]]:
    for model in models:
        for node in model.node.children("link"):
            yield model.prefix + node.text("name"), node


def _of_axes(
    models: Sequence[Scope], tag: str, counts: Callable[[str], bool] = bool
) -> Iterator[tuple[str, XmlNode]]:
    """The elements that the axes of joints have under a tag, for joints whose word `counts`."""
    for model in models:
        for joint in model.node.children("joint"):
            row = TYPES.get(joint.element.get("type", "").strip())
            if row is not None and counts(row.word):
                for axis in axes(joint):
                    yield from ((model.prefix + joint.text("name"), n) for n in axis.children(tag))


def _rubbed(models: Sequence[Scope]) -> list[str]:
    """The joints with damping or friction."""
    tags = ("damping", "friction")
    nodes = _of_axes(models, "dynamics")
    return [*dict.fromkeys(n for n, node in nodes if any(number(node, t, 0.0) for t in tags))]


IGNORED: Final[tuple[IgnoredElement[Sequence[Scope]], ...]] = (
    IgnoredElement(
        "warning",
        lambda models: (name for name, node in _links(models) if not node.children("inertial")),
        "links without <inertial> ({names}) have the default inertia of SDFormat: a mass "
        "of 1 kg and moments of inertia of 1 kg m^2",
    ),
    IgnoredElement(
        "warning",
        lambda models: (
            name for name, node in _links(models) if text(node, "gravity", "true") in ("0", "false")
        ),
        LINKS_WITHOUT_GRAVITY,
    ),
    IgnoredElement(
        "warning",
        lambda models: (name for name, node in _links(models) if flag(node, "kinematic")),
        "kinematic links ({names}) are treated as dynamic links",
    ),
    IgnoredElement(
        "note",
        lambda models: dict.fromkeys(
            name for name, _ in _of_axes(models, "limit", has_several_coordinates)
        ),
        "limits of joints with several coordinates ({names}) are ignored",
    ),
    IgnoredElement(
        "warning",
        lambda models: (
            name
            for name, node in _links(models)
            if any(inertial.children("fluid_added_mass") for inertial in node.children("inertial"))
        ),
        "the added mass of a fluid ({names}) is ignored",
    ),
    IgnoredElement(
        "note",
        _rubbed,
        "damping and friction ({counted}) are ignored; add --friction to include them",
        ("friction",),
        "damping and friction of {counted} (--friction)",
    ),
)
"""The elements of SDFormat without effect."""
