"""Elements that SDFormat files have and symgen does not compute: said in one line for each kind."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from symgen.reading.joints import has_several_coordinates
from symgen.reading.sdf.joints import TYPES, axes
from symgen.reading.sdf.scopes import Scope
from symgen.reading.sdf.values import flag, number, text
from symgen.reading.unread_rows import WEIGHTLESS, IgnoredElement, notice_ignored
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
"""Tags that need no note, by the element they stand in."""


def note_unread(root: XmlNode, models: Sequence[Scope]) -> None:
    """One notice for each row of ROWS that the models have something of, and each unknown tag."""
    notice_ignored(root.called("<sdf>"), ROWS, models)
    unknown = Counter(_unknown(models))
    for (part, tag), count in unknown.items():
        times = f" ({count} of them)" if count > 1 else ""
        root.called(f"<{shown(tag)}>").notice("note", f"in <{part}>, ignored{times}")


def _parts(models: Sequence[Scope]) -> Iterator[tuple[str, XmlNode]]:
    for model in models:
        yield "model", model.node
        for node in model.node:
            if node.tag in ("link", "joint"):
                yield node.tag, node
                parts = {"axis": "axis", "axis2": "axis", "inertial": "inertial"}
                yield from ((parts[n.tag], n) for n in node if n.tag in parts)


def _unknown(models: Sequence[Scope]) -> Iterator[tuple[str, str]]:
    for part, node in _parts(models):
        known = KNOWN[part].split()
        yield from ((part, child.tag) for child in node if child.tag not in known)


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


def _without_inertia(models: Sequence[Scope]) -> Iterator[str]:
    return (name for name, node in _links(models) if not node.children("inertial"))


def _weightless(models: Sequence[Scope]) -> Iterator[str]:
    return (n for n, node in _links(models) if text(node, "gravity", "true") in ("0", "false"))


def _kinematic(models: Sequence[Scope]) -> Iterator[str]:
    return (name for name, node in _links(models) if flag(node, "kinematic"))


def _fluid(models: Sequence[Scope]) -> Iterator[str]:
    for name, node in _links(models):
        if any(inertial.children("fluid_added_mass") for inertial in node.children("inertial")):
            yield name


def _is_rubbed(dynamics: XmlNode) -> bool:
    return any(number(dynamics, tag, 0.0) for tag in ("damping", "friction"))


def _rubbed(models: Sequence[Scope]) -> Iterator[str]:
    names = (name for name, node in _of_axes(models, "dynamics") if _is_rubbed(node))
    return iter(dict.fromkeys(names))


def _limits_of_several(models: Sequence[Scope]) -> Iterator[str]:
    return iter(
        dict.fromkeys(name for name, _ in _of_axes(models, "limit", has_several_coordinates))
    )


ROWS: Final[tuple[IgnoredElement[Sequence[Scope]], ...]] = (
    IgnoredElement(
        "warning",
        _without_inertia,
        "links without <inertial> ({names}) have the default inertia of SDFormat: a mass "
        "of 1 kg and moments of inertia of 1 kg m^2",
    ),
    IgnoredElement("warning", _weightless, WEIGHTLESS),
    IgnoredElement("warning", _kinematic, "kinematic links ({names}) are treated as dynamic links"),
    IgnoredElement(
        "note",
        _limits_of_several,
        "limits of joints with several coordinates ({names}) are ignored",
    ),
    IgnoredElement("warning", _fluid, "the added mass of a fluid ({names}) is ignored"),
    IgnoredElement(
        "note",
        _rubbed,
        "damping and friction ({joints}) are ignored; add --friction to include them",
        ("friction",),
        "damping and friction of {joints} (--friction)",
    ),
)
